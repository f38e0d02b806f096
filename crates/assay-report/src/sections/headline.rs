//! What the answer of a report is when it has no verdict of criteria.

use assay_model::verdict::Outcome;

/// The sentence that answers.
pub(super) struct Headline {
    /// What it came to, where that can be said.
    pub(super) outcome: Option<Outcome>,
    /// One sentence.
    pub(super) words: String,
}
