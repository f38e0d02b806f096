//! Two snapshots: what was counted between them, and what makes that doubtful.

use super::snapshot::{EventTally, FileCounts, Instruments, MariadbSnapshot};
use assay_model::{Error, Result};
use std::collections::BTreeMap;

/// Tables of the performance schema that can run out of room, and what is lost then.
pub(crate) const LOSSES: [(&str, &str); 4] = [
    ("PERFORMANCE_SCHEMA_USERS_LOST", "performance_schema_users_size"),
    ("PERFORMANCE_SCHEMA_THREAD_INSTANCES_LOST", "performance_schema_max_thread_instances"),
    ("PERFORMANCE_SCHEMA_FILE_INSTANCES_LOST", "performance_schema_max_file_instances"),
    ("PERFORMANCE_SCHEMA_FILE_HANDLES_LOST", "performance_schema_max_file_handles"),
];

/// What ends a transaction.
pub(crate) const ENDINGS: [&str; 4] =
    ["COM_COMMIT", "COM_ROLLBACK", "COM_XA_COMMIT", "COM_XA_ROLLBACK"];
/// What is a transaction by itself where none was begun.
pub(crate) const AUTOCOMMITTED: [&str; 9] = [
    "COM_SELECT",
    "COM_INSERT",
    "COM_INSERT_SELECT",
    "COM_UPDATE",
    "COM_UPDATE_MULTI",
    "COM_DELETE",
    "COM_DELETE_MULTI",
    "COM_REPLACE",
    "COM_REPLACE_SELECT",
];

/// Two snapshots of one server.
#[derive(Debug)]
pub struct MariadbDelta<'a> {
    pub(super) before: &'a MariadbSnapshot,
    pub(super) after: &'a MariadbSnapshot,
    /// Length of the interval by a clock that never jumps, seconds.
    pub(super) elapsed_s: f64,
}

impl<'a> MariadbDelta<'a> {
    /// Two snapshots and the time between them.
    ///
    /// # Errors
    /// An environment error when the server was restarted in between: its counters say nothing
    /// then.
    pub fn of(
        before: &'a MariadbSnapshot,
        after: &'a MariadbSnapshot,
        elapsed_s: f64,
    ) -> Result<Self> {
        let uptime = |snapshot: &MariadbSnapshot| snapshot.status("UPTIME").unwrap_or(0);
        let is_other = before.settings.version != after.settings.version;
        if is_other || uptime(after) < uptime(before) {
            return Err(Error::environment(
                "the server was restarted during the interval: its counters were reset",
                "profile it again without a restart",
            ));
        }
        Ok(Self { before, after, elapsed_s })
    }

    /// What was on all the time.
    pub(super) fn instruments(&self) -> Instruments {
        let (begin, end) = (&self.before.settings.instruments, &self.after.settings.instruments);
        Instruments {
            statements: begin.statements && end.statements,
            files: begin.files && end.files,
            log: begin.log && end.log,
            commits: begin.commits && end.commits,
            current_waits: begin.current_waits && end.current_waits,
        }
    }

    /// A counter of the status; nothing where the release has none.
    pub(super) fn status(&self, name: &str) -> Option<u64> {
        Some(self.after.status(name)?.saturating_sub(self.before.status(name)?))
    }

    /// DB time that was counted: that of statements that ended, and by how much that of running
    /// ones was more at the end than at the beginning.
    pub(super) fn db_time_s(&self) -> Option<f64> {
        let (before, after) = (self.before, self.after);
        let ended_s = after.statement_time_s? - before.statement_time_s?;
        let running = after.running_time_s.zip(before.running_time_s);
        Some((ended_s + running.map_or(0.0, |(after, before)| after - before)).max(0.0))
    }

    /// Transactions, without those of Assay's session.
    pub(super) fn transactions(&self) -> u64 {
        self.counted_work().0
    }

    /// Transactions and what counted them: commits and rollbacks. Autocommitted statements cannot
    /// be told apart from those of longer transactions, and count where nothing began or ended
    /// any.
    pub(super) fn counted_work(&self) -> (u64, &'static str) {
        let sum = |names: &[&str]| -> u64 {
            names.iter().map(|name| self.status(name).unwrap_or(0)).sum()
        };
        let ended = sum(&ENDINGS);
        if ended > 0 || sum(&["COM_BEGIN"]) > 0 {
            return (ended, "Com_commit + Com_rollback, and those of XA");
        }
        (
            sum(&AUTOCOMMITTED),
            "autocommitted statements: Com_select, Com_insert, Com_update, Com_delete, Com_replace",
        )
    }

    /// Waits of client sessions.
    pub(super) fn waits(&self) -> BTreeMap<&'a str, EventTally> {
        let before = &self.before.waits;
        let of_one = |(name, after): (&'a String, &EventTally)| {
            (name.as_str(), after.since(&before.get(name).copied().unwrap_or_default()))
        };
        self.after.waits.iter().map(of_one).collect()
    }

    /// The stage in which statements commit.
    pub(super) fn commits(&self) -> Option<EventTally> {
        self.instruments().commits.then(|| self.after.commits.since(&self.before.commits))
    }

    /// I/O of all threads on the files of one event.
    pub(super) fn file(&self, event: &str) -> FileCounts {
        let of =
            |snapshot: &MariadbSnapshot| snapshot.files.get(event).copied().unwrap_or_default();
        of(self.after).since(&of(self.before))
    }

    /// I/O of all threads by event.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'a str, FileCounts)> {
        self.after.files.keys().map(|event| (event.as_str(), self.file(event)))
    }

    /// I/O of all threads by event and file.
    pub(super) fn instances(&self) -> impl Iterator<Item = (&'a str, &'a str, FileCounts)> {
        let before = &self.before.instances;
        self.after.instances.iter().map(move |(key, after)| {
            let counts = after.since(&before.get(key).copied().unwrap_or_default());
            (key.0.as_str(), key.1.as_str(), counts)
        })
    }

    /// What a reader has to know before relying on the figures.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let (begin, end) = (self.before, self.after);
        if begin.settings.instruments != end.settings.instruments {
            doubts.push(
                "instruments of the performance schema were switched during the interval: those \
                 that were off at any time are left out"
                    .to_owned(),
            );
        }
        if end.statement_time_s < begin.statement_time_s {
            doubts.push(
                "counters of the performance schema were reset during the interval: times are too \
                 small"
                    .to_owned(),
            );
        }
        if end.settings.is_read_only {
            doubts.push(
                "the server is read-only, like a replica: session time does not include replayed \
                 changes"
                    .to_owned(),
            );
        }
        if end.uncounted_sessions > 0 {
            doubts.push(format!(
                "{} sessions are not instrumented (setup_actors): counters do not include their \
                 time",
                end.uncounted_sessions
            ));
        }
        if end.settings.instruments.statements && end.running_time_s.is_none() {
            doubts.push(
                "this account cannot see how long statements have been running (PROCESS): \
                 statements count when they end"
                    .to_owned(),
            );
        }
        doubts.extend(LOSSES.iter().filter_map(|(lost, setting)| {
            let count = self.status(lost).filter(|count| *count > 0)?;
            Some(format!(
                "the performance schema was full {count} times and counted less: raise {setting}"
            ))
        }));
        doubts.extend(self.read_ahead());
        doubts
    }

    /// Reads ahead are asked for and not waited for, so that they make the mean time of a read too
    /// short.
    fn read_ahead(&self) -> Option<String> {
        let ahead = self.status("INNODB_BUFFER_POOL_READ_AHEAD").unwrap_or(0)
            + self.status("INNODB_BUFFER_POOL_READ_AHEAD_RND").unwrap_or(0);
        let read = self.status("INNODB_PAGES_READ").unwrap_or(0);
        (20 * ahead > read).then(|| {
            format!(
                "{ahead} of {read} pages were read ahead, for which only the request is timed: the \
                 mean time of a read is too short"
            )
        })
    }
}
