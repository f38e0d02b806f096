//! What a load counts, which decides whose tables and words are shown.

use assay_model::load::Load;

/// A kind of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its answer is how many blocks a database reads and changes.
    Blocks,
    /// Its answer is how many new orders a database takes.
    Orders,
    /// Its answer is how many trade results a database takes.
    Brokerage,
}

impl Kind {
    /// The kind of a load.
    pub(crate) fn of(load: &Load) -> Self {
        match load.method.as_str() {
            "oltp" => Self::Orders,
            "brokerage" => Self::Brokerage,
            _ => Self::Blocks,
        }
    }
}
