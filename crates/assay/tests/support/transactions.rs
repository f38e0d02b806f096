//! What tests of loads of transactions ask of a result.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, and each uses another part of this"
)]

use crate::server::{Place, json, words};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// No condition is broken, all twelve were checked, and nothing that was acknowledged is lost.
pub fn assert_right(load: &Value, times: usize) {
    let checks = load["checks"].as_array().unwrap();
    assert_eq!(checks.len(), times, "{checks:?}");
    for checks in checks {
        let all = checks["checks"].as_array().unwrap();
        assert_eq!(all.len(), 12);
        assert!(all.iter().all(|check| check["violations"] == 0), "{all:?}");
    }
    for commits in load["commits"].as_array().unwrap() {
        let count = |name: &str| commits[name].as_u64().unwrap();
        assert!(count("found") >= count("acknowledged"), "{commits}");
        assert!(count("found") <= count("acknowledged") + count("unknown"), "{commits}");
    }
}

/// Transactions of a stream in a rung.
pub fn ios(rung: &Value, stream: &str) -> u64 {
    let streams = rung["measurement"]["streams"].as_array().unwrap();
    let found = streams.iter().find(|found| found["name"] == stream);
    let operations = found.and_then(|found| found["operations"].as_object());
    let results = operations.into_iter().flat_map(|operations| operations.values());
    results.map(|result| result["ios"].as_u64().unwrap()).sum()
}

/// Whether intervals of a rung are in the store of a place.
pub fn has_intervals(place: &Path) -> bool {
    let runs = fs::read_dir(place.join("assay-runs")).into_iter().flatten();
    runs.filter_map(Result::ok).any(|run| {
        let cells = fs::read_dir(run.path().join("cells")).into_iter().flatten();
        cells.filter_map(Result::ok).any(|cell| {
            let kept = fs::metadata(cell.path().join("intervals.jsonl"));
            kept.is_ok_and(|kept| kept.len() > 0)
        })
    })
}

/// Numbers of sessions of all rungs.
fn climbed(load: &Value) -> Vec<u64> {
    let rungs = load["rungs"].as_array().unwrap();
    rungs.iter().map(|rung| rung["sessions"].as_u64().unwrap()).collect()
}

/// Searches of `load` stay within what its server takes, and end with a reason.
pub fn assert_searches_end(place: &Place, load: &str) {
    let output = place.run(&format!("{load} --find-knee"));
    let found = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    // Twice as many each time, the last as many as the server takes; a busy machine ends it earlier.
    let rungs = climbed(found);
    assert_eq!(rungs[0], 1, "{rungs:?}");
    assert!(rungs.windows(2).all(|pair| pair[0] < pair[1] && pair[1] <= 2 * pair[0]), "{rungs:?}");
    assert!(!found["end"].as_str().unwrap().is_empty(), "{found}");
    // Nobody is as fast as that, and anybody as slow as this.
    let output = place.run(&format!("{load} --max-latency 1ns --quantile 0.5"));
    let found = &json(&output)["load"];
    assert!(found["goal"]["sessions"].is_null() && found["goal"].is_object(), "{found}");
    assert_eq!(climbed(found), [1]);
    let output = place.run(&format!("{load} --max-latency 1h"));
    let found = &json(&output)["load"];
    assert!(found["goal"]["sessions"].as_u64() >= Some(1), "{found}");
    assert_eq!(found["goal"]["is_bounded"], false, "{found}");
}
