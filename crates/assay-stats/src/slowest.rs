//! The slowest of several: how long an operation takes that waits for all of its parts.

use assay_model::Histogram;
use assay_model::number::{real, real_len, share};

/// Mean time of the slowest of `parts` independent I/Os with the times of a histogram, in its unit
/// (ns).
///
/// E\[max\] is the area above H^k, where H is the law of one. Within a bucket times are taken as
/// its middle. `None` of nothing.
pub fn slowest_mean_ns(times: &Histogram, parts: u32) -> Option<f64> {
    let ios = times.ios();
    if ios == 0 || parts == 0 {
        return None;
    }
    let power = |share: f64| share.powf(f64::from(parts));
    let (mut below, mut mean_ns) = (0, 0.0);
    for (low_ns, width_ns, here) in times.buckets() {
        let middle_ns = real(low_ns) + 0.5 * real(width_ns);
        let (before, after) = (share(below, ios), share(below + here, ios));
        mean_ns += middle_ns * (power(after) - power(before));
        below += here;
    }
    Some(mean_ns)
}

/// The same over the mean of one, where times are exponential: 1 + 1/2 + … + 1/k.
pub fn exponential_ratio(parts: u32) -> f64 {
    (1..=parts).map(|part| 1.0 / f64::from(part)).sum()
}

/// Mean time of the slowest of `parts` values drawn from these, each as likely as any other; `None`
/// of nothing.
pub fn slowest_mean(sorted_values: &[f64], parts: u32) -> Option<f64> {
    let all = real_len(sorted_values.len());
    let power = |rank: usize| (real_len(rank) / all).powf(f64::from(parts));
    let weighted = sorted_values.iter().enumerate();
    let mean = weighted.map(|(rank, value)| value * (power(rank + 1) - power(rank))).sum();
    (!sorted_values.is_empty() && parts > 0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use assay_model::Precision;
    use assay_model::number::count;

    #[test]
    fn the_slowest_of_exponential_times_is_a_harmonic_number() {
        let mut random = Random::new(5);
        let mut times = Histogram::new(Precision::default());
        let mut values = Vec::new();
        for _ in 0..200_000 {
            let value = 1e6 * random.exponential();
            times.record(count(value));
            values.push(value);
        }
        values.sort_by(f64::total_cmp);
        for parts in [1, 2, 4, 16] {
            let expected = 1e6 * exponential_ratio(parts);
            let found = slowest_mean_ns(&times, parts).unwrap();
            let exact = slowest_mean(&values, parts).unwrap();
            assert!((found / expected - 1.0).abs() < 0.02, "{parts}: {found} {expected}");
            assert!((found / exact - 1.0).abs() < 0.005, "{parts}: {found} {exact}");
        }
        assert_eq!(slowest_mean_ns(&Histogram::new(Precision::default()), 2), None);
        assert_eq!(slowest_mean(&[], 2), None);
    }
}
