//! Processes that end hard: killed at a seeded random moment, and never left behind.

use crate::random::Random;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How a killed command ended.
#[derive(Clone, Copy, Debug)]
pub struct Killed {
    /// How long after its start it was killed.
    pub after: Duration,
    /// How it ended.
    pub status: ExitStatus,
}

impl Killed {
    /// Whether the kill struck it; if not, it had ended by itself before.
    pub fn was_running(&self) -> bool {
        self.status.signal() == Some(Signal::KILL.as_raw())
    }
}

/// Starts `command`, kills it and all that it started with `SIGKILL` after a random time in the
/// half-open range `between`, and reaps it.
pub fn kill_at_random(
    command: &mut Command,
    random: &mut Random,
    between: &Range<Duration>,
) -> io::Result<Killed> {
    let after = random.duration(between);
    let mut child = Reaped::spawn(command)?;
    std::thread::sleep(after);
    child.kill_group();
    Ok(Killed { after, status: child.wait()? })
}

/// A child process in a process group of its own, killed with all that it started and reaped when
/// dropped.
#[derive(Debug)]
pub struct Reaped {
    child: Child,
}

impl Reaped {
    /// Starts `command`.
    ///
    /// # Errors
    /// Those of `Command::spawn`.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        Ok(Self { child: command.process_group(0).spawn()? })
    }

    fn kill_group(&self) {
        // The number cannot have been given away: the child is not reaped yet.
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Deref for Reaped {
    type Target = Child;
    fn deref(&self) -> &Child {
        &self.child
    }
}

impl DerefMut for Reaped {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: Range<Duration> = Duration::from_millis(1)..Duration::from_millis(5);

    #[test]
    fn what_runs_on_is_killed_and_what_has_ended_is_not() {
        let mut random = Random::new(1);
        let killed = kill_at_random(Command::new("sleep").arg("600"), &mut random, &EARLY);
        let killed = killed.unwrap();
        assert!(killed.was_running() && EARLY.contains(&killed.after));
        let late = Duration::from_millis(500)..Duration::from_millis(501);
        let ended = kill_at_random(&mut Command::new("true"), &mut random, &late).unwrap();
        assert!(ended.status.success() && !ended.was_running());
    }

    #[test]
    fn grandchildren_die_with_a_dropped_guard() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo $!; wait"]).stdout(std::process::Stdio::piped());
        let mut child = Reaped::spawn(&mut command).unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(output), &mut line).unwrap();
        drop(child);
        // Killed is not yet reaped by its new parent: a dead process has no command line left.
        let begin = std::time::Instant::now();
        let command_line = format!("/proc/{}/cmdline", line.trim());
        while std::fs::read(&command_line).is_ok_and(|bytes| !bytes.is_empty()) {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
