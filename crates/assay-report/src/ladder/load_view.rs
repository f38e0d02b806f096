//! What a load shows of itself, in a table that its own file fills, and the words that follow from
//! what it counts.

use super::columns::LadderColumns;
use crate::format::Formatter;
use crate::view::Chart;
use assay_model::load::Load;

/// What a load shows of itself.
pub(crate) struct LoadView {
    /// All tables of its ladder.
    pub(crate) tables: fn(&Load) -> Vec<LadderColumns>,
    /// What it came to, in sentences.
    pub(crate) sentences: fn(&Load) -> Vec<String>,
    /// What spoils the result: reads that were none of storage, or data that is not right any
    /// more.
    pub(crate) flaw: fn(&Load) -> Option<String>,
    /// Its figures.
    pub(crate) charts: for<'a> fn(&'a Load, Formatter) -> Vec<Chart<'a>>,
}

/// What its sessions are called.
pub(crate) const fn who(load: &Load) -> &'static str {
    if load.kind.counted().is_some() { "user" } else { "session" }
}

/// What its sessions do.
pub(crate) const fn done(load: &Load) -> &'static str {
    if load.kind.counted().is_some() { "transactions" } else { "statements" }
}
