//! The schemas of the documents that this room defines, made from their types.

use crate::dry_run::PlanSummary;
use crate::replay::ReplayDocument;
use crate::study::outline::StudyListing;
use crate::witness::CampaignDocument;
use assay_tidy::contract::{assert_kept, schema_of};
use schemars::{Schema, SchemaGenerator, json_schema};

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
    json_schema!({ "type": "array", "items": { "$ref": "results.schema.json#/$defs/StudySetting" } })
}

#[test]
fn the_contracts_are_those_of_their_types() {
    assert_kept("summary", &schema_of::<PlanSummary>());
    assert_kept("replay", &schema_of::<ReplayDocument<'_>>());
    assert_kept("campaign", &schema_of::<CampaignDocument<'_>>());
    assert_kept("outline", &schema_of::<StudyListing<'_>>());
}
