//! Where a server is and who asks: `postgresql://…` and `key=value` texts as PostgreSQL's own programs take them.

use assay_daemon::{Uri, is_this_machine};
use assay_model::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

const PORT: u16 = 5432;
/// What an address looks like.
const HINT: &str = "write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or postgresql:///DATABASE?host=/SOCKET/DIRECTORY";

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A directory with the server's socket.
    Socket(PathBuf),
    /// A name or number on the network.
    Network(String),
}

/// A server, a database on it, and a user.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The way to it.
    pub host: Host,
    /// Port, also part of a socket's name.
    pub port: u16,
    /// Who asks.
    pub user: String,
    /// The secret of who asks.
    pub password: Option<String>,
    /// The database.
    pub database: String,
}

/// Whether a text is meant as the address of a server and not as a path.
pub fn is_address(text: &str) -> bool {
    let scheme = ["postgresql://", "postgres://"];
    let pairs = ["host=", "hostaddr=", "dbname=", "user=", "port="];
    scheme.iter().any(|begin| text.starts_with(begin))
        || pairs.iter().any(|begin| text.starts_with(begin))
}

impl Address {
    /// Reads an address; what it leaves out comes from `environment` (`PGUSER`, `PGPASSWORD` …), else from
    /// PostgreSQL's own defaults.
    ///
    /// # Errors
    /// A usage error when it cannot be meant, or asks for encryption, which this program does not speak.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let uri =
            ["postgresql://", "postgres://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let pairs = match uri {
            Some(rest) => pairs_of_uri(rest)?,
            None => pairs_of_text(text)?,
        };
        Self::of_pairs(&pairs, &environment)
    }

    fn of_pairs(
        pairs: &[(String, String)],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        check_names(pairs)?;
        let named = |(name, value): &(String, String)| (name == "sslmode").then(|| value.clone());
        check_encryption(pairs.iter().rev().find_map(named).or_else(|| environment("PGSSLMODE")))?;
        let given = |name: &str| {
            let pair = pairs.iter().rev().find(|(known, _)| known == name);
            pair.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
        };
        let known = |name: &str, variable: &str| given(name).or_else(|| environment(variable));
        let user = known("user", "PGUSER").or_else(|| environment("USER"));
        let user = user.unwrap_or_else(|| "postgres".to_owned());
        let port = known("port", "PGPORT").map_or(Ok(PORT), |port| {
            port.parse().map_err(|_| Error::usage(format!("'{port}' is no port"), HINT))
        })?;
        let host = given("hostaddr").or_else(|| known("host", "PGHOST"));
        Ok(Self {
            host: host_of(host),
            port,
            database: known("dbname", "PGDATABASE").unwrap_or_else(|| user.clone()),
            password: known("password", "PGPASSWORD"),
            user,
        })
    }

    /// The same server with another database.
    pub fn with_database(&self, database: &str) -> Self {
        Self { database: database.to_owned(), ..self.clone() }
    }

    /// Whether the server runs on this machine, as far as the address tells.
    pub fn is_local(&self) -> bool {
        match &self.host {
            Host::Socket(_) => true,
            Host::Network(name) => is_this_machine(name),
        }
    }
}

/// Without a host, the usual directories of sockets, then this machine.
fn host_of(host: Option<String>) -> Host {
    match host {
        Some(host) if host.starts_with('/') => Host::Socket(PathBuf::from(host)),
        Some(host) => Host::Network(host),
        None => ["/var/run/postgresql", "/tmp"]
            .iter()
            .map(Path::new)
            .find(|directory| directory.join(format!(".s.PGSQL.{PORT}")).exists())
            .map_or_else(
                || Host::Network("localhost".to_owned()),
                |found| Host::Socket(found.to_owned()),
            ),
    }
}

fn check_names(pairs: &[(String, String)]) -> Result<()> {
    const KNOWN: [&str; 8] =
        ["host", "hostaddr", "port", "user", "password", "dbname", "sslmode", "connect_timeout"];
    for (name, _) in pairs {
        // Settings of other clients (application_name, target_session_attrs …) change nothing here.
        if !KNOWN.contains(&name.as_str()) && name != "application_name" {
            return Err(Error::usage(
                format!("the address has an unknown setting '{name}'"),
                format!("known here: {}", KNOWN.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Whoever demands encryption must not get a session without it.
fn check_encryption(mode: Option<String>) -> Result<()> {
    match mode {
        Some(mode) if mode == "require" || mode.starts_with("verify") => Err(Error::usage(
            format!("sslmode={mode}: this program does not encrypt"),
            "use the socket of the server's machine, or sslmode=disable in a network that you trust",
        )),
        _ => Ok(()),
    }
}

fn pairs_of_uri(rest: &str) -> Result<Vec<(String, String)>> {
    let uri = Uri::parse(rest, HINT)?;
    let mut pairs = [
        ("user", uri.user),
        ("password", uri.password),
        ("host", uri.host),
        ("port", uri.port),
        ("dbname", uri.database),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    pairs.extend(uri.settings);
    Ok(pairs)
}

/// `host=/tmp user='a b'`, with `\` before quotes inside of quotes.
fn pairs_of_text(text: &str) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest
            .split_once('=')
            .ok_or_else(|| Error::usage(format!("'{rest}' is no NAME=VALUE"), HINT))?;
        let (value, left) = value_of(after.trim_start())?;
        pairs.push((name.trim().to_owned(), value));
        rest = left.trim_start();
    }
    Ok(pairs)
}

fn value_of(text: &str) -> Result<(String, &str)> {
    let (quoted, body) = text.strip_prefix('\'').map_or((false, text), |body| (true, body));
    let (mut value, mut letters) = (String::new(), body.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, next)| next)),
            '\'' if quoted => return Ok((value, &body[at + 1..])),
            ' ' if !quoted => return Ok((value, &body[at..])),
            other => value.push(other),
        }
    }
    if quoted {
        return Err(Error::usage("the address has a quote without its end", HINT));
    }
    Ok((value, ""))
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, port, database) = (&self.user, self.port, &self.database);
        match &self.host {
            Host::Network(host) => {
                write!(formatter, "postgresql://{user}@{host}:{port}/{database}")
            }
            Host::Socket(directory) => {
                let directory = directory.display();
                write!(formatter, "postgresql://{user}@/{database}?host={directory}&port={port}")
            }
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address> {
        Address::parse(text, |name| (name == "PGPASSWORD").then(|| "from outside".to_owned()))
    }

    #[test]
    fn addresses_are_read_in_both_forms() {
        let uri = parse("postgresql://me:a%40b@db.example:6000/shop?sslmode=prefer").unwrap();
        let text = parse(r"host=db.example port=6000 user=me password='a@b' dbname=shop").unwrap();
        assert_eq!(uri, text);
        assert_eq!((uri.port, uri.password.as_deref()), (6000, Some("a@b")));
        assert!(!uri.is_local());
    }

    #[test]
    fn a_socket_is_a_host_that_begins_with_a_slash() {
        for text in [
            "postgresql:///shop?host=/run/pg&user=me",
            "postgres://me@%2Frun%2Fpg/shop",
            "user=me host=/run/pg dbname=shop",
        ] {
            let address = parse(text).unwrap();
            assert_eq!(address.host, Host::Socket("/run/pg".into()), "{text}");
            assert_eq!(address.password.as_deref(), Some("from outside"));
            assert_eq!(address.database, "shop");
        }
    }

    #[test]
    fn numbers_of_the_newer_network_stand_in_brackets() {
        let address = parse("postgresql://me@[::1]:6001").unwrap();
        assert_eq!((address.host, address.port), (Host::Network("::1".into()), 6001));
        assert_eq!(address.database, "me");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, word) in [
            ("postgresql://h/x?sslmode=require", "encrypt"),
            ("postgresql://h/x?colour=red", "colour"),
            ("host='/tmp", "quote"),
            ("postgresql://h:many/x", "many"),
            ("postgresql://a%4/x", "%"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn encryption_that_is_demanded_anywhere_is_refused() {
        let demanding = |text: &str| {
            Address::parse(text, |name| (name == "PGSSLMODE").then(|| "verify-full".to_owned()))
        };
        assert!(demanding("postgresql://h/x").unwrap_err().to_string().contains("encrypt"));
        // What the address says itself comes first.
        assert!(demanding("postgresql://h/x?sslmode=prefer").is_ok());
        assert!(parse("host=h sslmode=disable sslmode=require").is_err());
    }

    #[test]
    fn the_password_is_never_shown() {
        let address = parse("postgresql://me:secret@h/x").unwrap();
        assert!(!format!("{address} {address:?}").contains("secret"));
    }
}
