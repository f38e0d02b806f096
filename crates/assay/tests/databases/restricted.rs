//! Accounts as most companies hand them out: one empty schema or database, and no right beyond it.
//! Every load runs in it and leaves it empty; the right that lacks is named.

use crate::mariadb;
use crate::server::{Place, given_server, words};
use assay_mariadb::connection::MariadbConnection;
use assay_postgres::connection::PostgresConnection;

const PASSWORD: &str = "only-for-tests";
/// Every load, as short as it goes.
const LOADS: [(&str, &str); 4] = [
    ("slob", "--scale 8MiB --sessions 1 --time 300ms --update-pct 20"),
    ("oltp", "--sessions 1 --time 300ms --warm-up 0s --calls stmt"),
    ("dss", "--scale 0.01 --streams 0"),
    ("brokerage", "--sessions 1 --time 300ms --warm-up 0s"),
];
/// What every load needs on a database of MariaDB or MySQL, as the manual has it.
const RIGHTS: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER"];

fn load(place: &Place, address: &str, (load, options): (&str, &str), more: &str) -> (bool, String) {
    let output = place.run(&format!("bench {load} {address} {options} --quiet {more}"));
    (matches!(output.status.code(), Some(0 | 3)), words(&output))
}

fn number(connection: &mut PostgresConnection, sql: &str) -> u64 {
    connection.one(sql).unwrap().count(0).unwrap()
}

const OBJECTS: &str = "SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass \
                       AND refobjid = 'app'::regnamespace";

#[test]
fn an_empty_schema_of_the_account_is_enough_for_every_load_and_left_empty() {
    let Some(place) = Place::new("restricted") else { return };
    let server = given_server(&place.0.join("d"));
    let mut owner = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    owner
        .run(&format!(
            "CREATE ROLE app LOGIN PASSWORD '{PASSWORD}'; CREATE SCHEMA app AUTHORIZATION app; \
             CREATE SCHEMA theirs"
        ))
        .unwrap();
    let data = server.daemon.data();
    let address = format!("postgresql://app:{PASSWORD}@/postgres?host={}", data.display());
    for each in LOADS {
        let (is_done, said) = load(&place, &address, each, "--schema app");
        assert!(is_done, "{each:?}: {said}");
        assert_eq!(number(&mut owner, OBJECTS), 0, "{each:?}");
    }
    // What was kept is used again, and goes when that is asked for; the schema stays.
    assert!(load(&place, &address, LOADS[0], "--schema app --keep").0);
    assert!(number(&mut owner, OBJECTS) > 0);
    assert!(load(&place, &address, LOADS[0], "--schema app --partial-data drop").0);
    assert_eq!(number(&mut owner, OBJECTS), 0);
    for (more, word) in [("", "with --schema"), ("--schema theirs", "is of the user assay")] {
        let (is_done, said) = load(&place, &address, LOADS[0], more);
        assert!(!is_done && said.contains(word), "{more}: {said}");
    }
    owner.run("CREATE TABLE app.thesis (x int)").unwrap();
    let (is_done, said) = load(&place, &address, LOADS[1], "--schema app --partial-data drop");
    assert!(!is_done && said.contains("no owner record"), "{said}");
    assert_eq!(number(&mut owner, "SELECT count(*) FROM app.thesis"), 0);
}

#[test]
fn an_empty_database_is_enough_for_every_load_and_the_right_that_lacks_is_named() {
    let Some(place) = mariadb::place("restricted") else { return };
    let server = mariadb::given(&place.0.join("d"));
    let mut owner = MariadbConnection::open(&server.address()).unwrap();
    owner.run("CREATE DATABASE shop CHARACTER SET utf8mb4").unwrap();
    let address = mariadb::address(&server, "app", PASSWORD);
    let grant = |owner: &mut MariadbConnection, rights: &[&str]| {
        owner
            .run(&format!(
                "CREATE OR REPLACE USER app@localhost IDENTIFIED BY '{PASSWORD}'; GRANT {} ON \
                 shop.* TO app@localhost",
                rights.join(", ")
            ))
            .unwrap();
    };
    let objects = |owner: &mut MariadbConnection| {
        let sql = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'";
        owner.one(sql).unwrap().count(0).unwrap()
    };
    grant(&mut owner, &RIGHTS);
    for each in LOADS {
        let (is_done, said) = load(&place, &address, each, "--schema shop");
        assert!(is_done, "{each:?}: {said}");
        assert_eq!(objects(&mut owner), 0, "{each:?}");
    }
    let (is_done, said) = load(&place, &address, LOADS[0], "");
    assert!(!is_done && said.contains("with --schema"), "{said}");
    for missing in RIGHTS {
        let others: Vec<&str> = RIGHTS.into_iter().filter(|right| *right != missing).collect();
        grant(&mut owner, &others);
        let (is_done, said) = load(&place, &address, LOADS[3], "--schema shop");
        assert!(!is_done && said.contains(&format!("{missing} command denied")), "{said}");
        // Who may not read or drop cannot clean up.
        if !["SELECT", "DROP"].contains(&missing) {
            assert_eq!(objects(&mut owner), 0, "{missing}");
        }
        owner.run("DROP DATABASE shop; CREATE DATABASE shop CHARACTER SET utf8mb4").unwrap();
    }
    // Procedures have rights of their own.
    let procedures = ("oltp", "--sessions 1 --time 300ms --warm-up 0s");
    grant(&mut owner, &RIGHTS);
    let (is_done, said) = load(&place, &address, procedures, "--schema shop");
    assert!(!is_done && said.contains("CREATE ROUTINE"), "{said}");
    grant(&mut owner, &[&RIGHTS[..], &["CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE"]].concat());
    let (is_done, said) = load(&place, &address, procedures, "--schema shop --partial-data drop");
    assert!(is_done, "{said}");
    assert_eq!(objects(&mut owner), 0);
}
