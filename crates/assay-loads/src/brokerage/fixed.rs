//! Rows of the nine tables that have the same size whatever the scale, and the rates in them.

use super::words::{SECTORS, industry, sector, sector_of, town};
use crate::sink::Sink;
use assay_stats::random::mix;

/// Exchanges.
pub(super) const EXCHANGES: u32 = 4;
/// Industries.
pub(super) const INDUSTRIES: u32 = 102;
/// Rates of tax: those of countries first.
pub(super) const TAX_RATES: u32 = 320;
/// Of them those of countries.
pub(super) const COUNTRY_TAX_RATES: u32 = 20;
/// Codes of places.
pub(super) const ZIP_CODES: u32 = 14_741;
/// What a trade can be; the numbers show which are sells and which have a limit.
pub(super) const TRADE_TYPES: [(&str, bool, bool); 5] = [
    ("market buy", false, true),
    ("market sell", true, true),
    ("limit buy", false, false),
    ("limit sell", true, false),
    ("stop loss", true, false),
];
/// What a trade passes through.
const STATUSES: [&str; 5] = ["pending", "submitted", "completed", "canceled", "active"];
/// The number of `completed`.
pub(super) const COMPLETED: u32 = 3;
/// The number of `submitted`.
pub(super) const SUBMITTED: u32 = 2;
/// The number of `pending`.
pub(super) const PENDING: u32 = 1;
/// The number of `active`.
pub(super) const ACTIVE: u32 = 5;
/// Upper ends of the ranges of quantities that have a rate of their own.
const QUANTITIES: [u32; 4] = [100, 300, 600, 100_000];

/// Whether a kind of trade sells; kinds are numbered from 1.
pub(super) const fn is_sell(kind: u32) -> bool {
    matches!(kind, 2 | 4 | 5)
}

/// Whether a kind of trade waits for a price.
pub(super) const fn is_limit(kind: u32) -> bool {
    kind >= 3
}

/// What a trade of a customer of a tier costs, hundredths of the currency.
pub(super) fn charge_cents(tier: u32, kind: u32) -> i64 {
    i64::from(100 * (4 - tier) + 25 * kind)
}

/// The commission, hundredths of a percent of the value.
fn commission_rate(tier: u32, kind: u32, exchange: u32, range: u32) -> i64 {
    i64::from(120 + 2 * kind + exchange) - i64::from(20 * tier + 15 * range)
}

/// The commission of a trade, hundredths of the currency, rounded to the nearest.
pub(super) fn commission_cents(
    tier: u32,
    kind: u32,
    exchange: u32,
    quantity: u32,
    price_cents: i64,
) -> i64 {
    let range = (0..).zip(QUANTITIES).find(|(_, most)| quantity <= *most);
    let rate = commission_rate(tier, kind, exchange, range.map_or(3, |(range, _)| range));
    (i64::from(quantity) * price_cents * rate + 5000) / 10_000
}

/// A rate of tax, ten-thousandths.
pub(super) fn tax_rate(number: u32) -> i64 {
    i64::try_from(50 + mix(u64::from(number)) % 1450).unwrap_or(0)
}

pub(super) fn charges(to: &mut dyn Sink) {
    for kind in 1..=5 {
        for tier in 1..=3 {
            to.row(3);
            to.integer(kind);
            to.integer(tier);
            to.decimal(charge_cents(tier, kind), 2);
        }
    }
}

pub(super) fn commission_rates(to: &mut dyn Sink) {
    for (tier, kind, exchange) in (1..=3).flat_map(|tier| {
        (1..=5).flat_map(move |kind| (1..=EXCHANGES).map(move |at| (tier, kind, at)))
    }) {
        let mut from = 1;
        for (range, most) in (0..).zip(QUANTITIES) {
            to.row(6);
            for value in [tier, kind, exchange, from, most] {
                to.integer(value);
            }
            to.decimal(commission_rate(tier, kind, exchange, range), 2);
            from = most + 1;
        }
    }
}

pub(super) fn exchanges(securities: u32, to: &mut dyn Sink) {
    for (number, name) in (1..).zip(["Northern", "Southern", "Electronic", "Regional"]) {
        to.row(7);
        to.integer(number);
        to.text(format!("{name} Exchange").as_bytes());
        to.integer((securities + EXCHANGES - number) / EXCHANGES);
        to.integer(900);
        to.integer(1700);
        to.text(format!("Where securities of the {name} list are dealt in").as_bytes());
        to.integer(number);
    }
}

pub(super) fn industries(to: &mut dyn Sink) {
    for number in 1..=INDUSTRIES {
        to.row(3);
        to.integer(number);
        to.integer(sector_of(number));
        to.text(industry(number).as_bytes());
    }
}

pub(super) fn sectors(to: &mut dyn Sink) {
    for number in 1..=SECTORS {
        to.row(2);
        to.integer(number);
        to.text(sector(number).as_bytes());
    }
}

pub(super) fn statuses(to: &mut dyn Sink) {
    for (number, name) in (1..).zip(STATUSES) {
        to.row(2);
        to.integer(number);
        to.text(name.as_bytes());
    }
}

pub(super) fn tax_rates(to: &mut dyn Sink) {
    for number in 1..=TAX_RATES {
        to.row(3);
        to.integer(number);
        let of = if number <= COUNTRY_TAX_RATES { "country" } else { "district" };
        to.text(format!("Tax {number} of a {of}").as_bytes());
        to.decimal(tax_rate(number), 4);
    }
}

pub(super) fn trade_types(to: &mut dyn Sink) {
    for (number, (name, is_sell, is_market)) in (1..).zip(TRADE_TYPES) {
        to.row(4);
        to.integer(number);
        to.text(name.as_bytes());
        to.flag(is_sell);
        to.flag(is_market);
    }
}

pub(super) fn zip_codes(to: &mut dyn Sink) {
    for number in 1..=ZIP_CODES {
        to.row(3);
        to.integer(number);
        to.text(town(number).as_bytes());
        to.text(format!("D{}", mix(u64::from(number)) % 60).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_and_ranges_have_their_own() {
        for (tier, kind) in (1..=3).flat_map(|tier| (1..=5).map(move |kind| (tier, kind))) {
            assert!(charge_cents(tier, kind) > 0);
            assert!((0..4).all(|range| commission_rate(tier, kind, 1, range) > 0));
            assert_eq!((is_sell(kind), !is_limit(kind)), {
                let (_, sells, market) = TRADE_TYPES[usize::try_from(kind - 1).unwrap()];
                (sells, market)
            });
        }
        // 120 + 2 + 1 - 20 = 1.03 % of 100 x 50.00, and 0.88 % of 200 of them.
        assert_eq!(commission_cents(1, 1, 1, 100, 5000), 5150);
        assert_eq!(commission_cents(1, 1, 1, 200, 5000), 8800);
    }
}
