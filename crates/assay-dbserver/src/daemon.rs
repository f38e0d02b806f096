//! A managed server, whatever its product: its home, the secret of its user, and its first process
//! until it is gone.

use crate::{RunningServer, ServerDir, ServerStop};
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A server that was made here. It ends with its value.
#[derive(Debug)]
pub struct Daemon {
    /// Where it lives.
    pub home: ServerDir,
    password: String,
    running: RunningServer,
}

impl Daemon {
    /// A server that does not run yet.
    pub fn new(home: ServerDir, password: String) -> Self {
        Self { home, password, running: RunningServer::default() }
    }

    /// The secret of its user.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.home.directory.join("data")
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
        self.running.complaint(&self.home, self.home.nature.last_words)
    }

    /// Whether the file system of its directory takes direct I/O.
    pub fn can_direct(&self) -> bool {
        self.home.can_direct()
    }

    /// Starts it and waits until it takes sessions, however long its recovery is; `stop` ends the
    /// waiting. `speak` opens a session and closes it, `explain` makes an error of the last
    /// words of a server that ended instead.
    ///
    /// # Errors
    /// An environment error when it cannot be run or ends instead, or what it says to a session.
    pub fn start(
        &mut self,
        program: &Path,
        command: Command,
        stop: &AtomicBool,
        speak: impl Fn() -> Answer<()>,
        explain: impl FnOnce(&ServerDir, &str) -> Error,
    ) -> Result<()> {
        let Self { home, running, .. } = self;
        running.start(home, program, command)?;
        let is_ready = || match speak() {
            Ok(()) => Ok(true),
            // There is no socket yet.
            Err(Failure::Lost(_)) => Ok(false),
            // It is starting.
            Err(failure) if failure.meaning() == Some(Refusal::Ended) => Ok(false),
            Err(failure) => Err(failure.of("connecting to the server")),
        };
        running.wait(home, stop, is_ready, |words| explain(home, words))
    }

    /// Ends it; nothing happens when it does not run.
    pub fn stop(&mut self, how: ServerStop) {
        let wanted = match how {
            ServerStop::Clean => self.home.nature.ended_cleanly_by,
            ServerStop::AtOnce => self.home.nature.ended_by,
        };
        self.running.stop(&self.home, wanted);
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop(ServerStop::AtOnce);
    }
}
