//! `assay load oltp` on MariaDB: that its data stays right, also when its server is killed, and what it refuses. Without a
//! server the tests say that they were skipped.

use crate::mariadb::{databases, given, kill_server, own_address, place};
use crate::server::{json, wait_for, words};
use crate::transactions::{assert_right, has_intervals, ios};
use assay_mariadb::connection::Connection;
use std::fs;
use std::time::Duration;

#[test]
fn the_data_stays_right_and_the_mix_exact() {
    let Some(place) = place("oltp-whole") else { return };
    let output = place.run(
        "load oltp d --server mariadb --users 1,4 --restore-every 1 --partitions 2 --time 2s --warm-up 1s --verify --json --quiet",
    );
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!((&load["method"], &load["server"]["product"]), (&"oltp".into(), &"MariaDB".into()));
    assert_right(load, 2);
    for rung in load["rungs"].as_array().unwrap() {
        let (orders, payments) = (ios(rung, "new order"), ios(rung, "payment"));
        let back = ios(rung, "rolled back order");
        let users = rung["sessions"].as_u64().unwrap();
        // However busy the machine is, what happens in two seconds is some of it.
        assert!(orders + payments > 0, "{rung}");
        // Each session deals whole decks of ten and ten: two may be begun at both ends of the time.
        assert!((orders + back).abs_diff(payments) <= 20 * users, "{orders} {back} {payments}");
        assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
        // A transaction is one commit, however many statements it has.
        let all: u64 = ["new order", "payment", "order status", "delivery", "stock level"]
            .iter()
            .map(|stream| ios(rung, stream))
            .sum();
        let commits = rung["database"]["commits"].as_u64().unwrap();
        assert!(commits >= all && commits <= all * 2 + 200, "{commits} of {all}");
    }
    assert_eq!(place.left().len(), 0);
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed_and_sessions_come_back() {
    let Some(place) = place("oltp-kill") else { return };
    for (options, finish) in
        [("--time 60s", "failed"), ("--time 14s --on-loss reconnect", "complete")]
    {
        let _ = fs::remove_dir_all(place.0.join("assay-runs"));
        let mut command = place.command(&format!(
            "load oltp d --server mariadb --users 3 --warm-up 0s --verify --json --quiet {options}"
        ));
        let child = command.spawn().unwrap();
        wait_for(|| has_intervals(&place.0));
        std::thread::sleep(Duration::from_secs(2));
        kill_server(&place);
        let output = child.wait_with_output().unwrap();
        let load = &json(&output)["load"];
        assert_right(load, 2);
        let rung = &load["rungs"][0];
        assert_eq!(rung["measurement"]["finish"]["outcome"], finish, "{}", words(&output));
        assert!(!rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
        assert!(load["commits"][0]["acknowledged"].as_u64().unwrap() > 20, "{load}");
        assert_eq!(place.left().len(), 0);
    }
}

#[test]
fn a_given_server_keeps_what_is_to_be_kept_and_half_loaded_tables_are_seen() {
    let Some(place) = place("oltp-given") else { return };
    let server = given(&place.0.join("d"));
    let address = own_address(&server);
    let short = "--users 2 --time 1s --warm-up 0s --quiet --json";
    let mut connection = Connection::open(&server.address()).unwrap();
    for (more, word) in [
        ("--users 500", "max_connections"),
        ("--restore-every 1", "--restore-every"),
        ("--calls proc", "--calls proc"),
    ] {
        let output = place.run(&format!("load oltp {address} {more}"));
        assert!(words(&output).contains(word), "{}", words(&output));
    }
    let output = place.run(&format!("load oltp {address} {short} --keep --verify"));
    assert_right(&json(&output)["load"], 2);
    assert_eq!(databases(&mut connection), ["assay_oltp"]);
    // Used as it is, and left as it was found.
    let output = place.run(&format!("load oltp {address} {short}"));
    assert!(json(&output)["load"]["filled"].is_null(), "{}", words(&output));
    let halve = "DELETE FROM assay_oltp.assay_manifest WHERE name IN ('complete', 'table:stock')";
    connection.run(halve).unwrap();
    let output = place.run(&format!("load oltp {address} {short}"));
    assert!(words(&output).contains("broken off") && words(&output).contains("--left finish"));
    let output = place.run(&format!("load oltp {address} {short} --left finish --verify"));
    assert_right(&json(&output)["load"], 2);
    assert_eq!(databases(&mut connection), Vec::<String>::new());
    connection.run("CREATE DATABASE assay_oltp").unwrap();
    let output = place.run(&format!("load oltp {address} {short} --left drop"));
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert_eq!(databases(&mut connection), ["assay_oltp"]);
}
