//! How the program ends: exit codes are a contract, and results go to standard output in one piece.

use assay_model::measurement::Finish;
use assay_model::{Blame, Error, Outcome, Result};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// How a verb ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Done, or all criteria are met: 0.
    Well,
    /// A criterion is not met: 1.
    Failed,
    /// Nothing was asked and the help was shown, or a part of what was asked could not be meant and was told: 2.
    Misused,
    /// It cannot be told: 3.
    Inconclusive,
    /// The measurement could not go on; what was measured is kept: 4.
    CutShort,
    /// A person stopped it; what was measured is kept: 130.
    Interrupted,
}

impl Ended {
    const fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Failed => 1,
            Self::Misused => 2,
            Self::Inconclusive => 3,
            Self::CutShort => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Well,
            Outcome::Fail => Self::Failed,
            Outcome::Inconclusive => Self::Inconclusive,
        }
    }
}

/// The end of a measurement that was to be judged: an early end comes before the verdict.
pub fn ended(finish: &Finish, outcome: Outcome) -> Ended {
    match finish {
        Finish::Complete => outcome.into(),
        Finish::Interrupted | Finish::Unfinished => Ended::Interrupted,
        Finish::Failed { .. } => Ended::CutShort,
    }
}

/// Prints an error where there is one and gives the code.
pub fn leave(result: Result<Ended>) -> ExitCode {
    match result {
        Ok(ended) => ExitCode::from(ended.code()),
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            drop(writeln!(
                io::stderr(),
                "{}",
                crate::options::without_passwords(&error.to_string())
            ));
            ExitCode::from(match error.blame() {
                // What a stopped program could not do is no mistake.
                _ if crate::signals::stopped() => Ended::Interrupted.code(),
                Blame::Usage => 2,
                Blame::Environment => 4,
            })
        }
    }
}

/// Writes a result to standard output; a reader that has gone is no mistake of anyone's.
pub fn print(text: &str) -> Result<Ended> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Ok(()) => Ok(Ended::Well),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Ended::Well),
        Err(error) => Err(Error::environment(
            format!("writing the result: {error}"),
            "check where standard output leads",
        )),
    }
}

/// A document as indented JSON with a line's end.
pub fn json(document: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| text + "\n").map_err(|error| {
        Error::environment(format!("writing JSON: {error}"), "report this as a bug")
    })
}

/// Writes a file that does not exist yet: nothing of the user's is ever overwritten.
///
/// # Errors
/// An environment error when it is there already or cannot be written.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let refused = |error: io::Error| {
        Error::environment(
            format!("writing {}: {error}", path.display()),
            "name a new file in a directory that you may write",
        )
    };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(refused)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(refused)?;
    file.write_all(bytes).map_err(refused)
}
