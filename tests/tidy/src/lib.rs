//! The house rules as code: each rule reads files of the repository and names what breaks it, and
//! by how much.
//!
//! A rule is a pure function from [`Source`]s or [`RustFile`]s (or from the answer of `cargo
//! metadata`) to [`Finding`]s, so that tests next to every rule prove on made-up files that it can
//! fail. The real repository is judged in `tests/repository.rs`, and the pages of the commands by
//! the program's own tests.
#![forbid(unsafe_code)]

pub mod circles;
pub mod contract;
pub mod dependencies;
pub mod floors;
pub mod forms;
pub mod glossary;
pub mod length;
pub mod links;
pub mod manual;
pub mod metadata;
pub mod openings;
pub mod phrases;
pub mod picture;
pub mod prose;
pub mod readability;
pub mod rust;
pub mod sources;
pub mod unsafe_code;
pub mod vocabulary;
pub mod wall_clock;
pub mod workplace;

pub use rust::RustFile;
pub use sources::Source;

use std::fmt;

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    place: String,
    what: String,
}

impl Finding {
    /// `place` is a path, with a line where there is one; `what` says the rule and by how much it
    /// is broken.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }

    /// A finding on a line (counted from 1) of a file.
    pub fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self::new(format!("{path}:{line}"), what)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.what)
    }
}

/// Every finding on a line of its own, or nothing.
pub fn report(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
