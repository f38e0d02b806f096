//! The schemas of the documents that this room defines, made from their types.
//!
//! `ASSAY_WRITE_CONTRACT=1 cargo test -p assay-app contract` writes them again after a type has changed.

use crate::dry_run::PlanSummary;
use crate::replay::ReplayDocument;
use crate::study::outline::StudyListing;
use crate::witness::CampaignDocument;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

pub(crate) fn fault_counts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "$ref": "integrity.schema.json#/$defs/FaultCount" } })
}

pub(crate) fn durability(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "integrity.schema.json#/$defs/Durability" })
}

pub(crate) fn hooks(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "study.schema.json#/$defs/Hooks" })
}

/// What the factors of a study are set to.
pub(crate) fn settings(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "$ref": "results.schema.json#/$defs/Setting" } })
}

fn assert_kept<T: JsonSchema>(name: &str) {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.into_root_schema_for::<T>();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let path = format!("{}/../../contract/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("ASSAY_WRITE_CONTRACT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{name}: write it again, see above");
}

#[test]
fn the_contracts_are_those_of_their_types() {
    assert_kept::<PlanSummary>("summary");
    assert_kept::<ReplayDocument<'_>>("replay");
    assert_kept::<CampaignDocument<'_>>("campaign");
    assert_kept::<StudyListing<'_>>("outline");
}
