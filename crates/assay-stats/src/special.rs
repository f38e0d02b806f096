//! The gamma and beta functions behind every distribution of this book, accurate in both tails.

use std::f64::consts::TAU;

/// Below this the Stirling series has not yet converged to the last bit.
const STIRLING_FROM: f64 = 15.0;

/// Far above what any argument needs; a loop that reaches it has met a NaN.
const MOST_TERMS: u32 = 10_000_000;

/// Both tail probabilities, so that the small one keeps all its digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Probability of a value at or below the argument.
    pub lower: f64,
    /// Probability of a value above the argument.
    pub upper: f64,
}

impl Tails {
    const LEFT: Self = Self { lower: 0.0, upper: 1.0 };
    const RIGHT: Self = Self { lower: 1.0, upper: 0.0 };

    fn from_lower(lower: f64) -> Self {
        Self { lower, upper: 1.0 - lower }
    }

    fn from_upper(upper: f64) -> Self {
        Self { lower: 1.0 - upper, upper }
    }

    fn swapped(self) -> Self {
        Self { lower: self.upper, upper: self.lower }
    }
}

/// What ln Γ(x + 1) exceeds Stirling's (x + ½) ln x - x + ½ ln 2π by, for x ≥ 15 (DLMF 5.11.1).
fn stirling_series(x: f64) -> f64 {
    let square = x * x;
    let tail = 1.0 / 1188.0 - (691.0 / 360_360.0 - 1.0 / (156.0 * square)) / square;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - tail / square) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / x
}

/// Stirling's (x + ½) ln x - x + ½ ln 2π.
fn stirling(x: f64) -> f64 {
    (x + 0.5) * x.ln() - x + 0.5 * TAU.ln()
}

/// ln Γ(x) for x > 0, by the recurrence up to where the Stirling series holds.
pub fn ln_gamma(x: f64) -> f64 {
    let (mut product, mut shifted) = (x, x);
    while shifted < STIRLING_FROM {
        shifted += 1.0;
        product *= shifted;
    }
    stirling(shifted) + stirling_series(shifted) - product.ln()
}

/// What ln Γ(x + 1) exceeds Stirling's formula by, for x > 0.
fn stirling_error(x: f64) -> f64 {
    if x >= STIRLING_FROM {
        return stirling_series(x);
    }
    ln_gamma(x + 1.0) - stirling(x)
}

/// u - ln(1 + u) for |u| ≤ 0.1 without cancellation, by the series of the inverse hyperbolic
/// tangent.
fn log_excess(u: f64) -> f64 {
    let v = u / (2.0 + u);
    let square = v * v;
    let mut term = 2.0 * v * square;
    let mut sum = 0.0;
    for odd in [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0] {
        sum += term / odd;
        term *= square;
    }
    u * v - sum
}

/// a ln(a / x) + x - a: how unlikely x is where a is expected, in log probability.
///
/// `difference` is x - a, which the caller may know to more digits.
fn deviance(a: f64, x: f64, difference: f64) -> f64 {
    if difference.abs() > 0.1 * a {
        return a * (a / x).ln() + difference;
    }
    a * log_excess(difference / a)
}

/// `x^a e^-x / Γ(a + 1)`: the Poisson probability of `a` at mean `x`, for real a > 0.
///
/// Computed as a deviance from the mode (C. Loader, "Fast and accurate computation of binomial
/// probabilities", 2000), so that large arguments do not cancel.
pub(crate) fn poisson_kernel(a: f64, x: f64) -> f64 {
    if a < STIRLING_FROM {
        return (a * x.ln() - x - ln_gamma(a + 1.0)).exp();
    }
    (-stirling_error(a) - deviance(a, x, x - a)).exp() / (TAU * a).sqrt()
}

/// 1 + x/(a+1) + x²/((a+1)(a+2)) + …: P(a, x) in units of the Poisson kernel (DLMF 8.7.1).
pub(crate) fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut divisor) = (1.0, 1.0, a);
    for _ in 0..MOST_TERMS {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if term <= sum * f64::EPSILON * 0.1 {
            break;
        }
    }
    sum
}

/// A continued fraction b0 + a1/(b1 + a2/(b2 + …)) by the modified Lentz method (DLMF 3.10.(iii)).
fn continued_fraction(first: f64, term: impl Fn(f64) -> (f64, f64)) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value == 0.0 { TINY } else { value };
    let mut value = guard(first);
    let (mut numerator, mut denominator, mut step) = (value, 0.0, 0.0);
    for _ in 0..MOST_TERMS {
        step += 1.0;
        let (a, b) = term(step);
        denominator = 1.0 / guard(b + a * denominator);
        numerator = guard(b + a / numerator);
        value *= numerator * denominator;
        if (numerator * denominator - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// The regularized incomplete gamma function: lower P(a, x), upper Q(a, x), for a > 0 and x ≥ 0.
///
/// Series below a + 1 (DLMF 8.7.1), continued fraction above (DLMF 8.9.2).
pub fn incomplete_gamma(a: f64, x: f64) -> Tails {
    if x <= 0.0 {
        return Tails::LEFT;
    }
    if x.is_infinite() {
        return Tails::RIGHT;
    }
    if x < a + 1.0 {
        return Tails::from_lower(poisson_kernel(a, x) * gamma_series(a, x));
    }
    let fraction =
        continued_fraction(x + 1.0 - a, |step| (step * (a - step), x + 1.0 - a + 2.0 * step));
    Tails::from_upper(poisson_kernel(a, x) * a / fraction)
}

/// `x^a y^b / B(a, b)` with y = 1 - x, by deviances from the mode (Loader, 2000).
fn beta_kernel(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let total = a + b;
    let corrections = stirling_error(total) - stirling_error(a) - stirling_error(b);
    // The smaller of x and y has the digits that the difference needs.
    let difference = if x < y { total * x - a } else { b - total * y };
    let surprise = deviance(a, total * x, difference) + deviance(b, total * y, -difference);
    (a * b / (TAU * total)).sqrt() * (corrections - surprise).exp()
}

/// The continued fraction of the incomplete beta function in units of its kernel, for x below the
/// mean.
///
/// The form of `DiDonato` and Morris (Algorithm 708, ACM TOMS 18(3), 1992), in which x near 1 does
/// not cancel.
fn beta_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let excess = a * y - b * x + 1.0;
    let partial = |n: f64| {
        let middle = n * (b - n) * x / (a + 2.0 * n - 1.0);
        n + middle + (a + n) * (excess + n * (2.0 - x)) / (a + 2.0 * n + 1.0)
    };
    let fraction = continued_fraction(a * excess / (a + 1.0), |n| {
        let growth = (a + n - 1.0) * (a + b + n - 1.0) * n * (b - n);
        (growth * (x / (a + 2.0 * n - 1.0)).powi(2), partial(n))
    });
    1.0 / fraction
}

/// The regularized incomplete beta function: lower `I_x(a, b)`, upper `I_y(b, a)`, for a, b > 0 and
/// y = 1 - x.
///
/// Both x and y are asked for, because the caller often knows the small one exactly.
pub fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> Tails {
    if x <= 0.0 {
        return Tails::LEFT;
    }
    if y <= 0.0 {
        return Tails::RIGHT;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return incomplete_beta(b, a, y, x).swapped();
    }
    Tails::from_lower(beta_kernel(a, b, x, y) * beta_fraction(a, b, x, y))
}
