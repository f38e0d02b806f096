//! One interval in numbers: what every interval of a run keeps, however long the run is.

use crate::histogram::Histogram;
use crate::measurement::{Interval, Operation, OperationResult, PerOperation};
use crate::number::{rate, seconds};
use serde::{Deserialize, Serialize};

/// One interval: counts, and times by their quantiles, all streams together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IntervalSummary {
    /// Number of the interval, from 0.
    pub index: u64,
    /// Begin, ns after the measured time began.
    pub start_ns: u64,
    /// End, ns after the measured time began.
    pub end_ns: u64,
    /// Time-weighted mean of the outstanding I/Os.
    #[serde(alias = "outstanding_mean")]
    pub queue_depth_mean: f64,
    /// Reads, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<OperationSummary>,
    /// Writes, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<OperationSummary>,
    /// Syncs, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<OperationSummary>,
}

/// Completed I/Os of one operation in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OperationSummary {
    /// I/Os completed without error.
    pub ios: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// I/Os that failed.
    #[serde(default)]
    pub errors: u64,
    /// Submission to completion.
    pub service: TimeSummary,
    /// Intended start to completion; only where arrivals are open, else it equals the service
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<TimeSummary>,
}

/// A histogram of times by its mean, its ends and four quantiles, ns; all 0 when nothing was
/// counted.
///
/// Quantiles have the precision of the histogram they were read from; they cannot be averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeSummary {
    /// Mean, ns.
    pub mean_ns: f64,
    /// Smallest, ns.
    pub min_ns: u64,
    /// Quantile 0.5, ns.
    pub q50_ns: u64,
    /// Quantile 0.9, ns.
    pub q90_ns: u64,
    /// Quantile 0.99, ns.
    pub q99_ns: u64,
    /// Quantile 0.999, ns.
    pub q999_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
}

impl TimeSummary {
    /// The numbers of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        Self {
            mean_ns: histogram.mean_ns(),
            min_ns: histogram.min_ns(),
            q50_ns: histogram.quantile_ns(0.5),
            q90_ns: histogram.quantile_ns(0.9),
            q99_ns: histogram.quantile_ns(0.99),
            q999_ns: histogram.quantile_ns(0.999),
            max_ns: histogram.max_ns(),
        }
    }
}

impl OperationSummary {
    /// The numbers of a result.
    pub fn of(result: &OperationResult) -> Self {
        Self {
            ios: result.ios,
            bytes: result.bytes,
            errors: result.errors,
            service: TimeSummary::of(&result.service),
            response: result.response.as_ref().map(TimeSummary::of),
        }
    }

    /// Response times: intended start to completion where arrivals were open, else the service
    /// times.
    pub fn response(&self) -> &TimeSummary {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

impl IntervalSummary {
    /// The numbers of an interval.
    pub fn of(interval: &Interval) -> Self {
        Self {
            index: interval.index,
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            queue_depth_mean: interval.queue_depth_mean,
            ..Self::default()
        }
        .with_operations(&interval.operations)
    }

    /// The same interval in the numbers of other histograms, for example finer ones.
    pub fn with_operations(&self, operations: &PerOperation) -> Self {
        let one = |operation| operations.get(operation).map(OperationSummary::of);
        Self {
            read: one(Operation::Read),
            write: one(Operation::Write),
            sync: one(Operation::Sync),
            ..*self
        }
    }

    /// The numbers of one operation, if there was any.
    pub const fn get(&self, operation: Operation) -> Option<&OperationSummary> {
        match operation {
            Operation::Read => self.read.as_ref(),
            Operation::Write => self.write.as_ref(),
            Operation::Sync => self.sync.as_ref(),
        }
    }

    /// Length, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.end_ns.saturating_sub(self.start_ns))
    }

    /// Reads and writes completed; syncs move no data and are not counted.
    pub fn ios(&self) -> u64 {
        let transfers = [&self.read, &self.write].into_iter().flatten();
        transfers.map(|summary| summary.ios).sum()
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        let transfers = [&self.read, &self.write].into_iter().flatten();
        transfers.map(|summary| summary.bytes).sum()
    }

    /// Reads and writes completed a second.
    pub fn iops(&self) -> f64 {
        rate(self.ios(), self.elapsed_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Precision;

    #[test]
    fn numbers_of_an_interval_are_those_of_its_histograms() {
        let mut read = OperationResult::empty(Precision::Fine, true);
        for time_ns in 1..=1000 {
            read.ios += 1;
            read.bytes += 4096;
            read.service.record(time_ns);
            read.response = read.response.map(|mut response| {
                response.record(2 * time_ns);
                response
            });
        }
        let interval = Interval {
            index: 7,
            end_ns: 500_000_000,
            operations: PerOperation { read: Some(read), ..PerOperation::default() },
            ..Interval::default()
        };
        let summary = IntervalSummary::of(&interval);
        let service = summary.read.unwrap().service;
        let found = [
            service.min_ns,
            service.q50_ns,
            service.q90_ns,
            service.q99_ns,
            service.q999_ns,
            service.max_ns,
        ];
        assert_eq!(found, [1, 500, 900, 990, 999, 1000]);
        assert!((service.mean_ns - 500.5).abs() < 1e-9 && (summary.iops() - 2000.0).abs() < 1e-9);
        assert_eq!(summary.read.unwrap().response().max_ns, 2000);
        assert_eq!((summary.index, summary.bytes()), (7, 4_096_000));
        assert!(summary.write.is_none() && summary.sync.is_none());
    }

    #[test]
    fn an_operation_without_open_arrivals_responds_as_it_serves() {
        let closed = OperationResult::empty(Precision::Fine, false);
        let summary = OperationSummary::of(&closed);
        assert_eq!((summary.response, *summary.response()), (None, TimeSummary::default()));
    }
}
