//! What a server or the way to it refused, and what a person can do about it.

use assay_model::Error;
use std::fmt;
use std::io;

/// Why a statement or a login did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The way to the server broke.
    Lost(io::Error),
    /// The server said no.
    Refused {
        /// Its five-letter code (`SQLSTATE`).
        code: String,
        /// Its words.
        message: String,
    },
    /// It answered what this program does not understand.
    Strange(String),
}

/// The result of speaking with a server.
pub type Answer<T> = Result<T, Failure>;

impl Failure {
    /// The five-letter code, where the server gave one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Whether the session cannot be used any more.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Strange(_) => true,
            // Class 57P: the server ends, or ended this session.
            Self::Refused { code, .. } => code.starts_with("57P"),
        }
    }

    /// The failure as a refusal of the environment, with what was being done.
    pub fn of(&self, doing: impl fmt::Display) -> Error {
        Error::environment(format!("{doing}: {self}"), self.hint())
    }

    fn hint(&self) -> &'static str {
        let Self::Refused { code, message } = self else {
            return "check that the server runs, and its log";
        };
        match code.as_str() {
            // Written so by servers up to 15 and from 16 on.
            "28000" if message.contains("SSL off") || message.contains("no encryption") => {
                "this program does not encrypt: use the socket of the server's machine, or let pg_hba.conf take it without"
            }
            "28P01" | "28000" => {
                "check user and password of the address (PGPASSWORD can hold it), and pg_hba.conf"
            }
            "3D000" => "name a database that exists, behind the last / of the address",
            "53100" => "free space on the storage of the server, or ask for a smaller --scale",
            "53300" => "ask for fewer sessions, or raise max_connections",
            "25006" => "name the primary: a replica cannot be written to",
            "42501" => "use a user who may do this; the owner of the database may",
            "57P03" => "the server is starting or stopping; try again when it is ready",
            _ if code.starts_with("57P") => "the server was stopped; check its log",
            _ => "check the server's log",
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
            Self::Refused { code, message } => write!(formatter, "{message} ({code})"),
            Self::Strange(what) => write!(formatter, "unexpected answer: {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_says_what_to_do() {
        let refused =
            |code: &str| Failure::Refused { code: code.to_owned(), message: "no".to_owned() };
        for (code, word) in
            [("28P01", "password"), ("53100", "space"), ("25006", "primary"), ("42501", "user")]
        {
            assert!(refused(code).of("x").hint().contains(word), "{code}");
        }
        let message =
            "no pg_hba.conf entry for host \"::1\", user \"a\", database \"b\", no encryption";
        let unencrypted =
            Failure::Refused { code: "28000".to_owned(), message: message.to_owned() };
        assert!(unencrypted.of("x").hint().contains("encrypt"));
        assert!(refused("57P01").is_lost() && !refused("53100").is_lost());
        let ended = Failure::Lost(io::ErrorKind::UnexpectedEof.into());
        assert_eq!(ended.of("reading").message(), "reading: the server closed the connection");
    }
}
