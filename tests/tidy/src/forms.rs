//! The pages of the files that people write, docs/forms/*.md, are written from the schemas in
//! contract/.
//!
//! A page opens with every key of the form, its kind, default and meaning, between [`BEGIN`] and
//! [`END`]; what people write follows below and is never touched.

use crate::Finding;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Opens the part of a page that is written from the schema.
pub const BEGIN: &str = "<!-- begin: written by `make docs` from the schema in contract/ -->";
/// Closes it.
pub const END: &str = "<!-- end: written from here on by people -->";

/// The forms that people write: the name of the schema, the heading of its page.
pub const FORMS: [(&str, &str); 5] = [
    ("workload", "The workload file, `*.workload.toml`"),
    ("criteria", "The criteria file, `*.criteria.toml`"),
    ("study", "The study file, `*.study.toml`"),
    ("mix", "The mix of a brokerage, `*.mix.toml`"),
    ("array", "The model of an array, `*.array.toml`"),
];

/// Quantities, which are texts with a unit, and what one looks like.
const QUANTITIES: [(&str, &str); 5] = [
    ("Bytes", "size, `\"8KiB\"`"),
    ("Nanos", "time, `\"30s\"`"),
    ("Rate", "rate, `\"5000/s\"`"),
    ("Share", "share, `0.7` or `\"70%\"`"),
    ("Bound", "limit with its unit, `\"20ms\"`"),
];

/// Where the page of a form lies.
pub fn path(name: &str) -> String {
    format!("docs/forms/{name}.md")
}

/// The page of a form with a fresh beginning: what stands below [`END`] in `old` is kept.
pub fn page(heading: &str, schema: &Value, old: Option<&str>) -> String {
    let below = old.and_then(|old| old.split_once(END)).map(|(_, below)| below);
    let below = below.unwrap_or_default().trim_start_matches('\n');
    format!("{BEGIN}\n{}\n{END}\n\n{below}", chapter(heading, schema).trim_end())
}

/// Pages that differ from their schema.
pub fn check(
    heading: &str,
    name: &str,
    schema: &Value,
    page_text: Option<&str>,
) -> Option<Finding> {
    let fresh = page(heading, schema, page_text);
    let is_fresh = page_text.is_some_and(|text| text == fresh);
    (!is_fresh).then(|| Finding::new(path(name), "differs from the schema: run `make docs`"))
}

/// All keys of a form, then those of the parts that it is made of.
fn chapter(heading: &str, schema: &Value) -> String {
    let mut text = format!("# {heading}\n\n{}\n\n", described(schema));
    text += &keys(schema);
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        if !QUANTITIES.iter().any(|(quantity, _)| quantity == name) {
            let _ = write!(text, "\n## {name}\n\n");
            let about = described(part);
            if !about.is_empty() {
                let _ = write!(text, "{about}\n\n");
            }
            text += &if part["properties"].is_object() { keys(part) } else { choices(part) };
        }
    }
    text
}

/// The keys of an object: a row each.
fn keys(schema: &Value) -> String {
    let mut text = "| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    for (key, value) in properties(schema) {
        let default = match (&value["default"], is_needed(schema, key)) {
            (Value::Null, true) => "must be given".to_owned(),
            (Value::Null, false) => "none".to_owned(),
            (default, _) => format!("`{default}`"),
        };
        let _ = writeln!(text, "| `{key}` | {} | {default} | {} |", kind(value), described(value));
    }
    text
}

/// The values that stand for choice, or the parts that a value may be.
fn choices(schema: &Value) -> String {
    let mut text = "| value | meaning |\n|---|---|\n".to_owned();
    let all = ["oneOf", "anyOf"].map(|key| schema[key].as_array().into_iter().flatten());
    for choice in all.into_iter().flatten() {
        let _ = writeln!(text, "| {} | {} |", written(choice), described(choice));
    }
    for value in schema["enum"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "| `{value}` | |");
    }
    text
}

/// How a choice is written: a word, or a table with its keys.
fn written(choice: &Value) -> String {
    if let Some(word) = choice["const"].as_str() {
        return format!("`\"{word}\"`");
    }
    if let Some(words) = choice["enum"].as_array() {
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    let inner: Vec<String> = properties(choice).map(|(name, value)| nested(name, value)).collect();
    if inner.is_empty() { kind(choice) } else { inner.join(", ") }
}

/// `zipf = { … }` with the keys inside, their kinds and defaults.
fn nested(name: &str, value: &Value) -> String {
    let inner: Vec<String> = properties(value)
        .map(|(key, inner)| {
            let default = match &inner["default"] {
                Value::Null if is_needed(value, key) => String::new(),
                Value::Null => " (may be left out)".to_owned(),
                default => format!(" (default `{default}`)"),
            };
            format!("`{key}`: {}{default}, {}", kind(inner), lower(&described(inner)))
        })
        .collect();
    if inner.is_empty() {
        return format!("`{name}`: {}", kind(value));
    }
    format!("`{name} = {{ … }}` with {}", inner.join("; "))
}

/// What kind of value it is, with a link to the part that describes it.
fn kind(value: &Value) -> String {
    if let Some(path) = value["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or(path);
        let quantity = QUANTITIES.iter().find(|(quantity, _)| *quantity == name);
        let link = || format!("[{name}](#{})", name.to_lowercase());
        return quantity.map_or_else(link, |(_, example)| (*example).to_owned());
    }
    if let Some(all) = value["anyOf"].as_array() {
        let kinds = all.iter().filter(|one| one["type"] != "null").map(kind);
        return kinds.collect::<Vec<_>>().join(" or ");
    }
    let of_type = |name: &str| match name {
        "array" => format!("list of {}", kind(&value["items"])),
        "boolean" => "`true` or `false`".to_owned(),
        "integer" => "whole number".to_owned(),
        "null" => String::new(),
        "string" => "text".to_owned(),
        other => other.replace("object", "table"),
    };
    match &value["type"] {
        Value::String(name) => of_type(name),
        Value::Array(names) => {
            let kinds = names.iter().filter_map(Value::as_str).map(of_type);
            kinds.filter(|kind| !kind.is_empty()).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}

fn is_needed(schema: &Value, key: &str) -> bool {
    schema["required"].as_array().is_some_and(|all| all.iter().any(|needed| needed == key))
}

/// The description on one line, fit for a cell of a table.
fn described(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// In the middle of a sentence, without its full stop.
fn lower(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    if text.starts_with("I/O") {
        text.trim_end_matches('.').to_owned()
    } else {
        first + letters.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "description": "A plan.\nOf two lines.",
            "properties": {
                "time": { "description": "How long.", "$ref": "#/$defs/Nanos", "default": "1s" },
                "way": { "description": "Which | way.", "$ref": "#/$defs/Way" },
                "names": { "type": "array", "items": { "type": "string" } }
            },
            "required": ["way"],
            "$defs": {
                "Nanos": { "type": "string" },
                "Way": { "oneOf": [
                    { "const": "left", "description": "There." },
                    { "description": "Far.", "properties": { "right": { "properties": {
                        "steps": { "type": "integer", "default": 3, "description": "How many." } } } } }
                ] }
            }
        })
    }

    #[test]
    fn every_key_and_choice_has_a_row() {
        let page = page("The plan", &schema(), None);
        for row in [
            "A plan. Of two lines.",
            "| `time` | time, `\"30s\"` | `\"1s\"` | How long. |",
            "| `way` | [Way](#way) | must be given | Which \\| way. |",
            "| `names` | list of text | none |  |",
            "| `\"left\"` | There. |",
            "| `right = { … }` with `steps`: whole number (default `3`), how many | Far. |",
        ] {
            assert!(page.contains(row), "{row} is not in\n{page}");
        }
        assert!(!page.contains("## Nanos"));
    }

    #[test]
    fn what_people_wrote_is_kept_and_a_stale_page_is_found() {
        let old = format!("{BEGIN}\nold\n{END}\n\n## Examples\n");
        let fresh = page("The plan", &schema(), Some(&old));
        assert!(fresh.ends_with(&format!("{END}\n\n## Examples\n")) && !fresh.contains("\nold\n"));
        assert!(check("The plan", "plan", &schema(), Some(&old)).is_some());
        assert!(check("The plan", "plan", &schema(), Some(&fresh)).is_none());
        assert!(check("The plan", "plan", &schema(), None).is_some());
    }
}
