//! Where a server is and who asks: `postgresql://…` and `key=value` texts as PostgreSQL's own
//! programs take them.

use assay_dbserver::tls::Security;
use assay_dbserver::{Uri, encoded, host_in_uri, is_this_machine, port_of};
use assay_model::load::Dialect;
use assay_model::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

mod passfile;
mod service;
mod terms;

const PORT: u16 = 5432;
/// What an address looks like.
const HINT: &str = "write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or \
                    postgresql:///DATABASE?host=/SOCKET/DIRECTORY";

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostgresHost {
    /// A directory with the server's socket.
    Socket(PathBuf),
    /// A name or number on the network.
    Network(String),
}

/// A server, a database on it, and a user.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    /// The way to it.
    pub host: PostgresHost,
    /// Port, also part of a socket's name.
    pub port: u16,
    /// Who asks.
    pub user: String,
    /// The secret of who asks.
    pub password: Option<String>,
    /// The database.
    pub database: String,
    /// What the way must be like.
    pub terms: ConnectionOptions,
}

/// What is demanded of the way to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// Encryption.
    pub security: Security,
    /// Whether proofs are bound to it.
    pub binding: Binding,
    /// The account whose socket it must be.
    pub peer: Option<String>,
    /// The name that the certificate is for, where that is not the host.
    pub certified: Option<String>,
    /// Settings that the server is given with the login, for example `-c search_path=shop`.
    pub options: Option<String>,
    /// Why a password that was looked for was not found.
    pub password_note: Option<String>,
}

/// Whether a proof is bound to the encryption that it travels through (`channel_binding`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// Not, also where it could be.
    Disable,
    /// Where both can.
    #[default]
    Prefer,
    /// Or there is no session.
    Require,
}

impl PostgresAddress {
    /// Reads an address; what it leaves out comes from `environment` (`PGUSER`, `PGPASSWORD` …),
    /// the password also from the file of passwords, the rest from PostgreSQL's own defaults.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let pairs = match Dialect::Postgres.behind_scheme(text) {
            Some(rest) => pairs_of_uri(rest)?,
            None => pairs_of_text(text)?,
        };
        Self::of_pairs(&pairs, &environment)
    }

    /// As a text that [`PostgresAddress::parse`] reads again, with the password; demands of
    /// encryption are not in it, because sockets of managed servers have none.
    pub fn spelled(&self) -> String {
        let host = match &self.host {
            PostgresHost::Network(host) => host.clone(),
            PostgresHost::Socket(directory) => directory.display().to_string(),
        };
        let pairs = [
            ("host", Some(host)),
            ("port", Some(self.port.to_string())),
            ("user", Some(self.user.clone())),
            ("password", self.password.clone()),
            ("dbname", Some(self.database.clone())),
            ("requirepeer", self.terms.peer.clone()),
        ];
        let quoted = |value: &str| value.replace('\\', "\\\\").replace('\'', "\\'");
        let known = pairs.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        known
            .map(|(name, value)| format!("{name}='{}'", quoted(value)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn of_pairs(
        pairs: &[(String, String)],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let pairs = &with_service(pairs, environment)?;
        check_names(pairs)?;
        check_list(pairs)?;
        let known = |name: &str, variable: &str| {
            let pair = pairs.iter().rev().find(|(known, _)| known == name);
            let given = pair.map(|(_, value)| value.clone()).filter(|value| !value.is_empty());
            given.or_else(|| environment(variable).filter(|value| !value.is_empty()))
        };
        let user = known("user", "PGUSER").or_else(|| environment("USER"));
        let user = user.unwrap_or_else(|| "postgres".to_owned());
        let port = port_of(&known("port", "PGPORT").unwrap_or_default(), PORT, HINT)?;
        let (number, name) = (known("hostaddr", "PGHOSTADDR"), known("host", "PGHOST"));
        let certified = number.as_ref().and(name.clone());
        let mut address = Self {
            host: host_of(number.or(name), port),
            port,
            database: known("dbname", "PGDATABASE").unwrap_or_else(|| user.clone()),
            password: known("password", "PGPASSWORD"),
            user,
            terms: ConnectionOptions { certified, ..terms::read(&known, environment)? },
        };
        if address.password.is_none() {
            let file = known("passfile", "PGPASSFILE").map(PathBuf::from);
            let home = || environment("HOME").map(|home| Path::new(&home).join(".pgpass"));
            let found = file.or_else(home).map(|file| address.password_in(&file));
            match found.unwrap_or(Ok(None)) {
                Ok(password) => address.password = password,
                Err(why) => address.terms.password_note = Some(why),
            }
        }
        Ok(address)
    }

    /// Its password in a file of passwords.
    fn password_in(&self, file: &Path) -> std::result::Result<Option<String>, String> {
        let host = match &self.host {
            PostgresHost::Network(_) => self.certified(),
            PostgresHost::Socket(path) => path.to_string_lossy().into_owned(),
        };
        passfile::password(file, [&host, &self.port.to_string(), &self.database, &self.user])
    }

    /// The name that the server's certificate must be for.
    pub(crate) fn certified(&self) -> String {
        match (&self.terms.certified, &self.host) {
            (Some(name), _) | (None, PostgresHost::Network(name)) => name.clone(),
            (None, PostgresHost::Socket(_)) => String::new(),
        }
    }

    /// The same server with another database.
    pub fn with_database(&self, database: &str) -> Self {
        Self { database: database.to_owned(), ..self.clone() }
    }

    /// Whether the server runs on this machine, as far as the address says.
    pub fn is_local(&self) -> bool {
        match &self.host {
            PostgresHost::Socket(_) => true,
            PostgresHost::Network(name) => is_this_machine(name),
        }
    }
}

/// Without a host, the usual directories of sockets, then this machine. A socket is named by its
/// port.
fn host_of(host: Option<String>, port: u16) -> PostgresHost {
    match host {
        Some(host) if host.starts_with('/') => PostgresHost::Socket(PathBuf::from(host)),
        Some(host) => PostgresHost::Network(host),
        None => ["/var/run/postgresql", "/tmp"]
            .iter()
            .map(Path::new)
            .find(|directory| directory.join(format!(".s.PGSQL.{port}")).exists())
            .map_or_else(
                || PostgresHost::Network("localhost".to_owned()),
                |found| PostgresHost::Socket(found.to_owned()),
            ),
    }
}

/// The same behind the settings of the service that they or the environment name.
fn with_service(
    pairs: &[(String, String)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>> {
    let (named, own): (Vec<_>, Vec<_>) =
        pairs.iter().cloned().partition(|(name, _)| name == "service");
    let named = named.into_iter().next_back().map(|(_, name)| name);
    let Some(name) = named.or_else(|| environment("PGSERVICE").filter(|name| !name.is_empty()))
    else {
        return Ok(own);
    };
    Ok([service::settings(&name, environment)?, own].concat())
}

/// Refuses several hosts, also where they stand with their ports: `h1:5432,h2:5432`.
fn check_list(pairs: &[(String, String)]) -> Result<()> {
    let is_list = |(name, value): &(String, String)| {
        ["host", "hostaddr", "port"].contains(&name.as_str()) && value.contains(',')
    };
    if !pairs.iter().any(is_list) {
        return Ok(());
    }
    Err(Error::usage("the address is a list of hosts", "specify the one server to measure"))
}

fn check_names(pairs: &[(String, String)]) -> Result<()> {
    const KNOWN: [&str; 25] = [
        "service",
        "host",
        "hostaddr",
        "port",
        "user",
        "password",
        "passfile",
        "dbname",
        "sslmode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        "sslnegotiation",
        "channel_binding",
        "requirepeer",
        "connect_timeout",
        "application_name",
        "fallback_application_name",
        "client_encoding",
        "target_session_attrs",
        "load_balance_hosts",
        "keepalives",
        "tcp_user_timeout",
        "gssencmode",
        "options",
    ];
    let has_secret = pairs.iter().any(|(name, value)| name == "password" && !value.is_empty());
    for (number, (name, _)) in pairs.iter().enumerate() {
        // Settings of other clients (application_name, target_session_attrs …) change nothing here.
        if !KNOWN.contains(&name.as_str()) {
            // Where there is a password, what looks like a name may be a piece of it.
            let which =
                if has_secret { format!("number {}", number + 1) } else { format!("'{name}'") };
            return Err(Error::usage(
                format!("the address has an unknown setting {which}"),
                format!("known settings: {}; quote values with spaces", KNOWN.join(", ")),
            ));
        }
    }
    Ok(())
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
            .ok_or_else(|| Error::usage("a part of the address is not NAME=VALUE", HINT))?;
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
            blank if blank.is_whitespace() && !quoted => return Ok((value, &body[at..])),
            other => value.push(other),
        }
    }
    if quoted {
        return Err(Error::usage("the address has an unterminated quote", HINT));
    }
    Ok((value, ""))
}

/// Without the password.
impl fmt::Display for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [user, database] = [&self.user, &self.database].map(|text| encoded(text));
        let port = self.port;
        match &self.host {
            PostgresHost::Network(host) => {
                let host = host_in_uri(host);
                write!(formatter, "postgresql://{user}@{host}:{port}/{database}")
            }
            PostgresHost::Socket(directory) => {
                let directory = directory.display();
                write!(formatter, "postgresql://{user}@/{database}?host={directory}&port={port}")
            }
        }
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_other_clients_are_read_and_lists_are_refused() {
        let of = |text: &str| PostgresAddress::parse(text, |_| None);
        let address = of("host=127.0.0.1\tport=54398\nuser=me").unwrap();
        assert_eq!(
            (address.host, address.port),
            (PostgresHost::Network("127.0.0.1".to_owned()), 54398)
        );
        let cloud = "postgresql://me@h/shop?target_session_attrs=any&options=endpoint%3Dep-1";
        let cloud = of(cloud).unwrap();
        assert_eq!(
            (cloud.database.as_str(), cloud.terms.options.as_deref()),
            ("shop", Some("endpoint=ep-1"))
        );
        assert!(
            of("postgresql://me@h/shop?gssencmode=require")
                .unwrap_err()
                .message()
                .contains("gssencmode")
        );
        for list in ["postgresql://h1:5432,h2:5432/shop", "host=h1,h2 user=me"] {
            assert_eq!(of(list).unwrap_err().message(), "the address is a list of hosts", "{list}");
        }
    }

    #[test]
    fn an_address_that_is_spelled_out_is_read_as_it_was() {
        let text = r"host='/tmp/a b' port=5433 user='o\'neill' password='x\\y' dbname=shop requirepeer=postgres";
        let address = PostgresAddress::parse(text, |_| None).unwrap();
        assert_eq!(address.password.as_deref(), Some(r"x\y"));
        assert_eq!(PostgresAddress::parse(&address.spelled(), |_| None).unwrap(), address);
    }
    use assay_dbserver::tls::{Mode, Roots};

    fn parse(text: &str) -> Result<PostgresAddress> {
        PostgresAddress::parse(text, |name| {
            (name == "PGPASSWORD").then(|| "from outside".to_owned())
        })
    }

    #[test]
    fn what_is_shown_can_be_pasted_back() {
        for text in ["postgresql://me@[::1]:54398/shop", "postgresql://a%40b@db:5432/x%3Fy"] {
            let address = PostgresAddress::parse(text, |_| None).unwrap();
            assert_eq!(address.to_string(), text);
        }
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
            assert_eq!(address.host, PostgresHost::Socket("/run/pg".into()), "{text}");
            assert_eq!(address.password.as_deref(), Some("from outside"));
            assert_eq!(address.database, "shop");
        }
    }

    #[test]
    fn numbers_of_the_newer_network_stand_in_brackets() {
        let address = parse("postgresql://me@[::1]:6001").unwrap();
        assert_eq!((address.host, address.port), (PostgresHost::Network("::1".into()), 6001));
        assert_eq!(address.database, "me");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, word) in [
            ("postgresql://h/x?sslmode=maybe", "verify-full"),
            ("postgresql://h/x?sslnegotiation=direct", "sslnegotiation"),
            ("postgresql://h/x?channel_binding=maybe", "channel_binding"),
            ("postgresql://h/x?sslcert=a", "sslkey"),
            ("postgresql://h/x?sslmode=require&sslrootcert=system", "verify-full"),
            ("postgresql://h/x?sslmode=verify-ca", "sslrootcert"),
            ("postgresql://h/x?colour=red", "colour"),
            ("host='/tmp", "quote"),
            ("postgresql://h:many/x", "port"),
            ("postgresql://a%4/x", "%"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn encryption_is_demanded_by_the_address_or_the_environment() {
        let demanding = |text: &str| {
            let mode = PostgresAddress::parse(text, |name| {
                (name == "PGSSLMODE").then(|| "verify-full".to_owned())
            });
            mode.unwrap().terms.security
        };
        assert_eq!(demanding("postgresql://h/x").mode, Mode::VerifyFull);
        // What the address says itself comes first.
        assert_eq!(demanding("postgresql://h/x?sslmode=prefer").mode, Mode::Prefer);
        let last = parse("host=h sslmode=disable sslmode=require").unwrap();
        assert_eq!(last.terms.security.mode, Mode::Require);
        let file = parse("postgresql://h/x?sslrootcert=/ca.pem&channel_binding=require").unwrap();
        assert_eq!(file.terms.security.roots, Roots::File("/ca.pem".into()));
        assert_eq!(file.terms.binding, Binding::Require);
        let system = parse("postgresql://h/x?sslrootcert=system").unwrap().terms.security;
        assert_eq!((system.mode, system.roots), (Mode::VerifyFull, Roots::System));
    }

    #[test]
    fn a_certificate_is_for_the_name_also_where_the_number_is_given() {
        let both = parse("host=db.example hostaddr=10.0.0.1 user=me").unwrap();
        assert_eq!(both.host, PostgresHost::Network("10.0.0.1".into()));
        assert_eq!(both.certified(), "db.example");
        assert_eq!(parse("host=db.example").unwrap().certified(), "db.example");
    }

    #[test]
    fn no_error_repeats_a_piece_that_may_be_one_of_a_password() {
        for text in [
            "postgresql://me:pa?sS3cretPw@h/db",
            "postgresql://me:S3cretPw/x@127.0.0.1/db",
            "host=127.0.0.1 password=my S3cretPw user=x",
            "host=127.0.0.1 password=my S3cretPw=1 user=x",
            "postgresql://me:%zzS3cretPw@h/db",
            "postgresql://me:S3cretPw@127.0.0.1:99999/db",
            "postgresql://me:x@h:S3cretPw/db",
            "host=h port=S3cretPw",
            "host=h password='S3cretPw",
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(!error.contains("S3cretPw"), "{text}: {error}");
        }
    }

    #[test]
    fn addresses_of_java_programs_and_services_are_read() {
        let java = parse("jdbc:postgresql://db.example:6000/shop?user=me&password=secret").unwrap();
        assert_eq!((java.user.as_str(), java.port), ("me", 6000));
        assert_eq!(java.to_string(), "postgresql://me@db.example:6000/shop");
        let path = std::env::temp_dir().join(format!("assay-service-{}", std::process::id()));
        std::fs::write(&path, "[shop]\nhost=db.example\nport=6000\nuser=me\n").unwrap();
        let found = PostgresAddress::parse("service=shop user=you", |name| {
            (name == "PGSERVICEFILE").then(|| path.display().to_string())
        });
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found.unwrap().to_string(), "postgresql://you@db.example:6000/you");
        let error = parse("postgresql://h/x?service=none").unwrap_err();
        assert!(error.message().contains("no service 'none'"), "{error}");
    }

    #[test]
    fn the_password_is_never_shown() {
        let address = parse("postgresql://me:secret@h/x").unwrap();
        assert!(!format!("{address} {address:?}").contains("secret"));
    }
}
