//! `assay bench dss` on the servers that this machine has: what it measures, what it finds again,
//! how it fails, and that nothing stays behind. Without a server the tests say that they were
//! skipped.

use crate::dss::{
    ROWS, assert_complete, assert_ordered, has_loaded, kept, names, queries, refused,
};
use crate::server::{Place, address, given_server, json, schemas, wait_for, words};
use assay_postgres::connection::PostgresConnection;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// The smallest of all loads.
const SMALL: &str = "--scale 0.01 --streams 0 --parallel 0 --no-refresh --quiet --json";

#[test]
fn power_and_throughput_runs_ask_everything_once() {
    let Some(place) = Place::new("dss-whole") else {
        return;
    };
    let output = place.run("bench dss d --scale 0.01 --streams 2 --parallel 0,1 --json --quiet");
    let dss = &json(&output)["dss"];
    assert_eq!(dss["data"]["rows"], ROWS, "{}", words(&output));
    assert!(dss["notice"].as_str().unwrap().contains("not TPC results"));
    let runs = dss["runs"].as_array().unwrap();
    let kinds: Vec<_> =
        runs.iter().map(|run| (run["kind"].as_str(), run["parallel"].as_u64())).collect();
    let (power, throughput) = (Some("power"), Some("throughput"));
    assert_eq!(
        kinds,
        [(power, Some(0)), (throughput, Some(0)), (power, Some(1)), (throughput, Some(1))]
    );
    runs.iter().for_each(assert_complete);
    assert_ordered(&runs[0], &runs[1]);
    assert_eq!(names(&runs[1], None), ["RF1", "RF2", "RF1", "RF2"]);
    assert_eq!((place.left().len(), place.processes()), (0, 0));
    told_in_every_form(&place);
}

/// Text, page and CSV of the last run.
fn told_in_every_form(place: &Place) {
    let text = String::from_utf8_lossy(&place.run("report").stdout).into_owned();
    for word in ["not TPC results", "geometric mean", "queries/h", "2 streams, parallel 1", "RF2"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let relative = String::from_utf8_lossy(&place.run("report --relative").stdout).into_owned();
    assert!(relative.contains("not TPC results") && !relative.contains("MB/s"), "{relative}");
    let csv = String::from_utf8_lossy(&place.run("report --csv queries").stdout).into_owned();
    assert_eq!(csv.lines().count(), 1 + 2 * (24 + 48));
    assert_eq!(place.run("report --html page.html").status.code(), Some(0));
    let page = fs::read_to_string(place.0.join("page.html")).unwrap();
    assert!(page.contains("not TPC results") && page.contains("Time of every query"));
}

#[test]
fn a_load_is_judged_by_its_criteria() {
    let Some(place) = Place::new("dss-asked") else {
        return;
    };
    let criteria = "format = 1\nname = \"asked\"\n[[criterion]]\nquantity = \
                    \"load.query_time.geometric_mean\"\nat_most = \"1h\"\n[[criterion]]\nquantity \
                    = \"load.errors\"\nat_most = 0\n";
    fs::write(place.0.join("asked.toml"), criteria).unwrap();
    let load = format!("bench dss d {SMALL} --criteria asked.toml");
    let output = place.run(&format!("{load} --repeats 3"));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(json(&output)["verdict"]["outcome"], "PASS");
    let once = place.run(&load);
    assert_eq!(json(&once)["verdict"]["outcome"], "INCONCLUSIVE", "{}", words(&once));
    assert_eq!(json(&once)["verdict"]["judgements"][1]["outcome"], "PASS");
}

#[test]
fn queries_over_their_limit_are_cancelled_and_count() {
    let Some(place) = Place::new("dss-limit") else {
        return;
    };
    let output = place.run(&format!("bench dss d {SMALL} --query-limit 1ms"));
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let run = &json(&output)["dss"]["runs"][0];
    assert_eq!(queries(run).len(), 22);
    let over = queries(run).iter().filter(|query| query["outcome"]["kind"] == "over_limit");
    assert!(over.count() > 10, "{run}");
    let text = String::from_utf8_lossy(&place.run("report").stdout).into_owned();
    assert!(text.contains('≥') && text.contains("longer than their limit"), "{text}");
}

#[test]
fn loaded_tables_are_found_again_and_half_loaded_ones_are_seen() {
    let Some(place) = Place::new("dss-given") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let load = format!("bench dss {}", address(&server, None));
    let refreshed = SMALL.replace("--no-refresh ", "");
    assert!(has_loaded(&place.run(&format!("{load} {refreshed} --keep"))));
    assert_eq!(schemas(&server), ["assay_dss"]);
    assert!(!has_loaded(&place.run(&format!("{load} {refreshed}"))));
    assert_eq!(schemas(&server), ["assay_dss"]);
    refused(
        &place,
        &format!("{load} --scale 0.02 --streams 0 --quiet"),
        2,
        "have scale 0.01, not 0.02",
    );
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    let counted = "SELECT (SELECT count(*) FROM assay_dss.orders), (SELECT count(*) FROM \
                   assay_dss.orders WHERE o_orderkey & 24 = 8), (SELECT value FROM \
                   assay_dss.assay_manifest WHERE name = 'removed')";
    let row = connection.one(counted).unwrap();
    assert_eq!((row.count(0), row.count(1), row.count(2)), (Some(15_000), Some(30), Some(2)));
    held_by_another(&place, &mut connection, &load);
    connection
        .run(
            "DROP TABLE assay_dss.part; DROP INDEX assay_dss.orders_customer; DELETE FROM \
             assay_dss.assay_manifest WHERE name IN ('part part 1', 'complete')",
        )
        .unwrap();
    refused(&place, &format!("{load} {SMALL}"), 4, "are incomplete");
    assert!(has_loaded(&place.run(&format!("{load} {SMALL} --partial-data resume"))));
    let parts = connection.one("SELECT count(*) FROM assay_dss.part").unwrap();
    assert_eq!(parts.count(0), Some(2000));
    let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'assay_dss'";
    assert_eq!(connection.one(indexes).unwrap().count(0), Some(8 + 6 + 2));
    // What is loaded again is this run's own, and goes.
    assert!(has_loaded(&place.run(&format!("{load} {SMALL} --partial-data drop"))));
    assert_eq!(schemas(&server), Vec::<String>::new());
}

/// Ids of all runs, the oldest first.
fn ids(place: &Place) -> Vec<String> {
    let runs = fs::read_dir(place.0.join("assay-runs")).unwrap().filter_map(Result::ok);
    let mut all: Vec<String> = runs.map(|run| run.file_name().into_string().unwrap()).collect();
    // They begin with the moment at which they were made.
    all.sort();
    all
}

#[test]
fn two_loads_are_compared_query_by_query() {
    let Some(place) = Place::new("dss-compare") else {
        return;
    };
    for repeats in [2, 2, 1] {
        let output = place.run(&format!("bench dss d {SMALL} --repeats {repeats}"));
        assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    }
    let ids = ids(&place);
    let output = place.run(&format!("compare {} {} --json", ids[0], ids[1]));
    let measures = json(&output)["pairs"][0]["measures"].as_array().unwrap().clone();
    assert_eq!(measures.len(), 1 + 22, "{measures:?}");
    let judged: Vec<_> = measures.iter().filter(|measure| measure["judged"] == true).collect();
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0]["quantity"], "power.parallel0.query_time.geometric.mean");
    refused(&place, &format!("compare {} {}", ids[0], ids[2]), 2, "no interval");
}

fn held_by_another(place: &Place, connection: &mut PostgresConnection, load: &str) {
    connection.run("SELECT pg_advisory_lock(hashtext('assay_dss'))").unwrap();
    refused(place, &format!("{load} {SMALL}"), 4, "another program");
    connection.run("SELECT pg_advisory_unlock_all()").unwrap();
}

#[test]
fn an_interrupted_run_keeps_its_queries_and_leaves_nothing() {
    let Some(place) = Place::new("dss-interrupt") else {
        return;
    };
    let mut child = place.start("bench dss d --scale 0.01 --streams 2 --repeats 99 --json --quiet");
    wait_for(|| kept(&place.0) > 3);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(kept(&place.0) > 3);
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

#[test]
fn a_load_that_is_stopped_ends_at_once() {
    let Some(place) = Place::new("dss-stop") else {
        return;
    };
    let mut child = place.start("bench dss d --scale 1 --streams 0 --json --quiet");
    wait_for(|| place.processes() > 0 && !place.left().is_empty());
    std::thread::sleep(std::time::Duration::from_secs(4));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

#[test]
fn a_server_that_is_killed_ends_the_run_and_what_was_measured_stands() {
    let Some(place) = Place::new("dss-crash") else {
        return;
    };
    let mut child = place.start("bench dss d --scale 0.01 --streams 2 --repeats 99 --json --quiet");
    wait_for(|| kept(&place.0) > 30);
    place.kill_server(Signal::QUIT);
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(kept(&place.0) > 30);
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

#[test]
fn what_cannot_be_meant_is_told_and_leaves_no_run() {
    let Some(place) = Place::new("dss-refused") else {
        return;
    };
    for (arguments, code, word) in [
        ("nowhere", 2, "neither a directory"),
        ("d --scale 0", 2, "no scale"),
        ("d --scale 0.001", 2, "same one twice"),
        ("d --no-power --streams 0", 2, "nothing to measure"),
        ("d --bindir nowhere", 2, "no postgres"),
        ("d --scale 90000", 4, "space"),
        ("postgresql://127.0.0.1:1/x", 4, "connecting"),
    ] {
        refused(&place, &format!("bench dss {arguments}"), code, word);
        assert_eq!(place.left().len(), 0, "{arguments}");
    }
    let runs = fs::read_dir(place.0.join("assay-runs")).map_or(0, Iterator::count);
    assert_eq!(runs, 0);
}
