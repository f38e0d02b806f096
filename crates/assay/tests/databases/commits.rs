//! Acknowledged transactions over power cuts: servers that wait for their storage lose none, those
//! that do not are caught, and what is missing or doubled is named. Without a server, root or FUSE
//! the tests say that they were skipped.

use crate::mariadb;
use crate::server::{
    Place, address, given_server, has_server, json, processes_in, wait_for, words,
};
use assay_postgres::connection::PostgresConnection;
use assay_rig::{CutFileSystem, Latency, Lie, Operation, Script, or_skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

/// A server with its log and a warehouse.
const DISK_BYTES: u64 = 2 << 30;
/// Acknowledgements that a cut is to meet, in bytes of the ledger.
const ENOUGH_BYTES: u64 = 6_000;
/// A control is caught after this number of cuts, or the method sees nothing.
const CUTS_MAX: u64 = 5;

/// A server of the program's own on a device whose power can be cut, and a ledger elsewhere.
struct Scratch {
    place: Place,
    disk: CutFileSystem,
    product: &'static str,
    /// Cache of the server.
    cache: &'static str,
    /// Bytes of the ledger that a cut is to find.
    enough_bytes: u64,
}

impl Scratch {
    fn new(disk: CutFileSystem, product: &'static str) -> Self {
        Self {
            place: Place::made(&format!("commits-{product}")),
            disk,
            product,
            cache: "16MiB",
            enough_bytes: ENOUGH_BYTES,
        }
    }

    fn ledger(&self) -> PathBuf {
        self.place.0.join("commits.ledger")
    }

    /// The load on the directory, or on the server that was kept there.
    fn line(&self, rest: &str) -> String {
        let entries = fs::read_dir(self.disk.path()).unwrap().filter_map(Result::ok);
        let kept = entries.map(|entry| entry.path()).find(|path| path.join("data").is_dir());
        let target = kept.unwrap_or_else(|| self.disk.path().to_owned());
        format!(
            "bench oltp {} --server {} --sessions 4 --time 10min --warm-up 0s --buffer-pool {} \
             --quiet --ledger commits.ledger {rest}",
            target.display(),
            self.product,
            self.cache
        )
    }

    /// Lets it write until enough is acknowledged, and cuts the power.
    fn cut(&mut self, rest: &str, seed: u64) {
        let begun = length(&self.ledger());
        let mut writing: Child = self.place.start(&self.line(rest));
        wait_for(|| {
            let ended = writing.try_wait().unwrap();
            assert!(ended.is_none(), "it ended by itself: {ended:?}");
            length(&self.ledger()) > begun + self.enough_bytes
        });
        // No process survives a power cut: the server neither. One that ends by itself when its
        // storage goes has no directory any more, and is still there until somebody has
        // heard of its end.
        let mut processes = processes_in(self.disk.path());
        self.disk.cut_power(seed);
        kill_process(Pid::from_child(&writing), Signal::KILL).unwrap();
        writing.wait().unwrap();
        processes.extend(processes_in(self.disk.path()));
        for process in &processes {
            let number = process.file_name().unwrap().to_str().unwrap().parse().unwrap();
            // It may have ended by itself meanwhile.
            let _ = kill_process(Pid::from_raw(number).unwrap(), Signal::KILL);
        }
        // Their numbers are in the server's files, and it does not start while they are taken.
        wait_for(|| !processes.iter().any(|process| process.exists()));
        self.disk.restore_power().unwrap();
    }

    fn judge(&self) -> (Option<i32>, Value) {
        let output = self.place.run(&self.line("--after --cut power --json"));
        assert!(!output.stdout.is_empty(), "{}", words(&output));
        (output.status.code(), json(&output)["load"].clone())
    }

    /// Cuts with a control until it is caught; what was judged last.
    fn control(&mut self, control: &str) -> Value {
        for seed in 0..CUTS_MAX {
            self.cut(&format!("--after --resume --cut power --control {control}"), 40 + seed);
            let (code, load) = self.judge();
            let judged = last(&load).clone();
            assert_eq!(judged["commits"]["control"], control);
            if is_broken(&judged["commits"]) {
                assert_eq!(code, Some(0), "a control that is caught is right: {load:#}");
                return load;
            }
            assert_eq!(code, Some(if control == "commits" { 3 } else { 0 }), "{judged:#}");
        }
        panic!("the control was not caught in {CUTS_MAX} cuts");
    }
}

fn length(path: &std::path::Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

fn last(load: &Value) -> &Value {
    load["durability"]["cuts"].as_array().unwrap().last().unwrap()
}

/// Whether a cut is seen to have broken something.
fn is_broken(commits: &Value) -> bool {
    let counts = ["lost", "broken_conditions"].map(|name| commits[name].as_u64());
    let pages = commits["pages"].as_array().into_iter().flatten();
    let damaged = pages.map(|check| check["damaged"].as_u64());
    counts.into_iter().chain(damaged).any(|count| count > Some(0)) || commits["refusal"].is_string()
}

/// Nothing that was acknowledged is missing, all conditions hold, and whatever looked at the pages
/// found nothing.
fn assert_kept(load: &Value, cuts: usize) {
    let durability = &load["durability"];
    assert_eq!(durability["evidence"], "power_cuts", "{durability:#}");
    assert_eq!(durability["cuts"].as_array().unwrap().len(), cuts);
    let commits = &last(load)["commits"];
    assert!(commits["acknowledged"].as_u64() > Some(10), "{commits:#}");
    assert_eq!(commits["kept"], commits["acknowledged"]);
    assert_eq!(
        (&commits["lost"], &commits["doubled"], &commits["broken_conditions"]),
        (&Value::from(0), &Value::from(0), &Value::from(0))
    );
    for check in commits["pages"].as_array().unwrap() {
        let is_missing = check["what"].as_str().is_some_and(|what| what.contains("not installed"));
        assert!(check["damaged"] == 0 || is_missing, "{check}");
    }
}

/// What the device keeps or loses by itself: less than a page, and enough for the superblock of
/// ext4, which a smaller unit tears.
const TEARS_BYTES: u64 = 4096;

/// A device that tears pages under a server that does not protect them. It is so slow and the cache
/// of the server so small that pages are always on their way, so that a cut meets some that were
/// written and not flushed.
fn torn_pages(product: &'static str) {
    let time = |micros| Latency::fixed(Duration::from_micros(micros));
    let script = Script::new()
        .cache(TEARS_BYTES, Lie::None)
        .servers(2)
        .latency(Operation::Write, time(50))
        .latency(Operation::Sync, time(500));
    let disk = or_skip!(CutFileSystem::make(DISK_BYTES, script));
    let mut scratch =
        Scratch { cache: "6MiB", enough_bytes: 15_000, ..Scratch::new(disk, product) };
    scratch.cut("", 21);
    let (code, load) = scratch.judge();
    assert_eq!(code, Some(0), "{load:#}");
    assert_kept(&load, 1);
    let pages = &load["durability"]["page_protection"];
    assert_eq!((&pages["answer"], &pages["cuts"]), (&Value::from("unproven"), &Value::from(0)));
    scratch.disk.set_latency(Operation::Write, time(2000));
    scratch.disk.set_latency(Operation::Sync, time(400_000));
    scratch.enough_bytes = ENOUGH_BYTES;
    let load = scratch.control("pages");
    let pages = &load["durability"]["page_protection"];
    assert_eq!(pages["answer"], "needed", "{load:#}");
    assert_eq!(load["durability"]["evidence"], "power_cuts");
    let text = scratch.place.run("report latest");
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("full_page_writes or innodb_doublewrite must stay on here"), "{text}");
}

#[test]
#[ignore = "minutes, because a cut has to meet a page that no flush has covered: `make torn-pages`"]
fn postgres_without_full_pages_in_its_log_is_caught_where_pages_are_torn() {
    if !has_server() {
        println!("skipped: no PostgreSQL server here");
        return;
    }
    torn_pages("postgres");
}

#[test]
#[ignore = "minutes, because a cut has to meet a page that no flush has covered: `make torn-pages`"]
fn mariadb_without_a_doublewrite_buffer_is_caught_where_pages_are_torn() {
    if mariadb::place("torn-pages").is_none() {
        return;
    }
    torn_pages("mariadb");
}

/// A campaign of two cuts on a conforming device, and a server that does not wait for it.
fn campaign(product: &'static str, unit_bytes: u64) {
    let time = |micros| Latency::fixed(Duration::from_micros(micros));
    let script = Script::new()
        .cache(unit_bytes, Lie::None)
        .latency(Operation::Write, time(50))
        .latency(Operation::Sync, time(500));
    let mut scratch = Scratch::new(or_skip!(CutFileSystem::make(DISK_BYTES, script)), product);
    scratch.cut("", 11);
    let (code, load) = scratch.judge();
    assert_eq!(code, Some(0), "{load:#}");
    assert_kept(&load, 1);
    scratch.cut("--after --resume --cut power", 12);
    assert_kept(&scratch.judge().1, 2);
    let load = scratch.control("commits");
    assert_eq!(load["durability"]["evidence"], "power_cuts");
    let text = scratch.place.run("report latest");
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(
        text.contains("lost in 2 power cuts") && text.contains("The control was caught"),
        "{text}"
    );
}

#[test]
fn postgres_keeps_what_it_acknowledged_and_without_fsync_it_does_not() {
    if !has_server() {
        println!("skipped: no PostgreSQL server here");
        return;
    }
    campaign("postgres", TEARS_BYTES);
}

#[test]
fn mariadb_keeps_what_it_acknowledged_and_without_waiting_it_does_not() {
    if mariadb::place("commits").is_none() {
        return;
    }
    // Its pages are kept whole: it does not restore the first page of a file that was torn
    // (10.11.19, `benchmarks/README.md`).
    campaign("mariadb", 8 << 10);
}

#[test]
fn what_is_missing_and_what_is_doubled_is_named() {
    let Some(place) = Place::new("commits-named") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    for (kind, schema) in [("oltp", "assay_oltp"), ("brokerage --customers 100", "assay_brokerage")]
    {
        let load = format!("bench {kind} {} --json --quiet", address(&server, None));
        // The servers of tests and their places are on one file system.
        let file = std::env::temp_dir().join(format!("{schema}-{}.ledger", std::process::id()));
        let ledger = format!("--ledger {}", file.display());
        let ran = place.run(&format!("{load} {ledger} --sessions 3 --time 2s --warm-up 0s"));
        assert_eq!(ran.status.code(), Some(0), "{}", words(&ran));
        let kept = json(&ran)["load"]["durability"]["acknowledgements"].as_u64();
        assert!(kept > Some(20), "{kept:?}");
        let judge = || place.run(&format!("{load} {ledger} --after --cut system"));
        let whole = judge();
        let found = &json(&whole)["load"];
        assert_eq!(whole.status.code(), Some(0), "{found:#} {}", words(&whole));
        assert_eq!(last(found)["commits"]["acknowledged"].as_u64(), kept);
        let of_two = format!("FROM {schema}.assay_commits WHERE session_number = 2");
        let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
        connection.run(&format!("DELETE {of_two} AND transaction_number IN (2, 3)")).unwrap();
        connection
            .run(&format!(
                "INSERT INTO {schema}.assay_commits SELECT run_number, session_number, \
                 transaction_number {of_two} AND transaction_number = 5"
            ))
            .unwrap();
        let broken = judge();
        let found = &json(&broken)["load"];
        assert_eq!(broken.status.code(), Some(1), "{found:#}");
        let commits = &last(found)["commits"];
        assert_eq!((commits["lost"].as_u64(), commits["doubled"].as_u64()), (Some(2), Some(1)));
        assert_eq!(commits["holes"][0], serde_json::json!({"session": 2, "first": 2, "last": 3}));
        assert_eq!(found["durability"]["evidence"], "refuted");
        // A ledger is about one schema of one server.
        let other = place.run(&format!("verify d --after {ledger}"));
        assert_eq!(other.status.code(), Some(2), "{}", words(&other));
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn what_makes_no_sense_with_a_ledger_is_refused() {
    let place = Place::made("commits-refused");
    for (options, why) in [
        ("--calls proc --ledger l", "--calls proc"),
        ("--restore-every 2 --ledger l", "--restore-every"),
        ("--control commits", "--control needs a ledger"),
        ("--after", "--after needs the ledger"),
    ] {
        let ran = place.run(&format!("bench oltp d {options}"));
        assert_eq!(ran.status.code(), Some(2), "{options}: {}", words(&ran));
        assert!(words(&ran).contains(why), "{options}: {}", words(&ran));
        assert!(place.left().is_empty() && !place.0.join("l").exists());
    }
}
