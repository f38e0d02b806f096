//! A transaction at work: what it puts, what it reads of the answers, and what it found and did, whichever way it went to the server.

use crate::load::{CommitMark, Product, TransactionRunner, Value, loaded_us_of};
use assay_loads::brokerage::{Order, Rules, Transaction};
use assay_model::failure::Answer;

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// What a transaction found and did, the same whichever way it went to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionOutcome {
    /// Counts and sums of money in hundredths; nothing where there was nothing to add up.
    pub figures: Vec<Option<i64>>,
    /// Names and descriptions.
    pub text: String,
    /// Orders that go to the market now.
    pub orders: Vec<Order>,
    /// Whether it was taken back as asked.
    pub is_rolled_back: bool,
}

impl TransactionOutcome {
    /// Figures and nothing else.
    pub(super) fn figures(figures: impl Into<Vec<Option<i64>>>) -> Self {
        Self { figures: figures.into(), ..Self::default() }
    }
}

/// Days of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Days {
    /// The first opening of the market, seconds since 1970.
    pub opened_s: i64,
    /// The last day that has prices, counted from 1970.
    pub last_price_day: i64,
}

impl Days {
    /// Those of the data in a schema that was made by these rules.
    pub fn of<L: Product>(link: &mut L, schema: &str, rules: &Rules) -> Answer<Self> {
        let loaded_us = loaded_us_of(link, schema)?;
        Ok(Self {
            opened_s: rules.opened_us(loaded_us) / SECOND_US,
            last_price_day: i64::from(Rules::last_price_day(loaded_us)),
        })
    }
}

/// A transaction of statements.
pub(super) type BrokerRunner<'a, L> = TransactionRunner<'a, L, Days>;

impl<L: Product> BrokerRunner<'_, L> {
    /// Carries a transaction out.
    fn take(&mut self, transaction: &Transaction) -> Answer<TransactionOutcome> {
        self.begin()?;
        match transaction {
            Transaction::BrokerVolume(asked) => self.broker_volume(asked),
            Transaction::CustomerPosition(asked) => self.customer_position(asked),
            Transaction::MarketWatch(asked) => self.market_watch(asked),
            Transaction::SecurityDetail(asked) => self.security_detail(asked),
            Transaction::TradeLookup(lookup) => self.trade_lookup(lookup),
            Transaction::TradeOrder(order) => self.trade_order(order),
            Transaction::TradeStatus(account) => self.trade_status(*account),
            Transaction::TradeUpdate(update) => self.trade_update(update),
            Transaction::TradeResult(order) => self.trade_result(order),
            Transaction::MarketFeed(ticks) => self.market_feed(ticks),
            Transaction::DataMaintenance(care) => self.data_maintenance(care),
        }
    }
}

/// One try of a transaction as statements. A failure leaves none open.
pub(super) fn attempt<L: Product>(
    link: &mut L,
    pipeline: &mut L::Pipeline,
    days: Days,
    transaction: &Transaction,
    mark: &mut Option<CommitMark>,
) -> Answer<TransactionOutcome> {
    let mut runner = TransactionRunner { link, pipeline, mark, context: days };
    let outcome = runner.take(transaction);
    runner.over(outcome)
}

/// A number for a statement.
pub(super) fn of(number: u32) -> Value<'static> {
    Value::Number(i64::from(number))
}

/// `count` values: those that there are, then the last of them repeated, which does not change a set.
pub(super) fn filled<'a>(
    values: impl Iterator<Item = Value<'a>>,
    count: usize,
    none: Value<'a>,
) -> Vec<Value<'a>> {
    let mut all: Vec<Value<'a>> = values.take(count).collect();
    let last = all.last().copied().unwrap_or(none);
    all.resize(count, last);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_list_is_filled_with_its_last() {
        let numbers = |values: &[u32]| filled(values.iter().map(|one| of(*one)), 3, of(0));
        assert_eq!(numbers(&[7]), [of(7), of(7), of(7)]);
        assert_eq!(numbers(&[]), [of(0), of(0), of(0)]);
        assert_eq!(numbers(&[1, 2, 3, 4]), [of(1), of(2), of(3)]);
    }
}
