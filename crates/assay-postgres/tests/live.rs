//! The time model on a real server, where the programs of one are installed: on a socket in a
//! directory of its own.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_cmp,
    clippy::expect_used,
    reason = "a test fails where what it needs is missing"
)]

use assay_live::watch::{WatchPlan, observe};
use assay_live::{HostContext, IntervalEstimator};
use assay_model::Estimate;
use assay_model::number::real_len;
use assay_model::profile::{Profile, TimeSource};
use assay_postgres::address::PostgresAddress;
use assay_postgres::connection::PostgresConnection;
use assay_postgres::model::profile;
use assay_postgres::watch::PostgresWatcher;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// The server refuses to run as root: this is nobody.
const NOBODY: u32 = 65_534;

/// Value and a tenth around it: what is tested here needs no book.
struct Plain;

impl IntervalEstimator for Plain {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        let value = observations.iter().sum::<f64>() / real_len(observations.len()).max(1.0);
        Some(Estimate { value, low: 0.5 * value, high: 1.5 * value, confidence: 0.95, n: 9 })
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        let whole = denominators.iter().sum::<f64>();
        let value = if whole > 0.0 { numerators.iter().sum::<f64>() / whole } else { 0.0 };
        Some(Estimate { value, low: 0.5 * value, high: 1.5 * value, confidence: 0.95, n: 9 })
    }
}

/// A server that ends with its test.
struct Server {
    child: Child,
    directory: PathBuf,
    programs: PathBuf,
}

/// The newest programs that are installed.
fn programs() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("ASSAY_TEST_POSTGRES") {
        return Some(PathBuf::from(given));
    }
    let releases = fs::read_dir("/usr/lib/postgresql").ok()?;
    let places = releases.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    places.filter(|place| place.join("postgres").exists()).max()
}

/// A command that runs as somebody whom the server accepts.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

impl Server {
    /// Starts one, or says why there is none.
    fn start(name: &str, settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: no PostgreSQL server is installed");
            return None;
        };
        let directory = PathBuf::from(format!("/tmp/assay-pg-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&directory));
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        if is_root() {
            chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = directory.join("data");
        let made = command(&programs.join("initdb"))
            .args(["-U", "postgres", "--auth=trust", "--locale=C", "-E", "UTF8", "-N", "-D"])
            .arg(&data)
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        let mut start = command(&programs.join("postgres"));
        start.arg("-D").arg(&data).args(["-c", "listen_addresses="]);
        start.arg("-c").arg(format!("unix_socket_directories={}", directory.display()));
        for setting in settings {
            start.args(["-c", setting]);
        }
        let child = start.spawn().unwrap();
        let server = Self { child, directory, programs };
        server.wait();
        Some(server)
    }

    fn address(&self, database: &str) -> PostgresAddress {
        let text = format!("postgresql://postgres@/{database}?host={}", self.directory.display());
        address(&text)
    }

    fn client(&self, database: &str) -> PostgresConnection {
        PostgresConnection::open(&self.address(database), "test").unwrap()
    }

    fn wait(&self) {
        let begun = Instant::now();
        while PostgresConnection::open(&self.address("postgres"), "test").is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Watches while `work` is done.
    fn profile(&self, length_s: u64, work: impl FnOnce(&Self) + Send) -> Profile {
        let mut watcher = PostgresWatcher::connect(&self.address("shop")).unwrap();
        let (stop, plan) = (AtomicBool::new(false), WatchPlan::of(Duration::from_secs(length_s)));
        let observed = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(200));
                work(self);
            });
            observe(&mut watcher, plan, None, &stop, &mut |_, _| ()).unwrap()
        });
        assert!(observed.complete);
        let host = HostContext { name: "shop".into(), complete: true, ..HostContext::default() };
        profile(&observed.before, &observed.after, &observed.samples, &host, &Plain).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stopped = command(&self.programs.join("pg_ctl"))
            .args(["stop", "-m", "immediate", "-w", "-t", "20", "-D"])
            .arg(self.directory.join("data"))
            .status();
        if !stopped.is_ok_and(|stopped| stopped.success()) {
            drop(self.child.kill());
        }
        drop(self.child.wait());
        drop(fs::remove_dir_all(&self.directory));
    }
}

fn address(text: &str) -> PostgresAddress {
    PostgresAddress::parse(text, |_| None).unwrap()
}

fn db_time_s(profile: &Profile) -> f64 {
    profile.time.db_time_s.as_ref().unwrap().value
}

/// A statement that ends in the interval, after which its session rests: its time is not in the
/// server's counters yet, and still in DB time. Nothing of what is asked here is.
#[test]
fn a_statement_counts_although_the_server_did_not_count_it_yet() {
    let Some(server) = Server::start("rest", &["track_io_timing=on"]) else {
        return;
    };
    server.client("postgres").run("CREATE DATABASE shop").unwrap();
    let mut resting = None;
    let slept = server.profile(4, |server| {
        let mut client = server.client("shop");
        client.run("SELECT pg_sleep(1.5)").unwrap();
        // The session must live beyond the end: its end would update the counters.
        resting = Some(client);
    });
    let time_s = db_time_s(&slept);
    assert!((1.4..2.5).contains(&time_s), "{time_s}");
    let sleep = slept.time.waits.iter().find(|wait| wait.class == "Idle").unwrap();
    assert!(sleep.time_s.value > 1.0 && slept.doubts.iter().any(|doubt| doubt.contains("sleep")));
    drop(resting);
    let idle = server.profile(3, |_| ());
    assert!(db_time_s(&idle) < 0.3, "{}", db_time_s(&idle));
    assert!(idle.server.as_ref().unwrap().sampling.as_ref().unwrap().own_time_s > 0.0);
    assert!(idle.missing.iter().any(|missing| missing.contains("pg_stat_statements")));
}

/// Work that reads and commits is found in the counters, in the log and in the load.
#[test]
fn work_is_found_where_it_was_done() {
    let Some(server) = Server::start(
        "work",
        &["track_io_timing=on", "track_wal_io_timing=on", "shared_buffers=1MB"],
    ) else {
        return;
    };
    server.client("postgres").run("CREATE DATABASE shop").unwrap();
    let table = "CREATE TABLE t AS SELECT g AS k, repeat('x', 500) AS v FROM generate_series(1, \
                 20000) g; CREATE INDEX i ON t (k)";
    server.client("shop").run(table).unwrap();
    let worked = server.profile(4, |server| {
        let mut client = server.client("shop");
        for key in 0..300 {
            client.run(&format!("UPDATE t SET v = 'y' WHERE k = {}", key * 61)).unwrap();
        }
        client.run("SELECT count(v) FROM t").unwrap();
    });
    let activity = worked.server.as_ref().unwrap();
    let load =
        |name: &str| activity.load.iter().find(|line| line.name == name).unwrap().amount_per_s;
    assert!(load("rows changed") > 50.0 && load("WAL, bytes") > 1000.0);
    assert!(load("reads of the database, blocks") > 100.0);
    assert!(
        activity
            .relations
            .iter()
            .any(|one| one.relation == "public.t" && one.read_blocks_per_s > 0.0)
    );
    assert!(activity.wal.as_ref().unwrap().records > 300);
    assert!(worked.redo.write_iops.as_ref().unwrap().value > 10.0);
    let counted = |event: &str| {
        let mut found = activity.events.iter().filter(|one| one.event.starts_with(event));
        found.any(|one| one.known == TimeSource::Counted && one.time_s.value > 0.0)
    };
    assert!(counted("IO:DataFileRead"), "{:?}", activity.events);
    assert!(worked.class(assay_model::profile::IoPurpose::SingleBlockRead).is_some());
    let text = serde_json::to_string(&worked).unwrap();
    assert_eq!(assay_model::profile::parse_profile(&text).unwrap(), worked);
}

#[test]
fn what_is_no_server_is_refused_with_a_way_out() {
    let refused = |address: &PostgresAddress| PostgresWatcher::connect(address).unwrap_err();
    let error = refused(&address("postgresql://u:secret@/x?host=/nowhere/at/all"));
    assert!(error.message().contains("/nowhere/at/all") && !error.message().contains("secret"));
    assert!(error.hint().contains("server runs"));
    let Some(server) = Server::start("refused", &[]) else {
        return;
    };
    let error = refused(&server.address("nosuch"));
    assert!(error.message().contains("nosuch") && error.hint().contains("existing database"));
}
