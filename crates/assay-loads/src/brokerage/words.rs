//! Assay's word lists, and names made of them: the same number gives the same name everywhere.

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
}
