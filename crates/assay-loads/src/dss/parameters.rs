//! What takes the places in the queries: drawn by seed as clause 2.4 says, or the values of its
//! validation.

use super::DssScale;
use super::dates::{day, first_of};
use assay_stats::random::Random;

/// Names of places with what takes them.
pub type QueryParameters = Vec<(&'static str, String)>;

/// Where parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterChoice {
    /// Drawn by a seed; every stream draws its own.
    Drawn(u64),
    /// Those by which answers can be checked.
    Validation,
}

impl ParameterChoice {
    /// The parameters of a query, 1 to 22, in a stream.
    pub fn of(self, query: u8, stream: u32, scale: DssScale) -> QueryParameters {
        match self {
            Self::Validation => validation(query, scale),
            Self::Drawn(seed) => {
                let part = u64::from(stream) * 32 + u64::from(query);
                draw(query, scale, &mut Random::part(seed, part))
            }
        }
    }
}

/// 1 December 1998, in days since 1970.
const LAST_SHIPPING_DAY: u64 = 10_561;

const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
const SIZES_OF_TYPES: [&str; 6] = ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"];
const FINISHES: [&str; 5] = ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"];
const METALS: [&str; 5] = ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"];
const SIZES_OF_CONTAINERS: [&str; 5] = ["SM", "LG", "MED", "JUMBO", "WRAP"];
const CONTAINERS: [&str; 8] = ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const COMMENTS: [&str; 4] = ["special", "pending", "unusual", "express"];
const THINGS: [&str; 4] = ["packages", "requests", "accounts", "deposits"];
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
/// Names with the place of their region.
const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];

/// One of several.
fn one<T: Copy, const N: usize>(random: &mut Random, of: &[T; N]) -> T {
    of[assay_model::number::index_of(random.below(assay_model::number::count_of(N)))]
}

/// A number from a first to a last one.
fn between(random: &mut Random, first: u64, last: u64) -> u64 {
    first + random.below(last - first + 1)
}

/// `count` different numbers from `first` to `last`, in the order in which they were drawn.
fn several(random: &mut Random, count: usize, first: u64, last: u64) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    while found.len() < count {
        let next = between(random, first, last);
        if !found.contains(&next) {
            found.push(next);
        }
    }
    found
}

fn brand(random: &mut Random) -> String {
    format!("Brand#{}{}", between(random, 1, 5), between(random, 1, 5))
}

fn nation(random: &mut Random) -> &'static str {
    one(random, &NATIONS).0
}

/// A word of the names of parts.
fn colour(random: &mut Random) -> String {
    let colours = tpchgen::distribution::Distributions::static_default().part_colors().get_values();
    let place = random.below(assay_model::number::count_of(colours.len()));
    colours[assay_model::number::index_of(place)].to_owned()
}

/// A range of `length` months that begins `first` months after January 1993.
fn months(first: u64, length: u64) -> QueryParameters {
    vec![("from", first_of(1993, first)), ("to", first_of(1993, first + length))]
}

/// A year, 1993 to 1997.
fn year(random: &mut Random) -> QueryParameters {
    months(12 * between(random, 0, 4), 12)
}

/// What is important is a smaller share of a larger stock.
fn fraction(scale: DssScale) -> String {
    format!("{:.10}", 0.0001 / scale.factor())
}

fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Codes are texts.
fn quoted(codes: &[u64]) -> String {
    codes.iter().map(|code| format!("'{code}'")).collect::<Vec<_>>().join(", ")
}

/// Puts names to values.
fn named<const N: usize>(pairs: [(&'static str, String); N]) -> QueryParameters {
    Vec::from(pairs)
}

/// Adds names and values.
fn with<const N: usize>(
    mut parameters: QueryParameters,
    pairs: [(&'static str, String); N],
) -> QueryParameters {
    parameters.extend(pairs);
    parameters
}

/// Draws the parameters of a query, 1 to 22 (clauses 2.4.1.3 to 2.4.22.3); none for another number.
pub fn draw(query: u8, scale: DssScale, random: &mut Random) -> QueryParameters {
    match query {
        1 => named([("to", day(LAST_SHIPPING_DAY - between(random, 60, 120)))]),
        2 => named([
            ("size", between(random, 1, 50).to_string()),
            ("metal", one(random, &METALS).to_owned()),
            ("region", one(random, &REGIONS).to_owned()),
        ]),
        3 => named([
            ("segment", one(random, &SEGMENTS).to_owned()),
            ("day", format!("1995-03-{:02}", between(random, 1, 31))),
        ]),
        4 | 15 => months(between(random, 0, 57), 3),
        5 => with(year(random), [("region", one(random, &REGIONS).to_owned())]),
        6 => with(
            year(random),
            [
                ("discount", format!("0.0{}", between(random, 2, 9))),
                ("quantity", between(random, 24, 25).to_string()),
            ],
        ),
        7 => two_nations(random),
        8 => share_of_nation(random),
        9 => named([("colour", colour(random))]),
        10 => months(between(random, 1, 24), 3),
        11 => named([("nation", nation(random).to_owned()), ("fraction", fraction(scale))]),
        _ => draw_second_half(query, random),
    }
}

fn draw_second_half(query: u8, random: &mut Random) -> QueryParameters {
    match query {
        12 => two_modes(random),
        13 => named([
            ("word1", one(random, &COMMENTS).to_owned()),
            ("word2", one(random, &THINGS).to_owned()),
        ]),
        14 => months(between(random, 0, 59), 1),
        16 => named([
            ("brand", brand(random)),
            ("type", format!("{} {}", one(random, &SIZES_OF_TYPES), one(random, &FINISHES))),
            ("sizes", listed(&several(random, 8, 1, 50))),
        ]),
        17 => named([
            ("brand", brand(random)),
            (
                "container",
                format!("{} {}", one(random, &SIZES_OF_CONTAINERS), one(random, &CONTAINERS)),
            ),
        ]),
        18 => named([("quantity", between(random, 312, 315).to_string())]),
        19 => named([
            ("brand1", brand(random)),
            ("brand2", brand(random)),
            ("brand3", brand(random)),
            ("quantity1", between(random, 1, 10).to_string()),
            ("quantity2", between(random, 10, 20).to_string()),
            ("quantity3", between(random, 20, 30).to_string()),
        ]),
        20 => {
            with(year(random), [("colour", colour(random)), ("nation", nation(random).to_owned())])
        }
        21 => named([("nation", nation(random).to_owned())]),
        22 => named([("codes", quoted(&several(random, 7, 10, 34)))]),
        _ => Vec::new(),
    }
}

fn two_nations(random: &mut Random) -> QueryParameters {
    let places = several(random, 2, 0, 24);
    let name = |place: u64| NATIONS[assay_model::number::index_of(place)].0.to_owned();
    named([("nation1", name(places[0])), ("nation2", name(places[1]))])
}

fn share_of_nation(random: &mut Random) -> QueryParameters {
    let (nation, region) = one(random, &NATIONS);
    let [size, finish, metal] =
        [one(random, &SIZES_OF_TYPES), one(random, &FINISHES), one(random, &METALS)];
    named([
        ("nation", nation.to_owned()),
        ("region", REGIONS[region].to_owned()),
        ("type", format!("{size} {finish} {metal}")),
    ])
}

fn two_modes(random: &mut Random) -> QueryParameters {
    let places = several(random, 2, 0, 6);
    let name = |place: u64| MODES[assay_model::number::index_of(place)].to_owned();
    with(year(random), [("mode1", name(places[0])), ("mode2", name(places[1]))])
}

/// The values by which answers are checked (clauses 2.4.1.4 to 2.4.22.4); none for a number that is
/// not a query's.
pub fn validation(query: u8, scale: DssScale) -> QueryParameters {
    let text = str::to_owned;
    match query {
        1 => named([("to", day(LAST_SHIPPING_DAY - 90))]),
        2 => named([("size", text("15")), ("metal", text("BRASS")), ("region", text("EUROPE"))]),
        3 => named([("segment", text("BUILDING")), ("day", text("1995-03-15"))]),
        4 => months(6, 3),
        5 => with(months(12, 12), [("region", text("ASIA"))]),
        6 => with(months(12, 12), [("discount", text("0.06")), ("quantity", text("24"))]),
        7 => named([("nation1", text("FRANCE")), ("nation2", text("GERMANY"))]),
        8 => named([
            ("nation", text("BRAZIL")),
            ("region", text("AMERICA")),
            ("type", text("ECONOMY ANODIZED STEEL")),
        ]),
        9 => named([("colour", text("green"))]),
        10 => months(9, 3),
        11 => named([("nation", text("GERMANY")), ("fraction", fraction(scale))]),
        _ => validation_of_second_half(query),
    }
}

fn validation_of_second_half(query: u8) -> QueryParameters {
    let text = str::to_owned;
    match query {
        12 => with(months(12, 12), [("mode1", text("MAIL")), ("mode2", text("SHIP"))]),
        13 => named([("word1", text("special")), ("word2", text("requests"))]),
        14 => months(32, 1),
        15 => months(36, 3),
        16 => named([
            ("brand", text("Brand#45")),
            ("type", text("MEDIUM POLISHED")),
            ("sizes", listed(&[49, 14, 23, 45, 19, 3, 36, 9])),
        ]),
        17 => named([("brand", text("Brand#23")), ("container", text("MED BOX"))]),
        18 => named([("quantity", text("300"))]),
        19 => named([
            ("brand1", text("Brand#12")),
            ("brand2", text("Brand#23")),
            ("brand3", text("Brand#34")),
            ("quantity1", text("1")),
            ("quantity2", text("10")),
            ("quantity3", text("20")),
        ]),
        20 => with(months(12, 12), [("colour", text("forest")), ("nation", text("CANADA"))]),
        21 => named([("nation", text("SAUDI ARABIA"))]),
        22 => named([("codes", quoted(&[13, 31, 23, 29, 30, 18, 17]))]),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dss::QUERIES;
    use tpchgen::distribution::Distributions;
    use tpchgen::generators::NationGenerator;

    fn value<'a>(parameters: &'a QueryParameters, name: &str) -> &'a str {
        &parameters.iter().find(|(found, _)| *found == name).unwrap().1
    }

    fn many(query: u8) -> Vec<QueryParameters> {
        let scale = DssScale::new(1.0).unwrap();
        (0..2000).map(|stream| ParameterChoice::Drawn(7).of(query, stream, scale)).collect()
    }

    /// The least and the greatest of a parameter.
    fn ends(query: u8, name: &str) -> (String, String) {
        let mut all: Vec<String> =
            many(query).iter().map(|one| value(one, name).to_owned()).collect();
        all.sort();
        (all[0].clone(), all[all.len() - 1].clone())
    }

    #[test]
    fn draws_reach_the_ends_of_their_ranges_and_no_further() {
        let is = |query, name, least: &str, most: &str| {
            assert_eq!(ends(query, name), (least.to_owned(), most.to_owned()), "{query} {name}");
        };
        is(1, "to", "1998-08-03", "1998-10-02");
        is(3, "day", "1995-03-01", "1995-03-31");
        is(4, "from", "1993-01-01", "1997-10-01");
        is(4, "to", "1993-04-01", "1998-01-01");
        is(5, "from", "1993-01-01", "1997-01-01");
        is(6, "discount", "0.02", "0.09");
        is(6, "quantity", "24", "25");
        is(10, "from", "1993-02-01", "1995-01-01");
        is(14, "from", "1993-01-01", "1997-12-01");
        is(15, "from", "1993-01-01", "1997-10-01");
        is(17, "brand", "Brand#11", "Brand#55");
        is(18, "quantity", "312", "315");
        is(19, "quantity3", "20", "30");
    }

    #[test]
    fn what_must_differ_differs() {
        for one in many(7) {
            assert_ne!(value(&one, "nation1"), value(&one, "nation2"));
        }
        for one in many(12) {
            assert_ne!(value(&one, "mode1"), value(&one, "mode2"));
        }
        for (query, name, count) in [(16, "sizes", 8), (22, "codes", 7)] {
            for one in many(query) {
                let mut all: Vec<&str> = value(&one, name).split(", ").collect();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), count);
            }
        }
    }

    #[test]
    fn words_are_those_of_the_rows() {
        let words = Distributions::static_default();
        let same = |mine: &[&str], theirs: &[&str]| {
            let (mut mine, mut theirs) = (mine.to_vec(), theirs.to_vec());
            mine.sort_unstable();
            theirs.sort_unstable();
            assert_eq!(mine, theirs);
        };
        same(&SEGMENTS, words.market_segments().get_values());
        same(&MODES, words.ship_modes().get_values());
        same(&REGIONS, words.regions().get_values());
        let types = words.part_types();
        assert_eq!(types.size(), SIZES_OF_TYPES.len() * FINISHES.len() * METALS.len());
        assert!(types.get_values().contains(&"ECONOMY ANODIZED STEEL"));
        assert_eq!(words.part_containers().size(), SIZES_OF_CONTAINERS.len() * CONTAINERS.len());
        for (nation, (name, region)) in NationGenerator::default().iter().zip(NATIONS) {
            let region = i64::try_from(region).unwrap();
            assert_eq!((nation.n_name, nation.n_regionkey), (name, region));
        }
    }

    #[test]
    fn streams_differ_and_the_same_seed_asks_the_same() {
        let scale = DssScale::new(1.0).unwrap();
        let all = |seed, stream| {
            let of = |query| ParameterChoice::Drawn(seed).of(query, stream, scale);
            (1..=QUERIES).map(of).collect::<Vec<_>>()
        };
        assert_eq!(all(1, 0), all(1, 0));
        assert_ne!(all(1, 0), all(1, 1));
        assert_ne!(all(1, 0), all(2, 0));
    }
}
