//! What a server refused for the sake of other sessions, by what the refusal means.

use crate::failure::Refusal;
use serde::{Deserialize, Serialize};

/// Tries that the server refused for the sake of other sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Retries {
    /// The stream whose step was tried again.
    pub stream: String,
    /// What the refusal means; documents of the form 1 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Refusal>,
    /// The server's words and code.
    pub meaning: String,
    /// How often.
    pub times: u64,
}

/// Codes of PostgreSQL and numbers of MariaDB and MySQL as documents of the form 1 have them among
/// the server's words.
const WORDS: [(Refusal, [&str; 2]); 3] = [
    (Refusal::Deadlock, ["(40P01)", "(1213 "]),
    (Refusal::Conflict, ["(40001)", "(1020 "]),
    (Refusal::LockTimeout, ["(55P03)", "(1205 "]),
];

impl Retries {
    /// What the refusal means.
    pub fn class(&self) -> Refusal {
        let is_said = |words: &[&str; 2]| words.iter().any(|code| self.meaning.contains(code));
        let said = || WORDS.iter().find(|(_, words)| is_said(words)).map(|(class, _)| *class);
        self.class.or_else(said).unwrap_or(Refusal::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_told_and_of_the_first_form_known_by_its_code() {
        let of = |class, meaning: &str| {
            Retries { class, meaning: meaning.to_owned(), ..Retries::default() }.class()
        };
        assert_eq!(of(Some(Refusal::Conflict), "deadlock (40P01)"), Refusal::Conflict);
        assert_eq!(of(None, "deadlock detected (40P01)"), Refusal::Deadlock);
        assert_eq!(of(None, "Lock wait timeout exceeded (1205 HY000)"), Refusal::LockTimeout);
        assert_eq!(of(None, "no"), Refusal::Other);
    }
}
