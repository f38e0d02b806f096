//! What tests of loads of transactions ask of a result.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, and each uses another part of this"
)]

use crate::server::{Place, json, wait_for, words};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

/// No condition is broken, all twelve were checked, and nothing that was acknowledged is lost.
pub fn assert_right(load: &Value, times: usize) {
    let checks = load["checks"].as_array().unwrap();
    assert_eq!(checks.len(), times, "{} {checks:?}", load["remarks"]);
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

/// Transactions of a stream in a step.
pub fn ios(rung: &Value, stream: &str) -> u64 {
    let streams = rung["measurement"]["streams"].as_array().unwrap();
    let found = streams.iter().find(|found| found["name"] == stream);
    let operations = found.and_then(|found| found["operations"].as_object());
    let results = operations.into_iter().flat_map(|operations| operations.values());
    results.map(|result| result["ios"].as_u64().unwrap()).sum()
}

/// Whether intervals of a step are in the store of a place.
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

/// Numbers of sessions of all steps.
fn climbed(load: &Value) -> Vec<u64> {
    let rungs = load["steps"].as_array().unwrap();
    rungs.iter().map(|rung| rung["sessions"].as_u64().unwrap()).collect()
}

/// Searches of `load` stay within what its server takes, and end with a reason.
pub fn assert_searches_end(place: &Place, load: &str) {
    let output = place.run(&format!("{load} --find-knee"));
    let found = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    // Twice as many each time, the last as many as the server takes; a busy machine ends it
    // earlier.
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

/// A load whose server is killed some time after its first interval.
pub fn killed(place: &Place, load: &str, after: Duration, kill: impl FnOnce()) -> Output {
    let child = place.command(load).spawn().unwrap();
    wait_for(|| has_intervals(&place.0));
    std::thread::sleep(after);
    kill();
    child.wait_with_output().unwrap()
}

/// Such a load has all that was acknowledged, met errors, and its step ended so; gives the
/// acknowledged transactions.
pub fn assert_nothing_lost(place: &Place, output: &Output, finish: &str) -> u64 {
    let load = &json(output)["load"];
    assert_right(load, 2);
    let measurement = &load["steps"][0]["measurement"];
    assert_eq!(measurement["finish"]["outcome"], finish, "{}", words(output));
    assert!(!measurement["errors"].as_array().unwrap().is_empty(), "{load}");
    assert_eq!(place.left().len(), 0);
    load["commits"][0]["acknowledged"].as_u64().unwrap()
}

/// Many sessions on few rows: what is refused for the sake of others, by one of these codes, is
/// tried again and counted with the transaction that it was.
pub fn assert_tried_again(place: &Place, load: &str, codes: &[&str]) {
    let output = place.run(&format!(
        "{load} --sessions 24 --isolation serializable --time 3s --warm-up 0s --verify --json \
         --quiet"
    ));
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_right(load, 2);
    let rung = &load["steps"][0];
    assert_eq!(rung["measurement"]["finish"]["outcome"], "complete");
    for retries in rung["retries"].as_array().into_iter().flatten() {
        let meaning = retries["meaning"].as_str().unwrap();
        assert!(codes.iter().any(|code| meaning.contains(code)), "{meaning}");
        assert!(retries["times"].as_u64() > Some(0), "{retries}");
    }
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

/// A load whose storage is filled up while it is measured ends, and what was measured stands.
pub fn assert_fills_up(place: &Place, load: &str) {
    let child = place.command(load).spawn().unwrap();
    wait_for(|| has_intervals(&place.0));
    // All that is left is taken, and the log of the server has no room for its next file.
    let hog = place.0.join("d/hog");
    let mut taken = fs::File::create(&hog).unwrap();
    assert!(std::io::copy(&mut std::io::repeat(0), &mut taken).is_err());
    let output = child.wait_with_output().unwrap();
    let words = words(&output);
    // Where commits are slow, what the log and the tables have already lasts for the whole step.
    let code = output.status.code();
    assert!([Some(0), Some(1), Some(3), Some(4)].contains(&code), "{words}");
    // Sessions that were lost do not know why; the server does.
    assert!(code != Some(4) || words.contains("space"), "{words}");
    let load = &json(&output)["load"];
    assert_eq!(load["steps"].as_array().map(Vec::len), Some(1), "{load}");
    fs::remove_file(&hog).unwrap();
    assert_eq!((place.left().len(), place.processes()), (0, 0), "{words}");
}

/// A load on a given server.
pub struct Given<'a> {
    pub place: &'a Place,
    /// The command.
    pub load: String,
    /// Its schema.
    pub schema: &'a str,
    /// Our schemas that are there.
    pub schemas: &'a dyn Fn() -> Vec<String>,
}

impl Given<'_> {
    fn run(&self, more: &str) -> Output {
        self.place.run(&format!("{} {more}", self.load))
    }

    /// What is to be kept is kept.
    pub fn assert_kept(&self) {
        assert_right(&json(&self.run("--keep --verify"))["load"], 2);
        assert_eq!((self.schemas)(), [self.schema]);
    }

    /// Used as it is, and left as it was found.
    pub fn assert_used(&self) {
        let output = self.run("--verify");
        let load = &json(&output)["load"];
        assert!(load["filled"].is_null(), "{}", words(&output));
        assert_right(load, 2);
        assert_eq!((self.schemas)(), [self.schema]);
    }

    /// Half loaded tables are seen, and with `--partial-data` they are this run's own, and go.
    pub fn assert_half_is_seen(&self, left: &str) {
        let output = self.run("");
        assert_eq!(output.status.code(), Some(4));
        assert!(
            words(&output).contains("interrupted")
                && words(&output).contains("--partial-data resume")
        );
        assert_right(&json(&self.run(&format!("--partial-data {left} --verify")))["load"], 2);
        assert_eq!((self.schemas)(), Vec::<String>::new());
    }

    /// A schema that only has the name of Assay's stays.
    pub fn assert_foreign_stays(&self) {
        let output = self.run("--partial-data drop");
        assert_eq!(output.status.code(), Some(4), "{}", words(&output));
        assert_eq!((self.schemas)(), [self.schema]);
    }
}
