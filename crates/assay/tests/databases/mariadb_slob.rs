//! `assay bench slob` on MariaDB: what it measures, how it fails, and that nothing stays behind,
//! also when it is killed. Without a server the tests say that they were skipped.

use crate::mariadb::{address, databases, given, place, place_on_disk, servers};
use crate::server::{Place, json, kept, on_small, wait_for, words};
use assay_mariadb::connection::MariadbConnection;
use assay_mariadb::server::MariadbServer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;

/// A small load.
const SMALL: &str = "bench slob d --server mariadb --scale 8MiB --sessions 2 --time 1s --quiet";

fn ios(rung: &Value) -> Vec<u64> {
    let streams = rung["measurement"]["streams"].as_array().unwrap();
    let operations = streams.iter().flat_map(|one| one["operations"].as_object().unwrap().values());
    operations.map(|operation| operation["ios"].as_u64().unwrap()).collect()
}

fn count(rung: &Value, name: &str) -> u64 {
    rung["database"][name].as_u64().unwrap()
}

#[test]
fn a_ladder_counts_what_server_and_sessions_count() {
    let Some(place) = place("whole") else { return };
    let output = place.run(
        "bench slob d --server mariadb --scale 8MiB --sessions 1,3 --work 50 --work-unit 8 \
         --update-pct 20 --tables 2 --json --quiet",
    );
    let load = &json(&output)["load"];
    assert_eq!(load["server"]["product"], "MariaDB");
    assert_eq!(load["server"]["block_bytes"], 8192);
    assert_eq!(load["filled"]["rows"], 2048);
    let rungs = load["steps"].as_array().unwrap();
    assert!(!rungs.is_empty(), "{load}");
    for (rung, sessions) in rungs.iter().zip([1, 3]) {
        let ios = ios(rung);
        // Fifty steps each; of a hundred in a row exactly twenty change rows, so of fifty about
        // ten.
        assert_eq!(ios.iter().sum::<u64>(), 50 * sessions, "{ios:?}");
        assert!((8 * sessions..=12 * sessions).contains(&ios[1]), "{ios:?}");
        assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty());
        assert!(count(rung, "logical_reads") >= 8 * 50 * sessions);
        assert!(count(rung, "commits") >= 50 * sessions && count(rung, "log_bytes") > 0);
        let time = &rung["time"];
        assert!(time["database_ns"].as_u64().unwrap() > 0 && time["cpu_ns"].as_u64().unwrap() > 0);
        // Nobody times the log of changes in this version: it is nothing, not 0. A step so short
        // may be less than one tick of CPU time.
        assert!(time["commit_ns"].is_null() && rung["server_cpu_s"].as_f64().unwrap() >= 0.0);
    }
    assert_eq!((place.left().len(), servers(&place).len()), (0, 0));
}

#[test]
fn a_key_is_a_page_and_each_page_is_read_by_itself() {
    let Some(place) = place_on_disk("pages") else { return };
    for work_unit in [1, 8] {
        // 4,096 pages, and a cache of less than a sixth of them.
        let output = place.run(&format!(
            "bench slob d --server mariadb --scale 32MiB --sessions 1 --work 400 --work-unit \
             {work_unit} --buffer-pool 5MiB --json --quiet"
        ));
        let load = &json(&output)["load"];
        let filled = &load["filled"];
        assert_eq!(filled["rows"], 4096, "{}", words(&output));
        assert!(filled["table_bytes"].as_u64().unwrap() >= 4096 * 8192 * 98 / 100, "{filled}");
        let rung = &load["steps"][0];
        let (read, met) = (count(rung, "reads"), 400 * work_unit);
        // Five of six pages are not in the cache; the index is. Neighbours in key are not
        // neighbours on storage: were they, eight keys would be read once or twice.
        assert!(read > met * 6 / 10 && read < met * 12 / 10, "{read} of {met}");
        assert!(rung["database"]["read_wait_ns"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_given_server_is_left_as_it_was() {
    let Some(place) = place("given") else { return };
    let server = given(&place.0.join("d"));
    let secret = server.daemon.password().to_owned();
    let target = address(&server, "assay", &secret);
    let load = format!("bench slob {target} --scale 8MiB --sessions 2 --time 1s --quiet --json");
    let output = place.run(&load);
    assert_eq!(json(&output)["load"]["server"]["is_own"], false, "{}", words(&output));
    // Eight megabytes lie in the server's own cache, or in that of the kernel, and then that is
    // said.
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    assert!(!String::from_utf8_lossy(&output.stdout).contains(&secret));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    assert_eq!(databases(&mut connection), Vec::<String>::new());
    // Neither what is only called as a load's tables are, nor what was to be kept is dropped.
    connection.run("CREATE DATABASE assay_slob_1; CREATE DATABASE assay_slob_mine").unwrap();
    place.run(&format!("{load} --keep"));
    let left = databases(&mut connection);
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left.iter().any(|name| name.starts_with("assay_kept_")), "{left:?}");
    refusals(&place, &server, &mut connection, &secret);
}

/// What a server may say, each with its hint, before anything is loaded.
fn refusals(
    place: &Place,
    server: &MariadbServer,
    connection: &mut MariadbConnection,
    secret: &str,
) {
    connection.run("CREATE USER small@localhost IDENTIFIED BY 'x'").unwrap();
    let ours = address(server, "assay", secret);
    for (target, more, word) in [
        (address(server, "assay", "wrong"), "", "1045"),
        (address(server, "small", "x"), "", "1044"),
        (ours.clone(), " --sessions 200", "max_connections"),
        (ours.clone(), " --server postgres", "--server"),
    ] {
        let output = place.run(&format!("bench slob {target} --scale 8MiB --quiet{more}"));
        let words = words(&output);
        assert!(words.contains(word) && words.contains("hint: "), "{word}: {words}");
        assert!(!words.contains(secret));
    }
    connection.run("SET GLOBAL read_only = ON").unwrap();
    let output = place.run(&format!("bench slob {ours} --scale 8MiB --quiet"));
    assert_eq!(output.status.code(), Some(4));
    assert!(words(&output).contains("read-only"), "{}", words(&output));
}

#[test]
fn a_server_that_is_killed_ends_the_load_and_what_was_measured_stands() {
    let Some(place) = place("crash") else { return };
    let mut child = place.start(&SMALL.replace("1s", "60s"));
    wait_for(|| kept(&place.0, "sessions-0002-r1/intervals.jsonl"));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    for process in servers(&place) {
        assay_dbserver::processes::signal(process, Signal::KILL);
    }
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(kept(&place.0, "sessions-0002-r1/measurement.json"));
    assert_eq!((place.left().len(), servers(&place).len()), (0, 0));
}

#[test]
fn who_is_interrupted_or_killed_leaves_nothing_behind() {
    let Some(place) = place("kill") else { return };
    let mut child = place.start(&SMALL.replace("1s", "60s"));
    wait_for(|| kept(&place.0, "sessions-0002-r1/intervals.jsonl"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((place.left().len(), servers(&place).len()), (0, 0));
    for wait_ms in [300, 2500, 5000] {
        let mut child = place.start(&SMALL.replace("1s", "60s"));
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        // Servers end with the program that wanted them.
        wait_for(|| servers(&place).is_empty());
    }
    let output = place.run(&format!("{SMALL} --partial-data drop"));
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    assert_eq!((place.left(), servers(&place)), (Vec::new(), Vec::new()));
}

#[test]
fn a_kept_server_is_used_again() {
    let Some(place) = place("kept") else { return };
    let first = place.run(&format!("{SMALL} --json --keep"));
    assert_eq!(json(&first)["load"]["filled"]["rows"], 1024, "{}", words(&first));
    let left = place.left();
    assert_eq!((left.len(), servers(&place).len()), (1, 0), "{left:?}");
    // The directory says which product it is.
    let again = SMALL.replace("slob d --server mariadb", &format!("slob d/{}", left[0]));
    let second = place.run(&format!("{again} --json"));
    assert!(json(&second)["load"]["filled"].is_null(), "{}", words(&second));
    // Killed while it is in use, it recovers.
    let mut child = place.start(&again.replace("1s", "60s"));
    wait_for(|| !servers(&place).is_empty());
    std::thread::sleep(std::time::Duration::from_secs(1));
    for process in servers(&place) {
        assay_dbserver::processes::signal(process, Signal::KILL);
    }
    child.wait().unwrap();
    let third = place.run(&format!("{again} --json"));
    assert!(json(&third)["load"]["filled"].is_null(), "{}", words(&third));
    let other = place.run(&again.replace("8MiB", "16MiB"));
    assert!(
        other.status.code() == Some(2) && words(&other).contains("contains other tables"),
        "{}",
        words(&other)
    );
}

#[test]
fn what_cannot_be_meant_or_reached_is_told_and_leaves_no_run() {
    let Some(place) = place("refused") else { return };
    for (arguments, code, word) in [
        ("bench slob d --server mariadb --access stream", 2, "--access stream"),
        ("bench slob d --server mariadb --io-method sync", 2, "--io-method"),
        ("bench slob d --server mariadb --bindir nowhere", 2, "no mariadbd"),
        ("bench slob mysql://127.0.0.1:1/x", 4, "connecting"),
        ("bench slob mysql://h/x?ssl-mode=PERHAPS", 2, "ssl-mode"),
        ("bench slob mysql://h/x --server postgres", 2, "--server"),
        ("bench slob d --server mariadb --scale 90000TiB", 4, "space"),
        ("bench dss d --server mariadb --parallel 2", 2, "--parallel"),
        ("bench dss d --server mariadb --scale 0", 2, "no scale"),
    ] {
        let output = place.run(arguments);
        let words = words(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {words}");
        assert!(words.contains(word) && words.contains("hint: "), "{arguments}: {words}");
        assert_eq!(place.left().len(), 0, "{arguments}");
    }
    let runs = fs::read_dir(place.0.join("assay-runs")).map_or(0, Iterator::count);
    assert_eq!(runs, 0);
}

#[test]
fn a_full_storage_ends_the_loading_with_its_reason() {
    let Some(place) = place("full") else { return };
    on_small(&place, 760, || {
        let server = given(&place.0.join("d"));
        let target = address(&server, "assay", server.daemon.password());
        let output = place.run(&format!("bench slob {target} --scale 256MiB --quiet"));
        let words = words(&output);
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(words.contains("1114") && words.contains("space"), "{words}");
        let mut connection = MariadbConnection::open(&server.address()).unwrap();
        assert_eq!(databases(&mut connection), Vec::<String>::new());
    });
}
