//! The highest rate over time: its longest stretch without a pause, and its drift.

use super::best::best;
use super::ladder::Ladder;
use super::pace::INTERVALS_OF_SLICE;
use super::rung::{CalibrationRung, Slice};
use assay_model::calibration::{Capacity, CapacityBound};
use assay_model::measurement::Interval;
use assay_model::number::{real, real_len, seconds};
use assay_stats::series::{autocorrelation, mean, variance};
use assay_stats::trend::trend;

/// A load whose rate is this near to the highest one is full load.
const NEARLY: f64 = 0.9;
/// Visits that follow one another within this time do not let a reserve fill again, s.
const PAUSE_S: f64 = 0.1;
/// Fewer parts show no trend.
const PARTS_MIN: usize = 8;
/// How sure a trend must be.
const SURE: f64 = 0.999;
/// Fewer parts do not show in their thirds how their noise resembles itself.
const THIRDS_PARTS_MIN: usize = 12;
/// Standard errors by which two thirds are certainly apart.
const SURE_ERRORS: f64 = 5.0;
/// More is not believed of the memory of so few parts.
const MEMORY_MAX: f64 = 0.9;
/// The least change from the first part to the last that matters.
const LEAST_DRIFT: f64 = 0.04;
/// The last parts are another level where each of them differs from all before by more than this
/// share.
const LEAST_STEP: f64 = 0.15;
/// A single part counts as another level from this share on: a stall may take as much of it as
/// less.
const LEAST_STEP_OF_ONE: f64 = 0.5;

/// A part of a visit as long as the shortest visit.
#[derive(Clone, Copy, Debug)]
struct FullLoadPart {
    load: u32,
    at_s: f64,
    iops: f64,
    /// The lowest rate within it: a fall may come in its middle.
    lowest_iops: f64,
}

/// What was seen of full load, in order of time.
#[derive(Debug)]
pub(super) struct FullLoad {
    parts: Vec<FullLoadPart>,
    /// The longest stretch without a pause, s, and its I/Os.
    pub(super) longest_s: f64,
    pub(super) longest_ios: f64,
}

/// A level that was not kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FullLoadDrift {
    /// The rate at the end over the mean of all.
    pub(super) end_of_mean: f64,
    /// The rate at the end over that at the beginning.
    pub(super) end_of_begin: f64,
    /// When the last level began, s on the bench's clock, where it came at a blow.
    pub(super) step_s: Option<f64>,
}

impl FullLoad {
    /// Of the steps of a ladder; `None` of a ladder without one.
    pub(super) fn new(ladder: &Ladder) -> Option<Self> {
        let most = best(&ladder.rungs, ladder.peak_load)?;
        let is_full = |rung: &&CalibrationRung| {
            rung.queue_depth >= most.queue_depth
                || rung.estimates.iops.value >= NEARLY * most.estimates.iops.value
        };
        let full: Vec<&CalibrationRung> = ladder.rungs.values().filter(is_full).collect();
        let mut parts: Vec<FullLoadPart> = full.iter().flat_map(|rung| parts(rung)).collect();
        parts.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        let slices = full.iter().flat_map(|rung| &rung.slices).collect();
        let (longest_s, longest_ios) = longest(slices);
        Some(Self { parts, longest_s, longest_ios })
    }

    /// How the level changed, if it certainly did: at a blow near the end, or as a trend.
    pub(super) fn drift(&self) -> Option<FullLoadDrift> {
        let relative = self.relative();
        self.late_step(&relative).or_else(|| slope(&relative)).or_else(|| thirds(&relative))
    }

    /// A fall so near to the end that the level after it was not measured.
    pub(super) fn late_fall(&self) -> Option<FullLoadDrift> {
        self.late_step(&self.relative()).filter(|step| step.end_of_begin < 1.0)
    }

    /// Every part over the mean of its load.
    fn relative(&self) -> Vec<f64> {
        let level = |load: u32| {
            let of_load = self.parts.iter().filter(|part| part.load == load);
            mean(&of_load.map(|part| part.iops).collect::<Vec<f64>>())
        };
        // Where loads were seen at different times only, their own means would hide what happened
        // between.
        let mut counts: Vec<usize> =
            self.parts.iter().map(|part| self.parts_of(part.load)).collect();
        counts.sort_unstable();
        let is_repeated = counts.first().is_some_and(|least| *least >= PARTS_MIN / 2);
        let all = mean(&self.parts.iter().map(|part| part.iops).collect::<Vec<f64>>());
        let of_part =
            |part: &FullLoadPart| part.iops / if is_repeated { level(part.load) } else { all };
        self.parts.iter().map(of_part).filter(|share| share.is_finite()).collect()
    }

    fn parts_of(&self, load: u32) -> usize {
        self.parts.iter().filter(|part| part.load == load).count()
    }

    /// Whether the last parts lie apart from all that were before.
    fn late_step(&self, relative: &[f64]) -> Option<FullLoadDrift> {
        let longest = relative.len() / 2;
        let step = (1..=longest).rev().find(|last| {
            let (before, after) = relative.split_at(relative.len() - last);
            let gap = if *last == 1 { LEAST_STEP_OF_ONE } else { LEAST_STEP };
            let (lowest, highest) = (least(before), most(before));
            most(after) < (1.0 - gap) * lowest || least(after) > (1.0 + gap) * highest
        })?;
        let at = relative.len() - step;
        let (before, after) = relative.split_at(at);
        let is_fall = mean(after) < mean(before);
        let lowest = self.parts.iter().zip(relative).skip(at);
        let lowest = lowest.map(|(part, share)| share * part.lowest_iops / part.iops);
        let end = if is_fall { lowest.fold(f64::INFINITY, f64::min) } else { mean(after) };
        Some(FullLoadDrift {
            end_of_mean: end / mean(relative),
            end_of_begin: end / mean(before),
            step_s: self.parts.get(at).map(|part| part.at_s),
        })
    }
}

/// The change from the first part to the last by a straight line, where it is sure and matters.
fn slope(relative: &[f64]) -> Option<FullLoadDrift> {
    if relative.len() < PARTS_MIN {
        return None;
    }
    let line = trend(relative, SURE)?;
    let change = line.slope.value * real_len(relative.len() - 1);
    let level = mean(relative);
    let is_sure = !line.slope.covers(0.0) && change.abs() > LEAST_DRIFT * level;
    is_sure.then(|| FullLoadDrift {
        end_of_mean: (1.0 + 0.5 * change / level).max(0.0),
        end_of_begin: ((level + 0.5 * change) / (level - 0.5 * change).max(f64::MIN_POSITIVE))
            .max(0.0),
        step_s: None,
    })
}

/// The last third against the first one. A step looks to a straight line like noise with a long
/// memory, and its slope is then never sure; within the thirds there is no step, so that their
/// residuals show the memory: a first-order autoregression with its bias taken out (Marriott and
/// Pope, Biometrika 41, 1954), and once more for the two means.
fn thirds(relative: &[f64]) -> Option<FullLoadDrift> {
    if relative.len() < THIRDS_PARTS_MIN {
        return None;
    }
    let third = relative.len() / 3;
    let (first, last) = (&relative[..third], &relative[relative.len() - third..]);
    let (begin, end) = (mean(first), mean(last));
    let of = |part: &[f64], level: f64| part.iter().map(|one| one - level).collect::<Vec<f64>>();
    let residuals = [of(first, begin), of(last, end)].concat();
    let n = real_len(residuals.len());
    let unbiased = (n * autocorrelation(&residuals, 1) + 1.0) / (n - 4.0) + 2.0 / n;
    let memory = unbiased.clamp(0.0, MEMORY_MAX);
    let spread = variance(&residuals) * (n - 1.0) / (n - 2.0);
    let error = (2.0 * spread * (1.0 + memory) / (1.0 - memory) / real_len(third)).sqrt();
    let apart = (end - begin).abs();
    let is_sure = apart > SURE_ERRORS * error && apart > LEAST_DRIFT * begin;
    is_sure.then(|| FullLoadDrift {
        end_of_mean: end / mean(relative),
        end_of_begin: end / begin,
        step_s: None,
    })
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

impl FullLoadDrift {
    /// Lets the interval of a capacity reach to the level at the end, which may be the one that
    /// lasts.
    pub(super) fn widen(&self, capacity: &mut Capacity, most_iops: f64) {
        let end = self.end_of_mean * most_iops;
        if self.end_of_begin < 1.0 {
            capacity.rate.low = capacity.rate.low.min(end);
        } else {
            let high = capacity.rate.high.max(self.end_of_mean * capacity.rate.value);
            let is_known = high <= 2.0 * capacity.rate.value;
            capacity.rate.high = if is_known { high } else { f64::INFINITY };
        }
        if matches!(capacity.bound, CapacityBound::Saturated | CapacityBound::TimeBudget) {
            capacity.bound = CapacityBound::Unsteady;
        }
    }
}

/// A step's visits in parts.
fn parts(rung: &CalibrationRung) -> Vec<FullLoadPart> {
    let of_slice = |slice: &Slice| -> Vec<FullLoadPart> {
        let mut from_s = seconds(slice.begin_ns + slice.warm_up_ns);
        let of_part = |intervals: &[Interval]| {
            let length_s: f64 = intervals.iter().map(Interval::elapsed_s).sum();
            let ios: u64 = intervals.iter().map(|interval| interval.operations.ios()).sum();
            let at_s = from_s;
            from_s += length_s;
            let rate = |one: &Interval| real(one.operations.ios()) / one.elapsed_s();
            FullLoadPart {
                load: rung.queue_depth,
                at_s,
                iops: real(ios) / length_s,
                lowest_iops: least(&intervals.iter().map(rate).collect::<Vec<f64>>()),
            }
        };
        slice.intervals.chunks_exact(INTERVALS_OF_SLICE).map(of_part).collect()
    };
    rung.slices.iter().flat_map(of_slice).collect()
}

/// The longest stretch of visits without a pause, s, and its I/Os.
fn longest(mut slices: Vec<&Slice>) -> (f64, f64) {
    slices.sort_by_key(|slice| slice.begin_ns);
    let (mut longest, mut now, mut end_s) = ((0.0, 0.0), (0.0, 0.0), f64::NEG_INFINITY);
    for slice in slices {
        let (begin_s, length_s) = (seconds(slice.begin_ns), seconds(slice.end_ns - slice.begin_ns));
        if begin_s > end_s + PAUSE_S {
            now = (0.0, 0.0);
        }
        now = (now.0 + length_s, now.1 + slice.iops() * length_s);
        end_s = begin_s + length_s;
        if now.0 > longest.0 {
            longest = now;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    fn full_load(rates: &[f64]) -> FullLoad {
        let part = |(at, iops): (usize, &f64)| FullLoadPart {
            load: 8,
            at_s: real_len(at),
            iops: *iops,
            lowest_iops: *iops,
        };
        let parts = rates.iter().enumerate().map(part).collect();
        FullLoad { parts, longest_s: 0.0, longest_ios: 0.0 }
    }

    /// Forty parts with noise of 3%.
    fn noisy(seed: u64, level: impl Fn(usize) -> f64) -> FullLoad {
        let mut random = Random::new(seed);
        let rates: Vec<f64> =
            (0..40).map(|at| level(at) * (1.0 + 0.03 * random.normal())).collect();
        full_load(&rates)
    }

    fn drifts(level: impl Fn(usize) -> f64 + Copy) -> Vec<FullLoadDrift> {
        (1..=50).filter_map(|seed| noisy(seed, level).drift()).collect()
    }

    #[test]
    fn a_trend_and_a_step_down_are_found_and_noise_is_neither() {
        let sinking = drifts(|at| 5000.0 * (1.0 - 0.15 * real_len(at) / 39.0));
        assert!(sinking.len() >= 48, "{}", sinking.len());
        assert!(sinking.iter().all(|drift| (drift.end_of_begin - 0.85).abs() < 0.06));
        let step = drifts(|at| if at < 25 { 5000.0 } else { 4400.0 });
        assert!(step.len() >= 48 && step.iter().all(|drift| drift.end_of_begin < 1.0), "{step:?}");
        let rising = drifts(|at| if at < 25 { 5000.0 } else { 5600.0 });
        assert!(
            rising.len() >= 48 && rising.iter().all(|drift| drift.end_of_begin > 1.0),
            "{rising:?}"
        );
        assert!(drifts(|_| 5000.0).len() <= 1, "{}", drifts(|_| 5000.0).len());
    }

    /// In what share of runs a drift is seen: parts with first-order noise, whose level steps at
    /// 60%.
    fn seen(runs: u64, parts: usize, memory: f64, deviation: f64, level: f64) -> f64 {
        let drift = |seed: u64| {
            let mut random = Random::part(77, seed);
            let mut noise = random.normal();
            let mut rate = |at: usize| {
                noise = memory * noise + (1.0_f64 - memory * memory).sqrt() * random.normal();
                let level = if 10 * at < 6 * parts { 1.0 } else { level };
                5000.0 * level * (1.0 + deviation * noise)
            };
            full_load(&(0..parts).map(&mut rate).collect::<Vec<f64>>()).drift()
        };
        real_len((1..=runs).filter(|seed| drift(*seed).is_some()).count()) / real(runs)
    }

    #[test]
    fn alarms_of_steady_runs_are_rare_and_steps_are_seen() {
        for (memory, alarms_max) in [(0.0, 0.01), (0.6, 0.05), (0.9, 0.15)] {
            for parts in [8, 12, 20, 40, 120] {
                let of = |deviation: f64| seen(1000, parts, memory, deviation, 1.0);
                let steady = [0.03, 0.1].map(of);
                println!("steady, memory {memory}, {parts} parts: {steady:?}");
                assert!(steady.iter().all(|share| *share <= alarms_max), "{steady:?}");
            }
        }
        for (parts, memory, level, least) in [
            (20, 0.0, 0.88, 0.6),
            (20, 0.0, 0.8, 0.9),
            (40, 0.0, 0.88, 0.98),
            (40, 0.6, 0.88, 0.6),
            (40, 0.6, 0.8, 0.85),
            (120, 0.9, 0.8, 0.95),
        ] {
            let found = seen(400, parts, memory, 0.03, level);
            println!("step to {level}, memory {memory}, {parts} parts: {found}");
            assert!(found >= least, "{level} {memory} {parts}: {found}");
        }
    }

    #[test]
    fn a_collapse_near_the_end_is_a_step() {
        let found = noisy(3, |at| if at < 38 { 8000.0 } else { 500.0 }).drift().unwrap();
        assert_eq!(found.step_s, Some(38.0));
        // The lower of two parts with noise of 3%.
        assert!((found.end_of_begin - 500.0 / 8000.0).abs() < 0.01, "{found:?}");
        let mut within = full_load(&[8000.0, 8000.0, 8000.0, 8000.0, 2000.0]);
        within.parts[4].lowest_iops = 500.0;
        assert!((within.drift().unwrap().end_of_begin - 500.0 / 8000.0).abs() < 1e-9);
        let one = full_load(&[8000.0, 8000.0, 8000.0, 8000.0, 500.0]).drift().unwrap();
        assert_eq!(one.step_s, Some(4.0));
        assert_eq!(full_load(&[8000.0, 8000.0, 8000.0, 8000.0, 6000.0]).drift(), None);
    }
}
