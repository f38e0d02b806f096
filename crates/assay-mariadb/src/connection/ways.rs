//! The ways to a server in the order in which they are tried: encrypted or not, as the address
//! demands.
//!
//! Source: MySQL manual, "Command Options for Encrypted Connections"; `allow` is libpq's.

use super::facts::ServerFacts;
pub(super) use super::login::Try;
use super::login::login;
use super::packets::Packets;
use crate::address::{Address, Host};
use crate::failure::{Answer, Failure, number};
use assay_dbserver::Stream;
use assay_dbserver::tls::Mode;

/// Accounts that such servers run as.
const ACCOUNTS: [&str; 2] = ["mysql", "mariadb"];
/// Refusals of sessions that are not encrypted: all of them, or this user's.
const WANTS_ENCRYPTION: [u16; 2] = [3159, 1045];

/// Opens a session; the second way is tried where the first failed because of its encryption.
pub(super) fn open(address: &Address) -> Answer<(Packets, ServerFacts)> {
    let (first, second) = match (&address.host, address.security.mode) {
        (Host::Socket(_), _) | (_, Mode::Disable) => (Try::Plain, None),
        (_, Mode::Allow) => (Try::Plain, Some(Try::Encrypted)),
        (_, Mode::Prefer) => (Try::Offered, Some(Try::Plain)),
        _ => (Try::Encrypted, None),
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
    stream: Stream,
    address: &Address,
    way: Try,
) -> Answer<(Packets, ServerFacts)> {
    let mut packets = Packets::over(stream);
    let facts = login(&mut packets, address, way)?;
    packets.logged_in()?;
    Ok((packets, facts))
}

fn is_about_encryption(failure: &Failure, second: Try) -> bool {
    match (failure, second) {
        (Failure::Unsafe { .. }, _) => true,
        (_, Try::Encrypted) => number(failure).is_some_and(|code| WANTS_ENCRYPTION.contains(&code)),
        _ => false,
    }
}

fn connect(address: &Address) -> Answer<Stream> {
    Ok(match &address.host {
        Host::Socket(path) => Stream::local(path, &ACCOUNTS)?,
        Host::Network(name, port) => Stream::network(name, *port)?,
    })
}
