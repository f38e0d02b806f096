//! Rows of securities and their prices, and what an account deals in.

use super::choice::{Skewed, below, between};
use super::fixed::{ACTIVE, EXCHANGES};
use super::words::symbol;
use super::{POOL, PRICE_DAYS, Rules};
use crate::sink::Sink;
use assay_stats::random::{Random, mix};

/// Microseconds of a day.
pub(super) const DAY_US: i64 = 86_400_000_000;

/// The day of a moment, counted from 1970.
pub(super) fn day_of(unix_us: i64) -> i32 {
    i32::try_from(unix_us.div_euclid(DAY_US)).unwrap_or(0)
}

/// The last Friday up to a day; days are counted from 1970, whose first day was a Thursday.
pub(super) const fn friday(day: i32) -> i32 {
    day - (day + 6).rem_euclid(7)
}

/// The working day that is `back` working days before the last Friday.
pub(super) fn price_day(loaded_us: i64, back: u32) -> i32 {
    let back = back.cast_signed();
    friday(day_of(loaded_us)) - back / 5 * 7 - back % 5
}

/// What a security costs about, hundredths of the currency.
pub(super) fn base_cents(rules: &Rules, security: u32) -> i64 {
    i64::try_from(1000 + mix(rules.seed ^ mix(u64::from(security))) % 9000).unwrap_or(1000)
}

/// What it costs now: within 5 % of its usual price.
pub(super) fn price_cents(rules: &Rules, security: u32, random: &mut Random) -> i64 {
    base_cents(rules, security) * i64::from(between(random, 950, 1050)) / 1000
}

/// The company of a security: each has one, and the first ones a second.
pub(super) const fn company_of(rules: &Rules, security: u32) -> u32 {
    (security - 1) % rules.companies() + 1
}

/// The kind of a company's security: its first or its second.
pub(super) const fn issue_of(rules: &Rules, security: u32) -> &'static str {
    if security <= rules.companies() { "COMMON" } else { "PREF_A" }
}

/// Where it is dealt in.
pub(super) const fn exchange_of(security: u32) -> u32 {
    security % EXCHANGES + 1
}

/// All securities, some of which are dealt in more often.
pub(super) fn skewed(rules: &Rules) -> Skewed {
    Skewed::new(rules.securities(), rules.security_skew, rules.seed ^ 0x5ec)
}

/// One of the securities that an account deals in: so that what it buys is what it sells later.
pub(super) fn of_account(rules: &Rules, all: &Skewed, account: u32, random: &mut Random) -> u32 {
    let place = (u64::from(account) << 8) | u64::from(below(random, POOL));
    all.draw(&mut Random::part(rules.seed ^ 0x9001, place))
}

pub(super) fn securities(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
    let today = day_of(loaded_us);
    for number in 1..=rules.securities() {
        let mut random = Random::part(rules.seed ^ 0x5e, u64::from(number));
        let base = base_cents(rules, number);
        let begun = today - between(&mut random, 2000, 9000).cast_signed();
        to.row(16);
        to.text(symbol(number).as_bytes());
        to.text(issue_of(rules, number).as_bytes());
        to.integer(ACTIVE);
        to.text(
            format!(
                "{} of {}",
                issue_of(rules, number),
                super::words::company(company_of(rules, number))
            )
            .as_bytes(),
        );
        to.integer(exchange_of(number));
        to.integer(company_of(rules, number));
        to.long(i64::from(between(&mut random, 1_000_000, 900_000_000)));
        to.date(begun);
        to.date(begun + 30);
        to.decimal(i64::from(between(&mut random, 500, 12_000)), 2);
        to.decimal(base * 12 / 10, 2);
        to.date(today - between(&mut random, 1, 364).cast_signed());
        to.decimal(base * 8 / 10, 2);
        to.date(today - between(&mut random, 1, 364).cast_signed());
        to.decimal(i64::from(between(&mut random, 0, 500)), 2);
        to.decimal(i64::from(between(&mut random, 0, 900)), 2);
    }
}

pub(super) fn last_trades(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
    for number in 1..=rules.securities() {
        to.row(5);
        to.text(symbol(number).as_bytes());
        to.time(loaded_us);
        to.decimal(base_cents(rules, number), 2);
        to.decimal(base_cents(rules, number), 2);
        to.long(0);
    }
}

/// Day after day, as such a table grows.
pub(super) fn daily_market(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
    let symbols: Vec<String> = (1..=rules.securities()).map(symbol).collect();
    for back in (0..PRICE_DAYS).rev() {
        let mut random = Random::part(rules.seed ^ 0xda, u64::from(back));
        let day = price_day(loaded_us, back);
        for (number, symbol) in (1..).zip(&symbols) {
            let close =
                base_cents(rules, number) * i64::from(between(&mut random, 800, 1200)) / 1000;
            to.row(6);
            to.date(day);
            to.text(symbol.as_bytes());
            to.decimal(close, 2);
            to.decimal(close * 102 / 100, 2);
            to.decimal(close * 98 / 100, 2);
            to.long(i64::from(between(&mut random, 1000, 10_000_000)));
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
    fn days_of_prices_are_working_days_of_five_years() {
        // 22 November 2026 is a Sunday, 20,779 days after 1 January 1970; the Friday before has 20,777.
        let loaded_us = 20_779 * DAY_US + 5;
        let days: Vec<i32> = (0..PRICE_DAYS).map(|back| price_day(loaded_us, back)).collect();
        assert_eq!((days[0], days[4], days[5]), (20_777, 20_773, 20_770));
        assert!(days.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!(days[0] - days[1304], 260 * 7 + 4);
        assert_eq!((friday(20_777), friday(20_776)), (20_777, 20_770));
    }

    #[test]
    fn accounts_deal_in_few_securities_and_some_are_dealt_in_more() {
        let rules = Rules::default();
        let (all, mut random) = (skewed(&rules), Random::new(3));
        let mut seen: Vec<u32> =
            (0..500).map(|_| of_account(&rules, &all, 77, &mut random)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!((10..=18).contains(&seen.len()), "{}", seen.len());
        assert!(seen.iter().all(|security| (1..=685).contains(security)));
    }
}
