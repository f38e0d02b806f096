//! The form of a report as a JSON schema, made from its type; the documents in it are those of
//! other schemas of contract/.

use crate::json::Written;
use assay_tidy::contract::{assert_kept, schema_of};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Documents, and parts of documents, that have a schema elsewhere.
macro_rules! elsewhere {
    ($($name:ident: $reference:literal),* $(,)?) => {$(
        pub(crate) struct $name;
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "$ref": $reference })
            }
        }
    )*};
}
elsewhere!(
    Verdict: "verdict.schema.json",
    Calibration: "calibration.schema.json",
    Cluster: "cluster.schema.json",
    Locality: "locality.schema.json",
    Soak: "soak.schema.json",
    Integrity: "integrity.schema.json",
    Results: "results.schema.json",
    Comparison: "comparison.schema.json",
    Projection: "projection.schema.json",
    Verification: "verification.schema.json#/$defs/Verification",
    Load: "load.schema.json",
    Dss: "dss.schema.json",
    Environment: "environment.schema.json",
    Measurement: "measurement.schema.json",
    NamedEstimate: "results.schema.json#/$defs/NamedEstimate",
    Remark: "measurement.schema.json#/$defs/Remark",
);

/// What has no schema of its own.
macro_rules! table {
    ($($name:ident: $description:literal),* $(,)?) => {$(
        pub(crate) struct $name;
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "object", "description": $description })
            }
        }
    )*};
}
table!(
    Summary: "The host over the whole run: CPUs, disks and network.",
    ErrorSummary: "Errors of all stored predictions: number, mean, median and shares.",
    LevelChange: "The level before the last change, and when it ended.",
);

#[test]
fn the_contract_of_a_report_is_that_of_its_type() {
    assert_kept("report", &schema_of::<Written<'_>>());
}
