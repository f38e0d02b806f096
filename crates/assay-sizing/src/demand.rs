//! What has to be carried: the peak of one or many profiles, its growth, and the headroom above it.

use crate::plan::{GivenDemand, Peak, SizingPlan};
use assay_model::number::{real, real_len};
use assay_model::profile::{IoPurpose, Profile, RateKind};
use assay_model::sizing::{DemandFactor, DemandLine, DemandQuantity};
use assay_model::units::{Share, show_bytes};
use assay_model::{Error, Result};

const DAY_S: f64 = 86_400.0;

/// What one profile shows, per second.
struct Seen {
    name: String,
    elapsed_s: Option<f64>,
    values: Vec<(DemandQuantity, f64)>,
}

/// A value of one profile.
struct Observation<'a> {
    name: &'a str,
    elapsed_s: f64,
    value: f64,
}

/// The demand line by line; profiles come with the names of their files.
///
/// # Errors
/// A usage error when a profile has no rates, or when there is no demand at all.
pub fn build_demand(profiles: &[(&str, &Profile)], plan: &SizingPlan) -> Result<Vec<DemandLine>> {
    let seen = match plan.given {
        Some(given) if profiles.is_empty() => vec![of_options(&given)],
        Some(_) => {
            return Err(Error::usage(
                "a demand and profiles are given",
                "name profiles, or give --iops",
            ));
        }
        None => profiles
            .iter()
            .map(|(name, profile)| of_profile(name, profile))
            .collect::<Result<Vec<_>>>()?,
    };
    if seen.is_empty() && plan.capacity.is_none() {
        return Err(Error::usage(
            "there is no demand",
            "name a profile or a report, or give --iops or --capacity",
        ));
    }
    let quantities = [
        DemandQuantity::ReadIops,
        DemandQuantity::WriteIops,
        DemandQuantity::ReadBytesPerS,
        DemandQuantity::WriteBytesPerS,
    ];
    let mut lines: Vec<DemandLine> =
        quantities.iter().filter_map(|quantity| peak_line(&seen, *quantity, plan)).collect();
    lines.extend(capacity_line(plan));
    lines.extend(daily_line(&seen, plan));
    lines.extend(transactions_line(&seen, plan));
    Ok(lines)
}

fn of_options(given: &GivenDemand) -> Seen {
    let reads = given.rate.0 * given.read_share.0;
    let product = given.rate.0 * real(given.transfer.0);
    let bytes = given.throughput_per_s.map_or(product, |bytes| real(bytes.0));
    values("given", None, [reads, given.rate.0 - reads], bytes_by(bytes, given.read_share), None)
}

fn bytes_by(bytes_per_s: f64, read_share: Share) -> [f64; 2] {
    [bytes_per_s * read_share.0, bytes_per_s * (1.0 - read_share.0)]
}

fn values(
    name: &str,
    elapsed_s: Option<f64>,
    iops: [f64; 2],
    bytes: [f64; 2],
    transactions: Option<f64>,
) -> Seen {
    let mut values = vec![
        (DemandQuantity::ReadIops, iops[0]),
        (DemandQuantity::WriteIops, iops[1]),
        (DemandQuantity::ReadBytesPerS, bytes[0]),
        (DemandQuantity::WriteBytesPerS, bytes[1]),
    ];
    values.extend(transactions.map(|rate| (DemandQuantity::TransactionsPerS, rate)));
    Seen { name: name.to_owned(), elapsed_s, values }
}

/// Requests and bytes that reach the storage; where a report counts bytes of reads and writes apart, by these.
fn of_profile(name: &str, profile: &Profile) -> Result<Seen> {
    profile.check_demand()?;
    let all = profile.class(IoPurpose::All);
    let rate = all.and_then(|all| all.rate_iops.as_ref()).map(|rate| rate.value);
    let Some(rate) = rate.filter(|rate| rate.is_finite() && *rate > 0.0) else {
        return Err(Error::usage(
            format!("{name}: it has no rate of I/Os, so nothing can be sized by it"),
            "use a report with Instance Activity Stats or IOStat sections, or a longer part of it",
        ));
    };
    let share = all.and_then(|all| all.read_share.as_ref()).map_or(1.0, |share| share.value);
    let share = Share(share.clamp(0.0, 1.0));
    let block = profile.block_bytes.as_ref().map_or(8192.0, |block| block.value);
    let whole = all.and_then(|all| all.throughput_bytes_per_s.as_ref());
    let bytes = bytes_by(whole.map_or(rate * block, |bytes| bytes.value), share);
    let elapsed_s = profile.elapsed_s.as_ref().map(|elapsed| elapsed.value);
    let transactions = profile.work.transactions_per_s.as_ref().map(|rate| rate.value);
    let iops = [rate * share.0, rate * (1.0 - share.0)];
    Ok(values(name, elapsed_s, iops, counted_bytes(profile).unwrap_or(bytes), transactions))
}

/// Bytes of reads and writes as the report counts them.
fn counted_bytes(profile: &Profile) -> Option<[f64; 2]> {
    let bytes = &profile.report.as_ref()?.bytes;
    let total = bytes.iter().find(|one| one.kind == RateKind::Total)?;
    let read = total.read_bytes_per_s.as_ref()?.value;
    Some([read, total.write_bytes_per_s.as_ref()?.value])
}

/// All values of a quantity.
fn observations(seen: &[Seen], quantity: DemandQuantity) -> Vec<Observation<'_>> {
    let value = |one: &Seen| one.values.iter().find(|(of, _)| *of == quantity).map(|found| found.1);
    let observed = |one| {
        let value = value(one)?;
        let elapsed_s = one.elapsed_s.filter(|elapsed| *elapsed > 0.0).unwrap_or(1.0);
        Some(Observation { name: &one.name, elapsed_s, value })
    };
    seen.iter().filter_map(observed).collect()
}

/// The mean over all time that was seen.
fn mean(observed: &[Observation<'_>]) -> Option<f64> {
    let elapsed_s: f64 = observed.iter().map(|one| one.elapsed_s).sum();
    let sum: f64 = observed.iter().map(|one| one.value * one.elapsed_s).sum();
    (elapsed_s > 0.0).then(|| sum / elapsed_s)
}

/// The value that counts, and where it was seen.
fn peak(mut observed: Vec<Observation<'_>>, peak: Peak) -> Option<(f64, String)> {
    observed.sort_by(|one, other| one.value.total_cmp(&other.value));
    let number = observed.len();
    match peak {
        Peak::Max => observed.last().map(|one| (one.value, one.name.to_owned())),
        Peak::Quantile95 => {
            // The nearest rank: the least value that 95 of 100 do not exceed.
            let rank = assay_model::number::index((0.95 * real_len(number)).ceil()).max(1);
            let one = observed.get(rank - 1)?;
            Some((one.value, format!("{} (0.95 quantile of {number})", one.name)))
        }
        Peak::TimesMean(_) => {
            let of =
                if number == 1 { observed[0].name.to_owned() } else { format!("mean of {number}") };
            Some((mean(&observed)?, of))
        }
    }
}

fn factor(name: impl Into<String>, factor: f64) -> DemandFactor {
    DemandFactor { name: name.into(), factor }
}

fn growth(plan: &SizingPlan) -> Option<DemandFactor> {
    let name = || format!("growth of {:.4} % a year for {} years", 100.0 * plan.growth, plan.years);
    let grows = plan.years > 0 && plan.growth != 0.0;
    grows.then(|| factor(name().replace(".0000", ""), plan.growth_factor()))
}

/// A line: what was seen, times its factors, and the headroom above that.
fn line(
    quantity: DemandQuantity,
    seen: (f64, String),
    factors: Vec<DemandFactor>,
    headroom: Option<Share>,
) -> DemandLine {
    let peak_value = factors.iter().map(|one| one.factor).product::<f64>() * seen.0;
    let headroom = headroom.filter(|headroom| headroom.0 > 0.0);
    let above = headroom.map(|headroom| factor("headroom", 1.0 + headroom.0));
    let need_value = above.as_ref().map_or(1.0, |above| above.factor) * peak_value;
    let factors = factors.into_iter().chain(above).collect();
    DemandLine { quantity, seen_value: seen.0, source: seen.1, factors, peak_value, need_value }
}

fn peak_line(seen: &[Seen], quantity: DemandQuantity, plan: &SizingPlan) -> Option<DemandLine> {
    let found = peak(observations(seen, quantity), plan.peak)?;
    let times = match plan.peak {
        Peak::TimesMean(times) => Some(factor("peak over the mean", times)),
        Peak::Max | Peak::Quantile95 => None,
    };
    let factors = times.into_iter().chain(growth(plan)).collect();
    Some(line(quantity, found, factors, Some(plan.headroom)))
}

/// Data with their growth and snapshots, what is kept with them, and the part that stays empty.
fn capacity_line(plan: &SizingPlan) -> Option<DemandLine> {
    let data = real(plan.capacity?.0);
    let mut factors: Vec<DemandFactor> = growth(plan).into_iter().collect();
    if plan.snapshots.0 > 0.0 {
        factors.push(factor("snapshots", 1.0 + plan.snapshots.0));
    }
    let grown = factors.iter().map(|one| one.factor).product::<f64>() * data;
    if plan.other.0 > 0 && grown > 0.0 {
        let name = format!("log, temporary data, backups: {}", show_bytes(real(plan.other.0)));
        factors.push(factor(name, (grown + real(plan.other.0)) / grown));
    }
    if plan.fill.0 < 1.0 {
        let name = format!("at most {:.0} % full", 100.0 * plan.fill.0);
        factors.push(factor(name, 1.0 / plan.fill.0));
    }
    Some(line(DemandQuantity::CapacityBytes, (data, "--capacity".to_owned()), factors, None))
}

/// What a mean day writes: endurance is spent by the mean and not by the peak.
fn daily_line(seen: &[Seen], plan: &SizingPlan) -> Option<DemandLine> {
    let observed = observations(seen, DemandQuantity::WriteBytesPerS);
    let written = mean(&observed)? * DAY_S;
    let source = format!("mean of {} x 86,400 s", observed.len());
    let factors = growth(plan).into_iter().collect();
    Some(line(DemandQuantity::DailyWrittenBytes, (written, source), factors, None))
}

fn transactions_line(seen: &[Seen], plan: &SizingPlan) -> Option<DemandLine> {
    let found = peak(observations(seen, DemandQuantity::TransactionsPerS), plan.peak)?;
    let factors = growth(plan).into_iter().collect();
    (found.0 > 0.0).then(|| line(DemandQuantity::TransactionsPerS, found, factors, None))
}

/// The longest mean time of a single-block read with which a transaction takes `response_s`, s: the present time less what
/// has to be saved, over its reads. All else stays as it is.
///
/// # Errors
/// A usage error when the profile lacks a number, or when no time of reads is short enough.
pub fn read_latency_for(name: &str, profile: &Profile, response_s: f64) -> Result<f64> {
    let reads = profile.class(IoPurpose::SingleBlockRead);
    let reads = reads.and_then(|reads| reads.rate_iops.as_ref().zip(reads.latency_s.as_ref()));
    let transactions = profile.work.transactions_per_s.as_ref();
    let db_time = profile.time.db_time_s.as_ref().zip(profile.elapsed_s.as_ref());
    let (Some((reads, latency)), Some(transactions), Some((time, elapsed))) =
        (reads, transactions.filter(|rate| rate.value > 0.0), db_time)
    else {
        return Err(Error::usage(
            format!("{name}: it has no DB time, transactions, or time of single-block reads"),
            "give --read-latency instead of --response",
        ));
    };
    let present_s = time.value / elapsed.value / transactions.value;
    let reads_each = reads.value / transactions.value;
    let budget_s = latency.value - (present_s - response_s) / reads_each;
    if budget_s > 0.0 && budget_s.is_finite() {
        return Ok(budget_s);
    }
    Err(Error::usage(
        format!(
            "{name}: a transaction takes {:.2} ms, of which reads are {:.2} ms: no storage brings it to {:.2} ms",
            1e3 * present_s,
            1e3 * reads_each * latency.value,
            1e3 * response_s
        ),
        "give a longer --response, or look at what else it waits for",
    ))
}

#[cfg(test)]
mod tests;
