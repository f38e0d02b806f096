//! A managed server: created, started, stopped and removed, in a directory that the caller created
//! for it.

mod page_checks;
mod settings;

pub use assay_dbserver::{ServerStop, SystemAccount, become_guarded};
pub use settings::{PostgresStart, missing_in};

use crate::address::{ConnectionOptions, PostgresAddress, PostgresHost};
use crate::binaries::{PostgresBinaries, PostgresSearchPath};
use crate::connection::PostgresConnection;
use crate::processes::PROGRAMS;
use assay_dbserver::{
    Daemon, INPUT, IoMethod, ServerDir, ServerProgram, ServerStart, ServerTraits, nameless,
    password,
};
use assay_model::durability::PageCheck;
use assay_model::{Error, Result};
use rustix::process::Signal;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The user that the server knows.
const USER: &str = "assay";
/// The room of its files, the only one that its account may enter.
const DATA: &str = "data";
/// The lock files of its files and of its socket, which lie in one directory.
const LOCK_FILES: [&str; 2] = ["postmaster.pid", ".s.PGSQL.5432.lock"];
/// How the lines of its programs begin that say why one ended.
const MARKS: [&str; 4] = ["FATAL:", "PANIC:", "error:", "ERROR:"];

/// The user that a server must run as: none unless this program is the superuser.
pub fn account() -> Option<SystemAccount> {
    SystemAccount::needed("postgres")
}

/// What a server is made of.
pub type PostgresPlan = assay_dbserver::HomePlan<PostgresBinaries>;

/// What a server is in the eyes of the operating system; the first process passes every signal on
/// to all others.
const NATURE: ServerTraits = ServerTraits {
    ended_cleanly_by: Signal::INT,
    ended_by: Signal::QUIT,
    programs: PROGRAMS,
    last_words: &["PANIC: "],
};

/// A server that was made here.
#[derive(Debug)]
pub struct PostgresServer {
    binaries: PostgresBinaries,
    /// Its files and its processes.
    pub daemon: Daemon,
}

impl PostgresServer {
    fn of(plan: PostgresPlan, password: String) -> Self {
        let (binaries, home) = plan.home(&NATURE);
        Self { binaries, daemon: Daemon::new(home, password) }
    }

    /// The version of its programs.
    pub fn binaries(&self) -> &PostgresBinaries {
        &self.binaries
    }

    /// How to reach it.
    pub fn address(&self, database: &str) -> PostgresAddress {
        PostgresAddress {
            host: PostgresHost::Socket(self.daemon.data()),
            port: 5432,
            user: USER.to_owned(),
            password: Some(self.daemon.password().to_owned()),
            database: database.to_owned(),
            terms: ConnectionOptions::default(),
        }
    }

    fn initialise(&self) -> Result<()> {
        let program = self.binaries.program("initdb");
        let mut command = self.daemon.home.command(&program);
        command.arg("-D").arg(self.daemon.data()).arg("--pwfile").arg(INPUT);
        command.args([
            "-U",
            USER,
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        let secret = nameless(self.daemon.password());
        let secret =
            secret.map_err(|error| ServerDir::refused(&self.daemon.home.directory, &error))?;
        let done = command.stdin(secret).output();
        let done = done.map_err(|error| self.daemon.home.not_run(&program, &error))?;
        if done.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        Err(explain(&self.daemon.home, "creating the files of a server", &words))
    }
}

impl ServerProgram for PostgresServer {
    type Address = PostgresAddress;
    type Binaries = PostgresBinaries;
    type Settings = PostgresStart;
    type Choice = Option<IoMethod>;

    const PROGRAMS: &'static [&'static str] = PROGRAMS;
    const DAMAGE: &'static [&'static str] = &[
        "panic:",
        "checkpoint record",
        "invalid page",
        "invalid data in file",
        "incorrect checksum",
        "contains invalid",
        "contains wrong",
        "could not read",
        "could not access status",
        "cache lookup failed",
        "unexpected zero page",
        "missing chunk",
        "not a btree",
    ];

    fn find(directory: Option<PathBuf>) -> Result<PostgresBinaries> {
        PostgresSearchPath::of_this_program(directory).find()
    }

    fn choice(io_method: Option<IoMethod>) -> Result<Option<IoMethod>> {
        Ok(io_method)
    }

    fn account() -> Option<SystemAccount> {
        account()
    }

    fn create(plan: PostgresPlan) -> Result<Self> {
        let server = Self::of(plan, password()?);
        server.daemon.home.check_way_in(&server.binaries.program("postgres"))?;
        server.daemon.home.let_in()?;
        server.daemon.home.make_room(DATA)?;
        server.initialise()?;
        Ok(server)
    }

    fn adopt(plan: PostgresPlan, password: String) -> Result<Self> {
        let server = Self::of(plan, password);
        server.daemon.home.check_room(DATA)?;
        let made_by = server.daemon.home.text_in(DATA, "PG_VERSION")?;
        let major = server.binaries.major();
        if made_by.trim() == major.to_string() {
            return Ok(server);
        }
        Err(Error::usage(
            format!(
                "the server in {} was created by version {}, but the programs have version {major}",
                server.daemon.home.directory.display(),
                made_by.trim()
            ),
            "specify programs of that version with --bindir",
        ))
    }

    fn settings(start: ServerStart, choice: &Option<IoMethod>) -> PostgresStart {
        PostgresStart {
            direct: start.direct,
            shared_buffers_bytes: start.cache_bytes,
            sessions_max: start.sessions_max,
            io_method: *choice,
            without: start.without,
        }
    }

    fn start(&mut self, settings: &PostgresStart, stop: &AtomicBool) -> Result<()> {
        let program = self.binaries.program("postgres");
        // A power cut empties the lock files of a server that does not wait for storage. The next
        // one takes them for those of another that is starting.
        for lock in LOCK_FILES {
            self.daemon.home.remove_empty(DATA, lock);
        }
        let mut command = self.daemon.home.command(&program);
        command.arg("-D").arg(self.daemon.data());
        for (name, value) in settings.of(self.binaries.major()) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let address = self.address("postgres");
        let speak = || PostgresConnection::open(&address, "assay").map(PostgresConnection::close);
        self.daemon.start(&program, command, stop, speak, |home, words| {
            explain(home, "starting the server", words)
        })
    }

    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn daemon_mut(&mut self) -> &mut Daemon {
        &mut self.daemon
    }

    fn knows_direct(&self) -> bool {
        self.binaries.major() >= 16
    }

    fn seal_pages(&self) {
        self.enable_checksums();
    }

    fn check_running(&self, schema: &str) -> Vec<PageCheck> {
        vec![self.amcheck(USER, schema)]
    }

    fn check_at_rest(&self) -> Vec<PageCheck> {
        vec![self.check_checksums()]
    }

    fn address(&self) -> PostgresAddress {
        Self::address(self, "postgres")
    }
}

/// The last words of a program, with a hint that fits.
fn explain(home: &ServerDir, doing: &str, words: &str) -> Error {
    // That it refused us while it was starting or recovering is not a reason: "is starting up", "is
    // not yet accepting connections".
    let lines = words.lines().filter(|line| !line.contains("the database system is "));
    let words = lines.collect::<Vec<_>>().join("\n");
    home.explain(doing, &words, &MARKS, |why| match why {
        text if text.contains("lock file") => {
            Some("another program uses this server: wait until it ends".to_owned())
        }
        text if text.contains("shared memory") => {
            Some("raise the limit on shared memory, or use fewer sessions".to_owned())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests;
