//! Servers that somebody else runs: old ones, replicas, users without rights, sessions that end,
//! two of us at once. What cannot be measured is refused with a way out, what can is measured, and
//! what is missing is said.

use crate::server::{Place, json, words};
use assay_postgres::address::{ConnectionOptions, PostgresAddress, PostgresHost};
use assay_postgres::binaries::{PostgresBinaries, PostgresSearchPath};
use assay_postgres::connection::PostgresConnection;
use assay_postgres::server::account;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A server as others run it, in a directory of its own that goes with it.
struct Given {
    binaries: PostgresBinaries,
    place: Place,
    child: Option<Child>,
}

/// By the same search as the program's.
fn binaries() -> Option<PostgresBinaries> {
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    let found = PostgresSearchPath::of_this_program(named).find();
    if let Err(error) = &found {
        println!("skipped: {}", error.message());
    }
    found.ok()
}

fn assay(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).current_dir(place).stdin(Stdio::null());
    command.output().unwrap()
}

/// Refused with this exit code, these words, and a hint.
fn refused(output: &Output, code: i32, word: &str) {
    let said = words(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(word) && said.contains("hint: "), "{word}: {said}");
}

impl Given {
    /// Nothing where there are no programs.
    fn start(name: &str, settings: &[&str]) -> Option<Self> {
        let binaries = binaries()?;
        let place = Place::made(name);
        fs::create_dir(place.0.join("pg")).unwrap();
        if let Some(account) = account() {
            chown(place.0.join("pg"), Some(account.user), Some(account.group)).unwrap();
        }
        let mut given = Self { binaries, place, child: None };
        let made = given
            .command("initdb")
            .args(["-D", "data", "-U", "owner", "--auth=trust", "--locale=C", "--no-sync"])
            .status();
        assert!(made.unwrap().success());
        given.run(settings);
        Some(given)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.program(program));
        command.current_dir(self.place.0.join("pg")).process_group(0).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = account() {
            command.uid(account.user).gid(account.group);
        }
        command
    }

    fn run(&mut self, settings: &[&str]) {
        let mut command = self.command("postgres");
        command.args(["-D", "data", "-c", "listen_addresses=", "-c", "unix_socket_directories=."]);
        for setting in settings {
            command.args(["-c", setting]);
        }
        self.child = Some(command.spawn().unwrap());
        let begun = Instant::now();
        while PostgresConnection::open(&self.address("owner"), "test").is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop(&mut self, how: &str) {
        if let Some(mut child) = self.child.take() {
            let _ = self.command("pg_ctl").args(["stop", "-D", "data", "-m", how]).status();
            let _ = child.wait();
        }
    }

    fn address(&self, user: &str) -> PostgresAddress {
        PostgresAddress {
            host: PostgresHost::Socket(self.place.0.join("pg/data")),
            port: 5432,
            user: user.to_owned(),
            password: None,
            database: "postgres".to_owned(),
            terms: ConnectionOptions::default(),
        }
    }

    fn sql(&self, sql: &str) -> Vec<String> {
        let mut connection = PostgresConnection::open(&self.address("owner"), "test").unwrap();
        let rows = connection.query(sql).unwrap();
        rows.iter().map(|row| row.text(0).to_owned()).collect()
    }

    fn load(&self, user: &str, more: &[&str]) -> Output {
        let address = self.address(user).to_string();
        let mut arguments = vec!["bench", "slob", &address, "--quiet", "--json"];
        arguments.extend(["--scale", "8MiB", "--sessions", "2", "--time", "2s"]);
        arguments.extend(more);
        assay(&self.place.0, &arguments)
    }

    fn profile(&self, user: &str, more: &[&str]) -> Output {
        let address = self.address(user).to_string();
        let mut arguments = vec!["profile", &address, "--time", "2s", "--quiet", "--json"];
        arguments.extend(more);
        assay(&self.place.0, &arguments)
    }

    fn schemas(&self) -> Vec<String> {
        self.sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assay%'")
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        self.stop("immediate");
    }
}

fn has_text(list: &Value, word: &str) -> bool {
    list.as_array().is_some_and(|all| all.iter().any(|one| one.to_string().contains(word)))
}

/// Speaks as much of the protocol as a login needs, as a server of a release that is too old.
fn pretend_old(place: &Path) {
    let listener = UnixListener::bind(place.join(".s.PGSQL.5432")).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer_as_old(stream));
        }
    });
}

fn answer_as_old(mut stream: UnixStream) {
    let mut room = [0; 4096];
    if stream.read(&mut room).unwrap_or(0) == 0 {
        return;
    }
    let mut said = vec![b'R', 0, 0, 0, 8, 0, 0, 0, 0];
    let version = b"server_version\x0013.21\0";
    said.push(b'S');
    said.extend(u32::try_from(version.len() + 4).unwrap().to_be_bytes());
    said.extend(version);
    said.extend([b'K', 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1, b'Z', 0, 0, 0, 5, b'I']);
    let _ = stream.write_all(&said);
    while stream.read(&mut room).is_ok_and(|read| read > 0) {}
}

#[test]
fn a_server_that_is_too_old_is_refused() {
    let place = Place::made("old");
    pretend_old(&place.0);
    let address = format!("postgresql://me@/shop?host={}", place.0.display());
    refused(&assay(&place.0, &["bench", "slob", &address]), 4, "PostgreSQL 13.21");
    refused(&assay(&place.0, &["profile", &address, "--time", "2s"]), 4, "release 13.21");
}

#[test]
fn what_leads_to_no_server_is_refused() {
    let place = Place::made("nowhere");
    for (address, code, word) in [
        ("postgresql://me:geheim@127.0.0.1:1/x", 4, "connecting"),
        ("postgresql://h/x?sslmode=perhaps", 2, "sslmode"),
        ("postgresql://h/x?sslmode=verify-ca", 2, "authority"),
        ("postgresql://h:many/x", 2, "port"),
        ("postgresql://h/x?colour=red", 2, "colour"),
    ] {
        for command in [vec!["bench", "slob", address], vec!["profile", address, "--time", "2s"]] {
            let output = assay(&place.0, &command);
            refused(&output, code, word);
            assert!(!words(&output).contains("geheim"));
        }
    }
    assert!(
        !place.0.join("assay-runs").exists()
            || fs::read_dir(place.0.join("assay-runs")).unwrap().count() == 0
    );
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let place = Place::made("silent");
    // It takes connections and says nothing.
    let _silent = UnixListener::bind(place.0.join(".s.PGSQL.5432")).unwrap();
    let address = format!("postgresql://me@/shop?host={}", place.0.display());
    let begun = Instant::now();
    refused(&assay(&place.0, &["profile", &address, "--time", "2s"]), 4, "did not answer");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_replica_takes_no_load_and_has_a_profile() {
    let settings = ["wal_level=replica", "hot_standby=on"];
    let Some(mut given) = Given::start("replica", &settings) else {
        return;
    };
    given.stop("fast");
    fs::write(given.place.0.join("pg/data/standby.signal"), "").unwrap();
    given.run(&settings);
    refused(&given.load("owner", &[]), 4, "replica");
    let profile = json(&given.profile("owner", &[]));
    assert!(has_text(&profile["doubts"], "replica"), "{}", profile["doubts"]);
}

#[test]
fn a_user_without_rights_gets_what_he_may_and_hears_what_not() {
    let Some(given) = Given::start("rights", &["track_io_timing=on"]) else {
        return;
    };
    given.sql("CREATE ROLE weak LOGIN");
    given.sql("CREATE TABLE secret AS SELECT generate_series(1, 1000) AS k");
    refused(&given.load("weak", &[]), 4, "42501");
    given.sql("GRANT CREATE ON DATABASE postgres TO weak");
    let output = given.load("weak", &[]);
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    let load = &json(&output)["load"];
    assert!(has_text(&load["remarks"], "checkpoint"), "{}", load["remarks"]);
    assert_eq!(given.schemas(), Vec::<String>::new());
    let profile = json(&given.profile("weak", &["--canary"]));
    assert!(has_text(&profile["doubts"], "pg_read_all_stats"), "{}", profile["doubts"]);
    assert!(has_text(&profile["missing"], "pg_stat_statements"), "{}", profile["missing"]);
    assert!(has_text(&profile["missing"], "cannot read any table"), "{}", profile["missing"]);
    // A user with more rights sees more, and the canary reads.
    let profile = json(&given.profile("owner", &["--canary"]));
    assert!(!has_text(&profile["doubts"], "pg_read_all_stats"));
    let times = profile["server"]["read_times"].as_array().unwrap();
    assert_eq!(times[0]["seen_by"], "canary");
    assert_eq!(times[0]["subject"], "public.secret");
}

#[test]
fn a_server_that_ends_meanwhile_ends_the_profile() {
    let Some(mut given) = Given::start("ends", &[]) else {
        return;
    };
    let address = given.address("owner").to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["profile", &address, "--time", "60s", "--quiet"]).current_dir(&given.place.0);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while given.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'assay'").len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    given.stop("immediate");
    // Where it was about to open one more session it says that it could not connect; it ends all
    // the same.
    let output = child.wait_with_output().unwrap();
    let doing =
        if words(&output).contains("connecting") { "connecting" } else { "asking the server" };
    refused(&output, 4, doing);
}

#[test]
fn two_loads_on_one_server_do_not_touch_each_other() {
    let Some(given) = Given::start("two", &["max_connections=40"]) else {
        return;
    };
    let both = std::thread::scope(|scope| {
        let first = scope.spawn(|| given.load("owner", &[]));
        let second = given.load("owner", &[]);
        [first.join().unwrap(), second]
    });
    for output in both {
        assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
        assert_eq!(json(&output)["load"]["steps"].as_array().unwrap().len(), 1);
    }
    assert_eq!(given.schemas(), Vec::<String>::new());
}

#[test]
fn too_many_sessions_for_a_server_are_refused_and_leave_nothing() {
    let Some(given) = Given::start("many", &["max_connections=20"]) else {
        return;
    };
    refused(&given.load("owner", &["--sessions", "60"]), 4, "60 sessions are required");
    assert_eq!(given.schemas(), Vec::<String>::new());
}

/// A managed server is reached over a socket in its own directory, so whoever has the usual port
/// does not matter.
#[test]
fn the_usual_port_may_be_taken() {
    if binaries().is_none() {
        return;
    }
    let place = Place::made("port");
    // Where somebody has it already, that is the case that is wanted.
    let _taken = TcpListener::bind("127.0.0.1:5432");
    let mut arguments = vec!["bench", "slob", "d", "--scale", "8MiB", "--sessions", "1"];
    arguments.extend(["--time", "1s", "--quiet"]);
    let output = assay(&place.0, &arguments);
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    assert_eq!(fs::read_dir(place.0.join("d")).unwrap().count(), 0);
}

/// What each release has, and what it says of what it lacks.
#[test]
fn a_release_says_what_it_lacks() {
    let Some(given) = Given::start("release", &["track_io_timing=on"]) else {
        return;
    };
    let (major, profile) = (given.binaries.major(), json(&given.profile("owner", &[])));
    let load = json(&given.load("owner", &[]));
    let missing = &profile["missing"];
    assert_eq!(has_text(missing, "pg_stat_io needs release 16"), major < 16, "{missing}");
    let remarks = &load["load"]["remarks"];
    assert_eq!(has_text(remarks, "needs version 16"), major < 16, "{remarks}");
    assert_eq!(profile["server"]["functions"].as_array().unwrap().is_empty(), major < 16);
    let rung = &load["load"]["steps"][0]["profile"]["server"];
    assert!(rung["over_time"]["classes"].as_array().is_some_and(|all| !all.is_empty()), "{load}");
}

/// The limit of open files that a shell usually has ends a load of some hundred sessions; ours is
/// lower to need fewer.
#[test]
fn sessions_have_the_open_files_that_the_system_allows() {
    if binaries().is_none() {
        return;
    }
    let place = Place::made("files");
    let load = "bench slob d --scale 8MiB --time 200ms --json --quiet --sessions";
    let limited = |limit: &str, sessions: u32| {
        fs::create_dir_all(place.0.join("d")).unwrap();
        let line = format!("{limit}; exec \"$0\" {load} {sessions}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_assay")]).current_dir(&place.0);
        shell.stdin(Stdio::null()).output().unwrap()
    };
    let ran = limited("ulimit -Sn 64", 24);
    assert!(matches!(ran.status.code(), Some(0 | 3)), "{}", words(&ran));
    let refused_output = limited("ulimit -n 300", 24);
    refused(&refused_output, 4, "a load step of 24 sessions needs 304 open files");
    assert_eq!(fs::read_dir(place.0.join("d")).unwrap().count(), 0);
}
