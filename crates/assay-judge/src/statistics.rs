//! What judging asks of the statistics book: intervals from batches that follow one another in time. Every answer is
//! `None` where a series is too short to say anything about its own doubt.

use assay_model::comparison::ScalingLaw;
use assay_model::number::{count, count_of, real, real_len};
use assay_model::{Estimate, Histogram, Precision};
use assay_stats::batches::{BATCHES_MIN, CONFIDENCE, book, noun};
use assay_stats::change::level_shift;
use assay_stats::distribution::{normal_quantile, student_quantile};
use assay_stats::quantile::{
    FEWEST_CLUSTERS, TAIL, broader_level, quantile_levels, tail_levels, upper_level,
};
use assay_stats::scalability::scalability;
use assay_stats::series;

pub use assay_stats::batches::{mean_of_batches as mean, ratio_of_batches as ratio};

/// Degrees of freedom of an interval by the fewest batches that pass for independent.
const FREEDOM_LEAST: f64 = 15.0;

/// Levels of one run that differ by a smaller share are one.
const LEVELS_APART: f64 = 0.05;

/// How often a run of one level may be called one of two: the smallest chance that the test can tell.
const FALSE_ALARM: f64 = 0.001;

/// A quantile with what its far end rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// The quantile; without an upper end where too few clusters lie beyond it to tell one.
    pub estimate: Estimate,
    /// How many independent times values were beyond it.
    pub clusters: u64,
}

/// One quantity over another one that was measured independently; `None` unless both are surely above 0. Without an interval
/// where one of them has none.
pub fn quotient(of: &Estimate, by: &Estimate) -> Option<Estimate> {
    if !(of.has_interval() && by.has_interval()) {
        let quotient = Estimate::without_interval(of.value / by.value, of.n.min(by.n));
        return quotient.value.is_finite().then_some(quotient);
    }
    Some(noun(book(of).over(&book(by))?))
}

/// The mean of independent repeats, two at least.
pub fn of_repeats(values: &[f64]) -> Option<Estimate> {
    let n = real_len(values.len());
    if values.len() < 2 {
        return None;
    }
    let half =
        student_quantile(0.5 + 0.5 * CONFIDENCE, n - 1.0) * (series::variance(values) / n).sqrt();
    let value = series::mean(values);
    Some(Estimate {
        value,
        low: value - half,
        high: value + half,
        confidence: CONFIDENCE,
        n: count_of(values.len()),
    })
}

/// How many standard errors an interval of a mean reaches to each side at this confidence, with as few batches as
/// an interval may rest on.
pub fn reach(confidence: f64) -> f64 {
    student_quantile(0.5 + 0.5 * confidence, FREEDOM_LEAST)
}

/// How many standard deviations a normal interval reaches to each side at this confidence.
pub fn normal_reach(confidence: f64) -> f64 {
    normal_quantile(0.5 + 0.5 * confidence)
}

/// The Universal Scalability Law through nodes and what they give; `None` of too few points.
pub fn scaling_law(points: &[(f64, f64)]) -> Option<ScalingLaw> {
    let law = scalability(points, CONFIDENCE)?;
    Some(ScalingLaw {
        of_one: noun(law.of_one),
        contention: noun(law.contention),
        coherency: noun(law.coherency),
        peak_nodes: law.peak_nodes(),
    })
}

/// The value below which a share `quantile` (0..=1) of all values lies; one histogram a batch, some may be empty.
pub fn quantile(histograms: &[&Histogram], quantile: f64) -> Option<Tail> {
    if histograms.len() < BATCHES_MIN {
        return None;
    }
    let mut whole = Histogram::new(Precision::Fine);
    for histogram in histograms {
        whole.merge(histogram);
    }
    let value_ns = whole.quantile_ns(quantile);
    let counts: Vec<u64> = histograms.iter().map(|histogram| histogram.ios()).collect();
    let above = |limit_ns: u64| -> Vec<u64> {
        histograms.iter().map(|histogram| histogram.ios_above(limit_ns)).collect()
    };
    let levels = if 1.0 - quantile < TAIL {
        let above_broader = broader_level(quantile).map(|level| above(whole.quantile_ns(level)));
        let above_broader = above_broader.as_deref();
        tail_levels(&counts, &above(value_ns), above_broader, quantile, CONFIDENCE)?
    } else {
        quantile_levels(&counts, &above(value_ns), quantile, CONFIDENCE)?
    };
    let own_ns = levels.low.map_or(real(whole.min_ns()), |level| real(whole.quantile_ns(level)));
    let low_ns = own_ns.max(low_of_broader_ns(histograms, quantile));
    // An upper end that is given only where the tail happened to look short would be too low: what few clusters
    // tell is a lower end.
    let high = levels.high.filter(|_| levels.clusters >= FEWEST_CLUSTERS);
    let high_ns = high.map(|level| {
        let end_ns = whole.quantile_ns(level).max(value_ns);
        let level = upper_level(&counts, &above(end_ns), quantile, CONFIDENCE);
        level.map_or(end_ns, |level| whole.quantile_ns(level).max(end_ns))
    });
    let estimate = Estimate {
        value: real(value_ns),
        low: low_ns.min(real(value_ns)),
        high: high_ns.map_or(f64::INFINITY, real),
        confidence: CONFIDENCE,
        n: count(levels.effective_n).max(1),
    };
    Some(Tail { estimate, clusters: count(levels.clusters) })
}

/// The highest of the lower ends of broader quantiles, below which no higher one lies: a few clusters of a tail may say less than
/// they do.
fn low_of_broader_ns(histograms: &[&Histogram], above: f64) -> f64 {
    const BROADER: [f64; 2] = [0.5, 0.9];
    let broader = BROADER.into_iter().filter(|broader| *broader < above);
    let tails = broader.filter_map(|broader| quantile(histograms, broader));
    tails.map(|tail| tail.estimate.low).fold(0.0, f64::max)
}

/// Index of the first of the observations of another level, where they surely do not keep one.
pub fn level_change(observations: &[f64]) -> Option<usize> {
    let looks_like = fit_of_two(observations)?;
    if looks_like < LEVELS_APART {
        return None;
    }
    let shift = level_shift(observations, CONFIDENCE)?;
    let change = shift.change();
    let apart = change.value.abs() > LEVELS_APART * shift.before.value.max(shift.after.value);
    (apart && !change.covers(0.0) && shift.p_value <= FALSE_ALARM).then_some(shift.at)
}

/// By what share of the larger one the means of the best two stretches differ; a quick look that spares the costly one.
fn fit_of_two(observations: &[f64]) -> Option<f64> {
    const SHORTEST: usize = 5;
    let last = observations.len().checked_sub(SHORTEST)?;
    let apart = |at: usize| {
        let (before, after) =
            (series::mean(&observations[..at]), series::mean(&observations[at..]));
        (before - after).abs() / before.max(after).max(f64::MIN_POSITIVE)
    };
    (SHORTEST..=last).map(apart).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One cluster of slow I/Os says nothing of the tail's lower end; the median, which is seen well, still does.
    #[test]
    fn a_high_quantile_is_at_least_what_the_median_is() {
        let mut batch = Histogram::new(Precision::Fine);
        batch.record_many(50_000, 1);
        (0..200).for_each(|step| batch.record_many(450_000 + 1_000 * step, 1));
        let mut slow = batch.clone();
        (0..30).for_each(|step| slow.record_many(5_000_000 + 100_000 * step, 1));
        let batches = [&batch, &batch, &batch, &slow, &batch, &batch, &batch, &batch];
        let tail = quantile(&batches, 0.99).unwrap().estimate;
        assert!(tail.low > 400_000.0 && tail.low <= tail.value, "{tail:?}");
        let median = quantile(&batches, 0.5).unwrap().estimate;
        assert!(tail.low >= median.low, "{tail:?} {median:?}");
        let rarer = quantile(&batches, 0.999).unwrap().estimate;
        assert!(rarer.low >= quantile(&batches, 0.9).unwrap().estimate.low, "{rarer:?}");
    }
}
