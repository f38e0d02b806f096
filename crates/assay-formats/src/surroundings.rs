//! What a job file may ask for outside of itself: other files, and values of variables. Whoever calls decides.

use assay_model::Result;

/// Gives what a job file refers to.
pub struct Surroundings<'a> {
    /// The text of an included file, by the name that stands in the file.
    pub file: &'a dyn Fn(&str) -> Result<String>,
    /// The value of a variable, where it has one.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Included files in one another at most, as in fio.
pub const DEPTH_MAX: usize = 16;
/// Bytes of a file with everything that it includes, at most.
pub const BYTES_MAX: usize = 4 << 20;

impl Surroundings<'static> {
    /// Nothing around: a file that includes others or has variables is refused.
    pub const fn none() -> Self {
        Surroundings { file: &no_file, variable: &|_| None }
    }
}

fn no_file(name: &str) -> Result<String> {
    Err(assay_model::Error::usage(format!("'{name}' is not here"), "name a file that is there"))
}
