//! Verification as a user meets it: every fault of storage is named, clean storage raises no alarm,
//! and exit codes say which.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_model::units::Bytes;
use assay_rig::{Effect, Errno, Fault, Operation, Rig, Script, or_skip};
use rustix::process::Signal;
use serde_json::Value;
use support::{Place, refused};

/// A test file of `--size 4MiB` is written through in writes of 1 MiB before anything is measured.
const FILL_WRITES: u64 = 4;

/// Writes every block again and again, and reads half of the time.
const PERMUTED: &str = r#"format = 1
name = "permuted"
duration = "300ms"
interval = "100ms"
[[stream]]
name = "permuted"
read_share = 0.5
block_size = "64KiB"
access = "permutation"
arrival = { closed = { queue_depth = 4 } }
"#;

fn place() -> Place {
    let place = Place::new();
    let synced = PERMUTED.replace("access =", "sync = { fdatasync = { every = 10 } }\naccess =");
    place.write("synced.toml", &synced);
    place.write("permuted.toml", PERMUTED);
    place.write(
        "whole.toml",
        "format = 1\nname = \"whole\"\n[[criterion]]\nquantity = \"integrity.findings\"\nat_most \
         = 0\n",
    );
    place
}

/// Blocks by kind of fault.
fn counts(run: &Value) -> Vec<(String, u64)> {
    let counts = run["integrity"]["counts"].as_array().unwrap();
    let count = |count: &Value| {
        (count["kind"].as_str().unwrap().to_owned(), count["blocks"].as_u64().unwrap())
    };
    counts.iter().map(count).collect()
}

/// What a run finds on a rig on which this goes wrong after all blocks were written at least twice.
fn named(fault: Fault, workload: &str, backend: &str) -> (Value, Vec<(String, u64)>) {
    let rig = Rig::mount(&Script::new()).unwrap();
    let place = place();
    let line = format!(
        "run {workload} {} --size 4MiB --time 2s --verify --backend {backend} --json",
        rig.directory().display()
    );
    let mut run = place.start(&line);
    run.wait_until(|| rig.statistics().write.ios > FILL_WRITES + 200);
    rig.add_fault(fault);
    let run = run.wait().json(1);
    let found = counts(&run);
    (run, found)
}

/// The first of three runs that finds faults of these kinds alone: what is left of a block that
/// went wrong twice before it was read, or that is written while it is read, has no other name than
/// damaged.
#[track_caller]
fn named_as(fault: impl Fn() -> Fault, kinds: &[&str]) -> (Value, Vec<(String, u64)>) {
    let mut runs = (0..3).map(|_| named(fault(), "permuted.toml", "posix"));
    let is_so =
        |found: &[(String, u64)]| found.iter().all(|(kind, _)| kinds.contains(&kind.as_str()));
    runs.find(|(_, found)| is_so(found)).unwrap()
}

/// Writes away from both ends of the file; several, for a block that is written again before it is
/// read shows nothing.
fn some(effect: Effect) -> Fault {
    Fault::new(effect).on(&[Operation::Write]).range(1 << 20..2 << 20).at_most(30)
}

/// Whether something was found, and of these kinds only.
#[track_caller]
fn only(found: &[(String, u64)], kinds: &[&str]) {
    let named: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
    assert!(named.contains(&kinds[0]), "{found:?}");
    assert!(named.iter().all(|kind| kinds.contains(kind)), "{found:?}");
}

#[test]
fn clean_storage_raises_no_alarm() {
    let place = place();
    for backend in ["posix", "auto"] {
        let line = format!(
            "run permuted.toml d --size 4MiB --verify --backend {backend} --criteria whole.toml"
        );
        let run = place.json(&line, 0);
        let found = &run["integrity"];
        assert_eq!(found["faults"].as_array().unwrap().len(), 0);
        let coverage = &found["coverage"];
        assert!(coverage["verified_blocks"].as_u64() > Some(0), "{coverage}");
        assert_eq!(coverage["verified_blocks"], coverage["written_blocks"]);
        assert_eq!(found["sweep"]["complete"], true);
        assert!(found["cost"]["check_mean_ns"].as_f64() > Some(0.0));
        assert_eq!(run["verdict"]["outcome"], "PASS");
    }
    let again = place.json("report latest", 0);
    assert_eq!(again["integrity"]["faults"].as_array().unwrap().len(), 0);
}

#[test]
fn each_fault_of_a_write_is_named() {
    or_skip!(Rig::mount(&Script::new()));
    let astray: &[&str] = &["misdirected_write", "lost", "stale", "torn"];
    for (effect, kinds) in [
        (Effect::Lost, &["lost"][..]),
        (Effect::Torn(Bytes(4096)), &["torn"]),
        (Effect::Torn(Bytes(4096 + 200)), &["shorn"]),
        (Effect::Misdirected(Bytes(1 << 20)), astray),
        (Effect::BitFlip(12_345), &["bit_flip"]),
        (Effect::Zeroed(Bytes(1024)), &["zeroed"]),
        (Effect::Garbled(Bytes(2048)), &["damaged"]),
    ] {
        let (run, found) = named_as(|| some(effect), kinds);
        only(&found, kinds);
        let fault = &run["integrity"]["faults"][0];
        match effect {
            Effect::Torn(bytes) => assert_eq!(fault["boundary_bytes"], bytes.0),
            Effect::Lost => assert!(fault["missing_writes"].as_u64() > Some(0)),
            Effect::BitFlip(bit) => assert_eq!(fault["bits"][0], bit),
            _ => {}
        }
    }
}

#[test]
fn writes_that_a_sync_drops_go_back() {
    or_skip!(Rig::mount(&Script::new()));
    let stale = Fault::new(Effect::StaleWrite).on(&[Operation::Write]).range(1 << 20..2 << 20);
    let (_, found) = named(stale.at_most(50), "synced.toml", "posix");
    assert!(!found.is_empty());
    assert!(found.iter().all(|(kind, _)| ["stale", "lost"].contains(&kind.as_str())), "{found:?}");
}

#[test]
fn a_read_that_is_wrong_once_is_named_so() {
    or_skip!(Rig::mount(&Script::new()));
    for (effect, kinds) in
        [(Effect::StaleRead, &["lost", "stale"][..]), (Effect::BitFlip(77), &["bit_flip"])]
    {
        let fault = || Fault::new(effect).on(&[Operation::Read]).range(1 << 20..2 << 20).nth(1);
        let (run, found) = named_as(fault, kinds);
        assert_eq!(run["integrity"]["faults"][0]["transient"], true, "{run:#}");
        assert_eq!(found.len(), 1, "{found:?}");
    }
}

#[test]
fn a_block_that_cannot_be_read_is_named() {
    or_skip!(Rig::mount(&Script::new()));
    let broken = Fault::error(Errno::EIO).on(&[Operation::Read]).range(1 << 20..(1 << 20) + 4096);
    let (_, found) = named(broken, "permuted.toml", "auto");
    only(&found, &["unreadable"]);
}

#[test]
fn failed_writes_and_syncs_are_no_findings() {
    let place = place();
    for operation in [Operation::Write, Operation::Sync] {
        let rig = or_skip!(Rig::mount(&Script::new()));
        let line = format!(
            "run synced.toml {} --size 4MiB --verify --time 10min --json",
            rig.directory().display()
        );
        let mut run = place.start(&line);
        run.wait_until(|| rig.statistics().write.ios > FILL_WRITES + 100);
        rig.add_fault(Fault::error(Errno::EIO).on(&[operation]).probability(0.2));
        run.wait_until(|| rig.statistics().write.errors + rig.statistics().sync.errors > 20);
        run.signal(Signal::INT);
        let run = run.wait().json(130);
        assert_eq!(run["integrity"]["faults"].as_array().unwrap().len(), 0, "{run:#}");
    }
}

#[test]
fn both_versions_of_a_bad_block_are_kept() {
    or_skip!(Rig::mount(&Script::new()));
    let rig = Rig::mount(&Script::new()).unwrap();
    let place = place();
    let line =
        format!("run permuted.toml {} --size 4MiB --time 2s --verify", rig.directory().display());
    let mut run = place.start(&line);
    run.wait_until(|| rig.statistics().write.ios > FILL_WRITES + 200);
    rig.add_fault(some(Effect::BitFlip(9)));
    let ran = run.wait();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("bit flip."), "{}", ran.stdout);
    let id = &place.run_ids()[0];
    let kept =
        std::fs::read_to_string(place.path(format!("assay-runs/{id}/faults.jsonl"))).unwrap();
    let kept: Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    assert_eq!(kept["expected_hex"].as_str().unwrap().len(), 2 * 65_536);
    assert_eq!(kept["found_hex"].as_str().unwrap().len(), 2 * 65_536);
    let page = std::fs::read_to_string(place.path(format!("assay-runs/{id}/report.html"))).unwrap();
    assert!(page.contains("one or two bits are inverted"));
    assert!(place.run("runs show").stdout.contains("FAIL"));
}

#[test]
fn what_cannot_be_verified_is_refused_before_anything_is_made() {
    let place = place();
    for (line, complaint) in [
        ("run reads.toml d --verify", "'reads' does not write"),
        ("run mixed.toml d --verify=0%", "0"),
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.complaint.contains(complaint), "{line}: {}", ran.complaint);
        assert_eq!(place.run_ids(), [""; 0]);
    }
    let ran = place.run("run mixed.toml d --size 4MiB --verify --backend null");
    refused(
        &ran,
        2,
        "error: the null backend stores no data to verify\nhint: omit --backend null or --verify",
    );
}

#[test]
fn a_soak_is_verified_over_all_its_cycles() {
    or_skip!(Rig::mount(&Script::new()));
    let rig = Rig::mount(&Script::new()).unwrap();
    let place = place();
    let line = format!(
        "soak {} --workload permuted.toml --size 4MiB --time 1s --rest 100ms --cycles 2 --verify \
         --json",
        rig.directory().display()
    );
    let mut run = place.start(&line);
    run.wait_until(|| rig.statistics().write.ios > FILL_WRITES + 200);
    rig.add_fault(some(Effect::Lost));
    let run = run.wait().json(1);
    assert!(run["soak"].is_object());
    only(&counts(&run), &["lost"]);
}
