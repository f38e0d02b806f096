//! The brokerage load on PostgreSQL: its words, and calls of its functions.

use super::calls::{call, outcome, parse};
use super::functions::ROLLED_BACK_CODE;
use super::store::{BrokerStore, TransactionOutcome};
use crate::load::Words;
use assay_loads::brokerage::Transaction;
use assay_model::failure::Answer;
use assay_postgres::connection::{Answers, Batch, Connection};

/// Calls that are sent, and what they gave.
#[derive(Default)]
pub struct FunctionCalls {
    batch: Batch,
    answers: Answers,
}

impl BrokerStore for Connection {
    type Functions = FunctionCalls;

    const WORDS: Words = &[
        ("{long}", "bigint"),
        ("{moment}", "timestamp '1970-01-01' + make_interval(secs => :moment)"),
        ("{since}", "date '1970-01-01' + cast(:since AS int)"),
        ("{lock}", "FOR NO KEY UPDATE"),
        // A statement sees what was committed before it, and a snapshot that is too old is refused.
        ("{fresh}", ""),
        ("{next number}", "nextval('{s}.trade_numbers')"),
        ("{number}", "currval('{s}.trade_numbers')"),
        ("{books}", "assay_trades"),
    ];

    const BEFORE_BOOKS: &'static [&'static str] =
        &["SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'"];
    const MAKE_BOOKS: &'static str = "CREATE TEMP TABLE {books} AS";
    /// A temporary table goes with the session.
    const AFTER_BOOKS: &'static str = "SELECT 1";

    fn functions(&mut self, schema: &str) -> Answer<Option<FunctionCalls>> {
        parse(self, schema)?;
        Ok(Some(FunctionCalls::default()))
    }

    fn call(
        &mut self,
        calls: &mut FunctionCalls,
        transaction: &Transaction,
    ) -> Answer<TransactionOutcome> {
        let FunctionCalls { batch, answers } = calls;
        batch.clear();
        call(batch, transaction);
        match self.exchange(batch, answers) {
            Ok(()) => outcome(transaction, answers),
            Err(failure) if failure.code() == Some(ROLLED_BACK_CODE) => {
                Ok(TransactionOutcome { is_rolled_back: true, ..TransactionOutcome::default() })
            }
            Err(failure) => Err(failure),
        }
    }
}
