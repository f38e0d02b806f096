//! A server of our own: made, started, stopped and gone, in a directory that the caller created for it.

mod settings;

pub use assay_daemon::{Account, Stop, become_guarded};
pub use settings::{IoMethod, Settings, missing_in};

use crate::address::{Address, Host};
use crate::binaries::Binaries;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::processes::PROGRAMS;
use assay_daemon::{Home, Running, password, write_secret};
use assay_model::{Error, Result};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;

/// The user that the server knows.
const USER: &str = "assay";
/// Begin the lines of its programs that tell why one ended.
const MARKS: [&str; 4] = ["FATAL:", "PANIC:", "error:", "ERROR:"];

/// The user that a server must run as: none unless this program is the superuser.
pub fn account() -> Option<Account> {
    Account::needed("postgres")
}

/// What a server is made of.
pub type Plan = assay_daemon::Plan<Binaries>;

/// A server that was made here.
#[derive(Debug)]
pub struct Server {
    binaries: Binaries,
    home: Home,
    password: String,
    running: Running,
}

impl Server {
    fn of(plan: Plan, password: String) -> Self {
        let Plan { binaries, directory, account, guard } = plan;
        // Settings of the caller's own server are not meant for this one.
        let home = Home {
            directory,
            account,
            guard,
            // The first process tells all others.
            ended_by: Signal::QUIT,
            foreign: &["PG"],
            programs: PROGRAMS,
        };
        Self { binaries, home, password, running: Running::default() }
    }

    /// Makes the files of a server.
    ///
    /// # Errors
    /// An environment error when a program cannot be run or fails, with its words.
    pub fn create(plan: Plan) -> Result<Self> {
        let server = Self::of(plan, password()?);
        server.home.check_way_in(&server.binaries.program("postgres"))?;
        server.home.hand_over(&server.home.directory)?;
        let secret = server.home.directory.join("password");
        write_secret(&secret, &server.password).map_err(|error| Home::refused(&secret, &error))?;
        server.home.hand_over(&secret)?;
        server.initialise(&secret)?;
        fs::remove_file(&secret).map_err(|error| Home::refused(&secret, &error))?;
        Ok(server)
    }

    /// A server that was made before, in a directory that was kept.
    ///
    /// # Errors
    /// A usage error when other programs made it than those of the plan.
    pub fn adopt(plan: Plan, password: String) -> Result<Self> {
        let server = Self::of(plan, password);
        let file = server.data().join("PG_VERSION");
        let made_by = fs::read_to_string(&file).map_err(|error| Home::refused(&file, &error))?;
        let major = server.binaries.major();
        if made_by.trim() == major.to_string() {
            return Ok(server);
        }
        Err(Error::usage(
            format!(
                "the server in {} was made by version {}, and the programs are of version {major}",
                server.home.directory.display(),
                made_by.trim()
            ),
            "name programs of that version with --bindir",
        ))
    }

    /// The secret of its user.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The version of its programs.
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.home.directory.join("data")
    }

    /// How to reach it.
    pub fn address(&self, database: &str) -> Address {
        Address {
            host: Host::Socket(self.data()),
            port: 5432,
            user: USER.to_owned(),
            password: Some(self.password.clone()),
            database: database.to_owned(),
        }
    }

    /// The first of its processes, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.running.process_id()
    }

    /// Whether it was started and has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.running.has_ended()
    }

    /// Why it gave up, by the last word of its log that says so.
    pub fn complaint(&self) -> Option<String> {
        self.running.complaint(&self.home, &["PANIC: "])
    }

    /// Whether the file system of its directory takes direct I/O.
    pub fn can_direct(&self) -> bool {
        self.home.can_direct()
    }

    fn initialise(&self, secret: &Path) -> Result<()> {
        let program = self.binaries.program("initdb");
        let mut command = self.home.command(&program);
        command.arg("-D").arg(self.data()).arg("--pwfile").arg(secret);
        command.args([
            "-U",
            USER,
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        let done = command.stdin(Stdio::null()).output();
        let done = done.map_err(|error| self.home.not_run(&program, &error))?;
        if done.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        Err(explain(&self.home, "making the files of a server", &words))
    }

    /// Starts it and waits until it takes sessions, however long its recovery is; `stop` ends the waiting.
    ///
    /// # Errors
    /// An environment error with the words of its log when it ends instead.
    pub fn start(&mut self, settings: &Settings, stop: &AtomicBool) -> Result<()> {
        let program = self.binaries.program("postgres");
        let mut command = self.home.command(&program);
        command.arg("-D").arg(self.data());
        for (name, value) in settings.of(self.binaries.major()) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        self.running.start(&self.home, &program, command)?;
        self.wait(stop)
    }

    fn wait(&mut self, stop: &AtomicBool) -> Result<()> {
        let address = self.address("postgres");
        let is_ready = || match Connection::open(&address, "assay") {
            Ok(connection) => {
                connection.close();
                Ok(true)
            }
            // It is starting, or there is no socket yet.
            Err(Failure::Lost(_)) => Ok(false),
            Err(failure) if failure.code() == Some("57P03") => Ok(false),
            Err(failure) => Err(failure.of("connecting to the server")),
        };
        let (running, home) = (&mut self.running, &self.home);
        running.wait(home, stop, is_ready, |words| explain(home, "starting the server", words))
    }

    /// Ends it; nothing happens when it does not run.
    pub fn stop(&mut self, how: Stop) {
        let wanted = match how {
            Stop::Clean => Signal::INT,
            Stop::AtOnce => Signal::QUIT,
        };
        self.running.stop(&self.home, wanted);
    }
}

/// The last words of a program, with a hint that fits.
fn explain(home: &Home, doing: &str, words: &str) -> Error {
    // That it refused us while it was starting is no reason.
    let lines = words.lines().filter(|line| !line.contains("the database system is starting"));
    let words = lines.collect::<Vec<_>>().join("\n");
    home.explain(doing, &words, &MARKS, |why| match why {
        text if text.contains("lock file") => {
            Some("another program uses this server: wait until it has ended".to_owned())
        }
        text if text.contains("shared memory") => {
            Some("raise the limit on shared memory, or ask for fewer sessions".to_owned())
        }
        _ => None,
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Stop::AtOnce);
    }
}

#[cfg(test)]
mod tests;
