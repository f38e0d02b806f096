//! Programs that end when this one ends, whatever ends it, and that get no signal of its terminal.

use rustix::fs::Mode;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, umask};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// What of this program's environment another one needs: all else, secrets among it, stays here.
const INHERITED: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];

/// Gives a program an environment of its own, without a word of the caller's that it does not need.
pub fn clean_environment(command: &mut Command) {
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC");
    command.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
}

/// Turns this process into `program`, which gets a signal by its number when the process `parent`
/// ends: a server then ends at once. Returns only when that failed.
///
/// The kernel forgets the wish when a process changes its user, so the user is changed before this
/// is called.
pub fn become_guarded(parent: u32, signal: i32, program: &Path, arguments: &[String]) -> io::Error {
    // What a server makes is for its account alone, whatever the caller's mask is.
    let _ = umask(Mode::RWXG | Mode::RWXO);
    let Some(signal) = Signal::from_named_raw(signal) else {
        return io::Error::other(format!("there is no signal {signal}"));
    };
    if let Err(error) = set_parent_process_death_signal(Some(signal)) {
        return error.into();
    }
    let expected = i32::try_from(parent).ok().and_then(Pid::from_raw);
    if getppid() != expected {
        return io::Error::other("the parent program has ended");
    }
    Command::new(program).args(arguments).exec()
}
