//! The command line: its verbs, in the order of the work.

use crate::exit::ExitStatus;
use crate::first_screen::FIRST_SCREEN;
use crate::spelling::fio::CommandWords;
use crate::usage::{usage_error, verb};
use crate::verbs;
use assay_model::{Error, Result};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

/// Test whether storage is fast enough for a database.
#[derive(Parser)]
#[command(
    name = "assay",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    override_help = FIRST_SCREEN
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub verb: Verb,
}

/// What can be asked, in the order of the first screen, then for those who know.
#[derive(Subcommand)]
pub enum Verb {
    Check(verbs::check::Options),
    Profile(verbs::profile::Options),
    Inspect(verbs::inspect::Options),
    Calibrate(verbs::calibrate::Options),
    Run(verbs::run::Options),
    Soak(verbs::soak::Options),
    Bench(verbs::bench::Options),
    Verify(verbs::verify::Options),
    Compare(verbs::compare::Options),
    Predict(verbs::predict::Options),
    Size(verbs::size::Options),
    Report(verbs::report::Options),
    Runs(verbs::runs::Options),
    Study(verbs::study::Options),
    Locality(verbs::locality::Options),
    Watch(verbs::watch::Options),
    Hosts(verbs::hosts::Options),
    List(verbs::list::Options),
    Help(verbs::help::Options),
    Completion(verbs::completion::Options),
    /// Print every command and option as Markdown: the source of the pages under docs/verbs
    #[command(hide = true)]
    Manual,
    /// Print the manual pages, the name of its file before each: what packages are made of
    #[command(hide = true)]
    Man,
    /// Become another program that ends when its parent does: how Assay starts servers
    #[command(hide = true)]
    Guard(verbs::bench::guard::Options),
    /// Run a hook of a study, which then ends when its parent does
    #[command(hide = true)]
    GuardHook(verbs::bench::guard::HookOptions),
    /// Measure as a driver on the other end of its pipes says: a host of several
    #[command(hide = true)]
    Node,
}

impl Verb {
    /// Carries the verb out.
    pub fn run(self) -> Result<ExitStatus> {
        match self {
            Self::Check(options) => verbs::check::run(&options),
            Self::Predict(options) => verbs::predict::run(&options),
            Self::Inspect(options) => verbs::inspect::run(&options),
            Self::Bench(options) => verbs::bench::run(&options),
            Self::Hosts(options) => verbs::hosts::run(&options),
            Self::List(options) => verbs::list::run(&options),
            Self::Help(options) => verbs::help::run(&options, program()),
            Self::Calibrate(options) => verbs::calibrate::run(&options),
            Self::Run(options) => verbs::run::run(&options),
            Self::Locality(options) => verbs::locality::run(&options),
            Self::Study(options) => verbs::study::run(&options),
            Self::Soak(options) => verbs::soak::run(&options),
            Self::Verify(options) => verbs::verify::run(&options),
            Self::Compare(options) => verbs::compare::run(&options),
            Self::Watch(options) => verbs::watch::run(&options),
            Self::Profile(options) => verbs::profile::run(&options),
            Self::Report(options) => verbs::report::run(&options),
            Self::Runs(options) => verbs::runs::run(&options),
            Self::Size(options) => verbs::size::run(&options),
            Self::Completion(options) => {
                verbs::completion::run(&options, &mut CommandLine::command())
            }
            Self::Guard(options) => verbs::bench::guard::run(&options),
            Self::GuardHook(options) => verbs::bench::guard::run_hook(&options),
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

/// The words that were typed, as Assay spells them. Words that are not UTF-8 can only be paths, and
/// nothing is looked for.
///
/// # Errors
/// A usage error for an option of another tool that has no counterpart.
pub fn spell() -> Result<CommandWords> {
    let typed: std::result::Result<Vec<String>, _> =
        std::env::args_os().map(std::ffi::OsString::into_string).collect();
    typed.map_or_else(|_| Ok(CommandWords::default()), |typed| crate::spelling::spelled(&typed))
}

/// Headings whose options `-h` leaves out: they are there for few runs, and `--help` has them.
const RARE: [&str; 8] = [
    "Common options",
    "Connection options",
    "Engine options",
    "Job file options",
    "Live options",
    "Options with --for",
    "Power cuts",
    "Target options",
];

/// Options under these headings that `-h` shows nevertheless.
const FREQUENT: [&str; 3] = ["size", "dry_run", "json"];

/// The program's commands, with a short help that fits on a screen.
pub fn program() -> Command {
    shortened(CommandLine::command().term_width(crate::terminal::output_columns()))
}

/// Options of its own that the short help of a command shows: those that stand first in its
/// definition.
const SHORT_OPTIONS_MAX: usize = 7;

/// Lines of examples in a short help, with their heading.
const SHORT_EXAMPLE_LINES: usize = 3;

fn shortened(command: Command) -> Command {
    let examples = command.get_after_help().map(ToString::to_string);
    let command = match examples {
        Some(all) => {
            let first: Vec<&str> = all.lines().take(SHORT_EXAMPLE_LINES).collect();
            command.after_help(first.join("\n")).after_long_help(all)
        }
        None => command,
    };
    let mut left = SHORT_OPTIONS_MAX;
    command
        .mut_args(|argument| {
            let is_rare =
                argument.get_help_heading().is_some_and(|heading| RARE.contains(&heading));
            let is_shown = argument.is_positional()
                || FREQUENT.contains(&argument.get_id().as_str())
                || (!is_rare && !argument.is_hide_set() && left > 0);
            if is_shown && !argument.is_positional() {
                left = left.saturating_sub(1);
            }
            argument.hide_short_help(!is_shown)
        })
        .mut_subcommands(shortened)
}

/// Reads the command line, and notes on standard error what is read otherwise than it was typed.
///
/// # Errors
/// The parser's, to be answered by [`answer`].
pub fn read(spelled: &CommandWords) -> std::result::Result<CommandLine, clap::Error> {
    let mut program = program();
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
            let (verb, below) = verb(&CommandLine::command(), words);
            Err(usage_error(error, &verb, &below))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::COMMON;
    use clap::Arg;

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
    fn the_first_screen_has_every_command_and_fits() {
        let lines = || FIRST_SCREEN.lines().chain(crate::first_screen::ADVANCED.lines());
        assert!(FIRST_SCREEN.lines().count() <= 40);
        assert!(lines().all(|line| line.chars().count() <= 80));
        for command in CommandLine::command().get_subcommands().filter(|one| !one.is_hide_set()) {
            let name = command.get_name();
            assert!(lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}");
        }
    }

    #[test]
    fn a_summary_is_an_order_of_sixty_letters_at_most() {
        for command in verbs(&CommandLine::command()) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let first = about.split(' ').next().unwrap_or_default();
            assert!((8..=60).contains(&about.chars().count()), "{}: {about}", command.get_name());
            assert!(!first.ends_with('s'), "{}: {about}", command.get_name());
        }
    }

    #[test]
    fn the_short_help_of_every_command_fits_on_a_screen() {
        let mut program = shortened(CommandLine::command().term_width(80));
        program.build();
        for mut command in verbs(&program) {
            let text = command.render_help().to_string();
            let count = text.lines().count();
            assert!(count <= 40, "{}: {count} lines\n{text}", command.get_name());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
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
