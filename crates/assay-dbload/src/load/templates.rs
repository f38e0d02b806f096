//! Files of statements: each begins with a line `--: name(value, text text)` and ends before the
//! next, and its values stand in it by name. Other lines that begin with `--` are for the reader.

use super::statements::{LoadStatement, StatementWords, said};
use assay_model::load::Dialect;
use std::fmt::Write as _;

/// A statement of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Its name.
    pub name: &'static str,
    /// Its values in the order in which they are given, and whether each is a text.
    values: Vec<(&'static str, bool)>,
    /// Its text, where `:name` is a value.
    pub text: String,
}

/// What a dialect says of a load of transactions.
pub(crate) struct Phrases {
    /// Its words where dialects differ.
    pub words: StatementWords,
    /// Its own statements.
    pub statements: &'static str,
    /// What transactions are on the server where one is a single call, in words; none where they
    /// are statements only.
    pub routines: Option<&'static str>,
    /// Makes what the conditions look at.
    pub before: &'static [&'static str],
    /// What is done when they are checked.
    pub after: &'static str,
}

/// All statements of a file.
pub(crate) fn templates(file: &'static str) -> Vec<Template> {
    file.split("--: ").skip(1).filter_map(template).collect()
}

fn template(piece: &'static str) -> Option<Template> {
    let (head, body) = piece.split_once('\n')?;
    let (name, values) = head.trim_end().strip_suffix(')')?.split_once('(')?;
    let values = values.split(", ").map(|value| match value.strip_suffix(" text") {
        Some(name) => (name, true),
        None => (value, false),
    });
    let lines: Vec<&str> = body.lines().filter(|line| !line.starts_with("--")).collect();
    let text = lines.join("\n");
    let text = text.trim().trim_end_matches(';').trim_end().to_owned();
    Some(Template { name, values: values.collect(), text })
}

impl Template {
    /// With the words of a product that stand for several statements.
    pub(crate) fn with(&self, words: &[(&str, &str)]) -> Self {
        let text = words.iter().fold(self.text.clone(), |text, (word, is)| text.replace(word, is));
        Self { text, ..self.clone() }
    }

    /// With numbers for the names of its values: `#1` for a number, `@1` for a text.
    pub(crate) fn numbered(&self) -> String {
        with_values(&self.text, |to, name| {
            let known = (1..).zip(&self.values).find(|(_, (known, _))| *known == name);
            // Writing to memory does not fail.
            let _ = match known {
                Some((place, (_, is_text))) => {
                    write!(to, "{}{place}", if *is_text { '@' } else { '#' })
                }
                None => write!(to, ":{name}"),
            };
        })
    }
}

/// Statements in the words of a product; a word may stand for one behind it.
pub(crate) fn prepared(
    templates: &[Template],
    words: &[(&str, &str)],
    dialect: Dialect,
    schema: &str,
) -> Vec<LoadStatement> {
    let of = |one: &Template| {
        let text = one.with(words).numbered();
        LoadStatement::of(one.name, &said(&text, &[], schema), dialect)
    };
    templates.iter().map(of).collect()
}

/// As part of a function of the server: each value is a variable.
pub(crate) fn with_variables(text: &str) -> String {
    with_values(text, String::push_str)
}

/// Writes the names of values in another way.
fn with_values(text: &str, write: impl Fn(&mut String, &str)) -> String {
    let mut pieces = text.split(':');
    let mut sql = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        let (name, rest) = piece.split_at(end.unwrap_or(piece.len()));
        write(&mut sql, name);
        sql.push_str(rest);
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "-- Of all.\n\n-- Why.\n--: new(w, of text)\nSELECT :of,\n    :w;\n\n-- \
                        More.\n--: low(w)\nSELECT {x};\n";

    #[test]
    fn a_file_is_read_as_statements_whose_values_have_names() {
        let all = templates(FILE);
        assert_eq!(all.iter().map(|one| one.name).collect::<Vec<_>>(), ["new", "low"]);
        assert_eq!(all[0].numbered(), "SELECT @2,\n    #1");
        assert_eq!(with_variables(&all[0].text), "SELECT of,\n    w");
        assert_eq!(all[1].with(&[("{x}", ":w")]).numbered(), "SELECT #1");
    }
}
