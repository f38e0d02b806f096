//! The numbers of a run that a page shows with their intervals, whether or not a criterion asks for
//! them.

use crate::evidence::find;
use crate::facts::{Facts, JudgedRun};
use crate::measurement::rate_without_interval;
use crate::names::known;
use crate::quantity::{Amount, CriterionQuantity, Scope, TimeStatistic};
use assay_model::Estimate;
use assay_model::measurement::{Measurement, NamedResult, OperationResult, PerOperation};
use assay_model::number::rate;
use assay_model::verdict::NamedEstimate;

/// Rates, throughputs, means and the common quantiles of a run with their intervals: of the whole,
/// and of each stream and each target where there are several. What cannot be said for lack of I/Os
/// or of time is left out.
pub fn estimates_of_run(run: JudgedRun<'_>) -> Vec<NamedEstimate> {
    let facts = Facts {
        dss: None,
        integrity: None,
        calibration: None,
        run: Some(run),
        load: None,
        environment: None,
        given: &[],
        doubts: &[],
    };
    let shown = known().into_iter().filter(|quantity| is_shown(quantity, run.measurement));
    shown.flat_map(|quantity| estimates(&quantity, &facts)).collect()
}

/// Why the rate of a run has no interval, and for how long to measure; nothing where it has one.
pub fn no_interval_of_run(run: JudgedRun<'_>) -> Option<String> {
    rate_without_interval(run)
}

/// Rates, throughputs and mean service times of the whole as numbers without an interval: what was
/// done, whatever may be said of how it would be done again.
pub fn totals(measurement: &Measurement) -> Vec<NamedEstimate> {
    totals_of(&measurement.operations(), elapsed_s(measurement))
}

/// The same of each stream, where there are several.
pub fn stream_totals(measurement: &Measurement) -> Vec<NamedEstimate> {
    let streams = &measurement.streams;
    let several = streams.iter().filter(|_| streams.len() > 1);
    let of_stream = |stream: &NamedResult| {
        let name = stream.name.clone();
        let totals = totals_of(&stream.operations, elapsed_s(measurement)).into_iter();
        totals.map(move |total| NamedEstimate {
            quantity: format!("stream.{}", total.quantity),
            subject: Some(name.clone()),
            ..total
        })
    };
    several.flat_map(of_stream).collect()
}

fn elapsed_s(measurement: &Measurement) -> f64 {
    measurement.elapsed_s().max(f64::MIN_POSITIVE)
}

fn totals_of(operations: &PerOperation, elapsed_s: f64) -> Vec<NamedEstimate> {
    let active = || operations.iter().filter(|(_, result)| result.ios > 0);
    let per_s = |count: fn(&OperationResult) -> u64| {
        rate(active().map(|(_, result)| count(result)).sum(), elapsed_s)
    };
    let mut totals = vec![
        total("iops", per_s(|result| result.ios)),
        total("throughput", per_s(|result| result.bytes)),
    ];
    for (operation, result) in active() {
        let name = operation.name();
        totals.push(total(&format!("{name}.iops"), rate(result.ios, elapsed_s)));
        if result.bytes > 0 {
            totals.push(total(&format!("{name}.throughput"), rate(result.bytes, elapsed_s)));
        }
        totals.push(total(&format!("{name}.service_time.mean"), result.service.mean_ns()));
    }
    totals
}

fn total(quantity: &str, value: f64) -> NamedEstimate {
    NamedEstimate {
        quantity: quantity.to_owned(),
        subject: None,
        estimate: Estimate::without_interval(value, 1),
    }
}

/// Counts and extremes have no interval, and the only stream or target is the whole.
fn is_shown(quantity: &CriterionQuantity, measurement: &Measurement) -> bool {
    let CriterionQuantity::Measured { scope, amount } = quantity else {
        return false;
    };
    let several = match scope {
        Scope::Whole => true,
        Scope::Stream => measurement.streams.len() > 1,
        Scope::Target => measurement.targets.len() > 1,
    };
    let statistic = match amount {
        Amount::Time { statistic, .. } => Some(*statistic),
        Amount::Iops(_) | Amount::Throughput(_) | Amount::Errors(_) => None,
    };
    several && !matches!(amount, Amount::Errors(_)) && statistic != Some(TimeStatistic::Max)
}

/// The estimates of one quantity for all its subjects; those without an interval are left out.
fn estimates(quantity: &CriterionQuantity, facts: &Facts<'_>) -> Vec<NamedEstimate> {
    let named = find(quantity, facts).into_iter().filter_map(|found| {
        Some(NamedEstimate {
            quantity: quantity.to_string(),
            subject: found.subject,
            estimate: found.known.ok()?.estimate,
        })
    });
    named.collect()
}
