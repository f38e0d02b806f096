//! The login: the server's greeting, our answer, and the proofs that it may ask for.
//!
//! Source: MariaDB documentation, "Connecting".

use super::cursor::{PacketCursor, damaged};
use super::facts::MariadbFacts;
use super::packets::{Packets, new_packet};
use super::proof::ProofWay;
use super::results::refusal;
use crate::address::{MariadbAddress, MariadbHost};
use crate::failure::{Answer, Failure, refused};
use assay_dbserver::ServerStream;
use assay_dbserver::tls::Tls;
use assay_model::failure::words;
use assay_model::load::CertificateCheck;

/// Bits of what both sides can: the names are those of the documentation.
const LONG_PASSWORD: u32 = 1;
const FOUND_ROWS: u32 = 1 << 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const LOCAL_FILES: u32 = 1 << 7;
const PROTOCOL_41: u32 = 1 << 9;
const ENCRYPTION: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_STATEMENTS: u32 = 1 << 16;
const MULTI_RESULTS: u32 = 1 << 17;
const CALL_RESULTS: u32 = 1 << 18;
const PLUGIN_AUTH: u32 = 1 << 19;

/// What is asked of every server. `FOUND_ROWS`: a change counts the rows that it found, changed or
/// not; `CALL_RESULTS` (`PS_MULTI_RESULTS`): a prepared call gives its rows and what it gives out.
const WANTED: u32 = LONG_PASSWORD
    | FOUND_ROWS
    | LONG_FLAG
    | LOCAL_FILES
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | MULTI_STATEMENTS
    | MULTI_RESULTS
    | CALL_RESULTS
    | PLUGIN_AUTH;
/// The longest packet that is taken.
const PACKET_BYTES_MAX: u32 = 64 << 20;
/// `utf8mb4_general_ci`, known to all versions of both products.
const CHARACTERS: u8 = 45;
/// Random bytes of the server, without the zero at their end.
const SCRAMBLE_BYTES: usize = 20;

/// What the server said first.
#[derive(Debug, PartialEq, Eq)]
struct ServerGreeting {
    facts: MariadbFacts,
    scramble: Vec<u8>,
    can: u32,
    way: Vec<u8>,
}

/// What one try does about encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginTry {
    /// Without.
    Plain,
    /// With it where the server speaks it.
    Offered,
    /// With it or not at all.
    Encrypted,
}

/// Starts a session and proves who asks.
pub(super) fn login(
    packets: &mut Packets,
    address: &MariadbAddress,
    way: LoginTry,
) -> Answer<MariadbFacts> {
    let greeting = greeting(packets.next()?)?;
    if greeting.can & PROTOCOL_41 == 0 {
        return Err(Failure::Protocol("a protocol of before version 4.1".to_owned()));
    }
    encrypt(packets, &greeting, address, way)?;
    // A way that is not known here is answered with a known one; the server then says which it
    // wants.
    let way = ProofWay::of(&greeting.way).unwrap_or(ProofWay::Native);
    let way = if way == ProofWay::Clear { ProofWay::Native } else { way };
    let is_encrypted = packets.stream().handshake().is_some();
    packets.send(&mut response(&greeting, way, address, is_encrypted))?;
    prove(packets, address, way)?;
    Ok(greeting.facts)
}

/// Encrypts where that is wanted and, if it need not be, the server can.
fn encrypt(
    packets: &mut Packets,
    greeting: &ServerGreeting,
    address: &MariadbAddress,
    way: LoginTry,
) -> Answer<()> {
    let MariadbHost::Network(name, _) = &address.host else {
        return Ok(());
    };
    match (way, greeting.can & ENCRYPTION != 0) {
        (LoginTry::Plain, _) | (LoginTry::Offered, false) => Ok(()),
        (LoginTry::Encrypted, false) => Err(Failure::Unsafe {
            what: "the server does not support encryption, or a third party blocks it".to_owned(),
            hint: "set ssl_cert and ssl_key in the server; ssl-mode=DISABLED only in a network \
                   that you trust",
        }),
        (LoginTry::Offered | LoginTry::Encrypted, true) => {
            let tls = Tls::new(&address.security)?;
            let mut request = abilities(greeting, address, true);
            packets.send(&mut request)?;
            packets.encrypt(&tls, name)
        }
    }
}

/// Takes the greeting apart.
fn greeting(body: &[u8]) -> Answer<ServerGreeting> {
    let mut rest = PacketCursor(body);
    match rest.byte()? {
        10 => {}
        0xff => return Err(refusal(body)),
        other => return Err(Failure::Protocol(format!("a greeting of version {other}"))),
    }
    let version = String::from_utf8_lossy(rest.zero_ended()).into_owned();
    let session = rest.four()?;
    let mut scramble = rest.take(8)?.to_vec();
    rest.byte()?;
    let low = rest.two()?;
    rest.take(3)?;
    let high = rest.two()?;
    let can = u32::from(low) | u32::from(high) << 16;
    let length = usize::from(rest.byte()?);
    rest.take(10)?;
    let more = rest.0.get(..length.saturating_sub(8).max(13)).unwrap_or(rest.0);
    rest.take(more.len())?;
    scramble.extend(more);
    scramble.truncate(SCRAMBLE_BYTES);
    let way = rest.zero_ended().to_vec();
    Ok(ServerGreeting { facts: MariadbFacts::of(&version, session), scramble, can, way })
}

/// What we can: all that is said before the handshake, and the beginning of our answer to the
/// greeting.
fn abilities(greeting: &ServerGreeting, address: &MariadbAddress, is_encrypted: bool) -> Vec<u8> {
    let with_database = if address.database.is_some() { CONNECT_WITH_DB } else { 0 };
    let encrypted = if is_encrypted { ENCRYPTION } else { 0 };
    let wanted = WANTED | with_database | encrypted;
    let mut packet = Vec::new();
    new_packet(&mut packet);
    packet.extend((wanted & (greeting.can | LOCAL_FILES)).to_le_bytes());
    packet.extend(PACKET_BYTES_MAX.to_le_bytes());
    packet.push(CHARACTERS);
    packet.extend([0; 23]);
    packet
}

/// Our answer to the greeting.
fn response(
    greeting: &ServerGreeting,
    way: ProofWay,
    address: &MariadbAddress,
    is_encrypted: bool,
) -> Vec<u8> {
    let mut packet = abilities(greeting, address, is_encrypted);
    put_text(&mut packet, &address.user);
    let proof = way.proof(address.password.as_deref().unwrap_or(""), &greeting.scramble);
    packet.push(u8::try_from(proof.len()).unwrap_or(0));
    packet.extend(proof);
    if let Some(database) = &address.database {
        put_text(&mut packet, database);
    }
    put_text(&mut packet, way.name());
    packet
}

/// A text with the zero at its end; zeros inside would end it early and are left out.
fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend(text.bytes().filter(|byte| *byte != 0));
    to.push(0);
}

/// Answers until the server is content.
fn prove(packets: &mut Packets, address: &MariadbAddress, mut way: ProofWay) -> Answer<()> {
    loop {
        let body = packets.next()?.to_vec();
        let mut rest = PacketCursor(&body);
        let reply = match rest.byte()? {
            0 => return Ok(()),
            0xff => return Err(refusal(&body)),
            0xfe => {
                let (wanted, scramble) = switch(rest, packets.stream())?;
                way = wanted;
                way.proof(address.password.as_deref().unwrap_or(""), &scramble)
            }
            // More of the way `caching_sha2_password`: 3 for known, 4 for the password itself.
            1 if way == ProofWay::CachingSha2 => match rest.byte()? {
                3 => continue,
                4 => {
                    may_be_told(packets.stream(), CertificateCheck::Nothing)?;
                    ProofWay::Clear.proof(address.password.as_deref().unwrap_or(""), &[])
                }
                _ => return Err(damaged()),
            },
            _ => return Err(damaged()),
        };
        let mut packet = Vec::new();
        new_packet(&mut packet);
        packet.extend(reply);
        packets.send(&mut packet)?;
    }
}

/// The server wants another way.
fn switch(mut rest: PacketCursor<'_>, stream: &ServerStream) -> Answer<(ProofWay, Vec<u8>)> {
    let name = rest.zero_ended();
    let way = ProofWay::of(name).ok_or_else(|| {
        refused(
            2061,
            "HY000",
            format!("the server requires the authentication method {}", words(name)),
        )
    })?;
    if way == ProofWay::Clear {
        may_be_told(stream, CertificateCheck::Authority)?;
    }
    let scramble = rest.0.get(..SCRAMBLE_BYTES).unwrap_or(rest.0).to_vec();
    Ok((way, scramble))
}

/// Whether the password itself may be given: over TLS whose certificate was checked so far, or to a
/// local socket whose listener is not a stranger.
fn may_be_told(stream: &ServerStream, least: CertificateCheck) -> Answer<()> {
    let is_encrypted = stream.handshake().is_some_and(|handshake| {
        least == CertificateCheck::Nothing || handshake.check != CertificateCheck::Nothing
    });
    if is_encrypted || stream.owner().is_some_and(|owner| owner.is_trusted) {
        return Ok(());
    }
    let (what, hint) = match stream.owner() {
        Some(owner) => (
            format!(
                "the socket belongs to the user with id {}, who requests the plain password, so it \
                 was not sent",
                owner.user
            ),
            "specify the server's own socket with socket=/PATH",
        ),
        None => (
            "the server requests the plain password, which is not sent over an unprotected \
             connection"
                .to_owned(),
            "add ssl-mode=VERIFY_IDENTITY to the address, use the socket of the server's machine, \
             or give the user mysql_native_password",
        ),
    };
    Err(Failure::Unsafe { what, hint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::load::DatabaseProduct;

    fn hello(version: &[u8], way: &[u8]) -> Vec<u8> {
        let mut body = vec![10];
        body.extend(version);
        body.push(0);
        body.extend(77_u32.to_le_bytes());
        body.extend(b"abcdefgh\0");
        body.extend([0xff, 0xff, 45, 2, 0, 0xff, 0x81, 21]);
        body.extend([0; 10]);
        body.extend(b"ijklmnopqrst\0");
        body.extend(way);
        body.push(0);
        body
    }

    #[test]
    fn a_greeting_is_taken_apart() {
        let body = hello(b"5.5.5-10.11.19-MariaDB-0+deb12u1", b"mysql_native_password");
        let found = greeting(&body).unwrap();
        assert_eq!(found.scramble, b"abcdefghijklmnopqrst");
        assert_eq!(found.can, 0x81ff_ffff);
        assert_eq!((found.facts.version.as_str(), found.facts.session), ("10.11.19", 77));
        assert_eq!(found.facts.product, DatabaseProduct::MariaDb);
        for end in 0..64 {
            assert!(greeting(&body[..end]).is_err(), "{end}");
        }
        let old = greeting(&hello(b"8.0.36", b"caching_sha2_password")).unwrap();
        assert_eq!(
            (old.facts.product, old.facts.version.as_str()),
            (DatabaseProduct::MySql, "8.0.36")
        );
    }

    #[test]
    fn a_server_that_takes_nobody_says_so_in_its_greeting() {
        let failure = greeting(b"\xff\x10\x04Too many connections").unwrap_err();
        assert_eq!(failure.meaning(), Some(crate::failure::Refusal::TooManySessions));
    }

    #[test]
    fn a_response_names_the_user_and_proves_him() {
        let found = greeting(&hello(b"8.0.36", b"caching_sha2_password")).unwrap();
        let address = MariadbAddress::parse("mysql://me:pw@h/shop", |_| None).unwrap();
        let packet = response(&found, ProofWay::CachingSha2, &address, false);
        let text = String::from_utf8_lossy(&packet);
        assert!(text.contains("me\0 ") && text.contains("shop\0caching_sha2_password\0"));
        assert_eq!(packet[4] & 8, 8);
        assert_eq!(packet[12], CHARACTERS);
    }

    #[test]
    fn the_password_itself_is_not_told_on_any_way() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let open = ServerStream::from(client);
        assert!(may_be_told(&open, CertificateCheck::Nothing).is_err());
        let failure = switch(PacketCursor(b"mysql_clear_password\0"), &open).unwrap_err();
        assert!(failure.of("x").hint().contains("socket"));
        let failure = switch(PacketCursor(b"client_ed25519\0abc"), &open).unwrap_err();
        assert!(failure.of("x").hint().contains("mysql_native_password"), "{failure}");
    }
}
