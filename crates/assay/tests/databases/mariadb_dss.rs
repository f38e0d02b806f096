//! `assay bench dss` on MariaDB: that its answers are those of PostgreSQL, what it measures and
//! finds again, how it fails, and that nothing stays behind. Without a server the tests say that
//! they were skipped.

use crate::dss::{ROWS, assert_complete, assert_ordered, has_loaded, kept, queries, refused};
use crate::mariadb::{address, databases, given, place, servers};
use crate::server::{has_server, json, wait_for, words};
use assay_mariadb::connection::MariadbConnection;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;

/// The smallest of all loads.
const SMALL: &str = "--scale 0.01 --streams 0 --no-refresh --quiet --json";
/// Relative difference of averages and quotients, of which each product keeps another number of
/// digits.
const TOLERANCE: f64 = 1e-9;

#[test]
fn power_and_throughput_runs_ask_everything_once() {
    let Some(place) = place("dss-whole") else { return };
    let output = place
        .run("bench dss d --server mariadb --scale 0.01 --streams 2 --loaders 4 --json --quiet");
    let dss = &json(&output)["dss"];
    assert_eq!(dss["data"]["rows"], ROWS, "{}", words(&output));
    assert_eq!(dss["server"]["product"], "MariaDB");
    let settings = dss["server"]["settings"].as_array().unwrap();
    let value =
        |name: &str| settings.iter().find(|one| one["name"] == name).unwrap()["value"].clone();
    // Scans read ahead here, and what matters for sorts and joins is reported.
    assert_eq!(
        (value("innodb_read_ahead_threshold"), value("join_buffer_size")),
        ("56".into(), "4194304".into())
    );
    let runs = dss["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["parallel"], 0);
        assert_complete(run);
    }
    assert_ordered(&runs[0], &runs[1]);
    assert_eq!((place.left().len(), servers(&place).len()), (0, 0));
    let text = String::from_utf8_lossy(&place.run("report").stdout).into_owned();
    for word in ["not TPC results", "geometric mean", "MariaDB", "RF2"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// Rows of the answer to a query; a text with commas falls into pieces, which are compared like all
/// others.
fn answer(folder: &Path, query: u32) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(format!("q{query:02}.csv"))).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (Ok(mine), Ok(theirs)) = (one.parse::<f64>(), other.parse::<f64>()) else { return false };
    (mine - theirs).abs() <= TOLERANCE * mine.abs().max(theirs.abs())
}

#[test]
fn every_answer_is_that_of_postgresql() {
    let Some(place) = place("dss-answers") else { return };
    if !has_server() {
        println!("skipped: no PostgreSQL server to compare with");
        return;
    }
    for (product, folder) in [("postgres", "theirs"), ("mariadb", "ours")] {
        let output = place.run(&format!(
            "bench dss d --server {product} {SMALL} --parameters validation --answers {folder}"
        ));
        assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    }
    let mut empty = 0;
    for query in 1..=22 {
        let (ours, theirs) =
            (answer(&place.0.join("ours"), query), answer(&place.0.join("theirs"), query));
        assert_eq!(ours.len(), theirs.len(), "Q{query}");
        for (mine, other) in ours.iter().zip(&theirs) {
            let same = mine.iter().zip(other).all(|(one, other)| is_same(one, other));
            assert!(mine.len() == other.len() && same, "Q{query}: {mine:?} is not {other:?}");
        }
        empty += usize::from(ours.is_empty());
    }
    // A few queries find nothing in small tables; most must find something.
    assert!(empty < 6, "{empty}");
}

#[test]
fn queries_over_their_limit_are_cancelled_and_refresh_functions_have_none() {
    let Some(place) = place("dss-limit") else { return };
    let output = place.run(
        "bench dss d --server mariadb --scale 0.01 --streams 0 --query-limit 1ms --work-mem 1MiB \
         --quiet --json",
    );
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let run = &json(&output)["dss"]["runs"][0];
    let outcome = |name: &str| {
        let found = queries(run).iter().find(|query| query["name"] == name).unwrap();
        found["outcome"]["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(queries(run).len(), 24);
    // It reads sixty thousand rows, which nobody does in a millisecond.
    assert_eq!(outcome("Q1"), "over_limit");
    assert_eq!((outcome("RF1"), outcome("RF2")), ("complete".to_owned(), "complete".to_owned()));
}

#[test]
fn loaded_tables_are_found_again_and_half_loaded_ones_are_seen() {
    let Some(place) = place("dss-given") else { return };
    let server = given(&place.0.join("d"));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    let load = format!("bench dss {}", address(&server, "assay", server.daemon.password()));
    let refreshed = SMALL.replace("--no-refresh ", "");
    // An empty database of the user is used, and stays.
    connection.run("CREATE DATABASE assay_dss").unwrap();
    assert!(has_loaded(&place.run(&format!("{load} {SMALL}"))));
    assert_eq!(databases(&mut connection), ["assay_dss"]);
    connection.run("DROP DATABASE assay_dss").unwrap();
    assert!(has_loaded(&place.run(&format!("{load} {refreshed} --keep"))));
    assert!(!has_loaded(&place.run(&format!("{load} {refreshed}"))));
    assert_eq!(databases(&mut connection), ["assay_dss"]);
    refused(
        &place,
        &format!("{load} --scale 0.02 --streams 0 --quiet"),
        2,
        "have scale 0.01, not 0.02",
    );
    let row = connection
        .one(
            "SELECT (SELECT COUNT(*) FROM assay_dss.orders), (SELECT COUNT(*) FROM \
             assay_dss.orders WHERE (o_orderkey & 24) = 8), (SELECT value FROM \
             assay_dss.assay_manifest WHERE name = 'removed')",
        )
        .unwrap();
    assert_eq!((row.count(0), row.count(1), row.count(2)), (Some(15_000), Some(30), Some(2)));
    // The server frees the lock of the load before only when it has ended that load's session.
    let held = connection.one("SELECT GET_LOCK('assay_dss', 30)").unwrap();
    assert_eq!(held.count(0), Some(1));
    refused(&place, &format!("{load} {SMALL}"), 4, "another program");
    connection.run("SELECT RELEASE_LOCK('assay_dss')").unwrap();
    connection
        .run(
            "DROP TABLE assay_dss.part; ALTER TABLE assay_dss.orders DROP INDEX orders_customer; \
             DELETE FROM assay_dss.assay_manifest WHERE name IN ('part part 1', 'complete')",
        )
        .unwrap();
    refused(&place, &format!("{load} {SMALL}"), 4, "are incomplete");
    assert!(has_loaded(&place.run(&format!("{load} {SMALL} --partial-data resume"))));
    let parts = connection.one("SELECT COUNT(*) FROM assay_dss.part").unwrap();
    assert_eq!(parts.count(0), Some(2000));
    let indexes = "SELECT COUNT(DISTINCT TABLE_NAME, INDEX_NAME) FROM \
                   information_schema.STATISTICS WHERE TABLE_SCHEMA = 'assay_dss'";
    assert_eq!(connection.one(indexes).unwrap().count(0), Some(8 + 6 + 2));
    // What is loaded again is this run's own, and goes.
    assert!(has_loaded(&place.run(&format!("{load} {SMALL} --partial-data drop"))));
    assert_eq!(databases(&mut connection), Vec::<String>::new());
}

#[test]
fn an_interrupted_run_ends_its_sessions_and_keeps_its_queries() {
    let Some(place) = place("dss-interrupt") else { return };
    let server = given(&place.0.join("d"));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    let target = address(&server, "assay", server.daemon.password());
    let mut child = place
        .start(&format!("bench dss {target} --scale 0.01 --streams 2 --repeats 99 --json --quiet"));
    wait_for(|| kept(&place.0) > 3);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(kept(&place.0) > 3);
    assert_eq!(databases(&mut connection), Vec::<String>::new());
    let sessions = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'assay'";
    // Only the one that asks is left.
    wait_for(|| connection.one(sessions).unwrap().count(0) == Some(1));
}

#[test]
fn a_server_that_is_killed_ends_the_run_and_what_was_measured_stands() {
    let Some(place) = place("dss-crash") else { return };
    let mut child = place
        .start("bench dss d --server mariadb --scale 0.01 --streams 2 --repeats 99 --json --quiet");
    wait_for(|| kept(&place.0) > 30);
    for process in servers(&place) {
        assay_dbserver::processes::signal(process, Signal::KILL);
    }
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(kept(&place.0) > 30);
    assert_eq!((place.left().len(), servers(&place).len()), (0, 0));
}
