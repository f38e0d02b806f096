//! Binds the judge's questions to the statistics book.

use assay_judge::Statistics;
use assay_methods::intervals::{BATCHES_MIN, CONFIDENCE, Intervals, book, noun};
use assay_model::comparison::ScalingLaw;
use assay_model::live::Bars;
use assay_model::number::{count, count_of, real, real_len};
use assay_model::{Estimate, Histogram, Precision};
use assay_stats::distribution::student_quantile;
use assay_stats::quantile::quantile_levels;
use assay_stats::scalability::scalability;
use assay_stats::series::{mean, variance};

/// Degrees of freedom of an interval by the fewest batches that pass for independent.
const FREEDOM_LEAST: f64 = 15.0;

/// Intervals of means and ratios by batch means, of quantiles by the levels between which they lie.
pub struct Book;

impl Statistics for Book {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        Intervals.mean(observations)
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        Intervals.ratio(numerators, denominators)
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

    fn scaling_law(&self, points: &[(f64, f64)]) -> Option<ScalingLaw> {
        let law = scalability(points, CONFIDENCE)?;
        Some(ScalingLaw {
            of_one: noun(law.of_one),
            contention: noun(law.contention),
            coherency: noun(law.coherency),
            peak_nodes: law.peak_nodes(),
        })
    }

    fn quantile(&self, histograms: &[&Histogram], quantile: f64) -> Option<Estimate> {
        if histograms.len() < BATCHES_MIN {
            return None;
        }
        let mut whole = Histogram::new(Precision::Fine);
        for histogram in histograms {
            whole.merge(histogram);
        }
        let value_ns = whole.quantile_ns(quantile);
        let counts: Vec<u64> = histograms.iter().map(|histogram| histogram.ios()).collect();
        let above: Vec<u64> =
            histograms.iter().map(|histogram| histogram.ios_above(value_ns)).collect();
        let levels = quantile_levels(&counts, &above, quantile, CONFIDENCE)?;
        // Without a bound on one side the interval would be that of all I/Os: better to say that it is not known.
        let low_ns = whole.quantile_ns(levels.low?);
        let high_ns = whole.quantile_ns(levels.high?);
        Some(Estimate {
            value: real(value_ns),
            low: real(low_ns.min(value_ns)),
            high: real(high_ns.max(value_ns)),
            confidence: CONFIDENCE,
            n: count(levels.effective_n).max(1),
        })
    }
}
