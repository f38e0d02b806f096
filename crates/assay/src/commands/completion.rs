//! `assay completion`: what a shell needs to complete the command line.

use crate::exit::{ExitStatus, print};
use assay_model::{Error, Result};
use clap::{Args, Command};
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "Examples:
  assay completion bash > /etc/bash_completion.d/assay")]
pub struct CompletionOptions {
    /// Name of the shell
    shell: Shell,
}

/// Carries the command out.
///
/// # Errors
/// A closed standard output.
pub fn run(options: &CompletionOptions, program: &mut Command) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, program, "assay", &mut script);
    let text = String::from_utf8(script);
    print(&text.map_err(|error| {
        Error::environment(format!("the script is not text: {error}"), "report this as a bug")
    })?)
}
