//! A place with or without a MariaDB server, for tests of loads on it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, each uses another part of this, and says where its ground is missing"
)]

use super::server::Place;
use assay_mariadb::binaries::Places;
use assay_mariadb::connection::Connection;
use assay_mariadb::server::{PROGRAMS, Plan, Server, Settings, account};
use rustix::process::Signal;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A place where a MariaDB server can be made; nothing where this machine has none.
pub fn place(name: &str) -> Option<Place> {
    match Places::of_this_program(None).find() {
        Ok(_) => Some(Place::made(&format!("mariadb-{name}"))),
        Err(error) => {
            println!("skipped: {}", error.message());
            None
        }
    }
}

/// Ends all servers under test as a crash would.
pub fn kill_server(place: &Place) {
    let inside = place.0.join("d").canonicalize().unwrap();
    for process in assay_daemon::processes::inside(&inside, PROGRAMS) {
        assay_daemon::processes::signal(process, Signal::KILL);
    }
}

/// A server that is not the program's own.
pub fn given_server(directory: &Path) -> Server {
    let mut server = Server::create(Plan {
        binaries: Places::of_this_program(None).find().unwrap(),
        directory: directory.to_owned(),
        account: account(),
        guard: Vec::new(),
    })
    .unwrap();
    let settings = Settings { direct: false, cache_bytes: 128 << 20, sessions_max: 8 };
    server.start(&settings, &AtomicBool::new(false)).unwrap();
    server
}

/// Its address in the form of a person.
pub fn address(server: &Server) -> String {
    let socket = server.data().join("assay.sock");
    format!("mysql://assay:{}@/?socket={}", server.password(), socket.display())
}

pub fn databases(connection: &mut Connection) -> Vec<String> {
    let rows = connection.query("SHOW DATABASES LIKE 'assay%'").unwrap();
    rows.iter().map(|row| row.text(0).to_owned()).collect()
}
