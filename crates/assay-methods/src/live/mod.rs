//! Live servers whose sessions are watched, whatever the product: what `assay profile` and every rung of a load need of one.

mod mariadb;
mod postgres;

pub use assay_daemon::watch::{Observed, Plan, TaskTimes, Watched};
pub use assay_model::live::Outside;

use assay_model::live::Bars;
use assay_model::number::{count, count_of, real};
use assay_model::{Estimate, Profile, Result};
use assay_stats::mean::ratio_interval;
use assay_stats::mean_interval;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Intervals hold the truth in so many cases of a hundred.
const CONFIDENCE: f64 = 0.95;
/// Fewer observations say nothing about their own doubt.
const OBSERVATIONS_MIN: usize = 5;

/// What looking cost a server in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Own {
    /// Time that our sessions were active, seconds.
    pub time_s: f64,
    /// Transactions of our sessions.
    pub transactions: u64,
}

/// What two snapshots and the looks between them are called.
pub type Seen<W> = Observed<<W as Watched>::Snapshot>;

/// A product whose live servers have a profile.
pub trait Live: Watched<Snapshot: Send> + Send + Sized {
    /// Where a server is, and who asks.
    type Address: Display;
    /// A session that reads single blocks beside the load.
    type Canary: Send;

    /// Why there is no canary, where none is opened.
    const NO_CANARY: &'static str;

    /// Reads an address, with what the environment adds to it.
    ///
    /// # Errors
    /// A usage error where it is none.
    fn parse(address: &str) -> Result<Self::Address>;

    /// Opens the session that looks.
    ///
    /// # Errors
    /// An environment error when the server refuses, is too old, or goes away.
    fn connect(address: &Self::Address) -> Result<Self>;

    /// Opens a canary; `None` where this account may read no table, or the product has none.
    ///
    /// # Errors
    /// What the server says.
    fn canary(address: &Self::Address) -> Result<Option<Self::Canary>>;

    /// Watches for an interval, with a canary where there is one.
    ///
    /// # Errors
    /// When the server goes away.
    fn watch(
        &mut self,
        canary: Option<Self::Canary>,
        plan: Plan,
        times: Option<TaskTimes<'_>>,
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64, u64),
    ) -> Result<Seen<Self>>;

    /// The profile of what was seen.
    ///
    /// # Errors
    /// When the server was started anew in between.
    fn profile(seen: &Seen<Self>, outside: &Outside) -> Result<Profile>;

    /// What looking cost, in a database where sessions are counted by it.
    fn own(seen: &Seen<Self>, database: &str) -> Own;

    /// The name of the profile, for people.
    fn subject(&self) -> String;

    /// Whether its processes are this host's.
    fn is_here(&self) -> bool;

    /// Where the server keeps its data, if this account may know.
    ///
    /// # Errors
    /// When the server goes away.
    fn data_directory(&mut self) -> Result<Option<PathBuf>>;
}

/// Intervals of what was sampled, by batch means.
struct Intervals;

impl Bars for Intervals {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        let enough = observations.len() >= OBSERVATIONS_MIN;
        enough.then(|| mean_interval(observations, CONFIDENCE)).flatten().map(noun)
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        let enough = numerators.len().min(denominators.len()) >= OBSERVATIONS_MIN;
        enough.then(|| ratio_interval(numerators, denominators, CONFIDENCE)).flatten().map(noun)
    }
}

/// The same interval as a noun of the documents; it holds no more observations than are worth one each.
fn noun(estimate: assay_stats::Estimate) -> Estimate {
    Estimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: count(estimate.effective_n.min(real(count_of(estimate.n)))).max(1),
    }
}
