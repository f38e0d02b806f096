//! The lock on an Assay file: taken within half a second or not at all, and given back with the
//! value that took it.

use super::refusal::FileRefusal;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::sleep;
use std::time::Duration;

/// A program that only looks whether a file may be written holds the lock for a moment, and hosts
/// of one run look together: it is tried so often, with this pause.
const TRIES: u32 = 25;
const PAUSE: Duration = Duration::from_millis(20);

/// An open file that gives its lock back, if it took one, when it goes. Closing it would not be
/// enough: a program that another thread starts at that moment holds a copy of every descriptor
/// until it runs, and with it the lock.
#[derive(Debug)]
pub(super) struct LockedFile(File);

impl LockedFile {
    /// As [`lock`](Self::lock), where the answer must be sure: what cannot be locked may be in use
    /// by anybody.
    pub(super) fn lock_surely(&self) -> Result<(), FileRefusal> {
        match self.take() {
            Ok(()) => Ok(()),
            Err(Errno::WOULDBLOCK) => Err(FileRefusal::Locked),
            Err(error) => {
                Err(FileRefusal::NoLocks { reason: std::io::Error::from(error).to_string() })
            }
        }
    }

    /// Two runs never write to the same file. A file system without locks cannot report another
    /// user.
    pub(super) fn lock(&self) -> Result<(), FileRefusal> {
        match self.take() {
            Err(Errno::WOULDBLOCK) => Err(FileRefusal::Locked),
            _ => Ok(()),
        }
    }

    fn take(&self) -> Result<(), Errno> {
        // The last try is after the loop, because no pause follows it.
        for _ in 1..TRIES {
            match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => sleep(PAUSE),
                done => return done,
            }
        }
        flock(&self.0, FlockOperation::NonBlockingLockExclusive)
    }
}

impl From<File> for LockedFile {
    fn from(file: File) -> Self {
        Self(file)
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl AsFd for LockedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // What was never locked cannot be unlocked, which is as well.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_looks_is_waited_for() {
        let path = std::env::temp_dir().join(format!("assay-gate-look-{}", std::process::id()));
        File::create(&path).unwrap();
        let open = || LockedFile::from(File::options().read(true).open(&path).unwrap());
        let first = open();
        first.lock_surely().unwrap();
        let looking = std::thread::spawn(move || {
            sleep(2 * PAUSE);
            drop(first);
        });
        assert!(open().lock_surely().is_ok());
        looking.join().unwrap();
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_lock_goes_with_its_owner_though_a_copy_of_the_descriptor_stays() {
        let path = std::env::temp_dir().join(format!("assay-gate-lock-{}", std::process::id()));
        let open = || LockedFile::from(File::options().read(true).open(&path).unwrap());
        File::create(&path).unwrap();
        let first = open();
        first.lock().unwrap();
        let copy = first.try_clone().unwrap();
        assert!(matches!(open().lock(), Err(FileRefusal::Locked)));
        drop(first);
        assert!(open().lock().is_ok());
        drop(copy);
        std::fs::remove_file(path).unwrap();
    }
}
