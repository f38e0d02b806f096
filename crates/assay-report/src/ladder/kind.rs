//! What a load counts, which decides whose tables and words are shown.

use assay_model::load::{Load, LoadKind};

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
        match load.kind {
            LoadKind::Oltp => Self::Orders,
            LoadKind::Brokerage => Self::Brokerage,
            // A load of decision support has a document of its own.
            LoadKind::Slob | LoadKind::Dss => Self::Blocks,
        }
    }
}
