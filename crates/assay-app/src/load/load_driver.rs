//! What a kind of load adds to a ladder: its sessions, its words, and what is done before and after a rung.

use super::prepared_server::{LoadProduct, PreparedServer};
use assay_dbload::load::{Method, RungResult};
use assay_model::load::{Load, Rung};
use assay_model::measurement::{Interval, Window};
use assay_model::units::show_count;
use assay_model::{Histogram, Result};
use std::sync::atomic::AtomicBool;

/// The product that a kind of load runs on.
pub type LinkOf<C> = <<C as LoadDriver>::Method as Method>::Link;
/// Where a kind of load runs.
pub type ServerOf<C> = PreparedServer<LinkOf<C>>;

/// What a kind of load adds to a ladder.
pub trait LoadDriver {
    /// What sessions do.
    type Method: Method<Link: LoadProduct>;

    /// What sessions do.
    fn method(&self) -> &Self::Method;

    /// The times that a limit is on.
    fn limited(&self, rung: &Rung) -> Histogram;

    /// The work of an interval in the words of a person who waits.
    fn work(&self, interval: &Interval, _joint: &Window) -> String {
        format!("{} SQL/s", show_count(interval.iops()))
    }

    /// Whether the processors may end a ladder of given numbers of sessions early.
    fn is_of_storage(&self) -> bool {
        true
    }

    /// Before a rung.
    fn before(
        &mut self,
        _prepared: &mut ServerOf<Self>,
        _load: &mut Load,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Ok(())
    }

    /// After a rung, when it is part of the result.
    fn after(
        &mut self,
        _prepared: &mut ServerOf<Self>,
        _load: &mut Load,
        _measured: &RungResult,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Ok(())
    }

    /// After the last rung, however the ladder ended.
    fn end(
        &mut self,
        _prepared: &mut ServerOf<Self>,
        _load: &mut Load,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Ok(())
    }
}
