//! Whether a latency limit is certainly kept although the quantile itself is not known well: bursts
//! beyond the quantile that almost never reach the limit.

use super::best::Rungs;
use super::rung::{CalibrationRung, SURE, Within, pooled};
use assay_model::calibration::LatencyLimit;
use assay_model::measurement::{Operation, PerOperation};
use assay_model::number::{count, real_len, share};
use assay_model::spelling::LimitStatistic;
use assay_stats::distribution::student_quantile;
use assay_stats::series::{mean, variance};

/// How every load, ascending, stands to a limit.
pub(super) fn judged(rungs: &Rungs, limit: &LatencyLimit) -> Vec<Within> {
    rungs.values().map(|rung| judged_together(&[rung], limit)).collect()
}

/// How loads that are thrown together stand to a limit.
pub(super) fn judged_together(rungs: &[&CalibrationRung], limit: &LatencyLimit) -> Within {
    let span = match rungs {
        [rung] => Some(rung.estimates.limited_ns),
        _ => pooled(rungs, limit.quantile),
    };
    let judged = span.map_or(Within::Unclear, |span| span.judged(limit.service_time_ns));
    if judged == Within::Unclear && hardly_reach(rungs, limit) { Within::Surely } else { judged }
}

/// Whether the share of I/Os beyond the limit is certainly smaller than allowed by Student's
/// interval over visits, which noise of seconds makes differ; of few visits it may have missed all.
fn hardly_reach(rungs: &[&CalibrationRung], limit: &LatencyLimit) -> bool {
    const FEWEST: usize = 8;
    // A mean is known better than its tail.
    let LimitStatistic::Quantile(quantile) = limit.quantile else { return false };
    let slices = rungs.iter().flat_map(|rung| &rung.slices);
    let visits: Vec<PerOperation> = slices.map(|slice| slice.operations.unpack()).collect();
    let limit_ns = count(limit.service_time_ns);
    let keeps = |operation: Operation| {
        let shares: Vec<f64> = visits
            .iter()
            .filter_map(|visit| Some(&visit.get(operation)?.service))
            .map(|service| share(service.ios_above(limit_ns), service.ios()))
            .collect();
        let n = real_len(shares.len());
        shares.is_empty()
            || shares.len() >= FEWEST && {
                let half =
                    student_quantile(0.5 + 0.5 * SURE, n - 1.0) * (variance(&shares) / n).sqrt();
                mean(&shares) + half <= 1.0 - quantile
            }
    };
    [Operation::Read, Operation::Write].into_iter().all(keeps)
}
