//! A device that was cold: the rate of all loads rose for good, and what was measured before does not count.

use super::meter::Meter;
use super::rounds::Parts;
use super::rung::Slice;
use assay_model::measurement::Remark;
use assay_model::number::seconds;
use assay_stats::series::{mean, variance};

/// A rise by less than this share is not called one.
const LEAST_RISE: f64 = 0.1;

/// So many visits lie on each side of it at least.
const FEWEST: usize = 2;

/// The level after lies so many standard deviations of single visits above the one before.
const APART: f64 = 5.0;

/// A visit: its begin, ns, and its rate over the mean of its load.
type Deviation = (u64, f64);

impl Meter<'_> {
    /// Whether all rates rose for good since the beginning; what was measured before is then left out, and told.
    pub(super) fn warmed(&mut self, parts: &mut Parts) -> bool {
        let Some(at_ns) = rise(&deviations(parts)) else {
            return false;
        };
        for ladder in parts.ladders() {
            ladder.forget_before(at_ns);
        }
        self.cold_until_s = Some(self.since_began_s(at_ns));
        true
    }

    /// What a reader must know of a cold beginning.
    pub(super) fn was_cold(&self) -> Option<Remark> {
        let until_s = self.cold_until_s?;
        Some(Remark {
            what: format!(
                "{}: the storage was slower until {until_s:.0} s after the beginning; what was measured until then is left out",
                self.mix()
            ),
            why: "a device that was idle, cold or busy with something else gives less than it can"
                .to_owned(),
            remedy: "calibrate again if it matters how it behaves when cold".to_owned(),
        })
    }
}

/// Visits of loads that were visited often enough, in order of time, over the mean of the load's own visits.
fn deviations(parts: &mut Parts) -> Vec<Deviation> {
    let mut all = Vec::new();
    for ladder in parts.ladders() {
        for rung in ladder.rungs.values().filter(|rung| rung.slices.len() > FEWEST) {
            let rates: Vec<f64> = rung.slices.iter().map(Slice::iops).collect();
            let last = mean(&rates[rates.len() - FEWEST..]);
            all.extend(
                rung.slices.iter().zip(&rates).map(|(slice, rate)| (slice.begin_ns, rate / last)),
            );
        }
    }
    all.sort_by_key(|deviation| deviation.0);
    all
}

/// When the rates rose for good, ns: the begin of the first visit after it. The visit that saw it belongs to neither side.
fn rise(deviations: &[Deviation]) -> Option<u64> {
    let rates: Vec<f64> = deviations.iter().map(|deviation| deviation.1).collect();
    let splits = FEWEST..rates.len().saturating_sub(3 * FEWEST).max(FEWEST);
    let gap = |at: usize| {
        let (before, after) = (&rates[..at], &rates[at + 1..]);
        let spread = variance(before).max(variance(after)).sqrt();
        let most = before.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = after.iter().copied().fold(f64::INFINITY, f64::min);
        let rise = mean(after) - mean(before);
        let apart = rise > LEAST_RISE * mean(after) && rise > APART * spread && least > most;
        apart.then_some(rise)
    };
    let found = splits.filter_map(|at| Some((at, gap(at)?)));
    let (at, _) = found.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(deviations[at + 1].0)
}

impl Meter<'_> {
    fn since_began_s(&self, at_ns: u64) -> f64 {
        seconds(at_ns.saturating_sub(self.began_ns()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_for_good_is_told_from_noise_and_from_a_fall() {
        let series = |rates: &[f64]| -> Vec<Deviation> {
            (0u64..).zip(rates).map(|(at, rate)| (at, *rate)).collect()
        };
        let cold = [0.33, 0.34, 0.32, 0.33, 0.7, 0.98, 1.0, 1.02, 1.01, 0.99, 1.0];
        assert_eq!(rise(&series(&cold)), Some(5));
        let warm: Vec<f64> = cold.iter().rev().copied().collect();
        assert_eq!(rise(&series(&warm)), None);
        let noisy = [0.9, 0.95, 0.85, 1.0, 1.05, 0.98, 1.1, 1.0, 1.02];
        assert_eq!(rise(&series(&noisy)), None);
        assert_eq!(rise(&series(&[0.3, 1.0])), None);
    }
}
