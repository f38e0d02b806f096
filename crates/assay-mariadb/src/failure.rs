//! What a server's refusals mean, by their numbers, and what a person can do about them.
//!
//! Sources: MariaDB documentation, "MariaDB Error Codes"; MySQL manual, "Server Error Message
//! Reference".

pub use assay_model::failure::{Answer, Failure, Refusal};

/// A refusal of the server: its number, its five letters (`SQLSTATE`) and its words.
pub fn refused(number: u16, state: &str, message: impl Into<String>) -> Failure {
    let code = if state.is_empty() { number.to_string() } else { format!("{number} {state}") };
    Failure::Refused { code, meaning: meaning(number), message: message.into(), hint: hint(number) }
}

/// The number of a refusal.
pub fn number(failure: &Failure) -> Option<u16> {
    failure.code()?.split(' ').next()?.parse().ok()
}

const fn meaning(number: u16) -> Refusal {
    match number {
        1213 => Refusal::Deadlock,
        1205 => Refusal::LockTimeout,
        // A snapshot under which a row was changed (MariaDB, innodb_snapshot_isolation).
        1020 => Refusal::Conflict,
        // Shutdown, killed, and what servers say before they close: the session is over.
        1053 | 1079 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => {
            Refusal::Ended
        }
        1290 | 1792 | 1836 => Refusal::ReadOnly,
        1021 | 1114 | 1878 => Refusal::Full,
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 | 1419 | 1698 => Refusal::Denied,
        1040 | 1203 | 1226 => Refusal::TooManySessions,
        _ => Refusal::Other,
    }
}

const fn hint(number: u16) -> &'static str {
    match number {
        1045 | 1698 => {
            "check user and password of the address (or of MYSQL_PWD), and the hosts from which \
             the user can connect"
        }
        1049 => "specify an existing database after the last / of the address",
        1148 | 3948 => {
            "rows are loaded with LOAD DATA LOCAL: set local_infile = ON in the server (SET GLOBAL \
             local_infile = ON)"
        }
        3159 => "the server requires encryption: write ssl-mode=VERIFY_IDENTITY (or REQUIRED)",
        1370 => "GRANT EXECUTE on Assay's database, or use --calls stmt",
        1305 => {
            "the procedures were dropped: create them again with --partial-data drop, or use \
             --calls stmt"
        }
        // What MariaDB says of an index that it could not write whole, whatever the reason.
        1034 => "check the space for data and temporary files (tmpdir), and the server's log",
        1461 => {
            "use fewer sessions, or raise max_prepared_stmt_count: each session prepares its \
             statements"
        }
        1878 => "free space for the server's temporary files (tmpdir), or use less data",
        3118 | 4151 => "the account is locked: unlock it with ALTER USER, or use another",
        2061 => {
            "Assay supports mysql_native_password and caching_sha2_password: use a user with one \
             of these, or the socket on the server's machine"
        }
        _ => hint_of(meaning(number)),
    }
}

const fn hint_of(meaning: Refusal) -> &'static str {
    match meaning {
        Refusal::Full => "free space on the storage of the server, or use less data",
        Refusal::TooManySessions => "use fewer sessions, or raise max_connections",
        Refusal::ReadOnly => "specify the primary: a read-only server cannot be written to",
        Refusal::Denied => "use a user with this privilege; see GRANT",
        Refusal::Ended => "the server stopped or ended the session; check its log",
        Refusal::Deadlock | Refusal::LockTimeout | Refusal::Conflict => {
            "another session holds a lock: try again"
        }
        Refusal::Other => "check the server's log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_meaning_and_a_hint() {
        for (number, meaning, word) in [
            (1213, Refusal::Deadlock, "again"),
            (1205, Refusal::LockTimeout, "again"),
            (1290, Refusal::ReadOnly, "primary"),
            (1836, Refusal::ReadOnly, "primary"),
            (1021, Refusal::Full, "space"),
            (1114, Refusal::Full, "space"),
            (1878, Refusal::Full, "tmpdir"),
            (1045, Refusal::Denied, "password"),
            (1044, Refusal::Denied, "GRANT"),
            (1142, Refusal::Denied, "GRANT"),
            (1370, Refusal::Denied, "--calls stmt"),
            (1419, Refusal::Denied, "GRANT"),
            (1034, Refusal::Other, "tmpdir"),
            (1040, Refusal::TooManySessions, "max_connections"),
            (1053, Refusal::Ended, "log"),
            (1064, Refusal::Other, "log"),
        ] {
            let failure = refused(number, "HY000", "no");
            assert_eq!(failure.meaning(), Some(meaning), "{number}");
            assert!(failure.of("x").hint().contains(word), "{number}");
            assert_eq!(super::number(&failure), Some(number));
        }
        assert!(refused(1053, "08S01", "no").is_lost() && !refused(1213, "40001", "no").is_lost());
        assert_eq!(refused(1213, "40001", "Deadlock").to_string(), "Deadlock (1213 40001)");
        assert_eq!(refused(1040, "", "Too many").to_string(), "Too many (1040)");
    }
}
