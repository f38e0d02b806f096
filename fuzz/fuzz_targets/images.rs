//! No content of a device makes the search for known data fail, and no bytes the reader of recorded write logs.
#![no_main]

use assay_host::signatures::{Image, recognise, sample};
use assay_integrity::WriteLog;
use std::io;

/// Content at the beginning and at the end of a device that is larger, as marks lie there.
struct Disk<'a> {
    begin: &'a [u8],
    end: &'a [u8],
    size_bytes: u64,
}

impl Disk<'_> {
    fn byte(&self, at: u64) -> u8 {
        let from_end = self.size_bytes - at;
        let length = self.end.len() as u64;
        let of = |bytes: &[u8], at: u64| {
            usize::try_from(at).ok().and_then(|at| bytes.get(at)).copied().unwrap_or(0)
        };
        if from_end <= length { of(self.end, length - from_end) } else { of(self.begin, at) }
    }
}

impl Image for Disk<'_> {
    fn size(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        assert!(end.is_some_and(|end| end <= self.size_bytes), "a read behind the end");
        for (byte, at) in buffer.iter_mut().zip(offset..) {
            *byte = self.byte(at);
        }
        Ok(())
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    if first & 1 == 1 {
        if let Ok(log) = WriteLog::parse(rest.to_vec()) {
            for entry in log.entries() {
                let _ = log.data(entry);
            }
        }
        return;
    }
    let (begin, end) = rest.split_at(rest.len() - rest.len() / 4);
    // From smaller than a mark to larger than all of them.
    let size_bytes = rest.len() as u64 + (1 << (first >> 3));
    let disk = Disk { begin, end, size_bytes };
    let _ = recognise(&disk);
    let _ = sample(&disk, 4, 7);
});
