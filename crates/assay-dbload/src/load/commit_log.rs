//! Transactions that leave their identity in the database: run, session and number in one row of
//! the same transaction, and on to a ledger when their commit has returned.

use super::database::LoadSchema;
use super::link::single_number;
use super::product::Product;
use super::statements::{LoadStatement, StatementValue};
use assay_ledger::{Acknowledgement, CommitRange, KeptAcknowledgements, LedgerRecorder};
use assay_model::Result;
use assay_model::failure::Answer;
use assay_model::load::Dialect;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The table of identities.
pub(super) const COMMITS: &str = "assay_commits";
/// The statement that leaves one.
pub(super) const LEAVE: &str = "leave_commit";
/// The session of the first row of a run, by which the database is known.
const FIRST_SESSION: u64 = 0;

/// Acknowledged transactions of a run on their way to a ledger.
pub struct CommitLog {
    run: u32,
    recorder: LedgerRecorder,
    sessions: AtomicU64,
}

/// Where sessions find the log, once a run keeps one.
pub type SharedCommitLog = Arc<OnceLock<CommitLog>>;

/// The identity of a transaction that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitMark {
    run: u32,
    session: u64,
    number: u32,
}

/// The numbers of one session.
pub struct CommitMarks {
    log: SharedCommitLog,
    session: u64,
    number: u32,
}

impl CommitLog {
    /// The log of a run, whose first row stands in the database and is acknowledged with it.
    pub fn new(run: u32, recorder: LedgerRecorder) -> Self {
        recorder.acknowledge(&[Acknowledgement { place: FIRST_SESSION, version: 1 }]);
        Self { run, recorder, sessions: AtomicU64::new(FIRST_SESSION) }
    }

    /// Hands on what waits, and says what became of all acknowledgements.
    pub fn finish(&self) -> KeptAcknowledgements {
        self.recorder.finish()
    }
}

impl CommitMark {
    pub(crate) fn values(self) -> [StatementValue<'static>; 3] {
        let session = i64::try_from(self.session).unwrap_or(i64::MAX);
        [self.run.into(), StatementValue::Number(session), self.number.into()]
    }
}

impl CommitMarks {
    /// Those of a session that was not opened yet.
    pub fn new(log: &SharedCommitLog) -> Self {
        Self { log: Arc::clone(log), session: FIRST_SESSION, number: 1 }
    }

    /// A fresh connection begins to count again: whether the last transaction of a lost one is
    /// there is not known.
    pub fn begin(&mut self) {
        if let Some(log) = self.log.get() {
            self.session = log.sessions.fetch_add(1, Ordering::Relaxed) + 1;
            self.number = 1;
        }
    }

    /// The statement that leaves an identity, where a run keeps a log.
    pub fn statement(&self, dialect: Dialect, schema: &str) -> Option<LoadStatement> {
        let sql = format!("INSERT INTO {schema}.{COMMITS} VALUES (#1, #2, #3)");
        self.log.get().map(|_| LoadStatement::of(LEAVE, &sql, dialect))
    }

    /// One try of a transaction. One that changes something gets the next identity where a run
    /// keeps a log, and takes it with its commit; then it is acknowledged. A try that was
    /// refused has been rolled back and leaves the identity to the next.
    pub fn leave<T>(
        &mut self,
        changes: bool,
        attempt: impl FnOnce(&mut Option<CommitMark>) -> Answer<T>,
    ) -> Answer<T> {
        let Some(log) = self.log.get().filter(|_| changes) else { return attempt(&mut None) };
        let mut mark =
            Some(CommitMark { run: log.run, session: self.session, number: self.number });
        let done = attempt(&mut mark)?;
        if mark.is_none() {
            let (place, version) = (self.session, self.number);
            log.recorder.acknowledge(&[Acknowledgement { place, version }]);
            self.number += 1;
        }
        Ok(done)
    }
}

impl<L: Product> LoadSchema<L> {
    /// Makes the table of identities where it is missing, and leaves the first row of a run.
    ///
    /// # Errors
    /// What the server says.
    pub fn begin_commits(&mut self, run: u32) -> Result<()> {
        let schema = &self.schema;
        let sql = [
            // No key: it would make a doubled transaction impossible to see, and each transaction
            // dearer.
            format!(
                "CREATE TABLE IF NOT EXISTS {schema}.{COMMITS} (run_number bigint NOT NULL, \
                 session_number bigint NOT NULL, transaction_number bigint NOT NULL)"
            ),
            format!("INSERT INTO {schema}.{COMMITS} VALUES ({run}, {FIRST_SESSION}, 1)"),
        ];
        sql.iter().try_for_each(|sql| self.run("creating the table of commits", sql))
    }

    /// The transactions of a run that are there, and how many are there more than once.
    ///
    /// # Errors
    /// What the server says.
    pub fn commits_of(&mut self, run: u32) -> Answer<(Vec<CommitRange>, u64)> {
        let of_run = format!("FROM {}.{COMMITS} WHERE run_number = {run}", self.schema);
        // Numbers that follow one another differ from their place in the order by the same.
        let ranges = format!(
            "SELECT session_number, MIN(transaction_number), MAX(transaction_number) FROM (SELECT \
             session_number, transaction_number, transaction_number - ROW_NUMBER() OVER \
             (PARTITION BY session_number ORDER BY transaction_number) AS gaps FROM (SELECT \
             DISTINCT session_number, transaction_number {of_run}) AS once) AS placed GROUP BY \
             session_number, gaps"
        );
        let rows = self.admin.query(&ranges)?;
        let range = |row: &assay_model::row::Row| {
            let [session, first, last] = [0, 1, 2].map(|column| row.count(column));
            Some(CommitRange { session: session?, first: first?, last: last? })
        };
        let found = rows.iter().filter_map(range).collect();
        let doubled = format!(
            "SELECT COUNT(*) FROM (SELECT 1 AS one {of_run} GROUP BY session_number, \
             transaction_number HAVING COUNT(*) > 1) AS several"
        );
        let doubled = single_number(&mut self.admin, &doubled)?;
        Ok((found, doubled.unwrap_or(0)))
    }
}
