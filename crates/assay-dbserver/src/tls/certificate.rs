//! What binds a proof to the way that it travels on: the hash of the server's certificate.
//!
//! Sources: RFC 5929, section 4 (`tls-server-end-point`); RFC 5280 and X.690 for the form of a
//! certificate; RFC 4055 and RFC 5758 for the names of signatures.

use sha2::{Digest, Sha256, Sha384, Sha512};

/// The tag of a sequence, and that of a name.
const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
/// 1.2.840.113549.1.1: signatures with RSA; the last number identifies the hash.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// 1.2.840.10045.4: signatures with elliptic curves; the last numbers identify the hash.
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];

/// The hash of a certificate, by the function that its signature uses; SHA-256 in place of weaker
/// ones. None where the signature has no function of its own, as those of Ed25519: no binding is
/// defined for them.
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let name = signature_name(certificate)?;
    let last = match (name.strip_prefix(RSA), name.strip_prefix(ECDSA)) {
        // MD5, SHA-1, SHA-256, SHA-384, SHA-512.
        (Some([last]), _) => *last,
        (_, Some([1])) => 5,
        // ecdsa-with-SHA256, -SHA384, -SHA512 are 3.2, 3.3, 3.4.
        (_, Some([3, last])) => *last + 9,
        _ => return None,
    };
    match last {
        4 | 5 | 11 => Some(Sha256::digest(certificate).to_vec()),
        12 => Some(Sha384::digest(certificate).to_vec()),
        13 => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// A certificate is a sequence of what is signed, the name of the signature, and the signature.
fn signature_name(certificate: &[u8]) -> Option<&[u8]> {
    let (whole, _) = value(certificate, SEQUENCE)?;
    let (_, rest) = value(whole, SEQUENCE)?;
    let (algorithm, _) = value(rest, SEQUENCE)?;
    value(algorithm, OBJECT).map(|(name, _)| name)
}

/// The value of an element with this tag, and what follows it.
fn value(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<2>()?;
    if head[0] != tag {
        return None;
    }
    let (length, rest) = match head[1] {
        short @ 0..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signed_with(algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
        let parameters = rcgen::CertificateParams::new(vec!["db.test".to_owned()]).unwrap();
        parameters.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        for (algorithm, bytes) in
            [(&rcgen::PKCS_ECDSA_P256_SHA256, 32), (&rcgen::PKCS_ECDSA_P384_SHA384, 48)]
        {
            let certificate = signed_with(algorithm);
            assert_eq!(end_point(&certificate).map(|hash| hash.len()), Some(bytes));
        }
        assert_eq!(end_point(&signed_with(&rcgen::PKCS_ED25519)), None);
    }

    #[test]
    fn weak_functions_are_replaced() {
        let made = |last: u8| {
            let name = [&[OBJECT, 9], RSA, &[last]].concat();
            let algorithm = [&[SEQUENCE, 11], name.as_slice()].concat();
            [&[SEQUENCE, 15, SEQUENCE, 0], algorithm.as_slice()].concat()
        };
        for (last, bytes) in [(4, 32), (5, 32), (11, 32), (12, 48), (13, 64)] {
            assert_eq!(end_point(&made(last)).map(|hash| hash.len()), Some(bytes), "{last}");
        }
        // RSA with a function in its parameters (RSASSA-PSS) does not name a hash.
        assert_eq!(end_point(&made(10)), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), cut in 0_usize..400) {
            let _ = end_point(&bytes);
            let certificate = signed_with(&rcgen::PKCS_ECDSA_P256_SHA256);
            prop_assert!(cut >= certificate.len() || end_point(&certificate[..cut]).is_none());
        }
    }
}
