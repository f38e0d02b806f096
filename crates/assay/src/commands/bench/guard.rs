//! `assay guard` and `assay guard-hook`: programs of a server and hooks end when the program that
//! wanted them does.

use crate::exit::ExitStatus;
use assay_model::{Error, Result};
use clap::Args;
use std::path::PathBuf;

/// Become another program that ends when its parent does
#[derive(Args)]
pub struct GuardOptions {
    /// Number of the process that wants it
    parent: u32,
    /// Number of the signal that ends the program with it
    signal: i32,
    /// The program
    program: PathBuf,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Run a hook, and end it when standard input ends
#[derive(Args)]
pub struct HookOptions {
    /// The command, for `sh -c`
    #[arg(allow_hyphen_values = true)]
    command: String,
}

/// Runs the hook and ends with its code.
#[expect(clippy::exit, reason = "the guard only runs its hook and returns its exit code")]
pub fn run_hook(options: &HookOptions) -> Result<ExitStatus> {
    match assay_host::hook::guard_hook(&options.command) {
        Ok(code) => std::process::exit(code),
        Err(error) => Err(Error::environment(
            format!("running sh: {error}"),
            "a hook needs a shell on the PATH",
        )),
    }
}

/// Becomes the program.
pub fn run(options: &GuardOptions) -> Result<ExitStatus> {
    let GuardOptions { parent, signal, program, arguments } = options;
    let error = assay_dbserver::become_guarded(*parent, *signal, program, arguments);
    Err(Error::environment(
        format!("running {}: {error}", program.display()),
        "check the rights on it and on the directories above",
    ))
}
