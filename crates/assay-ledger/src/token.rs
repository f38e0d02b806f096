//! The token that both ends of a wire know: each proves it to the other without sending it, and
//! what follows is sealed by it.

use assay_files::read_private;
use assay_model::{Error, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::io::ErrorKind;
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
pub(crate) enum SealedEnd {
    Client,
    Witness,
}

impl SealedEnd {
    const fn name(self) -> &'static [u8] {
        match self {
            Self::Client => b"client",
            Self::Witness => b"witness",
        }
    }

    const fn seal_name(self) -> &'static [u8] {
        match self {
            Self::Client => b"from the client",
            Self::Witness => b"from the witness",
        }
    }
}

impl Token {
    /// The first line of a file.
    ///
    /// # Errors
    /// An environment error when it cannot be read, or others can read or write it; a usage error
    /// when it is short enough to be guessed.
    pub fn read(path: &Path) -> Result<Self> {
        let fail = |error: std::io::Error| {
            let hint = match error.kind() {
                ErrorKind::PermissionDenied => {
                    "specify a file that belongs to you and that only you can read: `chmod 600 \
                     FILE`"
                }
                _ => "specify a file with the token, which must be the same on both machines",
            };
            Error::environment(format!("reading the token {}: {error}", path.display()), hint)
        };
        let text = read_private(path, BYTES_MAX).map_err(fail)?;
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let token = line.trim_ascii();
        if token.len() < BYTES_MIN {
            return Err(Error::usage(
                format!("the token in {} has {} characters", path.display(), token.len()),
                "use at least 16 characters, for example from `openssl rand -hex 16`",
            ));
        }
        Ok(Self(token.to_vec()))
    }

    /// HMAC-SHA-256 over a purpose, what both sent at random and what is said (RFC 2104).
    fn mac(&self, purpose: &[u8], random: TokenRandom, said: &[u8]) -> Hmac<Sha256> {
        let mut mac = keyed(&self.0);
        mac.update(purpose);
        for bytes in random {
            mac.update(&bytes[..]);
        }
        mac.update(said);
        mac
    }

    /// The proof that an end knows the token, and says this.
    pub(crate) fn proof(
        &self,
        end: SealedEnd,
        random: TokenRandom,
        said: &[u8],
    ) -> [u8; PROOF_BYTES] {
        self.mac(end.name(), random, said).finalize().into_bytes().into()
    }

    /// Whether a proof is right, in a time that says nothing of where it is wrong.
    pub(crate) fn is_proven(
        &self,
        end: SealedEnd,
        random: TokenRandom,
        said: &[u8],
        proof: &[u8],
    ) -> bool {
        self.mac(end.name(), random, said).verify_slice(proof).is_ok()
    }

    /// What seals the messages of an end of this conversation: no other conversation has the same
    /// key.
    pub(crate) fn seal(&self, end: SealedEnd, random: TokenRandom) -> MessageSeal {
        let key = self.mac(end.seal_name(), random, &[]).finalize().into_bytes();
        MessageSeal { keyed: keyed(&key), count: 0 }
    }
}

/// What the witness sent at random, and what the client did.
pub(crate) type TokenRandom<'a> = [&'a [u8; 16]; 2];

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of any length.
    Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| unreachable!("a key of any length"))
}

/// Seals or judges the messages of one end, one after the other: one that is changed, left out,
/// repeated or put elsewhere is noticed.
pub(crate) struct MessageSeal {
    keyed: Hmac<Sha256>,
    count: u64,
}

impl fmt::Debug for MessageSeal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Seal")
    }
}

impl MessageSeal {
    fn next(&mut self, message: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(&self.count.to_le_bytes());
        mac.update(message);
        self.count += 1;
        mac
    }

    /// The seal of the next message.
    pub(crate) fn of_next(&mut self, message: &[u8]) -> [u8; PROOF_BYTES] {
        self.next(message).finalize().into_bytes().into()
    }

    /// Whether this is the next message of the other end.
    pub(crate) fn is_next(&mut self, message: &[u8], seal: &[u8]) -> bool {
        self.next(message).verify_slice(seal).is_ok()
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
        let proof = mine.proof(SealedEnd::Client, random, b"a");
        assert!(mine.is_proven(SealedEnd::Client, random, b"a", &proof));
        assert!(!mine.is_proven(SealedEnd::Witness, random, b"a", &proof));
        assert!(!mine.is_proven(SealedEnd::Client, [&[1; 16], &[3; 16]], b"a", &proof));
        assert!(!mine.is_proven(SealedEnd::Client, random, b"b", &proof));
        assert!(!other.is_proven(SealedEnd::Client, random, b"a", &proof));
        assert!(!mine.is_proven(SealedEnd::Client, random, b"a", &proof[..31]));
    }

    #[test]
    fn a_message_that_is_changed_left_out_repeated_or_reflected_is_noticed() {
        let (token, random) = (token("0123456789abcdef"), [&[1; 16], &[2; 16]]);
        let mut sender = token.seal(SealedEnd::Client, random);
        let (first, second) = (sender.of_next(b"1"), sender.of_next(b"2"));
        let receiver = || token.seal(SealedEnd::Client, random);
        let mut ordered = receiver();
        assert!(ordered.is_next(b"1", &first) && ordered.is_next(b"2", &second));
        assert!(!receiver().is_next(b"changed", &first));
        assert!(!receiver().is_next(b"2", &second), "the first was left out");
        let mut repeated = receiver();
        assert!(repeated.is_next(b"1", &first) && !repeated.is_next(b"1", &first));
        assert!(!token.seal(SealedEnd::Witness, random).is_next(b"1", &first), "reflected");
        assert!(!token.seal(SealedEnd::Client, [&[1; 16], &[3; 16]]).is_next(b"1", &first));
    }

    /// HMAC-SHA-256 of "client" and 32 zeros under the key "0123456789abcdef", by Python's `hmac`.
    #[test]
    fn a_proof_is_that_of_the_standard() {
        let proof = token("0123456789abcdef").proof(SealedEnd::Client, [&[0; 16], &[0; 16]], &[]);
        let (high, low) = proof.split_at(16);
        let half = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
        assert_eq!(half(high), 0xd721_be74_c1fd_fff6_71b6_9bb8_c5e3_e142);
        assert_eq!(half(low), 0xaa49_c6b6_821b_40e0_1a77_272e_5c6f_900b);
    }
}
