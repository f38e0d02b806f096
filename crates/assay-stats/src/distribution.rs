//! Probabilities and quantiles of the normal, Student, gamma, chi-square, binomial and Kolmogorov
//! laws.
//!
//! A probability outside 0..=1 is the caller's bug and panics.

use crate::root;
use crate::special::{Tails, incomplete_beta, incomplete_gamma, ln_gamma};
use assay_model::number::real;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Both tails of the standard normal law at `z`.
pub fn normal(z: f64) -> Tails {
    let tail = |z: f64| 0.5 * libm::erfc(z * FRAC_1_SQRT_2);
    Tails { lower: tail(-z), upper: tail(z) }
}

/// The value that a standard normal variable stays at or below with probability `probability` in
/// 0..=1.
///
/// Starts from the rational approximation 26.2.23 of Abramowitz and Stegun, refined by Halley steps
/// on the exact tail.
pub fn normal_quantile(probability: f64) -> f64 {
    assert_probability(probability);
    if probability > 0.5 {
        return normal_upper(1.0 - probability);
    }
    -normal_upper(probability)
}

/// The value that a standard normal variable exceeds with probability `tail` in 0..=0.5.
fn normal_upper(tail: f64) -> f64 {
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    let t = (-2.0 * tail.ln()).sqrt();
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = (t - top / bottom).max(0.0);
    for _ in 0..3 {
        let density = (-z * z / 2.0).exp() / TAU.sqrt();
        let newton = (normal(z).upper - tail) / density;
        z += newton / (1.0 - z * newton / 2.0);
    }
    z
}

/// Both tails of Student's t law with `freedom` > 0 degrees of freedom (DLMF 8.17 with x =
/// ν/(ν+t²)).
pub fn student(t: f64, freedom: f64) -> Tails {
    let square = t * t;
    let total = freedom + square;
    let beyond = incomplete_beta(freedom / 2.0, 0.5, freedom / total, square / total);
    let (near, far) = (0.5 + 0.5 * beyond.upper, 0.5 * beyond.lower);
    if t > 0.0 { Tails { lower: near, upper: far } } else { Tails { lower: far, upper: near } }
}

/// The value that Student's t with `freedom` > 0 degrees of freedom stays at or below with
/// `probability` in 0..=1.
pub fn student_quantile(probability: f64, freedom: f64) -> f64 {
    assert_probability(probability);
    if probability > 0.5 {
        return student_upper(1.0 - probability, freedom);
    }
    -student_upper(probability, freedom)
}

/// The value that Student's t exceeds with probability `tail` in 0..=0.5.
///
/// Solved on logarithmic scales, on which both the normal and the power-law tail are smooth.
fn student_upper(tail: f64, freedom: f64) -> f64 {
    let start = normal_upper(tail);
    if start <= 0.0 || start.is_infinite() {
        return start;
    }
    let shortfall = |log_t: f64| tail.ln() - student(log_t.exp(), freedom).upper.ln();
    // Student's tails are the heavier ones, so the normal value is a lower bound.
    let low = start.ln();
    let mut step = 0.5 / freedom;
    while shortfall(low + step) < 0.0 {
        step *= 2.0;
    }
    root::increasing(low, low + step, shortfall).exp()
}

/// Both tails of the chi-square law with `freedom` > 0 degrees of freedom at `statistic` ≥ 0.
pub fn chi_square(statistic: f64, freedom: f64) -> Tails {
    incomplete_gamma(freedom / 2.0, statistic / 2.0)
}

/// The value that a gamma variable of shape `shape` > 0 and scale 1 stays at or below with
/// `probability` in 0..=1.
pub fn gamma_quantile(probability: f64, shape: f64) -> f64 {
    assert_probability(probability);
    if probability <= 0.0 || probability >= 1.0 {
        return if probability < 0.5 { 0.0 } else { f64::INFINITY };
    }
    let excess = |log_x: f64| {
        let tails = incomplete_gamma(shape, log_x.exp());
        if probability < 0.5 {
            tails.lower.max(f64::MIN_POSITIVE).ln() - probability.ln()
        } else {
            (1.0 - probability).ln() - tails.upper.max(f64::MIN_POSITIVE).ln()
        }
    };
    // The first series term alone bounds the quantile from below: P(a, x) ≤ x^a / Γ(a + 1).
    let low = (probability.ln() + ln_gamma(shape + 1.0)) / shape;
    let mut step = 0.5;
    while excess(low + step) < 0.0 {
        step *= 2.0;
    }
    root::increasing(low, low + step, excess).exp()
}

/// The value that a chi-square variable stays at or below with `probability` in 0..=1.
pub fn chi_square_quantile(probability: f64, freedom: f64) -> f64 {
    2.0 * gamma_quantile(probability, freedom / 2.0)
}

/// Both tails of the number of successes in `trials` at chance `chance`: at most and more than
/// `successes`.
pub fn binomial(successes: u64, trials: u64, chance: f64) -> Tails {
    assert_probability(chance);
    if successes >= trials {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    let (hits, misses) = (real(successes) + 1.0, real(trials - successes));
    incomplete_beta(misses, hits, 1.0 - chance, chance)
}

/// Both tails of the largest gap of Kolmogorov's limit law at `x` ≥ 0: the law of √n · D for large
/// n.
///
/// Two series of Jacobi's theta function; each is used where it needs at most five terms.
pub fn kolmogorov(x: f64) -> Tails {
    if x < 0.05 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if x < FRAC_1_SQRT_2 + 0.3 {
        let decay = TAU * TAU / (32.0 * x * x);
        let terms = [1.0, 9.0, 25.0, 49.0].map(|square: f64| (-square * decay).exp());
        let lower = TAU.sqrt() / x * terms.iter().sum::<f64>();
        return Tails { lower, upper: 1.0 - lower };
    }
    let terms = [1.0, 4.0, 9.0, 16.0, 25.0].map(|square: f64| (-2.0 * square * x * x).exp());
    let upper = 2.0 * (terms[0] - terms[1] + terms[2] - terms[3] + terms[4]);
    Tails { lower: 1.0 - upper, upper }
}

fn assert_probability(probability: f64) {
    assert!((0.0..=1.0).contains(&probability), "{probability} is not a probability");
}
