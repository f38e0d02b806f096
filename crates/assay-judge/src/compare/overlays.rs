//! What can be drawn of a side, and what several sides have in common of it.

use super::pooled::mean_of_repeats;
use super::sides::{SideCurve, SideFacts};
use crate::series::{Series, SeriesBatch};
use assay_model::comparison::{Overlay, OverlayAxis, OverlayLine, OverlayPoint};
use assay_model::measurement::PerOperation;
use assay_model::number::{rate, real, share};
use assay_model::verdict::Unit;
use assay_model::{Estimate, Histogram};

/// Points of a distribution for each doubling of the latency: more than a picture can tell apart.
const POINTS_A_DOUBLING: f64 = 8.0;

/// The curves that two sides have at least, in the order in which the sides name them.
pub(super) fn of(sides: &[SideFacts]) -> Vec<Overlay> {
    let mut overlays: Vec<Overlay> = Vec::new();
    for (side, curve) in sides.iter().enumerate().flat_map(|(side, facts)| {
        facts.curves.iter().filter(|curve| !curve.points.is_empty()).map(move |curve| (side, curve))
    }) {
        let line = OverlayLine { side, points: curve.points.clone() };
        let same = |known: &&mut Overlay| {
            known.what == curve.what && known.over == curve.over && known.unit == curve.unit
        };
        match overlays.iter_mut().find(same) {
            Some(known) => known.lines.push(line),
            None => overlays.push(Overlay {
                what: curve.what.clone(),
                over: curve.over,
                unit: curve.unit,
                lines: vec![line],
            }),
        }
    }
    let several =
        |overlay: &Overlay| overlay.lines.iter().any(|line| line.side != overlay.lines[0].side);
    overlays.retain(several);
    overlays
}

/// Curves of repeats of one side: what was measured under the same loads is pooled, what went over
/// time or was distributed stands for itself.
pub(super) fn of_repeats(repeats: &[SideFacts]) -> Vec<SideCurve> {
    let all: Vec<&SideCurve> = repeats.iter().flat_map(|facts| &facts.curves).collect();
    let mut pooled: Vec<SideCurve> = Vec::new();
    for curve in &all {
        let by_load = matches!(curve.over, OverlayAxis::Outstanding | OverlayAxis::Sessions);
        if !by_load {
            pooled.push((*curve).clone());
        } else if !pooled.iter().any(|known| known.is_of(curve)) {
            let same: Vec<&SideCurve> =
                all.iter().copied().filter(|other| other.is_of(curve)).collect();
            pooled.push(pool(&same));
        }
    }
    pooled
}

/// The mean of the points that all curves have.
fn pool(curves: &[&SideCurve]) -> SideCurve {
    let at_same = |curve: &SideCurve, at: f64| {
        curve.points.iter().find(|point| point.x.total_cmp(&at).is_eq()).map(|point| point.value)
    };
    let point = |point: &OverlayPoint| {
        let found: Option<Vec<Estimate>> =
            curves.iter().map(|curve| at_same(curve, point.x)).collect();
        Some(OverlayPoint { x: point.x, value: mean_of_repeats(&found?) })
    };
    SideCurve { points: curves[0].points.iter().filter_map(point).collect(), ..curves[0].clone() }
}

/// Rates over time and distributions of one run.
pub(super) fn of_run(whole: &PerOperation, series: &Series) -> Vec<SideCurve> {
    let rates = whole.iter().map(|(operation, _)| SideCurve {
        what: format!("{}s/s", operation.name()),
        over: OverlayAxis::ElapsedS,
        unit: Unit::IosPerS,
        points: over_time(series.batches(), |batch| {
            batch.operations.get(operation).map_or(0, |result| result.ios)
        }),
    });
    let distributions = whole.iter().map(|(operation, result)| SideCurve {
        what: format!("share of {}s within a latency", operation.name()),
        over: OverlayAxis::LatencyNs,
        unit: Unit::Share,
        points: distribution(result.response()),
    });
    rates.chain(distributions).collect()
}

/// The rate of every batch at its middle.
fn over_time(batches: &[SeriesBatch], ios: impl Fn(&SeriesBatch) -> u64) -> Vec<OverlayPoint> {
    let mut before_s = 0.0;
    let point = |batch: &SeriesBatch| {
        let at = before_s + batch.elapsed_s / 2.0;
        before_s += batch.elapsed_s;
        OverlayPoint { x: at, value: Estimate::exact(rate(ios(batch), batch.elapsed_s), 1) }
    };
    batches.iter().map(point).collect()
}

/// The empirical distribution: the share of I/Os up to the end of a bucket, thinned out to equal
/// steps of the logarithm.
fn distribution(times: &Histogram) -> Vec<OverlayPoint> {
    let total: u64 = times.buckets().map(|(.., ios)| ios).sum();
    let mut points: Vec<(i64, OverlayPoint)> = Vec::new();
    let mut below = 0;
    for (low_ns, width_ns, ios) in times.buckets() {
        below += ios;
        let at = real(low_ns + width_ns);
        let value = Estimate::exact(share(below, total), total);
        let step = step(at);
        let point = OverlayPoint { x: at, value };
        match points.last_mut().filter(|(known, _)| *known == step) {
            Some((_, last)) => *last = point,
            None => points.push((step, point)),
        }
    }
    points.into_iter().map(|(_, point)| point).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a logarithm of a time in ns is below 64")]
fn step(at_ns: f64) -> i64 {
    (at_ns.log2() * POINTS_A_DOUBLING).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Precision;
    use assay_model::measurement::OperationResult;

    fn histogram(times_ns: impl IntoIterator<Item = u64>) -> Histogram {
        let mut times = Histogram::new(Precision::Fine);
        times_ns.into_iter().for_each(|time_ns| times.record(time_ns));
        times
    }

    #[test]
    fn a_distribution_ends_at_one_and_never_falls() {
        let points = distribution(&histogram((1..=10_000).map(|step| step * 977)));
        let last = points.last().unwrap();
        assert!((last.value.value - 1.0).abs() < 1e-12);
        assert!(last.x >= 9_770_000.0 && last.x < 9_790_000.0, "{}", last.x);
        let rising = |pair: &[OverlayPoint]| {
            pair[0].x < pair[1].x && pair[0].value.value <= pair[1].value.value
        };
        assert!(points.windows(2).all(rising));
        // A uniform distribution: half of the values lie below the middle.
        let middle = points.iter().min_by(|one, other| {
            (one.x - 4_885_000.0).abs().total_cmp(&(other.x - 4_885_000.0).abs())
        });
        let middle = middle.unwrap();
        assert!((middle.value.value - middle.x / 9_770_000.0).abs() < 0.002, "{middle:?}");
        assert!(points.len() < 120, "{}", points.len());
    }

    #[test]
    fn rates_stand_in_the_middle_of_their_batches() {
        let batch = |ios| {
            let mut read = OperationResult::empty(Precision::Coarse, false);
            read.ios = ios;
            let operations = PerOperation { read: Some(read), ..PerOperation::default() };
            SeriesBatch { elapsed_s: 2.0, operations }
        };
        let ios = |batch: &SeriesBatch| batch.operations.read.as_ref().map_or(0, |read| read.ios);
        let points = over_time(&[batch(10), batch(20)], ios);
        let seen: Vec<(f64, f64)> =
            points.iter().map(|point| (point.x, point.value.value)).collect();
        assert_eq!(seen, [(1.0, 5.0), (3.0, 10.0)]);
    }
}
