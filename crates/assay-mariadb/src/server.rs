//! A managed server: created, started, stopped and removed, in a directory that the caller created
//! for it.

mod page_checks;
mod settings;
#[cfg(test)]
mod tests;

pub use assay_dbserver::{ServerStop, SystemAccount};
pub use settings::MariadbStart;

use crate::address::{MariadbAddress, MariadbHost};
use crate::binaries::{MariadbBinaries, MariadbSearchPath};
use crate::connection::MariadbConnection;
use assay_dbserver::tls::Security;
use assay_dbserver::{
    Daemon, INPUT, IoMethod, ServerDir, ServerProgram, ServerStart, ServerTraits, nameless,
    password,
};
use assay_model::durability::PageCheck;
use assay_model::{Error, Result};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// The user that the server knows.
const USER: &str = "assay";
/// The room of its files.
const DATA: &str = "data";
/// The room of its temporary tables.
const SCRATCH: &str = "tmp";
/// The socket, in the data directory, which only the server's own account may enter.
const SOCKET: &str = "assay.sock";
/// Names of processes that a managed server may consist of; the kernel keeps fifteen letters.
pub const PROGRAMS: &[&str] = &["mariadbd", "mariadb-install"];
/// How the lines of its programs begin that say why one ended.
const MARKS: [&str; 3] = ["[ERROR]", "ERROR:", "FATAL"];
/// Lines that only say that it ends.
const LAST_LINES: [&str; 4] = [
    "Aborting",
    "Plugin initialization aborted",
    "Unknown/unsupported storage engine",
    "registration as a STORAGE ENGINE failed",
];

/// The user that a server should run as: none unless this program is the superuser.
pub fn account() -> Option<SystemAccount> {
    SystemAccount::needed("mysql")
}

/// What a server is made of.
pub type MariadbPlan = assay_dbserver::HomePlan<MariadbBinaries>;

/// What a server is in the eyes of the operating system.
const NATURE: ServerTraits = ServerTraits {
    ended_cleanly_by: Signal::TERM,
    // Every other signal makes it write what is in its cache, and one that comes while it starts
    // may be lost on it.
    ended_by: Signal::KILL,
    programs: PROGRAMS,
    last_words: &["[ERROR] ", "[FATAL] "],
};

/// A server that was made here.
#[derive(Debug)]
pub struct MariadbServer {
    binaries: MariadbBinaries,
    /// Its files and its processes.
    pub daemon: Daemon,
}

impl MariadbServer {
    fn of(plan: MariadbPlan, password: String) -> Self {
        let (binaries, home) = plan.home(&NATURE);
        Self { binaries, daemon: Daemon::new(home, password) }
    }

    /// Where it puts temporary tables.
    fn scratch(&self) -> PathBuf {
        self.daemon.home.directory.join(SCRATCH)
    }

    /// How to reach it.
    pub fn address(&self) -> MariadbAddress {
        MariadbAddress {
            host: MariadbHost::Socket(self.daemon.data().join(SOCKET)),
            user: USER.to_owned(),
            password: Some(self.daemon.password().to_owned()),
            database: None,
            security: Security::default(),
        }
    }

    /// A program of the server; by itself it lets its group read what it makes, whatever the mask
    /// of its process is.
    fn command(&self, program: &Path) -> Command {
        let mut command = self.daemon.home.command(program);
        command.env("UMASK", "0600").env("UMASK_DIR", "0700");
        command
    }

    fn initialise(&self) -> Result<()> {
        let program = &self.binaries.installer;
        let mut command = self.command(program);
        command.args(["--no-defaults", "--skip-test-db", "--skip-name-resolve"]);
        command.arg("--auth-root-authentication-method=normal");
        command.arg(option("datadir", &self.daemon.data())).arg(format!("--extra-file={INPUT}"));
        command.arg(option("tmpdir", &self.scratch()));
        command.arg(format!("--innodb-page-size={}", settings::PAGE_BYTES));
        let first = nameless(&first_statements(self.daemon.password()));
        let first =
            first.map_err(|error| ServerDir::refused(&self.daemon.home.directory, &error))?;
        let done = command.stdin(first).output();
        let done = done.map_err(|error| self.daemon.home.not_run(program, &error))?;
        // The program says success also when the last of its statements failed.
        let words = [done.stdout, done.stderr].concat();
        let words = String::from_utf8_lossy(&words).into_owned();
        if done.status.success() && !words.contains("ERROR:") {
            return Ok(());
        }
        Err(explain(&self.daemon.home, "creating the files of a server", &words))
    }
}

impl ServerProgram for MariadbServer {
    type Address = MariadbAddress;
    type Binaries = MariadbBinaries;
    type Settings = MariadbStart;
    type Choice = ();

    const PROGRAMS: &'static [&'static str] = PROGRAMS;
    const DAMAGE: &'static [&'static str] = &[
        "corrupt",
        "got signal",
        "checkpoint",
        "log sequence number",
        "missing mlog",
        "missing file_",
        "log scan aborted",
        "wrong space id",
        "checksum",
        "cannot open datafile",
    ];

    fn find(directory: Option<PathBuf>) -> Result<MariadbBinaries> {
        MariadbSearchPath::of_this_program(directory).find()
    }

    fn choice(io_method: Option<IoMethod>) -> Result<()> {
        if io_method.is_some() {
            return Err(Error::usage(
                "--io-method applies only to PostgreSQL",
                "omit it with --server mariadb",
            ));
        }
        Ok(())
    }

    fn account() -> Option<SystemAccount> {
        account()
    }

    fn create(plan: MariadbPlan) -> Result<Self> {
        let server = Self::of(plan, password()?);
        server.daemon.home.check_way_in(&server.binaries.server)?;
        server.daemon.home.let_in()?;
        server.daemon.home.make_room(DATA)?;
        server.daemon.home.make_room(SCRATCH)?;
        server.initialise()?;
        Ok(server)
    }

    fn adopt(plan: MariadbPlan, password: String) -> Result<Self> {
        let server = Self::of(plan, password);
        if server.daemon.data().join("ibdata1").is_file() {
            server.daemon.home.check_room(DATA)?;
            server.daemon.home.check_room(SCRATCH)?;
            return Ok(server);
        }
        Err(Error::usage(
            format!(
                "{} does not contain the files of a MariaDB server",
                server.daemon.home.directory.display()
            ),
            "specify the directory of a kept server, with the --server of that run",
        ))
    }

    fn settings(start: ServerStart, (): &()) -> MariadbStart {
        MariadbStart {
            direct: start.direct,
            cache_bytes: start.cache_bytes,
            sessions_max: start.sessions_max,
            without: start.without,
        }
    }

    fn start(&mut self, settings: &MariadbStart, stop: &AtomicBool) -> Result<()> {
        let program = self.binaries.server.clone();
        let mut command = self.command(&program);
        // The first word must be this one, or files of the system are read.
        command.arg("--no-defaults");
        command.arg(option("datadir", &self.daemon.data())).arg(option("tmpdir", &self.scratch()));
        command.arg(format!("--socket={SOCKET}"));
        for (name, value) in settings.all() {
            command.arg(format!("--{name}={value}"));
        }
        let address = self.address();
        let speak = || MariadbConnection::open(&address).map(MariadbConnection::close);
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
        true
    }

    fn check_running(&self, schema: &str) -> Vec<PageCheck> {
        vec![self.check_tables(schema)]
    }

    fn check_at_rest(&self) -> Vec<PageCheck> {
        vec![self.innochecksum()]
    }

    fn address(&self) -> MariadbAddress {
        Self::address(self)
    }
}

/// The last words of a program, with a hint that fits.
fn explain(home: &ServerDir, doing: &str, words: &str) -> Error {
    let tells = |line: &&str| !LAST_LINES.iter().any(|last| line.contains(last));
    let words = words.lines().filter(tells).collect::<Vec<_>>().join("\n");
    home.explain(doing, &words, &MARKS, |why| {
        let is_held = why.contains("unable to lock") || why.contains("can't lock");
        is_held.then(|| "another program uses this server: wait until it ends".to_owned())
    })
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("--{name}="));
    option.push(path);
    option
}

/// One user, who has a secret; the superusers without one that every installation begins with are
/// removed.
fn first_statements(password: &str) -> String {
    format!(
        "FLUSH PRIVILEGES;\nCREATE USER '{USER}'@'localhost' IDENTIFIED BY '{password}';\nGRANT \
         ALL ON *.* TO '{USER}'@'localhost' WITH GRANT OPTION;\nDELETE FROM mysql.global_priv \
         WHERE User NOT IN ('{USER}', 'mariadb.sys');\nFLUSH PRIVILEGES;\n"
    )
}
