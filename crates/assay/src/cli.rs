//! The command line: its verbs, in the order of the work.

use crate::exit::ExitStatus;
use crate::spelling::fio::CommandWords;
use crate::usage::{usage_error, verb};
use crate::verbs;
use assay_model::{Error, Result};
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
    Predict(verbs::predict::Options),
    Inspect(verbs::inspect::Options),
    Calibrate(verbs::calibrate::Options),
    Run(verbs::run::Options),
    Convert(verbs::convert::Options),
    Locality(verbs::locality::Options),
    Study(verbs::study::Options),
    Soak(verbs::soak::Options),
    Verify(verbs::verify::Options),
    Witness(verbs::witness::Options),
    Cluster(verbs::cluster::Options),
    Compare(verbs::compare::Options),
    Load(verbs::load::Options),
    Watch(verbs::watch::Options),
    Judge(verbs::judge::Options),
    Replay(verbs::replay::Options),
    Report(verbs::report::Options),
    Import(verbs::import::Options),
    Explain(verbs::explain::Options),
    Runs(verbs::runs::Options),
    Size(verbs::size::Options),
    Catalog(verbs::catalog::Options),
    Arrays(verbs::arrays::Options),
    Show(verbs::show::Options),
    Completion(verbs::completion::Options),
    /// Prints every verb and option as Markdown: the source of the pages under docs/verbs.
    #[command(hide = true)]
    Manual,
    /// Prints the manual pages, the name of its file before each: what packages are made of.
    #[command(hide = true)]
    Man,
    /// Becomes another program that ends when its parent does: how Assay starts servers.
    #[command(hide = true)]
    Guard(verbs::load::guard::Options),
    /// Runs a hook of a study, which then ends when its parent does.
    #[command(hide = true)]
    GuardHook(verbs::load::guard::HookOptions),
    /// Measures as a driver on the other end of its pipes says: a host of several.
    #[command(hide = true)]
    Node,
}

impl Verb {
    /// Carries the verb out.
    pub fn run(self) -> Result<ExitStatus> {
        match self {
            Self::Check(options) => verbs::check::run(&options),
            Self::Plan(options) => verbs::plan::run(&options),
            Self::Predict(options) => verbs::predict::run(&options),
            Self::Inspect(options) => verbs::inspect::run(&options),
            Self::Calibrate(options) => verbs::calibrate::run(&options),
            Self::Run(options) => verbs::run::run(&options),
            Self::Convert(options) => verbs::convert::run(&options),
            Self::Locality(options) => verbs::locality::run(&options),
            Self::Study(options) => verbs::study::run(&options),
            Self::Soak(options) => verbs::soak::run(&options),
            Self::Verify(options) => verbs::verify::run(&options),
            Self::Witness(options) => verbs::witness::run(&options),
            Self::Cluster(options) => verbs::cluster::run(&options),
            Self::Compare(options) => verbs::compare::run(&options),
            Self::Load(options) => verbs::load::run(&options),
            Self::Watch(options) => verbs::watch::run(&options),
            Self::Profile(options) => verbs::profile::run(&options),
            Self::Judge(options) => verbs::judge::run(&options),
            Self::Replay(options) => verbs::replay::run(&options),
            Self::Report(options) => verbs::report::run(&options),
            Self::Import(options) => verbs::import::run(&options),
            Self::Explain(options) => verbs::explain::run(&options),
            Self::Runs(options) => verbs::runs::run(&options),
            Self::Size(options) => verbs::size::run(&options),
            Self::Catalog(options) => verbs::catalog::run(&options),
            Self::Arrays(options) => verbs::arrays::run(&options),
            Self::Show(options) => verbs::show::run(&options),
            Self::Completion(options) => {
                verbs::completion::run(&options, &mut CommandLine::command())
            }
            Self::Guard(options) => verbs::load::guard::run(&options),
            Self::GuardHook(options) => verbs::load::guard::run_hook(&options),
            Self::Node => verbs::node::run(),
            Self::Man => {
                let pages = crate::man::render(CommandLine::command());
                crate::exit::print(&pages.map_err(|error| {
                    Error::environment(format!("no manual page: {error}"), "report this as a bug")
                })?)
            }
            Self::Manual => crate::exit::print(&crate::manual::render(CommandLine::command())),
        }
    }
}

/// The words that were typed, as Assay spells them. Words that are not UTF-8 can only be paths, and nothing is looked for.
///
/// # Errors
/// A usage error for an option of another tool that has no counterpart.
pub fn spell() -> Result<CommandWords> {
    let typed: std::result::Result<Vec<String>, _> =
        std::env::args_os().map(std::ffi::OsString::into_string).collect();
    typed.map_or_else(|_| Ok(CommandWords::default()), |typed| crate::spelling::spelled(&typed))
}

/// Reads the command line, and notes on standard error what is read otherwise than it was typed.
///
/// # Errors
/// The parser's, to be answered by [`answer`].
pub fn read(spelled: &CommandWords) -> std::result::Result<CommandLine, clap::Error> {
    let mut program = CommandLine::command().term_width(crate::terminal::output_columns());
    let matches = if spelled.words.is_empty() {
        program.try_get_matches_from_mut(std::env::args_os())?
    } else {
        program.try_get_matches_from_mut(&spelled.words)?
    };
    for note in crate::spelling::notes(&program, &matches, spelled) {
        crate::terminal::say(&crate::options::without_passwords(&note));
    }
    CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut program))
}

/// Help and version go to standard output as results do; without any word the help is the error.
///
/// # Errors
/// A usage error for everything that is invalid.
pub fn answer(error: &clap::Error, spelled: &CommandWords) -> Result<ExitStatus> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            crate::exit::print(&error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            drop(error.print());
            Ok(ExitStatus::Usage)
        }
        _ => {
            let words = spelled.words.iter().skip(1).map(String::as_str);
            let verb = verb(&CommandLine::command(), words);
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
            for line in examples.to_string().lines().skip(1).take_while(|line| !line.is_empty()) {
                let words = line.split_whitespace().take_while(|word| *word != ">");
                let typed: Vec<String> = words.map(str::to_owned).collect();
                let spelled = crate::spelling::spelled(&typed).unwrap();
                let read = CommandLine::try_parse_from(spelled.words);
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
