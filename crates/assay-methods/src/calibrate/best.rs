//! Which of all loads stands for the highest rate.

use super::level::LEAST_FALL;
use super::rung::CalibrationRung;
use assay_model::spelling::LimitStatistic;
use assay_stats::IntervalEstimate;
use std::collections::BTreeMap;

/// A rate this near to the highest one is called the highest: the limit then costs nothing.
pub(super) const NEARLY: f64 = 0.98;

/// A step measured for less than this share of that of the peak load is not compared with it.
const LONG_ENOUGH: f64 = 0.5;

/// Steps by outstanding I/Os.
pub(super) type Rungs = BTreeMap<u32, CalibrationRung>;

/// The step that stands for the highest rate: that of `peak_load`, unless another one is better by
/// more than both errors; without it the one that certainly gives most. To take the highest value
/// itself would be to choose the luckiest error. A step that was measured for a shorter time than
/// that of `peak_load` has not shown that it is better.
pub(super) fn best(rungs: &Rungs, peak_load: Option<u32>) -> Option<&CalibrationRung> {
    let least_s =
        peak_load.and_then(|load| rungs.get(&load)).map_or(0.0, |rung| rung.estimates.elapsed_s);
    let long_enough = |rung: &&CalibrationRung| rung.estimates.elapsed_s >= LONG_ENOUGH * least_s;
    let highest = rungs.values().filter(long_enough).max_by(|one, other| {
        let value = |rung: &CalibrationRung| rung.estimates.iops.value;
        value(one).total_cmp(&value(other))
    })?;
    // The halves of their intervals: a standard error each.
    let value = highest.estimates.iops.value;
    let least = f64::midpoint(highest.estimates.iops.low, value);
    let may_be = |rung: &&CalibrationRung| {
        let estimates = &rung.estimates.iops;
        f64::midpoint(estimates.value, estimates.high) >= least || estimates.value >= NEARLY * value
    };
    let surest = || {
        rungs
            .values()
            .filter(long_enough)
            .max_by(|one, other| one.estimates.iops.low.total_cmp(&other.estimates.iops.low))
    };
    peak_load.and_then(|load| rungs.get(&load)).filter(may_be).or_else(surest)
}

/// The rate of a ladder in which few slices were measured: that of all loads from half of the best
/// one on whose intervals meet its own. The best one alone has the luckiest error, which short
/// slices leave large.
pub(super) fn level_of_best(rungs: &Rungs, statistic: LimitStatistic) -> Option<IntervalEstimate> {
    let best = best(rungs, None)?;
    let own = best.estimates.iops;
    // One that also saw the lower level has an interval that meets any other.
    let meets = |rung: &&CalibrationRung| {
        let estimates = rung.estimates.iops;
        estimates.value >= (1.0 - LEAST_FALL) * own.value
            && estimates.high >= own.low
            && estimates.low <= own.high
    };
    let alike = rungs.range(best.queue_depth / 2..).map(|(_, rung)| rung).filter(meets);
    let joined = alike.cloned().reduce(|one, other| {
        let unjoined = one.clone();
        one.joined_with(other, statistic).unwrap_or(unjoined)
    })?;
    Some(joined.estimates.iops)
}
