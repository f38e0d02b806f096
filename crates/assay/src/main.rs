//! The program: reads the command line, hands it to one verb, and ends with the verb's exit code.
#![forbid(unsafe_code)]

mod cli;
mod exit;
mod finish;
mod job_options;
mod manual;
mod options;
mod progress_line;
mod resume;
mod signals;
mod spelling;
mod table;
mod terminal;
mod usage;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::read() {
        Ok(command_line) => exit::report_and_exit_code(command_line.verb.run()),
        Err(error) => exit::report_and_exit_code(cli::answer(&error)),
    }
}
