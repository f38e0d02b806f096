//! A device that was cold: the rate of all loads rose for good, and what was measured before does
//! not count.

use super::meter::RungMeter;
use super::rounds::RoundParts;
use super::rung::Slice;
use assay_model::measurement::Remark;
use assay_model::number::{nanoseconds, real_len, seconds};
use assay_stats::distribution::student_quantile;
use assay_stats::series::{mean, variance};
use std::collections::BTreeMap;

/// A rise by less than this share is not called one.
const LEAST_RISE: f64 = 0.1;

/// At least this many visits lie on each side of it.
const FEWEST: usize = 2;

/// Of all moments that show a rise about as large as the largest the last one counts: loads that
/// were not seen again since then may have been cold.
const AS_LARGE: f64 = 0.8;

/// How sure it must be, by Student's law of single visits: many moments are tried, and visits that
/// follow one another are alike.
const SURE: f64 = 1.0 - 1e-5;

/// The level after it was seen for at least this share of the time: noise that lasts as long is not
/// a rise for good.
const SEEN_AFTER: f64 = 0.1;

/// A visit to one of the loads, which are numbered.
#[derive(Clone, Copy, Debug)]
struct SeenVisit {
    begin_ns: u64,
    load: usize,
    rate: f64,
}

impl RungMeter<'_> {
    /// Whether all rates rose for good since the beginning; what was measured before is then left
    /// out and reported.
    pub(super) fn warmed(&mut self, parts: &mut RoundParts) -> bool {
        let least_ns = nanoseconds(SEEN_AFTER * self.pace.budget_s);
        let Some(at_ns) = rise(&seen(parts), least_ns) else {
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
                "{}: the storage was slower until {until_s:.0} s after the start; data until then \
                 are excluded",
                self.mix()
            ),
            why: "a device that was idle, cold or busy delivers less than its full rate".to_owned(),
            remedy: "to measure cold behaviour, calibrate again".to_owned(),
        })
    }
}

/// All visits in order of time.
fn seen(parts: &mut RoundParts) -> Vec<SeenVisit> {
    let ladders = parts.ladders();
    let rungs = ladders.iter().flat_map(|ladder| ladder.rungs.values());
    let of_slice =
        |load, slice: &Slice| SeenVisit { begin_ns: slice.begin_ns, load, rate: slice.iops() };
    let mut all: Vec<SeenVisit> = rungs
        .enumerate()
        .flat_map(|(load, rung)| rung.slices.iter().map(move |slice| of_slice(load, slice)))
        .collect();
    all.sort_by_key(|visit| visit.begin_ns);
    all
}

/// When the rates rose for good, ns: the start of the first visit after it, which is at least
/// `least_ns` before the start of the last one. The visit that saw it belongs to neither side.
fn rise(visits: &[SeenVisit], least_ns: u64) -> Option<u64> {
    let last_ns = visits.last()?.begin_ns;
    let splits = FEWEST..visits.len().saturating_sub(2 * FEWEST).max(FEWEST);
    let splits = splits.filter(|at| visits[at + 1].begin_ns + least_ns <= last_ns);
    let found: Vec<(usize, f64)> =
        splits.filter_map(|at| Some((at, gap(&visits[..at], &visits[at + 1..])?))).collect();
    let most = found.iter().map(|(_, gap)| *gap).fold(0.0, f64::max);
    let (at, _) = found.iter().rfind(|(_, gap)| *gap >= AS_LARGE * most)?;
    Some(visits[at + 1].begin_ns)
}

/// By which share the loads that were seen on both sides of a moment gave more after it, where they
/// did so beyond all noise.
fn gap(before: &[SeenVisit], after: &[SeenVisit]) -> Option<f64> {
    let levels: BTreeMap<usize, f64> = before
        .iter()
        .filter_map(|visit| {
            let of_load = after.iter().filter(|other| other.load == visit.load);
            let rates: Vec<f64> = of_load.map(|other| other.rate).collect();
            (!rates.is_empty()).then(|| (visit.load, mean(&rates)))
        })
        .collect();
    let relative = |visits: &[SeenVisit]| -> Vec<f64> {
        visits.iter().filter_map(|visit| Some(visit.rate / levels.get(&visit.load)?)).collect()
    };
    let (before, after) = (relative(before), relative(after));
    let spread = variance(&before).max(variance(&after)).sqrt();
    let most = before.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = after.iter().copied().fold(f64::INFINITY, f64::min);
    let rise = mean(&after) - mean(&before);
    let enough = before.len() >= FEWEST && after.len() > FEWEST;
    let freedom = real_len((before.len() + after.len()).saturating_sub(2).max(1));
    let beyond_noise = rise > student_quantile(SURE, freedom) * spread;
    (enough && rise > LEAST_RISE && beyond_noise && least > most).then_some(rise)
}

impl RungMeter<'_> {
    fn since_began_s(&self, at_ns: u64) -> f64 {
        seconds(at_ns.saturating_sub(self.began_ns()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_for_good_is_told_from_noise_and_from_a_fall() {
        let series = |rates: &[f64]| -> Vec<SeenVisit> {
            let visit =
                |(begin_ns, rate): (u64, &f64)| SeenVisit { begin_ns, load: 0, rate: *rate };
            (0u64..).zip(rates).map(visit).collect()
        };
        let cold = [0.33, 0.34, 0.32, 0.33, 0.7, 0.98, 1.0, 1.02, 1.01, 0.99, 1.0];
        assert_eq!(rise(&series(&cold), 4), Some(5));
        assert_eq!(rise(&series(&cold), 6), None, "the level after it was not seen for long");
        let warm: Vec<f64> = cold.iter().rev().copied().collect();
        assert_eq!(rise(&series(&warm), 4), None);
        let noisy = [0.9, 0.95, 0.85, 1.0, 1.05, 0.98, 1.1, 1.0, 1.02];
        assert_eq!(rise(&series(&noisy), 4), None);
        assert_eq!(rise(&series(&[0.3, 1.0]), 0), None);
    }

    #[test]
    fn a_load_that_was_seen_on_one_side_only_tells_nothing() {
        let rates = [
            (0, 0.33),
            (1, 1.0),
            (0, 0.33),
            (1, 1.0),
            (0, 1.0),
            (2, 5.0),
            (0, 1.0),
            (0, 1.0),
            (0, 1.0),
        ];
        let visits: Vec<SeenVisit> = (0u64..)
            .zip(rates)
            .map(|(begin_ns, (load, rate))| SeenVisit { begin_ns, load, rate })
            .collect();
        // Two moments show the same rise, and the later one counts: the visit between them may have
        // been cold in part.
        assert_eq!(rise(&visits, 3), Some(5));
    }
}
