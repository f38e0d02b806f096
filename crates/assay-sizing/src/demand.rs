//! What storage has to sustain: the peak of one or several databases, its growth, and the headroom
//! above it.

use crate::databases::SizedDatabase;
use crate::plan::{Peak, SizingPlan};
use assay_model::number::{real, real_len};
use assay_model::profile::{IoPurpose, Profile};
use assay_model::sizing::{DemandFactor, DemandLine, DemandQuantity};
use assay_model::units::{Share, show_bytes};
use assay_model::{Error, Result};

const DAY_S: f64 = 86_400.0;
/// Of more databases only the first are named.
const NAMED_MAX: usize = 4;

/// A value of one sample.
struct DemandObservation<'a> {
    name: &'a str,
    elapsed_s: f64,
    value: f64,
}

/// The value that counts, and where it was seen.
struct SeenPeak {
    value: f64,
    source: String,
}

/// The demand line by line.
///
/// # Errors
/// A usage error when there is no demand at all.
pub(crate) fn build_demand(
    databases: &[SizedDatabase],
    plan: &SizingPlan,
) -> Result<Vec<DemandLine>> {
    if databases.is_empty() && plan.capacity.is_none() {
        return Err(Error::usage(
            "no demand is specified",
            "pass a profile or a report, or --iops or --capacity",
        ));
    }
    let quantities = [
        DemandQuantity::ReadIops,
        DemandQuantity::WriteIops,
        DemandQuantity::ReadBytesPerS,
        DemandQuantity::WriteBytesPerS,
    ];
    let peak = |quantity: &DemandQuantity| peak_line(databases, *quantity, plan);
    let mut lines: Vec<DemandLine> = quantities.iter().filter_map(peak).collect();
    lines.extend(capacity_line(plan));
    lines.extend(daily_line(databases, plan));
    lines.extend(transactions_line(databases, plan));
    Ok(lines)
}

/// All values of a quantity.
fn observations(database: &SizedDatabase, quantity: DemandQuantity) -> Vec<DemandObservation<'_>> {
    let mut observed = Vec::new();
    for sample in &database.samples {
        let Some(value) = sample.value(quantity) else { continue };
        let elapsed_s = sample.elapsed_s.filter(|elapsed| *elapsed > 0.0).unwrap_or(1.0);
        observed.push(DemandObservation { name: &sample.name, elapsed_s, value });
    }
    observed
}

/// The mean over all time that was seen.
fn mean(observed: &[DemandObservation<'_>]) -> Option<f64> {
    let elapsed_s: f64 = observed.iter().map(|one| one.elapsed_s).sum();
    let sum: f64 = observed.iter().map(|one| one.value * one.elapsed_s).sum();
    (elapsed_s > 0.0).then(|| sum / elapsed_s)
}

/// The value of one database that counts.
fn peak(mut observed: Vec<DemandObservation<'_>>, peak: Peak) -> Option<SeenPeak> {
    observed.sort_by(|one, other| one.value.total_cmp(&other.value));
    let number = observed.len();
    match peak {
        Peak::Max => {
            let one = observed.last()?;
            Some(SeenPeak { value: one.value, source: one.name.to_owned() })
        }
        Peak::Quantile95 => {
            // The nearest rank: the least value that 95 of 100 do not exceed.
            let rank = assay_model::number::index((0.95 * real_len(number)).ceil()).max(1);
            let one = observed.get(rank - 1)?;
            let source = format!("{} (p95 of {number})", one.name);
            Some(SeenPeak { value: one.value, source })
        }
        Peak::TimesMean(_) => Some(SeenPeak { value: mean(&observed)?, source: means(&observed) }),
    }
}

fn means(observed: &[DemandObservation<'_>]) -> String {
    match observed {
        [one] => one.name.to_owned(),
        several => format!("mean of {}", several.len()),
    }
}

/// One value of each database, added up: whether they come together is not known, so they are taken
/// to.
fn added(
    databases: &[SizedDatabase],
    seen: impl Fn(&SizedDatabase) -> Option<SeenPeak>,
) -> Option<SeenPeak> {
    let found: Vec<(&SizedDatabase, SeenPeak)> =
        databases.iter().filter_map(|one| Some((one, seen(one)?))).collect();
    match found.len() {
        0 | 1 => found.into_iter().next().map(|(_, seen)| seen),
        number => {
            let value = found.iter().map(|(_, seen)| seen.value).sum();
            let named = |(database, seen): &(&SizedDatabase, SeenPeak)| {
                format!("{} ({})", database.name, seen.source)
            };
            let shown: Vec<String> = found.iter().take(NAMED_MAX).map(named).collect();
            let more = number.saturating_sub(NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Some(SeenPeak { value, source: format!("sum of {}{more}", shown.join(", ")) })
        }
    }
}

fn factor(name: impl Into<String>, factor: f64) -> DemandFactor {
    DemandFactor { name: name.into(), factor }
}

fn growth(plan: &SizingPlan) -> Option<DemandFactor> {
    let name =
        || format!("growth of {:.4}% per year for {} years", 100.0 * plan.growth, plan.years);
    let grows = plan.years > 0 && plan.growth != 0.0;
    grows.then(|| factor(name().replace(".0000", ""), plan.growth_factor()))
}

/// A line: what was seen, times its factors, and the headroom above that.
fn line(
    quantity: DemandQuantity,
    seen: SeenPeak,
    factors: Vec<DemandFactor>,
    headroom: Option<Share>,
) -> DemandLine {
    let peak_value = factors.iter().map(|one| one.factor).product::<f64>() * seen.value;
    let headroom = headroom.filter(|headroom| headroom.0 > 0.0);
    let above = headroom.map(|headroom| factor("headroom", 1.0 + headroom.0));
    let need_value = above.as_ref().map_or(1.0, |above| above.factor) * peak_value;
    let factors = factors.into_iter().chain(above).collect();
    let SeenPeak { value: seen_value, source } = seen;
    DemandLine { quantity, seen_value, source, factors, peak_value, need_value }
}

fn peak_line(
    databases: &[SizedDatabase],
    quantity: DemandQuantity,
    plan: &SizingPlan,
) -> Option<DemandLine> {
    let found = added(databases, |one| peak(observations(one, quantity), plan.peak))?;
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
        let name = format!("at most {:.0}% full", 100.0 * plan.fill.0);
        factors.push(factor(name, 1.0 / plan.fill.0));
    }
    let seen = SeenPeak { value: data, source: "--capacity".to_owned() };
    Some(line(DemandQuantity::CapacityBytes, seen, factors, None))
}

/// What a mean day writes: endurance is spent by the mean and not by the peak.
fn daily_line(databases: &[SizedDatabase], plan: &SizingPlan) -> Option<DemandLine> {
    let written = |database: &SizedDatabase| {
        let observed = observations(database, DemandQuantity::WriteBytesPerS);
        let source = format!("mean of {} x 86,400 s", observed.len());
        Some(SeenPeak { value: mean(&observed)? * DAY_S, source })
    };
    let factors = growth(plan).into_iter().collect();
    Some(line(DemandQuantity::DailyWrittenBytes, added(databases, written)?, factors, None))
}

fn transactions_line(databases: &[SizedDatabase], plan: &SizingPlan) -> Option<DemandLine> {
    let quantity = DemandQuantity::TransactionsPerS;
    let found = added(databases, |one| peak(observations(one, quantity), plan.peak))?;
    let factors = growth(plan).into_iter().collect();
    (found.value > 0.0).then(|| line(quantity, found, factors, None))
}

/// The longest mean time of a single-block read with which a transaction takes `response_s`, s: the
/// present time less what has to be saved, over its reads. All else stays as it is.
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
            "pass --read-latency instead of --response",
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
            "{name}: a transaction takes {:.2} ms, of which reads are {:.2} ms: no storage can \
             reduce it to {:.2} ms",
            1e3 * present_s,
            1e3 * reads_each * latency.value,
            1e3 * response_s
        ),
        "pass a longer --response, or reduce its other waits",
    ))
}

#[cfg(test)]
mod tests;
