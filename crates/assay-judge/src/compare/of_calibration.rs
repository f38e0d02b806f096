//! A calibration as one side of a comparison: its capacities, and every step of its curves.

use super::sides::{LoadCurve, LoadCurvePoint, SideCurve, SideFacts, SideFigure};
use crate::calibration::{point, trusted};
use crate::doubts;
use crate::quantity::{CapacityOf, CriterionQuantity, QuantityMix};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, CurvePoint, MixCalibration};
use assay_model::comparison::{OverlayAxis, OverlayPoint, Side, SideKind};
use assay_model::spelling::LimitStatistic;
use assay_model::verdict::{Doubt, Unit};

/// A calibration as a side: capacities are judged, steps that both sides have are shown.
pub fn facts_of_calibration(name: &str, target: &str, calibration: &Calibration) -> SideFacts {
    let limited = calibration.limit.quantile;
    let mixes = &calibration.mixes;
    let side = Side {
        name: name.to_owned(),
        kind: SideKind::Calibration,
        target: target.to_owned(),
        elapsed_s: calibration.elapsed_s,
        repeats: 1,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    };
    SideFacts {
        measures: mixes
            .iter()
            .flat_map(|mix| capacities(mix).into_iter().chain(rungs(mix, limited)))
            .collect(),
        made: made(calibration),
        curves: mixes.iter().flat_map(|mix| curves(mix, limited)).collect(),
        load_curves: mixes.iter().map(load_curve).collect(),
        ..SideFacts::new(side)
    }
}

/// Mean times over rates, in the order of the loads.
fn load_curve(mix: &MixCalibration) -> LoadCurve {
    let mut points: Vec<&CurvePoint> = mix.curve.iter().collect();
    points.sort_by_key(|point| point.queue_depth);
    let point = |point: &CurvePoint| LoadCurvePoint {
        iops: point.iops,
        service_time_ns: point.service_time_ns,
    };
    LoadCurve {
        mix: format!("calibration.{}", kind(mix).name()),
        is_assumed: false,
        points: points.into_iter().map(point).collect(),
    }
}

/// What makes two calibrations different questions.
fn made(calibration: &Calibration) -> Vec<(String, String)> {
    let limit = &calibration.limit;
    let mut made = vec![
        ("calibration.quantile".to_owned(), limit.quantile.to_string()),
        ("calibration.max_latency_ns".to_owned(), limit.service_time_ns.to_string()),
    ];
    for mix in &calibration.mixes {
        let sizes = [
            ("block_size", mix.block_size_bytes),
            ("large_block_size", mix.large_block_size_bytes),
        ];
        made.extend(sizes.map(|(what, bytes)| {
            (format!("calibration.{}.{what}_bytes", mix.name), bytes.to_string())
        }));
    }
    made
}

fn kind(mix: &MixCalibration) -> QuantityMix {
    if mix.read_share >= 1.0 {
        QuantityMix::Read
    } else if mix.read_share <= 0.0 {
        QuantityMix::Write
    } else {
        QuantityMix::Mixed
    }
}

/// The name that criteria use for what is known of a mix.
fn quantity(mix: &MixCalibration, what: CapacityOf) -> CriterionQuantity {
    CriterionQuantity::Calibrated { mix: kind(mix), what }
}

/// The answers of one mix, all of them judged but the knee, which the storage does not promise.
fn capacities(mix: &MixCalibration) -> Vec<SideFigure> {
    let figure = |what: CapacityOf, estimate: Estimate, doubts: Vec<Doubt>| {
        let quantity = quantity(mix, what);
        let subject = quantity.has_subjects().then(|| mix.name.clone());
        let unit = quantity.unit();
        SideFigure {
            judged: true,
            doubts,
            ..SideFigure::new(quantity.to_string(), subject, unit, estimate)
        }
    };
    let busy = |queue_depth: u32| doubts::of_point(point(mix, queue_depth));
    let capacity = |found: &Capacity| {
        let doubts = doubts::of_capacity(found).into_iter().chain(busy(found.queue_depth));
        (found.rate, doubts.collect())
    };
    let alone = |found: Estimate| (found, busy(1).into_iter().collect());
    // Where not even one I/O at a time keeps the limit, the rate within it is known to be 0.
    let within =
        mix.iops_within_limit.as_ref().map_or_else(|| alone(Estimate::exact(0.0, 1)), capacity);
    let found = [
        (CapacityOf::IopsWithinLimit, Some(within)),
        (CapacityOf::IopsMax, Some(capacity(&mix.iops_max))),
        (CapacityOf::ThroughputMax, mix.throughput_max_bytes_per_s.as_ref().map(capacity)),
        (CapacityOf::SingleStreamThroughput, mix.single_stream_bytes_per_s.map(alone)),
        (CapacityOf::BaseServiceTime, Some(alone(mix.base_service_time_ns))),
    ];
    let figures = found.into_iter().filter_map(|(what, found)| {
        let (estimate, doubts) = found?;
        Some(figure(what, estimate, doubts))
    });
    figures.collect()
}

/// Rate and limited quantile or mean of every step.
fn rungs(mix: &MixCalibration, limited: LimitStatistic) -> Vec<SideFigure> {
    let name = format!("calibration.{}", kind(mix).name());
    let at = |what: String, unit, point: &CurvePoint, estimate| {
        let subject = match kind(mix) {
            QuantityMix::Mixed => format!("{} at queue depth {}", mix.name, point.queue_depth),
            QuantityMix::Read | QuantityMix::Write => format!("queue depth {}", point.queue_depth),
        };
        SideFigure::new(what, Some(subject), unit, estimate)
    };
    let one = |point: &CurvePoint| {
        let time_ns = point.limited_quantile_ns;
        let (statistic, time_ns) = match limited {
            LimitStatistic::Mean => ("mean".to_owned(), time_ns),
            LimitStatistic::Quantile(quantile) => {
                (format!("q{quantile}"), trusted(time_ns, quantile).0)
            }
        };
        [
            at(format!("{name}.iops"), Unit::IosPerS, point, point.iops),
            at(format!("{name}.service_time.{statistic}"), Unit::Ns, point, time_ns),
        ]
    };
    mix.curve.iter().flat_map(one).collect()
}

/// Rates and the limited quantile or mean over outstanding I/Os.
fn curves(mix: &MixCalibration, limited: LimitStatistic) -> Vec<SideCurve> {
    let curve = |what: String, unit, rungs: &[CurvePoint], of: fn(&CurvePoint) -> Estimate| {
        SideCurve { what, over: OverlayAxis::Outstanding, unit, points: points(rungs, of) }
    };
    let name = &mix.name;
    vec![
        curve(format!("IOPS of {name}"), Unit::IosPerS, &mix.curve, |rung| rung.iops),
        curve(format!("service time ({limited}) of {name}"), Unit::Ns, &mix.curve, |rung| {
            rung.limited_quantile_ns
        }),
        curve(
            format!("throughput of large I/Os, {name}"),
            Unit::BytesPerS,
            &mix.large_curve,
            |rung| rung.throughput_bytes_per_s,
        ),
    ]
}

fn points(rungs: &[CurvePoint], of: fn(&CurvePoint) -> Estimate) -> Vec<OverlayPoint> {
    let point =
        |rung: &CurvePoint| OverlayPoint { x: f64::from(rung.queue_depth), value: of(rung) };
    let mut points: Vec<OverlayPoint> = rungs.iter().map(point).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    points
}
