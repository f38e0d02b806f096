//! Assay's databases on servers that are not managed, and copies of them.

use assay_model::Error;

/// An Assay database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnDatabase {
    /// Its name.
    pub(super) name: String,
    /// The id in its record, and in those of its copies.
    pub(super) id: String,
}

/// That no statement of a server copies a database.
pub fn no_copies() -> Error {
    Error::usage(
        "--restore-every: this server cannot copy a database",
        "omit it, or specify a directory: Assay copies the files of the server that it starts there",
    )
}
