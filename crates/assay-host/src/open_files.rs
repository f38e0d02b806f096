//! How many files a process may have open, raised as far as the system allows it without asking anybody.
//!
//! Source: getrlimit(2), `RLIMIT_NOFILE`: the soft limit counts, and a process may raise it up to the hard one.

use assay_model::{Error, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process have this number of files open, for `purpose`; what it starts has the limit, too.
///
/// # Errors
/// When the system allows fewer.
pub fn allow_open_files(files: u64, purpose: &str) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let too_few = || refused(files, limit.maximum, purpose);
    let soft = enough(limit.current, limit.maximum, files).ok_or_else(too_few)?;
    if limit.current.is_none_or(|current| current >= soft) {
        return Ok(());
    }
    let wanted = Rlimit { current: Some(soft), maximum: limit.maximum };
    setrlimit(Resource::Nofile, wanted).map_err(|_| too_few())
}

/// The soft limit that is enough and no lower than the present one; nothing where the hard one forbids it. A limit that is absent
/// limits nothing.
fn enough(soft: Option<u64>, hard: Option<u64>, files: u64) -> Option<u64> {
    let wanted = soft.unwrap_or(u64::MAX).max(files);
    (soft.is_none_or(|soft| soft >= files) || hard.is_none_or(|hard| hard >= files))
        .then_some(wanted)
}

fn refused(files: u64, hard: Option<u64>, purpose: &str) -> Error {
    let most = hard.map_or_else(|| "fewer".to_owned(), |hard| hard.to_string());
    Error::environment(
        format!("{purpose} needs {files} open files, and this process may have {most}"),
        format!("raise the limit of your shell with `ulimit -n {files}`, or ask for less"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_goes_up_to_the_hard_one_and_never_down() {
        assert_eq!(enough(Some(1024), Some(4096), 1000), Some(1024));
        assert_eq!(enough(Some(1024), Some(4096), 4096), Some(4096));
        assert_eq!(enough(Some(1024), Some(4096), 4097), None);
        assert_eq!(enough(Some(1024), None, 1 << 40), Some(1 << 40));
        assert_eq!(enough(None, None, 7), Some(u64::MAX));
    }

    #[test]
    fn who_needs_more_than_the_system_has_hears_how_many() {
        let error = allow_open_files(u64::MAX - 1, "a rung of 9 sessions").unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("a rung of 9 sessions needs 18446744073709551614 open files"),
            "{said}"
        );
        assert!(allow_open_files(3, "nothing").is_ok());
    }
}
