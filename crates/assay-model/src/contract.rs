//! The JSON schemas of all documents, as they ship with the program.

use crate::document::nearest;
use crate::error::{Error, Result};

/// Name and text of every schema (JSON Schema, draft 2020-12).
pub const SCHEMAS: [(&str, &str); 32] = [
    ("array", include_str!("../../../contract/array.schema.json")),
    ("calibration", include_str!("../../../contract/calibration.schema.json")),
    ("catalog", include_str!("../../../contract/catalog.schema.json")),
    ("comparison", include_str!("../../../contract/comparison.schema.json")),
    ("criteria", include_str!("../../../contract/criteria.schema.json")),
    ("dss", include_str!("../../../contract/dss.schema.json")),
    ("environment", include_str!("../../../contract/environment.schema.json")),
    ("event", include_str!("../../../contract/event.schema.json")),
    ("fault", include_str!("../../../contract/fault.schema.json")),
    ("integrity", include_str!("../../../contract/integrity.schema.json")),
    ("interval", include_str!("../../../contract/interval.schema.json")),
    ("intervals", include_str!("../../../contract/intervals.schema.json")),
    ("joint", include_str!("../../../contract/joint.schema.json")),
    ("load", include_str!("../../../contract/load.schema.json")),
    ("locality", include_str!("../../../contract/locality.schema.json")),
    ("measurement", include_str!("../../../contract/measurement.schema.json")),
    ("mix", include_str!("../../../contract/mix.schema.json")),
    ("moment", include_str!("../../../contract/moment.schema.json")),
    ("profile", include_str!("../../../contract/profile.schema.json")),
    ("projection", include_str!("../../../contract/projection.schema.json")),
    ("report", include_str!("../../../contract/report.schema.json")),
    ("results", include_str!("../../../contract/results.schema.json")),
    ("run", include_str!("../../../contract/run.schema.json")),
    ("runs", include_str!("../../../contract/runs.schema.json")),
    ("sizing", include_str!("../../../contract/sizing.schema.json")),
    ("soak", include_str!("../../../contract/soak.schema.json")),
    ("step", include_str!("../../../contract/step.schema.json")),
    ("study", include_str!("../../../contract/study.schema.json")),
    ("summary", include_str!("../../../contract/summary.schema.json")),
    ("verdict", include_str!("../../../contract/verdict.schema.json")),
    ("verification", include_str!("../../../contract/verification.schema.json")),
    ("workload", include_str!("../../../contract/workload.schema.json")),
];

/// The schema of a document by its name, for example `run`; `run.schema.json` is the same.
///
/// # Errors
/// A usage error with the nearest name.
pub fn schema_text(name: &str) -> Result<&'static str> {
    let wanted = name.trim_end_matches(".json").trim_end_matches(".schema");
    let found = SCHEMAS.iter().find(|(known, _)| *known == wanted);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<String> = SCHEMAS.iter().map(|(known, _)| (*known).to_owned()).collect();
        let near = nearest(wanted, &names).map(|near| format!("did you mean '{near}'? "));
        Error::usage(
            format!("there is no schema '{name}'"),
            format!("{}`assay show schema` lists them", near.unwrap_or_default()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_contract_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract");
        let names = std::fs::read_dir(folder).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter(|name| name.ends_with(".schema.json")) {
            assert!(schema_text(&name).unwrap().contains("\"$schema\""), "{name}");
        }
        assert!(schema_text("runn").unwrap_err().hint().contains("'run'"));
    }
}
