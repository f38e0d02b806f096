//! That a load drops and changes nothing on a given server but what its own runs made, and that a
//! server of its own reaches nothing of the superuser who started it.

use crate::mariadb;
use crate::server::{Place, address, given_server, kept, schemas, wait_for, words};
use assay_postgres::connection::PostgresConnection;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SLOB: &str = "--scale 8MiB --sessions 1 --time 300ms";
const OLTP: &str = "--sessions 1 --time 300ms --warm-up 0s";

/// Made by the user, as he would see it: one value of each thing that must stay.
fn values(connection: &mut PostgresConnection, all: &[&str]) -> Vec<String> {
    all.iter().map(|sql| connection.one(sql).unwrap().text(0).to_owned()).collect()
}

/// Y01 and its like: schemas of the user with names as loads have them, each with what hangs on it.
#[test]
fn schemas_and_databases_of_the_user_stay_whatever_they_are_called() {
    let Some(place) = Place::new("safety-names") else { return };
    let server = given_server(&place.0.join("d"));
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    let address = address(&server, None);
    for schema in ["assay_slob_2024", "assay_oltp", "assay_dss", "assay_brokerage", "mine"] {
        connection
            .run(&format!(
                "CREATE SCHEMA {schema}; CREATE TABLE {schema}.stock AS SELECT 42 AS x; CREATE \
                 TABLE {schema}.assay_manifest (name text, value text); CREATE VIEW \
                 public.of_{schema} AS SELECT x FROM {schema}.stock"
            ))
            .unwrap();
    }
    connection.run("CREATE DATABASE prod").unwrap();
    connection.run("CREATE DATABASE copied_loaded").unwrap();
    let seen: Vec<String> =
        ["assay_slob_2024", "assay_oltp", "assay_dss", "assay_brokerage", "mine"]
            .iter()
            .map(|schema| format!("SELECT x FROM public.of_{schema}"))
            .collect();
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    let table = [
        (
            format!("bench slob {address} {SLOB} --partial-data drop"),
            "assay_slob_2024 is left unchanged",
        ),
        (format!("bench oltp {address} {OLTP}"), "the schema assay_oltp exists"),
        (format!("bench oltp {address} {OLTP} --partial-data drop"), "no owner record"),
        (format!("bench oltp {address} {OLTP} --partial-data resume"), "no owner record"),
        (
            format!("bench oltp {address} {OLTP} --schema mine --partial-data drop"),
            "the schema mine exists",
        ),
        (
            format!("bench dss {address} --scale 0.01 --partial-data drop"),
            "the schema assay_dss exists",
        ),
        (
            format!("bench brokerage {address} {OLTP} --partial-data drop"),
            "the schema assay_brokerage exists",
        ),
        (
            format!("bench oltp {address} {OLTP} --schema prod --restore-every 1"),
            "the database prod exists",
        ),
        (
            format!("bench oltp {address} {OLTP} --schema copied --restore-every 1"),
            "the database copied_loaded exists",
        ),
        (format!("runs clean {address} --yes"), "there is nothing to remove"),
    ];
    for (command, word) in table {
        let output = place.run(&command);
        let said = words(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(word), "{command}: {said}");
        assert_eq!(values(&mut connection, &seen), ["42"; 5], "{command}");
    }
    let databases =
        "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE NOT datistemplate";
    assert_eq!(values(&mut connection, &[databases]), ["copied_loaded postgres prod"]);
}

/// A load that was killed after it had made its schema.
fn killed(place: &Place, address: &str, mut name: impl FnMut() -> Vec<String>) -> String {
    // What earlier loads of the test kept says nothing of this one.
    let _ = fs::remove_dir_all(place.0.join("assay-runs"));
    let mut child =
        place.start(&format!("bench slob {address} --scale 8MiB --sessions 1 --time 60s"));
    wait_for(|| kept(&place.0, "sessions-0001-r1/intervals.jsonl"));
    child.kill().unwrap();
    child.wait().unwrap();
    name().into_iter().find(|name| name.starts_with("assay_slob_")).unwrap()
}

#[test]
fn what_a_killed_load_left_is_named_and_goes_only_with_nothing_of_others_in_it() {
    let Some(place) = Place::new("safety-left") else { return };
    let server = given_server(&place.0.join("d"));
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    let address = address(&server, None);
    let left = killed(&place, &address, || schemas(&server));
    let load = format!("bench slob {address} {SLOB}");
    let said = words(&place.run(&load));
    assert!(said.contains(&format!("left the schema {left} (")), "{said}");
    assert_eq!(schemas(&server), [left.as_str()]);
    // What would go with it, one kind after the other: it is named, and all stays.
    for (make, undo, word) in [
        ("CREATE VIEW v AS SELECT custid FROM {s}.cf1", "DROP VIEW v", "the view v"),
        ("CREATE TABLE {s}.thesis (x int)", "DROP TABLE {s}.thesis", "the table thesis"),
        (
            "CREATE FUNCTION {s}.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "DROP FUNCTION {s}.f",
            "the function f",
        ),
        ("CREATE SEQUENCE {s}.numbers", "DROP SEQUENCE {s}.numbers", "the sequence numbers"),
        ("CREATE TYPE {s}.pair AS (x int)", "DROP TYPE {s}.pair", "the type pair"),
        ("CREATE DOMAIN {s}.small AS int", "DROP DOMAIN {s}.small", "small"),
        ("CREATE TABLE heir () INHERITS ({s}.cf1)", "DROP TABLE heir", "the table heir"),
        (
            "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw; \
             CREATE FOREIGN TABLE {s}.away (x int) SERVER far",
            "DROP EXTENSION postgres_fdw CASCADE",
            "the foreign table away",
        ),
        (
            "CREATE TRIGGER t BEFORE UPDATE ON {s}.cf1 FOR EACH ROW EXECUTE FUNCTION \
             suppress_redundant_updates_trigger()",
            "DROP TRIGGER t ON {s}.cf1",
            "the trigger t",
        ),
    ] {
        if connection.run(&make.replace("{s}", &left)).is_err() {
            println!("skipped: this server cannot {make}");
            continue;
        }
        for command in
            [format!("{load} --partial-data drop"), format!("runs clean {address} --yes")]
        {
            let said = words(&place.run(&command)).replace("public.", "");
            assert!(said.contains(word), "{command}: {said}");
            assert_eq!(schemas(&server), [left.as_str()], "{make}");
        }
        connection.run(&undo.replace("{s}", &left)).unwrap();
    }
    // A copy of the record under another name, or another id in it, makes it nobody's.
    connection
        .run(&format!(
            "CREATE SCHEMA assay_slob_copy; CREATE TABLE assay_slob_copy.assay_owner AS TABLE \
             {left}.assay_owner"
        ))
        .unwrap();
    let output = place.run(&format!("runs clean {address} --yes"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("removed 1"), "{}", words(&output));
    assert_eq!(schemas(&server), ["assay_slob_copy"]);
}

/// A schema that another program uses is not dropped under it.
/// Somebody who may write to `public` makes operators that fit Assay's expressions better than the
/// server's own do (CVE-2018-1058): they would run with the rights of whoever profiles or loads.
#[test]
fn operators_of_others_are_not_run() {
    let Some(place) = Place::new("safety-operators") else { return };
    let server = given_server(&place.0.join("d"));
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    let types = ["float8", "numeric", "int8", "int4"];
    let mut traps = vec![
        "CREATE SCHEMA IF NOT EXISTS public; GRANT CREATE ON SCHEMA public TO public; CREATE ROLE \
         mallory; SET ROLE mallory; "
            .to_owned(),
    ];
    for (number, (left, right)) in
        types.iter().flat_map(|left| types.map(|right| (*left, right))).enumerate()
    {
        traps.push(format!(
            "CREATE FUNCTION public.trap{number}({left}, {right}) RETURNS {left} LANGUAGE plpgsql \
             AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$; "
        ));
        for operator in ["+", "-", "*", "/"] {
            traps.push(format!(
                "CREATE OPERATOR public.{operator} (LEFTARG = {left}, RIGHTARG = {right}, \
                 FUNCTION = public.trap{number}); "
            ));
        }
    }
    connection.run(&traps.concat()).unwrap();
    connection.run("RESET ROLE").unwrap();
    let trapped = connection.query("SELECT 1.5::float8 / 2").unwrap_err();
    assert!(format!("{trapped:?}").contains("trapped"), "the trap is none: {trapped:?}");
    let address = address(&server, None);
    for line in [
        format!("profile {address} --time 2s --canary"),
        format!("bench slob {address} {SLOB}"),
        format!("bench oltp {address} {OLTP}"),
    ] {
        let output = place.run(&line);
        let said = words(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains("trapped") && output.status.success(), "{line}: {said}");
    }
}

#[test]
fn a_schema_that_is_used_stays() {
    let Some(place) = Place::new("safety-used") else { return };
    let server = given_server(&place.0.join("d"));
    let address = address(&server, None);
    let load = format!("bench oltp {address} --sessions 1 --warm-up 0s");
    let mut child = place.start(&format!("{load} --time 60s"));
    wait_for(|| kept(&place.0, "sessions-0001-r1/intervals.jsonl"));
    let output = place.run(&format!("{load} --time 300ms --partial-data drop"));
    assert!(
        words(&output).contains("another program is using the schema assay_oltp"),
        "{}",
        words(&output)
    );
    let output = place.run(&format!("runs clean {address} --yes"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("there is nothing to remove"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(schemas(&server), ["assay_oltp"]);
    wait_for(|| {
        let output = place.run(&format!("runs clean {address} --yes"));
        String::from_utf8_lossy(&output.stdout).contains("removed 1")
    });
    assert_eq!(schemas(&server), Vec::<String>::new());
}

/// A copy that is restored: what somebody put into the database meanwhile keeps it from being
/// dropped.
#[test]
fn a_database_of_ours_with_something_of_others_in_it_stays() {
    let Some(place) = Place::new("safety-copy") else { return };
    let server = given_server(&place.0.join("d"));
    let address = address(&server, None);
    let load = format!("bench oltp {address} {OLTP} --schema own --restore-every 1");
    assert_eq!(place.run(&format!("{load} --keep")).status.code(), Some(0));
    let mut inside = PostgresConnection::open(&server.address("own"), "test").unwrap();
    inside.run("CREATE TABLE public.orders AS SELECT 25 AS acknowledged").unwrap();
    inside.close();
    let output = place.run(&format!("{load} --repeats 2"));
    assert!(words(&output).contains("the table orders"), "{}", words(&output));
    let mut inside = PostgresConnection::open(&server.address("own"), "test").unwrap();
    assert_eq!(values(&mut inside, &["SELECT acknowledged FROM public.orders"]), ["25"]);
}

/// Y06: on MariaDB a schema is a database.
#[test]
#[expect(clippy::too_many_lines, reason = "one story from a server to its end")]
fn databases_of_the_user_on_mariadb_stay_whatever_they_are_called() {
    let Some(place) = mariadb::place("safety") else { return };
    let server = mariadb::given(&place.0.join("d"));
    let address = mariadb::own_address(&server);
    let mut connection =
        assay_mariadb::connection::MariadbConnection::open(&server.address()).unwrap();
    let all = ["assay_slob_2024", "assay_oltp", "assay_dss", "assay_brokerage", "mine"];
    for name in all {
        connection
            .run(&format!(
                "CREATE DATABASE {name}; CREATE TABLE {name}.stock AS SELECT 42 AS x; CREATE \
                 TABLE {name}.assay_manifest (name VARCHAR(9), value VARCHAR(9))"
            ))
            .unwrap();
    }
    connection.run("CREATE DATABASE assay_empty").unwrap();
    for (command, word) in [
        (
            format!("bench slob {address} {SLOB} --partial-data drop"),
            "assay_slob_2024 is left unchanged",
        ),
        (
            format!("bench oltp {address} {OLTP} --partial-data drop"),
            "the schema assay_oltp exists",
        ),
        (format!("bench oltp {address} {OLTP} --schema mine"), "no owner record"),
        (
            format!("bench dss {address} --scale 0.01 --partial-data drop"),
            "the schema assay_dss exists",
        ),
        (
            format!("bench brokerage {address} {OLTP} --partial-data drop"),
            "the schema assay_brokerage exists",
        ),
        (format!("runs clean {address} --yes"), "there is nothing to remove"),
    ] {
        let output = place.run(&command);
        let said = words(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(word), "{command}: {said}");
        for name in all {
            assert_eq!(
                connection.one(&format!("SELECT x FROM {name}.stock")).unwrap().text(0),
                "42"
            );
        }
    }
    let left = killed(&place, &address, || {
        let mut all = mariadb::databases(&mut connection);
        all.retain(|name| name != "assay_slob_2024");
        all
    });
    for (make, undo, word) in [
        ("CREATE TABLE {s}.thesis (x INT)", "DROP TABLE {s}.thesis", "base table thesis"),
        ("CREATE VIEW {s}.v AS SELECT 1", "DROP VIEW {s}.v", "the view v"),
        ("CREATE PROCEDURE {s}.p() SELECT 1", "DROP PROCEDURE {s}.p", "the procedure p"),
        (
            "CREATE EVENT {s}.e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "DROP EVENT {s}.e",
            "the event e",
        ),
        (
            "CREATE TRIGGER {s}.t BEFORE UPDATE ON {s}.cf1 FOR EACH ROW SET @x = 1",
            "DROP TRIGGER {s}.t",
            "the trigger t",
        ),
    ] {
        connection.run(&make.replace("{s}", &left)).unwrap();
        let said = words(&place.run(&format!("runs clean {address} --yes")));
        assert!(said.contains(word), "{make}: {said}");
        connection.run(&undo.replace("{s}", &left)).unwrap();
    }
    assert!(
        connection.one(&format!("SELECT COUNT(*) FROM {left}.cf1")).unwrap().count(0) > Some(0)
    );
    let output = place.run(&format!("runs clean {address} --yes"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("removed 1"), "{}", words(&output));
    assert!(!mariadb::databases(&mut connection).contains(&left));
}

/// Does something as the account of a server; nothing where this is not the superuser.
fn as_account(account: u32, program: &str, arguments: &[&Path]) -> Output {
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={account}")).args(["--clear-groups", program]).args(arguments);
    command.current_dir("/").stdin(Stdio::null()).output().unwrap()
}

/// The directory of the only server under test, once it runs.
fn running(place: &Place) -> PathBuf {
    wait_for(|| kept(&place.0, "sessions-0001-r1/intervals.jsonl"));
    place.0.join("d").join(&place.left()[0])
}

/// V02b, V05, V10, V10b, V11: a server runs in rooms that are its account's, and reaches nothing
/// else; it knows nothing of the caller's environment.
#[test]
#[expect(clippy::too_many_lines, reason = "one story from a server to its end")]
fn the_account_of_a_server_reaches_its_own_rooms_and_no_secret() {
    for product in ["postgres", "mariadb"] {
        let place = match product {
            "postgres" => Place::new("safety-account"),
            _ => mariadb::place("safety-account"),
        };
        let Some(place) = place else { continue };
        let load =
            format!("bench slob d --server {product} --scale 8MiB --sessions 1 --time 60s --quiet");
        let mut command = place.command(&load);
        command.env("SECRET_OF_ROOT", "LEAK").env("PGPASSWORD", "LEAK").env("MYSQL_PWD", "LEAK");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let home = running(&place);
        let mut seen = 0;
        for process in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
            let works_here =
                fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&home));
            if works_here {
                let known = fs::read(process.path().join("environ")).unwrap_or_default();
                assert!(!String::from_utf8_lossy(&known).contains("LEAK"), "{product}");
                seen += 1;
            }
        }
        assert!(seen > 0);
        let data = fs::metadata(home.join("data")).unwrap();
        assert_eq!(data.mode() & 0o077, 0, "{product}");
        assert!(!home.join("password").exists() && !home.join("first.sql").exists());
        if geteuid().is_root() {
            let status = fs::metadata(&home).unwrap();
            assert_eq!(
                (status.uid(), status.mode() & 0o027),
                (0, 0),
                "{product}: {:o}",
                status.mode()
            );
            let canary = place.0.join("canary");
            fs::write(&canary, "of root").unwrap();
            for name in ["log", "assay-kept", "new", "loaded"] {
                assert!(
                    !as_account(data.uid(), "ln", &[Path::new("-sfn"), &canary, &home.join(name)])
                        .status
                        .success()
                );
            }
            assert!(!as_account(data.uid(), "cat", &[&home.join("log")]).status.success());
            assert_eq!(fs::read_to_string(&canary).unwrap(), "of root");
            let found = Command::new("find")
                .arg(&home)
                .args(["-type", "f", "-perm", "/077"])
                .output()
                .unwrap();
            let found = String::from_utf8_lossy(&found.stdout).into_owned();
            assert_eq!(found.lines().next(), None, "{product}: {} files", found.lines().count());
        } else {
            println!("skipped: only the superuser gives a server to another account");
        }
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::INT,
        )
        .unwrap();
        child.wait().unwrap();
        assert_eq!((place.left().len(), place.processes()), (0, 0), "{product}");
    }
}

/// V12, V13: a server that somebody else put there is not used, and no link in it is followed.
#[test]
fn a_kept_server_of_another_user_is_his() {
    let Some(place) = Place::new("safety-kept") else { return };
    let d = place.0.join("d");
    let canary = place.0.join("canary");
    fs::write(&canary, "of root").unwrap();
    fs::create_dir(d.join("data")).unwrap();
    fs::write(d.join("data/PG_VERSION"), "15\n").unwrap();
    symlink(&canary, d.join("log")).unwrap();
    let words_of = "ASSAY KEPT SERVER 1\npassword x\nschema y\n";
    fs::write(d.join("assay-kept"), words_of).unwrap();
    // Others may write there.
    fs::set_permissions(&d, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = |word: &str| {
        let output = place.run(&format!("bench slob d {SLOB}"));
        assert_eq!(output.status.code(), Some(4), "{}", words(&output));
        assert!(words(&output).contains(word), "{}", words(&output));
        assert_eq!(fs::read_to_string(&canary).unwrap(), "of root");
    };
    refused("other users can write");
    fs::set_permissions(&d, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(d.join("assay-kept"), place.0.join("words")).unwrap();
    symlink(place.0.join("words"), d.join("assay-kept")).unwrap();
    refused("it is not a regular file");
    if !geteuid().is_root() {
        return println!("skipped: only root can make what belongs to another user");
    }
    fs::remove_file(d.join("assay-kept")).unwrap();
    fs::write(d.join("assay-kept"), words_of).unwrap();
    // Its files are of root, as whom no server runs.
    refused("belongs to the user 0");
    std::os::unix::fs::chown(d.join("assay-kept"), Some(65_534), None).unwrap();
    refused("the user 65534 created it");
    std::os::unix::fs::chown(&d, Some(65_534), None).unwrap();
    refused("the user 65534 created it");
}

/// E01: whoever may read a directory may lock it; a server is made there all the same.
#[test]
fn a_locked_directory_keeps_no_load_waiting() {
    let Some(place) = Place::new("safety-flock") else { return };
    let held = fs::File::open(place.0.join("d")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let output = place.run(&format!("bench slob d {SLOB} --quiet"));
    assert!(output.status.code().is_some_and(|code| code == 0 || code == 3), "{}", words(&output));
}
