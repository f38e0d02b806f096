//! Stalls that recur with a period: how much of the time storage stands still, which all visits to
//! all loads show together.

use super::ladder::Ladder;
use super::rung::{CONFIDENCE, CalibrationRung, Slice};
use assay_model::calibration::StallRecurrence;
use assay_model::measurement::Interval;
use assay_model::number::{real, real_len, seconds};
use assay_stats::distribution::student_quantile;
use assay_stats::recurrence::{Recurrence, recurrence};
use assay_stats::series::{mean, variance};

/// Fewer I/Os in the usual interval of a load do not show that it stood still in another one.
const FEWEST_IOS: f64 = 20.0;

/// An interval with less than this share of the usual I/Os belongs to a stall.
const STANDS: f64 = 0.1;

/// Storage that stands still at fixed times, as a journal or a cache that is written down every few
/// seconds makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stalls {
    recurrence: Recurrence,
    /// Length of a stall, s.
    pub(super) length_s: f64,
    /// Half the width of the interval of the length, s.
    half_s: f64,
    /// Length of an interval, s: so exactly its ends are known.
    interval_s: f64,
}

impl Stalls {
    /// What the visits to all loads show; `None` where nothing stood still, or not with a period.
    ///
    /// A stall is seen where intervals hold less than a tenth of the I/Os that are usual at their
    /// load. Its ends lie within the intervals next to them, by what is missing there.
    pub(super) fn of(ladders: &[&mut Ladder]) -> Option<Self> {
        let showing = showing(ladders);
        let interval_s = showing.first()?.0.intervals.first()?.elapsed_s();
        let mut seen: Vec<Standstill> =
            showing.iter().flat_map(|(slice, usual)| standstills(slice, *usual)).collect();
        seen.sort_by(|one, other| one.begin_s.total_cmp(&other.begin_s));
        let begins: Vec<f64> = seen.iter().map(|stall| stall.begin_s).collect();
        let windows: Vec<(f64, f64)> = showing.iter().map(|(slice, _)| window(slice)).collect();
        let recurrence = recurrence(&begins, &windows, 2.0 * interval_s)?;
        let lengths: Vec<f64> = seen.iter().filter_map(|stall| stall.length_s).collect();
        let (length_s, half_s) = known_length(&lengths, interval_s)?;
        Some(Self { recurrence, length_s, half_s, interval_s })
    }

    /// As a calibration says it.
    pub(super) fn noun(&self) -> StallRecurrence {
        StallRecurrence { length_ns: 1e9 * self.length_s, period_ns: 1e9 * self.period_s() }
    }

    /// Time from one stall to the next, s.
    pub(super) const fn period_s(&self) -> f64 {
        self.recurrence.period_s
    }

    /// The share of the time in which the storage works.
    pub(super) fn working_share(&self) -> f64 {
        1.0 - self.length_s / self.period_s()
    }

    /// Half the width of the interval of that share, relative to it.
    pub(super) fn half_width(&self) -> f64 {
        let of_period = 1.96 * self.recurrence.error_s * self.length_s / self.period_s();
        self.half_s.hypot(of_period) / self.period_s() / self.working_share()
    }

    /// Whether an interval of a visit, with one more to each side of the stall, lies outside of all
    /// stalls.
    pub(super) fn spares(&self, begin_s: f64) -> bool {
        // An interval is kept if it begins one interval after the end of a stall or ends one before
        // its start. Both are measured from one interval before the stall, as the remainder is
        // periodic.
        let earliest_s = self.recurrence.first_s - self.interval_s;
        let taken_s = self.length_s + 3.0 * self.interval_s;
        let since_s = (begin_s + self.interval_s - earliest_s).rem_euclid(self.period_s());
        since_s >= taken_s
    }
}

/// The visits that would show a stall, with the I/Os of the usual interval of their load.
fn showing<'a>(ladders: &'a [&mut Ladder]) -> Vec<(&'a Slice, f64)> {
    let rungs = ladders.iter().flat_map(|ladder| ladder.rungs.values());
    rungs
        .map(|rung| (rung, usual_ios(rung)))
        .filter(|(_, usual)| *usual >= FEWEST_IOS)
        .flat_map(|(rung, usual)| rung.slices.iter().map(move |slice| (slice, usual)))
        .collect()
}

/// Stalls without a known period: what they take of the time of all visits together. The visits to
/// one load may have met fewer of them, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StallShare {
    share: f64,
    per_s: f64,
}

impl StallShare {
    /// What the visits to all loads show.
    pub(super) fn of(ladders: &[&mut Ladder]) -> Self {
        let (mut all_s, mut standing_s, mut stalls) = (0.0, 0.0, 0_usize);
        for (slice, usual) in showing(ladders) {
            let stands = |one: &&Interval| real(ios(one)) < STANDS * usual;
            all_s += slice.intervals.iter().map(Interval::elapsed_s).sum::<f64>();
            standing_s +=
                slice.intervals.iter().filter(stands).map(Interval::elapsed_s).sum::<f64>();
            stalls += standstills(slice, usual).len();
        }
        if all_s <= 0.0 || stalls == 0 {
            return Self::default();
        }
        Self { share: standing_s / all_s, per_s: real_len(stalls) / all_s }
    }

    /// How far visits of this length together may be from the share of all, relative to their rate:
    /// stalls at random moments come in Poisson's numbers.
    pub(super) fn half_width(self, length_s: f64) -> f64 {
        self.share * (1.96 / (self.per_s * length_s + 1.0).sqrt()).min(1.0)
    }
}

/// One stall within a visit.
struct Standstill {
    begin_s: f64,
    /// Where its end lies within the visit, too.
    length_s: Option<f64>,
}

/// I/Os of the middle one of all intervals of a load: less than half of the time is taken by
/// stalls.
fn usual_ios(rung: &CalibrationRung) -> f64 {
    let mut ios: Vec<u64> =
        rung.slices.iter().flat_map(|slice| &slice.intervals).map(ios).collect();
    ios.sort_unstable();
    ios.get(ios.len() / 2).map_or(0.0, |ios| real(*ios))
}

fn ios(interval: &Interval) -> u64 {
    interval.operations.ios()
}

/// Begin and end of the measured time of a visit, s.
fn window(slice: &Slice) -> (f64, f64) {
    let from_s = seconds(slice.begin_ns + slice.warm_up_ns);
    (from_s, from_s + slice.elapsed_s())
}

/// The stalls that begin within a visit, or at its end.
fn standstills(slice: &Slice, usual: f64) -> Vec<Standstill> {
    let Some(interval_s) = slice.intervals.first().map(Interval::elapsed_s) else {
        return Vec::new();
    };
    let counts: Vec<f64> = slice.intervals.iter().map(|interval| real(ios(interval))).collect();
    let (from_s, until_s) = window(slice);
    let after_s = standing_after_s(slice, usual / interval_s);
    let stands = |at: usize| counts.get(at).is_some_and(|ios| *ios < STANDS * usual);
    let missing = |at: usize| counts.get(at).map(|ios| (1.0 - ios / usual).clamp(0.0, 1.0));
    // A stall that already lasts at the start of a visit has no known beginning.
    let begins = (1..=counts.len()).filter(|at| {
        let begins_after =
            *at == counts.len() && after_s.is_some_and(|after_s| after_s > 2.0 * interval_s);
        (stands(*at) || begins_after) && !stands(at - 1)
    });
    begins
        .map(|first| {
            let whole = (first..counts.len()).take_while(|at| stands(*at)).count();
            let before = missing(first - 1).unwrap_or(0.0);
            let begin_s = from_s + (real_len(first) - before) * interval_s;
            let length_s = match missing(first + whole) {
                Some(after) => Some((before + real_len(whole) + after) * interval_s),
                None => after_s.map(|after_s| until_s + after_s - begin_s),
            };
            Standstill { begin_s, length_s }
        })
        .collect()
}

/// How long storage stood still after the measured time of a visit, s, where what was outstanding
/// then shows it within an interval: it completes meanwhile, or only afterwards.
fn standing_after_s(slice: &Slice, usual_iops: f64) -> Option<f64> {
    let last = slice.intervals.last()?;
    let blur_s = last.queue_depth_mean / usual_iops;
    let after_s = seconds(slice.end_ns) - window(slice).1;
    (blur_s < 0.5 * last.elapsed_s() && after_s > 10.0 * blur_s).then_some(after_s - 0.5 * blur_s)
}

/// Mean of the lengths and half the width of its interval, to which a quarter of an interval
/// belongs: what completes late at the end of a stall hides up to that much of it. `None` for fewer
/// than three.
fn known_length(lengths: &[f64], interval_s: f64) -> Option<(f64, f64)> {
    const FEWEST: usize = 3;
    if lengths.len() < FEWEST {
        return None;
    }
    let n = real_len(lengths.len());
    let error_s = (variance(lengths) / n).sqrt();
    let half_s = student_quantile(0.5 + 0.5 * CONFIDENCE, n - 1.0) * error_s;
    Some((mean(lengths), half_s.hypot(0.25 * interval_s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_stalls_are_known_worse_than_many() {
        let stalls = StallShare { share: 0.08, per_s: 0.2 };
        let halves = [0.0, 20.0, 2000.0].map(|length_s| stalls.half_width(length_s));
        assert!((halves[0] - 0.08).abs() < 1e-12, "{halves:?}");
        assert!((halves[1] - 0.08 * 1.96 / 5_f64.sqrt()).abs() < 1e-12, "{halves:?}");
        assert!(halves[2] < 0.01, "{halves:?}");
        assert!(StallShare::default().half_width(0.0) < f64::MIN_POSITIVE);
    }
}
