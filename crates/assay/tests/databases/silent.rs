//! Servers that take a connection and fall silent, at every step of a session: Ctrl-C ends the
//! wait, and the program says so.

use crate::server::{Place, wait_for, words};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What a server says; it hears something before each of them, or at last, unless it speaks first.
type Script = Vec<Vec<u8>>;

/// Says its part and nothing more; reports when the program waits for what does not come.
fn silent_after(speaks_first: bool, script: Script) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (reached, waits) = channel();
    std::thread::spawn(move || {
        let (mut way, _) = listener.accept().unwrap();
        let mut room = [0; 4096];
        let mut hears = !speaks_first;
        for words in script {
            if hears {
                let _ = way.read(&mut room).unwrap();
            }
            way.write_all(&words).unwrap();
            hears = true;
        }
        if hears {
            let _ = way.read(&mut room).unwrap();
        }
        reached.send(()).unwrap();
        // Open until the program closes it.
        while way.read(&mut room).is_ok_and(|read| read > 0) {}
    });
    (port, waits)
}

/// A message of PostgreSQL.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

/// A packet of MariaDB.
fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&length[..3], &[number], body].concat()
}

/// A greeting of MariaDB, which can or cannot encrypt.
fn greeting(encrypts: bool) -> Vec<u8> {
    let low: u16 = if encrypts { 0xffff } else { 0xf7ff };
    let mut body = b"\x0a10.11.9-MariaDB\0\x01\0\0\0abcdefgh\0".to_vec();
    body.extend(low.to_le_bytes());
    body.extend([45, 2, 0, 0x0f, 0, 21]);
    body.extend([0; 10]);
    body.extend(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &body)
}

/// Where a session of PostgreSQL falls silent: what the server has said by then, and the mode of
/// the address.
fn postgres_steps() -> Vec<(&'static str, Script, &'static str)> {
    let scram = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let ready =
        [message(b'R', &[0; 4]), message(b'S', b"server_version\x0018.1\0"), message(b'Z', b"I")];
    vec![
        ("the request for encryption", vec![], "prefer"),
        ("the handshake", vec![b"S".to_vec()], "require"),
        ("the start", vec![], "disable"),
        ("the proof", vec![scram], "disable"),
        ("a statement", vec![ready.concat()], "disable"),
    ]
}

/// The same of MariaDB, whose server speaks first.
fn mariadb_steps() -> Vec<(&'static str, Script, &'static str)> {
    let content = packet(2, &[0, 0, 0, 2, 0, 0, 0]);
    vec![
        ("the handshake", vec![greeting(true)], "require"),
        ("the proof", vec![greeting(false)], "disable"),
        ("a statement", vec![greeting(false), content], "disable"),
    ]
}

/// Starts a command, sends Ctrl-C when it waits, and hears from it.
fn interrupted(
    place: &Place,
    arguments: &[&str],
    waits: impl FnOnce(Pid),
) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).current_dir(&place.0).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let process = Pid::from_child(&child);
    waits(process);
    kill_process(process, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), words(&output))
}

fn ends_at(place: &Place, command: &[&str], at: &str, waits: impl FnOnce(Pid)) {
    let (code, said) = interrupted(place, command, waits);
    assert_eq!(code, Some(130), "{command:?}, {at}: {said}");
    // Not the server's time was up, which ends a login too.
    let is_told = said.contains("the program is ending") && said.contains("hint: ");
    assert!(is_told, "{command:?}, {at}: {said}");
}

fn commands(address: &str) -> [Vec<&str>; 2] {
    [
        vec!["profile", address, "--time", "2s", "--quiet"],
        vec!["bench", "slob", address, "--scale", "8MiB", "--time", "1s", "--quiet"],
    ]
}

#[test]
fn ctrl_c_ends_the_wait_for_a_silent_server_at_every_step() {
    let place = Place::made("silent");
    let products = [("postgresql", false, postgres_steps()), ("mysql", true, mariadb_steps())];
    std::thread::scope(|scope| {
        for (scheme, speaks_first, steps) in &products {
            for (at, script, mode) in steps {
                for command in 0..2 {
                    let place = &place;
                    scope.spawn(move || {
                        let (port, waits) = silent_after(*speaks_first, script.clone());
                        let address = format!("{scheme}://me:pw@127.0.0.1:{port}/x?sslmode={mode}");
                        let arrived = |_| waits.recv_timeout(Duration::from_secs(60)).unwrap();
                        ends_at(place, &commands(&address)[command], at, arrived);
                    });
                }
            }
        }
    });
}

/// Until the program catches Ctrl-C; it is about to connect then.
fn catches(process: Pid) {
    let status = format!("/proc/{}/status", process.as_raw_nonzero());
    wait_for(|| {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 2 != 0)
    });
    std::thread::sleep(Duration::from_millis(300));
}

/// A listener whose queue is full: who comes now waits to be connected.
fn full_network() -> (OwnedFd, SocketAddr, Vec<TcpStream>) {
    let flags = SocketFlags::CLOEXEC;
    let listener = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    bind(&listener, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    listen(&listener, 0).unwrap();
    let listener = TcpListener::from(listener);
    let place = listener.local_addr().unwrap();
    let soon = Duration::from_millis(200);
    let queue = (0..8).map_while(|_| TcpStream::connect_timeout(&place, soon).ok()).collect();
    (listener.into(), place, queue)
}

#[test]
fn ctrl_c_ends_the_wait_for_a_connection() {
    let place = Place::made("unconnected");
    let (_listener, at, _queue) = full_network();
    for scheme in ["postgresql", "mysql"] {
        let address = format!("{scheme}://me:pw@{at}/x");
        ends_at(&place, &commands(&address)[0], "connecting", catches);
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let local = || socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    let path = SocketAddrUnix::new(place.0.join(".s.PGSQL.5432")).unwrap();
    let listener = local();
    bind(&listener, &path).unwrap();
    listen(&listener, 0).unwrap();
    let queue: Vec<_> = (0..8).map(|_| local()).collect();
    assert!(queue.iter().any(|one| rustix::net::connect(one, &path).is_err()), "it has room");
    let address = format!("postgresql://me:pw@/x?host={}", place.0.display());
    ends_at(&place, &commands(&address)[0], "connecting", catches);
    let address = format!("mysql://me:pw@/?socket={}/.s.PGSQL.5432", place.0.display());
    ends_at(&place, &commands(&address)[0], "connecting", catches);
}
