//! One session of the load: transactions of the five kinds, tried again when the server refuses
//! them for the sake of others; and how they reach the server, as functions of it or as statements.

use super::statements::all;
use super::{functions, transactions};
use crate::load::{
    Calls, CommitMark, CommitMarks, Isolation, LoadSchema, LoadSession, Method, Product,
    SharedCommitLog, StatementPipeline, StepKind, StepResult, Steps,
};
use assay_loads::oltp::{OltpRules, OltpTransaction};
use assay_model::Result;
use assay_model::failure::Answer;
use assay_model::load::{LoadKind, NEW_ORDER};
use assay_model::measurement::Operation;
use assay_model::units::Nanos;
use std::marker::PhantomData;

/// The kinds of steps; an order that is rolled back as asked does not count as a new order.
const KINDS: [StepKind; 6] = [
    StepKind { name: NEW_ORDER.stream, operation: Operation::Write },
    StepKind { name: "payment", operation: Operation::Write },
    StepKind { name: "order status", operation: Operation::Read },
    StepKind { name: "delivery", operation: Operation::Write },
    StepKind { name: "stock level", operation: Operation::Read },
    StepKind { name: "rolled back order", operation: Operation::Write },
];
/// The place of the last kind.
const ROLLED_BACK: usize = 5;

/// The load.
pub struct Orders<'a, L> {
    /// The scale and the choices.
    pub rules: &'a OltpRules,
    /// How transactions reach the server.
    pub calls: Calls,
    /// How they are kept apart.
    pub isolation: Isolation,
    /// Where acknowledged transactions go, once a run keeps a log of them.
    pub commits: SharedCommitLog,
    product: PhantomData<fn() -> L>,
}

impl<'a, L> Orders<'a, L> {
    /// The load by these rules.
    pub fn new(rules: &'a OltpRules, calls: Calls, isolation: Isolation) -> Self {
        let commits = SharedCommitLog::default();
        Self { rules, calls, isolation, commits, product: PhantomData }
    }
}

/// One session of it.
pub struct OrderSession<L: Product> {
    schema: String,
    calls: Calls,
    isolation: Isolation,
    session: assay_loads::oltp::OltpSession,
    commits: CommitMarks,
    steps: Steps<OltpTransaction, PreparedOrders<L>>,
}

impl<L: Product> Method for Orders<'_, L> {
    type Link = L;
    type Session = OrderSession<L>;

    fn kind(&self) -> LoadKind {
        LoadKind::Oltp
    }

    fn kinds(&self) -> &[StepKind] {
        &KINDS
    }

    fn commits(&self, kind: usize) -> Option<bool> {
        Some(kind != ROLLED_BACK)
    }

    fn check(&self, database: &mut LoadSchema<L>) -> Result<()> {
        database.admin.check_rows_of_json()
    }

    fn session(&self, database: &LoadSchema<L>, number: u32) -> OrderSession<L> {
        OrderSession {
            schema: database.schema.clone(),
            calls: self.calls,
            isolation: self.isolation,
            session: assay_loads::oltp::OltpSession::new(self.rules, number),
            commits: CommitMarks::new(&self.commits),
            steps: Steps::default(),
        }
    }
}

impl<L: Product> LoadSession for OrderSession<L> {
    type Link = L;

    fn prepare(&mut self, connection: &mut L) -> Answer<()> {
        self.commits.begin();
        let Self { schema, calls, isolation, commits, .. } = &*self;
        self.steps.begin(PreparedOrders::of(connection, schema, *calls, *isolation, commits)?);
        Ok(())
    }

    fn choose(&mut self) -> Option<Nanos> {
        let (transaction, wait) = self.session.draw();
        self.steps.choose(transaction);
        Some(wait)
    }

    fn step(&mut self, connection: &mut L) -> StepResult {
        let commits = &mut self.commits;
        self.steps.step::<L>(place, |prepared, transaction| {
            let changes = KINDS[place(transaction)].operation == Operation::Write;
            let is_committed =
                commits.leave(changes, |mark| prepared.attempt(connection, transaction, mark))?;
            Ok(if is_committed { place(transaction) } else { ROLLED_BACK })
        })
    }
}

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

    /// One try of a transaction; whether it was committed, and not rolled back as asked. A failure
    /// leaves none open. Statements leave the mark with their commit, and take it then.
    pub fn attempt(
        &mut self,
        link: &mut L,
        transaction: &OltpTransaction,
        mark: &mut Option<CommitMark>,
    ) -> Answer<bool> {
        match self.calls {
            Calls::Functions => functions::call(link, &mut self.pipeline, transaction),
            Calls::Statements => transactions::attempt(link, &mut self.pipeline, transaction, mark),
        }
    }
}

/// Place of a transaction's kind.
const fn place(transaction: &OltpTransaction) -> usize {
    match transaction {
        OltpTransaction::NewOrder(_) => 0,
        OltpTransaction::Payment(_) => 1,
        OltpTransaction::OrderStatus(_) => 2,
        OltpTransaction::Delivery(_) => 3,
        OltpTransaction::StockLevel(_) => 4,
    }
}
