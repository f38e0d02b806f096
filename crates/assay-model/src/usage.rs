//! Invalid command lines, in the words of every other error: what was read, and what to do next.

use crate::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The parser's error as an Assay error; `command` is what was typed as far as it is known, as in
/// `assay runs show`.
pub fn usage_error(error: &clap::Error, command: &str) -> Error {
    let (message, hint) = match error.kind() {
        ErrorKind::ValueValidation => unreadable(error),
        ErrorKind::InvalidValue => not_among(error),
        ErrorKind::UnknownArgument => {
            unknown(error, "option or argument", ContextKind::InvalidArg, command)
        }
        ErrorKind::InvalidSubcommand => {
            unknown(error, "command", ContextKind::InvalidSubcommand, command)
        }
        ErrorKind::MissingRequiredArgument => {
            (format!("{} is missing", words(error, ContextKind::InvalidArg).join(", ")), None)
        }
        ErrorKind::ArgumentConflict => conflict(error),
        _ => (first_line(error), None),
    };
    Error::usage(message, hint.unwrap_or_else(|| help(command)))
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
    command: &str,
) -> (String, Option<String>) {
    let message = format!("there is no {kind} '{}'", word(error, context));
    let near = suggestion(error, ContextKind::SuggestedArg)
        .or_else(|| suggestion(error, ContextKind::SuggestedSubcommand));
    (message, near.map(|near| format!("{near}{}", help(command))))
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

fn help(command: &str) -> String {
    format!("see `{command} --help`")
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
