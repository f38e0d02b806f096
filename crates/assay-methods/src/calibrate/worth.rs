//! Loads that are worth another visit.

/// Loads that are worth a visit.
#[derive(Debug, Default)]
pub(super) struct Worth {
    /// What the answer is.
    pub(super) always: Vec<u32>,
    /// What shows whether it lies elsewhere.
    pub(super) in_turn: Vec<u32>,
}
