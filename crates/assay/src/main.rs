//! The program: reads the command line, hands it to one command, and ends with the command's exit
//! code.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod demand_options;
mod documents;
mod exit;
mod finish;
mod first_screen;
mod job_options;
mod ledger_options;
mod live_host;
mod live_options;
mod man;
mod manual;
mod options;
mod progress_line;
mod resume;
mod screen;
mod signals;
mod spelling;
mod start;
mod store_place;
mod table;
mod terminal;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::outlive_file_limits();
    let spelled = match cli::spell() {
        Ok(spelled) => spelled,
        Err(error) => return exit::report_and_exit_code(Err(error)),
    };
    match cli::read(&spelled) {
        Ok(command_line) => exit::report_and_exit_code(command_line.command.run()),
        Err(error) => exit::report_and_exit_code(cli::answer(&error, &spelled)),
    }
}
