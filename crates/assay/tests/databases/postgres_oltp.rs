//! `assay bench oltp` on the servers that this machine has: what it measures, that its data stays
//! right, also when its server is killed, and how it fails. Without a server the tests say that
//! they were skipped.

use crate::server::{Place, address, given_server, json, schemas, words};
use crate::transactions::{Given, assert_nothing_lost, assert_right, ios, killed};
use assay_postgres::connection::PostgresConnection;
use rustix::process::Signal;
use std::time::Duration;

#[test]
fn both_ways_to_call_keep_the_data_right_and_the_mix_exact() {
    let Some(place) = Place::new("oltp-whole") else {
        return;
    };
    for calls in
        ["proc --sessions 1,3 --restore-every 1", "stmt --sessions 4 --partitions 2 --homes home"]
    {
        let output = place.run(&format!(
            "bench oltp d --calls {calls} --time 2s --warm-up 1s --verify --json --quiet"
        ));
        let load = &json(&output)["load"];
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert_eq!(load["kind"], "oltp");
        let rows = load["filled"]["rows"].as_u64().unwrap();
        // 299,011 rows and lines of 30,000 orders, 5 to 15 each, by the server's own statistics.
        assert!((585_000..=613_000).contains(&rows), "{rows}");
        assert_right(load, 2);
        for rung in load["steps"].as_array().unwrap() {
            let (orders, payments) = (ios(rung, "new order"), ios(rung, "payment"));
            let back = ios(rung, "rolled back order");
            let users = rung["sessions"].as_u64().unwrap();
            assert!(orders + payments > 0, "{rung}");
            // Each session deals whole decks of ten and ten: two may be begun at both ends of the
            // time.
            assert!((orders + back).abs_diff(payments) <= 20 * users, "{orders} {back} {payments}");
            assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
        }
        assert_eq!(place.left().len(), 0);
    }
}

#[test]
fn arrivals_that_are_due_count_from_then() {
    let Some(place) = Place::new("oltp-rate") else {
        return;
    };
    let output = place.run(
        "bench oltp d --sessions 2 --rate 50 --arrival constant --time 3s --warm-up 1s \
         --isolation serializable --json --quiet",
    );
    let load = &json(&output)["load"];
    let rung = &load["steps"][0];
    let all: u64 =
        ["new order", "payment", "order status", "delivery", "stock level", "rolled back order"]
            .iter()
            .map(|stream| ios(rung, stream))
            .sum();
    let late = rung["backlog"].as_u64().unwrap();
    // A busy machine may be late, but nothing that was due is lost: 150 and the one at the start.
    assert!((145..=155).contains(&(all + late)), "{all} {late}");
    let result = &rung["measurement"]["streams"][0]["operations"]["write"];
    assert!(result["response"].is_string() || result["response"].is_object(), "{result}");
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let Some(place) = Place::new("oltp-kill") else {
        return;
    };
    let load = "bench oltp d --sessions 4 --time 60s --warm-up 0s --verify --json --quiet";
    let after = Duration::from_millis(1200);
    let output = killed(&place, load, after, || place.kill_server(Signal::KILL));
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert!(assert_nothing_lost(&place, &output, "failed") > 0);
}

/// One that recovers by itself is waited for.
#[test]
fn nothing_acknowledged_is_lost_when_a_process_of_the_server_is_killed() {
    let Some(place) = Place::new("oltp-crash") else {
        return;
    };
    let load = "bench oltp d --sessions 3 --time 60s --warm-up 0s --verify --json --quiet";
    let output = killed(&place, load, Duration::from_millis(1200), || place.kill_session());
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert_nothing_lost(&place, &output, "failed");
}

#[test]
fn sessions_come_back_with_the_server() {
    let Some(place) = Place::new("oltp-back") else {
        return;
    };
    let load = "bench oltp d --sessions 3 --time 12s --warm-up 0s --verify --on-loss reconnect \
                --json --quiet";
    let after = Duration::from_millis(2500);
    let output = killed(&place, load, after, || place.kill_server(Signal::KILL));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_nothing_lost(&place, &output, "complete");
}

#[test]
fn what_cannot_be_meant_is_told() {
    let Some(place) = Place::new("oltp-refused") else {
        return;
    };
    for (arguments, code, word) in [
        ("bench oltp nowhere", 2, "neither a directory"),
        ("bench oltp d --warehouses 0", 2, "--warehouses"),
        ("bench oltp d --rate 0", 2, "--rate"),
        ("bench oltp d --rate 5 --think 100%", 2, "contradict"),
        ("bench oltp d --schema Upper", 2, "lowercase"),
        ("bench oltp d --quantile 1.5", 2, "quantile"),
        ("bench oltp d --warehouses 100000", 4, "space"),
        ("bench oltp postgresql://127.0.0.1:1/x", 4, "connecting"),
    ] {
        let output = place.run(arguments);
        let words = words(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {words}");
        assert!(words.contains(word), "{arguments}: {words}");
        assert_eq!(place.left().len(), 0, "{arguments}");
    }
}

#[test]
fn a_given_server_keeps_what_is_to_be_kept_and_half_loaded_tables_are_seen() {
    let Some(place) = Place::new("oltp-given") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let known = server.address("postgres");
    let address = address(&server, None);
    let short = "--sessions 2 --time 1s --warm-up 0s --quiet --json";
    let mut connection = PostgresConnection::open(&known, "test").unwrap();

    let output = place.run(&format!("bench oltp {address} --sessions 500 --time 1s"));
    assert_eq!(output.status.code(), Some(4));
    assert!(words(&output).contains("max_connections"), "{}", words(&output));

    let given = Given {
        place: &place,
        load: format!("bench oltp {address} {short}"),
        schema: "assay_oltp",
        schemas: &|| schemas(&server),
    };
    given.assert_kept();
    given.assert_used();
    let output = place.run(&format!("bench oltp {address} {short} --warehouses 2"));
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("1 warehouses, but 2"), "{}", words(&output));

    let halve = "DELETE FROM assay_oltp.assay_manifest WHERE name IN ('complete', 'part stock \
                 1'); DROP TABLE assay_oltp.stock; DROP FUNCTION assay_oltp.place_order, \
                 assay_oltp.pay, assay_oltp.last_order, assay_oltp.deliver, assay_oltp.low_stock";
    connection.run(halve).unwrap();
    given.assert_half_is_seen("finish");
    connection.run("CREATE SCHEMA assay_oltp; CREATE TABLE assay_oltp.thesis (x int)").unwrap();
    given.assert_foreign_stays();

    let output = place.run(&format!(
        "bench oltp {address} --sessions 1,2 --time 1s --warm-up 0s --quiet --json \
         --restore-every 1 --schema assay_copy --verify"
    ));
    assert_right(&json(&output)["load"], 2);
    let databases = "SELECT datname FROM pg_database WHERE datname LIKE 'assay%'";
    assert!(connection.query(databases).unwrap().is_empty());
}
