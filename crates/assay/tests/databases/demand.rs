//! The demand of a live server is its own: next to a neighbour on its disk, at rest, through a
//! pooler, and as what storage is checked for. Without a server the tests say that they were
//! skipped.

use crate::mariadb;
use crate::server::{Place, address, given_server, json, wait_for, words};
use assay_mariadb::connection::MariadbConnection as MariaConnection;
use assay_postgres::connection::PostgresConnection;
use assay_postgres::server::{PostgresServer, account};
use rustix::fs::OFlags;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileExt, OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Bytes that the neighbour reads at once.
const PIECE: usize = 1 << 16;

/// Memory of one I/O, at an address that direct I/O takes.
#[repr(align(4096))]
struct Piece([u8; PIECE]);

/// Another program, as far as a server can tell: reads a file past the page cache while something
/// else is done.
fn beside_a_neighbour<T>(directory: &Path, work: impl FnOnce() -> T) -> T {
    let path = directory.join("neighbour");
    fs::write(&path, vec![7_u8; 32 * PIECE]).unwrap();
    let flags = OFlags::DIRECT.bits().cast_signed();
    let direct = OpenOptions::new().read(true).custom_flags(flags).open(&path);
    let file = direct.unwrap_or_else(|_| File::open(&path).unwrap());
    let done = AtomicBool::new(false);
    let worked = thread::scope(|scope| {
        scope.spawn(|| {
            #[expect(clippy::large_stack_arrays, reason = "aligned for direct reads")]
            let mut piece = Box::new(Piece([0; PIECE]));
            for at in (0..32_u64).cycle() {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                file.read_exact_at(&mut piece.0, at * 65_536).unwrap();
            }
        });
        let worked = work();
        done.store(true, Ordering::Relaxed);
        worked
    });
    fs::remove_file(path).unwrap();
    worked
}

/// A server whose cache is smaller than its table.
fn server(place: &Place) -> PostgresServer {
    let server = given_server(&place.0.join("d"));
    let mut client = client(&server);
    let table = "CREATE TABLE t AS SELECT g AS k, repeat('x', 900) AS v FROM generate_series(1, \
                 40000) g; CREATE INDEX i ON t (k); CHECKPOINT";
    client.run(table).unwrap();
    server
}

fn client(server: &PostgresServer) -> PostgresConnection {
    PostgresConnection::open(&server.address("postgres"), "test").unwrap()
}

fn value(profile: &Value, pointer: &str) -> f64 {
    profile
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{pointer}: {profile}"))
}

/// Blocks and writes of the log that the server has counted; the session that asks has reported its
/// own.
fn counted(client: &mut PostgresConnection) -> f64 {
    let sql = if client.major() >= 18 {
        "SELECT (sum(reads) + sum(writes) + sum(coalesce(extends, 0)))::float8 FROM pg_stat_io"
    } else if client.major() >= 16 {
        "SELECT ((SELECT sum(reads) + sum(writes) + sum(coalesce(extends, 0)) FROM pg_stat_io) + \
         (SELECT wal_write FROM pg_stat_wal))::float8"
    } else {
        "SELECT ((SELECT sum(blks_read) FROM pg_stat_database) + (SELECT buffers_checkpoint + \
         buffers_clean + buffers_backend FROM pg_stat_bgwriter) + (SELECT wal_write FROM \
         pg_stat_wal))::float8"
    };
    client.one(sql).unwrap().real(0).unwrap()
}

/// All that the server counts between two looks at its counters was done while it was watched: the
/// rates of the profile are those counts, whatever the neighbour reads.
#[test]
fn the_demand_is_what_the_server_counts_beside_a_neighbour() {
    if Place::new("own-demand").is_none() {
        return;
    }
    let place = Place::on_disk("own-demand");
    let server = server(&place);
    let target = address(&server, None);
    let mut observer = client(&server);
    let before = counted(&mut observer);
    let profile = beside_a_neighbour(&place.0, || {
        let child =
            place.command(&format!("profile {target} --time 6s --json --quiet")).spawn().unwrap();
        let mut worker = client(&server);
        wait_for(|| sessions_of_assay(&mut worker) > 0);
        thread::sleep(std::time::Duration::from_secs(1));
        for pass in 0..3 {
            worker.run("SELECT count(v) FROM t").unwrap();
            for key in 0..100 {
                let sql = format!("UPDATE t SET v = 'y{pass}' WHERE k = {}", 1 + key * 397);
                worker.run(&sql).unwrap();
            }
        }
        worker.close();
        json(&child.wait_with_output().unwrap())
    });
    let after = counted(&mut observer);
    let (rate, elapsed_s) =
        (value(&profile, "/classes/0/rate_iops/value"), value(&profile, "/elapsed_s/value"));
    let (seen, right) = (rate * elapsed_s, after - before);
    assert!((seen - right).abs() < 0.05 * right + 40.0, "{seen} {right}: {profile}");
    assert!(right > 3000.0, "{right}");
    // The seconds say the same as the whole.
    let seconds = profile["server"]["io_by_second"].as_array().unwrap();
    let sum: f64 = seconds
        .iter()
        .map(|one| {
            ["read_iops", "write_iops", "log_iops"]
                .iter()
                .map(|name| one[name].as_f64().unwrap())
                .sum::<f64>()
        })
        .sum();
    assert!((sum - seen).abs() < 0.25 * seen, "{sum} {seen}");
    // The device is a row of its own, and no stream of a plan.
    let device = &profile["server"]["device"];
    if device.is_null() {
        println!("skipped: the test's directory lies on no block device");
    } else {
        assert!(
            profile["classes"]
                .as_array()
                .unwrap()
                .iter()
                .all(|class| !class.to_string().contains("diskstats"))
        );
    }
}

fn sessions_of_assay(client: &mut PostgresConnection) -> u64 {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'assay'";
    client.one(sql).unwrap().count(0).unwrap()
}

#[test]
fn a_server_at_rest_has_no_demand_and_nothing_is_planned_by_it() {
    if Place::new("rest").is_none() {
        return;
    }
    let place = Place::on_disk("rest");
    let server = server(&place);
    let target = address(&server, None);
    // What the table left to write is written, and statistics are counted.
    let mut settling = client(&server);
    for statement in ["VACUUM ANALYZE t", "CHECKPOINT", "SELECT pg_sleep(2)"] {
        settling.run(statement).unwrap();
    }
    settling.close();
    let profiled = beside_a_neighbour(&place.0, || {
        place.run(&format!("profile {target} --time 3s --quiet -o out --html page.html"))
    });
    assert_eq!(profiled.status.code(), Some(0), "{}", words(&profiled));
    let text = fs::read_to_string(place.0.join("out/postgres.profile.json")).unwrap();
    let profile: Value = serde_json::from_str(&text).unwrap();
    assert!(value(&profile, "/classes/0/rate_iops/value") < 10.0, "{text}");
    let rests = |output: &Output| {
        let said = words(output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("the database is idle") && said.contains("hint: "), "{said}");
    };
    let file = "out/postgres.profile.json";
    rests(&place.run(&format!("profile {file} --workload -")));
    rests(&place.run(&format!("size {file} --capacity 100GiB")));
    rests(&place.run(&format!("check sim:servers?count=2&service=1ms --for {file} --time 20s")));
    rests(&place.run(&format!("check d --for {target} --profile-time 2s --time 20s --yes")));
    // What is there is not overwritten, and that is said before the server is watched for an hour.
    let refused = place.run(&format!("profile {target} --time 1h -o out"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(words(&refused).contains("already exists"));
    let short = place.run(&format!("check d --for {target} --profile-time 1s --yes"));
    assert_eq!(short.status.code(), Some(2), "{}", words(&short));
    assert!(words(&short).contains("too short for a profile"), "{}", words(&short));
    // What the page says to do next can be done.
    let page = fs::read_to_string(place.0.join("page.html")).unwrap();
    assert!(page.contains("assay check DIR --for out/postgres.profile.json"), "{page}");
}

/// A pooler in front of the server, as an account that may not be root.
struct Pooler(Child, u16);

impl Pooler {
    fn start(place: &Place, server: &PostgresServer, mode: &str) -> Option<Self> {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(PathBuf::from);
        let Some(program) = program.into_iter().find(|path| path.exists()) else {
            println!("skipped: pgbouncer is not installed");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let home = place.0.join(mode);
        fs::create_dir(&home).unwrap();
        let upstream = server.address("postgres");
        let config = format!(
            "[databases]\npostgres = host={} port={} user={} \
             password={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = \
             any\npool_mode = {mode}\nunix_socket_dir =\nignore_startup_parameters = \
             extra_float_digits\n",
            server.daemon.data().display(),
            upstream.port,
            upstream.user,
            upstream.password.unwrap_or_default()
        );
        fs::write(home.join("pooler.ini"), config).unwrap();
        let mut command = Command::new(program);
        command.arg(home.join("pooler.ini")).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = account() {
            chown(home.join("pooler.ini"), Some(account.user), Some(account.group)).unwrap();
            command.uid(account.user).gid(account.group);
        }
        let child = command.spawn().unwrap();
        wait_for(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Self(child, port))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_pooler_is_named_in_both_modes() {
    let Some(place) = Place::new("pooler") else { return };
    let server = given_server(&place.0.join("d"));
    for mode in ["session", "transaction"] {
        let Some(pooler) = Pooler::start(&place, &server, mode) else { return };
        let target = format!("postgresql://me@127.0.0.1:{}/postgres", pooler.1);
        for command in ["profile", "check sim:servers?count=1&service=1ms --for"] {
            let output = place.run(&format!("{command} {target}"));
            let said = words(&output);
            assert_eq!(output.status.code(), Some(2), "{mode}: {said}");
            assert!(said.contains("is a connection pooler, not the server"), "{mode}: {said}");
            assert!(said.contains("hint: specify the host and port"), "{mode}: {said}");
        }
        let load = format!("bench oltp {target} --warehouses 1 --sessions 2 --time 1s");
        let output = place.run(&load);
        let said = words(&output);
        let expected = if mode == "session" { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "{mode}: {said}");
        assert_eq!(said.contains("does not keep sessions"), mode == "transaction", "{said}");
    }
}

/// One command from a live server to a verdict about it, on storage that answers as fast as memory
/// and on a slow disk.
#[test]
fn storage_is_checked_for_a_live_server_in_one_command() {
    if Place::new("for-live").is_none() {
        return;
    }
    let place = Place::on_disk("for-live");
    let server = server(&place);
    let target = address(&server, None);
    let done = AtomicBool::new(false);
    let check = |storage: &str| {
        place.run(&format!("check {storage} --for {target} --profile-time 4s --time 30s --quiet"))
    };
    let (fast, slow) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut worker = client(&server);
            for key in (1..40_000_u64).cycle().step_by(397) {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                worker
                    .run(&format!(
                        "UPDATE t SET v = 'z' WHERE k = {key}; SELECT count(v) FROM t WHERE k < \
                         {key}"
                    ))
                    .unwrap();
            }
        });
        let both =
            (check("sim:servers?count=16&service=50us"), check("sim:servers?count=1&service=30ms"));
        done.store(true, Ordering::Relaxed);
        both
    });
    let text = String::from_utf8_lossy(&slow.stdout).into_owned();
    assert_eq!(slow.status.code(), Some(1), "{text}{}", words(&slow));
    assert!(text.starts_with("FAIL") && text.contains("postgres does not fit"), "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    let text = String::from_utf8_lossy(&fast.stdout).into_owned();
    assert!(text.contains("class of I/O") && text.lines().count() <= 24, "{text}");
    assert!(!text.contains("p99"), "{text}");
    // The run keeps the profile, so that other storage is checked without watching again.
    let again = place.run("check sim:servers?count=16&service=50us --for latest --time 30s --json");
    let again = json(&again);
    assert_eq!(again["projection"]["profile"], "postgres", "{again}");
    let criteria = again["verdict"]["judgements"].to_string();
    assert!(!criteria.contains("q0.99"), "{criteria}");
}

#[test]
fn a_server_that_stops_while_it_is_watched_ends_the_check() {
    let Some(place) = Place::new("stops") else { return };
    let server = given_server(&place.0.join("d"));
    let target = address(&server, None);
    let arguments =
        format!("check sim:servers?count=2&service=1ms --for {target} --profile-time 60s --quiet");
    let child = place.command(&arguments).spawn().unwrap();
    let mut observer = client(&server);
    wait_for(|| sessions_of_assay(&mut observer) > 0);
    drop(server);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert!(words(&output).contains("hint: "), "{}", words(&output));
}

/// Transactions of six statements each, and the server's own counters with them.
#[test]
fn transactions_of_mariadb_are_transactions_and_its_demand_is_its_own() {
    let Some(place) = mariadb::place_on_disk("demand") else { return };
    let server = mariadb::given(&place.0.join("d"));
    let mut client = MariaConnection::open(&server.address()).unwrap();
    client.run("CREATE DATABASE shop").unwrap();
    client.run("CREATE TABLE shop.t (k INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB").unwrap();
    for key in 0..200 {
        client.run(&format!("INSERT INTO shop.t VALUES ({key}, 'x')")).unwrap();
    }
    let target = mariadb::own_address(&server);
    let profile = beside_a_neighbour(&place.0, || {
        let child =
            place.command(&format!("profile {target} --time 5s --json --quiet")).spawn().unwrap();
        wait_for(|| {
            let sql = "SELECT COUNT(*) FROM information_schema.PROCESSLIST";
            client.one(sql).unwrap().count(0) > Some(1)
        });
        thread::sleep(std::time::Duration::from_secs(1));
        for key in 0..60 {
            client.run("BEGIN").unwrap();
            for step in 0..5 {
                let sql =
                    format!("UPDATE shop.t SET v = 'y{step}' WHERE k = {}", (key * 5 + step) % 200);
                client.run(&sql).unwrap();
            }
            client.run("COMMIT").unwrap();
        }
        json(&child.wait_with_output().unwrap())
    });
    let elapsed_s = value(&profile, "/elapsed_s/value");
    let transactions = value(&profile["work"], "/transactions_per_s/value") * elapsed_s;
    assert!((transactions - 60.0).abs() < 1.0, "{transactions}");
    let line = |name: &str| {
        let load = profile["server"]["load"].as_array().unwrap();
        let found = load.iter().find(|line| line["name"] == name).unwrap();
        found["amount_per_s"].as_f64().unwrap() * elapsed_s
    };
    assert!((line("statements") - 420.0).abs() < 30.0, "{}", line("statements"));
    // The log and a few late pages; the neighbour read many thousand times.
    assert!(value(&profile, "/classes/0/rate_iops/value") * elapsed_s < 3000.0, "{profile}");
}
