//! A command of the user's, ended with everything that it started when it takes too long, when the
//! measurement is stopped, and when this program ends in whatever way.

use assay_model::{Error, Result};
use rustix::process::{Pid, Signal, getpgrp, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is kept of the output; the rest is read and dropped, so that the command does not wait for
/// us.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// How often a command is looked after.
const LOOK: Duration = Duration::from_millis(20);
/// What was ended is given this long to be gone.
const GRACE: Duration = Duration::from_secs(5);
/// Words in the names of variables whose values are secrets.
const SECRET_WORDS: [&str; 9] = [
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "TOKEN",
    "CREDENTIAL",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
];

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPurpose {
    /// What a study does around its cells.
    Study,
    /// It cuts the power of a machine.
    Cut,
}

impl HookPurpose {
    const fn name(self) -> &'static str {
        match self {
            Self::Study => "hook",
            Self::Cut => "cut command",
        }
    }

    const fn hint(self) -> &'static str {
        match self {
            Self::Study => "run the command by hand and fix it, or increase time_limit in [hooks]",
            Self::Cut => "run the command by hand and fix it, or increase --cut-timeout",
        }
    }
}

/// How a command is run.
#[derive(Clone, Copy, Debug)]
pub struct HookRun<'a> {
    /// What it is for, which errors say.
    pub purpose: HookPurpose,
    /// Words of a command line that ends in [`guard_hook`]; without any, the command stays when
    /// this program is killed.
    pub guard: &'a [String],
    /// Variables that it gets besides those of this program, of which secrets are left out.
    pub variables: &'a [(&'a str, &'a str)],
    /// How long it may take.
    pub limit: Duration,
    /// Set when it is to end at once.
    pub stop: &'a AtomicBool,
}

/// Why a command is waited for no longer.
enum Waited {
    Ended(i32),
    TooLong,
    Stopped,
}

/// Runs a command by `sh -c` and gives what it printed.
///
/// # Errors
/// An environment error when it cannot be started, does not end in time, is stopped, or ends with a
/// code other than 0.
pub fn run_hook(command: &str, run: &HookRun<'_>) -> Result<String> {
    let limit = run.limit;
    let failed = |what: &str| failed(command, run.purpose, what);
    let mut child = command_of(command, run)
        .spawn()
        .map_err(|error| failed(&format!("cannot be started: {error}")))?;
    // Open as long as this program lives and waits: its end wakes the guard.
    let _alive = child.stdin.take();
    let outputs = [collect(child.stdout.take()), collect(child.stderr.take())];
    let begun = Instant::now();
    let waited = wait(&mut child, run);
    // What it left in the background may hold its output open.
    let is_over = matches!(waited, Waited::Ended(_));
    let is_quiet = is_over && closed(&outputs, limit.saturating_sub(begun.elapsed()), run.stop);
    if !is_quiet {
        end_group(&child);
        // Reaped, so that nothing of it stays behind.
        drop(child.wait());
    }
    if !is_quiet && !closed(&outputs, GRACE, &AtomicBool::new(false)) {
        return Err(failed("left processes running that cannot be ended"));
    }
    let [printed, complaints] = outputs.map(|output| output.join().unwrap_or_default());
    match waited {
        _ if run.stop.load(Ordering::Relaxed) && !is_quiet => Err(failed("was stopped")),
        Waited::Ended(0) if is_quiet => Ok(printed),
        Waited::Ended(code) if is_quiet => {
            let last = complaints.lines().last().map(|line| format!(": {line}"));
            let last = last.unwrap_or_default();
            Err(failed(&format!("ended with code {code}{last}")))
        }
        _ => Err(failed(&format!("did not end within {} s", limit.as_secs_f64()))),
    }
}

fn command_of(command: &str, run: &HookRun<'_>) -> Command {
    let mut started = if let Some((program, words)) = run.guard.split_first() {
        let mut started = Command::new(program);
        started.args(words).arg(command).stdin(Stdio::piped());
        started
    } else {
        let mut started = shell(command);
        started.stdin(Stdio::null());
        started
    };
    for (name, _) in std::env::vars_os() {
        if is_secret(&name.to_string_lossy()) {
            started.env_remove(name);
        }
    }
    started.envs(run.variables.iter().copied());
    started.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    started
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    shell
}

/// Whether a variable of this name holds a secret, such as `PGPASSWORD` or `MYSQL_PWD`.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_directory = name == "PWD" || name == "OLDPWD";
    SECRET_WORDS.iter().any(|word| name.contains(word))
        || ["PWD", "PASS"].iter().any(|end| name.ends_with(end)) && !is_directory
}

/// The guard of a command: runs it in the process group of its own that this process leads, and
/// gives its exit code. When the program that wanted it ends, even by a signal that nobody can
/// catch, standard input ends, and then the whole group does.
///
/// # Errors
/// What the system answered when the command cannot be started.
pub fn guard_hook(command: &str) -> std::io::Result<i32> {
    let mut child = shell(command).stdin(Stdio::null()).spawn()?;
    std::thread::spawn(|| {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        // This process is one of the group.
        let _ = kill_process_group(getpgrp(), Signal::KILL);
    });
    Ok(child.wait()?.code().unwrap_or(-1))
}

/// Whether all outputs end within some time.
fn closed<Output>(
    outputs: &[std::thread::JoinHandle<Output>],
    limit: Duration,
    stop: &AtomicBool,
) -> bool {
    let begun = Instant::now();
    loop {
        if outputs.iter().all(std::thread::JoinHandle::is_finished) {
            return true;
        }
        if begun.elapsed() >= limit || stop.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}

fn failed(command: &str, purpose: HookPurpose, what: &str) -> Error {
    Error::environment(format!("the {} `{command}` {what}", purpose.name()), purpose.hint())
}

/// The exit code, -1 for a command that a signal ended, or why it did not end.
fn wait(child: &mut Child, run: &HookRun<'_>) -> Waited {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Waited::Ended(status.code().unwrap_or(-1)),
            Ok(None) if run.stop.load(Ordering::Relaxed) => return Waited::Stopped,
            Ok(None) if begun.elapsed() < run.limit => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return Waited::TooLong,
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

/// Reads an output to its end while another thread waits.
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
    const SHORT: Duration = Duration::from_millis(50);

    fn run(command: &str, limit: Duration) -> Result<String> {
        let variables = [("ASSAY_CELL", "7")];
        let stop = AtomicBool::new(false);
        let purpose = HookPurpose::Study;
        let hook = HookRun { purpose, guard: &[], variables: &variables, limit, stop: &stop };
        run_hook(command, &hook)
    }

    #[test]
    fn a_command_gets_its_variables_and_gives_its_output() {
        assert_eq!(run("echo cell $ASSAY_CELL", LONG).unwrap(), "cell 7\n");
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let error = run("echo no array >&2; exit 3", LONG).unwrap_err();
        assert!(error.message().contains("ended with code 3: no array"), "{error}");
        assert!(error.hint().contains("time_limit"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let error = run("sleep 600 & sleep 600", SHORT);
        assert!(error.unwrap_err().message().contains("did not end within 0.05 s"));
    }

    #[test]
    fn what_a_command_leaves_in_the_background_does_not_hold_us_up() {
        let error = run("sleep 600 & true", SHORT);
        assert!(error.unwrap_err().message().contains("did not end within 0.05 s"));
        let silent = run("true >/dev/null; false", LONG).unwrap_err();
        assert!(silent.message().ends_with("ended with code 1"), "{silent}");
    }

    #[test]
    fn a_stop_ends_a_command_at_once() {
        for command in ["sleep 600", "sleep 600 & true"] {
            let stop = AtomicBool::new(true);
            let purpose = HookPurpose::Cut;
            let hook = HookRun { purpose, guard: &[], variables: &[], limit: LONG, stop: &stop };
            let error = run_hook(command, &hook).unwrap_err();
            let said = format!("the cut command `{command}` was stopped");
            assert_eq!((error.message(), error.hint().contains("--cut-timeout")), (&*said, true));
        }
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "PGPASSWORD",
            "MYSQL_PWD",
            "MARIADB_ROOT_PASSWORD",
            "aws_secret_access_key",
            "GITHUB_TOKEN",
            "VAULT_PASSPHRASE",
            "ARRAY_API_KEY",
            "SSHPWD",
            "SSHPASS",
            "DB_PASS",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "PATH", "HOME", "ASSAY_RUN", "PGHOST", "PGPASSFILE", "LANG"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
