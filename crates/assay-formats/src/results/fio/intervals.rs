//! The operations of a log by interval, as a run.

use super::line::LogKind;
use crate::results::imported::{ImportedContent, ImportedResult, ImportedRun, Lack};
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, PerOperation,
};
use assay_model::number::{count_of, real, share};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Stream, Workload};

/// The operations of a log by intervals of one length.
pub struct LogIntervals {
    /// Length of an interval, ns.
    pub length_ns: u64,
    /// What happened in each.
    pub operations: Vec<PerOperation>,
    /// When the last line was written, ns.
    pub elapsed_ns: u64,
    /// When it began; 0 where the log does not say it.
    pub started_unix_ns: u64,
}

impl LogIntervals {
    /// The result of a log of this name.
    pub fn imported(&self, kind: LogKind, name: &str, lacks: Vec<Lack>) -> ImportedResult {
        let mut lacks = [kind.lacks(), lacks].concat();
        if self.started_unix_ns == 0 {
            lacks.push(Lack::Date);
        }
        let content = ImportedContent::Runs(vec![self.run(name)]);
        ImportedResult { program: "fio".to_owned(), name: name.to_owned(), content, lacks }
    }

    /// The intervals, of which a last one that is shorter than half of the others belongs to the one
    /// before it: rates of milliseconds say nothing.
    fn operations(&self) -> Vec<PerOperation> {
        let mut operations = self.operations.clone();
        let before_last_ns = count_of(operations.len().saturating_sub(1)) * self.length_ns;
        if operations.len() > 1
            && 2 * self.elapsed_ns.saturating_sub(before_last_ns) < self.length_ns
            && let Some(last) = operations.pop()
        {
            operations.last_mut().into_iter().for_each(|before| before.merge(&last));
        }
        operations
    }

    fn run(&self, name: &str) -> ImportedRun {
        let all = self.operations();
        let mut whole = PerOperation::default();
        for operations in &all {
            whole.merge(operations);
        }
        let (ios, bytes) = (whole.ios(), whole.bytes());
        let reads = whole.read.as_ref().map_or(0, |read| read.ios);
        let block_size = Bytes((bytes / ios.max(1)).clamp(512, 64 << 20));
        let stream = Stream::closed("log", Share(share(reads, ios)), block_size, 1);
        let busy_ns: f64 = whole.iter().map(|(_, one)| one.service.mean_ns() * real(one.ios)).sum();
        let queue_depth_mean = busy_ns / real(self.elapsed_ns);
        let measurement = Measurement {
            format: 1,
            workload: name.to_owned(),
            started_unix_ns: self.started_unix_ns,
            elapsed_ns: self.elapsed_ns,
            finish: Finish::Complete,
            streams: vec![NamedResult { name: "log".to_owned(), operations: whole }],
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: Conduct {
                backend: BackendKind::Fio,
                clock: ClockKind::Fio,
                queue_depth_mean,
                littles_law_ratio: 1.0,
                ..Conduct::default()
            },
        };
        let intervals = (0..).zip(&all).map(|(index, one)| {
            let is_last = index + 1 == count_of(all.len());
            self.interval(index, one, is_last)
        });
        ImportedRun {
            workload: Workload::of(name, Nanos(self.elapsed_ns), stream),
            measurement,
            intervals: intervals.collect(),
        }
    }

    fn interval(
        &self,
        index: u64,
        operations: &PerOperation,
        is_last: bool,
    ) -> (Interval, Vec<NamedResult>) {
        let start_ns = index * self.length_ns;
        let end_ns = if is_last { self.elapsed_ns } else { start_ns + self.length_ns };
        let interval = Interval {
            index,
            start_ns,
            end_ns: end_ns.max(start_ns + 1),
            operations: operations.coarsened(),
            queue_depth_mean: 0.0,
        };
        let stream = NamedResult { name: "log".to_owned(), operations: operations.clone() };
        (interval, vec![stream])
    }
}
