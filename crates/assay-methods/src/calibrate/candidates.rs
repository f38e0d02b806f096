//! Loads that another visit may make the answer.

/// Loads to be visited.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// What the answer is.
    pub(super) always: Vec<u32>,
    /// What shows whether it lies elsewhere.
    pub(super) in_turn: Vec<u32>,
}
