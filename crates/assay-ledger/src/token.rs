//! The token that both ends of a wire know: each proves it to the other without sending it.

use assay_model::{Error, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::path::Path;

/// Shorter ones can be guessed.
const BYTES_MIN: usize = 16;
/// A longer file is not a token.
const BYTES_MAX: u64 = 4096;

/// Bytes of a proof.
pub(crate) const PROOF_BYTES: usize = 32;

/// A token that both ends know.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Vec<u8>);

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

/// Which end proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Witness,
}

impl Token {
    /// The first line of a file.
    ///
    /// # Errors
    /// An environment error when it cannot be read, a usage error when it is short enough to be guessed.
    pub fn read(path: &Path) -> Result<Self> {
        let fail = |error: std::io::Error| {
            Error::environment(
                format!("reading the token {}: {error}", path.display()),
                "name a file that holds the token, the same on both machines",
            )
        };
        if std::fs::metadata(path).map_err(fail)?.len() > BYTES_MAX {
            return Err(Error::usage(
                format!("{} is too long to hold a token", path.display()),
                "name a file with one line",
            ));
        }
        let text = std::fs::read(path).map_err(fail)?;
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let token = line.trim_ascii();
        if token.len() < BYTES_MIN {
            return Err(Error::usage(
                format!("the token in {} has {} characters", path.display(), token.len()),
                "use at least 16 of them, for example from `openssl rand -hex 16`",
            ));
        }
        Ok(Self(token.to_vec()))
    }

    /// HMAC-SHA-256 over the end and what both sent at random (RFC 2104).
    fn mac(&self, end: End, random: [&[u8; 16]; 2]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(match end {
            End::Client => b"client",
            End::Witness => b"witness",
        });
        for bytes in random {
            mac.update(&bytes[..]);
        }
        Some(mac)
    }

    /// The proof that an end knows the token.
    pub(crate) fn proof(&self, end: End, random: [&[u8; 16]; 2]) -> [u8; PROOF_BYTES] {
        self.mac(end, random).map_or([0; PROOF_BYTES], |mac| mac.finalize().into_bytes().into())
    }

    /// Whether a proof is right, in a time that says nothing of where it is wrong.
    pub(crate) fn is_proven(&self, end: End, random: [&[u8; 16]; 2], proof: &[u8]) -> bool {
        self.mac(end, random).is_some_and(|mac| mac.verify_slice(proof).is_ok())
    }
}

/// Random bytes of the system.
pub(crate) fn random() -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let given = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    given.map(|_| bytes).map_err(|error| {
        Error::environment(
            format!("asking the system for random bytes: {error}"),
            "this needs a kernel with getrandom, and a sandbox that allows it",
        )
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn token(text: &str) -> Token {
        Token(text.as_bytes().to_vec())
    }

    #[test]
    fn a_proof_holds_for_its_end_its_token_and_its_conversation_only() {
        let (mine, other) = (token("0123456789abcdef"), token("0123456789abcdeX"));
        let random = [&[1; 16], &[2; 16]];
        let proof = mine.proof(End::Client, random);
        assert!(mine.is_proven(End::Client, random, &proof));
        assert!(!mine.is_proven(End::Witness, random, &proof));
        assert!(!mine.is_proven(End::Client, [&[1; 16], &[3; 16]], &proof));
        assert!(!other.is_proven(End::Client, random, &proof));
        assert!(!mine.is_proven(End::Client, random, &proof[..31]));
    }

    /// HMAC-SHA-256 of "client" and 32 zeros under the key "0123456789abcdef", by Python's `hmac`.
    #[test]
    fn a_proof_is_that_of_the_standard() {
        let proof = token("0123456789abcdef").proof(End::Client, [&[0; 16], &[0; 16]]);
        let (high, low) = proof.split_at(16);
        let half = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
        assert_eq!(half(high), 0xd721_be74_c1fd_fff6_71b6_9bb8_c5e3_e142);
        assert_eq!(half(low), 0xaa49_c6b6_821b_40e0_1a77_272e_5c6f_900b);
    }
}
