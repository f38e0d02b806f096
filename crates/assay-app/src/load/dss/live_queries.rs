//! Queries and refreshes of a run for those who look on: what ended since the last second, as an
//! interval.

use assay_model::dss::{DssOutcome, DssQuery};
use assay_model::histogram::Precision;
use assay_model::measurement::{Interval, OperationResult, PerOperation};
use assay_model::number::narrow;
use std::time::Duration;

/// The shortest interval, ns.
const SECOND_NS: u64 = 1_000_000_000;

/// What ended since the last interval; queries are reads, refreshes are writes.
#[derive(Debug)]
pub struct LiveQueries {
    streams: u32,
    index: u64,
    start_ns: u64,
    reads: OperationResult,
    writes: Option<OperationResult>,
}

impl LiveQueries {
    /// Nothing has ended yet.
    pub fn new(streams: u32) -> Self {
        Self { streams, index: 0, start_ns: 0, reads: nothing(), writes: None }
    }

    /// A query or a refresh has ended.
    pub fn take(&mut self, query: &DssQuery) {
        let result = if query.is_query() {
            &mut self.reads
        } else {
            self.writes.get_or_insert_with(nothing)
        };
        match query.outcome {
            DssOutcome::Complete => {
                result.ios += 1;
                result.service.record(query.elapsed_ns);
            }
            DssOutcome::OverLimit | DssOutcome::Failed { .. } => result.errors += 1,
        }
    }

    /// The interval that has ended, where a second of the run or more has passed.
    pub fn interval(&mut self, passed: Duration) -> Option<Interval> {
        let end_ns = narrow(passed.as_nanos());
        if end_ns < self.start_ns.saturating_add(SECOND_NS) {
            return None;
        }
        let read = Some(std::mem::replace(&mut self.reads, nothing()));
        let write = self.writes.as_mut().map(|writes| std::mem::replace(writes, nothing()));
        let interval = Interval {
            index: self.index,
            start_ns: self.start_ns,
            end_ns,
            operations: PerOperation { read, write, sync: None },
            queue_depth_mean: f64::from(self.streams),
        };
        (self.index, self.start_ns) = (self.index + 1, end_ns);
        Some(interval)
    }
}

fn nothing() -> OperationResult {
    OperationResult::empty(Precision::Coarse, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: &str, outcome: DssOutcome) -> DssQuery {
        DssQuery {
            stream: None,
            name: name.to_owned(),
            started_ns: 0,
            elapsed_ns: 500_000_000,
            rows: 1,
            outcome,
        }
    }

    #[test]
    fn every_query_is_in_one_interval_and_silence_is_an_interval_too() {
        let mut live = LiveQueries::new(4);
        live.take(&ended("Q1", DssOutcome::Complete));
        assert_eq!(live.interval(Duration::from_millis(900)), None);
        live.take(&ended("Q2", DssOutcome::OverLimit));
        let first = live.interval(Duration::from_millis(1500)).unwrap();
        let read = first.operations.read.unwrap();
        assert_eq!((read.ios, read.errors, first.operations.write), (1, 1, None));
        assert_eq!(read.service.ios(), 1);
        live.take(&ended("RF1", DssOutcome::Complete));
        let second = live.interval(Duration::from_millis(2500)).unwrap();
        assert_eq!(
            (second.index, second.start_ns, second.end_ns),
            (1, 1_500_000_000, 2_500_000_000)
        );
        assert_eq!(second.operations.ios(), 1);
        let third = live.interval(Duration::from_millis(3600)).unwrap();
        assert_eq!(third.operations.ios(), 0);
        assert!(third.operations.write.is_some());
    }
}
