//! The ways to a server in the order in which they are tried: encrypted or not, as the address
//! demands.
//!
//! Source: MySQL manual, "Command Options for Encrypted Connections"; `allow` is libpq's.

use super::facts::MariadbFacts;
pub(super) use super::login::LoginTry;
use super::login::login;
use super::packets::Packets;
use crate::address::{MariadbAddress, MariadbHost};
use crate::failure::{Answer, Failure, number};
use assay_dbserver::ServerStream;
use assay_dbserver::tls::Mode;

/// Accounts that such servers run as.
const ACCOUNTS: [&str; 2] = ["mysql", "mariadb"];
/// Refusals of sessions that are not encrypted: all of them, or this user's.
const WANTS_ENCRYPTION: [u16; 2] = [3159, 1045];

/// Opens a session; the second way is tried where the first failed because of its encryption.
pub(super) fn open(address: &MariadbAddress) -> Answer<(Packets, MariadbFacts)> {
    let (first, second) = match (&address.host, address.security.mode) {
        (MariadbHost::Socket(_), _) | (_, Mode::Disable) => (LoginTry::Plain, None),
        (_, Mode::Allow) => (LoginTry::Plain, Some(LoginTry::Encrypted)),
        (_, Mode::Prefer) => (LoginTry::Offered, Some(LoginTry::Plain)),
        _ => (LoginTry::Encrypted, None),
    };
    let session = |way| connect(address).and_then(|stream| log_in(stream, address, way));
    match (session(first), second) {
        (Err(failure), Some(second)) if is_about_encryption(&failure, second) => {
            // The first refusal says more than that the second way is closed, too.
            session(second).map_err(|_| failure)
        }
        (opened, _) => opened,
    }
}

/// Logs in over a way that is there.
pub(super) fn log_in(
    stream: ServerStream,
    address: &MariadbAddress,
    way: LoginTry,
) -> Answer<(Packets, MariadbFacts)> {
    let mut packets = Packets::over(stream);
    let facts = login(&mut packets, address, way)?;
    packets.logged_in()?;
    Ok((packets, facts))
}

fn is_about_encryption(failure: &Failure, second: LoginTry) -> bool {
    match (failure, second) {
        (Failure::Unsafe { .. }, _) => true,
        (_, LoginTry::Encrypted) => {
            number(failure).is_some_and(|code| WANTS_ENCRYPTION.contains(&code))
        }
        _ => false,
    }
}

fn connect(address: &MariadbAddress) -> Answer<ServerStream> {
    Ok(match &address.host {
        MariadbHost::Socket(path) => ServerStream::local(path, &ACCOUNTS)?,
        MariadbHost::Network(name, port) => ServerStream::network(name, *port)?,
    })
}
