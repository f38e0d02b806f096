//! `assay guard`: becomes a program of a server, which then ends when the program that wanted it does.

use crate::exit::Ended;
use assay_model::{Error, Result};
use clap::Args;
use std::path::PathBuf;

/// Becomes another program that ends when its parent does
#[derive(Args)]
pub struct Options {
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

/// Words that begin the command line of a guarded program; our own program may lie where its account may not look.
pub fn words() -> Vec<String> {
    vec!["/proc/self/exe".to_owned(), "guard".to_owned()]
}

/// Becomes the program.
///
/// # Errors
/// When that fails.
pub fn run(options: &Options) -> Result<Ended> {
    let Options { parent, signal, program, arguments } = options;
    let error = assay_daemon::become_guarded(*parent, *signal, program, arguments);
    Err(Error::environment(
        format!("running {}: {error}", program.display()),
        "check the rights on it and on the directories above",
    ))
}
