//! Everything that is known of a measurement while it lasts, in a bounded amount of memory.

use crate::point::{HostPoint, MonitorPoint};
use assay_model::measurement::{Interval, PerOperation};
use assay_model::number::{count_of, seconds};
use assay_model::watch::Moment;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Points that are kept: an hour of seconds.
pub(crate) const POINTS_MAX: usize = 3600;
/// Notes that are kept; a run that says more repeats itself.
const NOTES_MAX: usize = 200;

/// The state.
#[derive(Clone, Debug, Default)]
pub struct MonitorState {
    /// The program and its version.
    pub(crate) program: String,
    /// What is measured, and where.
    pub(crate) subject: String,
    /// Directory of the run.
    pub(crate) directory: Option<PathBuf>,
    /// Where the page is found, where it is served: for the owner of the terminal, never on the
    /// page.
    pub(crate) page: Option<String>,
    /// What is being done, in a few words; empty between two parts.
    pub(crate) doing: String,
    /// The share that is done, 0..=1.
    pub(crate) share: f64,
    /// The time left, s, where it is known.
    pub(crate) left_s: Option<f64>,
    /// The last intervals.
    pub(crate) points: VecDeque<MonitorPoint>,
    /// Intervals so far, also those whose points are gone.
    pub(crate) taken: u64,
    /// All intervals so far, with coarse histograms.
    pub(crate) totals: PerOperation,
    /// Time-weighted mean of the outstanding I/Os in the last interval.
    pub(crate) queue_depth_mean: f64,
    /// Measured time so far, ns.
    pub(crate) measured_ns: u64,
    /// Measured time of the cells before this one, ns.
    pub(crate) before_ns: u64,
    /// Where the last interval ended in its cell, ns.
    pub(crate) last_end_ns: u64,
    /// The host, where it is sampled.
    pub(crate) host: Option<HostPoint>,
    /// What was said and stays.
    pub(crate) notes: VecDeque<String>,
    /// Notes so far, also those that are gone.
    pub(crate) noted: u64,
    /// Whether the run has ended.
    pub(crate) has_ended: bool,
}

impl MonitorState {
    /// A run was begun in the store. What an earlier one of the same command counted stays:
    /// counters only grow.
    pub(crate) fn begin(&mut self, directory: &Path, subject: &str) {
        subject.clone_into(&mut self.subject);
        self.directory = Some(directory.to_owned());
        self.before_ns = self.measured_ns;
        self.last_end_ns = 0;
        self.idle();
    }

    pub(crate) fn show(&mut self, doing: &str, share: f64, left_s: Option<f64>) {
        doing.clone_into(&mut self.doing);
        self.share = share.clamp(0.0, 1.0);
        self.left_s = left_s;
    }

    pub(crate) fn idle(&mut self) {
        self.doing.clear();
        self.left_s = None;
    }

    pub(crate) fn note(&mut self, words: &str) {
        self.notes.push_back(words.to_owned());
        self.noted += 1;
        while self.notes.len() > NOTES_MAX {
            self.notes.pop_front();
        }
    }

    /// Takes an interval in; one that begins before the last one ended belongs to another cell.
    pub(crate) fn take(&mut self, interval: &Interval) {
        if interval.start_ns < self.last_end_ns {
            self.before_ns = self.measured_ns;
        }
        self.last_end_ns = interval.end_ns;
        self.measured_ns = self.before_ns.saturating_add(interval.end_ns);
        self.totals.merge(&interval.operations.coarsened());
        self.queue_depth_mean = interval.queue_depth_mean;
        self.points.push_back(MonitorPoint::of(interval, seconds(self.measured_ns), self.host));
        self.taken += 1;
        while self.points.len() > POINTS_MAX {
            self.points.pop_front();
        }
    }

    pub(crate) fn sample(&mut self, moment: &Moment) {
        self.host = Some(HostPoint::of(moment));
    }

    /// Notes so far.
    pub const fn said(&self) -> u64 {
        self.noted
    }

    /// The notes behind the first `seen` ones, as far as they are kept.
    pub fn said_after(&self, seen: u64) -> Vec<String> {
        self.notes_after(seen).cloned().collect()
    }

    /// The points behind the first `seen` ones of the run, as far as they are kept.
    pub(crate) fn points_after(&self, seen: u64) -> impl Iterator<Item = &MonitorPoint> {
        behind(&self.points, self.taken, seen)
    }

    /// The notes behind the first `seen` ones of the run, as far as they are kept.
    pub(crate) fn notes_after(&self, seen: u64) -> impl Iterator<Item = &String> {
        behind(&self.notes, self.noted, seen)
    }
}

/// The last of `all` things that were not seen yet.
fn behind<T>(kept: &VecDeque<T>, all: u64, seen: u64) -> impl Iterator<Item = &T> {
    let new = assay_model::number::index_of(all.saturating_sub(seen).min(count_of(kept.len())));
    kept.iter().skip(kept.len() - new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::histogram::Precision;
    use assay_model::measurement::OperationResult;

    /// A second in which that many reads of 1 ms and 4 KiB ended.
    pub(crate) fn second(index: u64, ios: u64) -> Interval {
        let mut read = OperationResult::empty(Precision::Fine, false);
        (read.ios, read.bytes) = (ios, ios * 4096);
        read.service.record_many(1_000_000, ios);
        Interval {
            index,
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            operations: PerOperation { read: Some(read), ..PerOperation::default() },
            queue_depth_mean: 8.0,
        }
    }

    #[test]
    fn cells_follow_one_another_in_measured_time() {
        let mut state = MonitorState::default();
        for cell in 0..3 {
            (0..2).for_each(|index| state.take(&second(index, 100 + cell)));
        }
        let ends: Vec<f64> = state.points.iter().map(|point| point.at_s).collect();
        assert_eq!(ends, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((state.points[5].iops() - 102.0).abs() < 1e-9);
        assert_eq!(state.totals.ios(), 2 * (100 + 101 + 102));
    }

    #[test]
    fn memory_is_bounded_and_totals_are_not_cut() {
        let mut state = MonitorState::default();
        for index in 0..10_000 {
            state.take(&second(index, 1));
            state.note("said");
        }
        assert_eq!((state.points.len(), state.notes.len()), (POINTS_MAX, NOTES_MAX));
        assert_eq!((state.totals.ios(), state.taken), (10_000, 10_000));
        assert_eq!(state.points_after(9_990).count(), 10);
        assert_eq!(state.points_after(0).count(), POINTS_MAX);
        assert_eq!(state.points_after(10_000).count(), 0);
        assert_eq!(state.notes_after(9_999).count(), 1);
    }

    #[test]
    fn a_second_run_follows_the_first_one_in_time() {
        let mut state = MonitorState::default();
        state.begin(Path::new("/runs/a"), "run of a");
        state.take(&second(0, 5));
        state.note("old");
        state.begin(Path::new("/runs/b"), "run of b");
        state.take(&second(0, 5));
        let ends: Vec<f64> = state.points.iter().map(|point| point.at_s).collect();
        assert_eq!(ends, [1.0, 2.0]);
        assert_eq!((state.taken, state.noted, state.totals.ios()), (2, 1, 10));
        assert_eq!((state.subject.as_str(), state.directory), ("run of b", Some("/runs/b".into())));
    }
}
