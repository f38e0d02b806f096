//! What follows from numbers alone, so nobody has to keep it: names, symbols and fixed tables; who
//! the customers are, their size, accounts, brokers and taxes, and who may deal for them.

use super::{BrokerageRules, UNIT};
use crate::sink::RowSink;
use assay_stats::permutation::Permutation;
use assay_stats::random::mix;

const FIRST_NAMES: [&str; 32] = [
    "Ada", "Bruno", "Clara", "Dario", "Edda", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karin",
    "Lars", "Mira", "Nils", "Olga", "Paul", "Quirin", "Rosa", "Sven", "Tilda", "Ugo", "Vera",
    "Wim", "Xenia", "Yves", "Zoe", "Arvid", "Berta", "Cyril", "Dora", "Emil", "Frida",
];
const LAST_NAMES: [&str; 32] = [
    "Achterberg",
    "Baumann",
    "Castell",
    "Dornier",
    "Ekholm",
    "Falk",
    "Grimaldi",
    "Hartog",
    "Ibsen",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Olsen",
    "Petrov",
    "Quist",
    "Rossi",
    "Sandoval",
    "Thorne",
    "Ulrich",
    "Vidal",
    "Weber",
    "Xanthos",
    "Ylitalo",
    "Zeller",
    "Amsel",
    "Brandt",
    "Corvin",
    "Delacroix",
    "Egger",
    "Fontana",
];
const PLACES: [&str; 16] = [
    "North", "South", "East", "West", "Harbour", "Valley", "River", "Summit", "Meadow", "Bridge",
    "Forest", "Lake", "Stone", "Orchard", "Ridge", "Bay",
];
const TRADES: [&str; 16] = [
    "Foods",
    "Motors",
    "Textiles",
    "Chemicals",
    "Energy",
    "Networks",
    "Glass",
    "Paper",
    "Metals",
    "Optics",
    "Pharma",
    "Shipping",
    "Software",
    "Water",
    "Cement",
    "Media",
];
const FORMS: [&str; 4] = ["Inc", "Corp", "Group", "Works"];
const STREETS: [&str; 8] = [
    "Mill Lane",
    "High Street",
    "Station Road",
    "Garden Way",
    "Church Hill",
    "Quay",
    "Ring",
    "Market Square",
];
/// Sectors.
pub(super) const SECTORS: u32 = 12;
const SECTOR_NAMES: [&str; 12] = [
    "Raw Materials",
    "Machines",
    "Household Goods",
    "Power",
    "Banking",
    "Care",
    "Industry",
    "Leisure",
    "Computing",
    "Traffic",
    "Supply",
    "Building",
];

/// One of a list, by a number.
fn pick<'a>(list: &[&'a str], number: u64) -> &'a str {
    let length = u64::try_from(list.len()).unwrap_or(1).max(1);
    list.get(usize::try_from(number % length).unwrap_or(0)).copied().unwrap_or("")
}

/// First and last name of a person.
pub(super) fn person(number: u32) -> (&'static str, &'static str) {
    let mixed = mix(u64::from(number) ^ 0x9e0_91e);
    (pick(&FIRST_NAMES, mixed >> 8), pick(&LAST_NAMES, mixed >> 32))
}

/// The number by which the state knows a person.
pub(super) fn tax_code(customer: u32) -> String {
    format!("{:03}T{customer:08}", mix(u64::from(customer)) % 1000)
}

/// The name of a broker.
pub(super) fn broker(number: u32) -> String {
    let (first, last) = person(number ^ 0x8000_0000);
    format!("{first} {last} {number}")
}

/// The name of a company.
pub(super) fn company(number: u32) -> String {
    let mixed = mix(u64::from(number) ^ 0xc0_3ba9);
    let (place, trade) = (pick(&PLACES, mixed), pick(&TRADES, mixed >> 16));
    format!("{place} {trade} {} {number}", pick(&FORMS, mixed >> 32))
}

/// The name of a sector, 1..=12.
pub(super) fn sector(number: u32) -> &'static str {
    pick(&SECTOR_NAMES, u64::from(number.saturating_sub(1)))
}

/// The sector of an industry; both are numbered from 1.
pub(super) const fn sector_of(industry: u32) -> u32 {
    (industry + SECTORS - 1) % SECTORS + 1
}

/// The name of an industry, 1..=102.
pub(super) fn industry(number: u32) -> String {
    let (index, sector) = (u64::from(number.saturating_sub(1)), sector_of(number));
    format!("{} {} {number}", self::sector(sector), pick(&TRADES, index / 12))
}

/// House and street.
pub(super) fn street(number: u32) -> String {
    let mixed = mix(u64::from(number) ^ 0x57_2ee7);
    format!("{} {}", mixed % 400 + 1, pick(&STREETS, mixed >> 16))
}

/// The name of a town.
pub(super) fn town(number: u32) -> String {
    let mixed = mix(u64::from(number) ^ 0x70_3b);
    format!("{} {}", pick(&PLACES, mixed), pick(&LAST_NAMES, mixed >> 16))
}

/// The symbol of a security, from 1: letters, all of them different.
pub(super) fn symbol(security: u32) -> String {
    let mut letters = *b"AAAAAA";
    let mut rest = security;
    for letter in letters.iter_mut().rev() {
        *letter += u8::try_from(rest % 26).unwrap_or(0);
        rest /= 26;
    }
    String::from_utf8_lossy(&letters).into_owned()
}

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

pub(super) fn charges(to: &mut dyn RowSink) {
    for kind in 1..=5 {
        for tier in 1..=3 {
            to.row(3);
            to.integer(kind);
            to.integer(tier);
            to.decimal(charge_cents(tier, kind), 2);
        }
    }
}

pub(super) fn commission_rates(to: &mut dyn RowSink) {
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

pub(super) fn exchanges(securities: u32, to: &mut dyn RowSink) {
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

pub(super) fn industries(to: &mut dyn RowSink) {
    for number in 1..=INDUSTRIES {
        to.row(3);
        to.integer(number);
        to.integer(sector_of(number));
        to.text(industry(number).as_bytes());
    }
}

pub(super) fn sectors(to: &mut dyn RowSink) {
    for number in 1..=SECTORS {
        to.row(2);
        to.integer(number);
        to.text(sector(number).as_bytes());
    }
}

pub(super) fn statuses(to: &mut dyn RowSink) {
    for (number, name) in (1..).zip(STATUSES) {
        to.row(2);
        to.integer(number);
        to.text(name.as_bytes());
    }
}

pub(super) fn tax_rates(to: &mut dyn RowSink) {
    for number in 1..=TAX_RATES {
        to.row(3);
        to.integer(number);
        let of = if number <= COUNTRY_TAX_RATES { "country" } else { "district" };
        to.text(format!("Tax {number} of a {of}").as_bytes());
        to.decimal(tax_rate(number), 4);
    }
}

pub(super) fn trade_types(to: &mut dyn RowSink) {
    for (number, (name, is_sell, is_market)) in (1..).zip(TRADE_TYPES) {
        to.row(4);
        to.integer(number);
        to.text(name.as_bytes());
        to.flag(is_sell);
        to.flag(is_market);
    }
}

pub(super) fn zip_codes(to: &mut dyn RowSink) {
    for number in 1..=ZIP_CODES {
        to.row(3);
        to.integer(number);
        to.text(town(number).as_bytes());
        to.text(format!("D{}", mix(u64::from(number)) % 60).as_bytes());
    }
}

/// Numbers of accounts of a customer begin with ten times the customer's own.
pub(super) const ACCOUNTS_MAX: u32 = 10;
/// How large customers are: a fifth is small, a fifth is large.
pub(super) fn tier_of(rules: &BrokerageRules, customer: u32) -> u32 {
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

/// What becomes of the tax on gains: 0 none, 1 it is kept back, 2 it is reported.
pub(super) const fn tax_status(account: u32) -> u32 {
    match mix(account as u64 ^ 0x7a) % 10 {
        0 | 1 => 0,
        2..=6 => 1,
        _ => 2,
    }
}

/// The two rates of tax of a customer.
pub(super) fn tax_rates_of(customer: u32) -> [u32; 2] {
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
pub(super) fn permitted(rules: &BrokerageRules, account: u32) -> Vec<u32> {
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

/// All accounts of a unit, in order.
pub(super) fn accounts_of_unit(rules: &BrokerageRules, unit: u32) -> Vec<u32> {
    let customers = unit * UNIT + 1..=(unit + 1) * UNIT;
    let of_customer = |customer| {
        (0..accounts_of_tier(tier_of(rules, customer))).map(move |place| account(customer, place))
    };
    customers.flat_map(of_customer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_that_are_looked_for_are_all_different() {
        let all = 1..=20_000_u32;
        for name in [symbol, company, tax_code, broker] {
            assert_eq!(all.clone().map(name).collect::<HashSet<_>>().len(), 20_000);
        }
        assert_eq!((symbol(1).as_str(), symbol(26 * 26 + 27).as_str()), ("AAAAAB", "AAABBB"));
        assert_eq!((1..=12).map(sector).collect::<HashSet<_>>().len(), 12);
        assert_eq!((1..=102).map(industry).collect::<HashSet<_>>().len(), 102);
    }

    #[test]
    fn no_name_holds_what_divides_names_in_a_list() {
        assert!(
            (1..=2000).all(|number| !broker(number).contains(',') && !symbol(number).contains(','))
        );
    }

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
        // 120 + 2 + 1 - 20 = 1.03% of 100 x 50.00, and 0.88% of 200 of them.
        assert_eq!(commission_cents(1, 1, 1, 100, 5000), 5150);
        assert_eq!(commission_cents(1, 1, 1, 200, 5000), 8800);
    }

    #[test]
    fn a_unit_has_the_tiers_and_accounts_that_are_told() {
        let rules = BrokerageRules::default();
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
        let rules = BrokerageRules { customers: 100, ..BrokerageRules::default() };
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
    }
}
