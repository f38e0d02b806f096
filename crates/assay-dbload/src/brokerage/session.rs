//! One session of the load: what customers ask for in the order of the mix, and before it what the
//! market has to say; and how its transactions reach the server, as functions of it or as
//! statements.

use super::functions;
use super::statements::{PHRASES, all};
use super::transactions::{self, Days, TransactionOutcome};
use crate::load::{
    Calls, CommitMark, CommitMarks, Isolation, LoadSchema, LoadSession, Method, Product,
    SharedCommitLog, StatementPipeline, StepKind, StepResult, Steps,
};
use assay_loads::brokerage::{BrokerageRules, BrokerageTransaction, Market, MarketDue};
use assay_model::Result;
use assay_model::failure::Answer;
use assay_model::load::{LoadKind, TRADE_RESULT};
use assay_model::measurement::Operation;
use assay_model::mix::Mix;
use assay_model::units::Nanos;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The kinds of steps; an order that is taken back as asked does not count as a trade order. Trade
/// cleanup, the twelfth transaction, comes once before each step and is not a step.
pub const KINDS: [StepKind; 12] = [
    StepKind { name: TRADE_RESULT.stream, operation: Operation::Write },
    StepKind { name: "trade order", operation: Operation::Write },
    StepKind { name: "market feed", operation: Operation::Write },
    StepKind { name: "trade update", operation: Operation::Write },
    StepKind { name: "data maintenance", operation: Operation::Write },
    StepKind { name: "broker volume", operation: Operation::Read },
    StepKind { name: "customer position", operation: Operation::Read },
    StepKind { name: "market watch", operation: Operation::Read },
    StepKind { name: "security detail", operation: Operation::Read },
    StepKind { name: "trade lookup", operation: Operation::Read },
    StepKind { name: "trade status", operation: Operation::Read },
    StepKind { name: "rolled back order", operation: Operation::Write },
];
/// The place of the last kind.
const ROLLED_BACK: usize = 11;

/// The load.
pub struct Brokerage<'a, L> {
    rules: &'a BrokerageRules,
    mix: &'a Mix,
    calls: Calls,
    isolation: Isolation,
    market: Arc<Market>,
    /// When the step began.
    started: Arc<Mutex<Instant>>,
    /// Where acknowledged transactions go, once a run keeps a log of them.
    pub commits: SharedCommitLog,
    product: PhantomData<fn() -> L>,
}

/// One session of it.
pub struct BrokerSession<L: Product> {
    schema: String,
    rules: BrokerageRules,
    calls: Calls,
    isolation: Isolation,
    session: assay_loads::brokerage::BrokerageSession,
    market: Arc<Market>,
    started: Arc<Mutex<Instant>>,
    commits: CommitMarks,
    steps: Steps<BrokerageTransaction, PreparedBrokerage<L>>,
}

impl<'a, L> Brokerage<'a, L> {
    /// The load; rules and mix must have passed their checks.
    pub fn new(
        rules: &'a BrokerageRules,
        mix: &'a Mix,
        calls: Calls,
        isolation: Isolation,
    ) -> Self {
        let market = Arc::new(Market::new(rules, mix));
        let started = Arc::new(Mutex::new(Instant::now()));
        let commits = SharedCommitLog::default();
        Self { rules, mix, calls, isolation, market, started, commits, product: PhantomData }
    }

    /// The scale and the choices.
    pub const fn rules(&self) -> &BrokerageRules {
        self.rules
    }
}

impl<L: Product> Method for Brokerage<'_, L> {
    type Link = L;
    type Session = BrokerSession<L>;

    fn kind(&self) -> LoadKind {
        LoadKind::Brokerage
    }

    fn kinds(&self) -> &[StepKind] {
        &KINDS
    }

    /// Trade cleanup: a step does not meet the orders that an earlier one left at the market.
    fn check(&self, database: &mut LoadSchema<L>) -> Result<()> {
        let sql = cleanup(&database.schema, self.rules);
        let cleaned = database.admin.run(&sql);
        cleaned.map_err(|failure| failure.of("cancelling the orders of an earlier step"))?;
        self.market.clear();
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }

    fn session(&self, database: &LoadSchema<L>, number: u32) -> BrokerSession<L> {
        BrokerSession {
            schema: database.schema.clone(),
            rules: self.rules.clone(),
            calls: self.calls,
            isolation: self.isolation,
            session: assay_loads::brokerage::BrokerageSession::new(self.rules, self.mix, number),
            market: Arc::clone(&self.market),
            started: Arc::clone(&self.started),
            commits: CommitMarks::new(&self.commits),
            steps: Steps::default(),
        }
    }
}

impl<L: Product> LoadSession for BrokerSession<L> {
    type Link = L;

    fn prepare(&mut self, connection: &mut L) -> Answer<()> {
        self.commits.begin();
        let Self { schema, rules, calls, isolation, commits, .. } = &*self;
        let ready = PreparedBrokerage::of(connection, schema, rules, *calls, *isolation, commits)?;
        self.steps.begin(ready);
        Ok(())
    }

    fn choose(&mut self) -> Option<Nanos> {
        let due: Option<MarketDue> = self.market.due(self.elapsed());
        let (next, think) = match due {
            // The market does not think.
            Some(due) => (self.session.answer(due), Nanos(0)),
            None => (self.session.draw(), self.session.think()),
        };
        self.steps.choose(next);
        Some(think)
    }

    fn step(&mut self, connection: &mut L) -> StepResult {
        let (market, commits) = (&self.market, &mut self.commits);
        self.steps.step::<L>(place, |prepared, transaction| {
            let changes = KINDS[place(transaction)].operation == Operation::Write;
            let outcome =
                commits.leave(changes, |mark| prepared.attempt(connection, transaction, mark))?;
            // Orders that do not wait go to the market, and those that waited until now.
            outcome.orders.into_iter().for_each(|order| market.send(order));
            Ok(if outcome.is_rolled_back { ROLLED_BACK } else { place(transaction) })
        })
    }
}

impl<L: Product> BrokerSession<L> {
    fn elapsed(&self) -> Duration {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// Trade cleanup: what an earlier step ordered and the market did not answer is cancelled.
fn cleanup(schema: &str, rules: &BrokerageRules) -> String {
    let first = rules.trades() + 1;
    let open = format!("FROM {schema}.trade WHERE id >= {first} AND status IN (1, 2)");
    format!(
        "BEGIN; DELETE FROM {schema}.trade_request; INSERT INTO {schema}.trade_history SELECT id, \
         localtimestamp(6), 4 {open}; UPDATE {schema}.trade SET status = 4, at = \
         localtimestamp(6) WHERE id >= {first} AND status IN (1, 2); COMMIT"
    )
}

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
        rules: &BrokerageRules,
        calls: Calls,
        isolation: Isolation,
        commits: &CommitMarks,
    ) -> Answer<Self> {
        link.begin_session(isolation)?;
        let days = Days::of(link, schema, rules)?;
        // The products that have no functions for this load take statements.
        let has_routines = PHRASES.of(L::DIALECT).routines.is_some();
        let calls = if has_routines { calls } else { Calls::Statements };
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

    /// One try of a transaction. A failure leaves none open. Statements leave the mark with their
    /// commit, and take it then.
    pub fn attempt(
        &mut self,
        link: &mut L,
        transaction: &BrokerageTransaction,
        mark: &mut Option<CommitMark>,
    ) -> Answer<TransactionOutcome> {
        let Self { pipeline, calls, days } = self;
        match calls {
            Calls::Functions => functions::call(link, pipeline, transaction),
            Calls::Statements => transactions::attempt(link, pipeline, *days, transaction, mark),
        }
    }
}

/// Place of a transaction's kind.
const fn place(transaction: &BrokerageTransaction) -> usize {
    match transaction {
        BrokerageTransaction::TradeResult(_) => 0,
        BrokerageTransaction::TradeOrder(_) => 1,
        BrokerageTransaction::MarketFeed(_) => 2,
        BrokerageTransaction::TradeUpdate(_) => 3,
        BrokerageTransaction::DataMaintenance(_) => 4,
        BrokerageTransaction::BrokerVolume(_) => 5,
        BrokerageTransaction::CustomerPosition(_) => 6,
        BrokerageTransaction::MarketWatch(_) => 7,
        BrokerageTransaction::SecurityDetail(_) => 8,
        BrokerageTransaction::TradeLookup(_) => 9,
        BrokerageTransaction::TradeStatus(_) => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_stand_where_their_transactions_say() {
        assert_eq!(KINDS[place(&BrokerageTransaction::TradeStatus(1))].name, "trade status");
        assert_eq!(KINDS[place(&BrokerageTransaction::MarketFeed(Vec::new()))].name, "market feed");
        assert_eq!(KINDS[ROLLED_BACK].name, "rolled back order");
        assert_eq!(KINDS[0].name, TRADE_RESULT.stream);
    }
}
