//! Two brokerages with the same books, and whether two ways to deal in them answer and do the same.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, and each uses another part of this"
)]

use assay_dbload::brokerage::{BrokerageSchema, Days, PreparedBrokerage, TransactionOutcome};
use assay_dbload::load::{
    Calls, CommitMarks, Dialect, Isolation, LoadSchema, LoadTables, Product, SharedCommitLog,
    TableFill, fill, single_number,
};
use assay_loads::brokerage::{BrokerageRules, BrokerageSession, Market};
use assay_model::mix::Mix;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The smallest of all loads with more than one broker.
pub const SMALL: &str = "--customers 200 --trade-days 1 --quiet --json";
/// Everything happens within seconds.
pub const BUSY: &str = "format = 1\nname = \"busy\"\nversion = 7\norders_per_feed = \
                        3\nmaintenance_every = \"100ms\"\n[shares]\nbroker_volume = \
                        1\ncustomer_position = 1\nmarket_watch = 1\nsecurity_detail = \
                        1\ntrade_lookup = 2\ntrade_order = 5\ntrade_status = 1\ntrade_update = 2\n";
/// Transactions that are carried out on both sides.
const STEPS: u64 = 500;

/// A side: a server's database with a schema of its own, and how transactions go there.
pub struct Side<L: Product> {
    address: L::Address,
    database: LoadSchema<L>,
    calls: Calls,
}

pub fn rules() -> BrokerageRules {
    BrokerageRules { customers: 200, trade_days: 1, ..BrokerageRules::default() }
}

impl<L: Product> Side<L> {
    /// A side without books.
    pub fn new(address: L::Address, schema: &str, calls: Calls) -> Self {
        let database = LoadSchema::at(&address, schema).unwrap();
        Self { address, database, calls }
    }

    /// Makes the books.
    pub fn fill(&mut self, rules: &BrokerageRules) {
        let (stop, mut nobody) = (AtomicBool::new(false), |_, _| ());
        let doing = TableFill {
            tables: &BrokerageSchema { rules },
            seed: rules.seed,
            found: None,
            loaders: 1,
            stop: &stop,
            progress: &mut nobody,
        };
        fill(&mut self.database, doing).unwrap_or_else(|error| panic!("{}", error.message()));
    }

    fn days(&self, rules: &BrokerageRules) -> Days {
        let schema = self.database.schema.clone();
        Days::of(&mut L::open(&self.address).unwrap(), &schema, rules).unwrap()
    }

    /// Sums over all columns of all tables, but for moments and days: when that is depends on the
    /// clock.
    fn sums(&self, rules: &BrokerageRules) -> Vec<(String, Option<u64>)> {
        let (floor, schema) = (BrokerageSchema { rules }, self.database.schema.clone());
        let long = if L::DIALECT == Dialect::Postgres { "bigint" } else { "signed" };
        let mut link = L::open(&self.address).unwrap();
        let mut sums = Vec::new();
        for layout in floor.all().into_iter().map(|table| floor.layout(table)) {
            let table = &layout.name;
            for column in layout.columns.split(", ") {
                let (name, kind) = column.split_once(' ').unwrap();
                let value = match kind.split('(').next().unwrap() {
                    "int" | "bigint" | "numeric" => name.to_owned(),
                    "boolean" => format!("CASE WHEN {name} THEN 1 ELSE 0 END"),
                    "varchar" | "text" => format!("length({name})"),
                    _ => continue,
                };
                // Far above nothing, because sums may lie below it.
                let sql = format!(
                    "SELECT cast(coalesce(sum({value}), 0) * 100 + 4000000000000000000 AS {long}) \
                     FROM {schema}.{table}"
                );
                let sum = single_number(&mut link, &sql).unwrap();
                sums.push((format!("{table}.{name}"), sum));
            }
        }
        sums
    }
}

/// Deals on both sides and compares every answer, and the books afterwards.
pub fn assert_alike<L: Product, M: Product>(mut one: Side<L>, mut other: Side<M>) {
    let (rules, mix) = (rules(), Mix::parse(BUSY).unwrap());
    one.fill(&rules);
    other.fill(&rules);
    if one.days(&rules) != other.days(&rules) {
        // Midnight lies between the two: the one that is older is made again.
        one.database.remove_schema().unwrap();
        one.fill(&rules);
    }
    assert_eq!(one.sums(&rules), other.sums(&rules));
    let (mut first, mut second) =
        (L::open(&one.address).unwrap(), M::open(&other.address).unwrap());
    let isolation = Isolation::ReadCommitted;
    let (schema, calls) = (&one.database.schema, one.calls);
    let unmarked = CommitMarks::new(&SharedCommitLog::default());
    let mut left =
        PreparedBrokerage::of(&mut first, schema, &rules, calls, isolation, &unmarked).unwrap();
    let (schema, calls) = (&other.database.schema, other.calls);
    let mut right =
        PreparedBrokerage::of(&mut second, schema, &rules, calls, isolation, &unmarked).unwrap();
    let (market, mut session) = (Market::new(&rules, &mix), BrokerageSession::new(&rules, &mix, 0));
    let mut taken_back = 0;
    for step in 0..STEPS {
        let transaction = match market.due(Duration::from_millis(10 * step)) {
            Some(due) => session.answer(due),
            None => session.draw(),
        };
        let outcome = ordered(left.attempt(&mut first, &transaction, &mut None).unwrap());
        let again = ordered(right.attempt(&mut second, &transaction, &mut None).unwrap());
        assert_eq!(outcome, again, "{step}: {transaction:?}");
        taken_back += u32::from(outcome.is_rolled_back);
        outcome.orders.into_iter().for_each(|order| market.send(order));
    }
    assert!(taken_back < 20, "{taken_back}");
    assert_eq!(one.sums(&rules), other.sums(&rules));
    for checks in [
        assay_dbload::brokerage::verify(&mut one.database, "now").unwrap(),
        assay_dbload::brokerage::verify(&mut other.database, "now").unwrap(),
    ] {
        assert!(checks.checks.iter().all(|check| check.violations == 0), "{checks:?}");
    }
    let found = assay_dbload::brokerage::found(&mut one.database, &rules).unwrap();
    assert!(found.iter().all(|(_, count)| *count > 0), "{found:?}");
    assert_eq!(found, assay_dbload::brokerage::found(&mut other.database, &rules).unwrap());
}

fn ordered(mut outcome: TransactionOutcome) -> TransactionOutcome {
    outcome.orders.sort_by_key(|order| order.trade);
    outcome
}
