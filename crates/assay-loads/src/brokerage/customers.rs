//! Rows of customers, their accounts, who may use them, what they watch, and of the brokers that
//! serve them.

use super::fixed::{
    ACCOUNTS_MAX, accounts_of_unit, broker_of, customer_of, permitted, tax_rates_of, tax_status,
    tier_of,
};
use super::fixed::{ACTIVE, EXCHANGES};
use super::fixed::{broker, person, symbol, tax_code};
use super::rules::Skewed;
use super::securities::{DAY_US, day_of, skewed};
use super::trades::TradeUnit;
use super::{BrokerageRules, OPENING_BALANCE_CENTS};
use crate::sink::RowSink;
use assay_stats::random::mix;

/// Securities on the list that a customer watches.
const WATCHED: u32 = 100;

pub(super) fn customers(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    let today = day_of(loaded_us);
    for number in 1..=rules.customers {
        let (first, last) = person(number);
        let mixed = mix(u64::from(number) ^ 0xc57);
        let age_days = i32::try_from(6600 + mixed % 22_000).unwrap_or(10_000);
        to.row(17);
        to.integer(number);
        to.text(tax_code(number).as_bytes());
        to.integer(ACTIVE);
        to.text(last.as_bytes());
        to.text(first.as_bytes());
        to.text([b"A", b"K", b"T"][usize::from(number.to_le_bytes()[0] % 3)]);
        to.text(if mixed & 1 == 0 { b"F" } else { b"M" });
        to.integer(tier_of(rules, number));
        to.date(today - age_days);
        to.integer(EXCHANGES + rules.companies() + number);
        for line in 0..3_u64 {
            let digits = mix(mixed ^ line) % 10_000_000;
            to.text(format!("+{} {:03} {digits:07}", 10 + line, mixed % 1000).as_bytes());
        }
        to.text(b"12");
        to.text(format!("{first}.{last}{number}@mail.example").as_bytes());
        to.text(format!("{last}{number}@office.example").as_bytes());
        to.time(loaded_us - DAY_US * i64::from(age_days - 6500));
        if to.is_full() {
            return;
        }
    }
}

pub(super) fn customer_tax_rates(rules: &BrokerageRules, to: &mut dyn RowSink) {
    for number in 1..=rules.customers {
        for rate in tax_rates_of(number) {
            to.row(2);
            to.integer(number);
            to.integer(rate);
        }
    }
}

/// Accounts with what stands on them after their trades.
pub(super) fn accounts(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    for number in 0..rules.units() {
        let mut unit = TradeUnit::new(rules, number, loaded_us);
        while unit.next_trade().is_some() {}
        for account in accounts_of_unit(rules, number) {
            let customer = customer_of(account);
            to.row(6);
            to.integer(account);
            to.integer(broker_of(customer));
            to.integer(customer);
            let (first, last) = person(customer);
            to.text(format!("{first} {last} {}", account % ACCOUNTS_MAX + 1).as_bytes());
            to.integer(tax_status(account));
            to.decimal(OPENING_BALANCE_CENTS + unit.cash_cents(account), 2);
        }
        if to.is_full() {
            return;
        }
    }
}

pub(super) fn permissions(rules: &BrokerageRules, to: &mut dyn RowSink) {
    for unit in 0..rules.units() {
        for account in accounts_of_unit(rules, unit) {
            let owner = customer_of(account);
            let others = permitted(rules, account);
            for (may, customer) in std::iter::once(("0000", owner))
                .chain(others.into_iter().map(|other| ("0001", other)))
            {
                let (first, last) = person(customer);
                to.row(5);
                to.integer(account);
                to.text(may.as_bytes());
                to.text(tax_code(customer).as_bytes());
                to.text(last.as_bytes());
                to.text(first.as_bytes());
            }
        }
    }
}

pub(super) fn brokers(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    for number in 0..rules.units() {
        let mut unit = TradeUnit::new(rules, number, loaded_us);
        while unit.next_trade().is_some() {}
        to.row(5);
        to.integer(number + 1);
        to.integer(ACTIVE);
        to.text(broker(number + 1).as_bytes());
        to.integer(rules.unit_trades());
        to.decimal(unit.commissions_cents(), 2);
    }
}

pub(super) fn watch_lists(rules: &BrokerageRules, to: &mut dyn RowSink) {
    for number in 1..=rules.customers {
        to.row(2);
        to.integer(number);
        to.integer(number);
    }
}

/// Securities that a customer watches, all different.
pub(super) fn watched(rules: &BrokerageRules, all: &Skewed, customer: u32) -> Vec<u32> {
    let start = mix(rules.seed ^ mix(u64::from(customer) ^ 0x3a7));
    let count = u64::from(WATCHED).min(all.places() / 2);
    (0..count).map(|place| all.scattered(start % all.places() + place)).collect()
}

pub(super) fn watch_items(rules: &BrokerageRules, to: &mut dyn RowSink) {
    let all = skewed(rules);
    for number in 1..=rules.customers {
        for security in watched(rules, &all, number) {
            to.row(2);
            to.integer(number);
            to.text(symbol(security).as_bytes());
        }
        if to.is_full() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_watches_different_securities() {
        let rules = BrokerageRules { customers: 100, ..BrokerageRules::default() };
        let watched = watched(&rules, &skewed(&rules), 9);
        let different: std::collections::HashSet<_> = watched.iter().collect();
        assert_eq!((watched.len(), different.len()), (34, 34));
    }
}
