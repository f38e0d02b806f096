//! The studies that come with the program: experiments of published papers, re-run by their names.

use assay_model::document::nearest;
use assay_model::{Error, Result};

/// Name and text of every study.
pub const STUDIES: [(&str, &str); 29] = [
    ("benchware-sto-14", include_str!("../../../studies/benchware-sto-14.toml")),
    ("benchware-sto-64", include_str!("../../../studies/benchware-sto-64.toml")),
    ("benchware-sto-64-cluster", include_str!("../../../studies/benchware-sto-64-cluster.toml")),
    ("dell-brokerage-1tb", include_str!("../../../studies/dell-brokerage-1tb.toml")),
    ("dell-brokerage-4tb", include_str!("../../../studies/dell-brokerage-4tb.toml")),
    ("dell-brokerage-writes", include_str!("../../../studies/dell-brokerage-writes.toml")),
    ("dell-capacity", include_str!("../../../studies/dell-capacity.toml")),
    ("dell-layout", include_str!("../../../studies/dell-layout.toml")),
    ("dell-locality", include_str!("../../../studies/dell-locality.toml")),
    ("dell-memory", include_str!("../../../studies/dell-memory.toml")),
    ("dell-volumes", include_str!("../../../studies/dell-volumes.toml")),
    ("emc-scaling", include_str!("../../../studies/emc-scaling.toml")),
    ("emc-slob", include_str!("../../../studies/emc-slob.toml")),
    ("emc-sustained", include_str!("../../../studies/emc-sustained.toml")),
    ("emc-update", include_str!("../../../studies/emc-update.toml")),
    ("emc-work-rest", include_str!("../../../studies/emc-work-rest.toml")),
    ("orion-normal", include_str!("../../../studies/orion-normal.toml")),
    ("orion-simple", include_str!("../../../studies/orion-simple.toml")),
    ("orion-simple-large", include_str!("../../../studies/orion-simple-large.toml")),
    ("sandisk-dss", include_str!("../../../studies/sandisk-dss.toml")),
    ("sandisk-memory", include_str!("../../../studies/sandisk-memory.toml")),
    ("sandisk-memory-dss", include_str!("../../../studies/sandisk-memory-dss.toml")),
    ("sandisk-oltp-high-high", include_str!("../../../studies/sandisk-oltp-high-high.toml")),
    ("sandisk-oltp-high-low", include_str!("../../../studies/sandisk-oltp-high-low.toml")),
    ("sandisk-oltp-low-high", include_str!("../../../studies/sandisk-oltp-low-high.toml")),
    ("tms-depth4", include_str!("../../../studies/tms-depth4.toml")),
    ("tms-disks", include_str!("../../../studies/tms-disks.toml")),
    ("tms-flash", include_str!("../../../studies/tms-flash.toml")),
    ("tms-latency", include_str!("../../../studies/tms-latency.toml")),
];

/// The text of a study by its name.
///
/// # Errors
/// A usage error with the nearest name.
pub fn study_text(name: &str) -> Result<&'static str> {
    let found = STUDIES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let names: Vec<String> = STUDIES.iter().map(|(known, _)| (*known).to_owned()).collect();
    let near =
        nearest(name, &names).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    Error::usage(
        format!("there is no study file and no built-in study '{name}'"),
        format!("{near}`assay list studies` lists the built-in ones"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::study::parse_study;

    #[test]
    fn every_study_is_valid_and_an_unknown_one_is_answered_with_the_nearest() {
        for (name, text) in STUDIES {
            parse_study(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert!(study_text("emc-slub").unwrap_err().hint().contains("'emc-slob'"));
    }

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.strip_suffix(".toml").unwrap();
            assert!(STUDIES.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
