//! Times of closed loads at equal rates: as measured, or read from both curves at one rate.

use super::same_measure::{Both, assumed};
use super::sides::{LoadCurve, LoadCurvePoint, SideFacts, SideFigure};
use assay_model::Estimate;
use assay_model::comparison::{ComparisonRefusal, SideKind};
use assay_model::units::show_count;
use assay_model::verdict::Unit;
use assay_stats::series;

/// Rates that differ by less are equal, on the logarithmic scale.
const EQUAL_RATE: f64 = 0.05;
/// The part of the lower one of both maxima at which times are read from the curves.
const READ_AT: f64 = 0.7;

/// Why two values of a measure are not to be compared; `None` where they are.
pub(super) fn not_compared(
    base: &SideFacts,
    other: &SideFacts,
    both: &Both<'_>,
) -> Option<ComparisonRefusal> {
    let is_time = both.base.unit == Unit::Ns;
    let is_at_other_rate =
        is_time && follows_load(base, other) && !is_at_equal_rate(base, other, both.base);
    is_at_other_rate.then_some(ComparisonRefusal::OtherRate).or_else(|| assumed(both))
}

/// Whether times depend on how much the storage did: in a closed load of more than one, the faster
/// one does more.
fn follows_load(base: &SideFacts, other: &SideFacts) -> bool {
    let is_deep = |facts: &SideFacts| facts.closed_depth.is_some_and(|depth| depth > 1);
    match base.side.kind {
        SideKind::Profile => false,
        SideKind::Run => is_deep(base) || is_deep(other),
        SideKind::Calibration | SideKind::Load | SideKind::Check | SideKind::Study => {
            !base.is_of_queries()
        }
    }
}

/// Whether the loads under which a time was measured did as much on both sides. What has no rate of
/// its own was measured one at a time.
fn is_at_equal_rate(base: &SideFacts, other: &SideFacts, time: &SideFigure) -> bool {
    let is_rate = |one: &&SideFigure| {
        matches!(one.unit, Unit::IosPerS | Unit::PerMinute)
            && one.subject == time.subject
            && part(&one.quantity) == part(&time.quantity)
            && !is_capacity(&one.quantity)
    };
    let is_alone = time.subject.as_deref().is_some_and(is_alone);
    let Some(rate) = base.measures.iter().find(is_rate).filter(|_| !is_alone) else {
        return true;
    };
    let both = other.figure_like(rate).map(|other| (rate.estimate.value, other.estimate.value));
    both.is_none_or(|(one, two)| (two / one).ln().abs() <= EQUAL_RATE)
}

/// A step of a calibration at queue depth 1.
fn is_alone(subject: &str) -> bool {
    subject.rsplit(" at ").next() == Some("queue depth 1")
}

/// Capacities are not rates of the load under which a time was measured.
fn is_capacity(quantity: &str) -> bool {
    let is_rate = quantity.rsplit_once('.').is_some_and(|(_, last)| last == "iops");
    quantity.starts_with("calibration.") && !is_rate
}

/// The first word of what is part of another: `calibration`, `load`, `stream`, `target`; nothing
/// for a whole.
fn part(quantity: &str) -> &str {
    match quantity.split_once('.') {
        Some((first @ ("calibration" | "load" | "stream" | "target"), _)) => first,
        _ => "",
    }
}

/// Mean times of every mix at the same rate on both sides, by straight lines between the points of
/// both curves.
pub(super) fn at_equal_rate(base: &SideFacts, other: &SideFacts) -> Vec<(SideFigure, SideFigure)> {
    let both = base.load_curves.iter().filter_map(|mine| {
        let theirs = other.load_curves.iter().find(|theirs| theirs.mix == mine.mix)?;
        of_mix(mine, theirs)
    });
    both.collect()
}

fn of_mix(base: &LoadCurve, other: &LoadCurve) -> Option<(SideFigure, SideFigure)> {
    let rate = READ_AT * most(base)?.min(most(other)?);
    let figure = |curve: &LoadCurve| {
        Some(SideFigure {
            is_assumed: curve.is_assumed,
            ..SideFigure::new(
                format!("{}.service_time.mean", curve.mix),
                Some(format!("at {}/s", show_count(rate))),
                Unit::Ns,
                time_at(curve, rate)?,
            )
        })
    };
    Some((figure(base)?, figure(other)?))
}

fn most(curve: &LoadCurve) -> Option<f64> {
    curve.points.iter().map(|point| point.iops.value).reduce(f64::max)
}

/// The time at a rate, with the wider one of the intervals of both neighbours; below the first
/// point that of the first.
fn time_at(curve: &LoadCurve, rate: f64) -> Option<Estimate> {
    let points = &curve.points;
    let above = points.iter().position(|point| point.iops.value >= rate)?;
    let Some(below) = above.checked_sub(1) else {
        return Some(points[above].service_time_ns);
    };
    let (low, high) = (&points[below], &points[above]);
    let share = (rate - low.iops.value) / (high.iops.value - low.iops.value).max(1e-9);
    let value = series::mean(&[low.service_time_ns.value, high.service_time_ns.value]);
    let value = if share.is_finite() {
        low.service_time_ns.value + share * (high.service_time_ns.value - low.service_time_ns.value)
    } else {
        value
    };
    let widest = |end: fn(&Estimate) -> f64, pick: fn(f64, f64) -> f64| {
        let of = |point: &LoadCurvePoint| {
            end(&point.service_time_ns) / point.service_time_ns.value.max(1e-9)
        };
        value * pick(of(low), of(high))
    };
    Some(Estimate {
        value,
        low: widest(|one| one.low, f64::min),
        high: widest(|one| one.high, f64::max),
        ..low.service_time_ns
    })
}
