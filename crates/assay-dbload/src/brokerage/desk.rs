//! A transaction of statements at work: what it puts, what it reads of the answers, and which transaction is which.

use super::store::{BrokerStore, Days, Told, Value};
use crate::load::none_open;
use assay_loads::brokerage::Transaction;
use assay_model::failure::{Answer, Failure};

/// A transaction of statements.
pub(super) struct Deal<'a, L: BrokerStore> {
    pub(super) link: &'a mut L,
    pub(super) desk: &'a mut L::Desk,
}

impl<L: BrokerStore> Deal<'_, L> {
    /// Carries a transaction out.
    pub(super) fn take(&mut self, transaction: &Transaction) -> Answer<Told> {
        self.link.begin(self.desk)?;
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

    pub(super) fn put(&mut self, name: &'static str, values: &[Value<'_>]) -> Answer<usize> {
        self.link.put(self.desk, name, values)
    }

    pub(super) fn turn(&mut self) -> Answer<()> {
        self.link.turn(self.desk)
    }

    pub(super) fn commit(&mut self) -> Answer<()> {
        self.link.end(self.desk, true)
    }

    /// A number in the first row.
    pub(super) fn number(&self, place: usize, column: usize) -> Option<i64> {
        self.link.number_at(self.desk, place, 0, column)
    }

    /// A number without which nothing goes on.
    pub(super) fn need(&self, place: usize, column: usize, what: &str) -> Answer<i64> {
        self.number(place, column).ok_or_else(|| missing(what))
    }

    pub(super) fn text(&self, place: usize, column: usize) -> &str {
        self.link.text_at(self.desk, place, column)
    }

    pub(super) fn touched(&self, place: usize) -> i64 {
        i64::try_from(self.link.touched(self.desk, place)).unwrap_or(0)
    }

    /// The whole numbers in some columns of all rows.
    pub(super) fn all<const COLUMNS: usize>(&self, place: usize) -> Vec<[i64; COLUMNS]> {
        let rows = self.link.rows(self.desk, place);
        let of = |row, column| self.link.number_at(self.desk, place, row, column).unwrap_or(0);
        (0..rows).map(|row| std::array::from_fn(|column| of(row, column))).collect()
    }

    pub(super) fn days(&self) -> Days {
        L::days(self.desk)
    }
}

/// One try of a transaction as statements. A failure leaves none open.
pub(super) fn attempt<L: BrokerStore>(
    link: &mut L,
    desk: &mut L::Desk,
    transaction: &Transaction,
) -> Answer<Told> {
    let told = Deal { link: &mut *link, desk }.take(transaction);
    none_open(link, told)
}

/// What should be there is not.
pub(super) fn missing(what: &str) -> Failure {
    Failure::Protocol(format!("a {what} is missing"))
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
