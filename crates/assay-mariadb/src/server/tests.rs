//! Tests against the server that this machine has; without one they say that they were skipped.

use super::*;
use crate::binaries::MariadbSearchPath;
use crate::connection::Interrupter;
use crate::counters::MariadbKnowledge;
use crate::failure::{Refusal, number};
use crate::threads::{Thread, whole_usage};
use std::fs;

/// A directory that a server's user may enter, gone with its value.
struct MariadbScratch(PathBuf);

impl MariadbScratch {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("assay-mariadb-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for MariadbScratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn plan(directory: &Path) -> Option<MariadbPlan> {
    match MariadbSearchPath::of_this_program(None).find() {
        Ok(binaries) => Some(MariadbPlan {
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

const SETTINGS: MariadbStart =
    MariadbStart { direct: false, cache_bytes: 16 << 20, sessions_max: 8, without: None };

#[test]
fn a_server_is_made_started_spoken_with_killed_and_ended() {
    let scratch = MariadbScratch::new("whole");
    let Some(plan) = plan(&scratch.0) else { return };
    let mut server = MariadbServer::create(plan).unwrap();
    server.start(&SETTINGS, &AtomicBool::new(false)).unwrap();
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    assert_eq!(connection.facts().product, assay_model::load::DatabaseProduct::MariaDb);
    speaks(&mut connection);
    loads(&mut connection);
    counts(&server, &mut connection);
    refuses(&server);
    // A server that is killed comes back with what it acknowledged.
    connection.run("INSERT INTO t VALUES (7, 'seven', 0)").unwrap();
    assay_dbserver::processes::signal(server.daemon.process_id().unwrap(), Signal::KILL);
    assert!(connection.run("SELECT 1").unwrap_err().is_lost());
    while !server.daemon.has_ended() {}
    server.daemon.stop(ServerStop::AtOnce);
    server.start(&SETTINGS, &AtomicBool::new(false)).unwrap();
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    assert_eq!(connection.one("SELECT s FROM shop.t WHERE k = 7").unwrap().text(0), "seven");
    server.daemon.stop(ServerStop::Clean);
    assert!(assay_dbserver::processes::inside(&scratch.0, PROGRAMS).is_empty());
}

fn speaks(connection: &mut MariadbConnection) {
    let row = connection.one("SELECT 1, NULL, 'ä', 1.5").unwrap();
    assert_eq!((row.count(0), row.text(1), row.text(2)), (Some(1), "", "ä"));
    assert_eq!(number(&connection.run("SELEC 1").unwrap_err()), Some(1064));
    let many = connection.query("SELECT 1; SELECT 2; SELECT 3").unwrap();
    assert_eq!(
        many.iter().map(|row| row.count(0)).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3)]
    );
    let add = connection.prepare("SELECT ? + ?, CONCAT(?, 'x'), NULL, NOW(6), 1.25").unwrap();
    for value in 0..100 {
        let answers = connection.execute(&add, |values| {
            values.integer(value).integer(1).text(b"ab");
        });
        let row = answers.unwrap().row().unwrap();
        assert_eq!((row.integer(0), row.text(1), row.integer(2)), (Some(value + 1), "abx", None));
        assert_eq!((row.text(4), row.bytes(3).map(<[u8]>::len)), ("1.25", Some(11)));
    }
    let wrong = connection.prepare("SELECT ? FROM nowhere").unwrap_err();
    assert_eq!(number(&wrong), Some(1046));
}

fn loads(connection: &mut MariadbConnection) {
    connection.run("CREATE DATABASE shop; USE shop").unwrap();
    connection.run("CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR(20), n INT NULL)").unwrap();
    let mut bulk = connection.bulk("t", "").unwrap();
    bulk.send(b"1\tone\t10\n2\ttw").unwrap();
    bulk.send(b"o\t\\N\n").unwrap();
    assert_eq!(bulk.finish().unwrap(), 2);
    let row = connection.one("SELECT COUNT(*), SUM(n IS NULL), MAX(s) FROM t").unwrap();
    assert_eq!((row.count(0), row.count(1), row.text(2)), (Some(2), Some(1), "two"));
    assert_eq!(number(&connection.bulk("none", "").unwrap_err()), Some(1146));
    let mut bulk = connection.bulk("t", "").unwrap();
    bulk.send(b"1\tagain\t1\n").unwrap();
    // Rows that are there already are passed over in a local load.
    assert_eq!(bulk.finish().unwrap(), 0);
    let update = connection.prepare("UPDATE t SET s = ? WHERE k <= ?").unwrap();
    let answers = connection.execute(&update, |values| {
        values.text(b"two").integer(2);
    });
    // Rows that were found count, changed or not.
    assert_eq!(answers.unwrap().count(), 2);
}

fn counts(server: &MariadbServer, connection: &mut MariadbConnection) {
    let knowledge = MariadbKnowledge::of(connection).unwrap();
    assert!(knowledge.timed.io && knowledge.timed.statements && !knowledge.timed.log);
    assert!(knowledge.are_transactions_counted);
    assert_eq!(knowledge.page_bytes, settings::PAGE_BYTES);
    let (before, time_before) = knowledge.read(connection).unwrap();
    connection
        .run("CREATE TABLE u AS SELECT seq AS k, REPEAT('x', 500) AS s FROM seq_1_to_20000")
        .unwrap();
    connection.run("SELECT SLEEP(0.2)").unwrap();
    let (after, time_after) = knowledge.read(connection).unwrap();
    assert!(after.logical_reads > before.logical_reads + 1000, "{after:?}");
    assert!(after.log_bytes > before.log_bytes + 1_000_000 && after.commits > before.commits);
    assert!(time_after.database_ns > time_before.database_ns + 200_000_000, "{time_after:?}");
    assert!(time_after.read_ns >= time_before.read_ns && time_after.read_ns.is_some());
    transactions(&knowledge, connection);
    let thread = Thread::of(connection).unwrap();
    assert_eq!(Some(thread.process), server.daemon.process_id());
    let used = thread.usage().unwrap();
    assert!(used.cpu_ns > 0 && whole_usage(thread.process).unwrap().cpu_ns > 0);
}

/// A transaction of three changes is one, and so is a statement that commits by itself.
fn transactions(knowledge: &MariadbKnowledge, connection: &mut MariadbConnection) {
    let (before, _) = knowledge.read(connection).unwrap();
    for _ in 0..50 {
        connection
            .run(
                "START TRANSACTION; UPDATE t SET n = n + 1; DELETE FROM t WHERE k > 100; UPDATE t \
                 SET n = 0; COMMIT",
            )
            .unwrap();
        connection.run("UPDATE t SET n = 5").unwrap();
        connection.run("SELECT MAX(n) FROM t").unwrap();
    }
    let (after, _) = knowledge.read(connection).unwrap();
    let counted = after.commits - before.commits;
    assert!((150..=175).contains(&counted), "{counted}");
}

fn refuses(server: &MariadbServer) {
    let mut wrong = server.address();
    wrong.password = Some("wrong".to_owned());
    assert_eq!(number(&MariadbConnection::open(&wrong).unwrap_err()), Some(1045));
    let nowhere = server.address().with_database(Some("nowhere"));
    assert_eq!(number(&MariadbConnection::open(&nowhere).unwrap_err()), Some(1049));
    let mut cut = MariadbConnection::open(&server.address()).unwrap();
    let interrupter: Interrupter = cut.interrupter().unwrap();
    interrupter.interrupt();
    assert!(cut.run("SELECT 1").unwrap_err().is_lost());
    // Sessions beyond the last are refused; root's reserved one is ours.
    let open: Vec<_> = (0..40).map(|_| MariadbConnection::open(&server.address())).collect();
    let refused = open.into_iter().find_map(std::result::Result::err).unwrap();
    assert_eq!(refused.meaning(), Some(Refusal::TooManySessions), "{refused}");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let scratch = MariadbScratch::new("why");
    let Some(plan) = plan(&scratch.0) else { return };
    let mut server = MariadbServer::create(plan).unwrap();
    fs::remove_file(server.daemon.data().join("ibdata1")).unwrap();
    fs::create_dir(server.daemon.data().join("ibdata1")).unwrap();
    let error = server.start(&SETTINGS, &AtomicBool::new(false)).unwrap_err();
    assert!(error.message().contains("ibdata1"), "{error}");
}
