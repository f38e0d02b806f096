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

pub(crate) use names::{OptionUse, full as full_name, option_use};

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

/// Reads the options of a command line, `name=value` or a name alone, as the job file that they
/// mean: those before the first `name` are for all jobs.
///
/// # Errors
/// The option and the reason where nothing can be made of them.
pub fn convert_words(words: &[String], around: &Surroundings<'_>) -> Result<Conversion, Refused> {
    let sections = file::read_words(words, around)?;
    let jobs = sections.iter().map(job::job).collect::<Result<Vec<_>, _>>()?;
    sequence::sequence(&jobs)
}

/// Whether fio has an option of this name.
pub fn is_option(name: &str) -> bool {
    names::full(name).is_some()
}

/// Whether a job of fio has an option of this name; those of its profiles are none.
pub fn is_job_option(name: &str) -> bool {
    names::full(name).is_some_and(|name| !names::is_of_profile(name))
}

/// Whether an option stands without a value as a rule.
pub fn is_flag(name: &str) -> bool {
    names::full(name).is_some_and(names::is_flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::{Approximation, OptionReason};

    #[test]
    fn runs_of_random_places_are_sequential_and_gaps_are_named() {
        let near = |rw: &str| {
            let text = format!("[a]\nfilename=/dev/x\nrw={rw}\nruntime=5\ntime_based\n");
            let conversion = convert(&text, "x.fio", &Surroundings::none()).unwrap();
            let how = conversion.approximated().find(|(note, _)| note.origin.key == "rw");
            how.map(|(_, how)| how.clone())
        };
        assert_eq!(near("randread:1"), None);
        assert_eq!(near("randread:8"), Some(Approximation::Majority));
        assert_eq!(near("write:112k"), Some(Approximation::NoGaps));
    }

    #[test]
    fn strides_over_a_plain_device_are_no_zoned_device() {
        let refused = |lines: &str| {
            let text = format!("[a]\nfilename=/dev/x\nrw=read\nruntime=5\ntime_based\n{lines}\n");
            let conversion = convert(&text, "x.fio", &Surroundings::none()).unwrap();
            let (_, reason) = conversion.refused().next().unwrap();
            assert!(reason.leaves_out_load());
            reason.clone()
        };
        assert_eq!(refused("zonemode=strided\nzonesize=1m\nzoneskip=2m"), OptionReason::Strides);
        assert_eq!(refused("zonesize=1m\nzoneskip=2m"), OptionReason::Strides);
        assert_eq!(refused("zonemode=zbd\nzonesize=1m"), OptionReason::ZonedDevice);
    }
}
