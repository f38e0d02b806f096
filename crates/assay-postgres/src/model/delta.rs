//! Two snapshots: what was counted between them, and what makes that doubtful.

use super::snapshot::{BackendSession, DatabaseRow, IoKey, IoRow, LogCounters, PostgresSnapshot};
use assay_model::{Error, Result};
use std::collections::BTreeMap;

/// Two snapshots of one server.
#[derive(Debug)]
pub struct PostgresDelta<'a> {
    pub(super) before: &'a PostgresSnapshot,
    pub(super) after: &'a PostgresSnapshot,
    /// Length of the interval by a clock that never jumps, seconds.
    pub(super) elapsed_s: f64,
}

impl<'a> PostgresDelta<'a> {
    /// Two snapshots and the time between them.
    ///
    /// # Errors
    /// An environment error when the server was restarted in between: its counters say nothing
    /// then.
    pub fn of(
        before: &'a PostgresSnapshot,
        after: &'a PostgresSnapshot,
        elapsed_s: f64,
    ) -> Result<Self> {
        let moved_s = (after.settings.started_s - before.settings.started_s).abs();
        if moved_s > 1.0 || before.version != after.version {
            return Err(Error::environment(
                "the server was restarted during the interval: its counters were reset",
                "profile it again without a restart",
            ));
        }
        Ok(Self { before, after, elapsed_s })
    }

    /// A counter of all databases together; one that was set to zero meanwhile counts from there.
    pub(super) fn sum(&self, of: fn(&DatabaseRow) -> u64) -> u64 {
        let of_one = |(name, after): (&String, &DatabaseRow)| {
            let before = self.before.databases.get(name).map_or(0, of);
            of(after).saturating_sub(if self.was_reset(name) { 0 } else { before })
        };
        self.after.databases.iter().map(of_one).sum()
    }

    /// The same for a time, seconds.
    pub(super) fn time_s(&self, of: fn(&DatabaseRow) -> f64) -> f64 {
        let of_one = |(name, after): (&String, &DatabaseRow)| {
            let before = self.before.databases.get(name).map_or(0.0, of);
            let before = if self.was_reset(name) { 0.0 } else { before };
            (of(after) - before).max(0.0)
        };
        self.after.databases.iter().map(of_one).sum()
    }

    /// Transactions, without those of Assay's sessions.
    pub(super) fn transactions(&self) -> u64 {
        let all = self.sum(|database| database.commits) + self.sum(|database| database.rollbacks);
        let own = |snapshot: &PostgresSnapshot| snapshot.own_statements.values().sum::<u64>();
        all.saturating_sub(own(self.after).saturating_sub(own(self.before)))
    }

    /// Time that our own sessions were active, seconds.
    pub(super) fn own_time_s(&self) -> f64 {
        let own = |snapshot: &PostgresSnapshot| snapshot.own_time_s.values().sum::<f64>();
        own(self.after) - own(self.before)
    }

    fn was_reset(&self, name: &str) -> bool {
        let reset =
            |snapshot: &PostgresSnapshot| snapshot.databases.get(name).and_then(|one| one.reset_s);
        reset(self.after) != reset(self.before)
    }

    /// DB time: what the server added up, without our own sessions, and what it had not added up
    /// yet at both ends.
    ///
    /// A session's time is added up when its statement ends, and reaches the counters with its next
    /// one; see [`unflushed_s`].
    pub(super) fn db_time_s(&self) -> f64 {
        let names = self.after.databases.keys();
        let counted = names.map(|name| {
            let of = |snapshot: &PostgresSnapshot| {
                snapshot.databases.get(name).map(|one| one.active_time_s)
            };
            let before = of(self.before).filter(|_| !self.was_reset(name));
            let all_s = of(self.after).unwrap_or(0.0) - before.unwrap_or(0.0);
            let own = |snapshot: &PostgresSnapshot| snapshot.own_time_s.get(name).copied();
            let own_s = own(self.after).unwrap_or(0.0) - own(self.before).unwrap_or(0.0);
            (all_s - own_s).max(0.0)
        });
        let counted_s: f64 = counted.sum();
        (counted_s + unflushed_s(self.after) - unflushed_s(self.before)).max(0.0)
    }

    /// How far the server's clock was set in the interval, seconds: its own way less that of a
    /// clock that never jumps. `None` where the two agree within what the snapshots take.
    pub(super) fn clock_step_s(&self) -> Option<f64> {
        let step_s = self.after.at_s - self.before.at_s - self.elapsed_s;
        (step_s.abs() > 0.5 + 0.05 * self.elapsed_s).then_some(step_s)
    }

    /// Rows of `pg_stat_io` as differences; `None` before 16.
    pub(super) fn io(&self) -> Option<BTreeMap<&'a IoKey, IoRow>> {
        let (before, after) = (self.before.io.as_ref()?, self.after.io.as_ref()?);
        let empty = IoRow::default();
        let row =
            |(key, row): (&'a IoKey, &IoRow)| (key, row.since(before.get(key).unwrap_or(&empty)));
        Some(after.iter().map(row).collect())
    }

    /// Counters of the log as differences.
    pub(super) fn log(&self) -> Option<LogCounters> {
        let (before, after) = (self.before.log.as_ref()?, self.after.log.as_ref()?);
        let count =
            |later: Option<u64>, earlier: Option<u64>| Some(later?.saturating_sub(earlier?));
        let time = |later: Option<f64>, earlier: Option<f64>| Some((later? - earlier?).max(0.0));
        Some(LogCounters {
            records: after.records.saturating_sub(before.records),
            full_pages: after.full_pages.saturating_sub(before.full_pages),
            bytes: after.bytes.saturating_sub(before.bytes),
            full_buffers: after.full_buffers.saturating_sub(before.full_buffers),
            writes: count(after.writes, before.writes),
            syncs: count(after.syncs, before.syncs),
            write_time_s: time(after.write_time_s, before.write_time_s),
            sync_time_s: time(after.sync_time_s, before.sync_time_s),
        })
    }

    /// Whether I/O on data was timed all the time.
    pub(super) fn is_io_timed(&self) -> bool {
        self.before.settings.track_io_timing && self.after.settings.track_io_timing
    }

    /// Whether I/O on the log was timed all the time. From 18 on its times are where those of the
    /// data are, and still have a switch of their own.
    pub(super) fn is_log_timed(&self) -> bool {
        self.before.settings.track_wal_io_timing && self.after.settings.track_wal_io_timing
    }

    /// What a reader has to know before relying on the figures.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let timed = |what: &str, begin: bool, end: bool| match (begin, end) {
            (true, true) => None,
            (false, false) => {
                Some(format!("{what} is off: times of this I/O were not measured, which is not 0"))
            }
            _ => Some(format!(
                "{what} was switched during the interval: times of this I/O are left out"
            )),
        };
        let (begin, end) = (&self.before.settings, &self.after.settings);
        doubts.extend(timed("track_io_timing", begin.track_io_timing, end.track_io_timing));
        doubts.extend(timed(
            "track_wal_io_timing",
            begin.track_wal_io_timing,
            end.track_wal_io_timing,
        ));
        if !(begin.track_counts && end.track_counts) {
            doubts.push("track_counts is off: accesses are not counted".to_owned());
        }
        if !(begin.track_activities && end.track_activities) {
            doubts.push(
                "track_activities is off: neither DB time nor waits of sessions are known"
                    .to_owned(),
            );
        }
        if !end.sees_all {
            doubts.push(
                "this account does not see other users' sessions: grant it pg_read_all_stats"
                    .to_owned(),
            );
        }
        if end.in_recovery {
            doubts.push("the server is a replica: it replays what another one wrote".to_owned());
        }
        if self.after.version.major() > super::PostgresVersion::NEWEST {
            doubts.push(format!(
                "release {} is newer than the releases known to Assay",
                self.after.version
            ));
        }
        let reset = self.after.databases.keys().filter(|name| self.was_reset(name));
        doubts.extend(reset.map(|name| {
            format!("counters of the database '{name}' were reset or started in the interval")
        }));
        doubts.extend(self.clock_step_s().map(|step_s| {
            format!(
                "the server's clock was changed by {step_s:+.1} s during the interval: DB time is \
                 estimated from session samples"
            )
        }));
        doubts
    }
}

/// Time of sessions that is not in the counters yet, seconds: of a running statement what has
/// passed, of a session that rests its last statement. (The server adds a statement's time up when
/// it ends, after it has reported its counters.)
pub(super) fn unflushed_s(snapshot: &PostgresSnapshot) -> f64 {
    let of_one = |session: &BackendSession| {
        let began_s = session.statement_began_s?;
        let until_s = if session.is_active { snapshot.at_s } else { session.state_changed_s? };
        Some((until_s - began_s).max(0.0))
    };
    snapshot.sessions.iter().filter_map(of_one).sum()
}

impl IoRow {
    /// What was counted after `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let count = |later: u64, before: u64| later.saturating_sub(before);
        let time = |later: f64, before: f64| (later - before).max(0.0);
        Self {
            reads: count(self.reads, earlier.reads),
            read_bytes: count(self.read_bytes, earlier.read_bytes),
            read_time_s: time(self.read_time_s, earlier.read_time_s),
            writes: count(self.writes, earlier.writes),
            write_bytes: count(self.write_bytes, earlier.write_bytes),
            write_time_s: time(self.write_time_s, earlier.write_time_s),
            extends: count(self.extends, earlier.extends),
            extend_bytes: count(self.extend_bytes, earlier.extend_bytes),
            extend_time_s: time(self.extend_time_s, earlier.extend_time_s),
            syncs: count(self.syncs, earlier.syncs),
            sync_time_s: time(self.sync_time_s, earlier.sync_time_s),
            writeback_time_s: time(self.writeback_time_s, earlier.writeback_time_s),
            hits: count(self.hits, earlier.hits),
        }
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
            read_time_s: self.read_time_s + other.read_time_s,
            writes: self.writes + other.writes,
            write_bytes: self.write_bytes + other.write_bytes,
            write_time_s: self.write_time_s + other.write_time_s,
            extends: self.extends + other.extends,
            extend_bytes: self.extend_bytes + other.extend_bytes,
            extend_time_s: self.extend_time_s + other.extend_time_s,
            syncs: self.syncs + other.syncs,
            sync_time_s: self.sync_time_s + other.sync_time_s,
            writeback_time_s: self.writeback_time_s + other.writeback_time_s,
            hits: self.hits + other.hits,
        }
    }

    /// Whether anything was done.
    pub(super) const fn is_idle(&self) -> bool {
        self.reads == 0
            && self.writes == 0
            && self.extends == 0
            && self.syncs == 0
            && self.hits == 0
    }
}
