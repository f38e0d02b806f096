//! The directory in which a server of our own lives: who runs it there, its log, and what its refusals mean.

use crate::{Account, guard};
use assay_model::{Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct Plan<B> {
    /// Its programs.
    pub binaries: B,
    /// The directory that is its own; it is there, empty but for the caller's marker.
    pub directory: PathBuf,
    /// Who runs it, where this program is the superuser.
    pub account: Option<Account>,
    /// Words before the programs that let them end with this program; see
    /// [`become_guarded`](crate::become_guarded).
    pub guard: Vec<String>,
}

/// What a product makes of its servers in the eyes of the operating system.
#[derive(Debug)]
pub struct Nature {
    /// Ends a server when everything is written.
    pub ended_cleanly_by: Signal,
    /// What ends it at once, with all its processes, also while it is starting.
    pub ended_by: Signal,
    /// Names of the processes that a server may consist of; the kernel keeps fifteen letters.
    pub programs: &'static [&'static str],
    /// Stand in its log before the reason for which it gave up.
    pub last_words: &'static [&'static str],
}

impl<B> Plan<B> {
    /// Its programs, and the home of a server of this nature.
    pub fn home(self, nature: &'static Nature) -> (B, Home) {
        let Self { binaries, directory, account, guard } = self;
        (binaries, Home { directory, account, guard, nature })
    }
}

/// A directory that is a server's own; it is there, empty but for the caller's marker.
#[derive(Clone, Debug)]
pub struct Home {
    /// Where it is.
    pub directory: PathBuf,
    /// Who runs the server, where this program is the superuser, as whom no server should run.
    pub account: Option<Account>,
    /// Words before the programs that let them end with this program; see [`become_guarded`](crate::become_guarded).
    pub guard: Vec<String>,
    /// What its product makes of it.
    pub nature: &'static Nature,
}

impl Home {
    /// A program of the server, ready to be given its arguments.
    pub fn command(&self, program: &Path) -> Command {
        guard::command(self, program)
    }

    /// Refuses a directory or a program that the server's user does not reach, before anything is made there.
    ///
    /// # Errors
    /// An environment error that names the first closed directory.
    pub fn check_way_in(&self, program: &Path) -> Result<()> {
        let Some(account) = &self.account else {
            return Ok(());
        };
        let closed = [self.directory.as_path(), program]
            .into_iter()
            .find_map(|path| account.kept_out_by(path));
        closed.map_or(Ok(()), |closed| {
            Err(Error::environment(
                format!(
                    "the server would run as {}, who may not enter {}",
                    account.name,
                    closed.display()
                ),
                format!(
                    "chmod o+x {} lets every user pass through it; or name another place",
                    closed.display()
                ),
            ))
        })
    }

    /// Gives a file to the account that runs the server.
    ///
    /// # Errors
    /// An environment error when the system refuses.
    pub fn hand_over(&self, path: &Path) -> Result<()> {
        let Some(account) = &self.account else {
            return Ok(());
        };
        chown(path, Some(account.user), Some(account.group))
            .map_err(|error| Self::refused(path, &error))
    }

    /// Whether the file system of the directory takes direct I/O.
    pub fn can_direct(&self) -> bool {
        let probe = self.directory.join("direct-probe");
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&probe, flags, Mode::RUSR | Mode::WUSR);
        // It may be there also when the open was refused.
        let _ = fs::remove_file(&probe);
        opened.is_ok()
    }

    /// Where the server's log is.
    pub fn log_path(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Opens the log, to which every start adds.
    ///
    /// # Errors
    /// An environment error when the system refuses.
    pub fn open_log(&self) -> Result<File> {
        let path = self.log_path();
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        opened.map_err(|error| Self::refused(&path, &error))
    }

    /// What was written to the log from a length on.
    pub fn log_from(&self, begin_bytes: u64) -> String {
        let log = fs::read(self.log_path()).unwrap_or_default();
        let own = log.get(assay_model::number::index_of(begin_bytes)..).unwrap_or_default();
        String::from_utf8_lossy(own).into_owned()
    }

    /// That something in the directory could not be prepared.
    pub fn refused(path: &Path, error: &io::Error) -> Error {
        Error::environment(
            format!("preparing {}: {error}", path.display()),
            "check space and rights there",
        )
    }

    /// Why a program could not be run at all.
    pub fn not_run(&self, program: &Path, error: &io::Error) -> Error {
        let what = format!("running {}: {error}", program.display());
        Error::environment(what, self.way_in(program))
    }

    /// Every directory above must let the server's user in; their modes are never changed here.
    pub fn way_in(&self, path: &Path) -> String {
        match &self.account {
            Some(account) => format!(
                "the server runs as {}: let that user enter every directory above {}, or name another place",
                account.name,
                path.display()
            ),
            None => format!("check the rights on {}", path.display()),
        }
    }

    /// The last words of a program as an error, with a hint that fits; `marks` begin the lines that tell why.
    pub fn explain(
        &self,
        doing: &str,
        words: &str,
        marks: &[&str],
        hint: impl FnOnce(&str) -> Option<String>,
    ) -> Error {
        let told = words.lines().rev().find_map(|line| {
            let at = marks.iter().find_map(|mark| line.find(mark))?;
            Some(line[at..].trim().to_owned())
        });
        let last = || words.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
        let why = told.or_else(last).unwrap_or_else(|| "it ended without a word".to_owned());
        let lower = why.to_lowercase();
        let hint = hint(&lower).unwrap_or_else(|| match lower.as_str() {
            text if text.contains("space") => {
                "free space there, or name another directory".to_owned()
            }
            text if text.contains("permission denied") => self.way_in(&self.directory),
            _ => "name another server with --bindir, or another directory".to_owned(),
        });
        Error::environment(format!("{doing}: {why}"), hint)
    }
}
