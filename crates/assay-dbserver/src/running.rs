//! A server that runs: its first process, until it is stopped.

use crate::ServerDir;
use crate::processes::{end_inside, signal};
use assay_model::{Error, Result};
use rustix::process::Signal;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take to be ready: the recovery of a large database takes long.
const START_TIMEOUT: Duration = Duration::from_secs(600);
/// How often it is asked.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// How long a server may take to end before it is ended by force.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStop {
    /// Everything is written: the directory can be used again.
    Clean,
    /// At once: the directory is of no further use.
    AtOnce,
}

/// The first process of a server, where one was started.
#[derive(Debug, Default)]
pub struct RunningServer {
    child: Option<Child>,
    /// Length of the log before the last start, bytes.
    log_begin: u64,
}

impl RunningServer {
    /// Starts a server whose words go to the log of its home.
    ///
    /// # Errors
    /// An environment error when it cannot be run at all.
    pub fn start(&mut self, home: &ServerDir, program: &Path, mut command: Command) -> Result<()> {
        let log = home.open_log()?;
        // What an earlier start wrote says nothing of this one.
        self.log_begin = log.metadata().map_or(0, |log| log.len());
        let errors = log.try_clone();
        let errors = errors.map_err(|error| ServerDir::refused(&home.log_path(), &error))?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().map_err(|error| home.not_run(program, &error))?;
        self.child = Some(child);
        Ok(())
    }

    /// The first of its processes, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Whether it was started and has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
    }

    /// The last line since its start in which it gives up: what follows one of `marks`.
    pub fn complaint(&self, home: &ServerDir, marks: &[&str]) -> Option<String> {
        let words = home.log_from(self.log_begin);
        words.lines().rev().find_map(|line| {
            let (_, message) = marks.iter().find_map(|mark| line.split_once(mark))?;
            Some(message.trim().to_owned())
        })
    }

    /// Waits until it takes sessions, however long its recovery is; `stop` ends the waiting,
    /// `explain` makes an error of its last words.
    ///
    /// # Errors
    /// An environment error when it ends instead, or what `is_ready` says.
    pub fn wait(
        &mut self,
        home: &ServerDir,
        stop: &AtomicBool,
        mut is_ready: impl FnMut() -> Result<bool>,
        explain: impl FnOnce(&str) -> Error,
    ) -> Result<()> {
        let begun = Instant::now();
        while !is_ready()? {
            if self.has_ended() {
                self.child = None;
                return Err(explain(&home.log_from(self.log_begin)));
            }
            if stop.load(Ordering::Relaxed) || begun.elapsed() > START_TIMEOUT {
                return Err(Error::environment("the server was not ready in time", "start again"));
            }
            std::thread::sleep(ASK_EVERY);
        }
        Ok(())
    }

    /// Ends it with a signal; nothing happens when it does not run.
    pub fn stop(&mut self, home: &ServerDir, wanted: Signal) {
        let Some(mut child) = self.child.take() else {
            return;
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
        // Sessions notice the end of their server by themselves; nothing may be left when the
        // directory goes.
        end_inside(&home.held, home.nature.programs);
    }
}
