//! A profile with the name of what it was read from.

use assay_model::profile::Profile;

/// A profile with its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedProfile<'a> {
    /// The file.
    pub file: &'a str,
    /// What was read.
    pub profile: &'a Profile,
}
