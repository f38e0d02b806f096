//! No bytes make the readers of packed files fail, and what they unpack stays within its bound.
#![no_main]

use assay_archives::packed::{gunzip, zip_members};

/// More than an input of the fuzzer unpacks to by chance.
const UNPACKED_BYTES_MAX: usize = 1 << 20;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = gunzip(bytes, UNPACKED_BYTES_MAX) {
        assert!(text.len() <= UNPACKED_BYTES_MAX);
    }
    for member in zip_members(bytes).unwrap_or_default() {
        if let Ok(text) = member.unpacked(UNPACKED_BYTES_MAX) {
            assert!(text.len() <= UNPACKED_BYTES_MAX);
        }
    }
});
