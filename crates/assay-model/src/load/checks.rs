//! Whether data is still right after a load: conditions that it must keep, and transactions that
//! must be there.

use serde::{Deserialize, Serialize};

/// A condition that the data must keep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its number in its source.
    pub number: u32,
    /// What must hold.
    pub condition: String,
    /// Rows, or groups of them, that break it.
    pub violations: u64,
}

/// All conditions, checked once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// When that was, in words: `after loading`.
    pub when: String,
    /// One a condition.
    pub checks: Vec<Check>,
    /// How long it took, s.
    pub elapsed_s: f64,
}

/// What became of the transactions of one kind in one step, its warm-up among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Commits {
    /// Sessions of the step.
    pub sessions: u32,
    /// Its repeat, from 1.
    pub repeat: u32,
    /// The kind.
    pub stream: String,
    /// The database, where the load is on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Transactions whose commit the server acknowledged.
    pub acknowledged: u64,
    /// Transactions that ended without an answer: done or not.
    pub unknown: u64,
    /// Transactions that stand in the tables.
    pub found: u64,
}

impl Checks {
    /// Whether no condition is broken.
    pub fn hold(&self) -> bool {
        self.checks.iter().all(|check| check.violations == 0)
    }
}

impl Commits {
    /// Whether fewer stand there than were acknowledged, or more than were ever begun.
    pub fn is_lost(&self) -> bool {
        let most = self.acknowledged.saturating_add(self.unknown);
        !(self.acknowledged..=most).contains(&self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_without_an_answer_may_be_there_or_not() {
        let commits = |found| Commits { acknowledged: 10, unknown: 2, found, ..Commits::default() };
        let lost: Vec<bool> = (9..=13).map(|found| commits(found).is_lost()).collect();
        assert_eq!(lost, [true, false, false, false, true]);
    }
}
