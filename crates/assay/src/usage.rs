//! Invalid command lines, in the words of every other error: what was read, and what to do next.

use assay_model::Error;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The program; it has too many commands to list them in a hint.
const PROGRAM: &str = "assay";

/// The parser's error as an Assay error; `verb` is what was asked for as far as it is known, as in `assay runs show`, and
/// `below` are the commands that it has.
pub fn usage_error(error: &clap::Error, verb: &str, below: &[String]) -> Error {
    let (message, hint) = match error.kind() {
        ErrorKind::ValueValidation => unreadable(error),
        ErrorKind::InvalidValue => not_among(error),
        ErrorKind::UnknownArgument => {
            unknown(error, "option or argument", ContextKind::InvalidArg, verb)
        }
        ErrorKind::InvalidSubcommand => former(&word(error, ContextKind::InvalidSubcommand))
            .unwrap_or_else(|| {
                let (message, hint) =
                    unknown(error, "command", ContextKind::InvalidSubcommand, verb);
                let of_few = || format!("write one of {}; {}", below.join(", "), help(verb));
                (message, hint.or_else(|| (verb != PROGRAM).then(of_few)))
            }),
        ErrorKind::MissingRequiredArgument => {
            let missing = words(error, ContextKind::InvalidArg).join(", ");
            let example = "name a file or a preset, for example `assay run oltp DIR`; ";
            let hint = missing.contains("<WORKLOAD>").then(|| format!("{example}{}", help(verb)));
            (format!("{missing} is missing"), hint)
        }
        ErrorKind::ArgumentConflict => conflict(error),
        _ => (first_line(error), None),
    };
    Error::usage(message, hint.unwrap_or_else(|| help(verb)))
}

/// A value that its own parser refused; our parsers put what to write behind a semicolon.
fn unreadable(error: &clap::Error) -> (String, Option<String>) {
    let option = word(error, ContextKind::InvalidArg);
    let why = std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
    if why.contains("invalid digit") {
        let value = word(error, ContextKind::InvalidValue);
        let hint = "write a whole number, or several with commas: 4,8";
        return (format!("{option}: '{value}' is not a whole number"), Some(hint.to_owned()));
    }
    match why.split_once("; ") {
        Some((what, hint)) => (format!("{option}: {what}"), Some(hint.to_owned())),
        None => (format!("{option}: {why}"), None),
    }
}

/// A value that is not one of a few.
fn not_among(error: &clap::Error) -> (String, Option<String>) {
    let option = word(error, ContextKind::InvalidArg);
    let value = word(error, ContextKind::InvalidValue);
    let known = words(error, ContextKind::ValidValue);
    let message = if value.is_empty() {
        format!("{option} has no value")
    } else {
        format!("{option}: '{value}' is not known")
    };
    let near = suggestion(error, ContextKind::SuggestedValue).unwrap_or_default();
    let hint = (!known.is_empty()).then(|| format!("{near}write one of {}", known.join(", ")));
    (message, hint)
}

fn unknown(
    error: &clap::Error,
    kind: &str,
    context: ContextKind,
    verb: &str,
) -> (String, Option<String>) {
    let message = format!("there is no {kind} '{}'", word(error, context));
    let near = suggestion(error, ContextKind::SuggestedArg)
        .or_else(|| suggestion(error, ContextKind::SuggestedSubcommand));
    (message, near.map(|near| format!("{near}{}", help(verb))))
}

fn conflict(error: &clap::Error) -> (String, Option<String>) {
    let one = word(error, ContextKind::InvalidArg);
    let others = words(error, ContextKind::PriorArg);
    let message = match others.as_slice() {
        [] => format!("{one} is given more than once"),
        [same] if *same == one => format!("{one} is given more than once"),
        others => format!("{one} cannot be used with {}", others.join(", ")),
    };
    (message, Some("leave one of them out".to_owned()))
}

fn suggestion(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let near = words(error, kind);
    near.first().map(|near| format!("did you mean '{near}'? "))
}

fn help(verb: &str) -> String {
    format!("see `{verb} --help`")
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
fn former(typed: &str) -> Option<(String, Option<String>)> {
    let (_, command) = CALLED_OTHERWISE.iter().find(|(names, _)| names.contains(&typed))?;
    let message = format!("there is no command '{typed}'");
    Some((message, Some(format!("use `assay {command}`"))))
}

/// The verb that words begin with: `assay runs show` of `assay runs show x --jsn`; and the commands that it has.
pub fn verb<'a>(program: &Command, words: impl Iterator<Item = &'a str>) -> (String, Vec<String>) {
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

fn word(error: &clap::Error, kind: ContextKind) -> String {
    words(error, kind).into_iter().next().unwrap_or_default()
}

fn words(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(several)) => several.clone(),
        _ => Vec::new(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}
