//! Invalid command lines: what only the program knows of them, such as commands that were called
//! otherwise.

use assay_model::{Error, usage};
use clap::Command;
use clap::error::{ContextKind, ErrorKind};

/// The program; it has too many commands to list them in a hint.
const PROGRAM: &str = "assay";

/// The parser's error as an Assay error; `command` is what was typed as far as it is known, as in
/// `assay runs show`, and `below` are the commands that it has.
pub fn usage_error(error: &clap::Error, command: &str, below: &[String]) -> Error {
    let found = usage::usage_error(error, command);
    let explained =
        |more: String| Error::usage(found.message(), format!("{more}; {}", found.hint()));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
            let has_near = found.hint().starts_with("did you mean");
            let of_few = || {
                (command != PROGRAM && !has_near)
                    .then(|| format!("write one of {}", below.join(", ")))
            };
            former(&typed.unwrap_or_default()).or_else(|| of_few().map(explained)).unwrap_or(found)
        }
        ErrorKind::MissingRequiredArgument if found.message().contains("<WORKLOAD>") => {
            explained("specify a file or a preset, for example `assay run oltp DIR`".to_owned())
        }
        _ => found,
    }
}

/// What people type for a command of another name: former names, and those of other programs.
const CALLED_OTHERWISE: [(&[&str], &str); 14] = [
    (&["load", "benchmark"], "bench LOAD STORAGE"),
    (&["plan"], "profile DB --workload FILE"),
    (&["judge"], "report RUN --criteria FILE"),
    (&["convert"], "run JOB --print"),
    (&["import"], "runs import FILE"),
    (&["ls"], "runs"),
    (&["witness"], "verify witness"),
    (&["replay"], "verify replay LOG"),
    (&["show"], "list"),
    (&["arrays", "array"], "list arrays"),
    (&["catalog"], "list catalog"),
    (&["workload", "workloads", "preset", "presets", "patterns"], "list workloads"),
    (&["explain"], "help TOPIC"),
    (&["cluster"], "hosts"),
];

/// The command that somebody meant by another name.
fn former(typed: &str) -> Option<Error> {
    let (_, command) = CALLED_OTHERWISE.iter().find(|(names, _)| names.contains(&typed))?;
    Some(Error::usage(format!("there is no command '{typed}'"), format!("use `assay {command}`")))
}

/// The command that words begin with: `assay runs show` of `assay runs show x --jsn`; and the
/// commands that it has.
pub fn command_path<'a>(
    program: &Command,
    words: impl Iterator<Item = &'a str>,
) -> (String, Vec<String>) {
    let (mut found, mut here) = (program.get_name().to_owned(), program);
    for word in words {
        let Some(below) = here.find_subcommand(word) else {
            break;
        };
        found = format!("{found} {word}");
        here = below;
    }
    let below = here.get_subcommands().filter(|below| !below.is_hide_set());
    (found, below.map(|below| below.get_name().to_owned()).collect())
}
