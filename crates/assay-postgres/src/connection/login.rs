//! The login: start-up, the proofs that a server may ask for, and what it says about itself.

use super::messages::{Messages, big_endian, message, put_text, refusal, unexpected, zero_ended};
use super::{ServerFacts, reported};
use crate::address::Address;
use crate::failure::{Answer, Failure, refused};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

/// Version 3.0.
const PROTOCOL: u32 = 3 << 16;

/// Starts a session and proves who asks.
pub(super) fn login(
    messages: &mut Messages,
    address: &Address,
    application: &str,
) -> Answer<ServerFacts> {
    messages.send(&startup(address, application))?;
    authenticate(messages, address)?;
    greetings(messages)
}

/// The first message has no letter.
fn startup(address: &Address, application: &str) -> Vec<u8> {
    let mut body = PROTOCOL.to_be_bytes().to_vec();
    for (name, value) in [
        ("user", address.user.as_str()),
        ("database", address.database.as_str()),
        ("application_name", application),
        ("client_encoding", "UTF8"),
    ] {
        put_text(&mut body, name);
        put_text(&mut body, value);
    }
    body.push(0);
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut whole = length.to_be_bytes().to_vec();
    whole.extend(body);
    whole
}

fn authenticate(messages: &mut Messages, address: &Address) -> Answer<()> {
    loop {
        let (tag, body) = messages.next()?;
        let (kind, rest) = (big_endian(body), body.get(4..).unwrap_or_default());
        let reply = match (tag, kind) {
            (b'R', 0) => return Ok(()),
            (b'R', 3) => password(secret(address)?.as_bytes()),
            (b'R', 5) => {
                let salt = rest.first_chunk::<4>().copied().unwrap_or_default();
                password(
                    md5_hash(address.user.as_bytes(), secret(address)?.as_bytes(), salt).as_bytes(),
                )
            }
            (b'R', 10) => {
                let known = rest.to_vec();
                return scram(messages, &known, secret(address)?);
            }
            (b'E', _) => return Err(refusal(body)),
            (b'R', other) => return Err(Failure::Strange(format!("login of kind {other}"))),
            (b'N' | b'v', _) => continue,
            (other, _) => return Err(unexpected(other)),
        };
        messages.send(&reply)?;
    }
}

fn secret(address: &Address) -> Answer<&str> {
    address.password.as_deref().ok_or_else(|| {
        refused("28P01", format!("the server asks for the password of \"{}\"", address.user))
    })
}

/// A message of a proof, with a zero at its end.
fn password(proof: &[u8]) -> Vec<u8> {
    let mut reply = Vec::new();
    message(&mut reply, b'p', |body| {
        body.extend(proof);
        body.push(0);
    });
    reply
}

/// SCRAM-SHA-256 (RFC 5802, RFC 7677) without channel binding, which needs encryption.
fn scram(messages: &mut Messages, known: &[u8], secret: &str) -> Answer<()> {
    let mut names = known;
    loop {
        match zero_ended(names) {
            Some((name, _)) if name == SCRAM_SHA_256 => break,
            Some((name, rest)) if !name.is_empty() => names = rest,
            _ => return Err(Failure::Strange("no known way to log in".to_owned())),
        }
    }
    let mut proof = ScramSha256::new(secret.as_bytes(), ChannelBinding::unsupported());
    let mut first = Vec::new();
    message(&mut first, b'p', |body| {
        put_text(body, SCRAM_SHA_256);
        body.extend(u32::try_from(proof.message().len()).unwrap_or(0).to_be_bytes());
        body.extend(proof.message());
    });
    messages.send(&first)?;
    let challenge = challenge(messages, 11)?;
    proof.update(&challenge)?;
    let mut second = Vec::new();
    message(&mut second, b'p', |body| body.extend(proof.message()));
    messages.send(&second)?;
    let end = self::challenge(messages, 12)?;
    proof.finish(&end)?;
    match messages.next()? {
        (b'R', body) if big_endian(body) == 0 => Ok(()),
        (other, _) => Err(unexpected(other)),
    }
}

/// The server's part of a proof.
fn challenge(messages: &mut Messages, kind: usize) -> Answer<Vec<u8>> {
    match messages.next()? {
        (b'R', body) if big_endian(body) == kind => Ok(body.get(4..).unwrap_or_default().to_vec()),
        (b'E', body) => Err(refusal(body)),
        (other, _) => Err(unexpected(other)),
    }
}

/// What the server says until it is ready.
fn greetings(messages: &mut Messages) -> Answer<ServerFacts> {
    let mut facts = ServerFacts::default();
    loop {
        let (tag, body) = messages.next()?;
        match tag {
            b'Z' => return Ok(facts),
            b'K' => facts.process_id = u32::try_from(big_endian(body)).unwrap_or(0),
            b'S' => {
                if let Some(("server_version", version)) = reported(body) {
                    version.clone_into(&mut facts.version);
                }
            }
            b'E' => return Err(refusal(body)),
            b'N' => {}
            other => return Err(unexpected(other)),
        }
    }
}
