//! `assay verify` as a user meets it: storage that keeps what it acknowledged is never refuted,
//! every lie is, and nothing is claimed beyond what was cut.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_model::units::Bytes;
use assay_rig::{Latency, Lie, Operation, Rig, Script, SmallFileSystem, or_skip};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{Place, Started, bounded};

/// Acknowledgements that a cut is to meet, in bytes of the ledger.
const ENOUGH_BYTES: u64 = 60_000;
/// Blocking calls: FUSE completes an asynchronous durable write (`RWF_DSYNC`) without a flush
/// (Linux 6.18), which is a lie of its own.
const SIZE: &str = "--size 8MiB --backend posix";
/// After this number of cuts a lie is out.
const CUTS_MAX: u64 = 5;

/// A rig with a volatile cache, and a ledger on another device.
struct Scratch {
    place: Place,
    rig: Rig,
}

impl Scratch {
    fn new(rig: Rig) -> Self {
        let place = Place::new();
        place.write(
            "kept.toml",
            "format = 1\nname = \"kept\"\n[[criterion]]\nquantity = \"durability.lost\"\nat_most \
             = 0\n",
        );
        place.write_private("token", "a token of 24 characters\n");
        Self { place, rig }
    }

    fn ledger(&self) -> PathBuf {
        self.place.path("data.ledger")
    }

    fn line(&self, rest: &str) -> String {
        format!("verify {} {SIZE} --ledger data.ledger {rest}", self.rig.directory().display())
    }

    /// Lets it write until enough is acknowledged, and cuts the power.
    fn cut(&self, mut writing: Started, seed: u64) {
        let begun = length(&self.ledger());
        writing.wait_until(|| length(&self.ledger()) > begun + ENOUGH_BYTES);
        self.rig.cut_power(seed);
        writing.signal(Signal::KILL);
        drop(writing.wait());
        self.rig.restore_power();
    }

    /// The judgement after each cut of a campaign, until one refutes; the codes that the program
    /// ended with.
    fn campaign(&self, cuts: u64, seed: u64) -> Vec<Value> {
        self.cut(self.place.start(&self.line("")), seed);
        let mut judged = Vec::new();
        for number in 1..=cuts {
            let ran = self.place.run(&self.line("--after --cut power --json --criteria kept.toml"));
            let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
            let is_refuted = found["integrity"]["durability"]["evidence"] == "refuted";
            assert_eq!(ran.code, Some(i32::from(is_refuted)), "{}", ran.stderr);
            assert_eq!(found["verdict"]["outcome"], if is_refuted { "FAIL" } else { "PASS" });
            judged.push(found);
            if is_refuted || number == cuts {
                break;
            }
            // Judged again without a change, and written on.
            self.cut(self.place.start(&self.line("--after --resume --cut power")), seed + number);
        }
        judged
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

fn durability(found: &Value) -> &Value {
    &found["integrity"]["durability"]
}

/// A device that takes its time, so that a cut meets writes that no flush has covered.
fn cache(unit_bytes: u64, lie: Lie) -> Script {
    let time = |micros| Latency::fixed(Duration::from_micros(micros));
    Script::new()
        .cache(unit_bytes, lie)
        .latency(Operation::Write, time(200))
        .latency(Operation::Sync, time(2000))
}

#[test]
fn storage_that_keeps_its_promises_is_never_refuted() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    let judged = scratch.campaign(3, 11);
    let found = durability(&judged[2]);
    assert_eq!((judged.len(), found["evidence"].as_str()), (3, Some("power_cuts")));
    let cuts = found["cuts"].as_array().unwrap();
    assert_eq!(cuts.len(), 3);
    for cut in cuts {
        assert!(cut["promised_blocks"].as_u64() > Some(0), "{cut}");
        assert_eq!(cut["kept_blocks"], cut["promised_blocks"]);
        assert!(cut["atomic_unit_bytes"].as_u64().is_none_or(|bytes| bytes == 4096), "{cut}");
        let tears = cut["tears"].as_array().into_iter().flatten();
        let torn: u64 = tears.filter_map(|tear| tear["blocks"].as_u64()).sum();
        assert_eq!(cut["torn_blocks"].as_u64(), Some(torn));
    }
    let torn = cuts.iter().any(|cut| cut["torn_blocks"].as_u64() > Some(0));
    let answer = if torn { "needed" } else { "unproven" };
    assert_eq!(found["page_protection"]["answer"], answer);
    // 1 - 0.05^(1/3).
    let limit = found["loss_per_cut_max"].as_f64().unwrap();
    assert!((limit - 0.6316).abs() < 1e-3, "{limit}");
    let text = scratch.place.run("report latest");
    assert!(text.stdout.contains("lost in 3 power cuts: at most 63.2% per cut"), "{}", text.stdout);
}

#[test]
fn every_lie_is_refuted() {
    for lie in [Lie::IgnoresFlush(Bytes(1 << 20)), Lie::FlushesOneQueue, Lie::Zeroes, Lie::Garbles]
    {
        let scratch = Scratch::new(or_skip!(Rig::mount(&cache(512, lie))));
        let judged = scratch.campaign(CUTS_MAX, 21);
        let last = judged.last().unwrap();
        assert_eq!(durability(last)["evidence"], "refuted", "{lie:?}: {last:#}");
        assert!(last["integrity"]["faults"].as_array().is_some_and(|all| !all.is_empty()));
        let cut = durability(last)["cuts"].as_array().unwrap().last().unwrap();
        let sum = |list: &Value, name: &str| -> u64 {
            list.as_array().unwrap().iter().filter_map(|one| one[name].as_u64()).sum()
        };
        let broken = sum(&cut["counts"], "blocks");
        assert_eq!(sum(&cut["lost_ages"], "blocks"), broken, "{lie:?}: {cut:#}");
        let map = &last["integrity"]["fault_maps"][0];
        assert_eq!(
            map["blocks"].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>(),
            broken
        );
        assert!(scratch.place.run("report latest").stdout.contains("Refuted: "));
    }
}

#[test]
fn a_process_that_ends_proves_nothing() {
    let scratch =
        Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::IgnoresFlush(Bytes(1 << 20))))));
    let mut writing = scratch.place.start(&scratch.line(""));
    writing.wait_until(|| length(&scratch.ledger()) > ENOUGH_BYTES);
    writing.signal(Signal::KILL);
    drop(writing.wait());
    let found = scratch.place.run(&scratch.line("--after --json")).json(3);
    let cut = &durability(&found)["cuts"][0];
    assert_eq!(
        (cut["kind"].as_str(), durability(&found)["evidence"].as_str()),
        (Some("process"), Some("declared"))
    );
    assert_eq!(cut["kept_blocks"], cut["promised_blocks"]);
    assert!(durability(&found).get("loss_per_cut_max").is_none());
}

#[test]
fn the_test_file_of_a_ledger_stays_until_it_is_to_go() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    scratch.cut(scratch.place.start(&scratch.line("")), 9);
    let directory = scratch.rig.directory().display().to_string();
    let test_files = || std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(test_files(), 1);
    assert_eq!(scratch.place.run(&format!("runs clean {directory} --yes")).code, Some(0));
    assert_eq!(test_files(), 1, "without being asked it stays");
    let ran = scratch.place.run(&format!("runs clean {directory} --ledger-files --yes"));
    assert!(ran.code == Some(0) && ran.stdout.contains("of the ledger"), "{ran:?}");
    assert_eq!(test_files(), 0);
}

/// Somebody else may have written a ledger: numbers that make no sense are refused.
#[test]
fn the_head_of_a_ledger_is_checked() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    scratch.cut(scratch.place.start(&scratch.line("")), 4);
    let whole = std::fs::read(scratch.ledger()).unwrap();
    for (field, value) in [
        ("block_bytes", "0"),
        ("block_bytes", "9223372036854775808"),
        ("first_byte", "18446744073709551615"),
        ("length_bytes", "18446744073709551615"),
    ] {
        std::fs::write(scratch.ledger(), with_number(&whole, field, value)).unwrap();
        let line = scratch.line("--after --cut power");
        let ran = bounded(&scratch.place, &line.split(' ').collect::<Vec<_>>());
        assert!(matches!(ran.code, Some(2 | 4)), "{field} {value}: {ran:?}");
        assert!(ran.stderr.contains("error: ") && ran.stderr.contains("hint: "), "{ran:?}");
    }
}

/// The ledger with another number in its head, and the checksum of that.
fn with_number(ledger: &[u8], field: &str, value: &str) -> Vec<u8> {
    let length = u32::from_le_bytes(ledger[8..12].try_into().unwrap());
    let (head, rest) = ledger[20..].split_at(usize::try_from(length).unwrap());
    let head = String::from_utf8_lossy(head);
    let at = head.find(&format!("\"{field}\":")).unwrap() + field.len() + 3;
    let end = at + head[at..].find([',', '}']).unwrap();
    let head = [&head[..at], value, &head[end..]].concat();
    let length = u32::try_from(head.len()).unwrap().to_le_bytes();
    let begin = [length, 1_u32.to_le_bytes()].concat();
    let sum = crc32fast::hash(&[begin.as_slice(), head.as_bytes()].concat()).to_le_bytes();
    [&ledger[..8], &begin, &sum, head.as_bytes(), rest].concat()
}

/// Its ledger would say that the storage lost the test file.
#[test]
fn a_witness_is_asked_where_no_test_file_is() {
    let place = Place::new();
    place.write_private("token", "a token of 24 characters\n");
    let mut witness = place.start("verify witness --listen 127.0.0.1:0 --token-file token");
    let address = address_of(&mut witness);
    let ran = place.run(&format!("verify d --after --witness {address} --token-file token"));
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.complaint.contains("does not have a ledger of this target"), "{}", ran.complaint);
    witness.signal(Signal::INT);
    drop(witness.wait());
}

#[test]
fn a_ledger_is_refused_where_the_cut_would_take_it() {
    let place = Place::new();
    let ran = place.run("verify d --size 8MiB --ledger d/data.ledger");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.complaint.contains("would be on the storage under test"), "{}", ran.complaint);
    assert_eq!(place.test_files("d"), [""; 0]);
    assert_eq!(place.run_ids(), [""; 0]);
}

#[test]
fn what_does_not_belong_together_is_not_judged() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    scratch.cut(scratch.place.start(&scratch.line("")), 5);
    let place = &scratch.place;
    place.write("none.ledger", "no ledger");
    for (line, code, complaint) in [
        ("verify d --after --ledger data.ledger".to_owned(), 2, "not to d"),
        (
            scratch.line("--after").replace("data.ledger", "none.ledger"),
            2,
            "does not start like a ledger",
        ),
        (scratch.line("--after").replace("data.ledger", "missing.ledger"), 4, "reading the ledger"),
        ("verify d --after".to_owned(), 2, "--after needs the ledger"),
        (scratch.line(""), 4, "creating the ledger"),
    ] {
        let ran = place.run(&line);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        assert!(ran.complaint.contains(complaint), "{line}: {}", ran.complaint);
    }
    // A ledger that was cut off says less, and raises no alarm.
    let whole = std::fs::read(scratch.ledger()).unwrap();
    std::fs::write(scratch.ledger(), &whole[..whole.len() - 7]).unwrap();
    let ran = place.run(&scratch.line("--after --cut power"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("are incomplete and ignored"), "{}", ran.stderr);
    // One that is damaged before its end says less as well, and nothing of it is cut off or added
    // to.
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(scratch.ledger(), &damaged).unwrap();
    for (rest, code, complaint) in [
        ("--after --cut power", 0, "the ledger is damaged at byte"),
        (
            "--after --resume --cut power",
            4,
            "opening the ledger data.ledger: it is damaged at byte",
        ),
    ] {
        let ran = place.run(&scratch.line(rest));
        assert_eq!(ran.code, Some(code), "{rest}: {ran:?}");
        assert!(ran.stderr.contains(complaint), "{rest}: {}", ran.stderr);
        assert_eq!(std::fs::read(scratch.ledger()).unwrap(), damaged);
    }
}

#[test]
fn a_ledger_that_cannot_be_had_leaves_nothing_on_the_target() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    let (place, target) = (&scratch.place, scratch.rig.directory());
    place.write("data.ledger", "somebody's");
    // Nobody listens there any more.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let witness =
        format!("verify {} {SIZE} --witness {nobody} --token-file token", target.display());
    for line in [scratch.line(""), witness] {
        let ran = place.run(&line);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert_eq!(support::names(target), [""; 0], "{line}");
    }
    assert_eq!(std::fs::read_to_string(scratch.ledger()).unwrap(), "somebody's");
}

#[test]
fn a_ledger_that_is_full_is_said_at_once_and_stays_whole() {
    let full = or_skip!(SmallFileSystem::tmpfs(128 << 10));
    let place = Place::new();
    let ledger = full.path().join("data.ledger");
    let line = format!("verify d --size 8MiB --ledger {}", ledger.display());
    let mut writing = place.start(&line);
    while !writing.stderr().contains("acknowledgements are not being recorded") {
        assert!(writing.is_running(), "{}", writing.stderr());
        std::thread::sleep(Duration::from_millis(2));
    }
    writing.signal(Signal::KILL);
    drop(writing.wait());
    // The judgement is added to it, which needs room.
    std::fs::copy(&ledger, place.path("copy.ledger")).unwrap();
    let ran = place.run("verify d --size 8MiB --ledger copy.ledger --after --cut power");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stderr.contains("incomplete"), "{}", ran.stderr);
}

#[test]
fn a_run_without_a_cut_times_flushes_and_claims_no_more() {
    let place = Place::new();
    let found = place.json("verify d --size 8MiB --time 1s", 0);
    let found = durability(&found);
    assert_eq!(found["evidence"], "timed");
    assert_eq!(found["timing"]["flushes"].as_array().unwrap().len(), 4);
    assert_eq!(place.test_files("d"), [""; 0]);
    let criteria = "format = 1\nname = \"kept\"\n[[criterion]]\nquantity = \
                    \"durability.loss_per_cut\"\nat_most = \"5%\"\n";
    place.write("rare.toml", criteria);
    // Nothing was cut: the question stays open.
    assert_eq!(
        place.json("verify d --size 8MiB --time 1s --criteria rare.toml", 3)["verdict"]["outcome"],
        "INCONCLUSIVE"
    );
    let ran = place.run("verify d --dry-run --ledger elsewhere.ledger");
    assert!(ran.stdout.contains("until the storage dies"), "{}", ran.stdout);
}

/// Witness, victim and somebody who pulls the plug: a campaign from its start to its end.
#[test]
fn a_witness_conducts_a_campaign() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    let place = &scratch.place;
    let mut witness = place.start(
        "verify witness --listen 127.0.0.1:0 --token-file token --steady 200ms --cuts 2 \
         --cut-command ./cut --json",
    );
    place.write(
        "cut",
        "#!/bin/sh\nif [ $ASSAY_CUT = 1 ]; then touch first; else touch second; fi\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("cut"), mode).unwrap();
    let address = address_of(&mut witness);
    let target = scratch.rig.directory().display().to_string();
    let line = |rest: &str| {
        format!("verify {target} {SIZE} --witness {address} --token-file token {rest}")
    };
    for (mark, rest) in [("first", ""), ("second", "--after --resume --cut power")] {
        let mut writing = place.start(&line(rest));
        writing.wait_until(|| place.path(mark).exists());
        scratch.rig.cut_power(3);
        writing.signal(Signal::KILL);
        drop(writing.wait());
        scratch.rig.restore_power();
    }
    let last = place.run(&line("--after --cut power"));
    assert_eq!(last.code, Some(0), "{last:?}");
    let found = witness.wait().json(0);
    assert_eq!(found["format"], 1);
    let found = &found["durability"];
    assert_eq!(
        (found["evidence"].as_str(), found["cuts"].as_array().unwrap().len()),
        (Some("power_cuts"), 2)
    );
}

/// One lie is enough: no further cut is waited for.
#[test]
fn a_campaign_ends_with_the_first_judgement_that_refutes() {
    let scratch =
        Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::IgnoresFlush(Bytes(1 << 20))))));
    let place = &scratch.place;
    let mut witness = place.start(
        "verify witness --listen 127.0.0.1:0 --token-file token --steady 200ms --cuts 100 \
         --cut-command touch${IFS}cut-$ASSAY_CUT",
    );
    let address = address_of(&mut witness);
    let target = scratch.rig.directory().display().to_string();
    let line = |rest: &str| {
        format!("verify {target} {SIZE} --witness {address} --token-file token {rest}")
    };
    let mut is_refuted = false;
    for number in 1..=CUTS_MAX {
        let again = if number == 1 { "" } else { "--after --resume --cut power" };
        let mut writing = place.start(&line(again));
        writing.wait_until(|| place.path(format!("cut-{number}")).exists());
        scratch.rig.cut_power(number);
        writing.signal(Signal::KILL);
        drop(writing.wait());
        scratch.rig.restore_power();
        is_refuted = place.run(&line("--after --cut power")).code == Some(1);
        if is_refuted {
            break;
        }
    }
    let ended = witness.wait();
    assert!(is_refuted);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("Refuted"), "{ended:?}");
}

/// The directory entry of a new file is what a device that ignores flushes loses first.
#[test]
fn storage_that_lost_the_test_file_is_refuted_and_ends_a_campaign() {
    let place = Place::new();
    place.write_private("token", "a token of 24 characters\n");
    let mut witness = place.start(
        "verify witness --listen 127.0.0.1:0 --token-file token --steady 200ms --cuts 100 \
         --cut-command touch${IFS}cut-$ASSAY_CUT",
    );
    let line = format!("verify d {SIZE} --witness {} --token-file token", address_of(&mut witness));
    let mut writing = place.start(&line);
    writing.wait_until(|| place.path("cut-1").exists());
    writing.signal(Signal::KILL);
    drop(writing.wait());
    let [file] = place.test_files("d").try_into().unwrap();
    std::fs::remove_file(place.path("d").join(file)).unwrap();
    let judged = place.run(&format!("{line} --after --cut power"));
    assert_eq!(judged.code, Some(1), "{judged:?}");
    assert!(judged.stdout.contains("Refuted: "), "{judged:?}");
    assert!(judged.stderr.contains("the test file is gone from d"), "{judged:?}");
    let ended = witness.wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("Refuted"), "{ended:?}");
}

#[test]
fn a_campaign_without_acknowledgements_ends() {
    let place = Place::new();
    place.write_private("token", "a token of 24 characters\n");
    let witness = place.start(
        "verify witness --listen 127.0.0.1:0 --token-file token --cuts 1 --cut-command true \
         --patience 200ms",
    );
    let ended = witness.wait();
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.complaint.contains("no acknowledgement arrived within 200ms"), "{ended:?}");
}

/// Where a witness says that it listens.
fn address_of(witness: &mut Started) -> String {
    let address = |stderr: &str| {
        stderr.lines().find_map(|line| line.strip_prefix("listening at ")).map(str::to_owned)
    };
    while witness.is_running() {
        if let Some(address) = address(&witness.stderr()) {
            return address;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("{}", witness.stderr());
}

#[test]
fn a_campaign_whose_command_fails_ends_with_the_reason() {
    let scratch = Scratch::new(or_skip!(Rig::mount(&cache(4096, Lie::None))));
    let place = &scratch.place;
    let mut witness = place.start(
        "verify witness --listen 127.0.0.1:0 --token-file token --steady 100ms --cuts 1 \
         --cut-command false",
    );
    let address = address_of(&mut witness);
    let target = scratch.rig.directory().display().to_string();
    let line = format!("verify {target} {SIZE} --witness {address} --token-file token");
    let writing = place.start(&line);
    let ended = witness.wait();
    writing.signal(Signal::KILL);
    drop(writing.wait());
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.complaint.contains("false"), "{}", ended.complaint);
}
