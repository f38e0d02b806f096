//! Documents that `--json` prints and no run keeps: lists of what is built in or was read, and what
//! became of a job file.

use assay_formats::conversion::SourceProgram;
use assay_formats::{ConvertedDocument, NamedTarget, Note};
use assay_model::Profile;
use assay_model::array::{ArrayModel, ExperimentFigure, FigureCheck};
use assay_model::catalog::CatalogEntry;
use serde::Serialize;
use serde_json::Value;

/// Version of the form of all of them.
const FORMAT: u32 = 1;

/// Models of arrays.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ArrayList<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// Every model as its file says it.
    #[cfg_attr(test, schemars(schema_with = "tests::arrays"))]
    arrays: &'a [ArrayModel],
}

/// Published figures next to simulated ones.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct FigureList<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// One a published figure.
    figures: Vec<CheckedFigure<'a>>,
}

/// A published figure and what the model makes of it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct CheckedFigure<'a> {
    /// Name of the model.
    pub array: &'a str,
    /// The figure as published.
    #[cfg_attr(test, schemars(schema_with = "tests::figure"))]
    pub figure: &'a ExperimentFigure,
    /// The simulated value in the same unit; null where the model cannot tell.
    #[serde(rename = "simulated")]
    pub simulated_value: Option<f64>,
    /// Simulated over published, less one; 0 beyond a bound.
    pub error: Option<f64>,
    /// In a word or two: fitted, held back, or missed.
    pub remark: &'static str,
}

/// Entries of catalogs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct EntryList<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// Every entry as its catalog says it.
    #[cfg_attr(test, schemars(schema_with = "tests::entries"))]
    entries: Vec<&'a CatalogEntry>,
}

/// Profiles of several reports.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ProfileList<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// One a report, in their order.
    #[cfg_attr(test, schemars(schema_with = "tests::profiles"))]
    profiles: &'a [&'a Profile],
}

/// The table of several reports.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ReportTable {
    /// Version of the document's form: 1.
    format: u32,
    /// One a report: its columns by name, with their unit in the name; null where the report says
    /// nothing.
    #[cfg_attr(test, schemars(schema_with = "tests::rows"))]
    rows: Value,
}

/// What became of a job file of another program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ConversionDocument<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// The program whose file it is.
    #[cfg_attr(test, schemars(schema_with = "tests::program"))]
    program: SourceProgram,
    /// Files and devices that it names.
    #[cfg_attr(test, schemars(schema_with = "tests::targets"))]
    targets: &'a [NamedTarget],
    /// Workloads and studies that say the same.
    #[cfg_attr(test, schemars(schema_with = "tests::converted"))]
    documents: Vec<&'a ConvertedDocument>,
    /// What became of each of its options.
    #[cfg_attr(test, schemars(schema_with = "tests::notes"))]
    notes: &'a [Note],
    /// Hosts that it names.
    hosts: &'a [String],
}

impl<'a> ArrayList<'a> {
    /// Of these models.
    pub const fn of(arrays: &'a [ArrayModel]) -> Self {
        Self { format: FORMAT, arrays }
    }
}

impl<'a> FigureList<'a> {
    /// Of these figures.
    pub const fn of(figures: Vec<CheckedFigure<'a>>) -> Self {
        Self { format: FORMAT, figures }
    }
}

impl<'a> CheckedFigure<'a> {
    /// One of a model, with a remark.
    pub fn of(checked: &'a FigureCheck) -> Self {
        Self {
            array: &checked.array,
            figure: &checked.figure,
            simulated_value: checked.measured_value,
            error: checked.error(),
            remark: checked.remark(),
        }
    }
}

impl<'a> EntryList<'a> {
    /// Of these entries.
    pub const fn of(entries: Vec<&'a CatalogEntry>) -> Self {
        Self { format: FORMAT, entries }
    }
}

impl<'a> ProfileList<'a> {
    /// Of these profiles.
    pub const fn of(profiles: &'a [&'a Profile]) -> Self {
        Self { format: FORMAT, profiles }
    }
}

impl ReportTable {
    /// Of these rows, an array of objects.
    pub const fn of(rows: Value) -> Self {
        Self { format: FORMAT, rows }
    }
}

impl<'a> ConversionDocument<'a> {
    /// What became of it.
    pub fn of(conversion: &'a assay_formats::Conversion) -> Self {
        Self {
            format: FORMAT,
            program: conversion.program,
            targets: &conversion.targets,
            documents: conversion.parts.iter().map(|part| &part.document).collect(),
            notes: &conversion.notes,
            hosts: &conversion.hosts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_tidy::contract::{assert_kept, schema_of};
    use schemars::{Schema, SchemaGenerator, json_schema};

    fn every(reference: &str) -> Schema {
        json_schema!({ "type": "array", "items": { "$ref": reference } })
    }

    pub(super) fn arrays(_: &mut SchemaGenerator) -> Schema {
        every("array.schema.json")
    }

    pub(super) fn figure(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "$ref": "array.schema.json#/$defs/ExperimentFigure" })
    }

    pub(super) fn entries(_: &mut SchemaGenerator) -> Schema {
        every("catalog.schema.json#/$defs/CatalogEntry")
    }

    pub(super) fn profiles(_: &mut SchemaGenerator) -> Schema {
        every("profile.schema.json")
    }

    pub(super) fn rows(_: &mut SchemaGenerator) -> Schema {
        let cell = json_schema!({ "type": ["number", "string", "null"] });
        let keys = crate::table::keys().into_iter();
        let properties: serde_json::Map<String, Value> =
            keys.map(|key| (key, cell.clone().into())).collect();
        let row = json_schema!({ "type": "object", "properties": properties, "additionalProperties": false });
        json_schema!({ "type": "array", "items": row })
    }

    pub(super) fn program(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": ["fio", "vdbench", "iometer"] })
    }

    pub(super) fn targets(_: &mut SchemaGenerator) -> Schema {
        let properties = serde_json::json!({ "name": { "type": "string" }, "size": { "type": ["string", "null"] } });
        let target = json_schema!({ "type": "object", "properties": properties, "required": ["name"], "additionalProperties": false });
        json_schema!({ "type": "array", "items": target })
    }

    pub(super) fn converted(_: &mut SchemaGenerator) -> Schema {
        let properties = serde_json::json!({
            "workload": { "$ref": "workload.schema.json" },
            "study": { "$ref": "study.schema.json" },
        });
        let one = json_schema!({ "type": "object", "properties": properties, "additionalProperties": false });
        json_schema!({ "type": "array", "items": one })
    }

    pub(super) fn notes(_: &mut SchemaGenerator) -> Schema {
        let origin = serde_json::json!({
            "type": "object",
            "properties": {
                "file": { "type": "string" },
                "line": { "type": "integer" },
                "key": { "type": "string" },
            },
            "required": ["file", "line", "key"],
            "additionalProperties": false,
        });
        let treatment = serde_json::json!({
            "description": "`exact`, `no_effect`, or an object `approximated` or `refused` that says how or why",
            "type": ["string", "object"],
        });
        let properties = serde_json::json!({ "origin": origin, "value": { "type": "string" }, "treatment": treatment });
        let note = json_schema!({
            "type": "object", "properties": properties,
            "required": ["origin", "value", "treatment"], "additionalProperties": false,
        });
        json_schema!({ "type": "array", "items": note })
    }

    #[test]
    fn the_contracts_of_the_lists_are_those_of_their_types() {
        assert_kept("arrays", &schema_of::<ArrayList<'_>>());
        assert_kept("figures", &schema_of::<FigureList<'_>>());
        assert_kept("entries", &schema_of::<EntryList<'_>>());
        assert_kept("profiles", &schema_of::<ProfileList<'_>>());
        assert_kept("table", &schema_of::<ReportTable>());
        assert_kept("conversion", &schema_of::<ConversionDocument<'_>>());
    }
}
