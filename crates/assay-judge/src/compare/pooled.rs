//! One estimate of what was measured several times.

use crate::statistics;
use assay_model::Estimate;
use assay_model::number::{count_of, real_len};

/// The mean of repeats: its interval is the wider one of what they differ by and what each of them is uncertain by itself.
pub fn mean_of_repeats(found: &[Estimate]) -> Estimate {
    let n = real_len(found.len());
    let value = found.iter().map(|one| one.value).sum::<f64>() / n;
    // Of what has no upper end, the lower one says how uncertain it is at least.
    let half = |one: &Estimate| {
        if one.is_at_least() { one.value - one.low } else { 0.5 * (one.high - one.low) }
    };
    let is_at_least = found.iter().any(Estimate::is_at_least);
    let within = found.iter().map(|one| half(one).powi(2)).sum::<f64>().sqrt() / n;
    let values: Vec<f64> = found.iter().map(|one| one.value).collect();
    let between = statistics::of_repeats(&values).map_or(0.0, |one| half(&one));
    let reach = within.max(between);
    Estimate {
        value,
        low: value - reach,
        high: if is_at_least { f64::INFINITY } else { value + reach },
        confidence: 0.95,
        n: found.iter().map(|one| one.n).sum::<u64>().max(count_of(found.len())),
    }
}
