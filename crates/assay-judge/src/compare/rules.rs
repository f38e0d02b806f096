//! The question of a comparison, and its error rates.

/// What a comparison is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareRules {
    /// Change for the worse that does not matter, as a share; without it no side is judged.
    pub tolerance: Option<f64>,
    /// A difference below this share is none, however certain.
    pub least_share: f64,
    /// By what share one and the same storage differs from run to run (standard deviation), where
    /// somebody knows it.
    pub run_to_run_share: Option<f64>,
}

impl Default for CompareRules {
    fn default() -> Self {
        Self { tolerance: None, least_share: 0.01, run_to_run_share: None }
    }
}
