//! Latency curves of events, and what is slow in them by wall clock.

use super::{elapsed_s, events_of};
use crate::knowledge::{DIRECT_READ, LOG_SYNC, LOG_WRITE, MULTI_BLOCK, SINGLE_BLOCK, is_any};
use crate::report::{EventHistogram, Report};
use assay_model::profile::{LatencyBucket, LatencyCurve, Outlier};

/// From here on an I/O of today's storage is slow.
const SLOW_NS: u64 = 16_000_000;

/// The joined curve of the first of these events that has one. Counts are shares of the waits that the event
/// tables print in full, else of the histogram's own rounded total.
pub(super) fn curve(report: &Report, names: &[&str]) -> Option<LatencyCurve> {
    let found = report.histograms.iter().find(|curve| is_any(&curve.event, names))?;
    let waits = waits(report, found)?;
    let line = found.buckets.first()?.line;
    let buckets = found.buckets.iter().map(|bucket| LatencyBucket {
        low_ns: bucket.low_ns,
        high_ns: bucket.high_ns,
        ios: bucket.share * waits,
    });
    Some(LatencyCurve {
        buckets: buckets.collect(),
        source: format!("Wait Event Histogram, line {line}: {}", found.event),
    })
}

fn waits(report: &Report, curve: &EventHistogram) -> Option<f64> {
    let events = events_of(report, &[&curve.event]);
    let in_full: f64 = events.iter().filter_map(|event| event.waits).map(|waits| waits.value).sum();
    if in_full > 0.0 { Some(in_full) } else { curve.waits.map(|waits| waits.value) }
}

/// Slow I/Os a second, for the events that sessions wait for.
pub(super) fn outliers(report: &Report) -> Vec<Outlier> {
    let Some(elapsed_s) = elapsed_s(report) else {
        return Vec::new();
    };
    let kinds = [SINGLE_BLOCK, MULTI_BLOCK, DIRECT_READ, LOG_SYNC, LOG_WRITE];
    let events = kinds.into_iter().flatten();
    let curves = events.filter_map(|event| Some((*event, curve(report, &[event])?)));
    curves.flat_map(|(event, curve)| slow(event, &curve, elapsed_s)).collect()
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
