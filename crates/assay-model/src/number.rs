//! The only conversions between integers and floating point: each states what it gives up.

/// A count as a real number; exact up to 2^53, beyond that rounded to the nearest representable.
#[allow(clippy::cast_precision_loss, reason = "the one place where counts become real numbers")]
pub const fn real(count: u64) -> f64 {
    count as f64
}

/// A length or index as a real number; exact up to 2^53.
#[allow(clippy::cast_precision_loss, reason = "the one place where lengths become real numbers")]
pub const fn real_len(length: usize) -> f64 {
    length as f64
}

/// A real number as a count: rounded to nearest, negative and NaN become 0, too large saturates.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is the contract here"
)]
#[inline]
pub fn count(value: f64) -> u64 {
    // `f64::round` is a call into the C library on processors without an instruction for it, and
    // this is asked at every simulated I/O. What is left beyond the whole part is exact, and
    // NaN is no half or more.
    let whole = value as u64;
    whole.saturating_add(u64::from(value - real(whole) >= 0.5))
}

/// A real number as an index: rounded down, negative and NaN become 0, too large saturates.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is the contract here"
)]
#[inline]
pub const fn index(value: f64) -> usize {
    // `as` cuts off what is behind the point, which rounds down all that is not negative.
    value as usize
}

/// A 64-bit count as an index, saturating where `usize` is narrower.
pub fn index_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// An index as a 64-bit count.
pub fn count_of(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX)
}

/// A 128-bit sum as a real number, rounded to the nearest representable.
#[allow(clippy::cast_precision_loss, reason = "the one place where wide sums become real numbers")]
pub const fn wide_real(sum: u128) -> f64 {
    sum as f64
}

/// A real number as a 128-bit sum: rounded to nearest, negative and NaN become 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is the contract here"
)]
pub fn wide_count(value: f64) -> u128 {
    value.round() as u128
}

/// Splits a 128-bit intermediate back into 64 bits, saturating.
pub fn narrow(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}

/// `count / elapsed_s`, or 0 when no time has passed: a rate in events per second.
pub fn rate(count: u64, elapsed_s: f64) -> f64 {
    if elapsed_s > 0.0 { real(count) / elapsed_s } else { 0.0 }
}

/// `part / whole`, or 0 of nothing: a share in 0..=1 when part ≤ whole.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { real(part) / real(whole) }
}

/// Nanoseconds as seconds.
pub fn seconds(time_ns: u64) -> f64 {
    real(time_ns) / 1e9
}

/// Seconds as whole nanoseconds, saturating.
pub fn nanoseconds(time_s: f64) -> u64 {
    count(time_s * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_saturate_instead_of_wrapping() {
        assert_eq!(count(-1.0), 0);
        assert_eq!(count(f64::NAN), 0);
        assert_eq!(count(1e300), u64::MAX);
        assert_eq!(index(2.9), 2);
        assert_eq!(narrow(u128::MAX), u64::MAX);
    }

    #[test]
    fn counts_are_rounded_as_the_library_rounds() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the oracle")]
        let expected = |value: f64| value.round() as u64;
        // Weyl's sequence of odd steps meets every pattern of bits once.
        let bits = |step: u64| step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let edges = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 0.499_999_999_999_999_94, f64::INFINITY];
        let large = [52, 53, 63, 64, 65].map(|power| 2f64.powi(power));
        let halves = [52, 53, 54].map(|power| 2f64.powi(power) / 2.0 + 0.5);
        let drawn: Vec<f64> = (0..100_000)
            .map(|step| f64::from_bits(bits(step)))
            .chain((0..1000).map(|half| real(half) / 2.0))
            .collect();
        for value in edges.into_iter().chain(large).chain(halves).chain(drawn) {
            assert_eq!(count(value), expected(value), "{value}");
        }
    }

    #[test]
    fn nothing_divided_by_nothing_is_zero() {
        assert!(rate(5, 0.0).abs() < f64::EPSILON);
        assert!(share(0, 0).abs() < f64::EPSILON);
    }
}
