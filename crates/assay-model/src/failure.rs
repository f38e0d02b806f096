//! What a server or the way to it refused, whatever its product, and what a person can do about it.

use crate::{Error, ErrorKind};
use std::fmt;
use std::io;

pub use crate::refusal::Refusal;

/// Why a statement or a login did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The way to the server broke.
    Lost(io::Error),
    /// The server said no.
    Refused {
        /// Its code, as the product writes it.
        code: String,
        /// What that means.
        meaning: Refusal,
        /// Its words.
        message: String,
        /// What a person can do.
        hint: &'static str,
    },
    /// It answered what this program does not understand.
    Protocol(String),
    /// This program broke off, because going on would not have been safe.
    Unsafe {
        /// What was not safe.
        what: String,
        /// What a person can do.
        hint: &'static str,
    },
}

/// Characters of a server's words that are kept.
const WORDS_MAX: usize = 500;

/// What a server said, fit to be shown: one line of bounded length without control characters,
/// whatever it sent.
pub fn words(said: &[u8]) -> String {
    // Four bytes a character at most; the rest is never looked at.
    let begin = &said[..said.len().min(4 * WORDS_MAX)];
    let clean = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String = String::from_utf8_lossy(begin).chars().map(clean).collect();
    let shown: String = text.trim().chars().take(WORDS_MAX).collect();
    if shown.len() < text.trim().len() || begin.len() < said.len() {
        return format!("{shown} …");
    }
    shown
}

/// The result of speaking with a server.
pub type Answer<T> = Result<T, Failure>;

impl Failure {
    /// The product's code, where the server gave one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// What a refusal means; none where the server gave none.
    pub const fn meaning(&self) -> Option<Refusal> {
        match self {
            Self::Refused { meaning, .. } => Some(*meaning),
            _ => None,
        }
    }

    /// Whether the session cannot be used any more.
    pub const fn is_lost(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Protocol(_) | Self::Unsafe { .. } => true,
            Self::Refused { meaning, .. } => matches!(meaning, Refusal::Ended),
        }
    }

    /// The failure as a refusal of the environment, with what was being done.
    pub fn of(&self, doing: impl fmt::Display) -> Error {
        let hint = match self {
            Self::Refused { hint, .. } | Self::Unsafe { hint, .. } => hint,
            _ => "check that the server runs, and its log",
        };
        let error = Error::environment(format!("{doing}: {self}"), hint);
        match self {
            Self::Lost(lost) => error.because(lost),
            _ => error.of_kind(ErrorKind::Server(self.meaning())),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(error) if error.kind() == io::ErrorKind::WouldBlock => {
                write!(formatter, "the server did not answer in time")
            }
            Self::Lost(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(formatter, "the server closed the connection")
            }
            Self::Lost(error) => write!(formatter, "{error}"),
            Self::Refused { code, message, .. } => write!(formatter, "{message} ({code})"),
            Self::Protocol(what) => write!(formatter, "unexpected answer: {what}"),
            Self::Unsafe { what, .. } => write!(formatter, "{what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_are_short_and_without_control_characters() {
        let shown = words(b" \x1b]0;owned\x07 no\nspace \xff ");
        assert_eq!(shown, "]0;owned  no space \u{fffd}");
        let long = words(&vec![b'A'; 100_000]);
        assert_eq!(long.chars().count(), WORDS_MAX + 2);
        assert!(long.ends_with(" …") && words(b"").is_empty());
    }
}
