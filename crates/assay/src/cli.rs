//! The command line: its verbs, in the order of the work.

use crate::exit::ExitStatus;
use crate::usage::{usage_error, verb};
use crate::verbs;
use assay_model::Result;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

/// Tells, with numbers that carry their doubt, what a storage system gives a database.
#[derive(Parser)]
#[command(
    name = "assay",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "exit codes: 0 PASS or done, 1 FAIL, 2 usage, 3 INCONCLUSIVE, 4 refused or environment, 130 interrupted"
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub verb: Verb,
}

/// What can be asked.
#[derive(Subcommand)]
pub enum Verb {
    Check(verbs::check::Options),
    Profile(verbs::profile::Options),
    Plan(verbs::plan::Options),
    Inspect(verbs::inspect::Options),
    Calibrate(verbs::calibrate::Options),
    Run(verbs::run::Options),
    Locality(verbs::locality::Options),
    Study(verbs::study::Options),
    Soak(verbs::soak::Options),
    Compare(verbs::compare::Options),
    Load(verbs::load::Options),
    Watch(verbs::watch::Options),
    Judge(verbs::judge::Options),
    Report(verbs::report::Options),
    Runs(verbs::runs::Options),
    Arrays(verbs::arrays::Options),
    Completion(verbs::completion::Options),
    /// Prints every verb and option as Markdown: the source of the pages under docs/verbs.
    #[command(hide = true)]
    Manual,
    /// Becomes another program that ends when its parent does: how servers of our own are started.
    #[command(hide = true)]
    Guard(verbs::load::guard::Options),
    /// Runs a hook of a study, which then ends when its parent does.
    #[command(hide = true)]
    GuardHook(verbs::load::guard::HookOptions),
}

impl Verb {
    /// Carries the verb out.
    pub fn run(self) -> Result<ExitStatus> {
        match self {
            Self::Check(options) => verbs::check::run(&options),
            Self::Plan(options) => verbs::plan::run(&options),
            Self::Inspect(options) => verbs::inspect::run(&options),
            Self::Calibrate(options) => verbs::calibrate::run(&options),
            Self::Run(options) => verbs::run::run(&options),
            Self::Locality(options) => verbs::locality::run(&options),
            Self::Study(options) => verbs::study::run(&options),
            Self::Soak(options) => verbs::soak::run(&options),
            Self::Compare(options) => verbs::compare::run(&options),
            Self::Load(options) => verbs::load::run(&options),
            Self::Watch(options) => verbs::watch::run(&options),
            Self::Profile(options) => verbs::profile::run(&options),
            Self::Judge(options) => verbs::judge::run(&options),
            Self::Report(options) => verbs::report::run(&options),
            Self::Runs(options) => verbs::runs::run(&options),
            Self::Arrays(options) => verbs::arrays::run(&options),
            Self::Completion(options) => {
                verbs::completion::run(&options, &mut CommandLine::command())
            }
            Self::Guard(options) => verbs::load::guard::run(&options),
            Self::GuardHook(options) => verbs::load::guard::run_hook(&options),
            Self::Manual => crate::exit::print(&crate::manual::render(CommandLine::command())),
        }
    }
}

/// Help and version go to standard output as results do; without any word the help is the error.
///
/// # Errors
/// A usage error for everything that cannot be meant.
pub fn answer(error: &clap::Error) -> Result<ExitStatus> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            crate::exit::print(&error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            drop(error.print());
            Ok(ExitStatus::Usage)
        }
        _ => {
            let words: Vec<String> = std::env::args().skip(1).collect();
            let verb = verb(&CommandLine::command(), words.iter().map(String::as_str));
            Err(usage_error(error, &verb))
        }
    }
}
