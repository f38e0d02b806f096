//! Encoded rows on their way to a server: whole rows that travel together.

use std::sync::mpsc::SyncSender;

/// A chunk of whole rows is sent when it has this many bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// Room for the row that exceeds it, bytes.
const ROOM_BYTES: usize = 20 << 10;

/// Whole rows in the form of the server, and how many they are.
pub type Chunk = (Vec<u8>, u64);

/// Gathers encoded rows into chunks.
#[derive(Debug)]
pub struct Chunks<'a> {
    /// The chunk that is being filled.
    pub(super) bytes: Vec<u8>,
    rows: u64,
    to: &'a SyncSender<Chunk>,
    is_over: bool,
}

impl<'a> Chunks<'a> {
    /// Chunks that go to `to`.
    pub(super) const fn new(to: &'a SyncSender<Chunk>) -> Self {
        Self { bytes: Vec::new(), rows: 0, to, is_over: false }
    }

    /// A row begins; the rows before it are whole.
    #[inline]
    pub(super) fn row(&mut self) {
        if self.bytes.len() >= CHUNK_BYTES {
            self.send();
        }
        self.rows += 1;
    }

    /// Whether the chunk that is being filled holds no row.
    pub(super) const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Sends what is there.
    pub(super) fn send(&mut self) {
        if self.rows == 0 {
            return;
        }
        let bytes =
            std::mem::replace(&mut self.bytes, Vec::with_capacity(CHUNK_BYTES + ROOM_BYTES));
        let rows = std::mem::take(&mut self.rows);
        self.is_over = self.is_over || self.to.send((bytes, rows)).is_err();
    }

    /// Whether nobody takes chunks any more.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }
}
