//! Whose certificate a server may show.

use super::certificate::validity;
use super::files;
use super::roots::Roots;
use assay_model::failure::{Answer, Failure};
use assay_model::load::CertificateCheck;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::{Arc, OnceLock};

/// What the certificate of a server must be.
#[derive(Debug)]
pub(super) struct Trust {
    provider: Arc<CryptoProvider>,
    roots: Arc<RootCertStore>,
    /// The certificates of the named file: a server may show one of them itself, as one that
    /// signed its own does.
    named: Vec<CertificateDer<'static>>,
    check: CertificateCheck,
}

impl Trust {
    pub(super) fn new(
        provider: Arc<CryptoProvider>,
        roots: &Roots,
        check: CertificateCheck,
    ) -> Answer<Self> {
        let named = match roots {
            Roots::File(path) => files::chain(path)?,
            Roots::System | Roots::Unnamed => Vec::new(),
        };
        let roots = match (roots, check) {
            (Roots::File(_), _) => Arc::new(store(named.clone())),
            (_, CertificateCheck::Nothing) => Arc::new(RootCertStore::empty()),
            (Roots::System | Roots::Unnamed, _) => of_system()?,
        };
        Ok(Self { provider, roots, named, check })
    }

    /// Refuses a certificate that no authority signed and that is none of the named ones.
    fn check_authority(
        &self,
        shown: &CertificateDer<'_>,
        certificate: &ParsedCertificate<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        if self.named.iter().any(|named| named == shown) {
            return check_time(shown, now);
        }
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(
            certificate,
            &self.roots,
            intermediates,
            now,
            algorithms,
        )
    }
}

/// Refuses a certificate outside of its time.
fn check_time(shown: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let refused = |why| Err(Error::InvalidCertificate(why));
    match validity(shown) {
        None => refused(CertificateError::BadEncoding),
        Some((from_s, _)) if now.as_secs() < from_s => refused(CertificateError::NotValidYet),
        Some((_, until_s)) if now.as_secs() > until_s => refused(CertificateError::Expired),
        Some(_) => Ok(()),
    }
}

/// What cannot be read as an authority is left out: it signs nothing then.
fn store(certificates: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    store
}

/// The authorities of this system, read once.
fn of_system() -> Answer<Arc<RootCertStore>> {
    static SYSTEM: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let found =
        SYSTEM.get_or_init(|| Arc::new(store(rustls_native_certs::load_native_certs().certs)));
    if found.is_empty() {
        return Err(Failure::Unsafe {
            what: "this system has no trusted certificate authorities".to_owned(),
            hint: "specify a file of certificate authorities with sslrootcert=FILE, or install \
                   ca-certificates",
        });
    }
    Ok(Arc::clone(found))
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.check != CertificateCheck::Nothing {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            self.check_authority(end_entity, &certificate, intermediates, now)?;
            if self.check == CertificateCheck::AuthorityAndHost {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
