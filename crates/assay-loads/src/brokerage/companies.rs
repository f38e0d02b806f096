//! Rows of companies: who competes with whom, what they earned, what was written of them, and where they are.

use super::Rules;
use super::choice::between;
use super::fixed::{ACTIVE, EXCHANGES, INDUSTRIES, ZIP_CODES};
use super::securities::{DAY_US, day_of};
use super::words::{company, person, street};
use crate::oltp::text::letters;
use crate::sink::Sink;
use assay_stats::random::{Random, mix};

/// Quarters of a year that a company reports.
const QUARTERS: u32 = 20;
/// Letters of a piece of news.
const NEWS_LETTERS: usize = 10_000;

/// The industry of a company.
pub(super) const fn industry_of(company: u32) -> u32 {
    (company + INDUSTRIES - 1) % INDUSTRIES + 1
}

fn random_of(rules: &Rules, what: u64, number: u32) -> Random {
    Random::part(rules.seed ^ mix(what), u64::from(number))
}

/// Some random letters.
fn some_letters(random: &mut Random, length: usize, to: &mut dyn Sink) {
    let mut room = vec![b' '; length];
    letters(random, &mut room);
    to.text(&room);
}

pub(super) fn companies(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
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
pub(super) fn competitors_of(rules: &Rules, company: u32) -> [u32; 3] {
    let others = rules.companies() - 1;
    let start =
        u32::try_from(mix(rules.seed ^ u64::from(company)) % u64::from(others)).unwrap_or(0);
    // Counted on from the company itself, so that it is never its own.
    [0, 1, 2].map(|place| (company + (start + place) % others) % rules.companies() + 1)
}

pub(super) fn competitors(rules: &Rules, to: &mut dyn Sink) {
    for number in 1..=rules.companies() {
        for other in competitors_of(rules, number) {
            to.row(3);
            to.integer(number);
            to.integer(other);
            to.integer(industry_of(number));
        }
    }
}

pub(super) fn financials(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
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

pub(super) fn news(rules: &Rules, loaded_us: i64, to: &mut dyn Sink) {
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

pub(super) fn news_links(rules: &Rules, to: &mut dyn Sink) {
    for number in 1..=2 * rules.companies() {
        to.row(2);
        to.integer(number);
        to.integer(number.div_ceil(2));
    }
}

/// Those of exchanges first, then of companies, then of customers.
pub(super) fn addresses(rules: &Rules, to: &mut dyn Sink) {
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
    fn competitors_are_three_others() {
        let rules = Rules { customers: 100, ..Rules::default() };
        for number in 1..=rules.companies() {
            let others = competitors_of(&rules, number);
            assert!(others.iter().all(|other| (1..=50).contains(other) && *other != number));
            assert!(others[0] != others[1] && others[1] != others[2] && others[0] != others[2]);
        }
    }
}
