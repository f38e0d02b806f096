//! A server of our own: made, started, stopped and gone, in a directory that the caller created for it.

mod account;
mod guard;
mod settings;

pub use account::Account;
pub use guard::become_guarded;
pub use settings::{IoMethod, Settings, missing_in};

use crate::address::{Address, Host};
use crate::binaries::Binaries;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::processes::{self, signal};
use assay_model::number::index_of;
use assay_model::{Error, Result};
use guard::command;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The user that the server knows.
const USER: &str = "assay";
/// How long a server may take to be ready: the recovery of a large database takes long.
const START_TIMEOUT: Duration = Duration::from_secs(600);
/// How often it is asked.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// How long it may take to end before it is ended by force.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its programs.
    pub binaries: Binaries,
    /// The directory that is its own; it is there, empty but for the caller's marker.
    pub directory: PathBuf,
    /// Who runs it, where this program is the superuser, as whom a server refuses to run.
    pub account: Option<Account>,
    /// Words before the programs that let them end with this program; see [`become_guarded`].
    pub guard: Vec<String>,
}

/// A server that was made here.
#[derive(Debug)]
pub struct Server {
    plan: Plan,
    password: String,
    child: Option<Child>,
}

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Everything is written: the directory can be used again.
    Clean,
    /// At once: the directory is of no further use.
    AtOnce,
}

impl Server {
    /// Makes the files of a server.
    ///
    /// # Errors
    /// An environment error when a program cannot be run or fails, with its words.
    pub fn create(plan: Plan) -> Result<Self> {
        let password = password()?;
        let server = Self { plan, password, child: None };
        server.hand_over(&server.plan.directory)?;
        let secret = server.plan.directory.join("password");
        write_secret(&secret, &server.password).map_err(|error| refused(&secret, &error))?;
        server.hand_over(&secret)?;
        server.initialise(&secret)?;
        fs::remove_file(&secret).map_err(|error| refused(&secret, &error))?;
        Ok(server)
    }

    /// A server that was made before, in a directory that was kept.
    ///
    /// # Errors
    /// A usage error when other programs made it than those of the plan.
    pub fn adopt(plan: Plan, password: String) -> Result<Self> {
        let server = Self { plan, password, child: None };
        let file = server.data().join("PG_VERSION");
        let made_by = fs::read_to_string(&file).map_err(|error| refused(&file, &error))?;
        let major = server.plan.binaries.major();
        if made_by.trim() == major.to_string() {
            return Ok(server);
        }
        Err(Error::usage(
            format!(
                "the server in {} was made by version {}, and the programs are of version {major}",
                server.plan.directory.display(),
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
        &self.plan.binaries
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.plan.directory.join("data")
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
        self.child.as_ref().map(Child::id)
    }

    /// Whether it was started and has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
    }

    /// Whether the file system of its directory takes direct I/O.
    pub fn can_direct(&self) -> bool {
        let probe = self.plan.directory.join("direct-probe");
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&probe, flags, Mode::RUSR | Mode::WUSR);
        // It may be there also when the open was refused.
        let _ = fs::remove_file(&probe);
        opened.is_ok()
    }

    fn hand_over(&self, path: &Path) -> Result<()> {
        let Some(account) = &self.plan.account else {
            return Ok(());
        };
        chown(path, Some(account.user), Some(account.group)).map_err(|error| refused(path, &error))
    }

    fn initialise(&self, secret: &Path) -> Result<()> {
        let program = self.plan.binaries.program("initdb");
        let mut command = command(&self.plan, &program);
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
        let done = done.map_err(|error| self.not_run(&program, &error))?;
        if done.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        Err(self.explain("making the files of a server", &words))
    }

    /// Starts it and waits until it takes sessions, however long its recovery is; `stop` ends the waiting.
    ///
    /// # Errors
    /// An environment error with the words of its log when it ends instead.
    pub fn start(&mut self, settings: &Settings, stop: &AtomicBool) -> Result<()> {
        let program = self.plan.binaries.program("postgres");
        let log = self.open_log()?;
        // What an earlier start wrote says nothing of this one.
        let log_begin = log.metadata().map_or(0, |log| log.len());
        let errors = log.try_clone().map_err(|error| refused(&self.log_path(), &error))?;
        let mut command = command(&self.plan, &program);
        command.arg("-D").arg(self.data());
        for (name, value) in settings.of(self.plan.binaries.major()) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().map_err(|error| self.not_run(&program, &error))?;
        self.child = Some(child);
        self.wait(log_begin, stop)
    }

    fn wait(&mut self, log_begin: u64, stop: &AtomicBool) -> Result<()> {
        let (begun, address) = (Instant::now(), self.address("postgres"));
        loop {
            match Connection::open(&address, "assay") {
                Ok(connection) => {
                    connection.close();
                    return Ok(());
                }
                // It is starting, or there is no socket yet.
                Err(Failure::Lost(_)) => {}
                Err(failure) if failure.code() == Some("57P03") => {}
                Err(failure) => return Err(failure.of("connecting to the server")),
            }
            if let Some(Ok(Some(_))) = self.child.as_mut().map(Child::try_wait) {
                self.child = None;
                let log = fs::read(self.log_path()).unwrap_or_default();
                let own = log.get(index_of(log_begin)..).unwrap_or_default();
                return Err(self.explain("starting the server", &String::from_utf8_lossy(own)));
            }
            if stop.load(Ordering::Relaxed) || begun.elapsed() > START_TIMEOUT {
                return Err(Error::environment("the server was not ready in time", "start again"));
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    /// Ends it; nothing happens when it does not run.
    pub fn stop(&mut self, how: Stop) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let wanted = match how {
            Stop::Clean => Signal::INT,
            Stop::AtOnce => Signal::QUIT,
        };
        signal(child.id(), wanted);
        let begun = Instant::now();
        while begun.elapsed() < STOP_TIMEOUT {
            if !matches!(child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // A child that has ended takes no signal any more.
        let _ = child.kill();
        let _ = child.wait();
        // Sessions notice the end of their server by themselves; nothing may be left when the directory goes.
        processes::end_inside(&self.plan.directory);
    }

    fn log_path(&self) -> PathBuf {
        self.plan.directory.join("log")
    }

    fn open_log(&self) -> Result<File> {
        let path = self.log_path();
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        opened.map_err(|error| refused(&path, &error))
    }

    /// Why a program could not be run at all.
    fn not_run(&self, program: &Path, error: &std::io::Error) -> Error {
        let what = format!("running {}: {error}", program.display());
        Error::environment(what, self.way_in(program))
    }

    /// The last words of a program, with a hint that fits.
    fn explain(&self, doing: &str, words: &str) -> Error {
        // That it refused us while it was starting is no reason.
        let lines = words.lines().filter(|line| !line.contains("the database system is starting"));
        let told = lines.rev().find_map(|line| {
            let at =
                ["FATAL:", "PANIC:", "error:", "ERROR:"].iter().find_map(|kind| line.find(kind))?;
            Some(line[at..].trim().to_owned())
        });
        let last = || words.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
        let why = told.or_else(last).unwrap_or_else(|| "it ended without a word".to_owned());
        let hint = match why.to_lowercase() {
            text if text.contains("space") => {
                "free space there, or name another directory".to_owned()
            }
            text if text.contains("permission denied") => self.way_in(&self.plan.directory),
            text if text.contains("lock file") => {
                "another program uses this server: wait until it has ended".to_owned()
            }
            text if text.contains("shared memory") => {
                "raise the limit on shared memory, or ask for fewer sessions".to_owned()
            }
            _ => "name another server with --bindir, or another directory".to_owned(),
        };
        Error::environment(format!("{doing}: {why}"), hint)
    }

    /// Every directory above must let the server's user in; their modes are never changed here.
    fn way_in(&self, path: &Path) -> String {
        match &self.plan.account {
            Some(account) => format!(
                "the server runs as {}: let that user enter every directory above {}, or name another place",
                account.name,
                path.display()
            ),
            None => format!("check the rights on {}", path.display()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Stop::AtOnce);
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(
        format!("preparing {}: {error}", path.display()),
        "check space and rights there",
    )
}

/// Letters that need no quotes anywhere, of 128 random bits.
fn password() -> Result<String> {
    let mut bytes = [0_u8; 16];
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty());
    match drawn {
        Ok(16) => Ok(format!("{:032x}", u128::from_be_bytes(bytes))),
        _ => Err(Error::environment("the system gave no random bytes", "try again")),
    }
}

fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests;
