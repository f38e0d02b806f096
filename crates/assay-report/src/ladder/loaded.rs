//! How the data of a load came to be there, and how it was read.

use super::kind::Kind;
use crate::clock::show_length;
use assay_model::load::Load;
use assay_model::number::real;
use assay_model::units::{show_bytes, show_count, show_throughput};

/// How the data came to be there, and how it was read.
pub(crate) fn facts(load: &Load) -> Vec<(String, String)> {
    let server = &load.server;
    let own = match (server.is_own, server.ready_s) {
        (true, Some(ready_s)) => format!("made for this run in {}", show_length(ready_s)),
        (true, None) => "ours, kept by an earlier run".to_owned(),
        (false, _) => "given".to_owned(),
    };
    let way = match server.direct_io {
        Some(true) => "past the page cache",
        Some(false) => "through the page cache",
        None => "unknown",
    };
    let mut facts = vec![
        ("Server".to_owned(), format!("{} {}, {own}", server.product, server.version)),
        ("Data files".to_owned(), way.to_owned()),
        ("Reading".to_owned(), load.access.clone()),
    ];
    facts.extend(load.filled.map(|filled| {
        let per_s = show_throughput(real(filled.table_bytes) / filled.elapsed_s.max(1e-9));
        let bytes = show_bytes(real(filled.table_bytes));
        (
            "Loaded".to_owned(),
            format!(
                "{bytes} in {} ({per_s}), {} rows{}",
                show_length(filled.elapsed_s),
                show_count(real(filled.rows)),
                if Kind::of(load) == Kind::Blocks { ", one a block" } else { "" }
            ),
        )
    }));
    facts.extend(
        load.plan
            .iter()
            .chain(&server.settings)
            .map(|setting| (setting.name.clone(), setting.value.clone())),
    );
    facts
}
