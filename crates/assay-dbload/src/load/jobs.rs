//! What is to be done for the tables of a load, in an order that several sessions can work on: rows
//! before indexes before statistics, the largest first, and nobody idle while there is something to
//! do.

use assay_loads::sink::TablePart;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// One thing to do; tables are named by their place in the list of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FillJob {
    /// Make and send the rows of a part.
    Rows(usize, TablePart),
    /// Build an index; by its place among those of the table.
    Index(usize, usize),
    /// Declare the primary key and gather statistics.
    Finish(usize),
}

/// A table that is to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableJobs {
    /// Parts that are missing.
    pub(super) missing: Vec<TablePart>,
    /// Indexes that are built after the rows.
    pub(super) indexes: usize,
}

/// How far a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FillStage {
    indexes: usize,
    /// Jobs of the present stage that are not done.
    left: usize,
    /// Whether all rows are there.
    has_rows: bool,
}

#[derive(Debug)]
struct FillState {
    waiting: VecDeque<FillJob>,
    stages: Vec<FillStage>,
    running: usize,
    is_broken: bool,
}

/// Jobs that several threads take.
#[derive(Debug)]
pub(super) struct Jobs {
    state: Mutex<FillState>,
    changed: Condvar,
}

impl Jobs {
    /// Everything that is to be done for these tables.
    pub(super) fn of(tables: Vec<TableJobs>) -> Self {
        let mut state = FillState {
            waiting: VecDeque::new(),
            stages: Vec::new(),
            running: 0,
            is_broken: false,
        };
        for (table, TableJobs { missing, indexes }) in tables.into_iter().enumerate() {
            state.stages.push(FillStage { indexes, left: missing.len(), has_rows: false });
            let is_loaded = missing.is_empty();
            state.waiting.extend(missing.into_iter().map(|part| FillJob::Rows(table, part)));
            if is_loaded {
                state.next_stage(table);
            }
        }
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, FillState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, waited for while others may still bring one; nothing when all is done or
    /// something broke.
    pub(super) fn take(&self) -> Option<FillJob> {
        let mut state = self.state();
        loop {
            if state.is_broken {
                return None;
            }
            if let Some(job) = state.waiting.pop_front() {
                state.running += 1;
                return Some(job);
            }
            if state.running == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A job that was taken is done.
    pub(super) fn done(&self, job: FillJob) {
        let mut state = self.state();
        state.running -= 1;
        state.count_off(job);
        drop(state);
        self.changed.notify_all();
    }

    /// A job failed: nobody takes another one.
    pub(super) fn break_off(&self) {
        let mut state = self.state();
        state.running -= 1;
        state.is_broken = true;
        drop(state);
        self.changed.notify_all();
    }
}

impl FillState {
    fn count_off(&mut self, job: FillJob) {
        let (FillJob::Rows(table, _) | FillJob::Index(table, _)) = job else {
            return;
        };
        self.stages[table].left -= 1;
        if self.stages[table].left == 0 {
            self.next_stage(table);
        }
    }

    /// All rows are there, or all indexes: what can be done now comes first, because it is part of
    /// the longest way.
    fn next_stage(&mut self, table: usize) {
        let stage = &mut self.stages[table];
        if stage.has_rows || stage.indexes == 0 {
            self.waiting.push_front(FillJob::Finish(table));
            return;
        }
        stage.has_rows = true;
        stage.left = stage.indexes;
        (0..stage.left)
            .rev()
            .for_each(|index| self.waiting.push_front(FillJob::Index(table, index)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first table in three parts with two indexes, the second in one part without any, the
    /// third loaded before.
    fn jobs() -> Jobs {
        let parts = |of: i32| (1..=of).map(|number| TablePart { number, of }).collect();
        Jobs::of(vec![
            TableJobs { missing: parts(3), indexes: 2 },
            TableJobs { missing: parts(1), indexes: 0 },
            TableJobs { missing: Vec::new(), indexes: 1 },
        ])
    }

    #[test]
    fn everything_is_done_once_and_in_its_order() {
        let jobs = jobs();
        let mut done = Vec::new();
        while let Some(job) = jobs.take() {
            done.push(job);
            jobs.done(job);
        }
        let place = |job: FillJob| done.iter().position(|found| *found == job).unwrap();
        for number in 1..=3 {
            assert!(
                place(FillJob::Rows(0, TablePart { number, of: 3 })) < place(FillJob::Index(0, 0))
            );
        }
        for index in [0, 1] {
            assert!(place(FillJob::Index(0, index)) < place(FillJob::Finish(0)));
        }
        assert!(place(FillJob::Rows(1, TablePart::WHOLE)) < place(FillJob::Finish(1)));
        assert!(place(FillJob::Index(2, 0)) < place(FillJob::Finish(2)));
        assert_eq!(done.len(), 4 + 3 + 3);
    }

    #[test]
    fn what_broke_gives_no_more() {
        let jobs = jobs();
        assert!(jobs.take().is_some());
        jobs.break_off();
        assert_eq!(jobs.take(), None);
    }
}
