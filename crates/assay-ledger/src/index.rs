//! The ledgers of a store and the last head of each, read incrementally.

use crate::frame::FrameKind;
use crate::frame_stream::FrameStream;
use crate::ledger::{LedgerHead, MAGIC};
use assay_model::number::count_of;
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Ending of the files.
pub(crate) const ENDING: &str = "ledger";

/// What is known of the ledgers of a store.
#[derive(Debug, Default)]
pub(crate) struct LedgerIndex {
    known: HashMap<PathBuf, IndexedLedger>,
}

/// What is known of one ledger.
#[derive(Clone, Debug)]
struct IndexedLedger {
    /// Bytes of whole frames that were read.
    whole_bytes: u64,
    /// The last of its heads.
    head: Option<LedgerHead>,
}

/// A ledger of the store, open for reading.
pub(crate) struct StoredLedger {
    pub(crate) file: File,
    /// Bytes that are whole.
    pub(crate) whole_bytes: u64,
}

impl LedgerIndex {
    /// The newest ledger of what is known by this.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn newest(
        &mut self,
        store: &Path,
        identity: &str,
    ) -> io::Result<Option<StoredLedger>> {
        let mut newest: Option<(u64, StoredLedger)> = None;
        for entry in std::fs::read_dir(store)? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != ENDING) {
                continue;
            }
            let Ok(file) = open(&path) else { continue };
            let known =
                self.known.entry(path).or_insert(IndexedLedger { whole_bytes: 0, head: None });
            if known.read_on(&file).is_err() {
                continue;
            }
            let Some(head) = &known.head else { continue };
            let began = head.began_unix_ns;
            let is_newer = newest.as_ref().is_none_or(|(before, _)| began > *before);
            if is_of(head, identity) && is_newer {
                newest = Some((began, StoredLedger { file, whole_bytes: known.whole_bytes }));
            }
        }
        Ok(newest.map(|(_, ledger)| ledger))
    }
}

/// Whether a ledger is about what is known by this: a test file or a device, or the directory of a
/// test file that is gone.
fn is_of(head: &LedgerHead, identity: &str) -> bool {
    head.identity == identity || head.directory.as_deref() == Some(identity)
}

/// A plain file of the store; who may write there may have put a pipe, a device or a link.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

impl IndexedLedger {
    fn read_on(&mut self, mut file: &File) -> io::Result<()> {
        if file.metadata()?.len() < self.whole_bytes {
            *self = Self { whole_bytes: 0, head: None };
        }
        file.seek(SeekFrom::Start(self.whole_bytes))?;
        let mut frames = FrameStream::new(BufReader::new(file.by_ref()));
        if self.whole_bytes == 0 {
            if !frames.takes(MAGIC)? {
                return Ok(());
            }
            self.whole_bytes = count_of(MAGIC.len());
        }
        while let Some((kind, content, length)) = frames.peek()? {
            if kind == FrameKind::Head {
                self.head = serde_json::from_slice(content).ok();
            }
            frames.skip(length);
            self.whole_bytes += count_of(length);
        }
        Ok(())
    }
}
