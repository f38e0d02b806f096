//! The command line: its verbs, in the order of the work.

use crate::exit::ExitStatus;
use crate::usage::{usage_error, verb};
use crate::verbs;
use assay_model::Result;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Measures what a storage system gives a database and says how sure each number is.
#[derive(Parser)]
#[command(
    name = "assay",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  assay check /mnt/data
  assay profile awr.html

Exit codes: 0 PASS or done, 1 FAIL, 2 usage, 3 INCONCLUSIVE, 4 refused or environment, 130 interrupted"
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
    Convert(verbs::convert::Options),
    Locality(verbs::locality::Options),
    Study(verbs::study::Options),
    Soak(verbs::soak::Options),
    Compare(verbs::compare::Options),
    Load(verbs::load::Options),
    Watch(verbs::watch::Options),
    Judge(verbs::judge::Options),
    Report(verbs::report::Options),
    Import(verbs::import::Options),
    Explain(verbs::explain::Options),
    Runs(verbs::runs::Options),
    Arrays(verbs::arrays::Options),
    Completion(verbs::completion::Options),
    /// Prints every verb and option as Markdown: the source of the pages under docs/verbs.
    #[command(hide = true)]
    Manual,
    /// Becomes another program that ends when its parent does: how Assay starts servers.
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
            Self::Convert(options) => verbs::convert::run(&options),
            Self::Locality(options) => verbs::locality::run(&options),
            Self::Study(options) => verbs::study::run(&options),
            Self::Soak(options) => verbs::soak::run(&options),
            Self::Compare(options) => verbs::compare::run(&options),
            Self::Load(options) => verbs::load::run(&options),
            Self::Watch(options) => verbs::watch::run(&options),
            Self::Profile(options) => verbs::profile::run(&options),
            Self::Judge(options) => verbs::judge::run(&options),
            Self::Report(options) => verbs::report::run(&options),
            Self::Import(options) => verbs::import::run(&options),
            Self::Explain(options) => verbs::explain::run(&options),
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

/// Reads the command line, and notes on standard error what is read otherwise than it was typed.
///
/// # Errors
/// The parser's, to be answered by [`answer`].
pub fn read() -> std::result::Result<CommandLine, clap::Error> {
    let mut program = CommandLine::command();
    let matches = program.try_get_matches_from_mut(std::env::args_os())?;
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    for note in crate::spelling::notes(&program, &matches, &words) {
        crate::terminal::say(&crate::options::without_passwords(&note));
    }
    CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut program))
}

/// Help and version go to standard output as results do; without any word the help is the error.
///
/// # Errors
/// A usage error for everything that is invalid.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::COMMON;
    use clap::{Arg, Command};

    /// Every visible verb and its verbs.
    fn verbs(command: &Command) -> Vec<Command> {
        let below = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        below.flat_map(|verb| [vec![verb.clone()], verbs(verb)].concat()).collect()
    }

    #[test]
    fn the_examples_of_every_help_can_be_typed() {
        CommandLine::command().debug_assert();
        for verb in
            verbs(&CommandLine::command()).iter().filter(|verb| verb.get_version().is_none())
        {
            let Some(examples) = verb.get_after_help() else { continue };
            for line in examples.to_string().lines().skip(1) {
                let words = line.split_whitespace().take_while(|word| *word != ">");
                let read = CommandLine::try_parse_from(words);
                assert!(read.is_ok(), "{line}: {}", read.err().unwrap());
            }
        }
        for verb in CommandLine::command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
            assert!(verb.get_after_help().is_some(), "{} has no examples", verb.get_name());
        }
    }

    #[test]
    fn common_options_stand_together_at_the_end_of_every_help() {
        for verb in verbs(&CommandLine::command()) {
            let options: Vec<&Arg> =
                verb.get_arguments().filter(|one| !one.is_positional()).collect();
            let is_common = |option: &&Arg| option.get_help_heading() == Some(COMMON);
            let first = options.iter().position(is_common).unwrap_or(options.len());
            assert!(options[first..].iter().all(is_common), "{}", verb.get_name());
            let named = options
                .iter()
                .filter(|option| ["store", "json", "quiet"].contains(&option.get_id().as_str()));
            assert!(named.clone().all(is_common), "{}", verb.get_name());
        }
    }
}
