//! Whether the parts of a calibration agree: what cannot be true together is named, and nothing is
//! called saturated by it.

use super::climbed::Climbed;
use super::rung::Slice;
use assay_model::calibration::{Capacity, CapacityBound, Contradiction, MixCalibration};
use assay_model::number::real;
use assay_stats::series::mean;

/// A capacity whose interval is wider than this share to each side does not show that more load
/// gives no more.
const SATURATED_MOST: f64 = 0.1;

/// Differences below this share contradict nothing.
const LEAST: f64 = 0.1;

/// A change of the base counts from this many standard deviations on, and half-widths of its
/// interval, which knows noise that outlasts a visit.
const BEYOND: f64 = 4.5;

/// The share of the visits that is the beginning, and that is the end; each at least two.
const END: usize = 4;

/// Names what contradicts, and takes back claims that the intervals or a contradiction do not
/// allow.
pub(super) fn agree(found: &mut MixCalibration, small: &Climbed) {
    if small_above_large(found) {
        found.contradictions.push(Contradiction::SmallAboveLarge);
    }
    if let Some(change) = change_of_base(small) {
        let half = found.base_service_time_ns.relative_half_width();
        if change.value.abs() > LEAST.max(BEYOND * change.deviation.max(half)) {
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
    if capacity.bound != CapacityBound::Saturated {
        return;
    }
    if contradicted {
        capacity.bound = CapacityBound::Contradicted;
    } else if capacity.rate.relative_half_width() > SATURATED_MOST {
        capacity.bound = CapacityBound::Unsteady;
    }
}

/// Whether small I/Os certainly moved more bytes per second than large ones.
fn small_above_large(found: &MixCalibration) -> bool {
    let least = found.iops_max.rate.low * real(found.block_size_bytes);
    let large = found.throughput_max_bytes_per_s.as_ref();
    large.is_some_and(|large| least > large.rate.high * (1.0 + LEAST))
}

/// A relative change and its standard deviation.
struct AgreedChange {
    value: f64,
    deviation: f64,
}

/// By which share the rate of queue depth 1 at the end differs from that at the beginning.
fn change_of_base(small: &Climbed) -> Option<AgreedChange> {
    let visits: Vec<(f64, f64)> =
        small.ladder.rungs.get(&1)?.slices.iter().map(rate_and_length).collect();
    change(&visits)
}

fn rate_and_length(slice: &Slice) -> (f64, f64) {
    (slice.iops(), slice.accounted_s())
}

/// The same of visits, each with rate and length in s. How much a second varies is taken from
/// visits that follow one another (von Neumann, Annals of Mathematical Statistics 12, 1941), so
/// that a change does not hide itself.
fn change(visits: &[(f64, f64)]) -> Option<AgreedChange> {
    let ends = (visits.len() / END).max(2);
    if visits.len() < 2 * ends {
        return None;
    }
    let (begin, end) = (whole(&visits[..ends]), whole(&visits[visits.len() - ends..]));
    let square = |pair: &[(f64, f64)]| {
        let [one, other] = pair else { return 0.0 };
        (one.0 - other.0).powi(2) / (one.1.recip() + other.1.recip())
    };
    let variance_s = mean(&visits.windows(2).map(square).collect::<Vec<_>>());
    let deviation = (variance_s * (begin.1.recip() + end.1.recip())).sqrt() / begin.0;
    Some(AgreedChange { value: end.0 / begin.0 - 1.0, deviation })
}

/// Visits as one.
fn whole(visits: &[(f64, f64)]) -> (f64, f64) {
    let length_s: f64 = visits.iter().map(|visit| visit.1).sum();
    (visits.iter().map(|visit| visit.0 * visit.1).sum::<f64>() / length_s, length_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::real;
    use assay_stats::random::Random;

    /// Twenty visits of 0.3 and 1 s in turn to a Poisson stream of 1,000/s, and `later` times as
    /// much from the tenth on.
    fn visits(seed: u64, later: f64) -> Vec<(f64, f64)> {
        let mut random = Random::new(seed);
        (0..20_u64)
            .map(|at| {
                let length_s = if at % 2 == 0 { 0.3 } else { 1.0 };
                let rate = 1000.0 * if at < 10 { 1.0 } else { later };
                (rate + (rate / length_s).sqrt() * random.normal(), length_s)
            })
            .collect()
    }

    fn changed(later: f64) -> f64 {
        let seeds = 400;
        let is_changed = |seed: &u64| {
            change(&visits(*seed, later))
                .is_some_and(|change| change.value.abs() > LEAST.max(BEYOND * change.deviation))
        };
        real((1..=seeds).filter(is_changed).fold(0, |n, _| n + 1)) / real(seeds)
    }

    #[test]
    fn a_change_is_found_and_chance_is_not_one() {
        assert!(changed(1.0) < 0.01, "{}", changed(1.0));
        assert!(changed(1.3) > 0.99, "{}", changed(1.3));
    }

    #[test]
    fn the_deviation_of_a_change_is_that_of_its_parts() {
        let found: Vec<AgreedChange> =
            (1..=400).filter_map(|seed| change(&visits(seed, 1.0))).collect();
        let seen = mean(&found.iter().map(|change| change.value.powi(2)).collect::<Vec<_>>());
        let said = mean(&found.iter().map(|change| change.deviation.powi(2)).collect::<Vec<_>>());
        assert!((seen / said - 1.0).abs() < 0.25, "{seen} {said}");
    }
}
