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
        "--restore-every: such a server cannot copy a database",
        "leave it out, or name a directory: the server that Assay starts there is copied with its \
         files",
    )
}
