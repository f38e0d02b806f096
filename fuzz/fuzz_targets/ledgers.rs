//! No bytes make the reader of ledgers fail, and what it says of them adds up.
#![no_main]

use assay_ledger::Ledger;

const MAGIC: &[u8] = b"ASLEDG1\n";
const HEAD: &[u8] = br#"{"format":1,"ledger":"00000000000000000000000000000007","target":"/d","identity":"f","boot":"b","began_unix_ns":1,"subject":{"blocks":{"run":1,"block_bytes":4096,"first_byte":0,"length_bytes":1048576}}}"#;

fn frame(kind: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(0);
    let begin = [length.to_le_bytes(), kind.to_le_bytes()].concat();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&begin);
    hasher.update(content);
    [begin.as_slice(), &hasher.finalize().to_le_bytes(), content].concat()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let mut ledger = Vec::new();
    if first & 1 == 1 {
        // Whole frames of any content, behind a head that is right where the second bit says so.
        ledger.extend_from_slice(MAGIC);
        if first & 2 == 2 {
            ledger.extend(frame(1, HEAD));
        }
        for part in rest.split(|byte| *byte == b'~') {
            let (kind, content) = part.split_first().unwrap_or((&0, &[]));
            ledger.extend(frame(u32::from(kind % 5), content));
        }
    } else {
        ledger.extend_from_slice(rest);
    }
    let Ok(read) = Ledger::parse(&ledger) else { return };
    assert_eq!(read.whole_bytes + read.rest_bytes, ledger.len() as u64);
    assert!(!read.epochs.is_empty());
    let _ = (read.gap(), read.judgements());
});
