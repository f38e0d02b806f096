//! How the program ends: exit codes are a contract, and results go to standard output in one piece.

use crate::terminal::say;
use assay_model::measurement::Finish;
use assay_model::{Blame, Error, Outcome, Result};
use assay_store::Damage;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// How a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done, or all criteria are met: 0.
    Success,
    /// A criterion is not met: 1.
    Failure,
    /// No command was given and the help was shown, or a part of the command was invalid and was
    /// reported: 2.
    Usage,
    /// It is undecided: 3.
    Inconclusive,
    /// The measurement could not go on; what was measured is kept: 4.
    Aborted,
    /// A person stopped it; what was measured is kept: 130.
    Interrupted,
}

impl ExitStatus {
    const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Aborted => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Outcome> for ExitStatus {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Success,
            Outcome::Fail => Self::Failure,
            Outcome::Inconclusive => Self::Inconclusive,
        }
    }
}

/// The end of a measurement that was to be judged: an early end comes before the verdict.
pub fn exit_status(finish: &Finish, outcome: Outcome) -> ExitStatus {
    match finish {
        Finish::Complete => outcome.into(),
        Finish::Interrupted | Finish::Unfinished => ExitStatus::Interrupted,
        Finish::Failed { .. } => ExitStatus::Aborted,
    }
}

/// Prints an error where there is one, and all damage that was found in runs, and gives the code.
pub fn report_and_exit_code(result: Result<ExitStatus>) -> ExitCode {
    let is_damaged = tell_damage(result.as_ref().err());
    match result {
        // What was read is reported, and is not all that was written.
        Ok(ExitStatus::Success | ExitStatus::Failure | ExitStatus::Inconclusive) if is_damaged => {
            ExitCode::from(ExitStatus::Aborted.code())
        }
        Ok(status) => ExitCode::from(status.code()),
        Err(error) => {
            let words = crate::options::without_passwords(&error.to_string());
            say(&crate::terminal::shortened(&words));
            ExitCode::from(match error.blame() {
                // What a stopped program could not do is not an error.
                _ if crate::signals::stopped() => ExitStatus::Interrupted.code(),
                Blame::Usage => 2,
                Blame::Environment => 4,
            })
        }
    }
}

/// Says where runs are not what was written, but for what the error says itself; whether there was
/// anything.
fn tell_damage(but: Option<&Error>) -> bool {
    let found: Vec<Error> = assay_store::take_damage().iter().map(Damage::error).collect();
    for damage in found.iter().filter(|damage| but.is_none_or(|error| error != *damage)) {
        say(&damage.to_string());
    }
    !found.is_empty()
}

/// Writes a report that may be in colours.
pub fn print_report(text: &str) -> Result<ExitStatus> {
    if crate::terminal::colour() { write(&crate::terminal::dressed(text)) } else { print(text) }
}

/// Writes a result to standard output; that its reader has gone is not an error.
pub fn print(text: &str) -> Result<ExitStatus> {
    write(&crate::terminal::plain(text))
}

fn write(text: &str) -> Result<ExitStatus> {
    crate::screen::leave();
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Ok(()) => Ok(ExitStatus::Success),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitStatus::Success),
        Err(error) => Err(Error::environment(
            format!("writing the result: {error}"),
            "check the destination of standard output",
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
