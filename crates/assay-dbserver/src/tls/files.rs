//! Certificates and keys in files in PEM form.
//!
//! Source: PostgreSQL documentation, "Client Certificates", for who may read a key.

use assay_model::failure::{Answer, Failure};
use rustix::process::geteuid;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// No file of authorities is as long; the bundle of a whole system has a quarter of a megabyte.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// All certificates of a file.
pub(super) fn chain(path: &Path) -> Answer<Vec<CertificateDer<'static>>> {
    let (text, _) = read(path)?;
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| broken(path, &error.to_string()))?;
    if certificates.is_empty() {
        return Err(broken(path, "it does not contain a certificate"));
    }
    Ok(certificates)
}

/// The key of a file that nobody else may read.
pub(super) fn key(path: &Path) -> Answer<PrivateKeyDer<'static>> {
    let (text, metadata) = read(path)?;
    if !is_private(&metadata, geteuid().as_raw()) {
        return Err(Failure::Unsafe {
            what: format!("other users can read the key {}", path.display()),
            hint: "run chmod 600 on it; 640 is allowed if root owns it",
        });
    }
    PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| broken(path, "it does not contain an unencrypted key"))
}

/// Whether nobody but its owner reads a secret, or the group of one of root's.
pub(super) fn is_private(metadata: &Metadata, user: u32) -> bool {
    let others = if metadata.uid() == 0 && user != 0 { 0o037 } else { 0o077 };
    metadata.mode() & others == 0
}

/// A plain file of bounded length; a pipe is not waited for.
fn read(path: &Path) -> Answer<(Vec<u8>, Metadata)> {
    let failed = |error: std::io::Error| broken(path, &error.to_string());
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(no_wait).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Err(broken(path, "it is not a regular file of up to 8 MiB"));
    }
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut text).map_err(failed)?;
    Ok((text, metadata))
}

fn broken(path: &Path, why: &str) -> Failure {
    Failure::Unsafe {
        what: format!("reading {}: {why}", path.display()),
        hint: "specify a readable file in PEM form",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn keys_that_others_may_read_are_refused() {
        let made = rcgen::generate_simple_self_signed(vec!["db.test".to_owned()]).unwrap();
        let path = std::env::temp_dir().join(format!("assay-key-{}", std::process::id()));
        std::fs::write(&path, made.signing_key.serialize_pem()).unwrap();
        let mode = |bits| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
        };
        mode(0o644);
        assert!(key(&path).unwrap_err().to_string().contains("other users can read"));
        mode(0o600);
        assert!(key(&path).is_ok());
        assert!(chain(&path).unwrap_err().to_string().contains("not contain a certificate"));
        std::fs::write(&path, made.cert.pem()).unwrap();
        assert_eq!(chain(&path).unwrap().len(), 1);
        assert!(key(&path).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(chain(&path).is_err() && chain(Path::new("/dev/zero")).is_err());
    }
}
