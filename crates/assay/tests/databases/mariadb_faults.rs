//! Loads on MariaDB where something is in their way: searches that would ask for too many sessions,
//! servers that are full or take no writes, and users without rights. Without a server the tests
//! say that they were skipped.

use crate::mariadb::{address, databases, given, own_address, place};
use crate::server::{on_small, words};
use crate::transactions::{assert_fills_up, assert_searches_end};
use assay_mariadb::connection::MariadbConnection;

/// Loads of all kinds that are as small as can be.
const LOADS: [&str; 4] =
    ["oltp", "brokerage --customers 200 --trade-days 1", "dss --scale 0.01", "slob --scale 8MiB"];

#[test]
fn searches_stay_within_what_a_server_takes_and_end_with_a_reason() {
    let Some(place) = place("search") else { return };
    let server = given(&place.0.join("d"));
    let load = format!(
        "bench oltp {} --time 1s --ramp 200ms --warm-up 200ms --keep --json --quiet",
        own_address(&server)
    );
    assert_searches_end(&place, &load);
}

#[test]
fn users_without_rights_and_servers_that_take_no_writes_are_told() {
    let Some(place) = place("rights") else { return };
    let server = given(&place.0.join("d"));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    connection
        .run(
            "CREATE USER guest@localhost IDENTIFIED BY 'x'; CREATE USER writer@localhost \
             IDENTIFIED BY 'x'; GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER \
             ON *.* TO writer@localhost",
        )
        .unwrap();
    for (user, word) in [("guest", "1044"), ("writer", "read-only")] {
        if user == "writer" {
            connection.run("SET GLOBAL read_only = ON").unwrap();
        }
        for load in LOADS {
            let output =
                place.run(&format!("bench {load} {} --quiet", address(&server, user, "x")));
            let words = words(&output);
            assert_eq!(output.status.code(), Some(4), "{user}, {load}: {words}");
            assert!(words.contains(word) && words.contains("hint: "), "{user}, {load}: {words}");
        }
    }
    assert_eq!(databases(&mut connection), Vec::<String>::new());
}

#[test]
fn a_storage_that_fills_up_while_tables_are_loaded_is_told() {
    let Some(place) = place("full-loading") else { return };
    on_small(&place, 760, || {
        let server = given(&place.0.join("d"));
        for load in ["oltp --warehouses 4", "dss --scale 0.3"] {
            let output = place.run(&format!("bench {load} {} --quiet", own_address(&server)));
            let words = words(&output);
            assert_eq!(output.status.code(), Some(4), "{load}: {words}");
            assert!(words.contains("hint: "), "{load}: {words}");
            // A server may end itself when a page finds no room: then it has no words for why.
            if words.contains("the server closed the connection") {
                return;
            }
            assert!(words.contains("space"), "{load}: {words}");
            // What was loaded may be needed no more, and the next load needs the room.
            let mut connection = MariadbConnection::open(&server.address()).unwrap();
            for name in databases(&mut connection) {
                connection.run(&format!("DROP DATABASE {name}")).unwrap();
            }
        }
    });
}

#[test]
fn a_storage_that_fills_up_while_it_is_measured_ends_and_what_was_measured_stands() {
    let Some(place) = place("fills") else { return };
    // A managed server and its tables want 1,161 MiB, and a twentieth must stay free.
    on_small(&place, 1400, || {
        let load = "bench oltp d --server mariadb --buffered --sessions 4 --time 6s --warm-up 0s \
                    --verify --json --quiet";
        assert_fills_up(&place, load);
    });
}
