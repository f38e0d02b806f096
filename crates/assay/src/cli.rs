//! The command line: its commands, in the order of the work.

use crate::commands;
use crate::exit::ExitStatus;
use crate::first_screen::FIRST_SCREEN;
use crate::spelling::fio::CommandWords;
use crate::usage::{command_path, usage_error};
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
    pub command: CommandKind,
}

/// What can be asked, in the order of the first screen, then for those who know.
#[derive(Subcommand)]
pub enum CommandKind {
    Check(Box<commands::check::CheckOptions>),
    Profile(commands::profile::ProfileOptions),
    Inspect(commands::inspect::InspectOptions),
    Calibrate(commands::calibrate::CalibrateOptions),
    Run(Box<commands::run::RunCommandOptions>),
    Soak(commands::soak::SoakOptions),
    Bench(commands::bench::BenchOptions),
    Verify(commands::verify::VerifyOptions),
    Compare(commands::compare::CompareOptions),
    Predict(commands::predict::PredictOptions),
    Size(commands::size::SizeOptions),
    Report(commands::report::ReportCommandOptions),
    Runs(commands::runs::RunsOptions),
    Study(Box<commands::study::StudyOptions>),
    Locality(commands::locality::LocalityOptions),
    Watch(commands::watch::WatchOptions),
    Hosts(commands::hosts::HostsOptions),
    List(commands::list::ListOptions),
    Help(commands::help::HelpOptions),
    Completion(commands::completion::CompletionOptions),
    /// Print every command and option as Markdown: the source of the pages under docs/commands
    #[command(hide = true)]
    Manual,
    /// Print the manual pages, the name of its file before each: what packages are made of
    #[command(hide = true)]
    Man,
    /// Become another program that ends when its parent does: how Assay starts servers
    #[command(hide = true)]
    Guard(commands::bench::guard::GuardOptions),
    /// Run a hook of a study, which then ends when its parent does
    #[command(hide = true)]
    GuardHook(commands::bench::guard::HookOptions),
    /// Measure as a driver on the other end of its pipes says: a host of several
    #[command(hide = true)]
    Node,
}

impl CommandKind {
    /// Carries the command out.
    pub fn run(self) -> Result<ExitStatus> {
        match self {
            Self::Check(options) => commands::check::run(&options),
            Self::Predict(options) => commands::predict::run(&options),
            Self::Inspect(options) => commands::inspect::run(&options),
            Self::Bench(options) => commands::bench::run(&options),
            Self::Hosts(options) => commands::hosts::run(&options),
            Self::List(options) => commands::list::run(&options),
            Self::Help(options) => commands::help::run(&options, program()),
            Self::Calibrate(options) => commands::calibrate::run(&options),
            Self::Run(options) => commands::run::run(&options),
            Self::Locality(options) => commands::locality::run(&options),
            Self::Study(options) => commands::study::run(&options),
            Self::Soak(options) => commands::soak::run(&options),
            Self::Verify(options) => commands::verify::run(&options),
            Self::Compare(options) => commands::compare::run(&options),
            Self::Watch(options) => commands::watch::run(&options),
            Self::Profile(options) => commands::profile::run(&options),
            Self::Report(options) => commands::report::run(&options),
            Self::Runs(options) => commands::runs::run(&options),
            Self::Size(options) => commands::size::run(&options),
            Self::Completion(options) => {
                commands::completion::run(&options, &mut CommandLine::command())
            }
            Self::Guard(options) => commands::bench::guard::run(&options),
            Self::GuardHook(options) => commands::bench::guard::run_hook(&options),
            Self::Node => commands::node::run(),
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
            let (command, below) = command_path(&CommandLine::command(), words);
            Err(usage_error(error, &command, &below))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::COMMON;
    use clap::Arg;

    /// Every visible command and its commands.
    fn commands(command: &Command) -> Vec<Command> {
        let below = command.get_subcommands().filter(|command| !command.is_hide_set());
        below.flat_map(|command| [vec![command.clone()], commands(command)].concat()).collect()
    }

    #[test]
    fn the_examples_of_every_help_can_be_typed() {
        CommandLine::command().debug_assert();
        for command in commands(&CommandLine::command())
            .iter()
            .filter(|command| command.get_version().is_none())
        {
            let Some(examples) = command.get_after_help() else { continue };
            for line in examples.to_string().lines().skip(1).take_while(|line| !line.is_empty()) {
                let words = line.split_whitespace().take_while(|word| *word != ">");
                let typed: Vec<String> = words.map(str::to_owned).collect();
                let spelled = crate::spelling::spelled(&typed).unwrap();
                let read = CommandLine::try_parse_from(spelled.words);
                assert!(read.is_ok(), "{line}: {}", read.err().unwrap());
            }
        }
        for command in
            CommandLine::command().get_subcommands().filter(|command| !command.is_hide_set())
        {
            assert!(command.get_after_help().is_some(), "{} has no examples", command.get_name());
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
        for command in commands(&CommandLine::command()) {
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
        for mut command in commands(&program) {
            let text = command.render_help().to_string();
            let count = text.lines().count();
            assert!(count <= 40, "{}: {count} lines\n{text}", command.get_name());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    #[test]
    fn common_options_stand_together_at_the_end_of_every_help() {
        for command in commands(&CommandLine::command()) {
            let options: Vec<&Arg> =
                command.get_arguments().filter(|one| !one.is_positional()).collect();
            let is_common = |option: &&Arg| option.get_help_heading() == Some(COMMON);
            let first = options.iter().position(is_common).unwrap_or(options.len());
            assert!(options[first..].iter().all(is_common), "{}", command.get_name());
            let named = options
                .iter()
                .filter(|option| ["store", "json", "quiet"].contains(&option.get_id().as_str()));
            assert!(named.clone().all(is_common), "{}", command.get_name());
        }
    }
}
