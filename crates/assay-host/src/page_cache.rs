//! Whether the page cache holds a part of a file, asked without waiting for storage.
//!
//! A read that must not wait (`RWF_NOWAIT`) answers also where `mincore` hides pages from all but
//! the owner. Where the pages are missing the kernel begins to read them all the same, and on a
//! fast device they may be there before it looks again: such a read succeeds, too. What the thread
//! was charged for meanwhile (`read_bytes` of `/proc/PID/io`) tells the two apart.

use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// The reads that the kernel charges the probing thread for.
pub(crate) struct CacheProbe {
    /// `None` where the kernel keeps no such account.
    account: Option<File>,
}

impl CacheProbe {
    /// A probe for the thread that makes it.
    pub(crate) fn new() -> Self {
        Self { account: File::open("/proc/thread-self/io").ok() }
    }

    /// Whether all of a buffer's length at `offset` is cached; `None` where the kernel or the file
    /// system does not tell. The buffer's content is undefined afterwards.
    pub(crate) fn holds(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Option<bool> {
        let length = buffer.len();
        let before_bytes = self.read_bytes();
        let answer =
            preadv2(file.as_fd(), &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT);
        match answer {
            Ok(read) => Some(read == length && before_bytes == self.read_bytes()),
            Err(Errno::AGAIN) => Some(false),
            Err(_) => None,
        }
    }

    /// Bytes that storage was asked for in the name of this thread.
    fn read_bytes(&self) -> Option<u64> {
        let mut text = [0; 512];
        let length = self.account.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = str::from_utf8(&text[..length]).ok()?;
        text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "a test says what it skipped")]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use rustix::fs::{OFlags, fcntl_setfl};

    const SIZE: usize = 1 << 20;

    fn written(scratch: &Scratch) -> File {
        let path = scratch.path().join("file");
        std::fs::write(&path, vec![7; SIZE]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        file
    }

    #[test]
    fn what_was_just_written_is_cached() {
        let scratch = Scratch::new("probe");
        let file = written(&scratch);
        match CacheProbe::new().holds(&file, 0, &mut [0; 4096]) {
            Some(cached) => assert!(cached),
            None => println!("skipped: this file system does not identify cached pages"),
        }
    }

    #[test]
    fn a_read_past_the_end_holds_nothing() {
        let scratch = Scratch::new("past");
        let file = written(&scratch);
        let answer = CacheProbe::new().holds(&file, SIZE as u64 - 4096, &mut [0; 8192]);
        assert_ne!(answer, Some(true));
    }

    #[test]
    fn reads_of_storage_are_charged() {
        let scratch = Scratch::new("charged");
        let file = written(&scratch);
        if fcntl_setfl(&file, OFlags::DIRECT).is_err() {
            println!("skipped: this file system has no direct I/O");
            return;
        }
        let probe = CacheProbe::new();
        let Some(before_bytes) = probe.read_bytes() else {
            println!("skipped: this kernel does not count reads");
            return;
        };
        let mut memory = vec![0; 3 * 4096];
        let start = memory.as_ptr().align_offset(4096);
        file.read_exact_at(&mut memory[start..start + 4096], 0).unwrap();
        let charged_bytes = probe.read_bytes().unwrap() - before_bytes;
        // A file system in memory is never charged.
        assert!(charged_bytes == 4096 || charged_bytes == 0, "{charged_bytes}");
    }
}
