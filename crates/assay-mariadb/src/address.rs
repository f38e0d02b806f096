//! Where a server is and who asks: `mysql://user:password@host:port/database`, or `mysql:///database?socket=/path`.

use assay_daemon::{Uri, is_this_machine};
use assay_model::{Error, Result};
use std::fmt;
use std::path::PathBuf;

const PORT: u16 = 3306;
/// What an address looks like.
const HINT: &str =
    "write mysql://USER:PASSWORD@HOST:PORT/DATABASE, or mysql:///DATABASE?socket=/PATH/OF/SOCKET";
/// Both products are meant by either.
const SCHEMES: [&str; 2] = ["mysql://", "mariadb://"];
/// Where distributions put the socket.
const SOCKETS: [&str; 3] =
    ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// The server's socket.
    Socket(PathBuf),
    /// A name or number on the network.
    Network(String, u16),
}

/// A server, a database on it, and a user.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The way to it.
    pub host: Host,
    /// Who asks.
    pub user: String,
    /// The secret of who asks.
    pub password: Option<String>,
    /// The database; none where the address names none.
    pub database: Option<String>,
}

/// Whether a text is meant as the address of a server and not as a path.
pub fn is_address(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

impl Address {
    /// Reads an address; a user or password that it leaves out comes from `environment` (`USER`, `MYSQL_PWD`).
    ///
    /// # Errors
    /// A usage error when it cannot be meant, or asks for encryption, which this program does not speak.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let rest = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
        let uri = Uri::parse(
            rest.ok_or_else(|| Error::usage(format!("'{text}' is no address"), HINT))?,
            HINT,
        )?;
        let socket = socket_of(&uri)?;
        let host = match (socket, uri.host.as_str()) {
            (Some(socket), _) => Host::Socket(socket),
            (None, "") => usual_socket()
                .map_or_else(|| Host::Network("localhost".to_owned(), PORT), Host::Socket),
            (None, host) => Host::Network(host.to_owned(), port_of(&uri.port)?),
        };
        let given = |text: String| (!text.is_empty()).then_some(text);
        let user = given(uri.user).or_else(|| environment("USER"));
        Ok(Self {
            host,
            user: user.unwrap_or_else(|| "root".to_owned()),
            password: given(uri.password).or_else(|| environment("MYSQL_PWD")),
            database: given(uri.database),
        })
    }

    /// The same server with another database.
    #[must_use]
    pub fn with_database(&self, database: Option<&str>) -> Self {
        Self { database: database.map(str::to_owned), ..self.clone() }
    }

    /// Whether the server runs on this machine, as far as the address tells.
    pub fn is_local(&self) -> bool {
        match &self.host {
            Host::Socket(_) => true,
            Host::Network(name, _) => is_this_machine(name),
        }
    }
}

fn usual_socket() -> Option<PathBuf> {
    SOCKETS.iter().map(PathBuf::from).find(|path| path.exists())
}

fn port_of(text: &str) -> Result<u16> {
    if text.is_empty() {
        return Ok(PORT);
    }
    text.parse().map_err(|_| Error::usage(format!("'{text}' is no port"), HINT))
}

/// The socket that an address names; whoever demands encryption must not get a session without it.
fn socket_of(uri: &Uri) -> Result<Option<PathBuf>> {
    let mut socket = None;
    for (name, value) in &uri.settings {
        match name.to_lowercase().replace('-', "").as_str() {
            "socket" | "unixsocket" => socket = Some(PathBuf::from(value)),
            "sslmode"
                if ["disabled", "disable", "preferred"]
                    .contains(&value.to_lowercase().as_str()) => {}
            "sslmode" => {
                return Err(Error::usage(
                    format!("{name}={value}: this program does not encrypt"),
                    "use the socket of the server's machine, or ssl-mode=disabled in a network that you trust",
                ));
            }
            _ => {
                return Err(Error::usage(
                    format!("the address has an unknown setting '{name}'"),
                    "known here: socket, ssl-mode",
                ));
            }
        }
    }
    Ok(socket)
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, database) = (&self.user, self.database.as_deref().unwrap_or(""));
        match &self.host {
            Host::Network(host, port) => {
                write!(formatter, "mysql://{user}@{host}:{port}/{database}")
            }
            Host::Socket(path) => {
                write!(formatter, "mysql://{user}@/{database}?socket={}", path.display())
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
        Address::parse(text, |name| (name == "MYSQL_PWD").then(|| "from outside".to_owned()))
    }

    #[test]
    fn addresses_are_read() {
        let address = parse("mysql://me:a%40b@db.example:3307/shop").unwrap();
        assert_eq!(address.host, Host::Network("db.example".to_owned(), 3307));
        assert_eq!((address.user.as_str(), address.password.as_deref()), ("me", Some("a@b")));
        assert_eq!(address.database.as_deref(), Some("shop"));
        assert!(!address.is_local());
        let address = parse("mariadb://me@[::1]").unwrap();
        assert_eq!(address.host, Host::Network("::1".to_owned(), 3306));
        assert_eq!((address.password.as_deref(), address.database), (Some("from outside"), None));
    }

    #[test]
    fn a_socket_is_named_behind_the_question_mark() {
        let address = parse("mysql:///shop?socket=/run/my.sock").unwrap();
        assert_eq!(address.host, Host::Socket("/run/my.sock".into()));
        assert!(address.is_local());
        assert_eq!(address.user, "root");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, word) in [
            ("mysql://h/x?ssl-mode=REQUIRED", "encrypt"),
            ("mysql://h/x?colour=red", "colour"),
            ("mysql://h:many/x", "many"),
            ("postgresql://h/x", "no address"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(parse("mysql://h/x?sslMode=disabled").is_ok());
    }

    #[test]
    fn the_password_is_never_shown() {
        let address = parse("mysql://me:secret@h/x").unwrap();
        assert!(!format!("{address} {address:?}").contains("secret"));
        assert_eq!(format!("{address}"), "mysql://me@h:3306/x");
    }
}
