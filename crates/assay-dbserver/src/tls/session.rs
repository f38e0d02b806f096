//! An encrypted session: its handshake, what is sent and received through it, and the time that
//! encrypting takes.

use super::{Tls, certificate};
use assay_model::failure::{Answer, Failure, words};
use assay_model::load::{CertificateCheck, Encryption};
use assay_model::number::{narrow, real};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConnection, Error};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Time that all sessions spent on encrypting and decrypting, ns, and the answers that they waited
/// for.
static SPENT_NS: AtomicU64 = AtomicU64::new(0);
static ANSWERS: AtomicU64 = AtomicU64::new(0);

/// What encryption has cost this program in all its sessions up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncryptionCost {
    spent_ns: u64,
    answers: u64,
}

impl EncryptionCost {
    /// Up to now.
    pub fn so_far() -> Self {
        Self {
            spent_ns: SPENT_NS.load(Ordering::Relaxed),
            answers: ANSWERS.load(Ordering::Relaxed),
        }
    }

    /// Mean time for each answer that was waited for since an earlier moment, ns; none before the
    /// first.
    pub fn per_answer_ns(self, since: Self) -> Option<f64> {
        let answers = self.answers - since.answers;
        (answers > 0).then(|| real(self.spent_ns - since.spent_ns) / real(answers))
    }
}

/// What a handshake established.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// What was checked of the server's certificate.
    pub check: CertificateCheck,
    /// What binds a proof to this session (`tls-server-end-point`); none where that is not defined
    /// for the certificate.
    pub binding: Option<Vec<u8>>,
}

/// A session whose handshake is done.
pub struct Encrypted {
    session: ClientConnection,
    handshake: Handshake,
}

impl std::fmt::Debug for Encrypted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Encrypted").field("facts", &self.facts()).finish_non_exhaustive()
    }
}

impl Tls {
    /// Shakes hands over a connected way; `host` is the name that the certificate must be for.
    ///
    /// # Errors
    /// When the server does not support TLS, its certificate is refused, or it does not take ours.
    pub fn shake_hands(&self, way: &mut (impl Read + Write), host: &str) -> Answer<Encrypted> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Failure::Unsafe {
            what: format!(
                "'{}' is not a valid host name for a certificate",
                words(host.as_bytes())
            ),
            hint: "specify the server by its host name or IP address",
        })?;
        let session = ClientConnection::new(Arc::clone(&self.config), name);
        let mut session = session.map_err(|error| handshake_failure(&error, host))?;
        while session.is_handshaking() {
            if let Err(error) = session.complete_io(way) {
                return Err(explained(error, host));
            }
        }
        let shown = session.peer_certificates().and_then(|chain| chain.first());
        let binding = shown.and_then(|shown| certificate::end_point(shown));
        Ok(Encrypted { session, handshake: Handshake { check: self.check, binding } })
    }
}

impl Encrypted {
    /// What the handshake established.
    pub const fn handshake(&self) -> &Handshake {
        &self.handshake
    }

    /// What the report says of it.
    pub fn facts(&self) -> Encryption {
        let protocol = self.session.protocol_version().and_then(|version| version.as_str());
        let suite = self.session.negotiated_cipher_suite().map(|suite| suite.suite());
        Encryption {
            // `TLSv1_3` is written `TLSv1.3`.
            protocol: protocol.unwrap_or_default().replace('_', "."),
            cipher: suite.and_then(|suite| suite.as_str()).unwrap_or_default().to_owned(),
            checked: self.handshake.check,
            cost_per_answer_ns: None,
        }
    }

    /// Writes all of it: as few system calls as without encryption.
    pub(crate) fn send(&mut self, way: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let begun = Instant::now();
            let taken = self.session.writer().write(bytes)?;
            spend(begun);
            bytes = &bytes[taken..];
            self.write_out(way)?;
        }
        Ok(())
    }

    /// Reads what is there, at least a byte.
    pub(crate) fn receive(
        &mut self,
        way: &mut (impl Read + Write),
        room: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            match self.session.reader().read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.session.read_tls(way)?;
            let begun = Instant::now();
            let processed = self.session.process_new_packets();
            spend(begun);
            ANSWERS.fetch_add(1, Ordering::Relaxed);
            processed.map_err(|error| io::Error::other(broken_off(&error)))?;
            self.write_out(way)?;
        }
    }

    fn write_out(&mut self, way: &mut impl Write) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(way)?;
        }
        Ok(())
    }
}

fn spend(begun: Instant) {
    SPENT_NS.fetch_add(narrow(begun.elapsed().as_nanos()), Ordering::Relaxed);
}

/// Why an encrypted session ended. With TLS 1.3 a server refuses a certificate of this client after
/// the handshake.
fn broken_off(error: &Error) -> String {
    match error {
        Error::AlertReceived(alert) => format!(
            "the server ended the TLS session ({}): it may require a client certificate that it \
             trusts (sslcert, sslkey)",
            plain_words(&format!("{alert:?}"))
        ),
        other => format!("TLS: {}", words(other.to_string().as_bytes())),
    }
}

/// A failure of a handshake: what TLS says of it, or what the system says.
fn explained(error: io::Error, host: &str) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(said) => handshake_failure(said, host),
        None => Failure::Lost(error),
    }
}

fn handshake_failure(error: &Error, host: &str) -> Failure {
    let (what, hint) = match error {
        Error::InvalidCertificate(why) => (certificate_words(why, host), certificate_hint(why)),
        Error::AlertReceived(alert) => (
            format!("the server ended the TLS handshake: {}", plain_words(&format!("{alert:?}"))),
            "check the server's log; it may require a client certificate (sslcert, sslkey)",
        ),
        Error::InvalidMessage(_) => (
            "the server does not support TLS".to_owned(),
            "check host and port, and that the connection is not intercepted",
        ),
        other => {
            (format!("TLS: {}", words(other.to_string().as_bytes())), "check the server's log")
        }
    };
    Failure::Unsafe { what, hint }
}

fn certificate_words(why: &CertificateError, host: &str) -> String {
    use CertificateError as Why;
    match why {
        Why::Expired | Why::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        Why::NotValidYet | Why::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet".to_owned()
        }
        Why::UnknownIssuer => {
            "the server's certificate is not signed by a trusted authority".to_owned()
        }
        Why::NotValidForName => format!("the server's certificate is not for {host}"),
        Why::NotValidForNameContext { presented, .. } => {
            // Names come as `DnsName("db.example")`.
            let plain = presented.iter().map(|name| name.split('"').nth(1).unwrap_or(name));
            let names = words(plain.collect::<Vec<_>>().join(", ").as_bytes());
            format!("the server's certificate is not for {host} but for {names}")
        }
        Why::BadSignature => "the server's certificate has a wrong signature".to_owned(),
        other if is_authority(other) => {
            "the server's certificate signs itself and is not in the named file".to_owned()
        }
        other => {
            format!("the server's certificate is refused: {}", plain_words(&format!("{other:?}")))
        }
    }
}

/// Whether a server showed the certificate of an authority as its own. That reason is private to a
/// library.
fn is_authority(why: &CertificateError) -> bool {
    format!("{why:?}").contains("CaUsedAsEndEntity")
}

/// The innermost name of a reason, as words: `Other(OtherError(BadDer))` is `bad der`.
fn plain_words(reason: &str) -> String {
    let name = reason.trim_end_matches([')', '}', ' ']);
    let name = name.rsplit(['(', '{', ' ']).next().unwrap_or(name);
    let mut plain = String::new();
    for (at, letter) in name.char_indices() {
        let begins = at > 0 && letter.is_uppercase() && name[..at].ends_with(char::is_lowercase);
        plain.extend(begins.then_some(' '));
        plain.extend(letter.to_lowercase());
    }
    plain
}

fn certificate_hint(why: &CertificateError) -> &'static str {
    use CertificateError as Why;
    match why {
        other if is_authority(other) => {
            "specify a file with this certificate: sslrootcert=FILE (ssl-ca=FILE)"
        }
        Why::Expired | Why::ExpiredContext { .. } => {
            "renew it, and check the clock of this machine"
        }
        Why::NotValidYet | Why::NotValidYetContext { .. } => "check the clock of this machine",
        Why::NotValidForName | Why::NotValidForNameContext { .. } => {
            "specify the host name in its certificate, or install a certificate for this host name"
        }
        _ => {
            "specify the certificate file of the authority that signed it: sslrootcert=FILE \
             (ssl-ca=FILE)"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_the_library_are_words() {
        assert_eq!(
            plain_words("Other(OtherError(SignatureAlgorithmMismatch))"),
            "signature algorithm mismatch"
        );
        assert_eq!(plain_words("UnknownCA"), "unknown ca");
        assert_eq!(plain_words("InvalidPurpose"), "invalid purpose");
    }

    #[test]
    fn the_cost_of_an_answer_is_counted_from_a_moment_on() {
        let before = EncryptionCost { spent_ns: 1_000_000, answers: 10 };
        let now = EncryptionCost { spent_ns: 1_003_000, answers: 12 };
        assert_eq!(now.per_answer_ns(before), Some(1500.0));
        assert_eq!(before.per_answer_ns(before), None);
    }
}
