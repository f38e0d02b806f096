//! What a kind of load adds to a ladder: its sessions, its words, and what is done before and after
//! a step.

use super::prepared_server::PreparedServer;
use super::transactions::TransactionDriver;
use assay_dbload::load::{Method, Product, RungResult};
use assay_model::load::{Load, Rung};
use assay_model::measurement::{Interval, Operation, Window};
use assay_model::units::show_count;
use assay_model::{Histogram, Result};
use std::sync::atomic::AtomicBool;

/// What a kind of load adds to a ladder.
pub enum LoadDriver<M: Method<Link: Product>> {
    /// Nothing: its statements are counted, each by itself.
    Statements(M),
    /// Transactions, with what is done around their steps.
    Transactions(Box<TransactionDriver<M>>),
}

impl<M: Method<Link: Product>> LoadDriver<M> {
    /// What sessions do.
    pub fn method(&self) -> &M {
        match self {
            Self::Statements(method) => method,
            Self::Transactions(driver) => driver.method(),
        }
    }

    /// The times that a limit is on.
    pub fn limited(&self, rung: &Rung) -> Histogram {
        match self {
            Self::Statements(_) => rung.times(Operation::Read),
            Self::Transactions(driver) => driver.limited(rung),
        }
    }

    /// The work of an interval in the words of a person who waits.
    pub fn work(&self, interval: &Interval, joint: &Window) -> String {
        match self {
            Self::Statements(_) => format!("{} SQL/s", show_count(interval.iops())),
            Self::Transactions(driver) => driver.work(interval, joint),
        }
    }

    /// Whether the processors may end a ladder of given numbers of sessions early.
    pub const fn is_of_storage(&self) -> bool {
        matches!(self, Self::Statements(_))
    }

    /// Before a step.
    pub fn before(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        stop: &AtomicBool,
    ) -> Result<()> {
        match self {
            Self::Statements(_) => Ok(()),
            Self::Transactions(driver) => driver.before(prepared, load, stop),
        }
    }

    /// After a step, when it is part of the result.
    pub fn after(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        measured: &RungResult,
        stop: &AtomicBool,
    ) {
        if let Self::Transactions(driver) = self {
            driver.after(prepared, load, measured, stop);
        }
    }

    /// After the last step, however the ladder ended.
    pub fn end(
        &mut self,
        prepared: &mut PreparedServer<M::Link>,
        load: &mut Load,
        stop: &AtomicBool,
    ) -> Result<()> {
        match self {
            Self::Statements(_) => Ok(()),
            Self::Transactions(driver) => driver.end(prepared, load, stop),
        }
    }
}
