//! A log of everything that was written to a device, in the form of the kernel's `dm-log-writes`,
//! which `replay-log` and qemu's `blklogwrites` use, too.
//!
//! The first sector holds magic, version, number of entries and bytes of a sector; each entry is a
//! sector with four numbers (sector, sectors, flags, length of a mark), then its data. Source:
//! `drivers/md/dm-log-writes.c` of Linux.

use assay_model::number::{count_of, index_of};
use assay_model::{Error, Result};
use std::ops::Range;

const MAGIC: u64 = 0x006a_7366_7773_6872;
const VERSION: u64 = 1;
const FLUSH: u64 = 1;
const FUA: u64 = 1 << 1;
const DISCARD: u64 = 1 << 2;
const MARK: u64 = 1 << 3;
const HEADER_BYTES: usize = 32;
/// What other programs call a sector, and the smallest they have.
const SECTOR_BYTES: u64 = 512;

/// Everything that was written to a device, in the order of completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteLog {
    bytes: Vec<u8>,
    sector_bytes: u64,
    entries: Vec<LogEntry>,
    missing_entries: u64,
}

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Where on the device it begins.
    pub start_byte: u64,
    /// Bytes written or discarded.
    pub length_bytes: u64,
    flags: u64,
    data: Range<usize>,
}

impl LogEntry {
    /// Whether what completed before was made durable first.
    pub const fn is_flush(&self) -> bool {
        self.flags & FLUSH != 0
    }

    /// Whether it was durable itself when it completed.
    pub const fn is_fua(&self) -> bool {
        self.flags & FUA != 0
    }

    /// Whether it says that the content may go.
    pub const fn is_discard(&self) -> bool {
        self.flags & DISCARD != 0
    }

    /// Whether it is a mark that a person or a test set, with nothing written.
    pub const fn is_mark(&self) -> bool {
        self.flags & MARK != 0
    }

    /// Whether it writes data.
    pub const fn is_write(&self) -> bool {
        self.flags & (DISCARD | MARK) == 0 && self.length_bytes > 0
    }
}

impl WriteLog {
    /// An empty log.
    pub fn new() -> Self {
        let mut bytes = vec![0; index_of(SECTOR_BYTES)];
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&VERSION.to_le_bytes());
        bytes[24..32].copy_from_slice(&SECTOR_BYTES.to_le_bytes());
        Self { bytes, sector_bytes: SECTOR_BYTES, entries: Vec::new(), missing_entries: 0 }
    }

    /// Reads a log. One that was cut off ends with its last whole entry.
    ///
    /// # Errors
    /// A usage error when it is not a log of a known version, or an entry contradicts itself.
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        let (Some(MAGIC), Some(version)) = (long(&bytes, 0), long(&bytes, 8)) else {
            return Err(refusal("it does not start like a log of dm-log-writes"));
        };
        if version != VERSION {
            return Err(refusal(&format!("it has version {version}; only version 1 is supported")));
        }
        let declared = long(&bytes, 16).unwrap_or(0);
        let sector_bytes = long(&bytes, 24).unwrap_or(0) & 0xffff_ffff;
        if !sector_bytes.is_power_of_two() || !(SECTOR_BYTES..=65_536).contains(&sector_bytes) {
            return Err(refusal(&format!("its sectors have {sector_bytes} bytes")));
        }
        let mut log = Self { bytes, sector_bytes, entries: Vec::new(), missing_entries: 0 };
        let mut at = index_of(sector_bytes);
        while count_of(log.entries.len()) < declared {
            let Some(entry) = log.entry(at)? else { break };
            at = entry.data.end;
            log.entries.push(entry);
        }
        log.missing_entries = declared - count_of(log.entries.len());
        Ok(log)
    }

    /// The entry at a byte; `None` where the log ends before its end.
    fn entry(&self, at: usize) -> Result<Option<LogEntry>> {
        let numbers = [0, 8, 16].map(|offset| long(&self.bytes, at + offset));
        let [Some(sector), Some(sectors), Some(flags)] = numbers else { return Ok(None) };
        let bytes = |sectors: u64| sectors.checked_mul(self.sector_bytes);
        let end =
            bytes(sector).zip(bytes(sectors)).and_then(|(start, length)| start.checked_add(length));
        let (Some(start_byte), Some(length_bytes), Some(_)) = (bytes(sector), bytes(sectors), end)
        else {
            let place = self.entries.len();
            return Err(refusal(&format!("entry {place} lies beyond every device")));
        };
        let data = at + index_of(self.sector_bytes);
        let kept = if flags & DISCARD == 0 { index_of(length_bytes) } else { 0 };
        let end = data.checked_add(kept).filter(|end| *end <= self.bytes.len());
        Ok(end.map(|end| LogEntry { start_byte, length_bytes, flags, data: data..end }))
    }

    /// The entries, in the order of completion.
    pub fn entries(&self) -> &[LogEntry] {
        &self.entries
    }

    /// Entries that the head of the log promises and that are not there.
    pub const fn missing_entries(&self) -> u64 {
        self.missing_entries
    }

    /// What an entry wrote.
    pub fn data(&self, entry: &LogEntry) -> &[u8] {
        &self.bytes[entry.data.clone()]
    }

    /// The log as a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a write that completed; `is_fua` where it was durable itself.
    ///
    /// # Panics
    /// When the place or the length is not a multiple of a sector.
    pub fn push_write(&mut self, start_byte: u64, data: &[u8], is_fua: bool) {
        self.push(start_byte, count_of(data.len()), if is_fua { FUA } else { 0 }, data);
    }

    /// Adds a flush that completed.
    pub fn push_flush(&mut self) {
        self.push(0, 0, FLUSH, &[]);
    }

    fn push(&mut self, start_byte: u64, length_bytes: u64, flags: u64, data: &[u8]) {
        let whole = |bytes: u64| {
            assert!(
                bytes.is_multiple_of(self.sector_bytes),
                "{bytes} B is not a whole number of sectors"
            );
            bytes / self.sector_bytes
        };
        let at = self.bytes.len();
        let numbers = [whole(start_byte), whole(length_bytes), flags, 0];
        self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self.bytes.resize(at + index_of(self.sector_bytes), 0);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(data);
        let data = start..self.bytes.len();
        self.entries.push(LogEntry { start_byte, length_bytes, flags, data });
        let entries = count_of(self.entries.len());
        self.bytes[16..24].copy_from_slice(&entries.to_le_bytes());
    }
}

impl Default for WriteLog {
    fn default() -> Self {
        Self::new()
    }
}

fn refusal(what: &str) -> Error {
    Error::usage(
        format!("the write log cannot be read: {what}"),
        "record one with dm-log-writes, or with qemu's blklogwrites driver",
    )
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(HEADER_BYTES / 4)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log() -> WriteLog {
        let mut log = WriteLog::new();
        log.push_write(4096, &[1; 1024], false);
        log.push_flush();
        log.push_write(0, &[2; 512], true);
        log
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let read = WriteLog::parse(log().bytes().to_vec()).unwrap();
        assert_eq!(read, log());
        let entries = read.entries();
        assert_eq!((entries[0].start_byte, read.data(&entries[0])), (4096, &[1; 1024][..]));
        assert!(entries[1].is_flush() && !entries[1].is_write() && entries[2].is_fua());
    }

    /// The bytes of the kernel's own form, written down by hand: a mark, a discard, and a write
    /// with 4 KiB sectors.
    #[test]
    fn other_entries_and_sectors_are_read() {
        let mut bytes = vec![0; 4096 * 5];
        let mut put =
            |at: usize, number: u64| bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let head = [(0, MAGIC), (8, 1), (16, 3), (24, 4096)];
        let mark = [(4096 + 16, 8), (4096 + 24, 4)];
        let discard = [(8192, 5), (8192 + 8, 100), (8192 + 16, 4)];
        let write = [(12_288, 7), (12_288 + 8, 1), (12_288 + 16, 16)];
        for (at, number) in head.into_iter().chain(mark).chain(discard).chain(write) {
            put(at, number);
        }
        let log = WriteLog::parse(bytes).unwrap();
        let [mark, discard, write] = log.entries() else { panic!("{:?}", log.entries()) };
        assert!(mark.is_mark() && !mark.is_write());
        assert!(discard.is_discard() && discard.length_bytes == 409_600);
        assert_eq!((write.start_byte, log.data(write).len()), (28_672, 4096));
    }

    #[test]
    fn a_log_that_was_cut_off_ends_with_its_last_whole_entry() {
        let whole = log();
        let cut = whole.bytes()[..whole.bytes().len() - 1].to_vec();
        let read = WriteLog::parse(cut).unwrap();
        assert_eq!((read.entries().len(), read.missing_entries()), (2, 1));
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let parse = |bytes: &[u8]| WriteLog::parse(bytes.to_vec()).unwrap_err().to_string();
        assert!(parse(b"").contains("does not start"));
        assert!(parse(&[7; 4096]).contains("does not start"));
        let mut newer = log().bytes().to_vec();
        newer[8] = 2;
        assert!(parse(&newer).contains("version 2"));
        let mut odd = log().bytes().to_vec();
        odd[24..28].copy_from_slice(&[3, 0, 0, 0]);
        assert!(parse(&odd).contains("3 bytes"));
        let mut far = log().bytes().to_vec();
        far[512..520].fill(0xff);
        assert!(parse(&far).contains("entry 0"));
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(mut bytes in prop::collection::vec(any::<u8>(), 512..4096), real in any::<bool>()) {
            if real {
                bytes[..512].copy_from_slice(&WriteLog::new().bytes()[..512]);
                bytes[16..24].copy_from_slice(&9u64.to_le_bytes());
            }
            if let Ok(log) = WriteLog::parse(bytes) {
                let written: usize = log.entries().iter().map(|entry| log.data(entry).len()).sum();
                prop_assert!(written <= log.bytes().len());
            }
        }
    }
}
