//! One session of the load: transactions of the five kinds, tried again when the server refuses them for the sake of
//! others.

use super::functions::UNUSED_ITEM;
use super::statements::{Turn, prepare};
use crate::load::{Database, Done, Kind, Method, Session};
use assay_loads::oltp::{Customer, Rules, Transaction};
use assay_model::measurement::Operation;
use assay_model::units::Nanos;
use assay_postgres::connection::{Answers, Batch, Connection};
use assay_postgres::failure::{Answer, Failure};

/// The kinds of steps; an order that is rolled back as asked is no new order.
const KINDS: [Kind; 6] = [
    Kind { name: "new order", operation: Operation::Write },
    Kind { name: "payment", operation: Operation::Write },
    Kind { name: "order status", operation: Operation::Read },
    Kind { name: "delivery", operation: Operation::Write },
    Kind { name: "stock level", operation: Operation::Read },
    Kind { name: "rolled back order", operation: Operation::Write },
];
/// The place of the last kind.
const ROLLED_BACK: usize = 5;
/// A transaction is tried so often.
const TRIES: usize = 20;

/// How transactions reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Calls {
    /// As a call of a function: one turn of the wire each.
    #[default]
    Functions,
    /// As prepared statements that travel together: two turns at most.
    Statements,
}

/// How transactions are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Isolation {
    /// The server's usual way.
    #[default]
    ReadCommitted,
    /// A snapshot; who changes what another has changed since is refused.
    RepeatableRead,
    /// As if one came after the other.
    Serializable,
}

/// The load.
pub struct Orders<'a> {
    /// The scale and the choices.
    pub rules: &'a Rules,
    /// How transactions reach the server.
    pub calls: Calls,
    /// How they are kept apart.
    pub isolation: Isolation,
}

/// One session of it.
pub struct OrderSession {
    schema: String,
    calls: Calls,
    isolation: Isolation,
    session: assay_loads::oltp::Session,
    next: Option<Transaction>,
    batch: Batch,
    answers: Answers,
}

impl Calls {
    /// The words for it in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Functions => "functions of the server (proc)",
            Self::Statements => "prepared statements, pipelined (stmt)",
        }
    }
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

impl Method for Orders<'_> {
    type Session = OrderSession;

    fn name(&self) -> &'static str {
        "oltp"
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn session(&self, database: &Database, number: u32) -> OrderSession {
        OrderSession {
            schema: database.schema.clone(),
            calls: self.calls,
            isolation: self.isolation,
            session: assay_loads::oltp::Session::new(self.rules, number),
            next: None,
            batch: Batch::default(),
            answers: Answers::default(),
        }
    }
}

impl Session for OrderSession {
    fn prepare(&mut self, connection: &mut Connection) -> Answer<()> {
        connection.run(
            "SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0; \
             SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off",
        )?;
        let isolation = self.isolation.name();
        connection.run(&format!("SET default_transaction_isolation = '{isolation}'"))?;
        // Only some users may: times in the result say whether they were taken, and a rolled back order fills a log.
        let _ = connection.run("SET track_io_timing = on");
        let _ = connection.run("SET log_min_messages = fatal");
        match self.calls {
            Calls::Functions => parse_calls(connection, &self.schema),
            Calls::Statements => prepare(connection, &self.schema),
        }
    }

    fn choose(&mut self) -> Option<Nanos> {
        let (transaction, wait) = self.session.draw();
        self.next = Some(transaction);
        Some(wait)
    }

    fn step(&mut self, connection: &mut Connection) -> Done {
        let Some(transaction) = self.next.take() else {
            return Done::once(
                0,
                0,
                Err(Failure::Strange("a step that was not chosen".to_owned())),
            );
        };
        let kind = place(&transaction);
        let mut retried = Vec::new();
        loop {
            let failure = match self.attempt(connection, &transaction) {
                Ok(true) => return Done { kind, bytes: 0, answer: Ok(()), retried },
                Ok(false) => return Done { kind: ROLLED_BACK, bytes: 0, answer: Ok(()), retried },
                Err(failure) => failure,
            };
            if !is_for_others(&failure) || retried.len() + 1 >= TRIES {
                return Done { kind, bytes: 0, answer: Err(failure), retried };
            }
            retried.push(failure);
        }
    }
}

impl OrderSession {
    /// One try; whether it was committed, and not rolled back as asked. A failure leaves no transaction open.
    fn attempt(&mut self, connection: &mut Connection, transaction: &Transaction) -> Answer<bool> {
        if self.calls == Calls::Statements {
            let Self { batch, answers, .. } = self;
            let taken = Turn { connection, batch, answers }.take(transaction);
            if taken.as_ref().is_err_and(|failure| !failure.is_lost()) {
                connection.run("ROLLBACK")?;
            }
            return taken;
        }
        self.batch.clear();
        call(&mut self.batch, transaction);
        match connection.exchange(&mut self.batch, &mut self.answers) {
            Ok(()) => Ok(true),
            Err(failure) if failure.code() == Some(UNUSED_ITEM) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

/// Serialisation failures and deadlocks: the transaction is right, the moment was wrong.
fn is_for_others(failure: &Failure) -> bool {
    matches!(failure.code(), Some("40001" | "40P01"))
}

/// Place of a transaction's kind.
const fn place(transaction: &Transaction) -> usize {
    match transaction {
        Transaction::NewOrder(_) => 0,
        Transaction::Payment(_) => 1,
        Transaction::OrderStatus(_) => 2,
        Transaction::Delivery(_) => 3,
        Transaction::StockLevel(_) => 4,
    }
}

fn parse_calls(connection: &mut Connection, schema: &str) -> Answer<()> {
    for (name, parameters) in [
        ("place_order", "$1::int, $2::int, $3::int, $4::int[], $5::int[], $6::int[]"),
        ("pay", "$1::int, $2::int, $3::int, $4::int, $5::int, $6::text, $7::int"),
        ("last_order", "$1::int, $2::int, $3::int, $4::text"),
        ("deliver", "$1::int, $2::int"),
        ("low_stock", "$1::int, $2::int, $3::int"),
    ] {
        connection.parse(name, &format!("SELECT {schema}.{name}({parameters})"))?;
    }
    Ok(())
}

/// A customer as number and name; one of them says nothing.
fn both(customer: &Customer) -> (u32, &str) {
    match customer {
        Customer::Number(number) => (*number, ""),
        Customer::Name(name) => (0, name),
    }
}

/// The call of a transaction.
fn call(batch: &mut Batch, transaction: &Transaction) {
    match transaction {
        Transaction::NewOrder(order) => batch.execute("place_order", |values| {
            values.integer(order.warehouse).integer(order.district).integer(order.customer);
            values.integers(order.lines.iter().map(|line| line.supply));
            values.integers(order.lines.iter().map(|line| line.item));
            values.integers(order.lines.iter().map(|line| line.quantity));
        }),
        Transaction::Payment(payment) => batch.execute("pay", |values| {
            let (number, name) = both(&payment.customer);
            values.integer(payment.warehouse).integer(payment.district);
            values.integer(payment.customer_warehouse).integer(payment.customer_district);
            values.integer(number).text(name).integer(payment.amount);
        }),
        Transaction::OrderStatus(asked) => batch.execute("last_order", |values| {
            let (number, name) = both(&asked.customer);
            values.integer(asked.warehouse).integer(asked.district).integer(number).text(name);
        }),
        Transaction::Delivery(delivery) => batch.execute("deliver", |values| {
            values.integer(delivery.warehouse).integer(delivery.carrier);
        }),
        Transaction::StockLevel(asked) => batch.execute("low_stock", |values| {
            values.integer(asked.warehouse).integer(asked.district).integer(asked.threshold);
        }),
    }
}
