//! A place with or without a PostgreSQL server, for tests of loads on databases.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, each uses another part of this, and says where something \
              is missing"
)]

use assay_dbserver::ServerProgram;
use assay_postgres::binaries::PostgresSearchPath;
use assay_postgres::connection::PostgresConnection;
use assay_postgres::server::{PostgresPlan, PostgresServer, PostgresStart, account};
use assay_rig::memory_directory;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A directory that the server's user may enter, gone when it is dropped.
pub struct Place(pub PathBuf);

impl Place {
    /// Nothing where there is no server to test with.
    pub fn new(name: &str) -> Option<Self> {
        if !has_server() {
            println!("skipped: no PostgreSQL server here");
            return None;
        }
        Some(Self::made(name))
    }

    /// A place for servers of any product, in memory where that can be had.
    pub fn made(name: &str) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self::at(memory_directory().join(format!("{name}-{number}")))
    }

    /// A place on the disk, for what is to be asked of one.
    pub fn on_disk(name: &str) -> Self {
        let own = format!("assay-load-{name}-{}", std::process::id());
        Self::at(std::env::temp_dir().join(own))
    }

    fn at(path: PathBuf) -> Self {
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(path.join("d")).unwrap();
        Self(path)
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(arguments.split_whitespace()).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn start(&self, arguments: &str) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// What stands in the directory under test.
    pub fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("d")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Ends the first process of the only server under test: with `QUIT` it takes the others with
    /// it, with `KILL` they do not learn of it.
    pub fn kill_server(&self, signal: Signal) {
        let directory = self.0.join("d").join(&self.left()[0]);
        let pid = fs::read_to_string(directory.join("data/postmaster.pid")).unwrap();
        let pid = Pid::from_raw(pid.lines().next().unwrap().parse().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Ends the process of one session as a crash would: the others go with it, and their server
    /// restarts them.
    pub fn kill_session(&self) {
        let serves = |process: &PathBuf| {
            let words = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains("[local]")
        };
        let found = self.processes_inside().into_iter().find(serves).unwrap();
        let pid = found.file_name().unwrap().to_str().unwrap().parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }

    /// Processes that work in the directory under test.
    pub fn processes(&self) -> usize {
        self.processes_inside().len()
    }

    fn processes_inside(&self) -> Vec<PathBuf> {
        processes_in(&self.0.join("d").canonicalize().unwrap())
    }
}

/// Processes that work in a directory, as directories of `/proc`.
pub fn processes_in(directory: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let is_inside = |process: &PathBuf| {
        fs::read_link(process.join("cwd")).is_ok_and(|place| place.starts_with(directory))
    };
    all.map(|entry| entry.path()).filter(is_inside).collect()
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Does something while the directory under test is a small file system; says so where there is no
/// right to mount one.
pub fn on_small(place: &Place, mebibytes: u32, act: impl FnOnce()) {
    let options = format!("size={mebibytes}m,mode=755");
    let small = place.0.join("d");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &options, "assay-test"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: no right to mount a small file system");
        return;
    }
    let ended = catch_unwind(AssertUnwindSafe(act));
    assert!(Command::new("umount").arg(&small).status().unwrap().success());
    if let Err(panic) = ended {
        resume_unwind(panic);
    }
}

/// Whether there is a server to test with, by the same search as the program's.
pub fn has_server() -> bool {
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    PostgresSearchPath::of_this_program(named).find().is_ok()
}

pub fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let words = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {words}"))
}

pub fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn wait_for(mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server that is not the program's own.
pub fn given_server(directory: &Path) -> PostgresServer {
    let named = std::env::var_os("ASSAY_BINDIR").map(PathBuf::from);
    let mut server = PostgresServer::create(PostgresPlan {
        binaries: PostgresSearchPath::of_this_program(named).find().unwrap(),
        directory: assay_dbserver::HeldServer::named(directory).unwrap(),
        account: account(),
        guard: Vec::new(),
    })
    .unwrap();
    let settings = PostgresStart {
        direct: false,
        shared_buffers_bytes: 16 << 20,
        sessions_max: 8,
        io_method: None,
        without: None,
    };
    server.start(&settings, &AtomicBool::new(false)).unwrap();
    server
}

/// The address of a server with a password, in the form of a person.
pub fn address(server: &PostgresServer, password: Option<&str>) -> String {
    let password =
        password.map_or_else(|| server.address("postgres").password.unwrap(), str::to_owned);
    format!("postgresql://assay:{password}@/postgres?host={}", server.daemon.data().display())
}

pub fn schemas(server: &PostgresServer) -> Vec<String> {
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    let rows =
        connection.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assay%'").unwrap();
    rows.iter().map(|row| row.text(0).to_owned()).collect()
}

/// Whether a file of a cell is in the store.
pub fn kept(place: &Path, file: &str) -> bool {
    let runs = fs::read_dir(place.join("assay-runs")).into_iter().flatten().filter_map(Result::ok);
    runs.into_iter().any(|run| run.path().join("cells").join(file).exists())
}
