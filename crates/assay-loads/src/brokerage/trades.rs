//! Trades before loading, as if customers had ordered them: what they bought stands in their
//! holdings, on their accounts and in the sums of their brokers.
//!
//! A unit of customers deals on its own, so that units can be made at once, and each table that
//! holds data of trades makes them again, so that no memory grows with their number.

use super::fixed::{
    COMPLETED, PENDING, SUBMITTED, charge_cents, commission_cents, is_limit, is_sell,
};
use super::fixed::{accounts_of_unit, customer_of, tax_status, tax_sum, tier_of};
use super::fixed::{person, symbol};
use super::rules::{below, percent};
use super::securities::{DAY_US, exchange_of, of_account, price_cents, skewed};
use super::{BrokerageRules, UNIT_TRADES_A_DAY};
use crate::brokerage::rules::Skewed;
use crate::sink::RowSink;
use assay_stats::random::Random;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// From the opening to the closing of a day, microseconds: eight hours.
const OPEN_US: i64 = 8 * 3600 * 1_000_000;
/// Quantities that are dealt in.
const QUANTITIES: [u32; 4] = [100, 200, 400, 800];

/// What is left of a trade in an account; less than nothing for what was sold before it was bought.
#[derive(Clone, Copy, Debug)]
struct TradeLot {
    trade: i64,
    quantity: i32,
    price_cents: i64,
    at_us: i64,
}

/// What a trade did to a lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TradeChange {
    pub(super) lot: i64,
    pub(super) before: i32,
    pub(super) after: i32,
}

/// A trade that is completed.
#[derive(Clone, Debug, Default)]
pub(super) struct FinishedTrade {
    pub(super) number: i64,
    pub(super) ordered_us: i64,
    pub(super) completed_us: i64,
    pub(super) kind: u32,
    pub(super) is_cash: bool,
    pub(super) is_lifo: bool,
    pub(super) security: u32,
    pub(super) quantity: u32,
    pub(super) bid_cents: i64,
    pub(super) price_cents: i64,
    pub(super) account: u32,
    pub(super) charge_cents: i64,
    pub(super) commission_cents: i64,
    pub(super) tax_cents: i64,
    /// What it brings to the account, or takes from it.
    pub(super) amount_cents: i64,
    pub(super) changes: Vec<TradeChange>,
}

/// The trades of a unit, one after the other.
pub(super) struct TradeUnit<'a> {
    rules: &'a BrokerageRules,
    securities: Skewed,
    accounts: Vec<u32>,
    random: Random,
    /// Number of the trade before the first, and how many there were.
    base: i64,
    made: u32,
    opened_us: i64,
    trade: FinishedTrade,
    lots: BTreeMap<(u32, u32), VecDeque<TradeLot>>,
    cash_cents: HashMap<u32, i64>,
    commissions_cents: i64,
}

/// The first opening before loading.
pub(super) const fn opened_us(rules: &BrokerageRules, loaded_us: i64) -> i64 {
    let day = loaded_us.div_euclid(DAY_US) - rules.trade_days as i64;
    day * DAY_US + 9 * 3600 * 1_000_000
}

impl<'a> TradeUnit<'a> {
    /// A unit, from 0, before its first trade.
    pub(super) fn new(rules: &'a BrokerageRules, number: u32, loaded_us: i64) -> Self {
        Self {
            rules,
            securities: skewed(rules),
            accounts: accounts_of_unit(rules, number),
            random: Random::part(rules.seed ^ 0x7ade, u64::from(number)),
            base: i64::from(number) * i64::from(rules.unit_trades()),
            made: 0,
            opened_us: opened_us(rules, loaded_us),
            trade: FinishedTrade::default(),
            lots: BTreeMap::new(),
            cash_cents: HashMap::new(),
            commissions_cents: 0,
        }
    }

    /// The next trade.
    pub(super) fn next_trade(&mut self) -> Option<&FinishedTrade> {
        if self.made >= self.rules.unit_trades() {
            return None;
        }
        self.order();
        self.made += 1;
        let gain_cents = self.exchange();
        self.settle(gain_cents);
        Some(&self.trade)
    }

    /// What comes to an account by its trades so far, hundredths of the currency.
    pub(super) fn cash_cents(&self, account: u32) -> i64 {
        self.cash_cents.get(&account).copied().unwrap_or(0)
    }

    /// Commissions so far.
    pub(super) const fn commissions_cents(&self) -> i64 {
        self.commissions_cents
    }

    /// What a customer orders.
    fn order(&mut self) {
        let random = &mut self.random;
        let accounts = u32::try_from(self.accounts.len()).unwrap_or(1);
        let account = self.accounts[usize::try_from(below(random, accounts)).unwrap_or(0)];
        let security = of_account(self.rules, &self.securities, account, random);
        let price_cents = price_cents(self.rules, security, random);
        let kind = kind(random);
        let (day, second) = (self.made / UNIT_TRADES_A_DAY, self.made % UNIT_TRADES_A_DAY);
        let gap_us = OPEN_US / i64::from(UNIT_TRADES_A_DAY);
        let ordered_us = self.opened_us + i64::from(day) * DAY_US + i64::from(second) * gap_us;
        let mut changes = std::mem::take(&mut self.trade.changes);
        changes.clear();
        self.trade = FinishedTrade {
            number: self.base + i64::from(self.made) + 1,
            ordered_us,
            completed_us: ordered_us + 1_000_000 + i64::from(below(random, 4_000_000)),
            kind,
            is_cash: percent(random, 90),
            is_lifo: percent(random, 35),
            security,
            quantity: QUANTITIES[usize::try_from(below(random, 4)).unwrap_or(0)],
            bid_cents: price_cents,
            price_cents,
            account,
            changes,
            ..FinishedTrade::default()
        };
    }

    /// Closes lots of the other direction, oldest or newest first, and opens one with what is left;
    /// gives the gain.
    fn exchange(&mut self) -> i64 {
        let trade = &mut self.trade;
        let quantity = trade.quantity.cast_signed();
        let mut left = if is_sell(trade.kind) { -quantity } else { quantity };
        let lots = self.lots.entry((trade.account, trade.security)).or_default();
        let mut gain_cents = 0;
        while left != 0 {
            let next = if trade.is_lifo { lots.back_mut() } else { lots.front_mut() };
            let Some(lot) = next.filter(|lot| lot.quantity.signum() != left.signum()) else {
                break;
            };
            let closed = lot.quantity.abs().min(left.abs()) * left.signum();
            let change =
                TradeChange { lot: lot.trade, before: lot.quantity, after: lot.quantity + closed };
            gain_cents += i64::from(-closed) * (trade.price_cents - lot.price_cents);
            (lot.quantity, left) = (change.after, left - closed);
            trade.changes.push(change);
            if change.after == 0 {
                let _ = if trade.is_lifo { lots.pop_back() } else { lots.pop_front() };
            }
        }
        if left != 0 {
            let (number, price_cents, at_us) =
                (trade.number, trade.price_cents, trade.completed_us);
            trade.changes.push(TradeChange { lot: number, before: 0, after: left });
            lots.push_back(TradeLot { trade: number, quantity: left, price_cents, at_us });
        }
        gain_cents
    }

    /// What is charged, and what comes to the account.
    fn settle(&mut self, gain_cents: i64) {
        let trade = &mut self.trade;
        let customer = customer_of(trade.account);
        let tier = tier_of(self.rules, customer);
        let exchange = exchange_of(trade.security);
        trade.charge_cents = charge_cents(tier, trade.kind);
        trade.commission_cents =
            commission_cents(tier, trade.kind, exchange, trade.quantity, trade.price_cents);
        let status = tax_status(trade.account);
        if status > 0 && gain_cents > 0 {
            trade.tax_cents = (gain_cents * tax_sum(customer) + 5000) / 10_000;
        }
        let value = i64::from(trade.quantity) * trade.price_cents;
        let kept_back = if status == 1 { trade.tax_cents } else { 0 };
        trade.amount_cents = if is_sell(trade.kind) { value } else { -value }
            - trade.charge_cents
            - trade.commission_cents
            - kept_back;
        self.commissions_cents += trade.commission_cents;
        if trade.is_cash {
            *self.cash_cents.entry(trade.account).or_default() += trade.amount_cents;
        }
    }
}

/// The kind of a trade: 60 of a hundred at the market's price, as many bought as sold.
pub(super) fn kind(random: &mut Random) -> u32 {
    match below(random, 100) {
        0..30 => 1,
        30..60 => 2,
        60..80 => 3,
        80..90 => 4,
        _ => 5,
    }
}

/// Sends the trades of all units to a sink, until it wants no more.
fn each(
    rules: &BrokerageRules,
    loaded_us: i64,
    to: &mut dyn RowSink,
    put: fn(&FinishedTrade, &mut dyn RowSink),
) {
    for number in 0..rules.units() {
        let mut unit = TradeUnit::new(rules, number, loaded_us);
        while let Some(trade) = unit.next_trade() {
            put(trade, to);
        }
        if to.is_full() {
            return;
        }
    }
}

pub(super) fn trades(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    each(rules, loaded_us, to, |trade, to| {
        let (first, last) = person(customer_of(trade.account));
        to.row(15);
        to.long(trade.number);
        to.time(trade.completed_us);
        to.integer(COMPLETED);
        to.integer(trade.kind);
        to.flag(trade.is_cash);
        to.text(symbol(trade.security).as_bytes());
        to.integer(trade.quantity);
        to.decimal(trade.bid_cents, 2);
        to.integer(trade.account);
        to.text(format!("{first} {last}").as_bytes());
        to.decimal(trade.price_cents, 2);
        to.decimal(trade.charge_cents, 2);
        to.decimal(trade.commission_cents, 2);
        to.decimal(trade.tax_cents, 2);
        to.flag(trade.is_lifo);
    });
}

/// A limit waits before it is submitted.
pub(super) fn histories(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    each(rules, loaded_us, to, |trade, to| {
        let submitted_us = trade.ordered_us + if is_limit(trade.kind) { 500_000 } else { 0 };
        let steps = [
            (PENDING, trade.ordered_us),
            (SUBMITTED, submitted_us),
            (COMPLETED, trade.completed_us),
        ];
        let skipped = usize::from(!is_limit(trade.kind));
        for (status, at_us) in steps.into_iter().skip(skipped) {
            to.row(3);
            to.long(trade.number);
            to.time(at_us);
            to.integer(status);
        }
    });
}

pub(super) fn settlements(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    each(rules, loaded_us, to, |trade, to| {
        to.row(4);
        to.long(trade.number);
        to.text(if trade.is_cash { b"Cash Account" } else { b"Margin" });
        to.date(super::securities::day_of(trade.completed_us) + 2);
        to.decimal(trade.amount_cents, 2);
    });
}

pub(super) fn cash_transactions(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    each(rules, loaded_us, to, |trade, to| {
        if !trade.is_cash {
            return;
        }
        let done = if is_sell(trade.kind) { "Sold" } else { "Bought" };
        to.row(4);
        to.long(trade.number);
        to.time(trade.completed_us);
        to.decimal(trade.amount_cents, 2);
        to.text(format!("{done} {} of {}", trade.quantity, symbol(trade.security)).as_bytes());
    });
}

pub(super) fn holding_histories(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    each(rules, loaded_us, to, |trade, to| {
        for change in &trade.changes {
            to.row(4);
            to.long(change.lot);
            to.long(trade.number);
            // Two's complement is what a server reads.
            to.integer(change.before.cast_unsigned());
            to.integer(change.after.cast_unsigned());
        }
    });
}

pub(super) fn holdings(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    for number in 0..rules.units() {
        let mut unit = TradeUnit::new(rules, number, loaded_us);
        while unit.next_trade().is_some() {}
        for ((account, security), lots) in &unit.lots {
            for lot in lots {
                to.row(6);
                to.long(lot.trade);
                to.integer(*account);
                to.text(symbol(*security).as_bytes());
                to.time(lot.at_us);
                to.decimal(lot.price_cents, 2);
                to.integer(lot.quantity.cast_unsigned());
            }
        }
    }
}

pub(super) fn holding_summaries(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    for number in 0..rules.units() {
        let mut unit = TradeUnit::new(rules, number, loaded_us);
        while unit.next_trade().is_some() {}
        for ((account, security), lots) in &unit.lots {
            let quantity: i32 = lots.iter().map(|lot| lot.quantity).sum();
            if quantity == 0 {
                continue;
            }
            to.row(3);
            to.integer(*account);
            to.text(symbol(*security).as_bytes());
            to.integer(quantity.cast_unsigned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixed::broker_of;
    use super::*;

    #[test]
    fn what_is_held_is_what_was_bought_less_what_was_sold() {
        let rules = BrokerageRules { customers: 200, trade_days: 1, ..BrokerageRules::default() };
        let mut unit = TradeUnit::new(&rules, 1, 20_000 * DAY_US);
        let (mut owned, mut made) = (HashMap::<(u32, u32), i32>::new(), 0);
        while let Some(trade) = unit.next_trade() {
            made += 1;
            assert_eq!(trade.number, 5760 + made);
            assert_eq!(broker_of(customer_of(trade.account)), 2);
            let quantity = trade.quantity.cast_signed();
            let signed = if is_sell(trade.kind) { -quantity } else { quantity };
            let moved: i32 = trade.changes.iter().map(|change| change.after - change.before).sum();
            assert_eq!(moved, signed);
            *owned.entry((trade.account, trade.security)).or_default() += signed;
        }
        assert_eq!(made, 5760);
        for (key, lots) in &unit.lots {
            assert!(lots.iter().all(|lot| lot.quantity != 0));
            let signs: Vec<i32> = lots.iter().map(|lot| lot.quantity.signum()).collect();
            assert!(signs.windows(2).all(|pair| pair[0] == pair[1]), "{key:?} {signs:?}");
            assert_eq!(lots.iter().map(|lot| lot.quantity).sum::<i32>(), owned[key]);
        }
    }

    #[test]
    fn money_is_what_was_sold_less_what_was_bought_and_charged() {
        let rules = BrokerageRules { customers: 100, trade_days: 1, ..BrokerageRules::default() };
        let mut unit = TradeUnit::new(&rules, 0, 20_000 * DAY_US);
        let (mut cash, mut commissions, mut taxed) = (0, 0, 0);
        while let Some(trade) = unit.next_trade() {
            let value = i64::from(trade.quantity) * trade.price_cents;
            let kept = if tax_status(trade.account) == 1 { trade.tax_cents } else { 0 };
            let value = if is_sell(trade.kind) { value } else { -value };
            let amount = value - trade.charge_cents - trade.commission_cents - kept;
            assert_eq!(amount, trade.amount_cents);
            cash += if trade.is_cash { amount } else { 0 };
            commissions += trade.commission_cents;
            taxed += u32::from(trade.tax_cents > 0);
        }
        assert_eq!(unit.commissions_cents(), commissions);
        let accounts = accounts_of_unit(&rules, 0);
        assert_eq!(accounts.iter().map(|account| unit.cash_cents(*account)).sum::<i64>(), cash);
        assert!(taxed > 300, "{taxed}");
    }

    #[test]
    fn a_limit_has_one_step_more_than_a_trade_at_the_market() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 6];
        (0..10_000).for_each(|_| counts[usize::try_from(kind(&mut random)).unwrap()] += 1);
        for (kind, wanted) in [(1, 3000), (2, 3000), (3, 2000), (4, 1000), (5, 1000)] {
            let found: u32 = counts[kind];
            assert!(found.abs_diff(wanted) < 200, "{kind}: {found}");
        }
    }
}
