//! The mean of what was visited now and then, under noise that outlasts a visit: what no single
//! visit can show.

mod covariance;
mod visit;

use crate::distribution::{normal, normal_quantile};
use crate::root;
use assay_model::number::real_len;
use covariance::Covariance;
use std::collections::BTreeSet;

pub use visit::Visit;

/// Standard deviations of the slow noise that are tried first, as shares: 0, then doubled from the
/// first.
const SPREADS: usize = 11;
/// The smallest of them.
const LEAST_SPREAD: f64 = 0.001;
/// Slow noise is rarely larger than this share: where visits say little, much larger noise is
/// unlikely beforehand.
const USUAL_SPREAD: f64 = 0.05;
/// Memories that are thought of: a quarter of all the time, then halved.
const MEMORIES: usize = 8;
/// Where a law is less likely than the likeliest one by this logarithm, no law between it and its
/// neighbours is tried.
const UNLIKELY: f64 = 8.0;
/// How much noisier than all levels together a single level may be, and how likely that is
/// beforehand. That few visits agree makes none quieter: noise that comes seldom may have missed
/// them.
const OWN: [(f64, f64); 3] = [(1.0, 0.6), (2.0, 0.3), (4.0, 0.1)];
/// Few visits that happen to agree say little of noise that comes seldom: their own word counts up
/// to this much.
const MOST_GAIN: f64 = 3.0;

/// What is known of noise that outlasts a visit, from visits of several levels: standard deviations
/// and memories, each with how likely it is.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowNoise {
    choices: Vec<NoiseLaw>,
}

/// One law of the noise: relative standard deviation, memory, and a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NoiseLaw {
    spread: f64,
    memory_s: f64,
    weight: f64,
}

impl SlowNoise {
    /// From visits of at least one level that was visited twice; without one all laws stay as
    /// likely as they were beforehand.
    ///
    /// The relative deviations of visits from their level are thought to be the sum of noise that
    /// each visit shows of itself and of a slow part, common in law to all levels, whose
    /// correlation falls exponentially with time. Each law on a grid is weighted with its
    /// restricted likelihood (Patterson and Thompson, Biometrika 58, 1971), which allows for
    /// the levels' means being taken from the same visits; all are equally likely beforehand, on a
    /// scale of logarithms. Steps of the square root of 2 are fine enough where a law is
    /// likely: with doublings a spread between two of them made intervals a tenth wider.
    pub fn of(visits: &[Visit]) -> Self {
        let relative = relative(visits);
        let span_s = span_s(visits);
        let choice = |(power, memory): (usize, usize)| {
            let spread = LEAST_SPREAD * 2f64.powf(0.5 * real_len(power));
            let memory_s = span_s / real_len(4 << memory);
            // All memories of one doubling of the spread together weigh as much as no noise at all.
            let prior = -real_len(2 * MEMORIES).ln() - (spread / USUAL_SPREAD).powi(2).ln_1p();
            let weight = prior + log_likelihood(&relative, spread, memory_s);
            NoiseLaw { spread, memory_s, weight }
        };
        let none = log_likelihood(&relative, 0.0, span_s);
        let coarse: Vec<(usize, usize)> = (0..SPREADS - 1)
            .flat_map(|power| (0..MEMORIES).map(move |memory| (2 * power, memory)))
            .collect();
        let mut choices: Vec<NoiseLaw> = coarse.iter().copied().map(choice).collect();
        let most = choices.iter().map(|choice| choice.weight).fold(none, f64::max);
        let between: BTreeSet<(usize, usize)> = coarse
            .iter()
            .zip(&choices)
            .filter(|(_, choice)| choice.weight > most - UNLIKELY)
            .flat_map(|((power, memory), _)| {
                [(power.saturating_sub(1), *memory), (power + 1, *memory)]
            })
            // Even powers are on the coarse grid, as is 0, which has no lower neighbour.
            .filter(|(power, _)| power % 2 == 1)
            .collect();
        choices.extend(between.into_iter().map(choice));
        choices.push(NoiseLaw { spread: 0.0, memory_s: span_s, weight: none });
        Self { choices: normalized(choices) }
    }

    /// Half the width of the interval of a level's mean, relative to it, from the visits of this
    /// level, each weighted with its length; `short_wider` widens the part that the visits show
    /// of themselves.
    ///
    /// A level may be noisier than all together, as far as its own visits say so. The interval is
    /// that of the mixture of all laws by their weights, so that a law of which little is known
    /// makes it wide.
    pub fn half_width(&self, visits: &[Visit], confidence: f64, short_wider: f64) -> f64 {
        let own = relative(visits);
        let deviations = self.deviations(&own, short_wider);
        let tail = 0.5 * (1.0 - confidence);
        let beyond = |half: f64| {
            let share = |(weight, deviation): &(f64, f64)| {
                if *deviation > 0.0 { weight * normal(half / deviation).upper } else { 0.0 }
            };
            deviations.iter().map(share).sum::<f64>()
        };
        let largest = deviations.iter().map(|(_, deviation)| *deviation).fold(0.0, f64::max);
        if largest <= 0.0 {
            return 0.0;
        }
        // Each law alone stays below `tail` here, so the mixture does too and the root is lower.
        let most = 2.0 * normal_quantile(1.0 - 0.01 * tail) * largest;
        root::increasing(0.0, most, |half| tail - beyond(half))
    }

    /// The standard deviation of slow noise, as a share, by its weights.
    pub fn spread(&self) -> f64 {
        let squares = self.choices.iter().map(|choice| choice.weight * choice.spread.powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Standard deviations of the mean of a level, each with its weight.
    fn deviations(&self, own: &[Visit], short_wider: f64) -> Vec<(f64, f64)> {
        let mut choices = Vec::new();
        for choice in self.choices.iter().filter(|choice| choice.weight > 1e-4) {
            let at = |factor: f64| log_likelihood(own, factor * choice.spread, choice.memory_s);
            let base = at(1.0);
            for (factor, prior) in OWN {
                // The visits of this level are part of the weight already: only the difference
                // counts.
                let gain = (at(factor) - base).min(MOST_GAIN);
                let weight = choice.weight * prior * gain.exp();
                choices.push(NoiseLaw { spread: factor * choice.spread, weight, ..*choice });
            }
        }
        let total: f64 = choices.iter().map(|choice| choice.weight).sum();
        choices
            .iter()
            .map(|choice| {
                (choice.weight / total, variance_of_mean(own, choice, short_wider).sqrt())
            })
            .collect()
    }
}

/// Variance of the mean of visits weighted by their lengths, under one law.
fn variance_of_mean(own: &[Visit], choice: &NoiseLaw, short_wider: f64) -> f64 {
    let total_s: f64 = own.iter().map(|visit| visit.length_s).sum();
    let covariance = Covariance::of(own, choice.spread, choice.memory_s, short_wider);
    covariance.variance_of_sum(own.iter().map(|visit| visit.length_s / total_s))
}

/// Time from the first visit to the end of the last, s.
fn span_s(visits: &[Visit]) -> f64 {
    let begin = visits.iter().map(|visit| visit.middle_s - 0.5 * visit.length_s);
    let end = visits.iter().map(|visit| visit.middle_s + 0.5 * visit.length_s);
    let span_s = end.fold(f64::NEG_INFINITY, f64::max) - begin.fold(f64::INFINITY, f64::min);
    if span_s.is_finite() { span_s.max(f64::MIN_POSITIVE) } else { 1.0 }
}

/// Visits with values over the means of their levels, in order of time; a level visited once shows
/// nothing of noise and is left out, unless it is alone.
fn relative(visits: &[Visit]) -> Vec<Visit> {
    let mut sorted = visits.to_vec();
    sorted.sort_by_key(|visit| visit.level);
    let mut found = Vec::new();
    for level in sorted.chunk_by(|one, other| one.level == other.level) {
        if level.len() < 2 && level.len() < visits.len() {
            continue;
        }
        let total_s: f64 = level.iter().map(|visit| visit.length_s).sum();
        let sum: f64 = level.iter().map(|visit| visit.length_s * visit.value).sum();
        let mean = sum / total_s;
        found.extend(level.iter().map(|visit| Visit { value: visit.value / mean - 1.0, ..*visit }));
    }
    found.sort_by(|one, other| one.middle_s.total_cmp(&other.middle_s));
    found
}

/// The restricted log likelihood of visits, relative to their levels and in order of time, but for
/// a constant.
fn log_likelihood(visits: &[Visit], spread: f64, memory_s: f64) -> f64 {
    let covariance = Covariance::of(visits, spread, memory_s, 1.0);
    let deviations = covariance.whitened(visits.iter().map(|visit| visit.value));
    let levels: BTreeSet<usize> = visits.iter().map(|visit| visit.level).collect();
    let members = |level: &usize| {
        let level = *level;
        let member = move |visit: &Visit| f64::from(u8::from(visit.level == level));
        covariance.whitened(visits.iter().map(member))
    };
    let columns: Vec<Vec<f64>> = levels.iter().map(members).collect();
    let mut normal: Vec<Vec<f64>> = columns
        .iter()
        .enumerate()
        .map(|(row, one)| columns[..=row].iter().map(|other| product(one, other)).collect())
        .collect();
    // The determinant of the normal equations makes the likelihood restricted: it allows for the
    // means of the levels being estimated from the same visits.
    let log_determinant = covariance.log_determinant() + decompose(&mut normal);
    let fitted = columns.iter().map(|column| product(column, &deviations)).collect();
    // The deviations are from means by length. The fit removes what differs from the means that
    // this covariance gives.
    let squares = product(&deviations, &deviations)
        - forward(&normal, fitted).iter().map(|value| value * value).sum::<f64>();
    if visits.is_empty() { 0.0 } else { -0.5 * (log_determinant + squares) }
}

/// The scalar product.
fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Cholesky's lower triangle in place of a symmetric matrix given by its lower triangle; the
/// logarithm of its determinant.
fn decompose(matrix: &mut [Vec<f64>]) -> f64 {
    let mut log_determinant = 0.0;
    for row in 0..matrix.len() {
        let (above, rest) = matrix.split_at_mut(row);
        let line = &mut rest[0];
        for column in 0..row {
            let known = &above[column];
            line[column] =
                (line[column] - product(&line[..column], &known[..column])) / known[column];
        }
        // Rounding can make a pivot 0 or negative where visits are almost fully correlated.
        line[row] = (line[row] - product(&line[..row], &line[..row])).max(f64::MIN_POSITIVE).sqrt();
        log_determinant += 2.0 * line[row].ln();
    }
    log_determinant
}

/// The solution of a lower triangle's equations.
fn forward(triangle: &[Vec<f64>], mut values: Vec<f64>) -> Vec<f64> {
    for row in 0..values.len() {
        let line = &triangle[row];
        values[row] = (values[row] - product(&line[..row], &values[..row])) / line[row];
    }
    values
}

/// Logarithms of weights as weights that add up to 1.
fn normalized(mut choices: Vec<NoiseLaw>) -> Vec<NoiseLaw> {
    let most = choices.iter().map(|choice| choice.weight).fold(f64::NEG_INFINITY, f64::max);
    for choice in &mut choices {
        // Without the subtraction, exponentials of log likelihoods overflow or are all 0.
        choice.weight = (choice.weight - most).exp();
    }
    let total: f64 = choices.iter().map(|choice| choice.weight).sum();
    for choice in &mut choices {
        choice.weight /= total;
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Sixty visits of a second, of six levels in turn, under an autoregression with this
    /// coefficient a second.
    fn visited(spread: f64, coefficient: f64, short: f64, seed: u64) -> Vec<Visit> {
        let mut random = Random::new(seed);
        let mut slow = random.normal();
        (0..60)
            .map(|at| {
                slow =
                    coefficient * slow + (1.0 - coefficient * coefficient).sqrt() * random.normal();
                let level = (at * 7) % 6;
                Visit {
                    level,
                    middle_s: real_len(at) + 0.5,
                    length_s: 1.0,
                    value: 100.0
                        * real_len(level + 1)
                        * (1.0 + spread * slow + short * random.normal()),
                    short_variance: short * short,
                }
            })
            .collect()
    }

    fn of_level(visits: &[Visit], level: usize) -> Vec<Visit> {
        visits.iter().filter(|visit| visit.level == level).copied().collect()
    }

    /// How many of the six levels' means of many series lie within their intervals, and the mean
    /// half-width.
    fn covered(spread: f64, coefficient: f64, short: f64) -> (f64, f64) {
        let (mut covered, mut half, series) = (0.0, 0.0, 120);
        for seed in 1..=series {
            let visits = visited(spread, coefficient, short, seed);
            let noise = SlowNoise::of(&visits);
            for level in 0..6 {
                let own = of_level(&visits, level);
                let value: f64 = own.iter().map(|visit| visit.value).sum::<f64>() / 10.0;
                let truth = 100.0 * real_len(level + 1);
                let found = noise.half_width(&own, 0.95, 1.0);
                covered += f64::from(u8::from((value / truth - 1.0).abs() <= found));
                half += found;
            }
        }
        let all = 6.0 * assay_model::number::real(series);
        (covered / all, half / all)
    }

    #[test]
    fn intervals_hold_under_noise_of_seconds_and_are_narrow_without_it() {
        for (spread, coefficient) in [(0.02, 0.8), (0.1, 0.8), (0.1, 0.3)] {
            let (covered, half) = covered(spread, coefficient, 0.01);
            println!("{spread} {coefficient}: {covered} {half}");
            assert!(covered > 0.9, "{spread} {coefficient}: {covered} {half}");
        }
        let (covered, half) = covered(0.0, 0.0, 0.01);
        println!("none: {covered} {half}");
        // 1.96 · 1% / √10 is 0.62%.
        assert!(covered > 0.93 && half < 0.0085, "{covered} {half}");
    }

    #[test]
    fn a_single_visit_is_more_doubtful_than_it_shows_itself() {
        let visit = visited(0.0, 0.0, 0.02, 1)[0];
        let half = SlowNoise::of(&[visit]).half_width(&[visit], 0.95, 1.0);
        // 1.96 standard deviations of 2% are its own; nothing rules slow noise out.
        assert!((0.0392..0.25).contains(&half), "{half}");
    }

    #[test]
    fn the_triangle_of_a_matrix_gives_it_back() {
        let mut matrix = vec![vec![4.0], vec![2.0, 10.0], vec![-2.0, 5.0, 9.0]];
        let log_determinant = decompose(&mut matrix);
        // By hand: rows (2), (1, 3), (-1, 2, 2); determinant (2 · 3 · 2)².
        assert_eq!(matrix, [vec![2.0], vec![1.0, 3.0], vec![-1.0, 2.0, 2.0]]);
        assert!((log_determinant - 144f64.ln()).abs() < 1e-12);
        assert_eq!(forward(&matrix, vec![2.0, 4.0, 5.0]), [1.0, 1.0, 2.0]);
    }
}
