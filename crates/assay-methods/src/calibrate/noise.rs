//! The doubt of a rung that its own visits cannot show: noise that outlasts a visit, estimated from all rungs together.

use super::best::best;
use super::ladder::Ladder;
use super::pace::INTERVALS_OF_SLICE;
use super::rung::{CONFIDENCE, Rung, Slice};
use assay_model::measurement::Interval;
use assay_model::number::{real, real_len, seconds};
use assay_stats::distribution::{normal_quantile, student_quantile};
use assay_stats::series::{batch_means, mean, variance};
use assay_stats::visits::{SlowNoise, Visit};

/// Intervals of a batch: shorter noise is seen within a visit, longer noise by comparing visits.
const BATCH: usize = 5;

/// An interval wider than this share to each side does not tell loads apart.
pub(super) const HIDES: f64 = 0.03;

/// Longer batches need this many degrees of freedom to be believed.
const FEWEST_FREEDOM: f64 = 6.0;

/// What all rungs of a ladder show of the noise within visits counts for a rung that shows little itself like this many
/// degrees of freedom of its own.
const FREEDOM_OF_ALL: f64 = 4.0;

/// The noise that outlasts a visit, as the visits to all rungs show it.
pub(super) fn slow_noise(ladders: &[&mut Ladder]) -> SlowNoise {
    let of_ladder = |ladder: &&mut Ladder| {
        let usual = usual_dispersion(ladder);
        ladder.rungs.values().map(|rung| of_rung(rung, usual).visits).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (level, visits) in ladders.iter().flat_map(of_ladder).enumerate() {
        all.extend(visits.into_iter().map(|visit| Visit { level, ..visit }));
    }
    SlowNoise::of(&all)
}

/// The same where a level fell: visits are long and follow one another, so parts of them show the noise.
pub(super) fn slow_noise_of_parts(ladders: &[&mut Ladder]) -> SlowNoise {
    let of_ladder = |ladder: &&mut Ladder| {
        let usual = usual_dispersion(ladder);
        ladder.rungs.values().map(|rung| parts_of_rung(rung, usual)).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (level, parts) in ladders.iter().flat_map(of_ladder).enumerate() {
        all.extend(parts.into_iter().map(|part| Visit { level, ..part }));
    }
    SlowNoise::of(&all)
}

/// Widens the interval of every rung to what noise of all time scales asks for.
pub(super) fn widen(ladders: &mut [&mut Ladder], noise: &SlowNoise) {
    for ladder in ladders {
        let usual = usual_dispersion(ladder);
        for rung in ladder.rungs.values_mut() {
            let own = of_rung(rung, usual);
            let half = noise.half_width(&own.visits, CONFIDENCE, own.wider());
            rung.told.doubted(half.max(rung.imprecision()));
        }
    }
}

/// Gives every rung the interval that noise of all time scales asks for.
pub(super) fn tell_doubts(ladders: &mut [&mut Ladder], noise: &SlowNoise) {
    for ladder in ladders.iter_mut() {
        let usual = usual_dispersion(ladder);
        for rung in ladder.rungs.values_mut() {
            let own = of_rung(rung, usual);
            let half = noise.half_width(&own.visits, CONFIDENCE, own.wider());
            rung.told.doubted(half.max(seen_half_width(&own.visits)));
        }
    }
    for ladder in ladders {
        level_of_all(ladder, noise);
    }
}

/// Where noise hides which load gives most, the rate of the one that stands for it is that of all visits to it and to larger
/// loads whose rates cannot be told apart from its own: a queue that is longer gives no less.
fn level_of_all(ladder: &mut Ladder, noise: &SlowNoise) {
    let Some(best) =
        best(&ladder.rungs, ladder.favourite).filter(|best| best.imprecision() > HIDES)
    else {
        return;
    };
    let (least, own) = (best.outstanding, best.told.iops);
    let alike = |rung: &&Rung| {
        let told = rung.told.iops;
        told.low <= own.value && own.value <= told.high && own.low <= told.value
    };
    let rungs: Vec<&Rung> =
        ladder.rungs.range(least..).map(|(_, rung)| rung).filter(alike).collect();
    let usual = usual_dispersion(ladder);
    let all: Vec<Visits> = rungs.iter().map(|rung| of_rung(rung, usual)).collect();
    let wider = wider(all.iter().map(|visits| visits.freedom).sum());
    let visits: Vec<Visit> = all.into_iter().flat_map(|visits| visits.visits).collect();
    let total_s: f64 = visits.iter().map(|visit| visit.length_s).sum();
    let level = visits.iter().map(|visit| visit.length_s * visit.value).sum::<f64>() / total_s;
    let half = noise.half_width(&visits, CONFIDENCE, wider).max(seen_half_width(&visits));
    let several = rungs.len() > 1;
    if let Some(rung) = ladder.rungs.get_mut(&least).filter(|_| several) {
        rung.told.pooled(level, half);
    }
}

/// Half the width of Student's interval of visits that know nothing of one another, relative to their mean; 0 for few.
fn seen_half_width(visits: &[Visit]) -> f64 {
    const FEWEST: usize = 4;
    if visits.len() < FEWEST {
        return 0.0;
    }
    let total_s: f64 = visits.iter().map(|visit| visit.length_s).sum();
    let level = visits.iter().map(|visit| visit.length_s * visit.value).sum::<f64>() / total_s;
    let squares: f64 =
        visits.iter().map(|visit| (visit.length_s * (visit.value - level)).powi(2)).sum();
    let n = real_len(visits.len());
    let error = (squares * n / (n - 1.0)).sqrt() / total_s;
    student_quantile(0.5 + 0.5 * CONFIDENCE, n - 1.0) * error / level.max(f64::MIN_POSITIVE)
}

/// A rung's visits.
struct Visits {
    visits: Vec<Visit>,
    /// Degrees of freedom by which the noise within visits is known.
    freedom: f64,
}

impl Visits {
    fn wider(&self) -> f64 {
        wider(self.freedom)
    }
}

/// How much wider an interval is because the noise within visits is known from few batches only.
fn wider(freedom: f64) -> f64 {
    let upper = 0.5 + 0.5 * CONFIDENCE;
    student_quantile(upper, freedom) / normal_quantile(upper)
}

fn of_rung(rung: &Rung, usual_dispersion: Option<f64>) -> Visits {
    let (variance_s, freedom) =
        moderated(short_noise(rung), rung.told.iops.value, usual_dispersion);
    let visits = rung
        .slices
        .iter()
        .map(|slice| Visit {
            level: 0,
            middle_s: measured_from_s(slice) + 0.5 * slice.told_s(),
            length_s: slice.told_s(),
            value: slice.iops(),
            short_variance: variance_s / slice.told_s(),
        })
        .collect();
    Visits { visits, freedom }
}

/// A rung's visits in parts as long as a slice.
fn parts_of_rung(rung: &Rung, usual_dispersion: Option<f64>) -> Vec<Visit> {
    let (variance_s, _) = moderated(short_noise(rung), rung.told.iops.value, usual_dispersion);
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
        slice.intervals.chunks_exact(INTERVALS_OF_SLICE).map(of_part).collect()
    };
    let parts = rung.slices.iter().flat_map(of_slice);
    parts.filter(|part| part.value > 0.0).collect()
}

/// The variance of the number of I/Os of a second over its mean, as all rungs of a ladder show it.
fn usual_dispersion(ladder: &Ladder) -> Option<f64> {
    let seen = ladder.rungs.values().map(|rung| {
        let (variance_s, freedom) = short_noise(rung);
        (variance_s * rung.told.iops.value, freedom)
    });
    let seen: Vec<(f64, f64)> = seen.collect();
    let freedom: f64 = seen.iter().map(|(_, freedom)| freedom).sum();
    let sum: f64 = seen.iter().map(|(dispersion, freedom)| dispersion * freedom).sum();
    (freedom > 0.0).then(|| sum / freedom)
}

/// Where few batches show the variance, that of the other rungs counts with it (Smyth, Statistical Applications in Genetics and
/// Molecular Biology 3, 2004): two batches alone would make the interval six times as wide.
fn moderated(
    (variance_s, freedom): (f64, f64),
    iops: f64,
    usual_dispersion: Option<f64>,
) -> (f64, f64) {
    match usual_dispersion {
        Some(dispersion) if freedom < FEWEST_FREEDOM && iops > 0.0 => {
            let all = freedom + FREEDOM_OF_ALL;
            ((freedom * variance_s + FREEDOM_OF_ALL * dispersion / iops) / all, all)
        }
        _ => (variance_s, freedom),
    }
}

/// The relative variance of the mean of one second as batches within visits show it, s, and its degrees of freedom.
///
/// Counts that borrow from their neighbours, as those of a link that carries one I/O after the other, are known better than
/// short batches say; longer ones are taken where they show half as much.
fn short_noise(rung: &Rung) -> (f64, f64) {
    let (mut variance_s, mut freedom) = batched(rung, BATCH);
    for size in [2 * BATCH, 4 * BATCH] {
        let longer = batched(rung, size);
        if longer.1 >= FEWEST_FREEDOM && longer.0 < 0.5 * variance_s {
            (variance_s, freedom) = longer;
        }
    }
    (variance_s, freedom)
}

/// The same by batches of this many intervals: the middle one of the visits' own variances. What only some visits show, such
/// as a stall, is not noise of this load alone: it counts as noise between visits, which all loads share.
fn batched(rung: &Rung, size: usize) -> (f64, f64) {
    let mut seen: Vec<(f64, f64)> =
        rung.slices.iter().filter_map(|slice| batched_slice(slice, size)).collect();
    seen.sort_by(|one, other| one.0.total_cmp(&other.0));
    let freedom: f64 = seen.iter().map(|(_, freedom)| freedom).sum();
    let middle = (seen.get(seen.len().saturating_sub(1) / 2), seen.get(seen.len() / 2));
    let (Some(low), Some(high)) = middle else {
        return (0.0, 1.0);
    };
    (f64::midpoint(low.0, high.0), freedom)
}

/// The relative variance of one second as the batches of a slice show it, s, and its degrees of freedom; so that the median
/// of many such variances is the true one (the cube of Wilson and Hilferty, PNAS 17, 1931).
fn batched_slice(slice: &Slice, size: usize) -> Option<(f64, f64)> {
    let rates: Vec<f64> = slice.intervals.iter().map(Interval::iops).collect();
    let size = size.min(rates.len() / 2).max(1);
    let batches = batch_means(&rates, size);
    let (freedom, level) = (real_len(batches.len()) - 1.0, mean(&batches));
    let batch_s = real_len(size) * slice.intervals.first()?.elapsed_s();
    let median = (1.0 - 2.0 / (9.0 * freedom)).powi(3);
    let variance_s = variance(&batches) / (level * level) * batch_s / median;
    (level > 0.0 && freedom > 0.0).then_some((variance_s, freedom))
}

/// When the measured part of a slice began on the bench's clock, s.
fn measured_from_s(slice: &Slice) -> f64 {
    seconds(slice.begin_ns + slice.warm_up_ns)
}
