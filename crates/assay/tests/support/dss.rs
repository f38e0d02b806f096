//! What tests of loads of decision support ask of a result.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, and each uses another part of this"
)]

use crate::server::{Place, json, words};
use assay_loads::dss::order;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Rows of all tables of scale 0.01.
pub const ROWS: u64 = 86_805;

pub fn queries(run: &Value) -> &Vec<Value> {
    run["queries"].as_array().unwrap()
}

/// Names of the queries of a run, those of one stream only.
pub fn names(run: &Value, stream: Option<u64>) -> Vec<String> {
    let mine = queries(run).iter().filter(|query| query["stream"].as_u64() == stream);
    mine.map(|query| query["name"].as_str().unwrap().to_owned()).collect()
}

/// Names in the order of a stream.
fn asked(stream: u32) -> Vec<String> {
    order(stream).iter().map(|query| format!("Q{query}")).collect()
}

/// Rows that calls of a refresh function changed.
fn rows(run: &Value, name: &str) -> Vec<u64> {
    let mine = queries(run).iter().filter(|query| query["name"] == name);
    mine.map(|query| query["rows"].as_u64().unwrap()).collect()
}

/// Everything in a run came to its end and found what it should.
pub fn assert_complete(run: &Value) {
    assert!(queries(run).iter().all(|query| query["outcome"]["kind"] == "complete"), "{run}");
    assert!(run["database"]["logical_reads"].as_u64().unwrap() > 1000);
    // New orders are those that go, under other keys.
    assert_eq!(rows(run, "RF1"), rows(run, "RF2"));
    assert!(rows(run, "RF1").iter().all(|rows| (30..200).contains(rows)));
}

/// A power run and one of two streams asked everything in its order.
pub fn assert_ordered(power: &Value, throughput: &Value) {
    let whole: Vec<String> = [vec!["RF1".to_owned()], asked(0), vec!["RF2".to_owned()]].concat();
    assert_eq!(names(power, Some(0)), whole);
    assert_eq!((names(throughput, Some(1)), names(throughput, Some(2))), (asked(1), asked(2)));
}

#[track_caller]
pub fn refused(place: &Place, command: &str, code: i32, word: &str) {
    let output = place.run(command);
    let words = words(&output);
    assert_eq!(output.status.code(), Some(code), "{command}: {words}");
    assert!(words.contains(word) && words.contains("hint: "), "{command}: {words}");
}

/// Whether the tables were loaded by this run.
#[track_caller]
pub fn has_loaded(output: &Output) -> bool {
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(output));
    json(output)["dss"]["data"]["loading"].is_object()
}

/// Queries that the only run has kept so far.
pub fn kept(place: &Path) -> usize {
    let runs = fs::read_dir(place.join("assay-runs")).into_iter().flatten().filter_map(Result::ok);
    let texts = runs.filter_map(|run| fs::read_to_string(run.path().join("dss.json")).ok());
    texts.map(|text| text.matches("\"outcome\"").count()).sum()
}
