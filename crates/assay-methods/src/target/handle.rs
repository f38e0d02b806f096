//! A second handle of an open target, for whoever reads or writes it meanwhile.

use assay_model::{Error, Result};
use std::fs::File;

/// The same open file once more.
///
/// # Errors
/// An environment error when no more files may be open.
pub(super) fn handle(file: &File, name: &str) -> Result<File> {
    file.try_clone().map_err(|error| {
        Error::environment(format!("keeping {name} open: {error}"), "raise the limit on open files")
    })
}
