//! Addresses of servers: `scheme://user:password@host:port/database?name=value`.
//!
//! Source: RFC 3986.

use assay_model::{Error, Result};

/// The parts of an address, without its scheme; what it leaves out is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// A usage error when it cannot be meant.
    pub fn parse(rest: &str, hint: &'static str) -> Result<Self> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = split_port(host);
        let mut settings = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| Error::usage(format!("'{pair}' is no NAME=VALUE"), hint))?;
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

/// `[::1]:5432`, `host:5432`, `host`.
fn split_port(host: &str) -> (&str, &str) {
    if let Some((number, rest)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        return (number, rest.strip_prefix(':').unwrap_or(""));
    }
    host.rsplit_once(':').unwrap_or((host, ""))
}

/// Takes `%41` for `A`.
fn decoded(text: &str, hint: &'static str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte.unwrap_or(b' ')).to_digit(16);
        let pair = digit(rest.next()).zip(digit(rest.next()));
        let value = pair.and_then(|(high, low)| u8::try_from(16 * high + low).ok());
        bytes.push(value.ok_or_else(|| {
            Error::usage("the address has a % without two hexadecimal digits", hint)
        })?);
    }
    String::from_utf8(bytes).map_err(|_| Error::usage("the address is not UTF-8", hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart_and_decoded() {
        let uri = Uri::parse("me:a%40b@[::1]:6000/shop?socket=/run/x&a=b", "h").unwrap();
        assert_eq!((uri.user.as_str(), uri.password.as_str()), ("me", "a@b"));
        assert_eq!(
            (uri.host.as_str(), uri.port.as_str(), uri.database.as_str()),
            ("::1", "6000", "shop")
        );
        assert_eq!(uri.settings[0], ("socket".to_owned(), "/run/x".to_owned()));
        assert_eq!(Uri::parse("", "h").unwrap(), Uri::default());
        assert!(Uri::parse("a%4/x", "h").is_err() && Uri::parse("h/x?y", "h").is_err());
    }
}
