//! What a load is to the step that carries it out: kinds of steps, and sessions that take one step
//! after the other.

use super::database::LoadSchema;
use super::product::Product;
use assay_model::Result;
use assay_model::failure::{Answer, Failure};
use assay_model::load::LoadKind;
use assay_model::measurement::Operation;
use assay_model::units::Nanos;

/// A kind of step; its times are kept in a histogram of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepKind {
    /// Its name in the result, for example `read` or `new order`.
    pub name: &'static str,
    /// Whether it reads or changes rows.
    pub operation: Operation,
}

/// A load.
pub trait Method: Sync {
    /// A session on the product that it runs on.
    type Link: Product;
    /// What one session keeps between its steps.
    type Session: LoadSession<Link = Self::Link>;

    /// Which load it is.
    fn kind(&self) -> LoadKind;

    /// All kinds of steps, in the order in which their results are kept.
    fn kinds(&self) -> &[StepKind];

    /// Whether a step of a kind ends in exactly one commit that the server counts; nothing where
    /// that is not so of all steps that commit.
    fn commits(&self, _kind: usize) -> Option<bool> {
        None
    }

    /// The kind of step that reads one block and nothing else, where there is one: its times are
    /// those of single reads.
    fn single_block_stream(&self) -> Option<&str> {
        None
    }

    /// Looks before each step whether the server will do what is to be measured.
    fn check(&self, _database: &mut LoadSchema<Self::Link>) -> Result<()> {
        Ok(())
    }

    /// The session of a number, from 0, before it has a connection.
    fn session(&self, database: &LoadSchema<Self::Link>, number: u32) -> Self::Session;
}

/// One session of a load.
pub trait LoadSession: Send {
    /// A session on the product that it runs on.
    type Link: Product;

    /// Settings and statements of a fresh connection; asked again after a loss.
    fn prepare(&mut self, connection: &mut Self::Link) -> Answer<()>;

    /// Chooses the next step and returns how long to wait before it; `None` when the session has
    /// done all its work.
    fn choose(&mut self) -> Option<Nanos>;

    /// Takes the step that was chosen.
    fn step(&mut self, connection: &mut Self::Link) -> StepResult;
}

/// A step that was taken.
#[derive(Debug)]
pub struct StepResult {
    /// Its place among the kinds.
    pub kind: usize,
    /// Bytes of the blocks that it touched; 0 where that is not known.
    pub bytes: u64,
    /// Whether it came to its end.
    pub answer: Answer<()>,
    /// What the server refused before, when the step was tried again.
    pub retried: Vec<Failure>,
}

impl StepResult {
    /// A step that came to its end in the first try, or failed in it.
    pub const fn once(kind: usize, bytes: u64, answer: Answer<()>) -> Self {
        Self { kind, bytes, answer, retried: Vec::new() }
    }

    /// A step that nobody chose.
    pub fn unchosen() -> Self {
        Self::once(0, 0, Err(Failure::Protocol("a step that was not chosen".to_owned())))
    }
}
