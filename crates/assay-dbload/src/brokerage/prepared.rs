//! How the transactions of a session reach their server: as functions of it or as statements, with the days of the data.

use super::runner;
use super::statements::all;
use super::store::{BrokerStore, Days, TransactionOutcome};
use crate::load::{Calls, CommitMark, CommitMarks, Isolation, Pipeline, Prepared};
use assay_loads::brokerage::{Rules, Transaction};
use assay_model::failure::Answer;

/// What a session keeps between its transactions.
pub struct PreparedBrokerage<L: BrokerStore> {
    prepared: Prepared<L::Functions, L::Pipeline>,
    days: Days,
}

impl<L: BrokerStore> PreparedBrokerage<L> {
    /// Settings and statements of a fresh session.
    pub fn of(
        link: &mut L,
        schema: &str,
        rules: &Rules,
        calls: Calls,
        isolation: Isolation,
        commits: &CommitMarks,
    ) -> Answer<Self> {
        link.begin_session(isolation)?;
        let days = Days::of(link, schema, rules)?;
        let functions = match calls {
            Calls::Functions => link.functions(schema)?,
            Calls::Statements => None,
        };
        let prepared = if let Some(functions) = functions {
            Prepared::Functions(functions)
        } else {
            let mut statements = all::<L>(schema);
            statements.extend(commits.statement(L::DIALECT, schema));
            Prepared::Statements(L::Pipeline::prepare(link, schema, statements)?)
        };
        Ok(Self { prepared, days })
    }

    /// One try of a transaction. A failure leaves none open. Statements leave the mark with their commit, and take it then.
    pub fn attempt(
        &mut self,
        link: &mut L,
        transaction: &Transaction,
        mark: &mut Option<CommitMark>,
    ) -> Answer<TransactionOutcome> {
        match &mut self.prepared {
            Prepared::Functions(functions) => link.call(functions, transaction),
            Prepared::Statements(pipeline) => {
                runner::attempt(link, pipeline, self.days, transaction, mark)
            }
        }
    }
}
