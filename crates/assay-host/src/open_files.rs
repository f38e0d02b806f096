//! How many files a process may have open, raised as far as the system allows it without asking
//! anybody.
//!
//! Source: getrlimit(2), `RLIMIT_NOFILE`: the soft limit counts, and a process may raise it up to
//! the hard one.

use assay_model::{Error, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process have this number of files open, for `purpose`; what it starts has the limit,
/// too.
///
/// # Errors
/// When the system allows fewer.
pub fn allow_open_files(files: u64, purpose: &str) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|soft| soft >= files) {
        return Ok(());
    }
    let wanted = Rlimit { current: Some(files), maximum: limit.maximum };
    setrlimit(Resource::Nofile, wanted).map_err(|_| refused(files, limit.maximum, purpose))
}

fn refused(files: u64, hard: Option<u64>, purpose: &str) -> Error {
    let most = hard.map_or_else(|| "fewer".to_owned(), |hard| hard.to_string());
    Error::environment(
        format!("{purpose} needs {files} open files, but this process is limited to {most}"),
        format!("raise the limit of your shell with `ulimit -n {files}`, or reduce the load"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_needs_more_than_the_system_has_hears_how_many() {
        let error = allow_open_files(u64::MAX - 1, "a rung of 9 sessions").unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("a rung of 9 sessions needs 18446744073709551614 open files"),
            "{said}"
        );
        assert!(allow_open_files(3, "nothing").is_ok());
        // A limit that is high enough is not lowered.
        assert!(getrlimit(Resource::Nofile).current.is_none_or(|soft| soft > 3));
    }
}
