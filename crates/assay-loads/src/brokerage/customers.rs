//! Rows of customers, their accounts, who may use them, what they watch, and of the brokers that serve them.

use super::choice::Skewed;
use super::fixed::{ACTIVE, COUNTRY_TAX_RATES, EXCHANGES, TAX_RATES, tax_rate};
use super::securities::{DAY_US, day_of, skewed};
use super::trades::Unit;
use super::words::{broker, person, symbol, tax_code};
use super::{OPENING_BALANCE_CENTS, Rules, UNIT};
use crate::sink::Sink;
use assay_model::permutation::Permutation;
use assay_model::random::mix;

/// Numbers of accounts of a customer begin with ten times the customer's own.
const ACCOUNTS_MAX: u32 = 10;
/// Securities on the list that a customer watches.
const WATCHED: u32 = 100;

/// How large customers are: a fifth is small, a fifth is large.
pub(super) fn tier_of(rules: &Rules, customer: u32) -> u32 {
    let (unit, place) = ((customer - 1) / UNIT, (customer - 1) % UNIT);
    let places = Permutation::new(u64::from(UNIT), mix(rules.seed ^ mix(u64::from(unit))));
    match places.image(u64::from(place)) {
        0..20 => 1,
        20..80 => 2,
        _ => 3,
    }
}

/// Accounts of a customer of a tier: five in the mean.
pub(super) const fn accounts_of_tier(tier: u32) -> u32 {
    match tier {
        1 => 2,
        2 => 5,
        _ => 8,
    }
}

/// The account of a customer, from 0.
pub(super) const fn account(customer: u32, place: u32) -> u32 {
    customer * ACCOUNTS_MAX + place
}

/// Whose account it is.
pub(super) const fn customer_of(account: u32) -> u32 {
    account / ACCOUNTS_MAX
}

/// Who serves a customer: each hundred has a broker.
pub(super) const fn broker_of(customer: u32) -> u32 {
    (customer - 1) / UNIT + 1
}

/// What becomes of the tax on gains: 0 none, 1 it is kept back, 2 it is told.
pub(super) const fn tax_status(account: u32) -> u32 {
    match mix(account as u64 ^ 0x7a) % 10 {
        0 | 1 => 0,
        2..=6 => 1,
        _ => 2,
    }
}

/// The two rates of tax of a customer.
fn tax_rates_of(customer: u32) -> [u32; 2] {
    let pick = |key: u64, limit: u32| {
        u32::try_from(mix(u64::from(customer) ^ key) % u64::from(limit)).unwrap_or(0)
    };
    [
        1 + pick(0xa1, COUNTRY_TAX_RATES),
        1 + COUNTRY_TAX_RATES + pick(0xa2, TAX_RATES - COUNTRY_TAX_RATES),
    ]
}

/// Their sum, ten-thousandths.
pub(super) fn tax_sum(customer: u32) -> i64 {
    tax_rates_of(customer).iter().map(|rate| tax_rate(*rate)).sum()
}

/// Others who may deal for an account: customers, two at most.
pub(super) fn permitted(rules: &Rules, account: u32) -> Vec<u32> {
    let mixed = mix(rules.seed ^ mix(u64::from(account) ^ 0xac1));
    let count = match mixed % 100 {
        0..60 => 0,
        60..98 => 1,
        _ => 2,
    };
    let owner = customer_of(account);
    let others = (0..count).map(|place| {
        let other = mix(mixed ^ place) % u64::from(rules.customers - 1);
        (owner + u32::try_from(other).unwrap_or(0)) % rules.customers + 1
    });
    let mut others: Vec<u32> = others.collect();
    others.dedup();
    others
}

pub(super) fn customers(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
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

pub(super) fn customer_tax_rates(rules: &Rules, to: &mut dyn Sink) {
    for number in 1..=rules.customers {
        for rate in tax_rates_of(number) {
            to.row(2);
            to.integer(number);
            to.integer(rate);
        }
    }
}

/// All accounts of a unit, in order.
pub(super) fn accounts_of_unit(rules: &Rules, unit: u32) -> Vec<u32> {
    let customers = unit * UNIT + 1..=(unit + 1) * UNIT;
    let of_customer = |customer| {
        (0..accounts_of_tier(tier_of(rules, customer))).map(move |place| account(customer, place))
    };
    customers.flat_map(of_customer).collect()
}

/// Accounts with what stands on them after their trades.
pub(super) fn accounts(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
    for number in 0..rules.units() {
        let mut unit = Unit::new(rules, number, loaded_us);
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

pub(super) fn permissions(rules: &Rules, to: &mut dyn Sink) {
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

pub(super) fn brokers(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
    for number in 0..rules.units() {
        let mut unit = Unit::new(rules, number, loaded_us);
        while unit.next_trade().is_some() {}
        to.row(5);
        to.integer(number + 1);
        to.integer(ACTIVE);
        to.text(broker(number + 1).as_bytes());
        to.integer(rules.unit_trades());
        to.decimal(unit.commissions_cents(), 2);
    }
}

pub(super) fn watch_lists(rules: &Rules, to: &mut dyn Sink) {
    for number in 1..=rules.customers {
        to.row(2);
        to.integer(number);
        to.integer(number);
    }
}

/// Securities that a customer watches, all different.
pub(super) fn watched(rules: &Rules, all: &Skewed, customer: u32) -> Vec<u32> {
    let start = mix(rules.seed ^ mix(u64::from(customer) ^ 0x3a7));
    let count = u64::from(WATCHED).min(all.places() / 2);
    (0..count).map(|place| all.scattered(start % all.places() + place)).collect()
}

pub(super) fn watch_items(rules: &Rules, to: &mut dyn Sink) {
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
    fn a_unit_has_the_tiers_and_accounts_that_are_told() {
        let rules = Rules::default();
        for unit in 0..10 {
            let tiers = (unit * UNIT + 1..=(unit + 1) * UNIT).map(|number| tier_of(&rules, number));
            let mut counts = [0; 4];
            tiers.for_each(|tier| counts[usize::try_from(tier).unwrap()] += 1);
            assert_eq!(counts, [0, 20, 60, 20]);
            assert_eq!(accounts_of_unit(&rules, unit).len(), 500);
        }
        assert_eq!((broker_of(100), broker_of(101), customer_of(account(77, 7))), (1, 2, 77));
    }

    #[test]
    fn nobody_is_permitted_to_use_an_own_account_and_nobody_twice() {
        let rules = Rules { customers: 100, ..Rules::default() };
        let mut all = 0;
        for account in accounts_of_unit(&rules, 0) {
            let others = permitted(&rules, account);
            assert!(others.iter().all(|other| (1..=100).contains(other)));
            assert!(!others.contains(&customer_of(account)), "{account}");
            assert!(others.len() < 2 || others[0] != others[1]);
            all += others.len();
        }
        // 0.42 an account: 500 of them within four standard deviations.
        assert!((160..260).contains(&all), "{all}");
        let watched = watched(&rules, &skewed(&rules), 9);
        let different: std::collections::HashSet<_> = watched.iter().collect();
        assert_eq!((watched.len(), different.len()), (34, 34));
    }
}
