//! The program: reads the command line, hands it to one verb, and ends with the verb's exit code.
#![forbid(unsafe_code)]

mod begun;
mod capacity;
mod cli;
mod conclude;
mod dossier;
mod exit;
mod manual;
mod options;
mod progress;
mod reports;
mod session;
mod signals;
mod statistics;
mod table;
mod terminal;
mod usage;
mod verbs;
mod watched;
mod watcher;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::CommandLine::try_parse() {
        Ok(command_line) => exit::leave(command_line.verb.run()),
        Err(error) => exit::leave(cli::answer(&error)),
    }
}
