//! How much the mean of a correlated series varies: the variation at its lowest frequencies, with a
//! floor of degrees of freedom.

use crate::autoregression::Autoregression;
use crate::series::{mean, variance};
use assay_model::number::{index, real_len};
use std::f64::consts::PI;

/// The frequencies reach up to where the fitted memory has lost this share of their mean power.
const LEAST_SHARE: f64 = 0.9;
/// Where the power rises with frequency, they reach up to this multiple of the power at 0.
const MOST_SHARE: f64 = 2.0;
/// At least this many frequencies are looked at, however long the memory is; what their mean power
/// lacks is made good.
const FEWEST: usize = 6;
/// The limit is this, times the length to the power 2/3: what varies more slowly than the fit knows
/// shows below.
const BREADTH: f64 = 1.5;
/// More would cost time and add nothing.
const MOST: usize = 512;
/// The lower half of the frequencies has more power than all of them if it does by this many
/// standard deviations: the fit does not know of a slow part, and the upper half is left out.
const SLOW_SCORE: f64 = 1.5;
/// No interval rests on fewer degrees of freedom, unless there are no more observations. Of less,
/// Student's law says that anything is possible: 64 standard errors at 99% with one degree.
pub(crate) const FEWEST_FREEDOM: f64 = 3.0;

/// The long-run variance of a series: n times the variance of its mean, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LongRun {
    /// In the squared unit of the observations; the plain variance if they are independent.
    pub(crate) variance: f64,
    /// Degrees of freedom of Student's t for intervals made from it.
    pub(crate) freedom: f64,
    /// How many frequencies were joined.
    pub(crate) frequencies: usize,
}

impl LongRun {
    /// Of at least two residuals of a fit of `fitted` parameters, 1 for a mean and 2 for a line.
    ///
    /// The mean power of the lowest frequencies of the cosine transform, each of which is an
    /// independent normal observation of the variance wanted as long as the spectrum is flat
    /// there: Student's law with as many degrees of freedom as there are frequencies then holds
    /// exactly (U. Müller, J. of Econometrics 141, 2007; E. Lazarus, D. Lewis, J. Stock and M.
    /// Watson, J. of Business & Economic Statistics 36, 2018). With all frequencies it is
    /// the plain variance. The fitted autoregression shows how far the spectrum is flat; where
    /// memory is so long that even the fewest frequencies reach beyond, its own spectrum makes
    /// good what they lack, and the freedom falls with the square of that share because the
    /// correction is itself uncertain.
    pub(crate) fn of(residuals: &[f64], fitted: usize) -> Self {
        let spread = variance(residuals);
        let held = residuals.len().saturating_sub(fitted);
        if spread <= 0.0 || held == 0 {
            return Self { variance: spread, freedom: real_len(held.max(1)), frequencies: held };
        }
        let memory = Autoregression::of(residuals, fitted);
        let shape =
            SpectrumShape::of(&memory, residuals.len(), fitted, reach(residuals.len(), held));
        let powers = cosine_powers(residuals, fitted, shape.flat);
        let used = shape.without_slow_part(&powers, FEWEST.min(held));
        let share = shape.mean(used).min(1.0);
        let floor = FEWEST_FREEDOM.min(real_len(held));
        Self {
            variance: mean(&powers[..used]) / share,
            freedom: (real_len(used) * share * share).max(floor),
            frequencies: used,
        }
    }

    /// How many neighbours carry the same information: 1 for independent values, more for
    /// correlated ones.
    pub(crate) fn memory(&self, short_run: f64) -> f64 {
        if short_run > 0.0 { (self.variance / short_run).max(1.0) } else { 1.0 }
    }
}

/// How many frequencies of `held` may be used at most for a series of `n`.
fn reach(n: usize, held: usize) -> usize {
    let broad = index(BREADTH * real_len(n).powf(2.0 / 3.0));
    broad.clamp(FEWEST, MOST).min(held)
}

/// The power that the fitted memory gives to each frequency, over that at 0.
struct SpectrumShape {
    shares: Vec<f64>,
    /// How many frequencies are about as powerful as 0.
    flat: usize,
}

impl SpectrumShape {
    fn of(memory: &Autoregression, n: usize, first: usize, reach: usize) -> Self {
        let at = |which: usize| PI * real_len(which) / real_len(n);
        let shares: Vec<f64> =
            (first..first + reach).map(|which| memory.power(at(which))).collect();
        let (mut sum, mut flat) = (0.0, reach);
        for (before, share) in shares.iter().enumerate() {
            sum += share;
            if !(LEAST_SHARE..=MOST_SHARE).contains(&(sum / real_len(before + 1))) {
                flat = before;
                break;
            }
        }
        Self { shares, flat: flat.max(FEWEST.min(reach)) }
    }

    /// The mean power of the first `used` frequencies.
    fn mean(&self, used: usize) -> f64 {
        mean(&self.shares[..used])
    }

    /// How many frequencies are left when halves are taken away as long as the lower half shows
    /// more power, beyond what the fit explains, than all of them.
    fn without_slow_part(&self, powers: &[f64], fewest: usize) -> usize {
        // Without the division, the slope of the fitted spectrum itself would count as a slow part.
        let whitened = powers.iter().zip(&self.shares).map(|(power, share)| power / share);
        let sums: Vec<f64> = whitened
            .scan(0.0, |sum, power| {
                *sum += power;
                Some(*sum)
            })
            .collect();
        let level = |used: usize| sums[used - 1] / real_len(used);
        let (mut used, mut lower) = (powers.len(), powers.len());
        while lower > fewest {
            lower = (lower / 2).max(fewest);
            let (few, all) = (real_len(lower), real_len(used));
            // The square of a normal value has a variance of twice its mean squared. The lower part
            // is included in the whole, which reduces the variance of the difference.
            let chance = (2.0 / few * (1.0 - few / all)).sqrt();
            if level(lower) > (1.0 + SLOW_SCORE * chance) * level(used) {
                used = lower;
            }
        }
        used
    }
}

/// Squares of the orthonormal cosine transform (type II) of a series, `count` of them from
/// frequency number `first` on.
///
/// All of them from number 1 on add up to the squared deviations from the mean.
pub(crate) fn cosine_powers(series: &[f64], first: usize, count: usize) -> Vec<f64> {
    let (n, centre) = (real_len(series.len()), mean(series));
    let power = |which: usize| {
        let step = PI * real_len(which) / n;
        // The angle grows by a constant step, so a rotation replaces one cosine per value.
        let (turn_sine, turn_cosine) = step.sin_cos();
        let (mut sine, mut cosine) = (0.5 * step).sin_cos();
        let mut sum = 0.0;
        for value in series {
            sum += (value - centre) * cosine;
            let turned = cosine * turn_cosine - sine * turn_sine;
            sine = sine * turn_cosine + cosine * turn_sine;
            cosine = turned;
        }
        2.0 / n * sum * sum
    };
    (first..first + count).map(power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noise(n: usize) -> Vec<f64> {
        let mut random = Random::new(23);
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn the_powers_of_all_frequencies_are_the_squared_deviations() {
        for n in [2, 3, 10, 257] {
            let series = noise(n);
            let all: f64 = cosine_powers(&series, 1, n - 1).iter().sum();
            assert!((all / (variance(&series) * real_len(n - 1)) - 1.0).abs() < 1e-10, "{n}");
        }
    }

    #[test]
    fn a_cosine_has_all_its_power_at_its_own_frequency() {
        let wave: Vec<f64> =
            (0..40).map(|at| (PI * 7.0 * (f64::from(at) + 0.5) / 40.0).cos()).collect();
        let powers = cosine_powers(&wave, 1, 39);
        assert!((powers[6] - 20.0).abs() < 1e-9 && powers[5] < 1e-20 && powers[7] < 1e-20);
    }

    #[test]
    fn no_series_rests_on_less_than_the_floor() {
        let walk: Vec<f64> = noise(200)
            .iter()
            .scan(0.0, |at, step| {
                *at += step;
                Some(*at)
            })
            .collect();
        for n in [5, 16, 60, 200] {
            let found = LongRun::of(&walk[..n], 1);
            assert!(found.freedom >= FEWEST_FREEDOM, "{n}: {found:?}");
            assert!(found.frequencies >= FEWEST.min(n - 1));
        }
    }

    #[test]
    fn independent_values_keep_most_of_their_freedom() {
        let all = noise(30 * 100);
        let mut freedoms: Vec<f64> =
            all.chunks(30).map(|series| LongRun::of(series, 1).freedom).collect();
        freedoms.sort_by(f64::total_cmp);
        assert!(freedoms[50] > 10.0 && freedoms[0] >= FEWEST_FREEDOM, "{freedoms:?}");
    }
}
