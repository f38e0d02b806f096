//! Bounds of what loads can be asked, for the plan and for the options of the command line.

use assay_model::{Error, Result};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Sessions of a step.
pub const SESSIONS: RangeInclusive<i64> = 1..=10_000;
/// Repeats of all steps.
pub const REPEATS: RangeInclusive<i64> = 1..=99;
/// Parts of a table.
pub const PARTITIONS: RangeInclusive<i64> = 0..=1024;
/// Steps between two times that data are restored.
pub const RESTORE_EVERY: RangeInclusive<i64> = 1..=4_294_967_295;
/// Statements of a session.
pub const WORK: RangeInclusive<u64> = 1..=u64::MAX;
/// Streams of queries: each is a session with processes of its own.
pub const STREAMS: RangeInclusive<i64> = 0..=1000;
/// Processes that work on a query, besides that of its session.
pub const PARALLEL: RangeInclusive<i64> = 0..=1024;
/// Sessions that load tables.
pub const LOADERS: RangeInclusive<i64> = 1..=256;

/// Refuses values outside their bounds.
///
/// # Errors
/// A usage error that names the option.
pub fn within<N: Copy + Display + Into<i64>>(
    option: &str,
    values: impl IntoIterator<Item = N>,
    bounds: &RangeInclusive<i64>,
) -> Result<()> {
    let outside = values.into_iter().find(|value| !bounds.contains(&(*value).into()));
    outside.map_or(Ok(()), |value| {
        Err(Error::usage(
            format!("{option}: {value} is not in {}..={}", bounds.start(), bounds.end()),
            format!("use a whole number from {} to {}", bounds.start(), bounds.end()),
        ))
    })
}

/// Refuses two options of which one makes the other mean nothing.
///
/// # Errors
/// A usage error that names both.
pub fn one_of(one: (&str, bool), other: (&str, bool)) -> Result<()> {
    if one.1 && other.1 {
        return Err(Error::usage(
            format!("{} cannot be used with {}", one.0, other.0),
            "leave one of them out",
        ));
    }
    Ok(())
}

/// A name of a schema that needs no quotes.
///
/// # Errors
/// A usage error that says what it may hold.
pub fn schema_name(text: &str) -> Result<String> {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_');
    if begins && text.len() <= 40 && text.chars().all(is_plain) && !text.starts_with("pg_") {
        return Ok(text.to_owned());
    }
    Err(Error::usage(
        format!("'{text}' is not a plain schema name"),
        "use at most 40 lowercase letters, digits and _",
    ))
}

/// The same of the name in a plan, where there is one.
///
/// # Errors
/// A usage error that says what it may hold.
pub fn checked_schema(name: Option<&str>) -> Result<()> {
    name.map_or(Ok(()), |name| schema_name(name).map(drop))
}

/// The same of a word of the command line.
///
/// # Errors
/// What it may hold.
pub fn plain_name(typed: &str) -> std::result::Result<String, String> {
    schema_name(typed).map_err(|error| error.hint().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas_need_no_quotes() {
        assert!(schema_name("assay_oltp2").is_ok());
        for wrong in ["", "2x", "A", "a b", "a;drop", "pg_mine", &"x".repeat(41)] {
            assert!(schema_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_lies_outside_is_named() {
        assert!(within("--repeats", [1_u32, 99], &REPEATS).is_ok());
        let error = within("--repeats", [1_u32, 100], &REPEATS).unwrap_err();
        assert_eq!(error.message(), "--repeats: 100 is not in 1..=99");
        assert!(one_of(("--work", true), ("--time", true)).is_err());
        assert!(one_of(("--work", true), ("--time", false)).is_ok());
    }
}
