//! What went wrong that is not our bug: the user's mistake or the environment's refusal, with a way out.

use std::fmt;

/// A result whose failure is a person's or an environment's, never a bug of Assay.
pub type Result<T> = std::result::Result<T, Error>;

/// Who has to act so that the next try succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The command line or a document is invalid or contradictory: exit code 2.
    Usage,
    /// The machine, the device or a right refuses, or the safety gate does: exit code 4.
    Environment,
}

/// One failure: what was tried and what happened, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    blame: Blame,
    message: String,
    hint: String,
}

impl Error {
    /// The user's mistake: `message` says what was read, `hint` what would be accepted.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { blame: Blame::Usage, message: message.into(), hint: hint.into() }
    }

    /// The environment's refusal: `message` says what was tried and what happened, `hint` what to do.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { blame: Blame::Environment, message: message.into(), hint: hint.into() }
    }

    /// Puts what was being done in front of the message: `reading x.toml: unknown key …`.
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// Who has to act.
    pub fn blame(&self) -> Blame {
        self.blame
    }

    /// What was tried and what happened, without a trailing stop.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do next.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}\nhint: {}", self.message, self.hint)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_error_and_hint_on_lines_of_their_own() {
        let error = Error::usage("no unit in '5'", "write 5ms").context("--max-latency");
        assert_eq!(error.to_string(), "error: --max-latency: no unit in '5'\nhint: write 5ms");
        assert_eq!(error.blame(), Blame::Usage);
    }
}
