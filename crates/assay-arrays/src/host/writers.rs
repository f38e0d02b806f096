//! The background writers of a host: dirty blocks go out behind the sessions, redo goes out in one
//! write at a time.

use assay_model::array::SessionLoad;
use assay_model::number::count_of;
use std::collections::VecDeque;

/// Space that the log goes round in.
pub const LOG_BYTES: u64 = 4 << 30;

/// The largest write of the log writer.
const LOG_WRITE_MAX: u64 = 1 << 20;

/// Redo is written in whole blocks of the log.
const LOG_BLOCK: u64 = 512;

/// Dirty blocks of a buffer cache, and the writers that clean them.
#[derive(Debug)]
pub struct DataWriters {
    dirty: u64,
    dirty_max: u64,
    begun_ns: Vec<u64>,
    free: Vec<u32>,
    waiting: VecDeque<(usize, u32, u64)>,
}

impl DataWriters {
    /// Writers as the load describes them, nothing dirty.
    pub fn new(load: &SessionLoad) -> Self {
        Self {
            dirty: 0,
            dirty_max: u64::from(load.dirty_max),
            begun_ns: vec![0; load.writer_depth as usize],
            free: (0..load.writer_depth).rev().collect(),
            waiting: VecDeque::new(),
        }
    }

    /// Whether the cache has no room for more dirty blocks, or others wait already.
    pub fn is_full(&self) -> bool {
        self.dirty + count_of(self.flying()) >= self.dirty_max || !self.waiting.is_empty()
    }

    fn flying(&self) -> usize {
        self.begun_ns.len() - self.free.len()
    }

    /// Makes blocks dirty.
    pub fn soil(&mut self, blocks: u32) {
        self.dirty += u64::from(blocks);
    }

    /// A session waits for room.
    pub fn wait(&mut self, session: usize, blocks: u32, now_ns: u64) {
        self.waiting.push_back((session, blocks, now_ns));
    }

    /// Starts a write, if there is a dirty block and a writer: its slot.
    pub fn start(&mut self, now_ns: u64) -> Option<u32> {
        if self.dirty == 0 {
            return None;
        }
        let slot = self.free.pop()?;
        self.dirty -= 1;
        self.begun_ns[slot as usize] = now_ns;
        Some(slot)
    }

    /// A write has ended; gives when it began.
    pub fn end(&mut self, slot: usize) -> u64 {
        self.free.push(u32::try_from(slot).unwrap_or(0));
        self.begun_ns[slot]
    }

    /// A session that waited and has room now, with when its wait began.
    pub fn admit(&mut self) -> Option<(usize, u64)> {
        if self.dirty + count_of(self.flying()) >= self.dirty_max {
            return None;
        }
        let (session, blocks, since_ns) = self.waiting.pop_front()?;
        self.soil(blocks);
        Some((session, since_ns))
    }
}

/// Redo that waits, and the one write that is under way.
#[derive(Debug)]
pub struct SimulatedLogWriter {
    copies: u32,
    left: u32,
    is_resting: bool,
    begun_ns: u64,
    bytes: u64,
    pending_bytes: u64,
    at: u64,
    waiting: Vec<(usize, u64)>,
    writing: Vec<(usize, u64)>,
}

impl SimulatedLogWriter {
    /// A log writer as the load describes it.
    pub const fn new(load: &SessionLoad) -> Self {
        Self {
            copies: load.log_copies,
            left: 0,
            is_resting: false,
            begun_ns: 0,
            bytes: 0,
            pending_bytes: 0,
            at: 0,
            waiting: Vec::new(),
            writing: Vec::new(),
        }
    }

    /// Adds redo, and the session that waits for it with when its wait began.
    pub fn append(&mut self, bytes: u64, waiter: Option<(usize, u64)>) {
        self.pending_bytes += bytes;
        self.waiting.extend(waiter);
    }

    /// Starts a write of what has gathered, if none is under way: offset in the log, and bytes.
    pub fn start(&mut self, now_ns: u64) -> Option<(u64, u32)> {
        if self.left > 0 || self.is_resting || self.pending_bytes == 0 {
            return None;
        }
        let bytes = self.pending_bytes.min(LOG_WRITE_MAX);
        let written = bytes.next_multiple_of(LOG_BLOCK);
        self.pending_bytes -= bytes;
        (self.left, self.begun_ns, self.bytes) = (self.copies, now_ns, written);
        self.writing.append(&mut self.waiting);
        let offset = self.at;
        self.at = (self.at + written) % LOG_BYTES;
        Some((offset, u32::try_from(written).unwrap_or(u32::MAX)))
    }

    /// One copy is written; when all are, gives when the write began, and its bytes.
    pub fn end_one(&mut self) -> Option<(u64, u64)> {
        self.left = self.left.saturating_sub(1);
        self.is_resting = self.left == 0;
        self.is_resting.then_some((self.begun_ns, self.bytes))
    }

    /// The next write may start.
    pub const fn rest_is_over(&mut self) {
        self.is_resting = false;
    }

    /// The sessions whose redo has been written.
    pub fn take_written(&mut self) -> Vec<(usize, u64)> {
        std::mem::take(&mut self.writing)
    }
}
