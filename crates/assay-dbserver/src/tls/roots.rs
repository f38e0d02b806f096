//! Whose signature makes a certificate trusted.

use std::path::PathBuf;

/// Who signs certificates that are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Nobody was named.
    #[default]
    Unnamed,
    /// The authorities that this system trusts.
    System,
    /// Those in a file in PEM form.
    File(PathBuf),
}
