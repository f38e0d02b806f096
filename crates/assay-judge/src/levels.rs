//! Whether a run kept one level under one load, and which part of it tells the last one.

use crate::facts::Run;
use crate::series::Batch;
use crate::statistics::Statistics;
use assay_model::Estimate;
use assay_model::measurement::Operation;
use assay_model::number::{index, rate, real, real_len};
use assay_model::verdict::{Bias, Doubt, LevelChange};

/// The last level is judged by itself when it holds for at least this share of the run.
const SHARE_MIN: f64 = 0.25;
/// And for at least so many batches.
const BATCHES_MIN: usize = 10;
/// A run that changes its level more often than this has none.
const CHANGES_MAX: usize = 4;

/// The last change of level of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// Index of the first batch of the last level.
    pub(crate) from: usize,
    /// The same as a share of the run, 0..=1.
    pub(crate) from_share: f64,
    /// What it was.
    pub change: LevelChange,
}

impl Left {
    /// The last change of level in a run; `None` of one that kept its level, or is too short to tell.
    ///
    /// Looked for in the rate, and, where arrivals decide that, in the mean service time.
    pub fn of(run: Run<'_>, statistics: &dyn Statistics) -> Option<Self> {
        *run.series.left.get_or_init(|| find(run.series.batches(), statistics))
    }

    /// What a conclusion has to allow for: only a last level that did not settle mixes with the one before.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        (!self.change.settled).then(|| Doubt {
            what: format!(
                "the level changed {:.0} s into the run, from {:.0} to {:.0} I/Os a second and from {:.3} to {:.3} ms, and no level held for the last quarter",
                self.change.at_s,
                self.change.before_iops.value,
                self.change.after_iops.value,
                self.change.before_ns.value / 1e6,
                self.change.after_ns.value / 1e6
            ),
            bias: Bias::Unknown,
            remedy: "run until one level holds for a quarter of the time, or warm up for longer"
                .to_owned(),
        })
    }
}

fn find(batches: &[Batch], statistics: &dyn Statistics) -> Option<Left> {
    let rates: Vec<f64> =
        batches.iter().map(|batch| rate(batch.operations.ios(), batch.elapsed_s)).collect();
    let times: Vec<f64> = batches.iter().map(|batch| time_ns(batch).0 / time_ns(batch).1).collect();
    let (mut before, mut from, mut settled) = (0, 0, false);
    for _ in 0..CHANGES_MAX {
        let next = |series: &[f64]| {
            let whole = series.iter().all(|value| value.is_finite());
            whole.then(|| statistics.level_change(&series[from..])).flatten()
        };
        let Some(at) = next(&rates).or_else(|| next(&times)) else {
            settled = true;
            break;
        };
        (before, from) = (from, from + at);
    }
    if from == 0 {
        return None;
    }
    let needed = index(SHARE_MIN * real_len(batches.len())).max(BATCHES_MIN);
    let (left, kept) = (&batches[before..from], &batches[from..]);
    let iops = |range: std::ops::Range<usize>| level(&rates[range], statistics);
    Some(Left {
        from,
        from_share: real_len(from) / real_len(batches.len()),
        change: LevelChange {
            at_s: batches[..from].iter().map(|batch| batch.elapsed_s).sum(),
            before_iops: iops(before..from),
            after_iops: iops(from..batches.len()),
            before_ns: mean_ns(left, statistics),
            after_ns: mean_ns(kept, statistics),
            settled: settled && kept.len() >= needed,
        },
    })
}

fn level(rates: &[f64], statistics: &dyn Statistics) -> Estimate {
    let mean = rates.iter().sum::<f64>() / real_len(rates.len());
    statistics.mean(rates).unwrap_or_else(|| Estimate::exact(mean, 1))
}

fn mean_ns(batches: &[Batch], statistics: &dyn Statistics) -> Estimate {
    let (times, ios): (Vec<f64>, Vec<f64>) = batches.iter().map(time_ns).unzip();
    let mean = times.iter().sum::<f64>() / ios.iter().sum::<f64>().max(1.0);
    statistics.ratio(&times, &ios).unwrap_or_else(|| Estimate::exact(mean, 1))
}

/// Service time spent in reads and writes, ns, and their number.
fn time_ns(batch: &Batch) -> (f64, f64) {
    let results = [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| batch.operations.get(operation));
    results.fold((0.0, 0.0), |(time, ios), result| {
        let count = real(result.service.ios());
        (time + result.service.mean_ns() * count, ios + count)
    })
}
