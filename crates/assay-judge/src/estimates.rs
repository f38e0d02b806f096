//! The numbers of a run that a page shows with their intervals, whether or not a criterion asks for
//! them.

use crate::evidence::find;
use crate::facts::{Facts, JudgedRun};
use crate::measurement::rate_without_interval;
use crate::names::known;
use crate::quantity::{Amount, CriterionQuantity, Scope, TimeStatistic};
use assay_model::Estimate;
use assay_model::measurement::Measurement;
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
    let whole = measurement.operations();
    let elapsed_s = measurement.elapsed_s().max(f64::MIN_POSITIVE);
    let mut totals = vec![
        total("iops", measurement.iops()),
        total("throughput", measurement.throughput_bytes_per_s()),
    ];
    for (operation, result) in whole.iter().filter(|(_, result)| result.ios > 0) {
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
