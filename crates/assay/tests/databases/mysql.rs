//! Loads on a MySQL server, which `ASSAY_MYSQLD` names as a program (`mysqld`, 8.0 or newer);
//! without it the test says that it was skipped.

use crate::server::{Place, json, wait_for, words};
use crate::transactions::assert_right;
use assay_dbserver::tls::Security;
use assay_mariadb::address::{MariadbAddress, MariadbHost};
use assay_mariadb::connection::MariadbConnection;
use serde_json::Value;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The user of the tests, who has a password.
const USER: &str = "tester";
const PASSWORD: &str = "geheim";

/// A MySQL server in a place of its own; ends with its value.
struct MySql {
    child: Child,
    place: Place,
    port: u16,
}

impl MySql {
    /// Nothing where no server is named.
    fn start(name: &str) -> Option<Self> {
        let Some(program) = std::env::var_os("ASSAY_MYSQLD").map(PathBuf::from) else {
            println!("skipped: ASSAY_MYSQLD names no MySQL server");
            return None;
        };
        let place = Place::made(&format!("mysql-{name}"));
        let words = place.0.join("init.log");
        let begin = |more: &[&str], log: &PathBuf| {
            let mut command = Command::new(&program);
            command
                .arg("--no-defaults")
                .arg(format!("--datadir={}", place.0.join("data").display()));
            // As the superuser it needs an option that allows it.
            command.arg(format!("--user={}", account()));
            command.args(["--mysqlx=OFF", "--secure-file-priv=NULL"]).args(more);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log).unwrap());
            command.spawn().unwrap()
        };
        let output = || fs::read_to_string(&words).unwrap_or_default();
        assert!(
            begin(&["--initialize-insecure"], &words).wait().unwrap().success(),
            "{}",
            output()
        );
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let socket = format!("--socket={}", place.0.join("s").display());
        let bound = [socket.as_str(), &format!("--port={port}"), "--bind-address=127.0.0.1"];
        let child = begin(&bound, &place.0.join("server.log"));
        let server = Self { child, place, port };
        wait_for(|| MariadbConnection::open(&server.as_root()).is_ok());
        let mut connection = MariadbConnection::open(&server.as_root()).unwrap();
        for statement in [
            format!("CREATE USER {USER} IDENTIFIED WITH caching_sha2_password BY '{PASSWORD}'"),
            format!("GRANT ALL ON *.* TO {USER}"),
        ] {
            connection.run(&statement).unwrap();
        }
        Some(server)
    }

    fn as_root(&self) -> MariadbAddress {
        MariadbAddress {
            host: MariadbHost::Socket(self.place.0.join("s")),
            user: "root".to_owned(),
            password: None,
            database: None,
            security: Security::default(),
        }
    }

    fn by_socket(&self) -> String {
        format!("mysql://{USER}:{PASSWORD}@/?socket={}", self.place.0.join("s").display())
    }

    fn by_network(&self) -> String {
        format!("mysql://{USER}:{PASSWORD}@127.0.0.1:{}/", self.port)
    }

    /// The document of a load that came to its end.
    fn measured(&self, command: &str, document: &str) -> Value {
        let output = self.place.run(&format!("{command} --quiet --json"));
        // Small data lies in the cache of the server, and then that is said.
        assert!(
            [Some(0), Some(3)].contains(&output.status.code()),
            "{command}: {}",
            words(&output)
        );
        let measured = json(&output)[document].clone();
        assert_eq!(measured["server"]["product"], "MySQL");
        measured
    }

    #[track_caller]
    fn refused(&self, command: &str, word: &str) {
        let output = self.place.run(&format!("{command} --quiet"));
        let words = words(&output);
        assert_eq!(output.status.code(), Some(4), "{command}: {words}");
        assert!(words.contains(word) && words.contains("hint: "), "{command}: {words}");
    }
}

impl Drop for MySql {
    fn drop(&mut self) {
        // What it holds goes with its place.
        let process = self.child.id();
        assay_dbserver::processes::signal(process, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

/// The user that this test runs as.
fn account() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn logins_loads_and_refusals_are_those_of_mysql() {
    let Some(server) = MySql::start("whole") else { return };
    let mut connection = MariadbConnection::open(&server.as_root()).unwrap();
    logins(&server);
    let slob = format!(
        "bench slob {} --scale 8MiB --sessions 1,2 --time 1s --update-pct 20",
        server.by_socket()
    );
    // It takes no rows from clients unless a setting allows it.
    connection.run("SET GLOBAL local_infile = OFF").unwrap();
    server.refused(&slob, "local_infile = ON");
    connection.run("SET GLOBAL local_infile = ON").unwrap();
    slob_is_measured(&server.measured(&slob, "load"));
    orders_are_right(&server);
    queries_are_answered(&server);
    let left = connection.query("SHOW DATABASES LIKE 'assay%'").unwrap();
    assert_eq!(left, Vec::new());
}

/// Over a network the password itself is not sent; once the server knows it from a login over its
/// socket, its proof will do.
fn logins(server: &MySql) {
    let by_network = format!("bench slob {} --scale 8MiB", server.by_network());
    server.refused(&by_network, "socket");
    let socket = MariadbAddress::parse(&server.by_socket(), |_| None).unwrap();
    MariadbConnection::open(&socket).unwrap().close();
    let network = MariadbAddress::parse(&server.by_network(), |_| None).unwrap();
    let mut connection = MariadbConnection::open(&network).unwrap();
    assert_eq!(connection.one("SELECT CURRENT_USER()").unwrap().text(0), format!("{USER}@%"));
    let wrong = server.by_socket().replace(PASSWORD, "wrong");
    server.refused(&format!("bench slob {wrong} --scale 8MiB"), "1045");
}

fn slob_is_measured(load: &Value) {
    // One row a page of 16 KiB.
    assert_eq!(load["server"]["block_bytes"], 16_384);
    let rungs = load["steps"].as_array().unwrap();
    assert!(!rungs.is_empty(), "{load}");
    for rung in rungs {
        assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
        let counted = |name: &str| rung["database"][name].as_u64();
        // It counts the syncs of its log and times them, unlike newer releases of MariaDB.
        assert!(counted("log_syncs").is_some() && counted("log_sync_wait_ns").is_some(), "{rung}");
        assert!(counted("read_wait_ns").is_some() && rung["time"]["commit_ns"].is_u64(), "{rung}");
        assert!(rung["time"]["cpu_ns"].is_u64() && rung["server_cpu_s"].is_f64(), "{rung}");
    }
}

fn orders_are_right(server: &MySql) {
    let oltp = format!(
        "bench oltp {} --warehouses 1 --sessions 2 --time 1s --warm-up 200ms --verify",
        server.by_socket()
    );
    // Who makes the procedures, meets none, and calls them as he found them, meets the same data.
    for calls in ["--calls stmt --keep", "--calls proc --keep", "--calls proc --partial-data drop"]
    {
        let load = server.measured(&format!("{oltp} {calls}"), "load");
        assert_right(&load, 2);
        assert!(load["steps"][0]["measurement"]["errors"].as_array().unwrap().is_empty(), "{load}");
    }
}

fn queries_are_answered(server: &MySql) {
    let load = format!("bench dss {} --scale 0.01", server.by_socket());
    let dss = server.measured(&format!("{load} --streams 1"), "dss");
    assert_eq!(dss["data"]["rows"], 86_805);
    for run in dss["runs"].as_array().unwrap() {
        let mut queries = run["queries"].as_array().unwrap().iter();
        assert!(queries.all(|query| query["outcome"]["kind"] == "complete"), "{run}");
    }
    let output = server.place.run(&format!("{load} --streams 0 --query-limit 1ms --quiet --json"));
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let document = json(&output);
    let queries = document["dss"]["runs"][0]["queries"].as_array().unwrap();
    let outcome = |name: &str| {
        let found = queries.iter().find(|query| query["name"] == name).unwrap();
        found["outcome"]["kind"].clone()
    };
    assert_eq!((outcome("Q1"), outcome("RF1")), ("over_limit".into(), "complete".into()));
}
