//! What became of the transactions of a database that were acknowledged before a cut.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a managed server is started without, so that a cut must break something: what is not caught
/// then would not be caught elsewhere either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Control {
    // `fsync = off`, `innodb_flush_log_at_trx_commit = 0`.
    /// Commits that wait for storage
    Commits,
    // `full_page_writes = off`, `innodb_doublewrite = OFF`.
    /// Full pages in the log, or pages written twice
    Pages,
}

impl Control {
    /// The word for it in tables and options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Pages => "pages",
        }
    }
}

/// Transactions of one session that follow one another and are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommitHole {
    /// Number of the session.
    pub session: u64,
    /// Number of the first transaction that is missing.
    pub first: u64,
    /// Number of the last.
    pub last: u64,
}

impl CommitHole {
    /// Transactions that are missing.
    pub const fn transactions(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

/// What a program of the server said of its pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PageCheck {
    /// The program.
    pub checker: String,
    /// Findings; `None` where it could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<u64>,
    /// The first of them in its words, or why it was not run; empty where all is well.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
}

impl PageCheck {
    /// A program that looked at everything and found nothing.
    pub fn sound(checker: &str) -> Self {
        Self { checker: checker.to_owned(), damaged: Some(0), what: String::new() }
    }

    /// A program that was not run, and why.
    pub fn not_run(checker: &str, why: impl fmt::Display) -> Self {
        Self { checker: checker.to_owned(), damaged: None, what: format!("not run: {why}") }
    }
}

/// What a database held after one cut, compared with what it had acknowledged before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JudgedCommits {
    /// Transactions that the ledger says were acknowledged.
    pub acknowledged: u64,
    /// Of these, transactions that are there.
    pub kept: u64,
    /// Transactions that are there though their acknowledgement did not reach the ledger.
    pub newer: u64,
    /// Transactions that were acknowledged and are missing.
    pub lost: u64,
    /// Transactions that are there more than once.
    pub doubled: u64,
    /// The first of those that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<CommitHole>,
    /// Conditions of the data that are broken; `None` where they were not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_conditions: Option<u64>,
    /// What the programs of the server said of its pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<PageCheck>,
    /// Why the server did not come back, in its words, where what it found on storage was the
    /// reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What the server was started without before the cut, on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
}

impl JudgedCommits {
    /// All that is wrong: missing and doubled transactions, broken conditions, damaged pages; one
    /// where the server did not come back and nothing else could be counted.
    pub fn broken(&self) -> u64 {
        let pages: u64 = self.pages.iter().filter_map(|check| check.damaged).sum();
        let counted = self.lost + self.doubled + self.broken_conditions.unwrap_or(0) + pages;
        counted.max(u64::from(self.refusal.is_some()))
    }

    /// Whether pages are damaged, as far as the server or its programs say so.
    pub fn has_damaged_pages(&self) -> bool {
        self.refusal.is_some() || self.pages.iter().any(|check| check.damaged.unwrap_or(0) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_wrong_is_counted_and_a_server_that_does_not_come_back_is_never_right() {
        assert_eq!(JudgedCommits::default().broken(), 0);
        let page = |damaged| PageCheck { checker: "x".to_owned(), damaged, what: String::new() };
        let found = JudgedCommits {
            lost: 2,
            doubled: 1,
            broken_conditions: Some(1),
            pages: vec![page(None), page(Some(3))],
            ..JudgedCommits::default()
        };
        assert!(found.broken() == 7 && found.has_damaged_pages());
        let gone = JudgedCommits { refusal: Some("PANIC".to_owned()), ..JudgedCommits::default() };
        assert!(gone.broken() == 1 && gone.has_damaged_pages());
        assert_eq!(CommitHole { session: 1, first: 3, last: 3 }.transactions(), 1);
    }
}
