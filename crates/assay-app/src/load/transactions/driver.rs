//! A load of transactions on its way up a ladder: data restored before a step, acknowledged
//! transactions counted after it, conditions of the data checked.

use super::commit_ledger::CommitRun;
use crate::load::prepared_server::PreparedServer;
use assay_dbload::load::{DataSnapshot, LoadSchema, Method, Product, RungResult, SharedCommitLog};
use assay_model::load::{Checks, Commits, CountedTransaction, Load, Rung};
use assay_model::measurement::{Finish, Interval, NamedResult, Remark, Window};
use assay_model::number::rate;
use assay_model::{Histogram, Precision, Result};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a kind of such a load knows of itself.
pub struct TransactionLoad<M: Method> {
    /// What sessions do.
    pub method: M,
    /// Where acknowledged transactions go, once a run keeps a log of them.
    pub commits: SharedCommitLog,
    /// Counts transactions of some kinds that stand in the tables.
    pub found: fn(&M, &mut LoadSchema<M::Link>) -> Result<FoundTransactions>,
    /// Checks the conditions of the data; says in the result when that was.
    pub verify: fn(&mut LoadSchema<M::Link>, when: &str) -> Result<Checks>,
}

/// Places of kinds of transactions, and how many of each stand in the tables.
pub type FoundTransactions = Vec<(usize, u64)>;

/// The load with what is done around its steps.
pub struct TransactionDriver<M: Method> {
    transactions: TransactionLoad<M>,
    verifies: bool,
    restore_every: Option<u32>,
    snapshot: Option<DataSnapshot>,
    rungs: u32,
    /// What stood in the tables before the step.
    before: FoundTransactions,
    /// Whether the data was looked at as it was loaded.
    has_begun: bool,
    /// The ledger of acknowledged transactions.
    ledger: Option<CommitRun>,
}

impl<M: Method<Link: Product>> TransactionDriver<M> {
    /// The load before its first step.
    pub fn new(
        transactions: TransactionLoad<M>,
        verifies: bool,
        restore_every: Option<u32>,
        ledger: Option<CommitRun>,
    ) -> Self {
        Self {
            transactions,
            verifies,
            restore_every,
            snapshot: None,
            rungs: 0,
            before: Vec::new(),
            has_begun: false,
            ledger,
        }
    }

    /// The data as it is loaded: checked and copied where that is wanted.
    fn begin(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        stop: &AtomicBool,
    ) -> Result<()> {
        self.has_begun = true;
        if self.restore_every.is_some() {
            self.snapshot = Some(Self::copied(prepared, stop)?);
        }
        if self.verifies {
            load.checks
                .push((self.transactions.verify)(&mut prepared.database, "before the first step")?);
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.begin(prepared, &self.transactions.commits, stop)?;
        }
        Ok(())
    }

    /// The data as they were loaded: copied now, or gone back to where a kept server has its copy
    /// still.
    fn copied(prepared: &mut PreparedServer<M::Link>, stop: &AtomicBool) -> Result<DataSnapshot> {
        let Some(own) = prepared.own.as_mut() else {
            return DataSnapshot::of_database(&mut prepared.database);
        };
        match DataSnapshot::left_with(own) {
            Some(left) => {
                left.restore(Some(own), &mut prepared.database, stop)?;
                Ok(left)
            }
            None => DataSnapshot::of_own(own, &mut prepared.database, stop),
        }
    }

    /// Goes back to the data as it was loaded, where it is time.
    fn restore(&self, prepared: &mut PreparedServer<M::Link>, stop: &AtomicBool) -> Result<()> {
        let is_time = self.restore_every.is_some_and(|every| self.rungs.is_multiple_of(every));
        match &self.snapshot {
            Some(snapshot) if is_time && self.rungs > 0 => {
                snapshot.restore(prepared.own.as_mut(), &mut prepared.database, stop)
            }
            _ => Ok(()),
        }
    }

    /// What sessions do.
    pub(crate) const fn method(&self) -> &M {
        &self.transactions.method
    }

    fn found(&self, database: &mut LoadSchema<M::Link>) -> Result<FoundTransactions> {
        (self.transactions.found)(&self.transactions.method, database)
    }

    /// The times that a limit is on.
    pub(crate) fn limited(&self, rung: &Rung) -> Histogram {
        let found = rung.measurement.streams.iter().find(|stream| self.counts(&stream.name));
        let result = found.and_then(|stream| stream.operations.write.as_ref());
        result.map_or_else(|| Histogram::new(Precision::Fine), |result| result.response().clone())
    }

    /// The work of an interval in the words of a person who waits.
    pub(crate) fn work(&self, interval: &Interval, joint: &Window) -> String {
        let streams = joint.streams.iter().filter(|stream| self.counts(&stream.name));
        let ios = streams.map(|stream: &NamedResult| stream.operations.ios()).sum();
        let per_s = rate(ios, interval.elapsed_s());
        self.counted().map_or_else(String::new, |counted| counted.rate_words(per_s))
    }

    fn counted(&self) -> Option<&'static CountedTransaction> {
        self.method().kind().counted()
    }

    /// Whether the transactions of a stream are the counted ones.
    fn counts(&self, stream: &str) -> bool {
        self.counted().is_some_and(|counted| counted.stream == stream)
    }

    /// Before a step.
    pub(crate) fn before(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        stop: &AtomicBool,
    ) -> Result<()> {
        if !self.has_begun {
            self.begin(prepared, load, stop)?;
        }
        self.restore(prepared, stop)?;
        self.rungs += 1;
        self.before = self.found(&mut prepared.database)?;
        Ok(())
    }

    /// After a step, when it is part of the result.
    pub(crate) fn after(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        measured: &RungResult,
        stop: &AtomicBool,
    ) {
        let looked = prepared.come_back(stop).and_then(|()| self.found(&mut prepared.database));
        let found = match looked {
            Ok(found) => found,
            Err(error) => {
                load.remarks.push(not_counted(&error));
                return;
            }
        };
        for ((kind, found), (_, before)) in found.into_iter().zip(&self.before) {
            let of = |counts: &[u64]| counts.get(kind).copied().unwrap_or(0);
            load.commits.push(Commits {
                sessions: measured.rung.sessions,
                repeat: measured.rung.repeat,
                stream: self.method().kinds()[kind].name.to_owned(),
                database: None,
                acknowledged: of(&measured.tally.acknowledged),
                unknown: of(&measured.tally.unknown),
                found: found.saturating_sub(*before),
            });
        }
    }

    /// After the last step, however the ladder ended.
    pub(crate) fn end(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        stop: &AtomicBool,
    ) -> Result<()> {
        if let Some(ledger) = &self.ledger {
            load.durability = Some(ledger.end(&self.transactions.commits));
        }
        let is_lost =
            load.rungs.iter().any(|rung| matches!(rung.measurement.finish, Finish::Failed { .. }));
        // Who asked the program to end does not wait for checks.
        let is_stopped = stop.load(Ordering::Relaxed);
        if (self.verifies || is_lost) && !is_stopped {
            let checked = prepared.come_back(stop).and_then(|()| {
                (self.transactions.verify)(&mut prepared.database, "after the last step")
            });
            match checked {
                Ok(checks) => load.checks.push(checks),
                Err(error) => load.remarks.push(not_counted(&error)),
            }
        }
        // Whoever comes back to a kept server goes back to the data as they were loaded.
        match &self.snapshot {
            Some(snapshot) if prepared.kept_place().is_none() => {
                snapshot.remove(&mut prepared.database)
            }
            _ => Ok(()),
        }
    }
}

fn not_counted(error: &assay_model::Error) -> Remark {
    Remark {
        what: format!("the data could not be checked: {}", error.message()),
        why: "it is unknown whether all acknowledged transactions are present".to_owned(),
        remedy: "start the server and run again with --verify".to_owned(),
    }
}
