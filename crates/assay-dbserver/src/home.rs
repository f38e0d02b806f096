//! The directory in which a managed server lives: who runs it there, its log, and what its refusals
//! mean.

use crate::guard::clean_environment;
use crate::{HeldServer, SystemAccount};
use assay_model::{Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Signal, geteuid};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The log of a server, outside of what its account may reach.
const LOG: &str = "log";
/// No small file is larger.
const SMALL_BYTES: u64 = 4096;

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct HomePlan<B> {
    /// Its programs.
    pub binaries: B,
    /// The directory that is its own; it is there, empty but for the caller's marker, and belongs
    /// to the caller.
    pub directory: HeldServer,
    /// Who runs it, where this program is the superuser.
    pub account: Option<SystemAccount>,
    /// Words before the programs that let them end with this program; see
    /// [`become_guarded`](crate::become_guarded).
    pub guard: Vec<String>,
}

/// What a product makes of its servers in the eyes of the operating system.
#[derive(Debug)]
pub struct ServerTraits {
    /// Ends a server when everything is written.
    pub ended_cleanly_by: Signal,
    /// What ends it at once, with all its processes, also while it is starting.
    pub ended_by: Signal,
    /// Names of the processes that a server may consist of; the kernel keeps fifteen letters.
    pub programs: &'static [&'static str],
    /// Stand in its log before the reason for which it gave up.
    pub last_words: &'static [&'static str],
}

impl<B> HomePlan<B> {
    /// Its programs, and the home of a server of this nature.
    pub fn home(self, nature: &'static ServerTraits) -> (B, ServerDir) {
        let Self { binaries, directory, account, guard } = self;
        let path = directory.path().to_owned();
        (binaries, ServerDir { directory: path, held: directory, account, guard, nature })
    }
}

/// A directory that is a server's own; it is there, empty but for the caller's marker. It belongs
/// to this program: the account of the server passes through to the rooms in it that are given to
/// that account, and reaches nothing else.
#[derive(Clone, Debug)]
pub struct ServerDir {
    /// Where it is.
    pub directory: PathBuf,
    /// The directory itself.
    pub held: HeldServer,
    /// Who runs the server, where this program is the superuser, as whom no server should run.
    pub account: Option<SystemAccount>,
    /// Words before the programs that let them end with this program; see
    /// [`become_guarded`](crate::become_guarded).
    pub guard: Vec<String>,
    /// What its product makes of it.
    pub nature: &'static ServerTraits,
}

impl ServerDir {
    /// A program of the server, ready to be given its arguments: run as its account in its
    /// directory, in a process group of its own, because Ctrl-C is for this program.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = match self.guard.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(std::process::id().to_string());
                command.arg(self.nature.ended_by.as_raw().to_string()).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.current_dir(&self.directory).process_group(0);
        clean_environment(&mut command);
        command.env("HOME", &self.directory);
        if let Some(account) = &self.account {
            command.uid(account.user).gid(account.group);
        }
        command
    }

    /// Refuses a directory or a program that the server's user does not reach, before anything is
    /// made there.
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
                    "the server would run as {}, who has no access to {}",
                    account.name,
                    closed.display()
                ),
                format!(
                    "run chmod o+x {}, which lets every user pass through it, or specify another \
                     directory",
                    closed.display()
                ),
            ))
        })
    }

    /// Lets the account that runs the server pass through the directory.
    pub fn let_in(&self) -> Result<()> {
        let Some(account) = &self.account else {
            return Ok(());
        };
        let done = self.held.let_pass(Some(account.group));
        done.map_err(|error| Self::refused(&self.directory, &error.into()))
    }

    /// Makes a directory in it that belongs to the account that runs the server.
    pub fn make_room(&self, name: &str) -> Result<()> {
        let made = self.held.new_directory(name).and_then(|room| self.hand_over(&room));
        made.map_err(|error| Self::refused(&self.directory.join(name), &error.into()))
    }

    /// Gives a directory to the account that runs the server, by its descriptor.
    pub fn hand_over(&self, room: &HeldServer) -> rustix::io::Result<()> {
        let Some(account) = &self.account else {
            return Ok(());
        };
        room.give(account.user, account.group)
    }

    /// Refuses files of a server that belong to nobody who may run it here.
    ///
    /// # Errors
    /// An environment error that names the user.
    pub fn check_room(&self, name: &str) -> Result<()> {
        let path = self.directory.join(name);
        let room = self.held.directory(name);
        let status = room.and_then(|room| room.status());
        let status = status.map_err(|error| Self::refused(&path, &error.into()))?;
        let wanted = self.account.as_ref().map_or(geteuid().as_raw(), |account| account.user);
        if status.st_uid == wanted {
            return Ok(());
        }
        Err(Error::environment(
            format!("{} belongs to the user {}, not to {wanted}", path.display(), status.st_uid),
            "use the server as the user who created it, or create another one",
        ))
    }

    /// Removes a file from one of its rooms if it is empty.
    pub fn remove_empty(&self, room: &str, name: &str) {
        let Ok(room) = self.held.directory(room) else { return };
        if room.status_of(name).is_ok_and(|status| status.st_size == 0) {
            // If it stays, the start of the server fails and names it.
            let _ = room.unlink(name);
        }
    }

    /// The text of a small file in one of its rooms, where the server's account may have put
    /// anything.
    ///
    /// # Errors
    /// An environment error when it is not a regular file of at most 4 KiB.
    pub fn text_in(&self, room: &str, name: &str) -> Result<String> {
        let read = || -> io::Result<String> {
            let file = self.held.directory(room)?.file(name, OFlags::RDONLY, Mode::empty())?;
            let mut text = String::new();
            file.take(SMALL_BYTES).read_to_string(&mut text)?;
            Ok(text)
        };
        read().map_err(|error| Self::refused(&self.directory.join(room).join(name), &error))
    }

    /// Whether the file system of the directory takes direct I/O.
    pub fn can_direct(&self) -> bool {
        const PROBE: &str = "direct-probe";
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::DIRECT;
        let opened = self.held.file(PROBE, flags, Mode::RUSR | Mode::WUSR);
        // It may be there also when the open was refused.
        let _ = self.held.unlink(PROBE);
        opened.is_ok()
    }

    /// Where the server's log is.
    pub fn log_path(&self) -> PathBuf {
        self.directory.join(LOG)
    }

    /// Opens the log, to which every start adds.
    pub fn open_log(&self) -> Result<File> {
        let flags = OFlags::CREATE | OFlags::APPEND | OFlags::WRONLY;
        let opened = self.held.file(LOG, flags, Mode::RUSR | Mode::WUSR);
        opened.map_err(|error| Self::refused(&self.log_path(), &error.into()))
    }

    /// What was written to the log from a length on.
    pub fn log_from(&self, begin_bytes: u64) -> String {
        let mut log = Vec::new();
        if let Ok(mut file) = self.held.file(LOG, OFlags::RDONLY, Mode::empty()) {
            // What cannot be read says nothing.
            let _ = file.read_to_end(&mut log);
        }
        let own = log.get(assay_model::number::index_of(begin_bytes)..).unwrap_or_default();
        String::from_utf8_lossy(own).into_owned()
    }

    /// That something in the directory could not be prepared.
    pub fn refused(path: &Path, error: &io::Error) -> Error {
        Error::environment(
            format!("preparing {}: {error}", path.display()),
            "check free space and permissions there",
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
                "the server runs as {}: let that user enter every directory above {}, or specify \
                 another directory",
                account.name,
                path.display()
            ),
            None => format!("check the permissions of {}", path.display()),
        }
    }

    /// The last words of a program as an error, with a hint that fits; `marks` begin the lines that
    /// say why.
    pub fn explain(
        &self,
        doing: &str,
        words: &str,
        marks: &[&str],
        hint: impl FnOnce(&str) -> Option<String>,
    ) -> Error {
        let reason = words.lines().rev().find_map(|line| {
            let at = marks.iter().find_map(|mark| line.find(mark))?;
            Some(line[at..].trim().to_owned())
        });
        let last = || words.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
        let why = reason.or_else(last).unwrap_or_else(|| "it ended without a message".to_owned());
        let lower = why.to_lowercase();
        let hint = hint(&lower).unwrap_or_else(|| match lower.as_str() {
            text if text.contains("no space") || text.contains("disk full") => {
                "free space there, or specify another directory".to_owned()
            }
            text if text.contains("permission denied") => self.way_in(&self.directory),
            _ => "specify another server with --bindir, or another directory".to_owned(),
        });
        Error::environment(format!("{doing}: {why}"), hint)
    }
}
