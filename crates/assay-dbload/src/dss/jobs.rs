//! What is to be done for the tables, in an order that several sessions can work on: rows before indexes before
//! statistics, the largest first, and nobody idle while there is something to do.

use super::manifest::Manifest;
use assay_loads::dss::{Index, Part, Scale, TABLES, Table};
use assay_model::number::{count, real};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Make and send the rows of a part.
    Rows(Table, Part),
    /// Build the index of the primary key.
    Key(Table),
    /// Build another index.
    Index(Table, &'static Index),
    /// Gather statistics; `frozen` where rows were sent in one piece and need no second visit.
    Statistics {
        /// Of this table.
        table: Table,
        /// Whether its rows need no second visit.
        frozen: bool,
    },
}

/// How far a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Course {
    table: Table,
    parts: i32,
    /// Jobs of the present stage that are not done.
    left: usize,
    /// Whether its indexes are being built, and no rows sent.
    is_indexed: bool,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Job>,
    courses: Vec<Course>,
    running: usize,
    is_broken: bool,
}

/// Jobs that several threads take.
#[derive(Debug)]
pub(super) struct Jobs {
    state: Mutex<State>,
    changed: Condvar,
}

/// Into how many parts each table is cut for so many sessions: as many as its share of all bytes, so that all sessions
/// come to their end together. Small tables stay whole; a table in one piece needs no log.
pub(super) fn parts(scale: Scale, loaders: u32) -> Vec<(Table, i32)> {
    let all: u64 = TABLES.iter().map(|table| table.text_bytes(scale)).sum();
    let share = |table: Table| real(table.text_bytes(scale)) / real(all.max(1));
    let cut = |table: Table| {
        let parts = count((share(table) * f64::from(loaders)).round());
        // No part without rows.
        let most = table.rows(scale) / 1000;
        i32::try_from(parts.min(most).max(1)).unwrap_or(1)
    };
    TABLES.map(|table| (table, cut(table))).to_vec()
}

impl Jobs {
    /// Everything that is not done yet, by what the manifest says is there.
    pub(super) fn of(parts: &[(Table, i32)], done: &Manifest) -> Self {
        let mut state =
            State { waiting: VecDeque::new(), courses: Vec::new(), running: 0, is_broken: false };
        for (table, of) in parts.iter().copied() {
            let is_missing = |number: &i32| done.rows_of_part(table.name(), *number).is_none();
            let missing: Vec<Job> = (1..=of)
                .filter(is_missing)
                .map(|number| Job::Rows(table, Part { number, of }))
                .collect();
            let left = missing.len();
            state.courses.push(Course { table, parts: of, left, is_indexed: false });
            state.waiting.extend(missing);
            if left == 0 {
                state.next_stage(table);
            }
        }
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, waited for while others may still bring one; nothing when all is done or something broke.
    pub(super) fn take(&self) -> Option<Job> {
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
    pub(super) fn done(&self, job: Job) {
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

impl State {
    fn count_off(&mut self, job: Job) {
        let (Job::Rows(table, _) | Job::Key(table) | Job::Index(table, _)) = job else {
            return;
        };
        let course = self.courses.iter_mut().find(|course| course.table == table);
        let Some(course) = course else { return };
        course.left -= 1;
        if course.left == 0 {
            self.next_stage(table);
        }
    }

    /// All rows are there, or all indexes: what can be done now comes first, because it is part of the longest way.
    fn next_stage(&mut self, table: Table) {
        let course = self.courses.iter_mut().find(|course| course.table == table);
        let Some(course) = course else { return };
        if course.is_indexed {
            let frozen = course.parts == 1;
            self.waiting.push_front(Job::Statistics { table, frozen });
            return;
        }
        course.is_indexed = true;
        let indexes: Vec<Job> = table
            .indexes()
            .map(|index| Job::Index(table, index))
            .chain([Job::Key(table)])
            .collect();
        course.left = indexes.len();
        indexes.into_iter().rev().for_each(|job| self.waiting.push_front(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale() -> Scale {
        Scale::new(1.0).unwrap()
    }

    #[test]
    fn more_sessions_cut_large_tables_into_more_parts() {
        let of = |loaders, table| {
            let parts = parts(scale(), loaders);
            parts.iter().find(|(found, _)| *found == table).unwrap().1
        };
        assert_eq!((of(1, Table::LineItem), of(2, Table::LineItem)), (1, 1));
        assert_eq!((of(4, Table::LineItem), of(8, Table::LineItem)), (3, 6));
        assert_eq!((of(8, Table::Orders), of(64, Table::Region)), (1, 1));
    }

    #[test]
    fn everything_is_done_once_and_in_its_order() {
        let parts = parts(scale(), 8);
        let jobs = Jobs::of(&parts, &Manifest::default());
        let mut done = Vec::new();
        while let Some(job) = jobs.take() {
            done.push(job);
            jobs.done(job);
        }
        let place = |job: Job| done.iter().position(|found| *found == job).unwrap();
        for (table, of) in parts {
            let key = place(Job::Key(table));
            for number in 1..=of {
                assert!(place(Job::Rows(table, Part { number, of })) < key);
            }
            let statistics = place(Job::Statistics { table, frozen: of == 1 });
            assert!(key < statistics);
            for index in table.indexes() {
                assert!(place(Job::Index(table, index)) < statistics);
            }
        }
        // Six parts of lines and one of each other table; keys and statistics of all; six more indexes.
        assert_eq!(done.len(), 6 + 7 + 8 + 8 + 6);
    }

    #[test]
    fn what_broke_gives_no_more() {
        let jobs = Jobs::of(&parts(scale(), 2), &Manifest::default());
        assert!(jobs.take().is_some());
        jobs.break_off();
        assert_eq!(jobs.take(), None);
    }
}
