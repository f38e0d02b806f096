//! What each load makes in its schema, by name: whatever else lies there was put there by somebody else.

use super::commit_log::COMMITS;
use super::owner::{OwnedKind, RECORD};
use assay_loads::{brokerage, dss, oltp};
use assay_model::load::LoadKind;

/// Tables that several kinds of load have.
const COMMON: [&str; 4] = [RECORD, "assay_manifest", "assay_contents", COMMITS];
/// What the conditions of order entry look at.
const OF_ORDERS: [&str; 2] = ["assay_lines", "assay_customers"];
/// What those of brokerage look at.
const OF_TRADES: [&str; 1] = ["assay_trades"];
/// Functions of order entry; its procedures have their names.
const ORDER_FUNCTIONS: &str = include_str!("../oltp/sql/postgres_functions.sql");
/// Functions and sequences of brokerage.
const TRADE_FUNCTIONS: &str = include_str!("../brokerage/sql/postgres_functions.sql");

/// Whether a load makes a table, sequence, function or procedure of this name.
pub(super) fn makes(kind: OwnedKind, name: &str) -> bool {
    let whole = without_part(name);
    if COMMON.contains(&name) {
        return true;
    }
    match kind {
        OwnedKind::Load(LoadKind::Slob) => whole == "scan" || is_numbered(name, "cf"),
        OwnedKind::Load(LoadKind::Oltp) => {
            let is_table = oltp::Table::ALL.iter().any(|table| table.name() == whole);
            is_table || OF_ORDERS.contains(&name) || creates(ORDER_FUNCTIONS, name)
        }
        OwnedKind::Load(LoadKind::Dss) => dss::TABLES.iter().any(|table| table.name() == name),
        OwnedKind::Load(LoadKind::Brokerage) => {
            let is_table = brokerage::Table::ALL.iter().any(|table| table.name() == name);
            is_table || OF_TRADES.contains(&name) || creates(TRADE_FUNCTIONS, name)
        }
        OwnedKind::Database => false,
    }
}

/// `order_line_3` is a part of `order_line`.
fn without_part(name: &str) -> &str {
    let part = name.rsplit_once('_').filter(|(_, number)| is_numbered(number, ""));
    part.map_or(name, |(whole, _)| whole)
}

fn is_numbered(name: &str, begin: &str) -> bool {
    let number = name.strip_prefix(begin);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a text creates something of this name in the schema.
fn creates(text: &str, name: &str) -> bool {
    let makes = ["CREATE FUNCTION {s}.", "CREATE SEQUENCE {s}."];
    let ends = |rest: &str| {
        !rest.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphanumeric())
    };
    let mut pieces = makes.iter().flat_map(|make| text.split(make).skip(1));
    pieces.any(|piece| piece.strip_prefix(name).is_some_and(ends))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Calls, Tables};

    #[test]
    fn procedures_have_the_names_of_functions() {
        let rules = oltp::Rules::default();
        let shape = crate::oltp::Shape { rules: &rules, partitions: 0, calls: Calls::Functions };
        let all = shape.procedures("s");
        assert!(!all.is_empty());
        assert!(all.iter().all(|one| makes(OwnedKind::Load(LoadKind::Oltp), one.name)));
    }

    #[test]
    fn a_load_knows_what_it_makes_itself() {
        for (kind, own, foreign) in [
            (OwnedKind::Load(LoadKind::Slob), "cf12", "cfx"),
            (OwnedKind::Load(LoadKind::Slob), "scan", "results"),
            (OwnedKind::Load(LoadKind::Oltp), "order_line_3", "order_line_x"),
            (OwnedKind::Load(LoadKind::Oltp), "deliver", "thesis"),
            (OwnedKind::Load(LoadKind::Oltp), "assay_lines", "lines"),
            (OwnedKind::Load(LoadKind::Dss), "lineitem", "lineitem_mine"),
            (OwnedKind::Load(LoadKind::Brokerage), "trade_numbers", "trade_mine"),
            (OwnedKind::Load(LoadKind::Brokerage), "market_feed", "mine"),
            (OwnedKind::Database, "assay_owner", "anything"),
        ] {
            assert!(makes(kind, own) && !makes(kind, foreign), "{kind:?} {own} {foreign}");
        }
    }
}
