//! A command of the user's, ended with everything that it started when it takes too long.

use assay_model::{Error, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is kept of the output; the rest is read and dropped, so that the command does not wait for us.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// How often a command is looked after.
const LOOK: Duration = Duration::from_millis(20);
/// What was ended is given this long to be gone.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a command by `sh -c` with additional variables and gives what it printed.
///
/// # Errors
/// An environment error when it cannot be started, does not end in time, or ends with a code other than 0.
pub fn run_hook(command: &str, variables: &[(&str, &str)], limit: Duration) -> Result<String> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| failed(command, &format!("cannot be started: {error}")))?;
    let outputs = [collect(child.stdout.take()), collect(child.stderr.take())];
    let begun = Instant::now();
    let ended = wait(&mut child, limit);
    // What it left in the background may hold its output open.
    let is_quiet = ended.is_some() && closed(&outputs, limit.saturating_sub(begun.elapsed()));
    if !is_quiet {
        end_group(&child);
        // Reaped, so that nothing of it stays behind.
        drop(child.wait());
    }
    if !is_quiet && !closed(&outputs, GRACE) {
        return Err(failed(command, "left something running that cannot be ended"));
    }
    let [printed, complaints] = outputs.map(|output| output.join().unwrap_or_default());
    match ended.filter(|_| is_quiet) {
        None => Err(failed(command, &format!("did not end within {} s", limit.as_secs_f64()))),
        Some(0) => Ok(printed),
        Some(code) => {
            let last = complaints.lines().last().map(|line| format!(": {line}"));
            let last = last.unwrap_or_default();
            Err(failed(command, &format!("ended with code {code}{last}")))
        }
    }
}

/// Whether all outputs end within some time.
fn closed<Output>(outputs: &[std::thread::JoinHandle<Output>], limit: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if outputs.iter().all(std::thread::JoinHandle::is_finished) {
            return true;
        }
        if begun.elapsed() >= limit {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}

fn failed(command: &str, what: &str) -> Error {
    Error::environment(
        format!("the hook `{command}` {what}"),
        "run the command by hand, mend it, or give it more time with time_limit in [hooks]",
    )
}

/// The exit code, or nothing when the time is over; -1 for a command that a signal ended.
fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().unwrap_or(-1)),
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Ends the command and what it started: they share a group of their own.
fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended by itself meanwhile.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Reads an output to its end beside the waiting.
fn collect<Output: Read + Send + 'static>(
    output: Option<Output>,
) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let (mut kept, mut piece) = (Vec::new(), [0u8; 4096]);
        let Some(mut output) = output else {
            return String::new();
        };
        while let Ok(bytes @ 1..) = output.read(&mut piece) {
            let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len());
            kept.extend_from_slice(&piece[..bytes.min(room)]);
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_command_gets_its_variables_and_gives_its_output() {
        let printed = run_hook("echo cell $ASSAY_CELL", &[("ASSAY_CELL", "7")], LONG);
        assert_eq!(printed.unwrap(), "cell 7\n");
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let error = run_hook("echo no array >&2; exit 3", &[], LONG).unwrap_err();
        assert!(error.message().contains("ended with code 3: no array"), "{error}");
        assert!(error.hint().contains("time_limit"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let error = run_hook("sleep 600 & sleep 600", &[], Duration::from_millis(50));
        assert!(error.unwrap_err().message().contains("did not end within 0.05 s"));
    }
    #[test]
    fn what_a_command_leaves_in_the_background_does_not_hold_us_up() {
        let error = run_hook("sleep 600 & true", &[], Duration::from_millis(50));
        assert!(error.unwrap_err().message().contains("did not end within 0.05 s"));
        let silent = run_hook("true >/dev/null; false", &[], LONG).unwrap_err();
        assert!(silent.message().ends_with("ended with code 1"), "{silent}");
    }
}
