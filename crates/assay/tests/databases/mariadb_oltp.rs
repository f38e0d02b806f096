//! `assay bench oltp` on MariaDB: that its data stays right, also when its server is killed, and
//! what it refuses. Without a server the tests say that they were skipped.

use crate::mariadb::{address, databases, given, kill_server, own_address, place};
use crate::server::{json, wait_for, words};
use crate::transactions::{
    Given, assert_nothing_lost, assert_right, assert_tried_again, has_intervals, ios, killed,
};
use assay_mariadb::connection::MariadbConnection;
use serde_json::Value;
use std::fs;
use std::process::Output;
use std::time::Duration;

#[test]
fn the_data_stays_right_and_the_mix_exact_however_it_is_called() {
    let Some(place) = place("oltp-whole") else { return };
    for (calls, words_for) in [("", "procedures of the server"), ("--calls stmt", "statements")] {
        let output = place.run(&format!(
            "bench oltp d --server mariadb --sessions 1,4 --restore-every 1 --partitions 2 --time \
             2s --warm-up 1s --verify --json --quiet {calls}"
        ));
        let load = &json(&output)["load"];
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let server = &load["server"];
        assert_eq!((&load["kind"], &server["product"]), (&"oltp".into(), &"MariaDB".into()));
        assert!(load["access"].as_str().unwrap().contains(words_for), "{load}");
        assert_right(load, 2);
        for rung in load["steps"].as_array().unwrap() {
            has_the_mix(rung);
        }
        assert_eq!(place.left().len(), 0);
    }
}

/// Each session deals whole decks, and each transaction is one commit.
fn has_the_mix(rung: &Value) {
    let (orders, payments) = (ios(rung, "new order"), ios(rung, "payment"));
    let back = ios(rung, "rolled back order");
    let users = rung["sessions"].as_u64().unwrap();
    // However busy the machine is, what happens in two seconds is some of it.
    assert!(orders + payments > 0, "{rung}");
    // Decks have ten and ten: two may be begun at both ends of the time.
    assert!((orders + back).abs_diff(payments) <= 20 * users, "{orders} {back} {payments}");
    assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
    let streams = ["new order", "payment", "order status", "delivery", "stock level"];
    let all: u64 = streams.iter().map(|stream| ios(rung, stream)).sum();
    let commits = rung["database"]["commits"].as_u64().unwrap();
    // However many statements a transaction has.
    assert!(commits >= all && commits <= all * 2 + 200, "{commits} of {all}");
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed_and_sessions_come_back() {
    let Some(place) = place("oltp-kill") else { return };
    for (options, finish) in [
        ("--time 60s --calls stmt", "failed"),
        ("--time 14s --calls proc --on-loss reconnect", "complete"),
    ] {
        let _ = fs::remove_dir_all(place.0.join("assay-runs"));
        let load = format!(
            "bench oltp d --server mariadb --sessions 3 --warm-up 0s --verify --json --quiet \
             {options}"
        );
        let output = killed(&place, &load, Duration::from_secs(2), || kill_server(&place));
        assert!(assert_nothing_lost(&place, &output, finish) > 0);
    }
}

#[test]
fn sessions_in_each_others_way_try_again_and_lose_nothing() {
    let Some(place) = place("oltp-storm") else { return };
    for calls in ["proc", "stmt"] {
        let load = format!("bench oltp d --server mariadb --warehouses 1 --calls {calls}");
        assert_tried_again(&place, &load, &["1213", "1205", "1020"]);
    }
}

/// What a statement counts.
fn counted(connection: &mut MariadbConnection, sql: &str) -> u64 {
    connection.one(sql).unwrap().count(0).unwrap()
}

#[test]
fn payments_note_down_where_they_were_made_however_it_is_called() {
    let Some(place) = place("oltp-payments") else { return };
    let server = given(&place.0.join("d"));
    let address = own_address(&server);
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    let mut before = 30_000;
    for calls in ["stmt", "proc"] {
        let output = place.run(&format!(
            "bench oltp {address} --warehouses 1 --sessions 2 --calls {calls} --time 2s --warm-up \
             0s --keep --verify --quiet --json"
        ));
        assert_right(&json(&output)["load"], 2);
        let noted = "SELECT COUNT(*) FROM assay_oltp.history JOIN assay_oltp.warehouse ON w_id = \
                     h_w_id JOIN assay_oltp.district ON d_w_id = h_w_id AND d_id = h_d_id WHERE \
                     h_data = CONCAT(w_name, '    ', d_name)";
        let all = counted(&mut connection, "SELECT COUNT(*) FROM assay_oltp.history");
        assert!(all > before, "{calls}: {all}");
        // Those of the first state have a text that says nothing.
        assert_eq!(counted(&mut connection, noted), all - 30_000, "{calls}");
        before = all;
    }
}

#[test]
fn what_is_executed_behind_a_refused_statement_is_taken_back() {
    let Some(place) = place("oltp-refused") else { return };
    let server = given(&place.0.join("d"));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    connection.run("SET GLOBAL innodb_lock_wait_timeout = 1").unwrap();
    let mut command = place.command(&format!(
        "bench oltp {} --warehouses 1 --sessions 3 --calls stmt --time 6s --warm-up 0s --keep \
         --verify --json --quiet",
        own_address(&server)
    ));
    let child = command.spawn().unwrap();
    wait_for(|| has_intervals(&place.0));
    // Nobody gets a number of an order; what needs none goes on behind that.
    wait_for(|| {
        let held = connection
            .run("START TRANSACTION; SELECT COUNT(*) FROM assay_oltp.district FOR UPDATE");
        held.is_ok()
    });
    std::thread::sleep(Duration::from_millis(2500));
    connection.run("ROLLBACK").unwrap();
    let output = child.wait_with_output().unwrap();
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_right(load, 2);
    for retries in load["steps"][0]["retries"].as_array().into_iter().flatten() {
        let meaning = retries["meaning"].as_str().unwrap();
        assert!(["1213", "1205"].iter().any(|code| meaning.contains(code)), "{meaning}");
    }
}

#[test]
fn a_given_server_keeps_what_is_to_be_kept_and_half_loaded_tables_are_seen() {
    let Some(place) = place("oltp-given") else { return };
    let server = given(&place.0.join("d"));
    let address = own_address(&server);
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    for (more, word) in
        [("--sessions 500", "max_connections"), ("--restore-every 1", "--restore-every")]
    {
        let output = place.run(&format!("bench oltp {address} {more}"));
        assert!(words(&output).contains(word), "{}", words(&output));
    }
    let given = Given {
        place: &place,
        load: format!("bench oltp {address} --sessions 2 --time 1s --warm-up 0s --quiet --json"),
        schema: "assay_oltp",
        schemas: &|| databases(&mut MariadbConnection::open(&server.address()).unwrap()),
    };
    given.assert_kept();
    given.assert_used();
    let halve = "DELETE FROM assay_oltp.assay_manifest WHERE name IN ('complete', 'part stock 1')";
    connection.run(halve).unwrap();
    given.assert_half_is_seen("finish");
    connection.run("CREATE DATABASE assay_oltp; CREATE TABLE assay_oltp.thesis (x int)").unwrap();
    given.assert_foreign_stays();
}

/// Names of our procedures with the moments at which they were made.
fn procedures(connection: &mut MariadbConnection) -> Vec<(String, String)> {
    let rows = connection
        .query(
            "SELECT ROUTINE_NAME, CREATED FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = \
             'assay_oltp' ORDER BY ROUTINE_NAME",
        )
        .unwrap();
    rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned())).collect()
}

#[test]
fn procedures_are_made_once_and_a_user_who_may_not_is_told_the_right() {
    let Some(place) = place("oltp-rights") else { return };
    let server = given(&place.0.join("d"));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    let tables = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER";
    for (user, rights) in [
        ("plain", tables.to_owned()),
        ("maker", format!("{tables}, CREATE ROUTINE")),
        ("caller", format!("{tables}, EXECUTE")),
    ] {
        connection.run(&format!("CREATE USER {user} IDENTIFIED BY 'geheim'")).unwrap();
        connection.run(&format!("GRANT {rights} ON assay_oltp.* TO {user}")).unwrap();
    }
    let short = "--sessions 1 --time 500ms --warm-up 0s --quiet --json";
    let load = |user: &str, more: &str| {
        let address = address(&server, user, "geheim");
        place.run(&format!("bench oltp {address} {short} {more}"))
    };
    let is_refused = |user: &str, right: &str| {
        let refused = load(user, "");
        let said = words(&refused);
        assert_eq!(refused.status.code(), Some(4), "{said}");
        assert!(said.contains(right) && said.contains("--calls stmt"), "{said}");
    };
    let is_right = |output: &Output| assert_right(&json(output)["load"], 2);
    is_refused("plain", "CREATE ROUTINE");
    // Nothing was loaded for nothing, and without procedures it goes.
    assert_eq!(databases(&mut connection), Vec::<String>::new());
    is_right(&load("plain", "--calls stmt --keep --verify"));
    assert!(procedures(&mut connection).is_empty());
    // Who may make them makes them on tables that have none, and the next takes them as they are.
    is_right(&load("maker", "--verify"));
    let first = procedures(&mut connection);
    assert_eq!(first.len(), 5, "{first:?}");
    is_right(&load("caller", "--verify"));
    assert_eq!(procedures(&mut connection), first);
    is_refused("plain", "EXECUTE");
    // Those of another program are made again by who may.
    connection
        .run(
            "UPDATE assay_oltp.assay_manifest SET value = 'older' WHERE name = 'procedures'; DROP \
             PROCEDURE assay_oltp.pay; CREATE PROCEDURE assay_oltp.pay() SELECT 1",
        )
        .unwrap();
    is_refused("maker", "ALTER ROUTINE");
    let own = own_address(&server);
    is_right(&place.run(&format!("bench oltp {own} {short} --verify")));
    let output = place.run(&format!("bench oltp {own} {short} --partial-data drop"));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(databases(&mut connection), Vec::<String>::new());
}
