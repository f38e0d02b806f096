//! How the transactions of a session reach their server: as functions of it or as statements.

use super::statements::all;
use super::{functions, transactions};
use crate::load::{Calls, CommitMark, CommitMarks, Isolation, Pipeline, Product};
use assay_loads::oltp::Transaction;
use assay_model::failure::Answer;

/// What a session keeps between its transactions.
pub struct PreparedOrders<L: Product> {
    pipeline: L::Pipeline,
    calls: Calls,
}

impl<L: Product> PreparedOrders<L> {
    /// Settings and statements of a fresh session.
    pub fn of(
        link: &mut L,
        schema: &str,
        calls: Calls,
        isolation: Isolation,
        commits: &CommitMarks,
    ) -> Answer<Self> {
        link.begin_session(isolation)?;
        let pipeline = match calls {
            Calls::Functions => functions::prepare(link, schema)?,
            Calls::Statements => {
                let mut statements = all(L::DIALECT, schema);
                statements.extend(commits.statement(L::DIALECT, schema));
                L::Pipeline::prepare(link, schema, statements)?
            }
        };
        Ok(Self { pipeline, calls })
    }

    /// One try of a transaction; whether it was committed, and not rolled back as asked. A failure leaves none open. Statements
    /// leave the mark with their commit, and take it then.
    pub fn attempt(
        &mut self,
        link: &mut L,
        transaction: &Transaction,
        mark: &mut Option<CommitMark>,
    ) -> Answer<bool> {
        match self.calls {
            Calls::Functions => functions::call(link, &mut self.pipeline, transaction),
            Calls::Statements => transactions::attempt(link, &mut self.pipeline, transaction, mark),
        }
    }
}
