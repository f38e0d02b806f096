//! SCRAM-SHA-256: both sides prove that they know the password, and say nothing of it; over TLS the
//! proof is bound to the certificate that was seen, so that nobody between can pass it on.
//!
//! Sources: RFC 5802, RFC 7677, RFC 5929; PostgreSQL documentation, "SASL Authentication".

use super::super::messages::{
    Messages, big_endian, message, put_text, refusal, unexpected, zero_ended,
};
use crate::address::{Binding, PostgresAddress, PostgresHost};
use crate::failure::{Answer, Failure};
use assay_model::failure::words;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};

/// Fewer rounds make it cheap to guess the password from what is sent (RFC 7677). The library
/// refuses more than 100,000.
const ROUNDS_MIN: u32 = 4096;

/// Proves who asks, and has the server prove that it knows him.
pub(super) fn prove(
    messages: &mut Messages,
    offered: &[u8],
    address: &PostgresAddress,
    secret: &str,
) -> Answer<()> {
    let (name, binding) = choose(messages, &names(offered), address)?;
    let mut proof = ScramSha256::new(secret.as_bytes(), binding);
    let mut first = Vec::new();
    message(&mut first, b'p', |body| {
        put_text(body, name);
        body.extend(u32::try_from(proof.message().len()).unwrap_or(0).to_be_bytes());
        body.extend(proof.message());
    });
    messages.send_login(&first)?;
    let challenge = part(messages, 11)?;
    check_rounds(&challenge, address)?;
    proof.update(&challenge).map_err(|error| strange(&error))?;
    let mut second = Vec::new();
    message(&mut second, b'p', |body| body.extend(proof.message()));
    messages.send_login(&second)?;
    let end = part(messages, 12)?;
    proof.finish(&end).map_err(|error| strange(&error))?;
    match messages.next()? {
        (b'R', body) if big_endian(body) == 0 => Ok(()),
        (other, _) => Err(unexpected(other)),
    }
}

/// The names of the ways that the server offers.
fn names(offered: &[u8]) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), offered);
    while let Some((name, behind)) = zero_ended(rest).filter(|(name, _)| !name.is_empty()) {
        found.push(name);
        rest = behind;
    }
    found
}

/// The best way that both know.
fn choose(
    messages: &Messages,
    offered: &[&str],
    address: &PostgresAddress,
) -> Answer<(&'static str, ChannelBinding)> {
    let handshake = messages.stream().handshake();
    let wanted = handshake.filter(|_| address.terms.binding != Binding::Disable);
    let bound = wanted.and_then(|handshake| handshake.binding.clone());
    let (has_bound, has_plain) =
        (offered.contains(&SCRAM_SHA_256_PLUS), offered.contains(&SCRAM_SHA_256));
    match bound {
        Some(hash) if has_bound => {
            Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)))
        }
        _ if address.terms.binding == Binding::Require => Err(unbound()),
        _ if !has_plain => Err(Failure::Protocol("no known way to log in".to_owned())),
        // It informs the server that its offer of the better way did not arrive, if it made one.
        Some(_) => Ok((SCRAM_SHA_256, ChannelBinding::unrequested())),
        None => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
    }
}

/// Refuses what would let a server, or who plays one, guess the password cheaply.
fn check_rounds(challenge: &[u8], address: &PostgresAddress) -> Answer<()> {
    if matches!(address.host, PostgresHost::Socket(_)) {
        return Ok(());
    }
    let text = std::str::from_utf8(challenge).unwrap_or_default();
    let rounds = text.split(',').find_map(|part| part.strip_prefix("i=")?.parse::<u32>().ok());
    match rounds {
        Some(rounds) if rounds < ROUNDS_MIN => Err(Failure::Unsafe {
            what: format!(
                "the server uses only {rounds} iterations, which makes the password easy to guess"
            ),
            hint: "set the password again with scram_iterations of 4096 or more, or find out which \
                   server this is",
        }),
        _ => Ok(()),
    }
}

/// The server's part of the proof.
fn part(messages: &mut Messages, kind: usize) -> Answer<Vec<u8>> {
    match messages.next()? {
        (b'R', body) if big_endian(body) == kind => Ok(body.get(4..).unwrap_or_default().to_vec()),
        (b'E', body) => Err(refusal(body)),
        (other, _) => Err(unexpected(other)),
    }
}

fn strange(error: &std::io::Error) -> Failure {
    Failure::Protocol(words(error.to_string().as_bytes()))
}

/// What is said where `channel_binding=require` is not met.
pub(super) fn unbound() -> Failure {
    Failure::Unsafe {
        what: "channel_binding=require: the server does not support channel binding".to_owned(),
        hint: "it needs TLS, a certificate that is not signed with Ed25519, and a scram-sha-256 \
               password",
    }
}
