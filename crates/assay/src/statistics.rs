//! Binds the judge's questions to the statistics book.

use assay_judge::{Statistics, Tail};
use assay_model::comparison::ScalingLaw;
use assay_model::number::{count, count_of, real, real_len};
use assay_model::{Estimate, Histogram, Precision};
use assay_stats::batches::{
    BATCHES_MIN, CONFIDENCE, book, mean_of_batches, noun, ratio_of_batches,
};
use assay_stats::change::level_shift;
use assay_stats::distribution::{normal_quantile, student_quantile};
use assay_stats::quantile::{
    FEWEST_CLUSTERS, broader_level, quantile_levels, tail_levels, upper_level,
};
use assay_stats::scalability::scalability;
use assay_stats::series::{mean, variance};

/// Degrees of freedom of an interval by the fewest batches that pass for independent.
const FREEDOM_LEAST: f64 = 15.0;

/// Levels of one run that differ by a smaller share are one.
const LEVELS_APART: f64 = 0.05;

/// How often a run of one level may be called one of two: the smallest chance that the test can tell.
const FALSE_ALARM: f64 = 0.001;

/// Intervals of means and ratios by the lowest frequencies of their series, of quantiles by the levels between which they lie.
pub struct Book;

impl Statistics for Book {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        mean_of_batches(observations)
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        ratio_of_batches(numerators, denominators)
    }

    fn quotient(&self, of: &Estimate, by: &Estimate) -> Option<Estimate> {
        Some(noun(book(of).over(&book(by))?))
    }

    fn of_repeats(&self, values: &[f64]) -> Option<Estimate> {
        let n = real_len(values.len());
        if values.len() < 2 {
            return None;
        }
        let half =
            student_quantile(0.5 + 0.5 * CONFIDENCE, n - 1.0) * (variance(values) / n).sqrt();
        let value = mean(values);
        Some(Estimate {
            value,
            low: value - half,
            high: value + half,
            confidence: CONFIDENCE,
            n: count_of(values.len()),
        })
    }

    fn reach(&self, confidence: f64) -> f64 {
        student_quantile(0.5 + 0.5 * confidence, FREEDOM_LEAST)
    }

    fn normal_reach(&self, confidence: f64) -> f64 {
        normal_quantile(0.5 + 0.5 * confidence)
    }

    fn scaling_law(&self, points: &[(f64, f64)]) -> Option<ScalingLaw> {
        let law = scalability(points, CONFIDENCE)?;
        Some(ScalingLaw {
            of_one: noun(law.of_one),
            contention: noun(law.contention),
            coherency: noun(law.coherency),
            peak_nodes: law.peak_nodes(),
        })
    }

    fn quantile(&self, histograms: &[&Histogram], quantile: f64) -> Option<Tail> {
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
        let levels = match broader_level(quantile) {
            None => quantile_levels(&counts, &above(value_ns), quantile, CONFIDENCE)?,
            Some(broader) => {
                let above_broader = above(whole.quantile_ns(broader));
                tail_levels(&counts, &above(value_ns), &above_broader, quantile, CONFIDENCE)?
            }
        };
        let low_ns = levels.low.map_or(whole.min_ns(), |level| whole.quantile_ns(level));
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
            low: real(low_ns.min(value_ns)),
            high: high_ns.map_or(f64::INFINITY, real),
            confidence: CONFIDENCE,
            n: count(levels.effective_n).max(1),
        };
        Some(Tail { estimate, clusters: count(levels.clusters) })
    }

    fn level_change(&self, observations: &[f64]) -> Option<usize> {
        let looks_like = fit_of_two(observations)?;
        if looks_like < LEVELS_APART {
            return None;
        }
        let shift = level_shift(observations, CONFIDENCE)?;
        let change = shift.change();
        let apart = change.value.abs() > LEVELS_APART * shift.before.value.max(shift.after.value);
        (apart && !change.covers(0.0) && shift.p_value <= FALSE_ALARM).then_some(shift.at)
    }
}

/// By what share of the larger one the means of the best two stretches differ; a quick look that spares the costly one.
fn fit_of_two(observations: &[f64]) -> Option<f64> {
    const SHORTEST: usize = 5;
    let last = observations.len().checked_sub(SHORTEST)?;
    let apart = |at: usize| {
        let (before, after) = (mean(&observations[..at]), mean(&observations[at..]));
        (before - after).abs() / before.max(after).max(f64::MIN_POSITIVE)
    };
    (SHORTEST..=last).map(apart).reduce(f64::max)
}
