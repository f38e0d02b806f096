//! Tests against the servers that this machine has; without any they say that they were skipped.

use super::*;
use crate::binaries::PostgresSearchPath;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// A directory that a server's user may enter, gone with its value.
struct PostgresScratch(PathBuf);

impl PostgresScratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-server-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for PostgresScratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn plan(directory: &Path) -> Option<PostgresPlan> {
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    match PostgresSearchPath::of_this_program(named).find() {
        Ok(binaries) => Some(PostgresPlan {
            binaries,
            directory: assay_dbserver::HeldServer::named(directory).unwrap(),
            account: account(),
            guard: Vec::new(),
        }),
        Err(error) => {
            println!("skipped: {}", error.message());
            None
        }
    }
}

const SETTINGS: PostgresStart = PostgresStart {
    direct: false,
    shared_buffers_bytes: 16 << 20,
    sessions_max: 8,
    io_method: None,
    without: None,
};

#[test]
fn a_server_is_made_started_spoken_with_and_ended() {
    let scratch = PostgresScratch::new("whole");
    let Some(plan) = plan(&scratch.0) else { return };
    let mut server = PostgresServer::create(plan).unwrap();
    server.start(&SETTINGS, &AtomicBool::new(false)).unwrap();
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    assert!(connection.major() >= 14);
    speaks(&mut connection);
    copies(&mut connection);
    counts(&server, &mut connection);
    let mut wrong = server.address("postgres");
    wrong.password = Some("wrong".to_owned());
    let failure = PostgresConnection::open(&wrong, "test").unwrap_err();
    assert_eq!(failure.code(), Some("28P01"), "{failure}");
    let failure = PostgresConnection::open(&server.address("nowhere"), "test").unwrap_err();
    assert_eq!(failure.code(), Some("3D000"), "{failure}");
    assert!(!assay_dbserver::processes::inside(&scratch.0, PROGRAMS).is_empty());
    server.daemon.stop(ServerStop::AtOnce);
    assert!(connection.run("SELECT 1").unwrap_err().is_lost());
    assert!(assay_dbserver::processes::inside(&scratch.0, PROGRAMS).is_empty());
}

fn speaks(connection: &mut PostgresConnection) {
    let row = connection.one("SELECT 1::bigint, NULL, 'a', 1.5, true").unwrap();
    assert_eq!((row.count(0), row.text(1), row.text(2)), (Some(1), "", "a"));
    assert!(row.is_true(4) && row.real(3) == Some(1.5));
    let failure = connection.run("SELECT 1/0").unwrap_err();
    assert_eq!(failure.code(), Some("22012"));
    let mut add = connection.prepare("add", "SELECT $1::bigint + $2::bigint", &[8, 8]).unwrap();
    for value in 0..100 {
        add.set_integer(0, value);
        add.set_integer(1, 1);
        let count = connection.execute(&add).unwrap().count;
        assert_eq!(i64::try_from(count), Ok(value + 1));
    }
    add.set_integer(0, i64::MAX);
    assert_eq!(connection.execute(&add).unwrap_err().code(), Some("22003"));
    add.set_integer(0, 1);
    assert_eq!(connection.execute(&add).unwrap().count, 2);
}

fn copies(connection: &mut PostgresConnection) {
    connection.run("CREATE TABLE t (k bigint)").unwrap();
    let mut row = vec![0, 1, 0, 0, 0, 8];
    row.extend(7_i64.to_be_bytes());
    let sql = "COPY t FROM STDIN (FORMAT binary)";
    let mut copy = connection.copy_in(sql).unwrap();
    copy.send(&row.repeat(1000)).unwrap();
    copy.finish().unwrap();
    let mut copy = connection.copy_in(sql).unwrap();
    copy.send(&row).unwrap();
    copy.abort();
    assert!(connection.copy_in("COPY none FROM STDIN").is_err());
    let found = connection.one("SELECT count(*), min(k) FROM t").unwrap();
    assert_eq!((found.count(0), found.count(1)), (Some(1000), Some(7)));
}

fn counts(server: &PostgresServer, connection: &mut PostgresConnection) {
    let knowledge = crate::counters::PostgresKnowledge::of(connection).unwrap();
    assert!(knowledge.is_io_timed && knowledge.is_wal_timed && knowledge.block_bytes == 8192);
    let before = knowledge.read(connection, "postgres").unwrap();
    let mut other = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    other.run("CREATE TABLE u AS SELECT generate_series(1, 50000) AS k").unwrap();
    other.run("SELECT sum(k) FROM u").unwrap();
    other.close();
    // Versions before 15 send their counts to a process of their own.
    std::thread::sleep(Duration::from_millis(if knowledge.major < 15 { 1500 } else { 100 }));
    let passed = knowledge.read(connection, "postgres").unwrap().since(&before);
    assert!(passed.commits >= 2 && passed.hit_blocks > 200, "{passed:?}");
    assert!(passed.active_ns > 0 && passed.wal_bytes > 1000, "{passed:?}");
    assert!(passed.wal_syncs.is_some() && passed.sessions.read_ns.is_some(), "{passed:?}");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let scratch = PostgresScratch::new("why");
    let Some(plan) = plan(&scratch.0) else { return };
    let mut server = PostgresServer::create(plan).unwrap();
    let settings = PostgresStart { shared_buffers_bytes: 0, ..SETTINGS };
    let error = server.start(&settings, &AtomicBool::new(false)).unwrap_err();
    assert!(error.message().contains("shared_buffers"), "{error}");
}

#[test]
fn why_it_ended_is_not_that_it_refused_us_before() {
    let scratch = PostgresScratch::new("last-words");
    let Some(plan) = plan(&scratch.0) else { return };
    let server = PostgresServer::create(plan).unwrap();
    let words = "LOG:  redo starts at 0/2A0\nPANIC:  WAL contains references to invalid \
                 pages\nFATAL:  the database system is not yet accepting connections\nDETAIL:  \
                 Consistent recovery state has not been yet reached.\n";
    let error = explain(&server.daemon.home, "starting the server", words);
    assert!(error.message().ends_with("references to invalid pages"), "{error}");
}

/// Gone with its value.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        assert!(std::process::Command::new("umount").arg(self.0).status().unwrap().success());
    }
}

#[test]
fn lock_files_that_a_power_cut_emptied_do_not_keep_a_server_from_starting() {
    let scratch = PostgresScratch::new("cut");
    let Some(plan) = plan(&scratch.0) else { return };
    let mut server = PostgresServer::create(plan).unwrap();
    for lock in LOCK_FILES {
        fs::write(server.daemon.data().join(lock), "").unwrap();
    }
    server.start(&SETTINGS, &AtomicBool::new(false)).unwrap();
    server.daemon.stop(ServerStop::AtOnce);
}

#[test]
fn a_file_system_without_direct_io_is_seen_before_the_server_refuses_it() {
    let scratch = PostgresScratch::new("direct");
    // A file system in memory that has no direct I/O.
    let mounted = std::process::Command::new("mount")
        .args(["-t", "ramfs", "-o", "mode=755", "assay-test"])
        .arg(&scratch.0)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: no right to mount a file system");
        return;
    }
    let mounted = Mounted(&scratch.0);
    let Some(plan) = plan(mounted.0) else { return };
    let mut server = PostgresServer::create(plan).unwrap();
    assert!(!server.daemon.can_direct());
    server.start(&SETTINGS, &AtomicBool::new(false)).unwrap();
    server.daemon.stop(ServerStop::AtOnce);
    drop(server);
}
