//! Numbers of a document that cannot all be right: shares, ordered quantiles, Little's law,
//! capacities against what was reached. Whatever reads a document asks here, so that a verdict and
//! a page agree on what is in doubt.

use crate::calibration::{Calibration, CurvePoint, MixCalibration};
use crate::estimate::Estimate;
use crate::load::{PhysicalVerdict, Rung};
use crate::measurement::Measurement;
use crate::number::{real, share};
use crate::profile::{CheckOutcome, CrossCheck, Profile};
use crate::quantity_name::{NamedStatistic, QuantityName};
use crate::units::{Bytes, show_count, show_throughput};
use crate::verdict::{Bias, Doubt, NamedEstimate};

/// Rates that differ by less are as good as the same, whatever their intervals.
const APART_MIN: f64 = 1.25;
/// A capacity may lie below a point of its own curve by this factor, the noise of short visits.
const ABOVE_CAPACITY_MAX: f64 = 1.1;
/// Shares of reads that differ by less are the same mix.
const SHARE_SLACK: f64 = 0.02;
/// A queue depth is that of a point of a curve when they differ by at most this factor.
const DEPTH_FACTOR_MAX: f64 = 1.5;
/// How far Little's law may be off before the bookkeeping is in doubt.
const LITTLES_LAW_SLACK: f64 = 0.05;
/// Shares of time may exceed the whole by this much: their parts are not taken at the same instant.
const EXCESS_SHARE_MAX: f64 = 0.05;
/// A higher quantile may lie below a lower one by this share, the width of a histogram's bucket.
const BUCKET_SHARE: f64 = 0.01;

const MEASURE_AGAIN: &str = "measure again before relying on either";

fn doubt(what: String, remedy: &str) -> Doubt {
    Doubt { what, bias: Bias::Unknown, remedy: remedy.to_owned() }
}

/// What in the documents of one run cannot be right together.
pub fn of_run(
    calibration: Option<&Calibration>,
    measurements: &[&Measurement],
    rung: Option<&Rung>,
) -> Vec<Doubt> {
    let mixes = calibration.map_or(&[][..], |calibration| &calibration.mixes);
    let mut doubts: Vec<Doubt> = mixes.iter().flat_map(of_mix).collect();
    for measurement in measurements {
        doubts.extend(littles_law(measurement));
        doubts.extend(mixes.iter().find_map(|mix| run_against_mix(measurement, mix)));
    }
    let reads = mixes.iter().find(|mix| mix.read_share >= 1.0);
    doubts.extend(reads.zip(rung).and_then(|(mix, rung)| database_against_mix(rung, mix)));
    doubts
}

/// Rate times mean time is the mean number outstanding. A ratio of 0 means that it was not
/// computed.
///
/// I/Os that are in flight at either end count with a part of their time only, so that the law is
/// off by up to the mean time over the length of the run.
pub fn littles_law(measurement: &Measurement) -> Option<Doubt> {
    let ratio = measurement.conduct.littles_law_ratio;
    let slack = LITTLES_LAW_SLACK + mean_time_ns(measurement) / real(measurement.elapsed_ns.max(1));
    if ratio <= 0.0 || (ratio - 1.0).abs() <= slack {
        return None;
    }
    let what = format!(
        "Little's law does not hold: rate × service time is {ratio:.2} of the outstanding I/Os"
    );
    Some(doubt(what, "measure longer; if this persists, do not trust the run"))
}

/// Mean service time of all I/Os, 0 of none.
fn mean_time_ns(measurement: &Measurement) -> f64 {
    let all = measurement.operations();
    let ios: u64 = all.iter().map(|(_, result)| result.ios).sum();
    let time_ns: f64 =
        all.iter().map(|(_, result)| result.service.mean_ns() * real(result.ios)).sum();
    time_ns / real(ios.max(1))
}

/// Capacities of one mix against its own curves.
fn of_mix(mix: &MixCalibration) -> Vec<Doubt> {
    let highest = mix.curve.iter().max_by(|one, other| one.iops.value.total_cmp(&other.iops.value));
    let most = &mix.iops_max.rate;
    let above = highest.filter(|point| is_above(&point.iops, most)).map(|point| {
        let what = format!(
            "{}: {}/s at queue depth {} is more than the maximum of {}/s",
            mix.name,
            show_count(point.iops.value),
            point.queue_depth,
            show_count(most.value)
        );
        doubt(what, "the rate varied: calibrate longer, or while nothing else runs")
    });
    let throughput = mix.throughput_max_bytes_per_s.as_ref();
    let stream = mix.single_stream_bytes_per_s.zip(throughput).and_then(|(single, most)| {
        is_above(&single, &most.rate).then(|| {
            let what = format!(
                "{}: one sequential stream reached {}, more than the maximum throughput of {}",
                mix.name,
                show_throughput(single.value),
                show_throughput(most.rate.value)
            );
            doubt(what, "the throughput varied: calibrate longer, or while nothing else runs")
        })
    });
    above.into_iter().chain(stream).collect()
}

/// Whether a rate is above what is called the most: beyond noise, and beyond both intervals.
fn is_above(rate: &Estimate, most: &Estimate) -> bool {
    rate.value > ABOVE_CAPACITY_MAX * most.value && rate.value > most.high
}

/// What the calibration and a run of the same mix say, where it is not the same.
fn run_against_mix(measurement: &Measurement, mix: &MixCalibration) -> Option<Doubt> {
    let operations = measurement.operations();
    let reads = operations.read.as_ref().map_or(0, |read| read.ios);
    let is_same = operations.ios() > 0
        && (share(reads, operations.ios()) - mix.read_share).abs() <= SHARE_SLACK
        && operations.bytes() == operations.ios() * mix.block_size_bytes;
    if !is_same {
        return None;
    }
    let iops = measurement.iops();
    let (calibrated, at) = match point_at(mix, measurement.conduct.queue_depth_mean) {
        Some(point) => (point.iops, format!("at queue depth {}", point.queue_depth)),
        // More than the most that was reached at any depth.
        None if iops > mix.iops_max.rate.high => (mix.iops_max.rate, "at most".to_owned()),
        None => return None,
    };
    let ratio = iops / calibrated.value.max(1e-9);
    let is_apart = !calibrated.covers(iops) && !(1.0 / APART_MIN..=APART_MIN).contains(&ratio);
    is_apart.then(|| {
        let what = format!(
            "the same mix of {} I/Os reached {}/s {at} in the calibration and {}/s in workload \
             “{}”: something else used the storage, a burst ended, or its state changed in between",
            Bytes(mix.block_size_bytes),
            show_count(calibrated.value),
            show_count(iops),
            measurement.workload
        );
        doubt(what, MEASURE_AGAIN)
    })
}

/// The point of about this depth.
fn point_at(mix: &MixCalibration, depth: f64) -> Option<&CurvePoint> {
    let distance = |point: &CurvePoint| (f64::from(point.queue_depth) / depth.max(1e-9)).ln().abs();
    let near = mix.curve.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
    (distance(near) <= DEPTH_FACTOR_MAX.ln()).then_some(near)
}

/// A database whose physical reads exceed what the same storage was said to reach.
fn database_against_mix(rung: &Rung, mix: &MixCalibration) -> Option<Doubt> {
    let (reads, most) = (rung.reads_per_s(), &mix.iops_max.rate);
    let is_physical = rung.physical.verdict == PhysicalVerdict::Physical;
    (is_physical && reads > APART_MIN * most.value && reads > most.high).then(|| {
        let what = format!(
            "the database read {}/s from storage, {:.1} times the calibrated maximum of {}/s",
            show_count(reads),
            reads / most.value,
            show_count(most.value)
        );
        doubt(what, MEASURE_AGAIN)
    })
}

/// Quantiles of one time that fall where they must rise.
pub fn of_estimates(estimates: &[NamedEstimate]) -> Option<Doubt> {
    let quantile = |one: &NamedEstimate| match QuantityName::of(&one.quantity).statistic {
        Some(NamedStatistic::Quantile(quantile)) => Some(quantile),
        _ => None,
    };
    let of_what = |one: &NamedEstimate| {
        let name = one.quantity.rsplit_once(".q").map_or("", |(name, _)| name);
        (name.to_owned(), one.subject.clone())
    };
    let mut times: Vec<(f64, &NamedEstimate)> =
        estimates.iter().filter_map(|one| Some((quantile(one)?, one))).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let fallen = times.iter().enumerate().find_map(|(place, (_, low))| {
        let mut higher = times[place + 1..].iter().filter(|(_, one)| of_what(one) == of_what(low));
        let falls =
            |one: &NamedEstimate| one.estimate.value < (1.0 - BUCKET_SHARE) * low.estimate.value;
        higher.find(|(_, one)| falls(one)).map(|(_, high)| (low, high))
    });
    fallen.map(|(low, high)| {
        let what = format!(
            "{} is below {}, which is impossible for any distribution",
            high.quantity, low.quantity
        );
        doubt(what, "check the source of the numbers")
    })
}

/// Sections of a profile that contradict each other, and shares of its time that exceed the whole
/// by more than time on a CPU, the only part that may lie within others, can explain.
pub fn of_profile(profile: &Profile) -> Vec<Doubt> {
    let contradicted = profile.checks.iter().filter(|one| one.outcome == CheckOutcome::Contradicts);
    contradicted.map(of_check).chain(of_shares(profile)).collect()
}

/// The profile with its contradictions among its doubts. Where the time contradicts itself that the
/// verdict rests on, nothing leads.
pub fn judged(mut profile: Profile) -> Profile {
    let is_of_time = |one: &&CrossCheck| {
        one.outcome == CheckOutcome::Contradicts
            && one.left.is_some()
            && one.left == profile.time.average_active_sessions
    };
    let of_time = profile.checks.iter().find(is_of_time).map(of_check);
    if let Some(doubt) = of_time.or_else(|| of_shares(&profile)) {
        profile.verdict = profile.verdict.undone(doubt.what);
    }
    for doubt in of_profile(&profile) {
        if !profile.doubts.contains(&doubt.what) {
            profile.doubts.push(doubt.what);
        }
    }
    profile
}

fn of_check(check: &CrossCheck) -> Doubt {
    let values = check.left.as_ref().zip(check.right.as_ref());
    let values = values.map_or_else(String::new, |(left, right)| {
        let show =
            |value: f64| if value < 100.0 { format!("{value:.2}") } else { show_count(value) };
        format!(": {} and {}", show(left.value), show(right.value))
    });
    doubt(format!("sections contradict each other: {}{values}", check.what), OTHER_PROFILE)
}

const OTHER_PROFILE: &str = "profile another interval, or use the text version of the same report";

fn of_shares(profile: &Profile) -> Option<Doubt> {
    let (verdict, time) = (&profile.verdict, &profile.time);
    let cpu = verdict.cpu_share.filter(|share| *share > 1.0 + EXCESS_SHARE_MAX);
    let of_cpu = cpu.map(|cpu| {
        let sources = time.db_cpu_s.as_ref().zip(time.db_time_s.as_ref());
        let places = sources.map_or_else(String::new, |(cpu, db_time)| {
            format!(" ({}; {})", cpu.source, db_time.source)
        });
        format!("DB CPU is {:.0}% of DB time, which is impossible{places}", cpu * 100.0)
    });
    let waits = [
        verdict.user_io_share,
        verdict.write_behind_share,
        verdict.commit_share,
        verdict.contention_share,
        verdict.other_share,
    ];
    let waits: f64 = waits.into_iter().flatten().sum();
    let of_waits = (waits > 1.0 + EXCESS_SHARE_MAX).then(|| {
        format!("waits of sessions add up to {:.0}% of DB time, which is impossible", waits * 100.0)
    });
    Some(doubt(of_cpu.or(of_waits)?, OTHER_PROFILE))
}

#[cfg(test)]
pub(crate) mod tests;
