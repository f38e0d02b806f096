//! Simulated arrays on the command line: listed, verified, used as targets, and mistakes answered
//! in kind.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use support::{Place, all_ios, all_refused, measurement, whole};

#[test]
fn every_array_is_listed() {
    let place = Place::new();
    let listed = &place.json("list arrays", 0)["arrays"];
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"xtremio-1") && names.contains(&"nexstor-24"));
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .all(|model| !model["source"].as_str().unwrap().is_empty())
    );
}

#[test]
fn a_model_is_held_against_what_was_published() {
    let place = Place::new();
    let checked = place.json("list arrays ramsan-300 --verify", 0);
    let figures = checked["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 2);
    for figure in figures {
        assert!(figure["error"].as_f64().unwrap().abs() < 0.05, "{figure}");
    }
}

#[test]
fn every_study_of_the_page_of_papers_can_be_planned() {
    let place = Place::new();
    let page = include_str!("../../../docs/papers.md");
    let commands = page.lines().filter_map(|line| line.strip_prefix("$ assay "));
    let studies = commands.filter(|command| command.starts_with("study "));
    let studies: Vec<String> =
        studies.map(|command| command.replace('\'', "").replace("/data", ".")).collect();
    assert!(studies.len() > 20, "{studies:?}");
    for study in studies {
        let output = place.run(&format!("{study} --dry-run"));
        assert!(output.status.success(), "{study}: {}", output.stderr);
    }
}

#[test]
fn an_array_is_a_target_as_a_simulated_device_is() {
    let place = Place::new();
    let line = "run reads.toml array:ramsan-300?capacity=1GiB&seed=3 --time 2s --interval 1s \
                --criteria no-errors.toml";
    let run = place.json(line, 0);
    // Sixteen channels of 97.5 µs bound what any number of outstanding I/Os can do.
    assert!(all_ios(measurement(&run)) <= 2 * 164_103);
    assert!(all_ios(measurement(&run)) > 1000);
}

#[test]
fn a_simulated_database_yields_a_profile() {
    let place = Place::new();
    let profile = place.json("list arrays sx350-3200 --profile high-low", 0);
    assert_eq!(profile["source"]["product"], "simulated");
    assert!(profile["time"]["db_time_s"]["value"].as_f64().unwrap() > 0.0);
}

#[test]
fn mistakes_are_answered_in_kind() {
    let place = Place::new();
    let cases = [
        (
            "run reads.toml array:ramsan-30",
            2,
            "error: there is no array 'ramsan-30'\nhint: did you mean 'ramsan-300'? `assay list \
             arrays` lists them; a file ends with .array.toml",
        ),
        (
            "run reads.toml array:ramsan-300?capcity=1GiB",
            2,
            "error: array?capcity: an array has no key 'capcity'\nhint: its keys are capacity, \
             seed, nodes, volumes, hasten, pace, cache_lost, controller_lost, stale_member",
        ),
        (
            "list arrays --profile slob-1h",
            2,
            "error: --profile needs one array\nhint: specify it, for example `assay list arrays \
             xtremio-1 --profile slob-1h`",
        ),
        (
            "list arrays ramsan-300 --profile none",
            2,
            "error: 'ramsan-300' has no experiment of sessions 'none'\nhint: its experiments of \
             sessions: ",
        ),
    ];
    all_refused(&place, &cases);
}

/// Writes every block in turn, and reads a third of the time.
const MIXED: &str = r#"format = 1
name = "mixed"
duration = "3s"
interval = "1s"
[[stream]]
name = "mixed"
read_share = 0.33
block_size = "8KiB"
access = "permutation"
arrival = { closed = { queue_depth = 64 } }
"#;

/// Members under a write cache: disks of memory, so that a test is short.
fn array(level: &str) -> String {
    format!(
        r#"format = 1
name = "mine"
title = "Mine"
source = "made for a test"
capacity = "16MiB"
[[part]]
[part.controller]
nodes = 2
cores = 1
read = "40us"
write = "60us"
[[part]]
[part.cache]
size = "64MiB"
line = "64KiB"
hit = "50us"
reads = false
dirty = "30%"
destage_depth = 8
[[part]]
[part.raid]
level = "{level}"
members = 6
stripe = "12KiB"
[[part]]
[part.ram]
channels = 1
latency = "2ms"
"#
    )
}

fn with_arrays() -> Place {
    let place = Place::new();
    place.write("mixed.toml", MIXED);
    for level in ["raid1", "raid10", "raid5", "raid6", "raid0"] {
        place.write(&format!("{level}.array.toml"), &array(level));
    }
    place
}

/// Blocks that were found, and by the array's own account: writes and blocks lost, blocks with old
/// data, blocks hidden.
fn found_and_lost(run: &serde_json::Value) -> (u64, [u64; 4]) {
    let counts = run["integrity"]["counts"].as_array().unwrap();
    // Where a part of a block holds what was there before the run, nobody knows what that should
    // be.
    let kinds = ["lost", "stale", "torn", "damaged"];
    assert!(
        counts.iter().all(|count| kinds.contains(&count["kind"].as_str().unwrap())),
        "{counts:?}"
    );
    let loss = &run["integrity"]["simulated_loss"];
    let names = ["lost_writes", "lost_blocks", "stale_blocks", "rewritten_blocks"];
    let found = counts.iter().map(|count| whole(&count["blocks"])).sum();
    (found, names.map(|name| whole(&loss[name])))
}

#[test]
fn a_lost_write_cache_is_found_to_the_block() {
    let place = with_arrays();
    for (level, seed) in [("raid5", 1), ("raid10", 2), ("raid0", 3)] {
        let line = format!(
            "run mixed.toml array:./{level}.array.toml?cache_lost=2s&seed={seed} --verify --time \
             3s"
        );
        let (found, [writes, lost, stale, hidden]) = found_and_lost(&place.json(&line, 1));
        // Three tenths of 1,024 lines are full under this load, but for what is on its way to the
        // members.
        assert!((280..=307).contains(&writes), "{level} {writes}");
        assert!(lost > 100 && lost <= writes && stale == 0, "{level} {lost} {stale}");
        assert_eq!(found, lost - hidden, "{level}");
    }
}

#[test]
fn the_mirror_of_a_lost_controller_keeps_all_data_and_writes_take_longer() {
    let place = with_arrays();
    place.write("one.toml", &MIXED.replace("queue_depth = 64", "queue_depth = 1"));
    let run = |failure: &str| {
        let run =
            place.json(&format!("run one.toml array:./raid5.array.toml{failure} --verify"), 0);
        assert_eq!(run["integrity"]["counts"].as_array().unwrap().len(), 0);
        let writes = whole(&measurement(&run)["streams"][0]["operations"]["write"]["ios"]);
        (writes, run["integrity"]["simulated_loss"].clone())
    };
    let ((cached, none), (through, loss)) = (run(""), run("?controller_lost=1ms"));
    assert!(none.is_null() && whole(&loss["lost_writes"]) == 0);
    // A write takes 110 us in the cache as long as there is room, and two rounds of 2 ms through
    // it.
    assert!(2 * cached > 3 * through, "{cached} {through}");
}

#[test]
fn a_member_that_comes_back_with_old_data_is_found_to_the_block() {
    let place = with_arrays();
    for level in ["raid1", "raid10", "raid5", "raid6"] {
        let line = format!(
            "run mixed.toml array:./{level}.array.toml?stale_member=500ms-1500ms --verify --time \
             2s"
        );
        let (found, [writes, lost, stale, hidden]) = found_and_lost(&place.json(&line, 1));
        assert!(writes == 0 && lost == 0 && stale > 30, "{level} {writes} {lost} {stale}");
        assert_eq!(found, stale - hidden, "{level}");
    }
}

#[test]
fn arrays_and_devices_that_do_not_fail_are_found_whole() {
    let place = with_arrays();
    let sim = "sim:servers?count=4&service=1ms+device?size=16MiB";
    for target in ["array:./raid6.array.toml", "array:ps6010xv?capacity=16MiB", sim] {
        let run = place.json(&format!("run mixed.toml {target} --verify"), 0);
        let coverage = &run["integrity"]["coverage"];
        assert_eq!(coverage["verified_blocks"], coverage["written_blocks"], "{target}");
        assert!(whole(&coverage["checked_reads"]) > 1000, "{target} {coverage}");
        assert!(run["integrity"]["simulated_loss"].is_null());
    }
}

#[test]
fn a_study_shows_what_a_failure_does_to_data() {
    let place = with_arrays();
    place.write(
        "failures.toml",
        "format = 1\nname = \"failures\"\npreset = \"mixed.toml\"\nverify = \
         \"100%\"\n[phases]\nmeasure = \"3s\"\n[[factor]]\nname = \"cache_lost\"\nvalues = \
         [\"no\", \"1s\"]\n",
    );
    let run = place.json("study failures.toml array:./raid5.array.toml", 0);
    let cells = run["study"]["cells"].as_array().unwrap();
    let measure = |cell: &serde_json::Value, quantity: &str| {
        let measures = cell["measures"].as_array().unwrap();
        let named = measures.iter().find(|named| named["quantity"] == quantity);
        named.unwrap()["estimate"]["value"].as_f64().unwrap()
    };
    let [kept, lost] = [0, 1].map(|cell| measure(&cells[cell], "integrity.findings"));
    assert!(kept == 0.0 && lost > 100.0, "{kept} {lost}");
}
