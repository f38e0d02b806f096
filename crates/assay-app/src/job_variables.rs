//! Variables of job files, and which names of the environment a job file may read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// Parts of names that hold secrets, compared in capitals.
const SECRET_PARTS: [&str; 22] = [
    "PASS", "PWD", "SECRET", "TOKEN", "KEY", "CRED", "AUTH", "COOKIE", "SESSION", "PRIVATE",
    "CERT", "SIGN", "DSN", "URL", "URI", "CONN", "LOGIN", "ACCOUNT", "BEARER", "JWT", "SALT",
    "HASH",
];
/// Words of names that hold secrets, where they stand alone between underscores.
const SECRET_WORDS: [&str; 5] = ["PAT", "PIN", "OTP", "PW", "ID"];
/// Programs whose settings are read for nobody else.
const SECRET_PREFIXES: [&str; 14] = [
    "PG", "MYSQL", "MARIADB", "ORACLE", "AWS_", "AZURE_", "GOOGLE_", "GCP_", "SSH_", "RAY_",
    "ASSAY_", "GITHUB_", "GITLAB_", "DOCKER_",
];
/// No parameter of a job is longer.
const VALUE_BYTES_MAX: usize = 4096;

/// The variables that a job file used, each with the source of its value.
#[derive(Clone, Debug, Default)]
pub struct ValueSources(RefCell<BTreeMap<String, &'static str>>);

impl ValueSources {
    pub(crate) fn add(&self, name: &str, source: &'static str) {
        self.0.borrow_mut().insert(name.to_owned(), source);
    }

    /// Whether none was taken.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

impl fmt::Display for ValueSources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.borrow();
        let each: Vec<String> =
            names.iter().map(|(name, source)| format!("{name} from {source}")).collect();
        write!(formatter, "variables of the job file: {}", each.join(", "))
    }
}

/// The value of a variable of the environment, unless its name or its form is that of a secret.
pub(crate) fn from_environment(name: &str) -> Option<String> {
    if may_hold_secret(name) {
        return None;
    }
    std::env::var(name).ok().filter(|value| value.len() <= VALUE_BYTES_MAX && !has_login(value))
}

/// Whether a name is one under which secrets are kept.
fn may_hold_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
        || SECRET_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.split('_').any(|word| SECRET_WORDS.contains(&word))
}

/// Whether a value is an address with a user and a password.
fn has_login(value: &str) -> bool {
    value.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_and_names_of_sizes_are_not() {
        for name in [
            "PGPASSWORD",
            "MYSQL_PWD",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_PAT",
            "api_key",
            "RAY_AUTH_TOKEN",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "passphrase",
            "VAULT_ADDR_TOKEN",
            "ORACLE_SYS",
            "OTP",
            "SENTRY_DSN",
        ] {
            assert!(may_hold_secret(name), "{name}");
        }
        for name in
            ["SIZE", "BS", "RUNTIME", "DEV", "DATA_DIR", "HOME", "PATTERN", "IODEPTH", "FILENAME"]
        {
            assert!(!may_hold_secret(name), "{name}");
        }
        assert!(has_login("postgres://me:pw@host/db") && !has_login("/dev/disk/by-id/nvme-1"));
    }

    #[test]
    fn what_was_taken_is_said_with_where_it_came_from() {
        let taken = ValueSources::default();
        assert!(taken.is_empty());
        taken.add("SIZE", "the environment");
        taken.add("BS", "--set");
        let said = "variables of the job file: BS from --set, SIZE from the environment";
        assert_eq!(taken.to_string(), said);
    }
}
