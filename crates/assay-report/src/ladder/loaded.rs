//! How the data of a load came to be there, and how it was read.

use crate::clock::show_length;
use assay_model::load::{CertificateCheck, Encryption, Load};
use assay_model::number::real;
use assay_model::units::{show_bytes, show_count, show_throughput};

/// How the sessions were encrypted, and what that cost.
pub(crate) fn encryption(encryption: &Encryption) -> (String, String) {
    let checked = match encryption.checked {
        CertificateCheck::Nothing => "certificate not checked",
        CertificateCheck::Authority => "authority checked, host name not",
        CertificateCheck::AuthorityAndHost => "authority and host name checked",
    };
    let cost = encryption.cost_per_answer_ns.map_or_else(String::new, |cost_ns| {
        format!("; {:.1} µs of Assay's CPU time per answer", cost_ns / 1000.0)
    });
    let (protocol, cipher) = (&encryption.protocol, &encryption.cipher);
    ("Encryption".to_owned(), format!("{protocol}, {cipher}, {checked}{cost}"))
}

/// How the data came to be there, and how it was read.
pub(crate) fn facts(load: &Load) -> Vec<(String, String)> {
    let server = &load.server;
    let own = match (server.is_own, server.ready_s) {
        (true, Some(ready_s)) => format!("made for this run in {}", show_length(ready_s)),
        (true, None) => "kept by an earlier run".to_owned(),
        (false, _) => "given".to_owned(),
    };
    let way = match server.direct_io {
        Some(true) => "past the page cache",
        Some(false) => "through the page cache",
        None => "unknown",
    };
    let mut facts =
        vec![("Server".to_owned(), format!("{} {}, {own}", server.product, server.version))];
    facts.extend(server.encryption.as_ref().map(encryption));
    facts.extend([
        ("Data files".to_owned(), way.to_owned()),
        ("Reading".to_owned(), load.access.clone()),
    ]);
    facts.extend(load.filled.map(|filled| {
        let per_s = show_throughput(real(filled.table_bytes) / filled.elapsed_s.max(1e-9));
        let bytes = show_bytes(real(filled.table_bytes));
        (
            "Loaded".to_owned(),
            format!(
                "{bytes} in {} ({per_s}), {} rows{}",
                show_length(filled.elapsed_s),
                show_count(real(filled.rows)),
                if load.kind.counted().is_none() { ", one a block" } else { "" }
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
