//! Reading and writing documents: one form of error for all of them, and unknown keys answered with
//! the nearest known name.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What people write is shorter by far; parsed, a document takes up to 250 times as much memory.
const TOML_BYTES_MAX: usize = 512 << 10;

/// Parses a TOML document; `kind` names it in errors, for example `workload`.
///
/// # Errors
/// A usage error with the line, the key and, for an unknown key, the nearest known name; and for
/// more than 512 KiB.
pub fn parse_toml<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T> {
    if text.len() > TOML_BYTES_MAX {
        return Err(Error::usage(
            format!("{kind}: it is longer than 512 KiB"),
            format!("it is too long for a {kind}; specify another file"),
        ));
    }
    toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        explain(error.message(), &format!("{kind}, line {line}"), kind)
    })
}

/// Parses an Assay document in JSON.
///
/// # Errors
/// A usage error with the line, and the nearest known name of an unknown key.
pub fn parse_json<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| explain(&error.to_string(), kind, kind))
}

fn explain(message: &str, place: &str, kind: &str) -> Error {
    let text = message.trim().replace('\n', " ");
    if let Some((unknown, known)) = unknown_name(&text) {
        let hint = nearest(&unknown, &known).map_or_else(
            || format!("known here: {}", known.join(", ")),
            |name| format!("did you mean '{name}'? known here: {}", known.join(", ")),
        );
        return Error::usage(format!("{place}: unknown name '{unknown}'"), hint);
    }
    match text.split_once("; write ") {
        Some((what, how)) => Error::usage(format!("{place}: {what}"), format!("write {how}")),
        None => Error::usage(format!("{place}: {text}"), form_of(kind)),
    }
}

/// Where the form of a kind of document is described.
fn form_of(kind: &str) -> String {
    let kind = kind.trim_end_matches(" model");
    if WRITTEN.contains(&kind) {
        return format!(
            "docs/forms/{kind}.md describes every key, and `assay list {kind}` has examples"
        );
    }
    "`assay schema --list` lists the forms of all documents".to_owned()
}

/// Takes apart serde's message for an unknown field or variant, where every name stands in
/// backticks; the wording is pinned by a test.
fn unknown_name(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message
        .strip_prefix("unknown field ")
        .or_else(|| message.strip_prefix("unknown variant "))?;
    let mut names = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    let unknown = names.next()?;
    Some((unknown, names.collect()))
}

/// Kinds of documents that people write, each with a page of its own.
const WRITTEN: [&str; 5] = ["workload", "criteria", "study", "mix", "array"];

/// Letters of a name that may be a slip of another; comparing takes the product of both lengths.
const NAME_LETTERS_MAX: usize = 64;

/// The known name with the fewest edits, when it is close enough to be a plausible typing error.
pub fn nearest<'a>(unknown: &str, known: &'a [String]) -> Option<&'a str> {
    if unknown.chars().nth(NAME_LETTERS_MAX).is_some() {
        return None;
    }
    let close =
        known.iter().map(|name| (edits(unknown, name), name)).min_by_key(|(edits, _)| *edits)?;
    (close.0 <= unknown.chars().count() / 3 + 1).then_some(close.1.as_str())
}

/// Levenshtein's distance between two names.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (place, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}

/// Writes a document as TOML.
///
/// # Errors
/// When the document has a form that TOML has not, which is a mistake of this program.
pub fn to_toml<T: Serialize>(document: &T) -> Result<String> {
    toml::to_string(document).map_err(|error| {
        Error::environment(format!("writing TOML: {error}"), "report this as a bug")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(
            (edits("kitten", "sitting"), edits("", "abc"), edits("same", "same")),
            (3, 3, 0)
        );
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        let known = ["duration".to_owned(), "seed".to_owned()];
        assert_eq!(nearest("durration", &known), Some("duration"));
        assert_eq!(nearest("x", &known), None);
        assert_eq!(nearest(&"duration".repeat(25_000), &known), None);
    }
}
