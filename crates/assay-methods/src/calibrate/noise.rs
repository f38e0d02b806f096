//! The doubt of a step that its own visits cannot show: noise that outlasts a visit, estimated from
//! all steps together.

use super::best::best;
use super::ladder::Ladder;
use super::pace::INTERVALS_OF_SLICE;
use super::rung::{CONFIDENCE, CalibrationRung, Slice, time_ns};
use super::stalls::{StallShare, Stalls};
use assay_model::measurement::Interval;
use assay_model::number::{real, real_len, seconds};
use assay_stats::distribution::{normal_quantile, student_quantile};
use assay_stats::series::{batch_means, mean, variance};
use assay_stats::visits::{SlowNoise, Visit};

/// Intervals of a batch: shorter noise is seen within a visit, longer noise by comparing visits.
const BATCH: usize = 5;

/// An interval wider than this share to each side does not tell loads apart.
pub(super) const INDISTINCT: f64 = 0.03;

/// Longer batches need this many degrees of freedom to be believed.
const FEWEST_FREEDOM: f64 = 6.0;

/// What all steps of a ladder show of the noise within visits counts for a step that shows little
/// itself like this many degrees of freedom of its own.
const FREEDOM_OF_ALL: f64 = 4.0;

/// The noise of all loads: stalls with a period, and besides noise that outlasts a visit.
pub(super) struct NoiseModel {
    pub(super) stalls: Option<Stalls>,
    /// Of stalls without a period.
    rare: StallShare,
    noise: SlowNoise,
}

impl NoiseModel {
    /// As the visits to all steps show it. Stalls with a period are not noise: each visit is taken
    /// without them.
    pub(super) fn of(ladders: &[&mut Ladder]) -> Self {
        let stalls = Stalls::of(ladders);
        let of_ladder = |ladder: &&mut Ladder| {
            let usual = usual_dispersion(ladder, stalls.as_ref());
            let rungs = ladder.rungs.values();
            rungs.map(|rung| of_rung(rung, usual, stalls.as_ref()).visits).collect::<Vec<_>>()
        };
        let mut all = Vec::new();
        // Levels are numbered over all ladders: each visit is divided by the mean of its own load,
        // and slow noise is one series over time (calibration.md, Intervals).
        for (level, visits) in ladders.iter().flat_map(of_ladder).enumerate() {
            all.extend(visits.into_iter().map(|visit| Visit { level, ..visit }));
        }
        let rare = if stalls.is_some() { StallShare::default() } else { StallShare::of(ladders) };
        Self { noise: SlowNoise::of(&all), rare, stalls }
    }

    /// How large the noise is that outlasts a visit, as a share.
    pub(super) fn spread(&self) -> f64 {
        self.noise.spread()
    }

    /// Gives every step the interval that noise of all time scales asks for, and the rate with its
    /// share of stalls.
    pub(super) fn apply(&self, ladders: &mut [&mut Ladder]) {
        for ladder in ladders.iter_mut() {
            let usual = usual_dispersion(ladder, self.stalls.as_ref());
            for rung in ladder.rungs.values_mut() {
                let own = of_rung(rung, usual, self.stalls.as_ref());
                if own.visits.is_empty() {
                    continue;
                }
                let half = self.half_width(&own.visits, own.wider());
                if let Some(stalls) = &self.stalls {
                    let share = stalls.working_share();
                    rung.estimates.stalled(level(&own.visits) * share, own.service_time_ns / share);
                }
                rung.estimates.with_half_width(half);
            }
        }
        for ladder in ladders {
            self.level_of_all(ladder);
        }
    }

    /// Half the width of the interval of the rate of some visits, relative to it.
    fn half_width(&self, visits: &[Visit], wider: f64) -> f64 {
        let half = self.noise.half_width(visits, CONFIDENCE, wider).max(seen_half_width(visits));
        let length_s = visits.iter().map(|visit| visit.length_s).sum();
        // The errors of noise and of both kinds of stalls are independent, so their squares add.
        let of_stalls = self.stalls.as_ref().map_or(0.0, Stalls::half_width);
        half.hypot(of_stalls).hypot(self.rare.half_width(length_s))
    }

    /// Where noise hides which load gives most, the rate of the one that stands for it is that of
    /// all visits to it and to larger loads whose rates cannot be told apart from its own: a
    /// queue that is longer gives no less.
    fn level_of_all(&self, ladder: &mut Ladder) {
        let Some(best) =
            best(&ladder.rungs, ladder.peak_load).filter(|best| best.imprecision() > INDISTINCT)
        else {
            return;
        };
        let (least, own) = (best.queue_depth, best.estimates.iops);
        let alike = |rung: &&CalibrationRung| {
            let estimates = rung.estimates.iops;
            estimates.low <= own.value && own.value <= estimates.high && own.low <= estimates.value
        };
        let rungs: Vec<&CalibrationRung> =
            ladder.rungs.range(least..).map(|(_, rung)| rung).filter(alike).collect();
        let usual = usual_dispersion(ladder, self.stalls.as_ref());
        let all: Vec<OfRung> =
            rungs.iter().map(|rung| of_rung(rung, usual, self.stalls.as_ref())).collect();
        let wider = wider(all.iter().map(|visits| visits.freedom).sum());
        let visits: Vec<Visit> = all.into_iter().flat_map(|visits| visits.visits).collect();
        let working_share = self.stalls.as_ref().map_or(1.0, Stalls::working_share);
        let several = rungs.len() > 1 && !visits.is_empty();
        if let Some(rung) = ladder.rungs.get_mut(&least).filter(|_| several) {
            let half = self.half_width(&visits, wider);
            rung.estimates.pooled(level(&visits) * working_share, half);
        }
    }
}

/// The mean of visits by their lengths.
fn level(visits: &[Visit]) -> f64 {
    let total_s: f64 = visits.iter().map(|visit| visit.length_s).sum();
    visits.iter().map(|visit| visit.length_s * visit.value).sum::<f64>() / total_s
}

/// The slow noise of all loads where a level fell: visits are long and follow one another, so parts
/// of them show the noise.
pub(super) fn slow_noise_of_parts(ladders: &[&mut Ladder]) -> SlowNoise {
    let of_ladder = |ladder: &&mut Ladder| {
        let usual = usual_dispersion(ladder, None);
        ladder.rungs.values().map(|rung| parts_of_rung(rung, usual)).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (level, parts) in ladders.iter().flat_map(of_ladder).enumerate() {
        all.extend(parts.into_iter().map(|part| Visit { level, ..part }));
    }
    SlowNoise::of(&all)
}

/// Widens the interval of every step to what noise of all time scales asks for.
pub(super) fn widen(ladders: &mut [&mut Ladder], noise: &SlowNoise) {
    for ladder in ladders {
        let usual = usual_dispersion(ladder, None);
        for rung in ladder.rungs.values_mut() {
            let own = of_rung(rung, usual, None);
            let half = noise.half_width(&own.visits, CONFIDENCE, own.wider());
            rung.estimates.with_half_width(half.max(rung.imprecision()));
        }
    }
}

/// Half the width of Student's interval of visits that know nothing of one another, relative to
/// their mean; 0 for few.
fn seen_half_width(visits: &[Visit]) -> f64 {
    const FEWEST: usize = 4;
    if visits.len() < FEWEST {
        return 0.0;
    }
    let total_s: f64 = visits.iter().map(|visit| visit.length_s).sum();
    let level = level(visits);
    let squares: f64 =
        visits.iter().map(|visit| (visit.length_s * (visit.value - level)).powi(2)).sum();
    let n = real_len(visits.len());
    // Longer visits weigh more; with equal lengths this is the usual standard error, s / √n.
    let error = (squares * n / (n - 1.0)).sqrt() / total_s;
    student_quantile(0.5 + 0.5 * CONFIDENCE, n - 1.0) * error / level.max(f64::MIN_POSITIVE)
}

/// What the visits to a step show.
struct OfRung {
    visits: Vec<Visit>,
    /// Degrees of freedom by which the noise within visits is known.
    freedom: f64,
    /// Mean service time of all that completed in them, ns.
    service_time_ns: f64,
}

impl OfRung {
    fn wider(&self) -> f64 {
        wider(self.freedom)
    }
}

/// How much wider an interval is because the noise within visits is known from few batches only.
fn wider(freedom: f64) -> f64 {
    let upper = 0.5 + 0.5 * CONFIDENCE;
    student_quantile(upper, freedom) / normal_quantile(upper)
}

/// Rates of the intervals of a visit that count, how long each is, and the visit's own rate.
struct NoiseStretch {
    rates: Vec<f64>,
    interval_s: f64,
    middle_s: f64,
    length_s: f64,
    iops: f64,
    /// Sum of the service times, ns.
    time_ns: f64,
}

impl NoiseStretch {
    /// A visit; without the stalls where they have a period. `None` where almost nothing lies
    /// between them.
    fn of(slice: &Slice, stalls: Option<&Stalls>) -> Option<Self> {
        const FEWEST: usize = 3;
        let from_s = measured_from_s(slice);
        let interval_s = slice.intervals.first()?.elapsed_s();
        let begin_s = |at: usize| from_s + real_len(at) * interval_s;
        let counts = |at: usize| stalls.is_none_or(|stalls| stalls.spares(begin_s(at)));
        let kept: Vec<usize> = (0..slice.intervals.len()).filter(|at| counts(*at)).collect();
        let intervals = || kept.iter().filter_map(|at| slice.intervals.get(*at));
        let rates: Vec<f64> = intervals().map(Interval::iops).collect();
        let time_ns = intervals().map(time_ns).sum();
        if stalls.is_none() {
            let length_s = slice.accounted_s();
            let middle_s = from_s + 0.5 * length_s;
            let iops = slice.iops();
            return Some(Self { rates, interval_s, middle_s, length_s, iops, time_ns });
        }
        let middles: Vec<f64> = kept.iter().map(|at| begin_s(*at) + 0.5 * interval_s).collect();
        let (middle_s, iops) = (mean(&middles), mean(&rates));
        let length_s = real_len(rates.len()) * interval_s;
        (rates.len() >= FEWEST).then_some(Self {
            rates,
            interval_s,
            middle_s,
            length_s,
            iops,
            time_ns,
        })
    }
}

/// A step's visits as they count.
fn stretches(rung: &CalibrationRung, stalls: Option<&Stalls>) -> Vec<NoiseStretch> {
    rung.slices.iter().filter_map(|slice| NoiseStretch::of(slice, stalls)).collect()
}

fn of_rung(
    rung: &CalibrationRung,
    usual_dispersion: Option<f64>,
    stalls: Option<&Stalls>,
) -> OfRung {
    let stretches = stretches(rung, stalls);
    let (variance_s, freedom) = noise_of_rung(rung, &stretches, usual_dispersion);
    let visits = stretches
        .iter()
        .map(|stretch| Visit {
            level: 0,
            middle_s: stretch.middle_s,
            length_s: stretch.length_s,
            value: stretch.iops,
            short_variance: variance_s / stretch.length_s,
        })
        .collect();
    let completed = |stretch: &NoiseStretch| stretch.iops * stretch.length_s;
    let ios: f64 = stretches.iter().map(completed).sum();
    let time_ns: f64 = stretches.iter().map(|stretch| stretch.time_ns).sum();
    OfRung { visits, freedom, service_time_ns: time_ns / ios.max(f64::MIN_POSITIVE) }
}

/// A step's visits in parts as long as a slice.
fn parts_of_rung(rung: &CalibrationRung, usual_dispersion: Option<f64>) -> Vec<Visit> {
    let (variance_s, _) = noise_of_rung(rung, &stretches(rung, None), usual_dispersion);
    let of_slice = |slice: &Slice| -> Vec<Visit> {
        let mut from_s = measured_from_s(slice);
        let of_part = |part: &[Interval]| {
            let length_s: f64 = part.iter().map(Interval::elapsed_s).sum();
            let ios: u64 = part.iter().map(|interval| interval.operations.ios()).sum();
            from_s += length_s;
            Visit {
                level: 0,
                middle_s: from_s - 0.5 * length_s,
                length_s,
                value: real(ios) / length_s,
                short_variance: variance_s / length_s,
            }
        };
        // A shorter last part would be noisier than the others, so it is left out.
        slice.intervals.chunks_exact(INTERVALS_OF_SLICE).map(of_part).collect()
    };
    let parts = rung.slices.iter().flat_map(of_slice);
    parts.filter(|part| part.value > 0.0).collect()
}

/// The variance of the number of I/Os of a second over its mean, as all steps of a ladder show it.
fn usual_dispersion(ladder: &Ladder, stalls: Option<&Stalls>) -> Option<f64> {
    let seen = ladder.rungs.values().map(|rung| {
        let (variance_s, freedom) = short_noise(&stretches(rung, stalls));
        (variance_s * rung.estimates.iops.value, freedom)
    });
    let seen: Vec<(f64, f64)> = seen.collect();
    let freedom: f64 = seen.iter().map(|(_, freedom)| freedom).sum();
    let sum: f64 = seen.iter().map(|(dispersion, freedom)| dispersion * freedom).sum();
    (freedom > 0.0).then(|| sum / freedom)
}

/// Where few batches show the variance, that of the other steps counts with it (Smyth, Statistical
/// Applications in Genetics and Molecular Biology 3, 2004): two batches alone would make the
/// interval six times as wide.
fn noise_of_rung(
    rung: &CalibrationRung,
    stretches: &[NoiseStretch],
    usual_dispersion: Option<f64>,
) -> (f64, f64) {
    let (variance_s, freedom) = short_noise(stretches);
    let iops = rung.estimates.iops.value;
    match usual_dispersion {
        Some(dispersion) if freedom < FEWEST_FREEDOM && iops > 0.0 => {
            let all = freedom + FREEDOM_OF_ALL;
            ((freedom * variance_s + FREEDOM_OF_ALL * dispersion / iops) / all, all)
        }
        _ => (variance_s, freedom),
    }
}

/// The relative variance of the mean of one second as batches within visits show it, s, and its
/// degrees of freedom.
///
/// Counts that borrow from their neighbours, as those of a link that transfers one I/O at a time,
/// are known better than short batches say; longer ones are taken where they show half as much.
fn short_noise(stretches: &[NoiseStretch]) -> (f64, f64) {
    let (mut variance_s, mut freedom) = batched(stretches, BATCH);
    for size in [2 * BATCH, 4 * BATCH] {
        let longer = batched(stretches, size);
        if longer.1 >= FEWEST_FREEDOM && longer.0 < 0.5 * variance_s {
            (variance_s, freedom) = longer;
        }
    }
    (variance_s, freedom)
}

/// The same by batches of this many intervals: the middle one of the visits' own variances. What
/// only some visits show, such as a stall, is not noise of this load alone: it counts as noise
/// between visits, which all loads share.
fn batched(stretches: &[NoiseStretch], size: usize) -> (f64, f64) {
    let mut seen: Vec<(f64, f64)> =
        stretches.iter().filter_map(|stretch| batched_stretch(stretch, size)).collect();
    seen.sort_by(|one, other| one.0.total_cmp(&other.0));
    let freedom: f64 = seen.iter().map(|(_, freedom)| freedom).sum();
    let middle = (seen.get(seen.len().saturating_sub(1) / 2), seen.get(seen.len() / 2));
    let (Some(low), Some(high)) = middle else {
        return (0.0, 1.0);
    };
    (f64::midpoint(low.0, high.0), freedom)
}

/// The relative variance of one second as the batches of a visit show it, s, and its degrees of
/// freedom; so that the median of many such variances is the true one (the cube of Wilson and
/// Hilferty, PNAS 17, 1931).
fn batched_stretch(stretch: &NoiseStretch, size: usize) -> Option<(f64, f64)> {
    let size = size.min(stretch.rates.len() / 2).max(1);
    let batches = batch_means(&stretch.rates, size);
    let (freedom, level) = (real_len(batches.len()) - 1.0, mean(&batches));
    let batch_s = real_len(size) * stretch.interval_s;
    let median = (1.0 - 2.0 / (9.0 * freedom)).powi(3);
    let variance_s = variance(&batches) / (level * level) * batch_s / median;
    (level > 0.0 && freedom > 0.0).then_some((variance_s, freedom))
}

/// When the measured part of a slice began on the bench's clock, s.
fn measured_from_s(slice: &Slice) -> f64 {
    seconds(slice.begin_ns + slice.warm_up_ns)
}
