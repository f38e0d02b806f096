//! fio's manual: its job files as workloads.

mod access;
mod direction;
mod file;
mod job;
mod limits;
mod names;
mod number;
mod sequence;
mod sizes;

use crate::conversion::{Conversion, Refused};
use crate::surroundings::Surroundings;

/// Reads a job file; `name` is what its lines are called by.
///
/// # Errors
/// The line, the option and the reason where nothing can be made of the file.
pub fn convert(text: &str, name: &str, around: &Surroundings<'_>) -> Result<Conversion, Refused> {
    let sections = file::read(text, name, around)?;
    let jobs = sections.iter().map(job::job).collect::<Result<Vec<_>, _>>()?;
    sequence::sequence(&jobs)
}

/// Whether fio has an option of this name.
pub fn is_option(name: &str) -> bool {
    names::full(name).is_some()
}
