//! Targets that storage need not read in full: holes, zeros, compressible bytes and cached pages
//! are said in the result.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use rustix::fs::{FallocateFlags, fallocate};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use support::{Place, measurement, random_bytes};

const SIZE: usize = 8 << 20;

/// A limit on reads that every machine keeps, so that only a doubt can stand in the way.
const READ_LIMIT: &str = r#"format = 1
name = "reads"
[[criterion]]
quantity = "read.service_time.mean"
at_most = "100s"
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("reads-limit.toml", READ_LIMIT);
    place
}

/// A run of reads on a file; whether it passes depends on what else the machine does, so that only
/// its words count.
fn read(place: &Place, line: &str) -> Value {
    let ran = place.run(&format!("run reads.toml {line} --criteria reads-limit.toml --json"));
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:#?}");
    ran.json(ran.code.unwrap())
}

#[track_caller]
fn finds(run: &Value, rule: &str, value: &str) {
    let findings = run["environment"]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["rule"] == rule);
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(found["value"], value);
}

#[track_caller]
fn doubts(run: &Value, what: &str) {
    let judgement = &run["verdict"]["judgements"][0];
    assert_eq!(judgement["outcome"], "INCONCLUSIVE", "{judgement:#}");
    let doubts = judgement["evidence"]["doubts"].to_string();
    assert!(doubts.contains(what), "{doubts}");
}

/// Rules that say something of a target's content.
const RULES: [&str; 5] = ["holes", "zeros", "compressible", "cached", "no_direct_io"];

fn found_of_content(run: &Value) -> Option<Value> {
    let findings = run["environment"]["findings"].as_array().unwrap();
    findings.iter().find(|finding| RULES.iter().any(|rule| finding["rule"] == *rule)).cloned()
}

#[test]
fn what_is_written_through_with_random_bytes_is_above_suspicion() {
    let place = place();
    assert_eq!(found_of_content(&read(&place, "d --size 8MiB")), None);
    place.random_file("random", SIZE);
    let file = File::open(place.path("random")).unwrap();
    // The kernel passes over pages that it is busy with, so that one request may leave some behind.
    let found = (0..3).map(|_| {
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        found_of_content(&read(&place, "random"))
    });
    let found: Vec<_> = found.take_while(Option::is_some).collect();
    assert!(found.len() < 3, "{found:#?}");
}

#[test]
fn a_sparse_file_is_told_by_its_holes() {
    let place = place();
    let file = File::create(place.path("sparse")).unwrap();
    file.set_len(SIZE as u64).unwrap();
    file.write_all_at(&random_bytes(SIZE / 4), 0).unwrap();
    file.sync_all().unwrap();
    let run = read(&place, "sparse");
    finds(&run, "holes", "75%");
    doubts(&run, "75% of sparse was never written, so reading it does not reach the storage");
}

#[test]
fn space_that_was_only_allocated_is_a_hole_too() {
    let place = place();
    let file = File::create(place.path("allocated")).unwrap();
    fallocate(&file, FallocateFlags::empty(), 0, SIZE as u64).unwrap();
    file.sync_all().unwrap();
    let run = read(&place, "allocated");
    finds(&run, "holes", "100%");
    doubts(&run, "100% of allocated was never written");
}

#[test]
fn written_zeros_are_told_from_data() {
    let place = place();
    fs::write(place.path("zeros"), vec![0; SIZE]).unwrap();
    File::open(place.path("zeros")).unwrap().sync_all().unwrap();
    let run = read(&place, "zeros");
    finds(&run, "zeros", "100%");
    doubts(&run, "100% of zeros is zeros, which storage may not store");
}

#[test]
fn text_is_found_compressible() {
    let place = place();
    let text = "the quick brown fox jumps over the lazy dog\n".repeat(SIZE / 44);
    fs::write(place.path("text"), text).unwrap();
    File::open(place.path("text")).unwrap().sync_all().unwrap();
    let run = read(&place, "text");
    let findings = run["environment"]["findings"].to_string();
    assert!(findings.contains("text: compressed size"), "{findings}");
}

#[test]
fn a_file_in_the_page_cache_is_said_to_be_there() {
    let place = place();
    place.random_file("cached", SIZE);
    assert_eq!(fs::read(place.path("cached")).unwrap().len(), SIZE);
    let run = read(&place, "cached");
    finds(&run, "cached", "100%");
    // Direct I/O reads the device all the same.
    assert_eq!(measurement(&run)["conduct"]["direct_io"], true);
    let run = read(&place, "cached --buffered");
    assert_eq!(measurement(&run)["conduct"]["direct_io"], false);
    doubts(&run, "the page cache was not bypassed");
}

#[test]
fn a_workload_may_ask_for_the_page_cache() {
    let place = place();
    let buffered = support::READS.replacen("interval", "direct = false\ninterval", 1);
    place.write("reads.toml", &buffered);
    let run = read(&place, "d --size 8MiB");
    let conduct = &measurement(&run)["conduct"];
    assert_eq!(conduct["direct_io"], false);
    // It was asked for, so that nothing was refused.
    assert!(!conduct.to_string().contains("was refused"), "{conduct:#}");
    doubts(&run, "the page cache was not bypassed");
}

#[test]
fn chosen_content_is_what_the_file_holds() {
    let place = place();
    let run = read(&place, "d --size 8MiB --compressible 50%");
    let ratio = &run["environment"]["storage"][0]["target"]["content"]["compressed_ratio"];
    let ratio = ratio.as_f64().unwrap();
    assert!((0.4..0.6).contains(&ratio), "{ratio}");
}
