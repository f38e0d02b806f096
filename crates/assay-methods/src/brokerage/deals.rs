//! One session of the load: what customers ask for in the order of the mix, and before it what the market has to say.

use super::functions::{TAKEN_BACK, parse};
use crate::load::{Database, Done, Isolation, Kind, Method, Session, steady, until_done};
use assay_loads::brokerage::{
    Customer, Due, Lookup, Market, Order, Position, Rules, Tick, TradeOrder, Transaction, Update,
    Watch, Watched,
};
use assay_model::Result;
use assay_model::failure::{Answer, Failure};
use assay_model::measurement::Operation;
use assay_model::mix::Mix;
use assay_model::units::Nanos;
use assay_postgres::connection::{Answers, Batch, Connection, Fields, Values};

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The transaction that is counted.
pub const TRADE_RESULT: &str = "trade result";
/// The kinds of steps; an order that is taken back as asked is no trade order. Trade cleanup, the twelfth transaction,
/// comes once before each rung and is no step.
pub const KINDS: [Kind; 12] = [
    Kind { name: TRADE_RESULT, operation: Operation::Write },
    Kind { name: "trade order", operation: Operation::Write },
    Kind { name: "market feed", operation: Operation::Write },
    Kind { name: "trade update", operation: Operation::Write },
    Kind { name: "data maintenance", operation: Operation::Write },
    Kind { name: "broker volume", operation: Operation::Read },
    Kind { name: "customer position", operation: Operation::Read },
    Kind { name: "market watch", operation: Operation::Read },
    Kind { name: "security detail", operation: Operation::Read },
    Kind { name: "trade lookup", operation: Operation::Read },
    Kind { name: "trade status", operation: Operation::Read },
    Kind { name: "rolled back order", operation: Operation::Write },
];
/// The place of the last kind.
const ROLLED_BACK: usize = 11;

/// The load.
pub struct Brokerage<'a> {
    rules: &'a Rules,
    mix: &'a Mix,
    isolation: Isolation,
    market: Arc<Market>,
    /// When the rung began.
    begun: Arc<Mutex<Instant>>,
}

/// One session of it.
pub struct BrokerSession {
    schema: String,
    isolation: Isolation,
    session: assay_loads::brokerage::Session,
    market: Arc<Market>,
    begun: Arc<Mutex<Instant>>,
    next: Option<Transaction>,
    batch: Batch,
    answers: Answers,
}

impl<'a> Brokerage<'a> {
    /// The load; rules and mix must have passed their checks.
    pub fn new(rules: &'a Rules, mix: &'a Mix, isolation: Isolation) -> Self {
        let market = Arc::new(Market::new(rules, mix));
        Self { rules, mix, isolation, market, begun: Arc::new(Mutex::new(Instant::now())) }
    }

    /// The scale and the choices.
    pub const fn rules(&self) -> &Rules {
        self.rules
    }
}

impl Method for Brokerage<'_> {
    type Link = Connection;
    type Session = BrokerSession;

    fn name(&self) -> &'static str {
        "brokerage"
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    /// Trade cleanup: a rung does not meet the orders that an earlier one left at the market.
    fn check(&self, database: &mut Database) -> Result<()> {
        let sql = format!("SELECT canceled FROM {}.trade_cleanup()", database.schema);
        let cleaned = database.admin.one(&sql);
        cleaned.map_err(|failure| failure.of("cancelling the orders of an earlier rung"))?;
        self.market.clear();
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }

    fn session(&self, database: &Database, number: u32) -> BrokerSession {
        BrokerSession {
            schema: database.schema.clone(),
            isolation: self.isolation,
            session: assay_loads::brokerage::Session::new(self.rules, self.mix, number),
            market: Arc::clone(&self.market),
            begun: Arc::clone(&self.begun),
            next: None,
            batch: Batch::default(),
            answers: Answers::default(),
        }
    }
}

impl Session for BrokerSession {
    type Link = Connection;

    fn prepare(&mut self, connection: &mut Connection) -> Answer<()> {
        steady(connection, self.isolation)?;
        parse(connection, &self.schema)
    }

    fn choose(&mut self) -> Option<Nanos> {
        let due: Option<Due> = self.market.due(self.elapsed());
        self.next = Some(match due {
            Some(due) => self.session.answer(due),
            None => self.session.draw(),
        });
        Some(Nanos(0))
    }

    fn step(&mut self, connection: &mut Connection) -> Done {
        let Some(transaction) = self.next.take() else {
            let strange = Failure::Strange("a step that was not chosen".to_owned());
            return Done::once(0, 0, Err(strange));
        };
        let kind = place(&transaction);
        until_done::<Connection>(kind, || self.attempt(connection, kind, &transaction))
    }
}

impl BrokerSession {
    fn elapsed(&self) -> Duration {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// One try; says what became of it.
    fn attempt(
        &mut self,
        connection: &mut Connection,
        kind: usize,
        transaction: &Transaction,
    ) -> Answer<usize> {
        self.batch.clear();
        call(&mut self.batch, transaction);
        match connection.exchange(&mut self.batch, &mut self.answers) {
            Ok(()) => {
                self.heed(transaction)?;
                Ok(kind)
            }
            Err(failure) if failure.code() == Some(TAKEN_BACK) => Ok(ROLLED_BACK),
            Err(failure) => Err(failure),
        }
    }

    /// Gives to the market what goes there: orders that do not wait, and those that waited until now.
    fn heed(&self, transaction: &Transaction) -> Answer<()> {
        let row = || {
            let row = self.answers.row(0);
            row.ok_or_else(|| Failure::Strange("a transaction without an answer".to_owned()))
        };
        match transaction {
            Transaction::TradeOrder(order) => {
                let row = row()?;
                if row.integer(1) == Some(1) {
                    self.market.send(sent(row, order.quantity));
                }
            }
            Transaction::MarketFeed(_) => {
                row()?
                    .text(0)
                    .split(';')
                    .filter_map(triggered)
                    .for_each(|order| self.market.send(order));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The order that a trade order became.
fn sent(row: Fields<'_>, quantity: u32) -> Order {
    Order {
        trade: row.integer(0).unwrap_or(0),
        symbol: row.text(2).to_owned(),
        quantity,
        price_cents: row.integer(3).unwrap_or(0),
    }
}

/// An order whose price was reached: trade, symbol, quantity and price.
fn triggered(told: &str) -> Option<Order> {
    let mut parts = told.split(',');
    Some(Order {
        trade: parts.next()?.parse().ok()?,
        symbol: parts.next()?.to_owned(),
        quantity: parts.next()?.parse().ok()?,
        price_cents: parts.next()?.parse().ok()?,
    })
}

/// Place of a transaction's kind.
const fn place(transaction: &Transaction) -> usize {
    match transaction {
        Transaction::TradeResult(_) => 0,
        Transaction::TradeOrder(_) => 1,
        Transaction::MarketFeed(_) => 2,
        Transaction::TradeUpdate(_) => 3,
        Transaction::DataMaintenance(_) => 4,
        Transaction::BrokerVolume(_) => 5,
        Transaction::CustomerPosition(_) => 6,
        Transaction::MarketWatch(_) => 7,
        Transaction::SecurityDetail(_) => 8,
        Transaction::TradeLookup(_) => 9,
        Transaction::TradeStatus(_) => 10,
    }
}

/// A price as a parameter.
fn cents(price_cents: i64) -> u32 {
    u32::try_from(price_cents).unwrap_or(0)
}

/// Numbers or names with commas between them.
fn joined<T: ToString>(values: impl Iterator<Item = T>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// The call of a transaction.
fn call(batch: &mut Batch, transaction: &Transaction) {
    match transaction {
        Transaction::BrokerVolume(asked) => batch.execute("broker_volume", |values| {
            values.text(&asked.brokers.join(",")).text(asked.sector);
        }),
        Transaction::CustomerPosition(asked) => {
            batch.execute("customer_position", |values| position(values, asked));
        }
        Transaction::MarketWatch(asked) => {
            batch.execute("market_watch", |values| watch(values, asked));
        }
        Transaction::SecurityDetail(asked) => batch.execute("security_detail", |values| {
            values.text(&asked.symbol).integer(asked.days_back).integer(asked.days);
            values.integer(u32::from(asked.with_texts));
        }),
        Transaction::TradeLookup(lookup) => call_lookup(batch, lookup),
        Transaction::TradeOrder(order) => {
            batch.execute("trade_order", |values| order_of(values, order));
        }
        Transaction::TradeStatus(account) => batch.execute("trade_status", |values| {
            values.integer(*account);
        }),
        Transaction::TradeUpdate(update) => call_update(batch, update),
        Transaction::TradeResult(order) => batch.execute("trade_result", |values| {
            values.long(order.trade).integer(cents(order.price_cents));
        }),
        Transaction::MarketFeed(ticks) => {
            batch.execute("market_feed", |values| feed(values, ticks));
        }
        Transaction::DataMaintenance(care) => batch.execute("data_maintenance", |values| {
            values.integer(care.what).integer(care.customer).text(&care.symbol);
        }),
    }
}

fn position(values: &mut Values<'_>, asked: &Position) {
    let (number, code) = match &asked.customer {
        Customer::Number(number) => (*number, ""),
        Customer::TaxCode(code) => (0, code.as_str()),
    };
    values.integer(number).text(code);
    match asked.history_of {
        Some(account) => values.integer(account),
        None => values.signed(-1),
    };
}

fn watch(values: &mut Values<'_>, asked: &Watch) {
    let (customer, account, industry) = match &asked.watched {
        Watched::List(customer) => (*customer, 0, ""),
        Watched::Account(account) => (0, *account, ""),
        Watched::Industry(industry) => (0, 0, industry.as_str()),
    };
    values.integer(customer).integer(account).text(industry).integer(asked.days_back);
}

fn order_of(values: &mut Values<'_>, order: &TradeOrder) {
    let (first, last, code) = &order.executor;
    let (symbol, company, issue) = match &order.security {
        Ok(symbol) => (symbol.as_str(), "", ""),
        Err((company, issue)) => ("", company.as_str(), *issue),
    };
    values.integer(order.account).text(first).text(last).text(code);
    values.text(symbol).text(company).text(issue);
    values.integer(order.kind).integer(order.quantity).integer(cents(order.limit_cents));
    for flag in [order.is_cash, order.is_lifo, order.is_rolled_back] {
        values.integer(u32::from(flag));
    }
}

fn feed(values: &mut Values<'_>, ticks: &[Tick]) {
    values.text(&joined(ticks.iter().map(|tick| &tick.symbol)));
    values.text(&joined(ticks.iter().map(|tick| tick.price_cents)));
    values.text(&joined(ticks.iter().map(|tick| tick.quantity)));
}

fn call_lookup(batch: &mut Batch, lookup: &Lookup) {
    match lookup {
        Lookup::Trades(numbers) => batch.execute("lookup_trades", |values| {
            values.text(&joined(numbers.iter()));
        }),
        Lookup::Account(account, from_s) => batch.execute("lookup_account", |values| {
            values.integer(*account).integer(*from_s);
        }),
        Lookup::Security(symbol, from_s) => batch.execute("lookup_security", |values| {
            values.text(symbol).integer(*from_s);
        }),
        Lookup::Holding(account, from_s) => batch.execute("lookup_holding", |values| {
            values.integer(*account).integer(*from_s);
        }),
    }
}

fn call_update(batch: &mut Batch, update: &Update) {
    match update {
        Update::Executor(numbers) => batch.execute("update_executor", |values| {
            values.text(&joined(numbers.iter()));
        }),
        Update::Settlement(account, from_s) => batch.execute("update_settlement", |values| {
            values.integer(*account).integer(*from_s);
        }),
        Update::Cash(symbol, from_s) => batch.execute("update_cash", |values| {
            values.text(symbol).integer(*from_s);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_whose_price_was_reached_are_read_and_nothing_else() {
        let told = "7,AAAAAB,100,2550;9,AAAAAC,200,1000;";
        let orders: Vec<Order> = told.split(';').filter_map(triggered).collect();
        assert_eq!(orders.len(), 2);
        assert_eq!((orders[1].trade, orders[1].price_cents), (9, 1000));
        assert_eq!((orders[0].symbol.as_str(), orders[0].quantity), ("AAAAAB", 100));
        assert!(triggered("").is_none() && triggered("7,A").is_none());
    }

    #[test]
    fn the_kinds_stand_where_their_transactions_say() {
        assert_eq!(KINDS[place(&Transaction::TradeStatus(1))].name, "trade status");
        assert_eq!(KINDS[place(&Transaction::MarketFeed(Vec::new()))].name, "market feed");
        assert_eq!(KINDS[ROLLED_BACK].name, "rolled back order");
        assert_eq!(KINDS[0].name, TRADE_RESULT);
    }
}
