//! The ways to a server in the order in which they are tried: encrypted or not, as the address
//! demands.
//!
//! Source: PostgreSQL documentation, "SSL Session Encryption" and "SSL Support", "Protection
//! Provided in Different Modes".

use crate::address::{PostgresAddress, PostgresHost};
use crate::failure::{Answer, Failure, Refusal};
use assay_dbserver::tls::{Mode, Tls};
use assay_dbserver::{ServerStream, number_of};

/// Asks the server to encrypt: a length and a number that no protocol version has.
const REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
/// Accounts that such servers run as.
const ACCOUNTS: [&str; 1] = ["postgres"];

/// What one try does about encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EncryptionTry {
    /// Without.
    Plain,
    /// With it where the server speaks it.
    Offered,
    /// With it or not at all.
    Encrypted,
}

/// Opens a way and a session over it; the second way is tried where the first was refused because
/// of its encryption.
pub(super) fn open<T>(
    address: &PostgresAddress,
    log_in: impl Fn(ServerStream) -> Answer<T>,
) -> Answer<T> {
    let (first, second) = match (&address.host, address.terms.security.mode) {
        (PostgresHost::Socket(_), _) | (_, Mode::Disable) => (EncryptionTry::Plain, None),
        (_, Mode::Allow) => (EncryptionTry::Plain, Some(EncryptionTry::Encrypted)),
        (_, Mode::Prefer) => (EncryptionTry::Offered, Some(EncryptionTry::Plain)),
        _ => (EncryptionTry::Encrypted, None),
    };
    let session = |way| connect(address, way).and_then(&log_in);
    match (session(first), second) {
        (Err(failure), Some(second)) if is_about_encryption(&failure) => {
            // The first refusal says more than that the second way is closed, too.
            session(second).map_err(|_| failure)
        }
        (opened, _) => opened,
    }
}

/// Whether another kind of way may help: `pg_hba.conf` has no line for this one, or TLS failed.
fn is_about_encryption(failure: &Failure) -> bool {
    match failure {
        Failure::Unsafe { .. } => true,
        Failure::Refused { code, meaning, .. } => *meaning == Refusal::Denied && code == "28000",
        _ => false,
    }
}

fn connect(address: &PostgresAddress, way: EncryptionTry) -> Answer<ServerStream> {
    match &address.host {
        PostgresHost::Socket(directory) => {
            let path = directory.join(format!(".s.PGSQL.{}", address.port));
            let stream = ServerStream::local(&path, &ACCOUNTS)?;
            check_peer(&stream, address.terms.peer.as_deref())?;
            Ok(stream)
        }
        PostgresHost::Network(name) => {
            let mut stream = ServerStream::network(name, address.port)?;
            if way != EncryptionTry::Plain {
                encrypt(&mut stream, address, way)?;
            }
            Ok(stream)
        }
    }
}

/// `requirepeer`: the account that must listen.
fn check_peer(stream: &ServerStream, wanted: Option<&str>) -> Answer<()> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    if stream.owner().map(|owner| owner.user) == number_of(wanted) {
        return Ok(());
    }
    Err(Failure::Unsafe {
        what: format!("requirepeer={wanted}: another user listens at the socket"),
        hint: "specify the server's own socket, or the account that it runs as",
    })
}

fn encrypt(stream: &mut ServerStream, address: &PostgresAddress, way: EncryptionTry) -> Answer<()> {
    stream.send(&REQUEST)?;
    // More than one byte would be from somebody between: the server waits for the handshake.
    let mut answer = [0; 16];
    match (stream.receive(&mut answer)?, answer[0]) {
        (1, b'S') => stream.encrypt(&Tls::new(&address.terms.security)?, &address.certified()),
        (1, b'N') if way == EncryptionTry::Offered => Ok(()),
        (1, b'N') => Err(Failure::Unsafe {
            what: "the server does not support encryption, or a third party blocks it".to_owned(),
            hint: "set ssl = on in the server; sslmode=disable only in a network that you trust",
        }),
        // Of an error that was not encrypted nothing is shown: anybody may have written it.
        (_, b'E') => Err(Failure::Unsafe {
            what: "the server answered the request for encryption with an error".to_owned(),
            hint: "check the server's log",
        }),
        (2.., b'S') => Err(assay_dbserver::injected()),
        _ => Err(Failure::Protocol("this is not a PostgreSQL server".to_owned())),
    }
}
