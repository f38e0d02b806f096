//! What is said of hosts that measured together: from clocks, begins, series and losses to the
//! document.

use crate::clock::{Clock, Offset};
use crate::merge::{HostSeries, Merger};
use crate::schedule::{HostStart, Skew, skew_limit_ns};
use assay_model::Estimate;
use assay_model::cluster::{
    Cluster, ClusterHost, CommonStart, CommonWindow, HostClock, HostLatency, HostLoss, SharedLimit,
    Sharing, Straggler, StragglerKind, Transport,
};
use assay_model::measurement::{Conduct, OperationResult};
use assay_model::number::{count_of, real_len, share};
use assay_stats::batches::{CONFIDENCE, book, mean_of_batches, noun};
use assay_stats::hosts::{HostsLimit, fairness, stragglers, sums};

/// A host whose rate is below this part of the others' lags behind.
const RATE_MIN: f64 = 0.9;
/// A host whose tail is above this many times the others' does.
const TAIL_MAX: f64 = 1.25;
/// In how many runs of equal hosts any of them is named.
const ERROR_SHARE: f64 = 0.05;
/// Hosts that give together this part of what each gives alone barely take anything from each
/// other.
const TOGETHER_MIN: f64 = 0.9;
/// Parts of the common window of which a host's rates are kept.
const PARTS_MAX: usize = 120;
/// A host or a worker that is busier than this has no time to spare.
const BUSY: f64 = 0.9;

/// What is known of one host at the end.
#[derive(Clone, Debug, Default)]
pub struct HostRecord {
    /// As it was named.
    pub name: String,
    /// What it calls itself.
    pub host_name: String,
    /// What is known of its clock.
    pub clock: Clock,
    /// When its workers began.
    pub begin: Option<HostStart>,
    /// How its tool behaved, where it came to its end.
    pub conduct: Option<Conduct>,
    /// For how long it stood still at most while it measured, ns.
    pub stood_still_ns: Option<u64>,
    /// Why it was lost.
    pub lost: Option<HostLoss>,
}

/// What is known of the start.
#[derive(Clone, Copy, Debug)]
pub struct StartFindings {
    /// The moment, ns on the driver's clock.
    pub at_ns: u64,
    /// Tries until all hosts knew it in time.
    pub attempts: u32,
    /// Length of an interval, ns.
    pub interval_ns: u64,
    /// Load before the measured time within which a late host changes nothing of what is measured,
    /// ns.
    pub warm_up_ns: u64,
}

/// The document of hosts that measured together.
pub fn cluster(
    transport: Transport,
    hosts: &[HostRecord],
    start: Option<StartFindings>,
    merger: &Merger,
) -> Cluster {
    let rates: Vec<Vec<f64>> = merger.series().iter().map(|host| host.iops.clone()).collect();
    let sum = sums(&rates);
    let all_ios: u64 = merger.series().iter().map(|host| host.operations.ios()).sum();
    let each = hosts.iter().zip(merger.series());
    let interval_s = merger.interval_s();
    let hosts_said = each
        .map(|(record, series)| ClusterHost {
            iops: mean_of_batches(&series.iops, interval_s).ok(),
            ..host(record, series, start, all_ios)
        })
        .collect();
    let seconds = assay_model::number::seconds(merger.elapsed_ns());
    let bytes: u64 = merger.series().iter().map(|host| host.operations.bytes()).sum();
    let iops = mean_of_batches(&sum, interval_s).ok();
    Cluster {
        format: 1,
        transport,
        hosts: hosts_said,
        start: start.and_then(|start| common_start(hosts, start)),
        window: CommonWindow {
            intervals: merger.intervals(),
            elapsed_ns: merger.elapsed_ns(),
            left_out: merger.left_out(),
        },
        load: None,
        sharing: None,
        iops,
        throughput_bytes_per_s: iops
            .filter(|iops| iops.value > 0.0)
            .map(|iops| iops.scaled(assay_model::number::rate(bytes, seconds) / iops.value)),
        fairness_coefficient: fairness(&rates.iter().map(|host| mean(host)).collect::<Vec<f64>>()),
        stragglers: [slow_hosts(hosts, &rates), slow_tails(hosts, merger.series())].concat(),
    }
}

fn host(
    record: &HostRecord,
    series: &HostSeries,
    start: Option<StartFindings>,
    all_ios: u64,
) -> ClusterHost {
    let operations = &series.operations;
    let since_start = |begin: HostStart| {
        let start_ns = start?.at_ns;
        Some(begin.first_ns.cast_signed().wrapping_sub(start_ns.cast_signed()))
    };
    ClusterHost {
        name: record.name.clone(),
        host_name: record.host_name.clone(),
        clock: clock(&record.clock, start),
        start_error_ns: record.begin.and_then(since_start),
        ios: operations.ios(),
        bytes: operations.bytes(),
        errors: operations.errors(),
        iops: None,
        share: share(operations.ios(), all_ios),
        latencies: operations
            .iter()
            .filter(|(_, result)| !result.service.is_empty())
            .map(|(operation, result)| latency(operation, result))
            .collect(),
        host_busy_share: record.conduct.as_ref().and_then(|conduct| conduct.host_busy_share),
        worker_busy_share_max: record.conduct.as_ref().map(|conduct| conduct.worker_busy_share_max),
        rates_iops: parts(&series.iops),
        alone: None,
        stood_still_ns: record.stood_still_ns,
        lost: record.lost.clone(),
    }
}

fn latency(
    operation: assay_model::measurement::Operation,
    result: &OperationResult,
) -> HostLatency {
    let service = &result.service;
    HostLatency {
        operation,
        ios: result.ios,
        p50_ns: service.quantile_ns(0.5),
        p99_ns: service.quantile_ns(0.99),
        max_ns: service.max_ns(),
    }
}

fn clock(clock: &Clock, start: Option<StartFindings>) -> HostClock {
    let offset = start.and_then(|start| clock.offset_at(start.at_ns)).unwrap_or_default();
    clock_with(clock, offset)
}

/// What is said of a clock at a moment of the driver's.
pub fn clock_at(clock: &Clock, at_ns: u64) -> HostClock {
    clock_with(clock, clock.offset_at(at_ns).unwrap_or_default())
}

fn clock_with(clock: &Clock, offset: Offset) -> HostClock {
    HostClock {
        offset_ns: offset.offset_ns,
        uncertainty_ns: offset.uncertainty_ns,
        drift_ppb: clock.drift().map(|drift| drift.ppb),
        round_trip_min_ns: clock.round_trip_min_ns().unwrap_or(0),
        pings: clock.asked(),
        jump_ns: clock.jump_ns(),
    }
}

/// How well the hosts began together; nothing where one of them did not say so.
pub fn common_start(hosts: &[HostRecord], start: StartFindings) -> Option<CommonStart> {
    let begins = hosts.iter().map(|host| host.begin).collect::<Option<Vec<HostStart>>>()?;
    let skew = Skew::of(&begins)?;
    let measured_from_ns = start.at_ns + start.warm_up_ns;
    let warm_ns = measured_from_ns.saturating_sub(begins[skew.first].first_ns);
    let warm_ns = if start.warm_up_ns > 0 { warm_ns } else { 0 };
    Some(CommonStart {
        skew_ns: skew.skew_ns,
        uncertainty_ns: skew.uncertainty_ns,
        limit_ns: skew_limit_ns(start.interval_ns).max(warm_ns),
        first: hosts[skew.first].name.clone(),
        last: hosts[skew.last].name.clone(),
        attempts: start.attempts,
    })
}

/// What the hosts that were measured alone give together against the sum of what each gives alone;
/// nothing where that is not known of any.
pub fn sharing(hosts: &[ClusterHost], merger: &Merger) -> Option<Sharing> {
    let each = hosts.iter().zip(merger.series());
    let known = each.filter_map(|(host, series)| Some((host.alone?.iops?, series.iops.clone())));
    let (alone, together): (Vec<Estimate>, Vec<Vec<f64>>) = known.unzip();
    let together = known_rate(&sums(&together), merger.interval_s())?;
    let ratio = ratio(&together, &alone)?;
    let limit = match ratio {
        ratio if ratio.low >= TOGETHER_MIN => SharedLimit::Hosts,
        ratio if ratio.high < TOGETHER_MIN => SharedLimit::Shared,
        _ => SharedLimit::Unclear,
    };
    Some(Sharing { ratio, hosts: u32::try_from(alone.len()).unwrap_or(u32::MAX), limit })
}

/// The rate of what a host or several did in intervals of equal length; without an interval of
/// confidence where they are too few. `None` of none.
pub fn known_rate(iops: &[f64], interval_s: f64) -> Option<Estimate> {
    let known = mean_of_batches(iops, interval_s);
    let alone = || Estimate::without_interval(mean(iops), count_of(iops.len()));
    (!iops.is_empty()).then(|| known.unwrap_or_else(|_| alone()))
}

/// A rate over a sum of rates; without an interval where any of them has none.
fn ratio(together: &Estimate, alone: &[Estimate]) -> Option<Estimate> {
    let sum = sum_of(alone);
    if together.has_interval() && alone.iter().all(Estimate::has_interval) {
        return Some(noun(book(together).over(&book(&sum))?));
    }
    let value = together.value / sum.value;
    value.is_finite().then(|| Estimate::without_interval(value, 1))
}

/// The sum of estimates that were made one after the other: their doubts are independent, and add
/// up as squares.
fn sum_of(estimates: &[Estimate]) -> Estimate {
    let value: f64 = estimates.iter().map(|one| one.value).sum();
    let doubt = |side: fn(&Estimate) -> f64| {
        estimates.iter().map(|one| (side(one) - one.value).powi(2)).sum::<f64>().sqrt()
    };
    let (low, high) = (value - doubt(|one| one.low), value + doubt(|one| one.high));
    let n = estimates.iter().map(|one| one.n).min().unwrap_or(1);
    Estimate { value, low, high, confidence: CONFIDENCE, n }
}

fn slow_hosts(hosts: &[HostRecord], rates: &[Vec<f64>]) -> Vec<Straggler> {
    let found = stragglers(rates, HostsLimit::Below(RATE_MIN), ERROR_SHARE);
    found.iter().map(|found| straggler(hosts, StragglerKind::Rate, found)).collect()
}

/// Hosts with a longer tail, where every interval of every host has enough I/Os to have one.
fn slow_tails(hosts: &[HostRecord], series: &[HostSeries]) -> Vec<Straggler> {
    if series.iter().any(|host| host.tail_ns.len() < host.iops.len()) {
        return Vec::new();
    }
    let tails: Vec<Vec<f64>> = series.iter().map(|host| host.tail_ns.clone()).collect();
    let found = stragglers(&tails, HostsLimit::Above(TAIL_MAX), ERROR_SHARE);
    found.iter().map(|found| straggler(hosts, StragglerKind::Tail, found)).collect()
}

fn straggler(
    hosts: &[HostRecord],
    kind: StragglerKind,
    found: &assay_stats::hosts::StragglerHost,
) -> Straggler {
    let host = &hosts[found.host];
    Straggler {
        host: host.name.clone(),
        kind,
        ratio: noun(found.ratio),
        place: place(host.conduct.as_ref()).to_owned(),
    }
}

/// Where the cause likely is.
fn place(conduct: Option<&Conduct>) -> &'static str {
    let Some(conduct) = conduct else { return "unknown: the host did not finish" };
    if conduct.host_busy_share.is_some_and(|share| share > BUSY) {
        return "the host's CPUs, which were busy";
    }
    if conduct.worker_busy_share_max > BUSY {
        return "the load generator on the host, whose worker was busy";
    }
    "the storage or the path to it"
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / real_len(values.len()) }
}

/// The means of equal parts of a series, the last of which may be shorter.
fn parts(series: &[f64]) -> Vec<f64> {
    let length = series.len().div_ceil(PARTS_MAX).max(1);
    debug_assert!(count_of(series.len().div_ceil(length)) <= count_of(PARTS_MAX));
    series.chunks(length).map(mean).collect()
}

#[cfg(test)]
mod tests;
