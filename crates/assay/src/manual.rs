//! Writes the command line down as Markdown: one chapter per command, one table of its options.

use clap::builder::PossibleValue;
use clap::{Arg, Command};

/// One chapter per visible command, each opened by `# assay COMMAND`; commands of commands follow
/// as `## assay COMMAND COMMAND`.
pub(crate) fn render(mut program: Command) -> String {
    program.build();
    visible(&program).map(|command| chapter(command, 1)).collect::<Vec<_>>().join("\n")
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Heading, what it does, how it is called and its options, then the chapters below it.
fn chapter(command: &Command, depth: usize) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(|about| format!("{about}\n\n"));
    let usage = command.clone().render_usage().to_string();
    let mut text = format!(
        "{} {name}\n\n{}```text\n{}\n```\n\n{}",
        "#".repeat(depth),
        about.unwrap_or_default(),
        usage.trim(),
        table(command)
    );
    for below in visible(command) {
        text.push('\n');
        text.push_str(&chapter(below, depth + 1));
    }
    text
}

/// The arguments and options, in the order of the help.
fn table(command: &Command) -> String {
    let mut text = String::from("| argument or option | default | meaning |\n|---|---|---|\n");
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        text.push_str(&row(argument));
    }
    text
}

fn row(argument: &Arg) -> String {
    format!(
        "| `{}` | {} | {} |\n",
        cell(&spelling(argument)),
        defaults(argument),
        cell(&meaning(argument))
    )
}

/// What it does, and the words that it accepts where they are few.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let mut meaning = help.map(ToString::to_string).unwrap_or_default();
    let values = argument.get_possible_values();
    let words: Vec<String> = values.iter().filter_map(word).collect();
    if argument.get_action().takes_values() && !words.is_empty() {
        meaning.push_str(": ");
        meaning.push_str(&words.join(", "));
    }
    meaning
}

/// One accepted word with what it means, unless it is hidden.
fn word(value: &PossibleValue) -> Option<String> {
    let help = value.get_help().map(|help| format!(" ({help})"));
    let shown = !value.is_hide_set();
    shown.then(|| format!("`{}`{}", value.get_name(), help.unwrap_or_default()))
}

/// How it is typed: `-h, --help`, `--store <DIR>` or `<TARGET>`.
fn spelling(argument: &Arg) -> String {
    if argument.is_positional() {
        return argument.to_string();
    }
    match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {argument}"),
        _ => argument.to_string(),
    }
}

fn defaults(argument: &Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let values: Vec<_> = argument
        .get_default_values()
        .iter()
        .filter(|_| takes_value)
        .map(|value| format!("`{}`", cell(&value.to_string_lossy())))
        .collect();
    values.join(", ")
}

/// A text that fits between two bars: one line, bars escaped.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{ArgAction, arg};

    fn program() -> Command {
        let run = Command::new("run")
            .about("Runs a workload.")
            .arg(arg!(<TARGET> "File | device"))
            .arg(arg!(-s --store <DIR> "Where runs\nare kept").default_value("assay-runs"))
            .arg(arg!(--backend <B> "Who works").value_parser(["uring", "posix"]))
            .arg(arg!(--json "As JSON").action(ArgAction::SetTrue));
        let runs = Command::new("runs").subcommand(Command::new("list").about("Lists runs."));
        Command::new("assay")
            .disable_help_subcommand(true)
            .subcommand(run)
            .subcommand(runs)
            .subcommand(Command::new("secret").hide(true))
    }

    #[test]
    fn every_visible_verb_has_a_chapter_in_order() {
        let text = render(program());
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings, ["# assay run", "# assay runs", "## assay runs list"]);
    }

    #[test]
    fn every_option_has_a_row_with_its_default() {
        let text = render(program());
        assert!(text.contains("| `<TARGET>` |  | File \\| device |"), "{text}");
        assert!(
            text.contains("| `-s, --store <DIR>` | `assay-runs` | Where runs are kept |"),
            "{text}"
        );
        let words = "| `--backend <B>` |  | Who works: `uring`, `posix` |";
        assert!(text.contains(words), "{text}");
        assert!(text.contains("| `--json` |  | As JSON |"), "{text}");
    }
}
