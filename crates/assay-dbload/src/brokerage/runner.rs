//! A transaction of statements at work: what it puts, what it reads of the answers, and which transaction is which.

use super::outcome::{Days, TransactionOutcome};
use crate::load::{CommitMark, Product, TransactionRunner, Value};
use assay_loads::brokerage::Transaction;
use assay_model::failure::Answer;

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
