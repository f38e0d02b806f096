//! What went wrong that is not our bug: the user's mistake or the environment's refusal, with a way
//! out.

use crate::refusal::Refusal;
use std::sync::Arc;
use std::{fmt, io};

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

/// What failed, for programs that decide by it; people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value, an option or a document is invalid or contradictory.
    InvalidInput,
    /// What was named does not exist.
    NotFound,
    /// A document has a form that this version does not know.
    Unsupported,
    /// The safety gate does not allow it.
    Forbidden,
    /// Somebody else holds it.
    Busy,
    /// A file does not hold what was written.
    Damaged,
    /// The operating system refused; the source says with which error.
    System(io::ErrorKind),
    /// A database server refused, and what that means where it said so.
    Server(Option<Refusal>),
    /// The caller asked it to end.
    Stopped,
    /// Any other refusal of the environment.
    Environment,
}

/// One failure: what was tried and what happened, and what to do next.
#[derive(Clone, Debug)]
pub struct Error {
    blame: Blame,
    kind: ErrorKind,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    message: String,
    hint: String,
}

impl Error {
    /// The user's mistake: `message` says what was read, `hint` what would be accepted.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Blame::Usage, ErrorKind::InvalidInput, message.into(), hint.into())
    }

    /// The environment's refusal: `message` says what was tried and what happened, `hint` what to
    /// do.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Blame::Environment, ErrorKind::Environment, message.into(), hint.into())
    }

    fn new(blame: Blame, kind: ErrorKind, message: String, hint: String) -> Self {
        Self { blame, kind, source: None, message, hint }
    }

    /// The same failure of this kind.
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same failure with what the operating system said as its source; its kind is that of the
    /// system's error.
    pub fn because(mut self, error: &io::Error) -> Self {
        // An error of the system cannot be cloned; its number says the same.
        let source =
            error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
        self.kind = ErrorKind::System(error.kind());
        self.source = Some(Arc::new(source));
        self
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

    /// What failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// Failures are equal when a person and a program learn the same from them.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.blame, self.kind, &self.message, &self.hint)
            == (other.blame, other.kind, &other.message, &other.hint)
    }
}

impl Eq for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_error_and_hint_on_lines_of_their_own() {
        let error = Error::usage("no unit in '5'", "write 5ms").context("--max-latency");
        assert_eq!(error.to_string(), "error: --max-latency: no unit in '5'\nhint: write 5ms");
        assert_eq!(error.blame(), Blame::Usage);
    }

    #[test]
    fn a_caller_can_decide_by_kind_and_source() {
        use std::error::Error as _;
        let full = io::Error::from_raw_os_error(28);
        let error = Error::environment("writing x", "make room").because(&full);
        assert_eq!(error.kind(), ErrorKind::System(io::ErrorKind::StorageFull));
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.and_then(io::Error::raw_os_error), Some(28));
        let plain = Error::usage("no unit in '5'", "write 5ms");
        assert_eq!((plain.kind(), plain.source().is_none()), (ErrorKind::InvalidInput, true));
        let lost = error.clone().of_kind(ErrorKind::Damaged);
        assert_eq!((lost.kind(), lost.message()), (ErrorKind::Damaged, "writing x"));
        assert_ne!(lost, error);
    }
}
