//! Addresses of servers: `scheme://user:password@host:port/database?name=value`. No error repeats a
//! piece of one: where a sign is missing or too many, any piece may be one of the password.
//!
//! Source: RFC 3986; PostgreSQL documentation, "Connection URIs".

use assay_model::{Error, Result};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The parts of an address, without its scheme; what it leaves out is empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Uri {
    /// Who asks.
    pub user: String,
    /// The secret of who asks.
    pub password: String,
    /// Name or number of the server.
    pub host: String,
    /// Its port.
    pub port: String,
    /// What stands behind the host, without its slash.
    pub database: String,
    /// Names and values behind the question mark.
    pub settings: Vec<(String, String)>,
}

impl Uri {
    /// Reads what stands behind `scheme://`; `hint` says what an address looks like.
    ///
    /// # Errors
    /// A usage error when it cannot be read; none repeats a piece of it.
    pub fn parse(rest: &str, hint: &'static str) -> Result<Self> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        if database.contains('@') || query.contains('@') {
            return Err(Error::usage(
                "the address has an @ behind its first / or ?",
                "in user and password write %2F for /, %3F for ?, %40 for @, %3A for : and %25 \
                 for %; elsewhere %40 for @",
            ));
        }
        let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = split_port(host);
        let mut settings = Vec::new();
        for (number, pair) in query.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                Error::usage(
                    format!("setting {} of the address is not NAME=VALUE", number + 1),
                    hint,
                )
            })?;
            settings.push((decoded(name, hint)?, decoded(value, hint)?));
        }
        Ok(Self {
            user: decoded(user, hint)?,
            password: decoded(password, hint)?,
            host: decoded(host, hint)?,
            port: decoded(port, hint)?,
            database: decoded(database, hint)?,
            settings,
        })
    }
}

/// Reads a port; an empty text is the usual one.
///
/// # Errors
/// A usage error that does not repeat it.
pub fn port_of(text: &str, usual: u16, hint: &'static str) -> Result<u16> {
    if text.is_empty() {
        return Ok(usual);
    }
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| {
        Error::usage("the port of the address is not a number from 1 to 65535", hint)
    })
}

/// `[::1]:5432`, `host:5432`, `host`.
fn split_port(host: &str) -> (&str, &str) {
    if let Some((number, rest)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        return (number, rest.strip_prefix(':').unwrap_or(""));
    }
    host.rsplit_once(':').unwrap_or((host, ""))
}

/// What has a meaning in an address and stands for itself only as `%41`.
const RESERVED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'/')
    .add(b':')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b']');

/// A user, a database or a value as it stands in an address.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A host as it stands in an address: the colons of an IPv6 number are none before a port.
pub fn host_in_uri(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// Takes `%41` for `A`.
fn decoded(text: &str, hint: &'static str) -> Result<String> {
    let pairs = text.split('%').skip(1);
    let is_whole = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    if !pairs.into_iter().all(is_whole) {
        return Err(Error::usage("the address has a % without two hexadecimal digits", hint));
    }
    let text = percent_decode_str(text).decode_utf8();
    text.map(Into::into).map_err(|_| Error::usage("the address is not UTF-8", hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_read_as_it_was() {
        for text in ["a@b", "x?y", "o'neill", "50%/[2]", "ünï"] {
            let uri = Uri::parse(&format!("{0}@{1}:1/{0}", encoded(text), host_in_uri("::1")), "h");
            let uri = uri.unwrap();
            assert_eq!((uri.user.as_str(), uri.database.as_str()), (text, text));
            assert_eq!((uri.host.as_str(), uri.port.as_str()), ("::1", "1"));
        }
    }

    #[test]
    fn parts_are_told_apart_and_decoded() {
        let uri = Uri::parse("me:a%40b@[::1]:6000/shop?socket=/run/x&a=b", "h").unwrap();
        assert_eq!((uri.user.as_str(), uri.password.as_str()), ("me", "a@b"));
        assert_eq!(
            (uri.host.as_str(), uri.port.as_str(), uri.database.as_str()),
            ("::1", "6000", "shop")
        );
        assert_eq!(uri.settings[0], ("socket".to_owned(), "/run/x".to_owned()));
        assert!(Uri::parse("", "h").unwrap() == Uri::default());
        assert!(Uri::parse("a%4/x", "h").is_err() && Uri::parse("h/x?y", "h").is_err());
        assert!(Uri::parse("a%+4b/x", "h").is_err() && Uri::parse("a%ff/x", "h").is_err());
    }

    #[test]
    fn a_password_with_a_bare_slash_or_question_mark_is_no_host() {
        for text in ["me:s3c/ret@h/db", "me:s3c?ret@h/db", "me:1/ret@h", "h/db?user=a@b"] {
            let error = Uri::parse(text, "h").err().unwrap().to_string();
            assert!(error.contains("%2F") && !error.contains("ret"), "{error}");
        }
    }

    #[test]
    fn ports_are_numbers() {
        assert_eq!(port_of("", 5432, "h").unwrap(), 5432);
        assert_eq!(port_of("65535", 5432, "h").unwrap(), 65_535);
        for text in ["0", "65536", "-1", "s3cret"] {
            assert!(!port_of(text, 1, "h").unwrap_err().to_string().contains(text));
        }
    }
}
