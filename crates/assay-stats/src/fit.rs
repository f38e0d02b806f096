//! Whether observations follow a given law: chi-square for counts, Kolmogorov and Smirnov for
//! values.

use crate::distribution::{chi_square, kolmogorov};
use assay_model::number::{index, real, real_len};

/// Below this many expected observations a cell is joined with the next (Cochran, Biometrics 10,
/// 1954).
const LEAST_EXPECTED: f64 = 5.0;

/// Up to this many observations the law of the largest gap is computed exactly.
const EXACT_UP_TO: usize = 100;

/// From this scaled gap on, p is below 1e-13 and the limit law is exact enough for any number of
/// observations.
const HOPELESS: f64 = 4.0;

/// The outcome of a test of fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// How far the observations lie from the law, in the test's own unit.
    pub statistic: f64,
    /// How often observations that do follow the law lie at least as far from it, in 0..=1.
    pub p_value: f64,
}

/// Pearson's chi-square test that `observed` counts follow `weights` (Philosophical Magazine 50,
/// 1900).
///
/// The weights are expected counts or probabilities up to a common factor. Neighbouring cells are
/// joined until each expects at least 5 observations. `fitted` parameters of the law that were
/// estimated from the same counts cost one degree of freedom each. Where too few cells are left for
/// a test, p is 1.
///
/// # Panics
/// If the slices differ in length or a weight is negative.
pub fn chi_square_fit(observed: &[u64], weights: &[f64], fitted: u32) -> Fit {
    assert_eq!(observed.len(), weights.len(), "one weight a cell");
    assert!(weights.iter().all(|weight| *weight >= 0.0), "weights are shares of the observations");
    let scale = real(observed.iter().sum()) / weights.iter().sum::<f64>();
    let expected = weights.iter().map(|weight| weight * scale);
    let cells = joined(observed.iter().map(|count| real(*count)).zip(expected));
    let statistic = cells.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    let freedom = real_len(cells.len()) - 1.0 - f64::from(fitted);
    let p_value = if freedom > 0.0 { chi_square(statistic, freedom).upper } else { 1.0 };
    Fit { statistic, p_value }
}

/// Joins neighbouring cells until each expects enough; what is left over goes to the last one.
fn joined(cells: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut done: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (seen, expected) in cells {
        open = (open.0 + seen, open.1 + expected);
        if open.1 >= LEAST_EXPECTED {
            done.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = done.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    done
}

/// The test of Kolmogorov and Smirnov that values in ascending order follow a continuous law.
///
/// `law` gives the probability of a value at or below its argument. The statistic is the largest
/// gap between it and the share of observations. With no values p is 1.
pub fn kolmogorov_smirnov_fit(ascending: &[f64], law: impl Fn(f64) -> f64) -> Fit {
    let n = real_len(ascending.len());
    let gap = |(index, value): (usize, &f64)| {
        let expected = law(*value);
        (real_len(index + 1) / n - expected).max(expected - real_len(index) / n)
    };
    let statistic = ascending.iter().enumerate().map(gap).fold(0.0, f64::max);
    Fit { statistic, p_value: kolmogorov_smirnov_p_value(ascending.len(), statistic) }
}

/// How often `n` values of a continuous law show a largest gap of at least `gap`.
///
/// Exact up to 100 values by the matrix of Marsaglia, Tsang and Wang (J. of Statistical Software
/// 8(18), 2003); beyond, Kolmogorov's limit at the argument corrected by Vrbik (Pioneer J. of
/// Theoretical and Applied Statistics 15, 2018), within 2e-4 of the exact value.
pub fn kolmogorov_smirnov_p_value(n: usize, gap: f64) -> f64 {
    if n == 0 || gap <= 0.0 {
        return 1.0;
    }
    if gap >= 1.0 {
        return 0.0;
    }
    let root = real_len(n).sqrt();
    let scaled = root * gap;
    if n <= EXACT_UP_TO && scaled < HOPELESS {
        return (1.0 - exact_gap_law(n, gap)).clamp(0.0, 1.0);
    }
    kolmogorov(scaled + 1.0 / (6.0 * root) + (scaled - 1.0) / (4.0 * real_len(n))).upper
}

/// The probability that the largest gap of `n` values stays below `gap`.
fn exact_gap_law(n: usize, gap: f64) -> f64 {
    let reach = real_len(n) * gap;
    let cells = index(reach) + 1;
    let transition = gap_matrix(cells, real_len(cells) - reach);
    let paths = power(&transition, n)[cells - 1][cells - 1];
    (1..=n).fold(paths, |law, drawn| law * real_len(drawn) / real_len(n))
}

type DesignMatrix = Vec<Vec<f64>>;

/// The transition matrix of size 2k - 1 for a gap of (k - h)/n.
fn gap_matrix(k: usize, h: f64) -> DesignMatrix {
    let size = 2 * k - 1;
    let entry = |row: usize, column: usize| {
        if column > row + 1 {
            return 0.0;
        }
        let (left, bottom) = (column == 0, row + 1 == size);
        let cut = term(left, h, row + 1) + term(bottom, h, size - column);
        let corner = term(left && bottom && h > 0.5, 2.0 * h - 1.0, size);
        (1.0 - cut + corner) / factorial(row + 1 - column)
    };
    (0..size).map(|row| (0..size).map(|column| entry(row, column)).collect()).collect()
}

/// `base` to a whole power where `applies`, else 0.
fn term(applies: bool, base: f64, exponent: usize) -> f64 {
    if applies { base.powf(real_len(exponent)) } else { 0.0 }
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(real_len).product()
}

fn product(left: &DesignMatrix, right: &DesignMatrix) -> DesignMatrix {
    let entry = |row: &[f64], at: usize| row.iter().zip(right).map(|(a, b)| a * b[at]).sum();
    left.iter().map(|row| (0..left.len()).map(|at| entry(row, at)).collect()).collect()
}

/// `base` to the whole power `exponent` > 0, by squaring.
fn power(base: &DesignMatrix, exponent: usize) -> DesignMatrix {
    if exponent == 1 {
        return base.clone();
    }
    let half = power(base, exponent / 2);
    let square = product(&half, &half);
    if exponent.is_multiple_of(2) { square } else { product(&square, base) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thin_cells_are_joined_until_they_expect_enough() {
        let cells = [(1.0, 2.0), (4.0, 3.0), (7.0, 6.0), (2.0, 1.0)];
        assert_eq!(joined(cells.into_iter()), [(5.0, 5.0), (9.0, 7.0)]);
    }

    #[test]
    fn counts_as_expected_fit_and_others_do_not() {
        let weights = [1.0, 2.0, 3.0];
        assert!((chi_square_fit(&[100, 200, 300], &weights, 0).p_value - 1.0).abs() < 1e-15);
        assert!(chi_square_fit(&[200, 200, 200], &weights, 0).p_value < 1e-9);
        // Nothing to test: one cell, or as many parameters as cells.
        assert!((chi_square_fit(&[3, 1], &weights[..2], 0).p_value - 1.0).abs() < 1e-15);
        assert!((chi_square_fit(&[10, 90], &weights[..2], 1).p_value - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_fitted_parameter_costs_a_degree_of_freedom() {
        let weights = [1.0; 4];
        let free = chi_square_fit(&[90, 110, 105, 95], &weights, 0);
        let fitted = chi_square_fit(&[90, 110, 105, 95], &weights, 1);
        assert!((free.statistic - 2.5).abs() < 1e-12);
        // With two degrees of freedom the law is exponential.
        assert!((fitted.p_value - (-1.25_f64).exp()).abs() < 1e-12);
        assert!(free.p_value > fitted.p_value);
    }

    #[test]
    fn one_value_has_the_gap_of_its_distance_from_the_ends() {
        let fit = kolmogorov_smirnov_fit(&[0.3], |value| value);
        // P(max(u, 1 - u) ≥ 0.7) = 0.6 for a uniform u
        assert!((fit.statistic - 0.7).abs() < 1e-15);
        assert!((fit.p_value - 0.6).abs() < 1e-12);
    }

    #[test]
    fn impossible_and_missing_gaps_are_answered() {
        for (n, gap, expected) in [(0, 0.5, 1.0), (10, 0.0, 1.0), (10, 1.0, 0.0), (200, 1.0, 0.0)] {
            let seen = kolmogorov_smirnov_p_value(n, gap);
            assert!((seen - expected).abs() < 1e-15, "gap {gap} of {n}: {seen}");
        }
        assert!(kolmogorov_smirnov_p_value(100, 0.6) < 1e-13);
    }
}
