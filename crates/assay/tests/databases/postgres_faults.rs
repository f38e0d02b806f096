//! `assay bench oltp` where something is in its way: searches and waits that barely do anything,
//! servers that are full, take few sessions or take no writes, and sessions that stand in each
//! other's way. Without a server the tests say that they were skipped.

use crate::server::{Place, address, given_server, json, on_small, schemas, words};
use crate::transactions::{assert_fills_up, assert_right, assert_searches_end, assert_tried_again};
use assay_postgres::connection::PostgresConnection;

#[test]
fn searches_stay_within_what_a_server_takes_and_end_with_a_reason() {
    let Some(place) = Place::new("oltp-search") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let load = format!(
        "bench oltp {} --time 1s --ramp 200ms --warm-up 200ms --keep --json --quiet",
        address(&server, None)
    );
    assert_searches_end(&place, &load);
}

#[test]
fn sessions_that_think_longer_than_the_rung_do_nothing_and_that_is_a_result() {
    let Some(place) = Place::new("oltp-think") else {
        return;
    };
    // The shortest keying is two seconds, and think times come before the first transaction.
    let output = place.run(
        "bench oltp d --sessions 40 --think 100% --time 1s --warm-up 0s --verify --json --quiet",
    );
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_right(load, 2);
    assert!(load["steps"][0]["measurement"]["errors"].as_array().unwrap().is_empty(), "{load}");
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

#[test]
fn sessions_in_each_others_way_try_again_and_lose_nothing() {
    let Some(place) = Place::new("oltp-storm") else {
        return;
    };
    assert_tried_again(&place, "bench oltp d --warehouses 1", &["40001", "40P01"]);
}

#[test]
fn a_server_that_takes_no_writes_is_told() {
    let Some(place) = Place::new("oltp-readonly") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    connection.run("ALTER DATABASE postgres SET default_transaction_read_only = on").unwrap();
    for load in ["oltp", "dss --scale 0.01", "slob --scale 8MiB"] {
        let output = place.run(&format!("bench {load} {}", address(&server, None)));
        let words = words(&output);
        assert_eq!(output.status.code(), Some(4), "{load}: {words}");
        assert!(words.contains("read-only") && words.contains("hint: "), "{load}: {words}");
    }
    assert_eq!(schemas(&server), Vec::<String>::new());
}

#[test]
fn a_storage_that_fills_up_while_tables_are_loaded_is_told() {
    let Some(place) = Place::new("oltp-full") else {
        return;
    };
    on_small(&place, 100, || {
        let server = given_server(&place.0.join("d"));
        for load in ["oltp", "dss --scale 0.1"] {
            let output = place.run(&format!("bench {load} {}", address(&server, None)));
            let words = words(&output);
            assert_eq!(output.status.code(), Some(4), "{load}: {words}");
            assert!(words.contains("space") && words.contains("hint: "), "{load}: {words}");
        }
    });
}

#[test]
fn a_storage_that_fills_up_while_it_is_measured_ends_the_load_and_what_was_measured_stands() {
    let Some(place) = Place::new("oltp-fills") else {
        return;
    };
    // A managed server and its tables want 1,161 MiB, and a twentieth must stay free.
    on_small(&place, 1400, || {
        let load =
            "bench oltp d --buffered --sessions 4 --time 60s --warm-up 0s --verify --json --quiet";
        assert_fills_up(&place, load);
    });
}
