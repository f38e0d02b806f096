//! How the transactions of a session reach their server: as functions of it or as statements.

use super::statements::all;
use super::store::OrderStore;
use super::transactions;
use crate::load::{Calls, CommitMark, CommitMarks, Isolation, Pipeline, Prepared};
use assay_loads::oltp::Transaction;
use assay_model::failure::Answer;

/// What a session keeps between its transactions.
pub struct PreparedOrders<L: OrderStore>(Prepared<L::Functions, L::Pipeline>);

impl<L: OrderStore> PreparedOrders<L> {
    /// Settings and statements of a fresh session.
    pub fn of(
        link: &mut L,
        schema: &str,
        calls: Calls,
        isolation: Isolation,
        commits: &CommitMarks,
    ) -> Answer<Self> {
        link.begin_session(isolation)?;
        Ok(Self(match calls {
            Calls::Functions => Prepared::Functions(link.functions(schema)?),
            Calls::Statements => {
                let mut statements = all::<L>(schema);
                statements.extend(commits.statement(L::DIALECT, schema));
                Prepared::Statements(L::Pipeline::prepare(link, schema, statements)?)
            }
        }))
    }

    /// One try of a transaction; whether it was committed, and not rolled back as asked. A failure leaves none open. Statements
    /// leave the mark with their commit, and take it then.
    pub fn attempt(
        &mut self,
        link: &mut L,
        transaction: &Transaction,
        mark: &mut Option<CommitMark>,
    ) -> Answer<bool> {
        match &mut self.0 {
            Prepared::Functions(functions) => link.call(functions, transaction),
            Prepared::Statements(pipeline) => {
                transactions::attempt(link, pipeline, transaction, mark)
            }
        }
    }
}
