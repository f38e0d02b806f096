//! What judging asks of the statistics book: intervals from batches that follow one another in
//! time. Every answer is `None` where a series is too short to say anything about its own doubt.

use assay_model::comparison::ScalingLaw;
use assay_model::number::{count, count_of, real, real_len};
use assay_model::{Estimate, Histogram, Precision};
use assay_stats::batches::{CONFIDENCE, ROWS_MIN, book, noun};
use assay_stats::change::level_shift;
use assay_stats::distribution::{normal_quantile, student_quantile};
use assay_stats::mean::UPPER_TIMES_MAX;
use assay_stats::quantile::{FEWEST_CLUSTERS, TAIL, broader_level, tail_levels, upper_level};
use assay_stats::scalability::scalability;
use assay_stats::series;

pub use assay_stats::batches::{ShortSeries, mean_of_batches as mean, ratio_of_batches as ratio};

/// Degrees of freedom of an interval by the fewest batches that pass for independent.
const FREEDOM_LEAST: f64 = 15.0;

/// Levels of one run that differ by a smaller share are one.
const LEVELS_APART: f64 = 0.05;

/// How often a run of one level may be called one of two: the smallest chance that the test can
/// tell.
const FALSE_ALARM: f64 = 0.001;

/// A quantile with what its far end rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileTail {
    /// The quantile; without an upper end where too few clusters lie beyond it to tell one.
    pub estimate: Estimate,
    /// How many independent times values were beyond it.
    pub clusters: u64,
}

/// One quantity over another one that was measured independently; `None` unless both are certainly
/// above 0. Without an interval where one of them has none.
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

/// How many standard errors an interval of a mean reaches to each side at this confidence, with as
/// few batches as an interval may rest on.
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

/// Quantiles whose ends bound those of others: a higher one never lies below.
const LADDER: [f64; 9] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];

/// The value below which a share `quantile` (0..=1) of all values lies; one histogram a batch of
/// `batch_s`, some may be empty. `None` of fewer than [`ROWS_MIN`] seconds or batches.
///
/// A few clusters of a tail may say less of its lower end than broader quantiles do, and a broader
/// quantile lies below the upper end of any higher one: both ends rise with the quantile. Where the
/// upper end is beyond twice the value it is not known.
pub fn quantile(histograms: &[&Histogram], batch_s: f64, quantile: f64) -> Option<QuantileTail> {
    let seconds = batch_s * real_len(histograms.len());
    if histograms.len() < ROWS_MIN || seconds < real_len(ROWS_MIN) - 0.5 {
        return None;
    }
    let tails = BatchTails::new(histograms);
    let own = tails.tail(quantile)?;
    let others = || LADDER.into_iter().filter_map(|level| Some((level, tails.tail(level)?)));
    let broader = others().filter(|(level, _)| *level < quantile);
    let rarer = others().filter(|(level, _)| *level > quantile);
    let low = broader.map(|(_, tail)| tail.estimate.low).fold(own.estimate.low, f64::max);
    let high = rarer.map(|(_, tail)| tail.estimate.high).fold(own.estimate.high, f64::min);
    let value = own.estimate.value;
    let is_known = high <= UPPER_TIMES_MAX * value;
    let high = if is_known { high.max(value) } else { f64::INFINITY };
    let estimate = Estimate { low: low.min(value), high, ..own.estimate };
    Some(QuantileTail { estimate, ..own })
}

/// What batches say of quantiles, each by itself.
struct BatchTails<'a> {
    histograms: &'a [&'a Histogram],
    whole: Histogram,
    counts: Vec<u64>,
}

impl<'a> BatchTails<'a> {
    fn new(histograms: &'a [&'a Histogram]) -> Self {
        let mut whole = Histogram::new(Precision::Fine);
        for histogram in histograms {
            whole.merge(histogram);
        }
        let counts = histograms.iter().map(|histogram| histogram.ios()).collect();
        Self { histograms, whole, counts }
    }

    /// How many I/Os of each batch took longer.
    fn above(&self, limit_ns: u64) -> Vec<u64> {
        self.histograms.iter().map(|histogram| histogram.ios_above(limit_ns)).collect()
    }

    fn tail(&self, quantile: f64) -> Option<QuantileTail> {
        let whole = &self.whole;
        let value_ns = whole.quantile_ns(quantile);
        let above = self.above(value_ns);
        let level = broader_level(quantile).filter(|_| 1.0 - quantile < TAIL);
        let broader = level.map(|level| self.above(whole.quantile_ns(level)));
        let levels = tail_levels(&self.counts, &above, broader.as_deref(), quantile, CONFIDENCE)?;
        let low_ns = levels.low.map_or(whole.min_ns(), |level| whole.quantile_ns(level));
        // An upper end that is given only where the tail happened to look short would be too low:
        // what few clusters tell is a lower end.
        let high = levels.high.filter(|_| levels.clusters >= FEWEST_CLUSTERS);
        let high_ns = high.map(|level| {
            let end_ns = whole.quantile_ns(level).max(value_ns);
            let level = upper_level(&self.counts, &self.above(end_ns), quantile, CONFIDENCE);
            level.map_or(end_ns, |level| whole.quantile_ns(level).max(end_ns))
        });
        let estimate = Estimate {
            value: real(value_ns),
            low: real(low_ns.min(value_ns)),
            high: high_ns.map_or(f64::INFINITY, real),
            confidence: CONFIDENCE,
            n: count(levels.effective_n).max(1),
        };
        Some(QuantileTail { estimate, clusters: count(levels.clusters) })
    }
}

/// Index of the first of the observations of another level, where they certainly do not keep one.
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

/// By what share of the larger one the means of the best two stretches differ; a quick look that
/// spares the costly one.
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

    use assay_stats::random::Random;
    use proptest::prelude::*;

    /// One cluster of slow I/Os says nothing of the tail's lower end; the median, which is seen
    /// well, still does.
    #[test]
    fn a_high_quantile_is_at_least_what_the_median_is() {
        let mut batch = Histogram::new(Precision::Fine);
        batch.record_many(50_000, 1);
        (0..200).for_each(|step| batch.record_many(450_000 + 1_000 * step, 1));
        let mut slow = batch.clone();
        (0..30).for_each(|step| slow.record_many(5_000_000 + 100_000 * step, 1));
        let batches = [&batch, &batch, &batch, &slow, &batch, &batch, &batch, &batch];
        let tail = quantile(&batches, 1.0, 0.99).unwrap().estimate;
        assert!(tail.low > 400_000.0 && tail.low <= tail.value, "{tail:?}");
        let median = quantile(&batches, 1.0, 0.5).unwrap().estimate;
        assert!(tail.low >= median.low, "{tail:?} {median:?}");
        let rarer = quantile(&batches, 1.0, 0.999).unwrap().estimate;
        assert!(rarer.low >= quantile(&batches, 1.0, 0.9).unwrap().estimate.low, "{rarer:?}");
    }

    #[test]
    fn less_than_eight_seconds_say_nothing_of_a_quantile() {
        let mut batch = Histogram::new(Precision::Fine);
        (0..200).for_each(|step| batch.record_many(450_000 + 1_000 * step, 1));
        assert_eq!(quantile(&[&batch; 7], 1.0, 0.5), None);
        assert_eq!(quantile(&[&batch; 20], 0.3, 0.5), None);
        assert!(quantile(&[&batch; 20], 0.4, 0.5).is_some());
    }

    /// Batches whose level wanders, with a tail that comes in bursts.
    fn bursty(seed: u64, batches: usize, burst: f64) -> Vec<Histogram> {
        let mut random = Random::new(seed);
        (0..batches)
            .map(|_| {
                let level = 300_000.0 * (0.3 * random.normal()).exp();
                let slow = if random.chance(0.1) { burst } else { 0.001 };
                let mut batch = Histogram::new(Precision::Coarse);
                for _ in 0..150 {
                    let times = if random.chance(slow) { 20.0 } else { 1.0 };
                    batch.record(count(level * times * (0.2 + random.exponential())));
                }
                batch
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn both_ends_rise_with_the_quantile(
            seed in 0u64..1_000_000, batches in 8usize..70, burst in 0.0f64..0.9,
        ) {
            let histograms = bursty(seed, batches, burst);
            let histograms: Vec<&Histogram> = histograms.iter().collect();
            let (mut low, mut high) = (0.0, 0.0);
            for level in LADDER {
                let Some(QuantileTail { estimate, .. }) = quantile(&histograms, 1.0, level) else { continue };
                prop_assert!(estimate.low >= low, "{level}: {estimate:?}");
                prop_assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
                low = estimate.low;
                if !estimate.is_at_least() {
                    prop_assert!(estimate.high >= high, "{level}: {estimate:?}");
                    prop_assert!(estimate.high <= UPPER_TIMES_MAX * estimate.value);
                    high = estimate.high;
                }
            }
        }
    }
}
