//! MariaDB servers for tests of loads on them.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, each uses another part of this, and says where something \
              is missing"
)]

use crate::server::Place;
use assay_dbserver::ServerProgram;
use assay_mariadb::binaries::MariadbSearchPath;
use assay_mariadb::connection::MariadbConnection;
use assay_mariadb::server::{MariadbPlan, MariadbServer, MariadbStart, PROGRAMS, account};
use rustix::process::Signal;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A place where a MariaDB server can be made; nothing where this machine has none.
pub fn place(name: &str) -> Option<Place> {
    has_server().then(|| Place::made(&format!("mariadb-{name}")))
}

/// The same on the disk.
pub fn place_on_disk(name: &str) -> Option<Place> {
    has_server().then(|| Place::on_disk(&format!("mariadb-{name}")))
}

fn has_server() -> bool {
    let found = MariadbSearchPath::of_this_program(None).find();
    if let Err(error) = &found {
        println!("skipped: {}", error.message());
    }
    found.is_ok()
}

/// Ends all servers under test as a crash would.
pub fn kill_server(place: &Place) {
    for process in servers(place) {
        assay_dbserver::processes::signal(process, Signal::KILL);
    }
}

/// A server that is not the program's own.
pub fn given(directory: &Path) -> MariadbServer {
    let mut server = MariadbServer::create(MariadbPlan {
        binaries: MariadbSearchPath::of_this_program(None).find().unwrap(),
        directory: assay_dbserver::HeldServer::named(directory).unwrap(),
        account: account(),
        guard: Vec::new(),
    })
    .unwrap();
    let settings =
        MariadbStart { direct: false, cache_bytes: 128 << 20, sessions_max: 8, without: None };
    server.start(&settings, &AtomicBool::new(false)).unwrap();
    server
}

/// Its address for a user.
pub fn address(server: &MariadbServer, user: &str, password: &str) -> String {
    let socket = server.daemon.data().join("assay.sock");
    format!("mysql://{user}:{password}@/?socket={}", socket.display())
}

/// Its address for the user that it was made with.
pub fn own_address(server: &MariadbServer) -> String {
    address(server, "assay", server.daemon.password())
}

pub fn databases(connection: &mut MariadbConnection) -> Vec<String> {
    let rows = connection.query("SHOW DATABASES LIKE 'assay%'").unwrap();
    rows.iter().map(|row| row.text(0).to_owned()).collect()
}

/// The processes of the server in the directory under test.
pub fn servers(place: &Place) -> Vec<u32> {
    let inside = place.0.join("d").canonicalize().unwrap();
    assay_dbserver::processes::inside(&inside, PROGRAMS)
}
