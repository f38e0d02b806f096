//! Whether a run kept one level under one load, and which part of it shows the last one.

use crate::facts::JudgedRun;
use crate::last_change::LastChange;
use crate::series::SeriesBatch;
use crate::statistics;
use assay_model::Estimate;
use assay_model::measurement::Operation;
use assay_model::number::{index, rate, real, real_len};
use assay_model::verdict::LevelChange;
use assay_stats::series;

/// The last level is judged by itself when it holds for at least this share of the run.
const SHARE_MIN: f64 = 0.25;
/// And for at least this number of batches.
const BATCHES_MIN: usize = 10;
/// A run that changes its level more often than this has none.
const CHANGES_MAX: usize = 4;

/// The last change of level in a run; `None` of one that kept its level, or is too short to tell.
///
/// Looked for in the rate, and, where arrivals decide that, in the mean service time.
pub fn last_change(run: JudgedRun<'_>) -> Option<LastChange> {
    *run.series.last_change.get_or_init(|| find(run.series.batches()))
}

fn find(batches: &[SeriesBatch]) -> Option<LastChange> {
    let rates: Vec<f64> =
        batches.iter().map(|batch| rate(batch.operations.ios(), batch.elapsed_s)).collect();
    let times: Vec<f64> = batches.iter().map(|batch| time_ns(batch).0 / time_ns(batch).1).collect();
    let (mut before, mut from, mut settled) = (0, 0, false);
    for _ in 0..CHANGES_MAX {
        let next = |series: &[f64]| {
            let whole = series.iter().all(|value| value.is_finite());
            whole.then(|| statistics::level_change(&series[from..])).flatten()
        };
        let Some(at) = next(&rates).or_else(|| next(&times)) else {
            settled = true;
            break;
        };
        (before, from) = (from, from + at);
    }
    if settled && from == 0 {
        from = early_step(&rates, batches).unwrap_or(0);
    }
    if settled && let Some(at) = late_step(&rates[from..], batches) {
        (before, from, settled) = (from, from + at, false);
    }
    if from == 0 {
        return None;
    }
    let needed = index(SHARE_MIN * real_len(batches.len())).max(BATCHES_MIN);
    let (left, kept) = (&batches[before..from], &batches[from..]);
    let batch_s = batches.first().map_or(1.0, |batch| batch.elapsed_s);
    let iops = |range: std::ops::Range<usize>| level(&rates[range], batch_s);
    Some(LastChange {
        from,
        from_share: real_len(from) / real_len(batches.len()),
        change: LevelChange {
            at_s: batches[..from].iter().map(|batch| batch.elapsed_s).sum(),
            before_iops: iops(before..from),
            after_iops: iops(from..batches.len()),
            before_ns: mean_ns(left, batch_s),
            after_ns: mean_ns(kept, batch_s),
            settled: settled && kept.len() >= needed,
        },
    })
}

/// Where the first seconds end that lie apart from all after them: a cache or a cold start that is
/// over too soon to be a level.
fn early_step(rates: &[f64], batches: &[SeriesBatch]) -> Option<usize> {
    let backwards: Vec<f64> = rates.iter().rev().copied().collect();
    late_step(&backwards, batches).map(|at| rates.len() - at)
}

/// Where the last seconds lie apart from all before them: too few for a level of their own, and too
/// many for a pause.
fn late_step(rates: &[f64], batches: &[SeriesBatch]) -> Option<usize> {
    const LEAST_S: f64 = 2.0;
    const APART: f64 = 0.1;
    const DEVIATIONS: f64 = 6.0;
    let batch_s = batches.first().map_or(1.0, |batch| batch.elapsed_s);
    let shortest = index((LEAST_S / batch_s.max(f64::MIN_POSITIVE)).ceil());
    let longest = rates.len() / 10;
    (shortest..=longest.max(shortest)).rev().find_map(|last| {
        let at = rates.len().checked_sub(last).filter(|at| *at > last)?;
        let (kept, end) = rates.split_at(at);
        let (level, spread) = (series::mean(kept), series::variance(kept).sqrt());
        let gap = (APART * level).max(DEVIATIONS * spread);
        let is_below = end.iter().all(|rate| *rate < level - gap);
        let is_above = end.iter().all(|rate| *rate > level + gap);
        (is_below || is_above).then_some(at)
    })
}

fn level(rates: &[f64], batch_s: f64) -> Estimate {
    let mean = rates.iter().sum::<f64>() / real_len(rates.len());
    statistics::mean(rates, batch_s).unwrap_or_else(|_| Estimate::without_interval(mean, 1))
}

fn mean_ns(batches: &[SeriesBatch], batch_s: f64) -> Estimate {
    let (times, ios): (Vec<f64>, Vec<f64>) = batches.iter().map(time_ns).unzip();
    let mean = times.iter().sum::<f64>() / ios.iter().sum::<f64>().max(1.0);
    statistics::ratio(&times, &ios, batch_s).unwrap_or_else(|_| Estimate::without_interval(mean, 1))
}

/// Service time spent in reads and writes, ns, and their number.
fn time_ns(batch: &SeriesBatch) -> (f64, f64) {
    let results = [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| batch.operations.get(operation));
    results.fold((0.0, 0.0), |(time, ios), result| {
        let count = real(result.service.ios());
        (time + result.service.mean_ns() * count, ios + count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::{OperationResult, PerOperation};
    use assay_model::number::count;

    fn batches(rates: &[f64]) -> Vec<SeriesBatch> {
        rates.iter().map(|_| SeriesBatch { elapsed_s: 1.0, ..SeriesBatch::default() }).collect()
    }

    fn late(rates: &[f64]) -> Option<usize> {
        late_step(rates, &batches(rates))
    }

    #[test]
    fn the_last_seconds_of_a_run_may_be_another_level() {
        let noisy =
            |level: f64, at: usize| level * (1.0 + 0.02 * (real_len(at * 7 % 11) / 5.0 - 1.0));
        let run = |end: &[f64]| -> Vec<f64> {
            let kept = (0..60 - end.len()).map(|at| noisy(8000.0, at));
            kept.chain(end.iter().copied()).collect()
        };
        assert_eq!(late(&run(&[2900.0, 2900.0, 2900.0])), Some(57));
        assert_eq!(late(&run(&[12_000.0, 12_100.0])), Some(58));
        for steady in [&[][..], &[2900.0], &[7900.0, 7800.0, 8100.0], &[2900.0, 8000.0]] {
            assert_eq!(late(&run(steady)), None, "{steady:?}");
        }
        assert_eq!(late(&[8000.0, 2900.0, 2900.0]), None);
    }

    #[test]
    fn a_fast_phase_of_a_few_seconds_is_left_out() {
        let run = |begin: &[f64], batch_s: f64| -> Option<(usize, bool)> {
            let later = (begin.len()..60).map(|at| 6100.0 + real_len(at * 7 % 11));
            let batch = |rate: f64| SeriesBatch {
                elapsed_s: batch_s,
                operations: PerOperation {
                    read: Some(OperationResult {
                        ios: count(rate * batch_s),
                        ..OperationResult::default()
                    }),
                    ..PerOperation::default()
                },
            };
            let found = find(&begin.iter().copied().chain(later).map(batch).collect::<Vec<_>>());
            found.map(|found| (found.from, found.change.settled))
        };
        assert_eq!(run(&[137_000.0, 137_000.0], 1.0), Some((2, true)));
        assert_eq!(run(&[1500.0, 1500.0, 1600.0], 1.0), Some((3, true)));
        assert_eq!(run(&[40_000.0], 30.0), Some((1, true)));
        assert_eq!(run(&[40_000.0], 1.0), None);
        assert_eq!(run(&[], 1.0), None);
    }
}
