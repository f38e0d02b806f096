//! Loads on real databases: what a session does is said by `assay-loads`; here are the data, the
//! servers, the ladder of sessions that finds what a server gives, and what is counted meanwhile.
#![forbid(unsafe_code)]

pub mod brokerage;
pub mod dss;
pub mod load;
pub mod oltp;
pub mod slob;

use assay_model::load::LoadKind;
use load::{OwnedKind, is_common};

/// Whether a load makes a table, sequence, function or procedure of this name in its schema.
pub(crate) fn makes(kind: OwnedKind, name: &str) -> bool {
    let makes_of_load = match kind {
        OwnedKind::Load(LoadKind::Slob) => slob::makes,
        OwnedKind::Load(LoadKind::Oltp) => oltp::makes,
        OwnedKind::Load(LoadKind::Dss) => dss::makes,
        OwnedKind::Load(LoadKind::Brokerage) => brokerage::makes,
        OwnedKind::Database => |_: &str| false,
    };
    is_common(name) || makes_of_load(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Calls, LoadTables};
    use assay_loads::oltp;

    #[test]
    fn procedures_have_the_names_of_functions() {
        let rules = oltp::OltpRules::default();
        let shape =
            crate::oltp::SchemaShape { rules: &rules, partitions: 0, calls: Calls::Functions };
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
