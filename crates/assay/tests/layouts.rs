//! Several targets, several streams, flushes and open arrivals: every part has its own result, and
//! the parts add up.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_rig::{Rig, Script, or_skip};
use serde_json::Value;
use support::{Place, ios, measurement, whole};

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("e")).unwrap();
    place
}

/// The I/Os and bytes of each named result, by name.
fn by_name(results: &Value) -> Vec<(String, u64)> {
    let results = results.as_array().unwrap();
    let named = |result: &Value| (result["name"].as_str().unwrap().to_owned(), ios(result));
    results.iter().map(named).collect()
}

/// What each operation did in all named results together: I/Os, bytes, and I/Os of its histogram.
fn sums(results: &Value) -> Vec<[u64; 3]> {
    let of = |operation: &str| {
        let one = |result: &Value| {
            let done = &result["operations"][operation];
            [&done["ios"], &done["bytes"], &done["service"]["ios"]]
                .map(|value| value.as_u64().unwrap_or(0))
        };
        let all = results.as_array().unwrap().iter().map(one);
        all.fold([0; 3], |sum, next| [sum[0] + next[0], sum[1] + next[1], sum[2] + next[2]])
    };
    ["read", "write", "sync"].map(of).to_vec()
}

fn run(place: &Place, name: &str, text: &str, targets: &str) -> Value {
    place.write(name, text);
    place.json(&format!("run {name} {targets} --criteria no-errors.toml"), 0)
}

/// Targets and streams tell of the same I/Os.
#[track_caller]
fn adds_up(measured: &Value) {
    assert_eq!(sums(&measured["targets"]), sums(&measured["streams"]));
}

#[test]
fn targets_one_behind_the_other_and_dealt_out_have_their_own_results() {
    for layout in ["\"concat\"", "{ stripe = { unit = \"64KiB\" } }"] {
        let place = place();
        let text = support::MIXED.replacen("interval", &format!("layout = {layout}\ninterval"), 1);
        let run = run(&place, "two.toml", &text, "d e --size 4MiB");
        let measured = measurement(&run);
        let targets = by_name(&measured["targets"]);
        let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["d", "e"]);
        let (first, second) = (targets[0].1, targets[1].1);
        assert!(first > 0 && second > 0);
        // Equal halves of a uniform choice.
        let share = first * 100 / (first + second);
        assert!((30..70).contains(&share), "{share}%");
        adds_up(measured);
        assert_eq!(run["environment"]["storage"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_directory_named_twice_is_two_targets() {
    let place = place();
    let run = run(&place, "two.toml", support::MIXED, "d d --size 4MiB");
    let targets = by_name(&measurement(&run)["targets"]);
    let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["d", "d (2)"]);
    assert!(targets.iter().all(|(_, ios)| *ios > 0));
    assert_eq!(place.test_files("d"), [""; 0]);
}

const TWO_STREAMS: &str = r#"format = 1
name = "two streams"
duration = "300ms"
interval = "50ms"
[[stream]]
name = "scan"
block_size = "64KiB"
access = { sequential = {} }
arrival = { closed = { queue_depth = 2 } }
targets = [0]
[[stream]]
name = "writer"
read_share = 0
block_size = "8KiB"
workers = 2
arrival = { closed = { queue_depth = 4 } }
targets = [1]
"#;

#[test]
fn streams_have_their_own_results_on_their_own_targets() {
    let place = place();
    let run = run(&place, "streams.toml", TWO_STREAMS, "d e --size 4MiB");
    let measured = measurement(&run);
    let (streams, targets) = (&measured["streams"], &measured["targets"]);
    assert_eq!(streams[0]["name"], "scan");
    assert_eq!(streams[1]["name"], "writer");
    for index in 0..2 {
        assert_eq!(streams[index]["operations"], targets[index]["operations"], "{index}");
    }
    let scan = &streams[0]["operations"];
    assert_eq!(whole(&scan["read"]["bytes"]), whole(&scan["read"]["ios"]) * 65_536);
    assert!(scan["write"].is_null() && streams[1]["operations"]["read"].is_null());
    adds_up(measured);
}

#[test]
fn flushes_are_timed_as_operations_of_their_own() {
    let place = place();
    let text = support::MIXED.replacen(
        "read_share = 0.5",
        "read_share = 0\nsync = { fdatasync = { every = 8 } }",
        1,
    );
    let run = run(&place, "flush.toml", &text, "d --size 4MiB");
    let operations = &measurement(&run)["streams"][0]["operations"];
    let (writes, syncs) = (whole(&operations["write"]["ios"]), whole(&operations["sync"]["ios"]));
    // At the end each of the four that are outstanding may be a flush, and one more is due.
    assert!(syncs > 0 && syncs.abs_diff(writes / 8) <= 5, "{syncs} of {writes}");
    assert_eq!(whole(&operations["sync"]["service"]["ios"]), syncs);
    assert_eq!(operations["sync"]["bytes"], 0);
}

/// With several targets a flush reaches every one that was written to.
#[test]
fn a_flush_reaches_every_target_that_was_written() {
    let rig = or_skip!(Rig::mount(&Script::new()));
    let place = place();
    let directories = ["a", "b"].map(|name| rig.path(name));
    for path in &directories {
        std::fs::create_dir(path).unwrap();
    }
    let text = support::MIXED.replacen(
        "read_share = 0.5",
        "read_share = 0\nsync = { fdatasync = { every = 8 } }",
        1,
    );
    let targets = format!("{} {} --size 4MiB", directories[0].display(), directories[1].display());
    rig.take_log();
    let run = run(&place, "flush.toml", &text, &targets);
    let targets = measurement(&run)["targets"].as_array().unwrap();
    let of = |target: &Value, operation: &str| whole(&target["operations"][operation]["ios"]);
    let writes: u64 = targets.iter().map(|target| of(target, "write")).sum();
    for target in targets {
        // Eight writes rarely all go to the same half.
        let (expected, found) = (writes / 8, of(target, "sync"));
        assert!(found * 10 > expected * 9, "{found} of {expected}");
    }
}

#[test]
fn durable_writes_carry_their_flush_with_them() {
    for policy in ["o_dsync", "fua"] {
        let rig = or_skip!(Rig::mount(&Script::new()));
        let place = place();
        let text = support::MIXED.replacen(
            "read_share = 0.5",
            &format!("read_share = 0\nsync = \"{policy}\""),
            1,
        );
        // A file system in user space only knows how to sync after a write that waits.
        let targets = format!("{} --size 4MiB --backend posix", rig.directory().display());
        let run = run(&place, "durable.toml", &text, &targets);
        let operations = &measurement(&run)["streams"][0]["operations"];
        // The kernel makes a sync of it, inside the write.
        assert!(operations["sync"].is_null());
        let writes = whole(&operations["write"]["ios"]);
        assert!(writes > 0 && rig.statistics().sync.ios >= writes, "{policy}");
    }
}

const OPEN: &str = r#"format = 1
name = "open"
duration = "500ms"
interval = "50ms"
[[stream]]
name = "orders"
read_share = 0
block_size = "4KiB"
arrival = { open = { rate = "2k/s", queue_depth_max = 1ARRIVAL } }
SYNC
"#;

fn open(arrival: &str, sync: &str) -> String {
    OPEN.replace("ARRIVAL", arrival).replace("SYNC", sync)
}

#[test]
fn open_arrivals_have_response_times_and_start_errors() {
    let place = place();
    let text = open("6", "");
    let run = run(&place, "open.toml", &text, "d --size 4MiB");
    let measured = measurement(&run);
    let write = &measured["streams"][0]["operations"]["write"];
    let writes = whole(&write["ios"]);
    assert!(writes > 0);
    assert_eq!(whole(&write["response"]["ios"]), writes);
    assert_eq!(whole(&write["service"]["ios"]), writes);
    let mean = |kind: &str| write[kind]["mean_ns"].as_f64().unwrap();
    assert!(mean("response") >= mean("service"));
    let conduct = &measured["conduct"];
    assert!(whole(&conduct["start_error"]["ios"]) >= writes);
    assert!(conduct["missed_arrivals"].is_u64());
    // A closed arrival has neither.
    let run = crate::run(&place, "closed.toml", support::MIXED, "d --size 4MiB");
    let measured = measurement(&run);
    assert!(measured["conduct"]["start_error"].is_null());
    assert!(measured["streams"][0]["operations"]["write"]["response"].is_null());
}

#[test]
fn a_group_commit_joins_arrivals_and_each_has_its_response() {
    let place = place();
    let text = open(", group_commit = \"64KiB\"", "sync = { fdatasync = { every = 1 } }");
    // Each flush takes longer than the time between arrivals.
    let pace = assay_rig::Latency::fixed(std::time::Duration::from_millis(3));
    let rig = or_skip!(Rig::mount(&Script::new().latency(assay_rig::Operation::Sync, pace)));
    let targets = format!("{} --size 4MiB", rig.directory().display());
    let run = run(&place, "group.toml", &text, &targets);
    let operations = &measurement(&run)["streams"][0]["operations"];
    let (write, sync) = (&operations["write"], &operations["sync"]);
    let per_write = whole(&write["bytes"]) / whole(&write["ios"]);
    assert!(per_write > 4096, "{per_write} bytes a write");
    // One sync answers several commits.
    let (syncs, commits) = (whole(&sync["ios"]), whole(&sync["response"]["ios"]));
    assert!(commits > syncs, "{commits} commits in {syncs} syncs");
}
