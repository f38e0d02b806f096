//! Encryption of the way to a server: what an address asks of it, the handshake, and messages
//! through it.
//!
//! Sources: RFC 8446, RFC 5246; PostgreSQL documentation, "SSL Support", for the meaning of the
//! modes.

mod certificate;
mod files;
mod roots;
mod session;
mod trust;

pub use roots::Roots;
pub use session::{Encrypted, EncryptionCost, Handshake};

use assay_model::failure::{Answer, Failure};
use assay_model::load::CertificateCheck;
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use std::path::PathBuf;
use std::sync::Arc;
use trust::Trust;

/// What is asked of the encryption, in libpq's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// None is used.
    Disable,
    /// Used where the server refuses sessions without.
    Allow,
    /// Used where the server speaks it.
    #[default]
    Prefer,
    /// No session without; whose certificate it is is not asked unless authorities are named.
    Require,
    /// Beyond that a trusted authority has signed the certificate.
    VerifyCa,
    /// Beyond that the certificate is that of the host that was named.
    VerifyFull,
}

/// What an address asks of encryption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Whether it is used and what is checked.
    pub mode: Mode,
    /// Who is trusted.
    pub roots: Roots,
    /// A certificate of this client in PEM form, and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl Mode {
    /// Names of the modes, libpq's and those of MySQL's clients.
    pub const KNOWN: &str = "disable, allow, prefer, require, verify-ca, verify-full";

    /// The mode of a name.
    pub fn of(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "disable" | "disabled" => Some(Self::Disable),
            "allow" => Some(Self::Allow),
            "prefer" | "preferred" => Some(Self::Prefer),
            "require" | "required" => Some(Self::Require),
            "verify-ca" => Some(Self::VerifyCa),
            "verify-full" | "verify-identity" => Some(Self::VerifyFull),
            _ => None,
        }
    }
}

impl Security {
    /// What is checked of the server's certificate: named authorities are always asked, as libpq
    /// does.
    pub fn check(&self) -> CertificateCheck {
        match (self.mode, &self.roots) {
            (Mode::VerifyFull, _) | (_, Roots::System) => CertificateCheck::AuthorityAndHost,
            (Mode::VerifyCa, _) | (_, Roots::File(_)) => CertificateCheck::Authority,
            _ => CertificateCheck::Nothing,
        }
    }
}

/// Everything that a handshake needs.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    check: CertificateCheck,
}

impl Tls {
    /// Reads the files that an address names.
    ///
    /// # Errors
    /// When one of them cannot be read, holds nothing of what it should, or may be read by others.
    pub fn new(security: &Security) -> Answer<Self> {
        let provider = Arc::new(ring::default_provider());
        let check = security.check();
        let trust = Trust::new(Arc::clone(&provider), &security.roots, check)?;
        let config =
            builder(provider)?.dangerous().with_custom_certificate_verifier(Arc::new(trust));
        let mut config = match &security.certificate {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let (chain, key) = (files::chain(certificate)?, files::key(key)?);
                config.with_client_auth_cert(chain, key).map_err(|error| Failure::Unsafe {
                    what: format!("{}: {error}", certificate.display()),
                    hint: "specify a certificate and its key",
                })?
            }
        };
        // Every session proves the server for itself.
        config.resumption = Resumption::disabled();
        Ok(Self { config: Arc::new(config), check })
    }
}

type Builder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn builder(provider: Arc<CryptoProvider>) -> Answer<Builder> {
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    versions.map_err(|error| Failure::Protocol(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_the_names_of_both_worlds() {
        for (name, mode) in [
            ("disable", Mode::Disable),
            ("allow", Mode::Allow),
            ("PREFERRED", Mode::Prefer),
            ("require", Mode::Require),
            ("VERIFY_CA", Mode::VerifyCa),
            ("VERIFY_IDENTITY", Mode::VerifyFull),
            ("verify-full", Mode::VerifyFull),
        ] {
            assert_eq!(Mode::of(name), Some(mode));
        }
        assert_eq!(Mode::of("verify"), None);
        assert!(Mode::KNOWN.split(", ").all(|name| Mode::of(name).is_some()));
        assert!(Mode::Prefer < Mode::Require && Mode::Require < Mode::VerifyCa);
    }

    #[test]
    fn named_authorities_are_asked_in_every_mode() {
        let security = |mode, roots| Security { mode, roots, certificate: None }.check();
        let file = || Roots::File("ca.pem".into());
        assert_eq!(security(Mode::Require, Roots::Unnamed), CertificateCheck::Nothing);
        assert_eq!(security(Mode::Require, file()), CertificateCheck::Authority);
        assert_eq!(security(Mode::VerifyCa, file()), CertificateCheck::Authority);
        assert_eq!(security(Mode::VerifyFull, file()), CertificateCheck::AuthorityAndHost);
        // Anybody may have a certificate of an authority that everybody trusts.
        assert_eq!(security(Mode::Require, Roots::System), CertificateCheck::AuthorityAndHost);
    }
}
