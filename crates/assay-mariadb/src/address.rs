//! Where a server is and who asks: `mysql://user:password@host:port/database`, or
//! `mysql:///database?socket=/path`.

use assay_dbserver::tls::{Mode, Roots, Security};
use assay_dbserver::{Uri, encoded, host_in_uri, is_this_machine, port_of};
use assay_model::load::Dialect;
use assay_model::{Error, Result};
use std::fmt;
use std::path::PathBuf;

const PORT: u16 = 3306;
/// What an address looks like.
const HINT: &str =
    "write mysql://USER:PASSWORD@HOST:PORT/DATABASE, or mysql:///DATABASE?socket=/PATH/OF/SOCKET";
/// Where distributions put the socket.
const SOCKETS: [&str; 3] =
    ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MariadbHost {
    /// The server's socket.
    Socket(PathBuf),
    /// A name or number on the network.
    Network(String, u16),
}

/// A server, a database on it, and a user.
#[derive(Clone, PartialEq, Eq)]
pub struct MariadbAddress {
    /// The way to it.
    pub host: MariadbHost,
    /// Who asks.
    pub user: String,
    /// The secret of who asks.
    pub password: Option<String>,
    /// The database; none where the address names none.
    pub database: Option<String>,
    /// What is demanded of encryption.
    pub security: Security,
}

impl MariadbAddress {
    /// Reads an address; a user or password that it leaves out comes from `environment` (`USER`,
    /// `MYSQL_PWD`).
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let rest = Dialect::Mariadb.behind_scheme(text);
        let uri = Uri::parse(
            rest.ok_or_else(|| {
                Error::usage("this is not the address of a MariaDB or MySQL server", HINT)
            })?,
            HINT,
        )?;
        let settings = AddressSettings::read(&uri)?;
        let socket = settings.socket;
        let host = match (socket, uri.host.as_str()) {
            (Some(socket), _) => MariadbHost::Socket(socket),
            (None, "") => usual_socket().map_or_else(
                || MariadbHost::Network("localhost".to_owned(), PORT),
                MariadbHost::Socket,
            ),
            (None, host) => MariadbHost::Network(host.to_owned(), port_of(&uri.port, PORT, HINT)?),
        };
        let given = |text: String| (!text.is_empty()).then_some(text);
        let user = given(uri.user).or(settings.user).or_else(|| environment("USER"));
        let password = given(uri.password).or(settings.password);
        Ok(Self {
            host,
            user: user.unwrap_or_else(|| "root".to_owned()),
            password: password.or_else(|| environment("MYSQL_PWD")),
            database: given(uri.database),
            security: settings.security,
        })
    }

    /// As a text that [`MariadbAddress::parse`] reads again, with the password; demands of
    /// encryption are not in it, because sockets of managed servers have none.
    pub fn spelled(&self) -> String {
        let (user, database) = (escaped(&self.user), self.database.as_deref().unwrap_or(""));
        let password = self.password.as_deref().map(escaped).unwrap_or_default();
        let database = escaped(database);
        match &self.host {
            MariadbHost::Network(host, port) => {
                format!("mysql://{user}:{password}@{host}:{port}/{database}")
            }
            MariadbHost::Socket(path) => {
                let socket = escaped(&path.display().to_string());
                format!("mysql://{user}:{password}@/{database}?socket={socket}")
            }
        }
    }

    /// The same server with another database.
    #[must_use]
    pub fn with_database(&self, database: Option<&str>) -> Self {
        Self { database: database.map(str::to_owned), ..self.clone() }
    }

    /// Whether the server runs on this machine, as far as the address says.
    pub fn is_local(&self) -> bool {
        match &self.host {
            MariadbHost::Socket(_) => true,
            MariadbHost::Network(name, _) => is_this_machine(name),
        }
    }
}

/// Everything but letters and digits as `%` and two digits.
fn escaped(text: &str) -> String {
    let sign = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(sign).collect()
}

fn usual_socket() -> Option<PathBuf> {
    SOCKETS.iter().map(PathBuf::from).find(|path| path.exists())
}

/// What stands behind the question mark.
#[derive(Default)]
struct AddressSettings {
    socket: Option<PathBuf>,
    /// As addresses of Java programs have them.
    user: Option<String>,
    password: Option<String>,
    security: Security,
}

impl AddressSettings {
    const KNOWN: &str = "user, password, socket, ssl-mode (sslmode), ssl-ca (sslrootcert), ssl-cert, \
                         ssl-key";

    /// The names of MySQL's clients and those of libpq mean the same.
    fn read(uri: &Uri) -> Result<Self> {
        let (mut read, mut certificate, mut key) = (Self::default(), None, None);
        let mut mode = None;
        for (number, (name, value)) in uri.settings.iter().enumerate() {
            match name.to_lowercase().replace(['-', '_'], "").as_str() {
                "user" => read.user = Some(value.clone()),
                "password" => read.password = Some(value.clone()),
                "socket" | "unixsocket" => read.socket = Some(PathBuf::from(value)),
                "sslmode" => mode = Some(mode_of(value)?),
                "sslca" | "sslrootcert" => read.security.roots = roots_of(value),
                "sslcert" => certificate = Some(PathBuf::from(value)),
                "sslkey" => key = Some(PathBuf::from(value)),
                _ => {
                    let is_open = uri.password.is_empty() && read.password.is_none();
                    let which = if is_open {
                        format!("'{name}'")
                    } else {
                        format!("number {}", number + 1)
                    };
                    let what = format!("the address has an unknown setting {which}");
                    return Err(Error::usage(what, format!("known here: {}", Self::KNOWN)));
                }
            }
        }
        read.security.mode = mode.unwrap_or_default();
        read.security.certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(Error::usage(
                    "a client certificate needs its key, and a key its certificate",
                    "specify both with ssl-cert=FILE and ssl-key=FILE",
                ));
            }
        };
        read.security = checked(read.security, mode.is_some())?;
        Ok(read)
    }
}

fn mode_of(name: &str) -> Result<Mode> {
    Mode::of(name).ok_or_else(|| {
        Error::usage("ssl-mode has an unknown value", format!("known are {}", Mode::KNOWN))
    })
}

fn roots_of(name: &str) -> Roots {
    if name == "system" { Roots::System } else { Roots::File(name.into()) }
}

/// Authorities that everybody trusts prove something for the host's name only; an authority of
/// one's own is asked where it is named.
fn checked(mut security: Security, is_mode_named: bool) -> Result<Security> {
    match (security.mode, &security.roots) {
        (mode, Roots::System) if mode < Mode::VerifyFull && is_mode_named => Err(Error::usage(
            "ssl-ca=system is useless without host name verification",
            "write ssl-mode=VERIFY_IDENTITY",
        )),
        (Mode::VerifyCa, Roots::Unnamed) => Err(Error::usage(
            "ssl-mode=VERIFY_CA needs a certificate authority",
            "specify its file with ssl-ca=FILE, or use ssl-mode=VERIFY_IDENTITY for the \
             authorities that this system trusts",
        )),
        (_, Roots::System) => {
            security.mode = Mode::VerifyFull;
            Ok(security)
        }
        (_, Roots::File(_)) if !is_mode_named => {
            security.mode = Mode::VerifyCa;
            Ok(security)
        }
        _ => Ok(security),
    }
}

/// Without the password.
impl fmt::Display for MariadbAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.database.as_deref().unwrap_or("");
        let [user, database] = [self.user.as_str(), database].map(encoded);
        match &self.host {
            MariadbHost::Network(host, port) => {
                let host = host_in_uri(host);
                write!(formatter, "mysql://{user}@{host}:{port}/{database}")
            }
            MariadbHost::Socket(path) => {
                write!(formatter, "mysql://{user}@/{database}?socket={}", path.display())
            }
        }
    }
}

impl fmt::Debug for MariadbAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_spelled_out_is_read_as_it_was() {
        for text in
            ["mysql://o%27neill:x%40y@host:3307/shop", "mysql://u:p@/shop?socket=/tmp/a%20b"]
        {
            let address = parse(text).unwrap();
            assert_eq!(parse(&address.spelled()).unwrap(), address);
        }
    }

    fn parse(text: &str) -> Result<MariadbAddress> {
        MariadbAddress::parse(text, |name| (name == "MYSQL_PWD").then(|| "from outside".to_owned()))
    }

    #[test]
    fn addresses_are_read() {
        let address = parse("mysql://me:a%40b@db.example:3307/shop").unwrap();
        assert_eq!(address.host, MariadbHost::Network("db.example".to_owned(), 3307));
        assert_eq!((address.user.as_str(), address.password.as_deref()), ("me", Some("a@b")));
        assert_eq!(address.database.as_deref(), Some("shop"));
        assert!(!address.is_local());
        let address = parse("mariadb://me@[::1]").unwrap();
        assert_eq!(address.host, MariadbHost::Network("::1".to_owned(), 3306));
        assert_eq!((address.password.as_deref(), address.database), (Some("from outside"), None));
    }

    #[test]
    fn a_socket_is_named_behind_the_question_mark() {
        let address = parse("mysql:///shop?socket=/run/my.sock").unwrap();
        assert_eq!(address.host, MariadbHost::Socket("/run/my.sock".into()));
        assert!(address.is_local());
        assert_eq!(address.user, "root");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, word) in [
            ("mysql://h/x?ssl-mode=SOMETIMES", "verify-full"),
            ("mysql://h/x?ssl-mode=VERIFY_CA", "ssl-ca"),
            ("mysql://h/x?ssl-ca=system&ssl-mode=REQUIRED", "VERIFY_IDENTITY"),
            ("mysql://h/x?ssl-cert=a", "ssl-key"),
            ("mysql://h/x?colour=red", "colour"),
            ("mysql://h:many/x", "port"),
            ("postgresql://h/x", "not the address"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(parse("mysql://h/x?sslMode=disabled").is_ok());
    }

    #[test]
    fn encryption_is_asked_for_in_the_words_of_both_worlds() {
        let security = |text: &str| parse(text).unwrap().security;
        assert_eq!(security("mysql://h/x").mode, Mode::Prefer);
        assert_eq!(security("mysql://h/x?sslmode=require").mode, Mode::Require);
        let full = security("mysql://h/x?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem");
        assert_eq!((full.mode, full.roots), (Mode::VerifyFull, Roots::File("/ca.pem".into())));
        // MySQL's clients check against an authority that is named.
        assert_eq!(security("mysql://h/x?ssl_ca=/ca.pem").mode, Mode::VerifyCa);
        let own = security("mysql://h/x?ssl-cert=/c&ssl-key=/k").certificate;
        assert_eq!(own, Some(("/c".into(), "/k".into())));
    }

    #[test]
    fn no_error_repeats_a_piece_that_may_be_one_of_a_password() {
        for text in [
            "mysql://me:pa?S3cretPw@h/x",
            "mysql://me:pa/S3cretPw@h/x",
            "mysql://me:pa#S3cretPw@h:x/db",
            "mysql://me:%S3cretPw@h/x",
            "mysql://me:a@h:S3cretPw/x",
            "mysql://me:pw@h/x?S3cretPw=1",
            "mysql:/me:S3cretPw@h/x",
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(!error.contains("S3cretPw"), "{text}: {error}");
        }
    }

    #[test]
    fn the_password_is_never_shown() {
        let address = parse("mysql://me:secret@h/x").unwrap();
        assert!(!format!("{address} {address:?}").contains("secret"));
        assert_eq!(format!("{address}"), "mysql://me@h:3306/x");
    }
}
