//! How the transactions of a session reach their server: as functions of it or as statements, with the days of the data.

use super::runner::{Days, TransactionOutcome};
use super::statements::{all, phrases};
use super::{functions, runner};
use crate::load::{Calls, CommitMark, CommitMarks, Isolation, Pipeline, Product};
use assay_loads::brokerage::{Rules, Transaction};
use assay_model::failure::Answer;

/// What a session keeps between its transactions.
pub struct PreparedBrokerage<L: Product> {
    pipeline: L::Pipeline,
    calls: Calls,
    days: Days,
}

impl<L: Product> PreparedBrokerage<L> {
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
        // The products that have no functions for this load take statements.
        let calls = if phrases(L::DIALECT).has_functions { calls } else { Calls::Statements };
        let statements = match calls {
            Calls::Functions => functions::calls(schema),
            Calls::Statements => {
                let mut statements = all(L::DIALECT, schema);
                statements.extend(commits.statement(L::DIALECT, schema));
                statements
            }
        };
        Ok(Self { pipeline: L::Pipeline::prepare(link, schema, statements)?, calls, days })
    }

    /// One try of a transaction. A failure leaves none open. Statements leave the mark with their commit, and take it then.
    pub fn attempt(
        &mut self,
        link: &mut L,
        transaction: &Transaction,
        mark: &mut Option<CommitMark>,
    ) -> Answer<TransactionOutcome> {
        let Self { pipeline, calls, days } = self;
        match calls {
            Calls::Functions => functions::call(link, pipeline, transaction),
            Calls::Statements => runner::attempt(link, pipeline, *days, transaction, mark),
        }
    }
}
