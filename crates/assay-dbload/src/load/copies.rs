//! Assay's databases on servers that are not managed, and copies of them.

use super::link::Link;
use assay_model::failure::Answer;
use assay_model::{Error, Result};

/// An Assay database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnDatabase {
    /// Its name.
    pub(super) name: String,
    /// The id in its record, and in those of its copies.
    pub(super) id: String,
}

/// How a product copies the database of a load on a server that is not managed.
pub trait DatabaseCopies: Link {
    /// Notes that the database of this session is to be kept.
    fn keep_database(&mut self) -> Answer<()>;

    /// Copies a database, to go back to it.
    ///
    /// # Errors
    /// What the server says, or that the product has no such copies.
    fn copy_database(address: &Self::Address, own: &OwnDatabase) -> Result<OwnDatabase>;

    /// Makes a database from its copy again.
    ///
    /// # Errors
    /// What the server says, or that something else lies in it by now.
    fn restore_database(
        address: &Self::Address,
        own: &OwnDatabase,
        copy: &OwnDatabase,
    ) -> Result<()>;

    /// Drops a database or a copy.
    ///
    /// # Errors
    /// What the server says, or that it is not ours.
    fn drop_database(address: &Self::Address, own: &OwnDatabase) -> Result<()>;
}

/// That no statement of a server copies a database.
pub fn no_copies() -> Error {
    Error::usage(
        "--restore-every: such a server cannot copy a database",
        "leave it out, or name a directory: the server that Assay starts there is copied with its files",
    )
}
