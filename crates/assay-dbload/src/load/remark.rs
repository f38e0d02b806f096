//! What a reader of a result must know, in its three parts.

use assay_model::measurement::Remark;

/// A remark: what was found, what follows from it, and what helps.
pub(super) fn remark(what: &str, why: &str, remedy: &str) -> Remark {
    Remark { what: what.to_owned(), why: why.to_owned(), remedy: remedy.to_owned() }
}
