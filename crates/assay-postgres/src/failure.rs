//! What a server's refusals mean, by their codes, and what a person can do about them.
//!
//! Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".

pub use assay_model::failure::{Answer, Failure, Refusal};

/// A refusal of the server: its five-letter code (`SQLSTATE`) and its words.
pub fn refused(code: &str, message: impl Into<String>) -> Failure {
    let message = message.into();
    let hint = hint(code, &message);
    Failure::Refused { code: code.to_owned(), meaning: meaning(code), message, hint }
}

fn meaning(code: &str) -> Refusal {
    match code {
        "40P01" => Refusal::Deadlock,
        "40001" => Refusal::Conflict,
        "55P03" => Refusal::LockTimeout,
        "25006" => Refusal::ReadOnly,
        "53100" => Refusal::Full,
        "53300" => Refusal::TooManySessions,
        "28P01" | "28000" | "42501" => Refusal::Denied,
        // Class 57P: the server ends, or ended this session.
        _ if code.starts_with("57P") => Refusal::Ended,
        _ => Refusal::Other,
    }
}

/// Prepared statements and settings belong to a session, which a pooler of transactions does not
/// keep.
pub const NO_SESSION: &str =
    "specify the server itself, or a pool in session mode (pgbouncer: pool_mode = session)";

fn hint(code: &str, message: &str) -> &'static str {
    match code {
        // Written so by servers up to 15 and from 16 on.
        "28000" if message.contains("SSL off") || message.contains("no encryption") => {
            "the server requires encryption: add sslmode=verify-full (or require) to the address"
        }
        "28P01" | "28000" => {
            "check user and password of the address (or of PGPASSWORD), and pg_hba.conf"
        }
        "3D000" => "specify an existing database after the last / of the address",
        "53100" => "free space on the storage of the server, or use less data",
        "53300" => "use fewer sessions, or raise max_connections",
        "25006" => "specify the primary: a replica cannot be written to",
        "42501" => "use a user with this privilege, such as the owner of the database",
        "42P05" | "26000" => NO_SESSION,
        "57P03" => "the server is starting or stopping; try again when it is ready",
        _ if code.starts_with("57P") => "the server stopped; check its log",
        _ => "check the server's log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_says_what_to_do() {
        for (code, word) in [
            ("28P01", "password"),
            ("53100", "space"),
            ("25006", "primary"),
            ("42501", "user"),
            ("42P05", "session mode"),
        ] {
            assert!(refused(code, "no").of("x").hint().contains(word), "{code}");
        }
        let message =
            "no pg_hba.conf entry for host \"::1\", user \"a\", database \"b\", no encryption";
        assert!(refused("28000", message).of("x").hint().contains("encrypt"));
        assert!(refused("57P01", "no").is_lost() && !refused("53100", "no").is_lost());
        let ended = Failure::Lost(std::io::ErrorKind::UnexpectedEof.into());
        assert_eq!(ended.of("reading").message(), "reading: the server closed the connection");
    }
}
