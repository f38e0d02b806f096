//! Documents of a conversion as TOML, with a comment at every line that says where it comes from.

use crate::conversion::{
    Conversion, ConversionPart, ConvertedDocument, DocumentLine, OptionOrigin,
};
use assay_model::{Error, Result};
use std::fmt::Write;

/// Keys that stand first, as a person would write them.
const FIRST: [&str; 9] = [
    "format",
    "name",
    "duration",
    "warm_up",
    "read_share",
    "block_size",
    "access",
    "arrival",
    "workers",
];
/// Origins that a comment names at most.
const ORIGINS_MAX: usize = 3;

/// One document as text.
///
/// # Errors
/// When the document has a form that TOML has not, which is a mistake of this program.
pub fn annotated(conversion: &Conversion, part: &ConversionPart) -> Result<String> {
    let mut text = String::new();
    for name in part.targets.iter().map(|index| &conversion.targets[*index].name) {
        _ = writeln!(text, "# target {}: chosen when it is run", one_line(name));
    }
    match &part.document {
        ConvertedDocument::Workload(workload) => text.push_str(&table(workload, part, "")?),
        ConvertedDocument::Study(study) => {
            let bare = assay_model::study::Study { workload: None, ..study.clone() };
            text.push_str(&table(&bare, part, "")?);
            if let Some(workload) = &study.workload {
                text.push_str("[workload]\n");
                text.push_str(&table(workload, part, "workload.")?);
            }
        }
    }
    Ok(text)
}

/// Keys and values first, then the tables below.
fn table<T: serde::Serialize>(document: &T, part: &ConversionPart, path: &str) -> Result<String> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::environment(format!("writing TOML: {error}"), "report this as a bug")
    };
    let table = toml::Table::try_from(document).map_err(|error| failed(&error))?;
    let mut plain = Vec::new();
    let mut below = String::new();
    for (key, value) in &table {
        match value {
            toml::Value::Array(tables)
                if matches!(tables.first(), Some(toml::Value::Table(_))) && key != "block_size" =>
            {
                for (index, one) in tables.iter().enumerate() {
                    let _ = writeln!(below, "\n[[{path}{key}]]");
                    let stream = (key == "stream").then_some(index);
                    below.push_str(&lines(one.as_table().into_iter().flatten(), part, stream));
                }
            }
            toml::Value::Table(inner) if ["phases", "stop", "hooks"].contains(&key.as_str()) => {
                if !inner.is_empty() {
                    let _ = writeln!(below, "\n[{path}{key}]");
                    below.push_str(&lines(inner, part, None));
                }
            }
            value => plain.push((key, value)),
        }
    }
    Ok(lines(plain, part, None) + &below)
}

fn lines<'a>(
    entries: impl IntoIterator<Item = (&'a String, &'a toml::Value)>,
    part: &ConversionPart,
    stream: Option<usize>,
) -> String {
    let mut text = String::new();
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries
        .sort_by_key(|(key, _)| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()));
    for (key, value) in entries {
        let line = format!("{key} = {value}");
        let _ = writeln!(text, "{line:<44} # {}", comment(part, stream, key));
    }
    text
}

/// Where a line comes from.
fn comment(part: &ConversionPart, stream: Option<usize>, key: &str) -> String {
    let found = part.sources.iter().find(|(line, _)| {
        let DocumentLine { stream: of, key: named } = line;
        *of == stream && *named == key
    });
    let named = |origins: &[OptionOrigin]| {
        let shown: Vec<String> =
            origins.iter().take(ORIGINS_MAX).map(|origin| one_line(&origin.to_string())).collect();
        let more = origins.len().saturating_sub(ORIGINS_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        shown.join(", ") + &more
    };
    match found {
        Some((_, origins)) => named(origins),
        None if ["format", "name", "interval", "layout", "order", "repeats"].contains(&key) => {
            "of Assay".to_owned()
        }
        None => "default of the program".to_owned(),
    }
}

/// A name without what would end the comment.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
