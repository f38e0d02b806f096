//! The autoregression that a series resembles, and what part of its variation lies at which
//! frequency.

use crate::series::autocovariance;
use assay_model::number::real_len;

/// Coefficients at most.
const MOST: usize = 8;
/// Observations for each coefficient that may be fitted.
const FOR_EACH: usize = 10;
/// What the coefficients may add up to once their bias is taken out: one step in 33 is new at
/// least.
const MOST_SUM: f64 = 0.97;

/// A fitted autoregression: each value is a sum of those before it, weighted by the coefficients,
/// and of something new.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Autoregression {
    coefficients: Vec<f64>,
}

impl Autoregression {
    /// The fit to a series from which `fitted` parameters were taken: 1 for its mean, 2 for a line.
    ///
    /// Coefficients by Levinson and Durbin (P. Brockwell and R. Davis, "Time Series: Theory and
    /// Methods", 2nd ed., §5.2), as many as the corrected criterion of Akaike asks for (C.
    /// Hurvich and C.-L. Tsai, Biometrika 76, 1989), and one at least where neighbours resemble
    /// one another: too little memory makes intervals too narrow. Their sum is cleared of its
    /// small-sample bias as that of one coefficient is (Marriott and Pope, Biometrika 41, 1954; for
    /// more of them Shaman and Stine, JASA 83, 1988).
    pub(crate) fn of(series: &[f64], fitted: usize) -> Self {
        let most = (series.len() / FOR_EACH).clamp(1, MOST);
        let mut coefficients = Vec::new();
        if series.len() > 4 && autocovariance(series, 0) > 0.0 {
            coefficients = fit(series, most);
        }
        unbias(&mut coefficients, real_len(series.len()), real_len(fitted));
        Self { coefficients }
    }

    /// Its power at `frequency` (radians per observation) over its power at frequency 0.
    pub(crate) fn power(&self, frequency: f64) -> f64 {
        let (mut along, mut across) = (1.0, 0.0);
        for (lag, coefficient) in (1..).zip(&self.coefficients) {
            let (sine, cosine) = (frequency * real_len(lag)).sin_cos();
            along -= coefficient * cosine;
            across += coefficient * sine;
        }
        let none = 1.0 - self.coefficients.iter().sum::<f64>();
        none * none / (along * along + across * across).max(f64::MIN_POSITIVE)
    }
}

/// The coefficients of the order that the criterion likes best.
fn fit(series: &[f64], most: usize) -> Vec<f64> {
    let n = real_len(series.len());
    let covariances: Vec<f64> = (0..=most).map(|lag| autocovariance(series, lag)).collect();
    let price = |order: usize| 2.0 * (real_len(order) + 1.0) * n / (n - real_len(order) - 2.0);
    let (mut now, mut unexplained) = (Vec::new(), covariances[0]);
    let (mut best, mut least) = (Vec::new(), n * unexplained.ln() + price(0));
    for order in 1..=most {
        let known: f64 =
            now.iter().zip(covariances[1..order].iter().rev()).map(|(a, b): (&f64, _)| a * b).sum();
        let partial = (covariances[order] - known) / unexplained;
        now = next_order(&now, partial);
        unexplained *= 1.0 - partial * partial;
        if unexplained <= 0.0 {
            return now;
        }
        let criterion = n * unexplained.ln() + price(order);
        if criterion < least || (order == 1 && partial > 0.0) {
            (best, least) = (now.clone(), criterion);
        }
    }
    best
}

/// The coefficients of one order more, from the partial correlation at it.
fn next_order(now: &[f64], partial: f64) -> Vec<f64> {
    let changed = now.iter().zip(now.iter().rev()).map(|(one, mirrored)| one - partial * mirrored);
    changed.chain([partial]).collect()
}

/// Takes the bias out of the sum of the coefficients, each getting the same part of it.
fn unbias(coefficients: &mut [f64], n: f64, fitted: f64) {
    let order = real_len(coefficients.len());
    let sum: f64 = coefficients.iter().sum();
    let lost = ((order + 3.0) * fitted).min(n / 2.0);
    let cleared = ((n * sum + fitted * order) / (n - lost)).min(sum.max(MOST_SUM));
    for coefficient in coefficients {
        *coefficient += (cleared - sum) / order;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::series::autocorrelation;

    fn long_memory(n: usize) -> Vec<f64> {
        let mut random = Random::new(17);
        let mut value = 0.0;
        let mut next = || {
            value = 0.9 * value + random.normal();
            value
        };
        std::iter::repeat_with(&mut next).take(n).collect()
    }

    #[test]
    fn the_order_and_the_coefficient_of_a_known_process_are_found() {
        let found = Autoregression::of(&long_memory(20_000), 1);
        assert!((found.coefficients[0] - 0.9).abs() < 0.02, "{found:?}");
        // 1 / |1 - φ e^{-iω}|², over 1 / (1 - φ)².
        let exact = 0.01 / (1.0 + 0.81 - 1.8 * 0.5_f64.cos());
        assert!((found.power(0.5) / exact - 1.0).abs() < 0.2);
        assert!((found.power(0.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_first_coefficient_of_order_one_is_the_correlation_of_neighbours() {
        let series = &long_memory(12)[..];
        assert!((fit(series, 1)[0] - autocorrelation(series, 1)).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_vary_or_is_too_short_has_no_memory() {
        for series in [&[3.0; 40][..], &[1.0, 2.0, 9.0]] {
            assert!((Autoregression::of(series, 1).power(1.0) - 1.0).abs() < 1e-15);
        }
    }
}
