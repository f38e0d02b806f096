//! The forms of all documents as JSON schemas, made from the nouns themselves and kept in
//! contract/.
//!
//! They are made by tests only, so that the program carries nothing of it.

use crate::Histogram;
use crate::calendar::Day;
use crate::stack::DeviceNumber;
use crate::units::{Bytes, Nanos, Rate, Share};
use crate::verdict::Bound;
use crate::workload::{BlockSizeMix, BlockSizePart};
use assay_tidy::contract::{assert_kept, schema_of};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::path::PathBuf;

/// Quantities are texts with their unit.
macro_rules! quantity {
    ($($noun:ident: $example:literal),*) => {$(
        impl JsonSchema for $noun {
            fn schema_name() -> Cow<'static, str> {
                stringify!($noun).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!("A quantity with its unit, for example ", $example),
                    "pattern": "^[0-9][0-9._]* ?[A-Za-zµ/]+$"
                })
            }
        }
    )*};
}
quantity!(Bytes: "8KiB", Nanos: "1ms", Rate: "20000/s");

impl JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^[0-9.]+ ?%?$" }
            ]
        })
    }
}

/// The text `major:minor`.
impl JsonSchema for DeviceNumber {
    fn schema_name() -> Cow<'static, str> {
        "DeviceNumber".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+:[0-9]+$" })
    }
}

/// A day of the calendar.
impl JsonSchema for Day {
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" })
    }
}

/// A number stands for itself where the quantity has no unit.
impl JsonSchema for Bound {
    fn schema_name() -> Cow<'static, str> {
        "Bound".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "description": "A limit with its unit, for example 20ms" })
    }
}

impl JsonSchema for BlockSizeMix {
    fn schema_name() -> Cow<'static, str> {
        "BlockSizeMix".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Bytes>();
        let part = generator.subschema_for::<BlockSizePart>();
        json_schema!({ "anyOf": [size, { "type": "array", "items": part, "minItems": 1 }] })
    }
}

impl JsonSchema for Histogram {
    fn schema_name() -> Cow<'static, str> {
        "Histogram".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Times in ns; hdr_v2 is the base64 text of a compressed HdrHistogram V2 encoding.",
            "properties": {
                "ios": { "type": "integer", "minimum": 0 },
                "mean_ns": { "type": "number", "minimum": 0 },
                "min_ns": { "type": "integer", "minimum": 0 },
                "max_ns": { "type": "integer", "minimum": 0 },
                "hdr_v2": { "type": "string", "pattern": "^HIST" },
                "quantiles": {
                    "type": "array",
                    "description": "Quantiles that another program printed, exactly.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "share": { "type": "number", "minimum": 0, "maximum": 1 },
                            "time_ns": { "type": "integer", "minimum": 0 }
                        },
                        "required": ["share", "time_ns"],
                        "additionalProperties": false
                    }
                },
                "known_shares": {
                    "type": "array",
                    "description": "Shares of the quantiles between which hdr_v2 is interpolated.",
                    "items": { "type": "number", "minimum": 0, "maximum": 1 }
                }
            },
            "required": ["ios", "mean_ns", "min_ns", "max_ns", "hdr_v2"],
            "additionalProperties": false
        })
    }
}

/// A line of a cell's `intervals.jsonl`, which holds one of the three.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "only its form is of interest: the store has the type")]
struct Line {
    begin: Option<Begin>,
    interval: Option<crate::run::IntervalSummary>,
    joint: Option<crate::measurement::Window>,
}

/// The measured time began, or was taken up again.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "only its form is of interest: the store has the type")]
struct Begin {
    format: u32,
    started_unix_ns: u64,
    conduct: crate::measurement::Conduct,
    #[schemars(default)]
    errors: Vec<crate::measurement::ErrorCount>,
}

/// The schema of a line of a run, which the store ends with a checksum.
fn line<T: JsonSchema>() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let checksum = serde_json::json!({
        "type": "string",
        "description": "CRC-32 of the line before this key; lines of earlier versions have none",
        "pattern": "^[0-9a-f]{8}$"
    });
    let properties = schema.get_mut("properties").and_then(|found| found.as_object_mut());
    properties.unwrap().insert("crc32".to_owned(), checksum);
    written(&schema)
}

fn written(schema: &Schema) -> String {
    serde_json::to_string_pretty(schema).unwrap() + "\n"
}

/// A host, which has a schema of its own.
pub(crate) fn environment(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "environment.schema.json" })
}

/// All documents: the name of the schema's file, and its text.
fn all() -> Vec<(&'static str, String)> {
    vec![
        ("array", schema_of::<crate::array::ArrayModel>()),
        ("workload", schema_of::<crate::Workload>()),
        ("measurement", schema_of::<crate::measurement::Measurement>()),
        ("interval", schema_of::<crate::run::IntervalSummary>()),
        ("intervals", line::<Line>()),
        ("joint", schema_of::<crate::measurement::Window>()),
        ("event", line::<crate::run::Event>()),
        ("run", schema_of::<crate::run::RunManifest>()),
        ("calibration", schema_of::<crate::calibration::Calibration>()),
        ("study", schema_of::<crate::study::Study>()),
        ("results", schema_of::<crate::study::StudyResult>()),
        ("locality", schema_of::<crate::locality::Locality>()),
        ("soak", schema_of::<crate::soak::Soak>()),
        ("integrity", schema_of::<crate::integrity::Integrity>()),
        ("fault", line::<crate::integrity::FaultVersions>()),
        ("comparison", schema_of::<crate::comparison::Comparison>()),
        ("load", schema_of::<crate::load::Load>()),
        ("step", schema_of::<crate::load::LoadStep>()),
        ("mix", schema_of::<crate::mix::Mix>()),
        ("dss", schema_of::<crate::dss::Dss>()),
        ("environment", schema_of::<crate::environment::Environment>()),
        ("cluster", schema_of::<crate::cluster::Cluster>()),
        ("survey", schema_of::<crate::cluster::ClusterSurvey>()),
        ("criteria", schema_of::<crate::Criteria>()),
        ("verdict", schema_of::<crate::Verdict>()),
        ("moment", line::<crate::watch::Moment>()),
        ("profile", schema_of::<crate::profile::Profile>()),
        ("catalog", schema_of::<crate::catalog::Catalog>()),
        ("sizing", schema_of::<crate::sizing::Sizing>()),
        ("projection", schema_of::<crate::projection::Projection>()),
        ("verification", schema_of::<crate::projection::Verifications>()),
    ]
}

#[test]
fn the_contract_is_that_of_the_nouns() {
    for (name, text) in all() {
        assert_kept(name, &text);
    }
}

/// A line as its noun reads it; the checksum is the store's.
fn without_checksum(line: &str) -> String {
    match line.rsplit_once(",\"crc32\":") {
        Some((noun, _)) => format!("{noun}}}"),
        None => line.to_owned(),
    }
}

/// A document with the names of version 0.2, which documents and files of users still have.
fn with_former_names(document: &str) -> String {
    let names = [
        ("read_queue_depth", "reads_outstanding"),
        ("queue_depth", "outstanding"),
        ("block_size", "transfer"),
    ];
    names.iter().fold(document.to_owned(), |text, (name, former)| text.replace(name, former))
}

/// Reads every example of a kind as its noun, with its former names, and every document of an
/// earlier form.
fn read_examples<T: serde::de::DeserializeOwned>(kind: &str) -> usize {
    let contract = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../contract");
    let folders = ["examples", "earlier"].map(|folder| contract.join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut read = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let documents: Vec<String> =
            match name.split_once(&format!(".{kind}.")).map(|(_, form)| form) {
                Some("jsonl") => text.lines().map(without_checksum).collect(),
                Some(_) => vec![text.clone()],
                None => continue,
            };
        let former: Vec<String> = documents.iter().map(|one| with_former_names(one)).collect();
        for document in documents.iter().chain(&former) {
            let parsed = if path.extension().is_some_and(|form| form == "toml") {
                crate::document::parse_toml::<T>(document, kind).map(drop)
            } else {
                crate::document::parse_json::<T>(document, kind).map(drop)
            };
            assert!(parsed.is_ok(), "{name}: {parsed:?}");
            read += 1;
        }
    }
    read
}

#[test]
fn the_examples_of_the_contract_are_read() {
    assert!(read_examples::<crate::array::ArrayModel>("array") > 0);
    assert!(read_examples::<crate::Workload>("workload") > 0);
    assert!(read_examples::<crate::measurement::Measurement>("measurement") > 0);
    assert!(read_examples::<crate::run::IntervalSummary>("interval") > 0);
    assert!(read_examples::<crate::measurement::Window>("joint") > 0);
    assert!(read_examples::<crate::run::Event>("event") > 0);
    assert!(read_examples::<crate::run::RunManifest>("run") > 0);
    assert!(read_examples::<crate::calibration::Calibration>("calibration") > 0);
    assert!(read_examples::<crate::environment::Environment>("environment") > 0);
    assert!(read_examples::<crate::study::Study>("study") > 0);
    assert!(read_examples::<crate::study::StudyResult>("results") > 0);
    assert!(read_examples::<crate::locality::Locality>("locality") > 0);
    assert!(read_examples::<crate::soak::Soak>("soak") > 0);
    assert!(read_examples::<crate::integrity::Integrity>("integrity") > 0);
    assert!(read_examples::<crate::integrity::FaultVersions>("fault") > 0);
    assert!(read_examples::<crate::comparison::Comparison>("comparison") > 0);
    assert!(read_examples::<crate::cluster::Cluster>("cluster") > 0);
    assert!(read_examples::<crate::cluster::ClusterSurvey>("survey") > 0);
    assert!(read_examples::<crate::Criteria>("criteria") > 0);
    assert!(read_examples::<crate::Verdict>("verdict") > 0);
    assert!(read_examples::<crate::watch::Moment>("moment") > 0);
    assert!(read_examples::<crate::profile::Profile>("profile") > 0);
    assert!(read_examples::<crate::catalog::Catalog>("catalog") > 0);
    assert!(read_examples::<crate::sizing::Sizing>("sizing") > 0);
    assert!(read_examples::<crate::projection::Projection>("projection") > 0);
    assert!(read_examples::<crate::projection::Verifications>("verification") > 0);
    // Of both forms.
    assert!(read_examples::<crate::load::Load>("load") > 1);
    assert!(read_examples::<crate::load::LoadStep>("step") > 0);
    assert!(read_examples::<crate::mix::Mix>("mix") > 0);
    assert!(read_examples::<crate::dss::Dss>("dss") > 0);
}
