//! Latency curves of events, and what is slow in them by wall clock.

use super::events::events_of;
use super::figures::elapsed_s;
use crate::knowledge::{
    BLOCK_LISTS, DIRECT_READ, LOG_SYNC, LOG_WRITE, MULTI_BLOCK, SINGLE_BLOCK, TEMPORARY, is_any,
};
use crate::report::{EventHistogram, OracleReport};
use assay_model::profile::{LatencyBucket, LatencyCurve, Outlier};

/// From here on an I/O of today's storage is slow.
const SLOW_NS: u64 = 16_000_000;

/// The curve of all of these events together; where their ranges differ, of the one that is waited
/// for most. Counts are shares of the waits that the event tables print in full, else of the
/// histogram's own rounded total.
pub(super) fn curve(report: &OracleReport, names: &[&str]) -> Option<LatencyCurve> {
    let found = report.histograms.iter().filter(|curve| is_any(&curve.event, names));
    let mut curves: Vec<LatencyCurve> = found.filter_map(|curve| of_event(report, curve)).collect();
    curves.sort_by(|left, right| right.ios().total_cmp(&left.ios()));
    let mut curves = curves.into_iter();
    let mut sum = curves.next()?;
    for curve in curves {
        add(&mut sum, &curve);
    }
    Some(sum)
}

fn of_event(report: &OracleReport, found: &EventHistogram) -> Option<LatencyCurve> {
    let waits = waits(report, found)?;
    let line = found.buckets.first()?.line;
    let buckets = found.buckets.iter().map(|bucket| LatencyBucket {
        low_ns: bucket.low_ns,
        high_ns: bucket.high_ns,
        ios: bucket.share * waits,
    });
    Some(LatencyCurve {
        buckets: buckets.collect(),
        events: vec![found.event.clone()],
        source: format!("Wait Event Histogram, line {line}: {}", found.event),
    })
}

/// Adds a curve of the same ranges; one of others is left out.
fn add(sum: &mut LatencyCurve, curve: &LatencyCurve) {
    let range = |bucket: &LatencyBucket| (bucket.low_ns, bucket.high_ns);
    if !sum.buckets.iter().map(range).eq(curve.buckets.iter().map(range)) {
        return;
    }
    for (sum, bucket) in sum.buckets.iter_mut().zip(&curve.buckets) {
        sum.ios += bucket.ios;
    }
    sum.events.extend_from_slice(&curve.events);
    sum.source = format!("{}; {}", sum.source, curve.source);
}

fn waits(report: &OracleReport, curve: &EventHistogram) -> Option<f64> {
    let events = events_of(report, &[&curve.event]);
    let in_full: f64 = events.iter().filter_map(|event| event.waits).map(|waits| waits.value).sum();
    if in_full > 0.0 { Some(in_full) } else { curve.waits.map(|waits| waits.value) }
}

/// Slow I/Os per second, for the events that sessions and the log writer wait for; those that cost
/// most come last, and of each the slowest range that matters.
pub(super) fn outliers(report: &OracleReport) -> Vec<Outlier> {
    let Some(elapsed_s) = elapsed_s(report) else {
        return Vec::new();
    };
    let kinds =
        [SINGLE_BLOCK, MULTI_BLOCK, BLOCK_LISTS, DIRECT_READ, TEMPORARY, LOG_SYNC, LOG_WRITE];
    let events = report
        .histograms
        .iter()
        .filter(|curve| kinds.into_iter().any(|kind| is_any(&curve.event, kind)));
    let curves = events.filter_map(|event| Some((event.event.as_str(), of_event(report, event)?)));
    let mut ranges: Vec<Outlier> =
        curves.flat_map(|(event, curve)| slow(event, &curve, elapsed_s)).collect();
    ranges.sort_by(|left, right| cost(left).total_cmp(&cost(right)));
    ranges
}

/// Seconds waited a second, at least: how many times the shortest time of the range.
fn cost(outlier: &Outlier) -> f64 {
    outlier.rate_per_s * assay_model::number::real(outlier.low_ns)
}

/// The slow ranges of a curve by wall clock.
fn slow(event: &str, curve: &LatencyCurve, elapsed_s: f64) -> Vec<Outlier> {
    let slow = curve.buckets.iter().filter(|bucket| bucket.low_ns >= SLOW_NS && bucket.ios > 0.0);
    slow.map(|bucket| Outlier {
        event: event.to_owned(),
        low_ns: bucket.low_ns,
        high_ns: bucket.high_ns,
        rate_per_s: bucket.ios / elapsed_s,
    })
    .collect()
}
