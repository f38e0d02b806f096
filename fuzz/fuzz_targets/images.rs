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

/// Copies the part of some content that a read of these bytes meets.
fn copy(content: &[u8], content_at: u64, buffer: &mut [u8], read_at: u64) {
    for (byte, at) in content.iter().zip(content_at..) {
        let place = at.checked_sub(read_at).and_then(|place| usize::try_from(place).ok());
        if let Some(into) = place.and_then(|place| buffer.get_mut(place)) {
            *into = *byte;
        }
    }
}

impl Image for Disk<'_> {
    fn size(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        assert!(end.is_some_and(|end| end <= self.size_bytes), "a read behind the end");
        buffer.fill(0);
        copy(self.begin, 0, buffer, offset);
        copy(self.end, self.size_bytes - self.end.len() as u64, buffer, offset);
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
