//! One estimate of what was measured several times.

use crate::statistics;
use assay_model::Estimate;
use assay_model::number::{count_of, real_len};

/// The mean of repeats: its interval is the wider one of what they differ by and what each of them
/// is uncertain by itself.
pub fn mean_of_repeats(found: &[Estimate]) -> Estimate {
    let n = real_len(found.len());
    let value = found.iter().map(|one| one.value).sum::<f64>() / n;
    // Of what has no upper end, the lower one says how uncertain it is at least.
    let half = |one: &Estimate| {
        if one.is_at_least() { one.value - one.low } else { 0.5 * (one.high - one.low) }
    };
    let values: Vec<f64> = found.iter().map(|one| one.value).collect();
    let repeats = statistics::of_repeats(&values);
    // What repeats differ by is known also where no interval of each of them is.
    let known: Vec<Estimate> = found.iter().copied().filter(Estimate::has_interval).collect();
    if repeats.is_none() && known.is_empty() {
        return Estimate::without_interval(value, count_of(found.len()));
    }
    let is_at_least = known.iter().any(Estimate::is_at_least);
    let within = known.iter().map(|one| half(one).powi(2)).sum::<f64>().sqrt() / n;
    let between = repeats.map_or(0.0, |one| half(&one));
    let reach = within.max(between);
    Estimate {
        value,
        low: value - reach,
        high: if is_at_least { f64::INFINITY } else { value + reach },
        confidence: 0.95,
        n: found.iter().map(|one| one.n).sum::<u64>().max(count_of(found.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_intervals_get_one_by_what_their_repeats_differ_by() {
        let all = [90.0, 100.0, 110.0].map(|value| Estimate::without_interval(value, 1));
        assert!(!mean_of_repeats(&all[..1]).has_interval());
        let mean = mean_of_repeats(&all);
        // Student's t for 2 degrees of freedom, 4.303, times 10 / sqrt 3.
        assert!(mean.has_interval() && (mean.high - 124.84).abs() < 0.01, "{mean:?}");
    }
}
