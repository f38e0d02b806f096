//! A watch as a whole: sums of what was counted, extremes of what was seen.

use super::Moment;
use crate::number::{rate, real};
use serde::{Deserialize, Serialize};

/// What all samples of a stretch of time come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Samples that went into it.
    pub moments: u64,
    /// Of them taken so late that the machine must have had no CPU for it.
    pub late_moments: u64,
    /// The sum of all counters; gauges are those of the end.
    pub total: Moment,
    /// Tasks running or ready to run, mean of the samples.
    pub running_mean: f64,
    /// The most tasks running or ready to run.
    pub running_max: u64,
    /// Tasks blocked by I/O, mean of the samples.
    pub blocked_mean: f64,
    /// The most tasks blocked by I/O.
    pub blocked_max: u64,
    /// The least memory that was available, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_bytes_min: Option<u64>,
}

impl Summary {
    /// The sum of some samples in their order; `None` of none.
    pub fn of<'a>(moments: impl IntoIterator<Item = &'a Moment>) -> Option<Self> {
        moments.into_iter().fold(None, |so_far: Option<Self>, moment| {
            Some(match so_far {
                None => Self::begin(moment),
                Some(summary) => summary.and(moment),
            })
        })
    }

    /// A summary of one sample.
    pub fn begin(moment: &Moment) -> Self {
        Self::default().with(moment, moment.clone())
    }

    /// The summary with the next sample.
    pub fn and(self, moment: &Moment) -> Self {
        let total = self.total.plus(moment);
        self.with(moment, total)
    }

    /// The summary with one more sample.
    fn with(self, moment: &Moment, total: Moment) -> Self {
        let queue = moment.run_queue.unwrap_or_default();
        let (before, moments) = (real(self.moments), real(self.moments + 1));
        let mean = |mean: f64, seen: u64| (mean * before + real(seen)) / moments;
        let available = moment.counters.memory.map(|memory| memory.available_bytes);
        Self {
            moments: self.moments + 1,
            late_moments: self.late_moments + u64::from(moment.is_late()),
            total,
            running_mean: mean(self.running_mean, queue.running),
            running_max: self.running_max.max(queue.running),
            blocked_mean: mean(self.blocked_mean, queue.blocked),
            blocked_max: self.blocked_max.max(queue.blocked),
            available_bytes_min: match (self.available_bytes_min, available) {
                (Some(least), Some(now)) => Some(least.min(now)),
                (least, now) => least.or(now),
            },
        }
    }

    /// Length of all samples, s.
    pub fn elapsed_s(&self) -> f64 {
        self.total.elapsed_s()
    }

    /// CPU seconds that watching took in each second.
    pub fn watcher_cpu_share(&self) -> f64 {
        rate(self.total.watcher_cpu_ns, self.elapsed_s()) / 1e9
    }
}
