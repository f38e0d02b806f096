//! Rows of companies and of their securities: who competes with whom, what they earned, what was
//! written of them; prices, and what an account deals in.

use super::fixed::{ACTIVE, EXCHANGES, INDUSTRIES, ZIP_CODES};
use super::fixed::{company, person, street, symbol};
use super::rules::{Skewed, below, between};
use super::{BrokerageRules, POOL, PRICE_DAYS};
use crate::oltp::text::letters;
use crate::sink::RowSink;
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
pub(super) fn base_cents(rules: &BrokerageRules, security: u32) -> i64 {
    i64::try_from(1000 + mix(rules.seed ^ mix(u64::from(security))) % 9000).unwrap_or(1000)
}

/// What it costs now: within 5% of its usual price.
pub(super) fn price_cents(rules: &BrokerageRules, security: u32, random: &mut Random) -> i64 {
    base_cents(rules, security) * i64::from(between(random, 950, 1050)) / 1000
}

/// The company of a security: each has one, and the first ones a second.
pub(super) const fn company_of(rules: &BrokerageRules, security: u32) -> u32 {
    (security - 1) % rules.companies() + 1
}

/// The kind of a company's security: its first or its second.
pub(super) const fn issue_of(rules: &BrokerageRules, security: u32) -> &'static str {
    if security <= rules.companies() { "COMMON" } else { "PREF_A" }
}

/// Where it is dealt in.
pub(super) const fn exchange_of(security: u32) -> u32 {
    security % EXCHANGES + 1
}

/// All securities, some of which are dealt in more often.
pub(super) fn skewed(rules: &BrokerageRules) -> Skewed {
    Skewed::new(rules.securities(), rules.security_skew, rules.seed ^ 0x5ec)
}

/// One of the securities that an account deals in: so that what it buys is what it sells later.
pub(super) fn of_account(
    rules: &BrokerageRules,
    all: &Skewed,
    account: u32,
    random: &mut Random,
) -> u32 {
    let place = (u64::from(account) << 8) | u64::from(below(random, POOL));
    all.draw(&mut Random::part(rules.seed ^ 0x9001, place))
}

pub(super) fn securities(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
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
            format!("{} of {}", issue_of(rules, number), company(company_of(rules, number)))
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

pub(super) fn last_trades(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
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
pub(super) fn daily_market(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
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

/// Quarters of a year that a company reports.
const QUARTERS: u32 = 20;
/// Letters of a piece of news.
const NEWS_LETTERS: usize = 10_000;

/// The industry of a company.
pub(super) const fn industry_of(company: u32) -> u32 {
    (company + INDUSTRIES - 1) % INDUSTRIES + 1
}

fn random_of(rules: &BrokerageRules, what: u64, number: u32) -> Random {
    Random::part(rules.seed ^ mix(what), u64::from(number))
}

/// Some random letters.
fn some_letters(random: &mut Random, length: usize, to: &mut dyn RowSink) {
    let mut room = vec![b' '; length];
    letters(random, &mut room);
    to.text(&room);
}

pub(super) fn companies(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    for number in 1..=rules.companies() {
        let mut random = random_of(rules, 0xC0, number);
        to.row(9);
        to.integer(number);
        to.integer(ACTIVE);
        to.text(company(number).as_bytes());
        to.integer(industry_of(number));
        to.text(
            ["AAA", "AA", "A", "BBB", "BB"][usize::from(number.to_le_bytes()[0] % 5)].as_bytes(),
        );
        let (first, last) = person(number.wrapping_mul(7));
        to.text(format!("{first} {last}").as_bytes());
        to.integer(EXCHANGES + number);
        some_letters(&mut random, 150, to);
        to.date(day_of(loaded_us) - between(&mut random, 2000, 40_000).cast_signed());
        if to.is_full() {
            return;
        }
    }
}

/// Three others of a company, in order.
pub(super) fn competitors_of(rules: &BrokerageRules, company: u32) -> [u32; 3] {
    let others = rules.companies() - 1;
    let start =
        u32::try_from(mix(rules.seed ^ u64::from(company)) % u64::from(others)).unwrap_or(0);
    // Counted on from the company itself, so that it is never its own.
    [0, 1, 2].map(|place| (company + (start + place) % others) % rules.companies() + 1)
}

pub(super) fn competitors(rules: &BrokerageRules, to: &mut dyn RowSink) {
    for number in 1..=rules.companies() {
        for other in competitors_of(rules, number) {
            to.row(3);
            to.integer(number);
            to.integer(other);
            to.integer(industry_of(number));
        }
    }
}

pub(super) fn financials(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    let today = day_of(loaded_us);
    for number in 1..=rules.companies() {
        let mut random = random_of(rules, 0xF1, number);
        for quarter in 0..QUARTERS {
            let revenue = i64::from(between(&mut random, 1_000_000, 900_000_000));
            let earned = revenue * i64::from(between(&mut random, 2, 30)) / 100;
            let shares = i64::from(between(&mut random, 1_000_000, 90_000_000));
            to.row(14);
            to.integer(number);
            to.integer(quarter / 4);
            to.integer(quarter % 4 + 1);
            to.date(today - 91 * (QUARTERS - quarter).cast_signed());
            to.decimal(revenue, 2);
            to.decimal(earned, 2);
            to.decimal(earned / shares.max(1), 2);
            to.decimal(earned / (shares + shares / 10), 2);
            to.decimal(earned * 100 / revenue.max(1), 2);
            to.decimal(revenue / 7, 2);
            to.decimal(revenue * 3, 2);
            to.decimal(revenue * 2, 2);
            to.long(shares);
            to.long(shares + shares / 10);
        }
        if to.is_full() {
            return;
        }
    }
}

pub(super) fn news(rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    for number in 1..=2 * rules.companies() {
        let mut random = random_of(rules, 0x2E, number);
        to.row(7);
        to.integer(number);
        let name = company(number.div_ceil(2));
        to.text(format!("What happens at {name}").as_bytes());
        some_letters(&mut random, 200, to);
        some_letters(&mut random, NEWS_LETTERS, to);
        to.time(loaded_us - DAY_US * i64::from(between(&mut random, 1, 60)));
        to.text(b"Daily Exchange");
        let (first, last) = person(number.wrapping_mul(13));
        to.text(format!("{first} {last}").as_bytes());
        if to.is_full() {
            return;
        }
    }
}

pub(super) fn news_links(rules: &BrokerageRules, to: &mut dyn RowSink) {
    for number in 1..=2 * rules.companies() {
        to.row(2);
        to.integer(number);
        to.integer(number.div_ceil(2));
    }
}

/// Those of exchanges first, then of companies, then of customers.
pub(super) fn addresses(rules: &BrokerageRules, to: &mut dyn RowSink) {
    for number in 1..=EXCHANGES + rules.companies() + rules.customers {
        to.row(5);
        to.integer(number);
        to.text(street(number).as_bytes());
        to.text(b"Floor 2");
        let zip = mix(u64::from(number)) % u64::from(ZIP_CODES);
        to.integer(u32::try_from(zip).unwrap_or(0) + 1);
        to.text(b"Utopia");
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
        // 22 November 2026 is a Sunday, 20,779 days after 1 January 1970; the Friday before has
        // 20,777.
        let loaded_us = 20_779 * DAY_US + 5;
        let days: Vec<i32> = (0..PRICE_DAYS).map(|back| price_day(loaded_us, back)).collect();
        assert_eq!((days[0], days[4], days[5]), (20_777, 20_773, 20_770));
        assert!(days.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!(days[0] - days[1304], 260 * 7 + 4);
        assert_eq!((friday(20_777), friday(20_776)), (20_777, 20_770));
    }

    #[test]
    fn accounts_deal_in_few_securities_and_some_are_dealt_in_more() {
        let rules = BrokerageRules::default();
        let (all, mut random) = (skewed(&rules), Random::new(3));
        let mut seen: Vec<u32> =
            (0..500).map(|_| of_account(&rules, &all, 77, &mut random)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!((10..=18).contains(&seen.len()), "{}", seen.len());
        assert!(seen.iter().all(|security| (1..=685).contains(security)));
    }

    #[test]
    fn competitors_are_three_others() {
        let rules = BrokerageRules { customers: 100, ..BrokerageRules::default() };
        for number in 1..=rules.companies() {
            let others = competitors_of(&rules, number);
            assert!(others.iter().all(|other| (1..=50).contains(other) && *other != number));
            assert!(others[0] != others[1] && others[1] != others[2] && others[0] != others[2]);
        }
    }
}
