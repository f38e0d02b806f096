//! The login: start-up, the proofs that a server may ask for, and what it says about itself.

mod scram;

use super::facts::{PostgresFacts, reported};
use super::messages::{Messages, big_endian, message, put_text, refusal, unexpected};
use crate::address::{Binding, PostgresAddress};
use crate::failure::{Answer, Failure, refused};
use assay_dbserver::ask_password;
use assay_dbserver::tls::Mode;
use assay_model::failure::words;
use postgres_protocol::authentication::md5_hash;

/// Version 3.0.
const PROTOCOL: u32 = 3 << 16;

/// Starts a session and proves who asks.
pub(super) fn login(
    messages: &mut Messages,
    address: &PostgresAddress,
    application: &str,
) -> Answer<PostgresFacts> {
    messages.send_login(&startup(address, application))?;
    authenticate(messages, address)?;
    greetings(messages)
}

/// The first message has no letter.
fn startup(address: &PostgresAddress, application: &str) -> Vec<u8> {
    let mut body = PROTOCOL.to_be_bytes().to_vec();
    for (name, value) in [
        ("user", address.user.as_str()),
        ("database", address.database.as_str()),
        ("application_name", application),
        ("client_encoding", "UTF8"),
    ]
    .into_iter()
    .chain(address.terms.options.as_deref().map(|options| ("options", options)))
    {
        put_text(&mut body, name);
        put_text(&mut body, value);
    }
    body.push(0);
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut whole = length.to_be_bytes().to_vec();
    whole.extend(body);
    whole
}

fn authenticate(messages: &mut Messages, address: &PostgresAddress) -> Answer<()> {
    loop {
        let (tag, body) = messages.next()?;
        let (kind, rest) = (big_endian(body), body.get(4..).unwrap_or_default().to_vec());
        let reply = match (tag, kind) {
            (b'R', 0) => return trusting(address),
            (b'R', 3) => {
                let secret = secret(address)?;
                may_be_told(messages, address, "in clear")?;
                password(secret.as_bytes())
            }
            (b'R', 5) => {
                let (secret, salt) = (secret(address)?, rest.first_chunk::<4>());
                may_be_told(messages, address, "as MD5")?;
                let salt = salt.copied().unwrap_or_default();
                password(md5_hash(address.user.as_bytes(), secret.as_bytes(), salt).as_bytes())
            }
            (b'R', 10) => return scram::prove(messages, &rest, address, &secret(address)?),
            (b'E', _) => return Err(refusal(body)),
            (b'R', other) => return Err(Failure::Protocol(format!("login of kind {other}"))),
            (b'N' | b'v', _) => continue,
            (other, _) => return Err(unexpected(other)),
        };
        messages.send_login(&reply)?;
    }
}

/// Who must have a proof that is bound to the encryption does not go on without one.
fn trusting(address: &PostgresAddress) -> Answer<()> {
    if address.terms.binding == Binding::Require { Err(scram::unbound()) } else { Ok(()) }
}

/// Whether the password, or what is as good as it, may be given: encrypted because the address
/// demands it, or to a local socket whose listener is not a stranger.
fn may_be_told(messages: &Messages, address: &PostgresAddress, how: &str) -> Answer<()> {
    let stream = messages.stream();
    let is_demanded = stream.handshake().is_some() && address.terms.security.mode >= Mode::Require;
    let is_local = stream.owner().is_some_and(|owner| owner.is_trusted);
    if address.terms.binding == Binding::Require {
        return Err(scram::unbound());
    }
    if is_demanded || is_local {
        return Ok(());
    }
    if let Some(owner) = stream.owner() {
        return Err(Failure::Unsafe {
            what: format!(
                "the socket belongs to the user with id {}, who requests the password {how}, so it \
                 was not sent",
                owner.user
            ),
            hint: "specify the directory of the server's own socket with host=/DIRECTORY",
        });
    }
    Err(Failure::Unsafe {
        what: format!(
            "the server requests the password {how}, which is not sent over an unprotected \
             connection"
        ),
        hint: "add sslmode=verify-full (or require) to the address, or store the password as \
               scram-sha-256 in the server",
    })
}

/// The password, which a person is asked for where the address has none.
fn secret(address: &PostgresAddress) -> Answer<String> {
    let known = address.password.clone().or_else(|| ask_password(&address.to_string()));
    known.ok_or_else(|| {
        let why = address.terms.password_note.as_deref().unwrap_or_default();
        refused("28P01", format!("the server requires the password of \"{}\"{why}", address.user))
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

/// What the server says until it is ready.
fn greetings(messages: &mut Messages) -> Answer<PostgresFacts> {
    let mut facts = PostgresFacts::default();
    loop {
        let (tag, body) = messages.next()?;
        match tag {
            b'Z' => return Ok(facts),
            b'K' => facts.process_id = u32::try_from(big_endian(body)).unwrap_or(0),
            b'S' => {
                if let Some(("server_version", version)) = reported(body) {
                    facts.version = words(version.as_bytes());
                }
            }
            b'E' => return Err(refusal(body)),
            b'N' => {}
            other => return Err(unexpected(other)),
        }
    }
}
