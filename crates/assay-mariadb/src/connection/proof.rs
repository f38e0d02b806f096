//! The proofs that a server may ask for: that the password is known, without saying it.
//!
//! Sources: MariaDB documentation, "Authentication Plugin - `mysql_native_password`"; MySQL
//! internals, "Caching SHA-2 Authentication".

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Ways to prove who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofWay {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`.
    CachingSha2,
    /// The user of the operating system: nothing is sent.
    Socket,
    /// The password as it is, over a socket of this machine only.
    Clear,
}

impl ProofWay {
    /// The way of a name.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"mysql_native_password" => Some(Self::Native),
            b"caching_sha2_password" => Some(Self::CachingSha2),
            b"unix_socket" | b"auth_socket" => Some(Self::Socket),
            b"mysql_clear_password" | b"dialog" => Some(Self::Clear),
            _ => None,
        }
    }

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Socket => "unix_socket",
            Self::Clear => "mysql_clear_password",
        }
    }

    /// The proof for the server's random bytes; no password needs none.
    pub(super) fn proof(self, password: &str, scramble: &[u8]) -> Vec<u8> {
        let password = password.as_bytes();
        match self {
            Self::Clear => [password, &[0]].concat(),
            Self::Socket => Vec::new(),
            _ if password.is_empty() => Vec::new(),
            Self::Native => native(password, scramble),
            Self::CachingSha2 => caching_sha2(password, scramble),
        }
    }
}

/// `SHA1(password) XOR SHA1(scramble SHA1(SHA1(password)))`.
fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new().chain_update(scramble).chain_update(twice).finalize();
    once.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) scramble)`.
fn caching_sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new().chain_update(twice).chain_update(scramble).finalize();
    once.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRAMBLE: &[u8] = b"abcdefghijklmnopqrst";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
    }

    /// Golden values of Python's hashlib, by the formulas above:
    /// `h = lambda *b: hashlib.sha1(b''.join(b)).digest()`.
    #[test]
    fn proofs_are_those_of_another_implementation() {
        assert_eq!(
            hex(&ProofWay::Native.proof("secret", SCRAMBLE)),
            "8817c50fa779daef010ee7577825b0847df9842e"
        );
        assert_eq!(
            hex(&ProofWay::CachingSha2.proof("secret", SCRAMBLE)),
            "c76e2898612a4cf042c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae809"
        );
    }

    #[test]
    fn no_password_needs_no_proof() {
        assert!(ProofWay::Native.proof("", SCRAMBLE).is_empty());
        assert!(ProofWay::CachingSha2.proof("", SCRAMBLE).is_empty());
        assert_eq!(ProofWay::Clear.proof("x", SCRAMBLE), b"x\0");
        assert_eq!(ProofWay::of(b"client_ed25519"), None);
        for way in [ProofWay::Native, ProofWay::CachingSha2, ProofWay::Socket, ProofWay::Clear] {
            assert_eq!(ProofWay::of(way.name().as_bytes()), Some(way));
        }
    }
}
