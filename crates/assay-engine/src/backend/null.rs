//! Completes everything at once: what is left is the cost of the tool itself.

use super::{BackendIo, BackendWait, Completion, IoBackend};
use crate::stamp_clock::StampClock;
use crate::sys::Buffers;
use assay_model::{Error, Result};

/// A device of no work.
#[derive(Debug)]
pub struct NullBackend {
    buffers: Buffers,
    clock: StampClock,
    queued: Vec<Completion>,
    enters: u64,
}

impl NullBackend {
    /// A null device with `slots` buffers of `slot_bytes`.
    ///
    /// # Errors
    /// When memory is short.
    pub fn new(slots: usize, slot_bytes: usize) -> Result<Self> {
        Ok(Self {
            buffers: buffers(slots, slot_bytes)?,
            clock: StampClock::new(),
            queued: Vec::with_capacity(slots),
            enters: 0,
        })
    }
}

/// Buffers, or an error that says how much was asked for.
pub(super) fn buffers(slots: usize, slot_bytes: usize) -> Result<Buffers> {
    Buffers::new(slots, slot_bytes).map_err(|error| {
        Error::environment(
            format!("reserving {slots} buffers of {slot_bytes} bytes: {error}"),
            "use a lower queue depth or a smaller block size",
        )
    })
}

impl IoBackend for NullBackend {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot as usize)
    }

    fn push(&mut self, io: &BackendIo) {
        let result = i32::try_from(io.bytes).unwrap_or(i32::MAX);
        self.queued.push(Completion { slot: io.slot, result, stamps_ns: None });
    }

    fn enter(&mut self, wait: BackendWait) -> Result<()> {
        self.enters += 1;
        if let (true, BackendWait::Until(Some(until_ns))) = (self.queued.is_empty(), wait) {
            let pause_ns = until_ns.saturating_sub(self.now_ns()).min(super::TICK_NS);
            std::thread::sleep(std::time::Duration::from_nanos(pause_ns));
        }
        Ok(())
    }

    fn reap(&mut self, completed: &mut Vec<Completion>) {
        completed.append(&mut self.queued);
    }

    fn enters(&self) -> u64 {
        self.enters
    }

    fn features(&self) -> Vec<String> {
        self.clock.feature().into_iter().collect()
    }
}
