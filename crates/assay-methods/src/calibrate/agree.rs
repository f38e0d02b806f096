//! Whether the parts of a calibration agree: what cannot be true together is named, and nothing is called saturated by it.

use super::mix::Climbed;
use super::rung::Slice;
use assay_model::calibration::{Bound, Capacity, Contradiction, MixCalibration};
use assay_model::number::real;
use assay_stats::series::mean;

/// A capacity whose interval is wider than this share to each side does not show that more load gives no more.
const SATURATED_MOST: f64 = 0.1;

/// Differences below this share contradict nothing.
const LEAST: f64 = 0.1;

/// A change of the base counts when it is this many times as large as the half-width of its interval over all visits: the
/// few visits at the ends are known less well than all together.
const BEYOND: f64 = 4.5;

/// Visits at the beginning and at the end that are compared.
const ENDS: usize = 2;

/// Names what contradicts, and takes back claims that the intervals or a contradiction do not allow.
pub(super) fn agree(found: &mut MixCalibration, small: &Climbed) {
    if small_above_large(found) {
        found.contradictions.push(Contradiction::SmallAboveLarge);
    }
    if let Some(change) = change_of_base(small) {
        let half = found.base_service_time_ns.relative_half_width();
        if change.abs() > LEAST.max(BEYOND * half) {
            found.contradictions.push(Contradiction::BaseChanged);
        }
    }
    let contradicted = !found.contradictions.is_empty();
    let capacities = [
        Some(&mut found.iops_max),
        found.iops_within_limit.as_mut(),
        found.throughput_max_bytes_per_s.as_mut(),
    ];
    for capacity in capacities.into_iter().flatten() {
        take_back(capacity, contradicted);
    }
}

fn take_back(capacity: &mut Capacity, contradicted: bool) {
    if capacity.bound != Bound::Saturated {
        return;
    }
    if contradicted {
        capacity.bound = Bound::Contradicted;
    } else if capacity.rate.relative_half_width() > SATURATED_MOST {
        capacity.bound = Bound::TimeBudget;
    }
}

/// Whether small I/Os surely moved more bytes a second than large ones.
fn small_above_large(found: &MixCalibration) -> bool {
    let least = found.iops_max.rate.low * real(found.transfer_bytes);
    let large = found.throughput_max_bytes_per_s.as_ref();
    large.is_some_and(|large| least > large.rate.high * (1.0 + LEAST))
}

/// By which share the rate of one outstanding I/O at the end differs from that at the beginning.
fn change_of_base(small: &Climbed) -> Option<f64> {
    let rates: Vec<f64> = small.ladder.rungs.get(&1)?.slices.iter().map(Slice::iops).collect();
    let enough = rates.len() >= 2 * ENDS;
    enough.then(|| mean(&rates[rates.len() - ENDS..]) / mean(&rates[..ENDS]) - 1.0)
}
