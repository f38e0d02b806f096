//! One session on a server, whatever the product.

use super::pipeline::StatementPipeline;
use super::statements::StatementValue;
use super::target::LoadTarget;
use assay_dbserver::processes::ProcessGroup;
use assay_dbserver::{CpuUsage, Interrupter};
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::load::Dialect;
use assay_model::row::Row;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// One session on a server.
pub trait ServerLink: Send + Sync + Sized {
    /// Where a server is, and who asks.
    type Address: Clone + Display + Send + Sync;
    /// A statement that is ready to be carried out alone.
    type Prepared: Send;
    /// Prepared statements of a session.
    type Pipeline: StatementPipeline<Link = Self>;
    /// Its SQL.
    const DIALECT: Dialect;

    /// The address, where a target is that of a server of this product.
    fn address_in(named: &LoadTarget) -> Option<&Self::Address>;

    /// An address as a target that another program of this machine reads, with its secret.
    fn spelled(address: &Self::Address) -> String;

    /// Connects and logs in.
    fn open(address: &Self::Address) -> Answer<Self>;

    /// Settings of a fresh session of transactions.
    fn begin_session(&mut self, isolation: Isolation) -> Answer<()>;

    /// Runs statements whose rows are of no interest.
    fn run(&mut self, sql: &str) -> Answer<()>;

    /// All rows of a query, in text form.
    fn query(&mut self, sql: &str) -> Answer<Vec<Row>>;

    /// Runs a statement; how many rows it changed.
    fn change(&mut self, sql: &str) -> Answer<u64>;

    /// Has a statement parsed in which numbers stand as `#1` and texts as `@1`; `like` has the
    /// lengths of all its values.
    fn prepare(
        &mut self,
        name: &str,
        text: &str,
        like: &[StatementValue<'_>],
    ) -> Answer<Self::Prepared>;

    /// Carries it out; the number in the first column of its first row, or of the rows that it
    /// changed.
    fn execute(
        &mut self,
        statement: &mut Self::Prepared,
        values: &[StatementValue<'_>],
    ) -> Answer<u64>;

    /// A handle that ends the session from another thread.
    fn interrupter(&self) -> Answer<Interrupter>;

    /// Number of the process or thread that serves it; 0 where it is not known.
    fn served_by(&self) -> u32;

    /// What serving it has used; none where it is not on this machine.
    fn usage(&self) -> Option<CpuUsage>;

    /// Makes the server count what the session did until now, where it would do so later.
    fn settle_counts(&mut self) {}

    /// Whether a transaction is right and only its moment was wrong.
    fn is_for_others(failure: &Failure) -> bool {
        matches!(failure.meaning(), Some(Refusal::Deadlock | Refusal::Conflict))
    }

    /// Says good-bye.
    fn close(self);
}

/// How transactions are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Each statement sees data committed before it
    #[default]
    ReadCommitted,
    /// Each transaction sees a snapshot
    RepeatableRead,
    /// As if transactions ran one after the other
    Serializable,
}

impl Isolation {
    /// The server's words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}

/// A statement that a server has parsed.
pub struct PreparedStatement<S> {
    pub(super) statement: S,
    /// The value that stands at each of its parameters.
    pub(super) order: Vec<usize>,
}

/// What processes of a server used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerUse {
    /// Each of those that serve no session.
    Background(ProcessGroup),
    /// All together: sessions are threads of one process.
    Whole(CpuUsage),
}

impl ServerUse {
    /// What those that serve no session used after `earlier`, where they can be told apart from the
    /// others.
    pub fn background_since(&self, earlier: &Self) -> Option<CpuUsage> {
        match (self, earlier) {
            (Self::Background(now), Self::Background(then)) => Some(now.since(then)),
            _ => None,
        }
    }

    /// What all used together after `earlier`, where they cannot.
    pub fn whole_since(&self, earlier: &Self) -> Option<CpuUsage> {
        match (self, earlier) {
            (Self::Whole(now), Self::Whole(then)) => Some(now.since(then)),
            _ => None,
        }
    }
}

/// The number in the only cell of a statement's answer; none where it is null.
pub fn single_number<L: ServerLink>(link: &mut L, sql: &str) -> Answer<Option<u64>> {
    let rows = link.query(sql)?;
    // Sums come as numbers with a point from some products.
    let cell = rows.first().map_or("", |row| row.text(0));
    Ok(cell.split('.').next().and_then(|whole| whole.parse().ok()))
}
