//! What is read of a server's certificate: the hash that binds a proof to the way that it travels
//! on, and the time in which it is valid.
//!
//! Sources: RFC 5929, section 4 (`tls-server-end-point`); RFC 5280 and X.690 for the form of a
//! certificate; RFC 4055 and RFC 5758 for the names of signatures.

use assay_model::calendar::unix_days;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The tag of a sequence, and that of a name.
const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
/// The tags of a version, of a number, and of times with two and with four digits of the year.
const VERSION: u8 = 0xa0;
const NUMBER: u8 = 0x02;
const SHORT_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
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

/// The first and the last second of the time in which a certificate is valid, since 1970.
pub(super) fn validity(certificate: &[u8]) -> Option<(u64, u64)> {
    let (whole, _) = value(certificate, SEQUENCE)?;
    let (signed, _) = value(whole, SEQUENCE)?;
    // Its version, which the first lacks; number, signature, issuer.
    let signed = value(signed, VERSION).map_or(signed, |(_, rest)| rest);
    let (_, signed) = value(signed, NUMBER)?;
    let (_, signed) = value(signed, SEQUENCE)?;
    let (_, signed) = value(signed, SEQUENCE)?;
    let (times, _) = value(signed, SEQUENCE)?;
    let (from_s, times) = moment_s(times)?;
    Some((from_s, moment_s(times)?.0))
}

/// A time as `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`, and what follows it.
fn moment_s(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let ((text, rest), has_century) = match value(bytes, LONG_TIME) {
        Some(found) => (found, true),
        None => (value(bytes, SHORT_TIME)?, false),
    };
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let digits = if has_century { 14 } else { 12 };
    if text.len() != digits || !text.bytes().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    let (year, text) = text.split_at(text.len() - 10);
    let pair = |at: usize| text.get(2 * at..2 * at + 2)?.parse::<u8>().ok();
    let year = match year.parse::<i32>().ok()? {
        year if has_century => year,
        year if year < 50 => 2000 + year,
        year => 1900 + year,
    };
    let day = unix_days(year, pair(0)?, pair(1)?)?;
    let second = i64::from(pair(2)?) * 3_600 + i64::from(pair(3)?) * 60 + i64::from(pair(4)?);
    Some((u64::try_from(day * 86_400 + second).unwrap_or(0), rest))
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

    #[test]
    fn a_certificate_says_when_it_is_valid() {
        let from_to = |from: i32, to: i32| {
            let key = rcgen::KeyPair::generate().unwrap();
            let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
            parameters.not_before = rcgen::date_time_ymd(from, 3, 1);
            parameters.not_after = rcgen::date_time_ymd(to, 1, 2);
            validity(parameters.self_signed(&key).unwrap().der())
        };
        // 1 March 2020 and 2 January 2049 and 2100, as `date -u +%s` has them.
        assert_eq!(from_to(2020, 2049), Some((1_583_020_800, 2_493_072_000 + 86_400)));
        assert_eq!(from_to(2020, 2100), Some((1_583_020_800, 4_102_531_200)));
        assert_eq!(validity(&[]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), cut in 0_usize..400) {
            let _ = (end_point(&bytes), validity(&bytes));
            let certificate = signed_with(&rcgen::PKCS_ECDSA_P256_SHA256);
            prop_assert!(cut >= certificate.len() || end_point(&certificate[..cut]).is_none());
            let _ = validity(&certificate[..cut.min(certificate.len())]);
        }
    }
}
