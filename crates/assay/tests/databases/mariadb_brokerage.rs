//! `assay bench brokerage` on MariaDB: that its books stay right, also when its server is killed,
//! that its transactions answer what those of PostgreSQL answer, and what it refuses. Without a
//! server the tests say that they were skipped.

use crate::brokerage::{BUSY, SMALL, Side, assert_alike};
use crate::mariadb::{databases, given, kill_server, own_address, place};
use crate::server::{Place, given_server, json, words};
use crate::transactions::{Given, assert_nothing_lost, assert_right, ios, killed};
use assay_dbload::load::{Calls, MariadbLink};
use assay_mariadb::connection::MariadbConnection;
use std::fs;
use std::time::Duration;

#[test]
fn all_transactions_happen_and_the_books_stay_right() {
    let Some(place) = place("brokerage-whole") else { return };
    fs::write(place.0.join("busy.mix.toml"), BUSY).unwrap();
    let output = place.run(&format!(
        "bench brokerage d {SMALL} --server mariadb --mix busy.mix.toml --sessions 1,4 --time 4s \
         --warm-up 500ms --restore-every 1 --verify"
    ));
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(
        (&load["kind"], &load["server"]["product"]),
        (&"brokerage".into(), &"MariaDB".into())
    );
    assert_right(load, 2);
    let rows = load["filled"]["rows"].as_u64().unwrap();
    assert!(rows > 200_000, "{rows}");
    for rung in load["steps"].as_array().unwrap() {
        assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
        let (orders, results) = (ios(rung, "trade order"), ios(rung, "trade result"));
        assert!(results <= orders + 50, "{orders} {results}");
    }
    assert_eq!(place.left().len(), 0);
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed_and_sessions_come_back() {
    let Some(place) = place("brokerage-kill") else { return };
    let load = format!(
        "bench brokerage d {SMALL} --server mariadb --sessions 3 --time 14s --warm-up 0s --mix \
         write-heavy --verify --on-loss reconnect"
    );
    let output = killed(&place, &load, Duration::from_secs(2), || kill_server(&place));
    assert_nothing_lost(&place, &output, "complete");
}

#[test]
fn a_given_server_keeps_what_is_to_be_kept_and_half_loaded_tables_are_seen() {
    let Some(place) = place("brokerage-given") else { return };
    let server = given(&place.0.join("d"));
    let address = own_address(&server);
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    for (more, word) in [
        ("--sessions 500", "max_connections"),
        ("--restore-every 1", "--restore-every"),
        ("--calls proc", "--calls proc"),
    ] {
        let output = place.run(&format!("bench brokerage {address} {more}"));
        assert!(words(&output).contains(word), "{}", words(&output));
    }
    let given = Given {
        place: &place,
        load: format!("bench brokerage {address} {SMALL} --sessions 2 --time 1s --warm-up 0s"),
        schema: "assay_brokerage",
        schemas: &|| databases(&mut MariadbConnection::open(&server.address()).unwrap()),
    };
    given.assert_kept();
    // Its open orders are cancelled first.
    given.assert_used();
    let halve =
        "DELETE FROM assay_brokerage.assay_manifest WHERE name IN ('complete', 'part address 1')";
    connection.run(halve).unwrap();
    given.assert_half_is_seen("finish");
    connection
        .run("CREATE DATABASE assay_brokerage; CREATE TABLE assay_brokerage.thesis (x int)")
        .unwrap();
    given.assert_foreign_stays();
}

#[test]
fn its_transactions_answer_and_do_what_those_of_postgresql_do() {
    let Some(place) = place("brokerage-alike") else { return };
    let Some(other) = Place::new("brokerage-and-mariadb") else { return };
    let (maria, postgres) = (given(&place.0.join("d")), given_server(&other.0.join("d")));
    let one = Side::<MariadbLink>::new(maria.address(), "assay_alike", Calls::Statements);
    let beside = Side::<assay_postgres::connection::PostgresConnection>::new(
        postgres.address("postgres"),
        "assay_alike",
        Calls::Statements,
    );
    assert_alike(one, beside);
}
