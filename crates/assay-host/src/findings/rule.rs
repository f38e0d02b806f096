//! A rule: what it looks for, why that matters, and what to do about it.

use assay_model::environment::{Finding, Severity};

/// One thing to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingRule {
    /// Stable name.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Why it matters.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

impl FindingRule {
    pub(super) const fn new(
        name: &'static str,
        severity: Severity,
        why: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self { name, severity, why, remedy }
    }

    /// The finding that this rule makes of a value.
    pub(super) fn found(&self, what: impl Into<String>, value: impl Into<String>) -> Finding {
        Finding {
            severity: self.severity,
            rule: self.name.to_owned(),
            what: what.into(),
            value: value.into(),
            why: self.why.to_owned(),
            remedy: self.remedy.to_owned(),
        }
    }
}
