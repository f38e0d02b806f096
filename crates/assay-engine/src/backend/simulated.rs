//! A simulated device under the workers, in virtual time: exact, repeatable, and faster than the
//! clock on the wall.

use super::{BackendIo, BackendWait, Completion, IoBackend};
use crate::device::{Device, DeviceIo};
use assay_integrity::{SimulatedContent, WriteStamp};
use assay_model::Result;
use assay_model::device::DataLoss;
use assay_model::measurement::Operation;
use assay_model::number::index_of;
use std::cell::RefCell;
use std::rc::Rc;

/// The device, its clock and what has completed but was not reaped, shared by all workers of a
/// simulation.
pub struct SimulationState {
    now_ns: u64,
    device: Box<dyn Device>,
    ready: Vec<Vec<Completion>>,
    done: Vec<(u64, i32)>,
    /// What the device holds, where somebody compares it.
    content: Option<SimulatedContent>,
    losses: Vec<DataLoss>,
}

impl SimulationState {
    /// A device with what it holds, and the time it is, for a number of workers.
    pub fn new(
        device: Box<dyn Device>,
        content: Option<SimulatedContent>,
        workers: usize,
        now_ns: u64,
    ) -> Self {
        let ready = vec![Vec::new(); workers];
        Self { now_ns, device, ready, done: Vec::new(), content, losses: Vec::new() }
    }

    /// Virtual time since the world began.
    pub const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The device and what it holds back, with all their traces.
    pub fn into_device(self) -> (Box<dyn Device>, Option<SimulatedContent>) {
        (self.device, self.content)
    }

    /// Hands an I/O over to the device; gives it with its number.
    fn submit(&mut self, tag: u64, io: DeviceIo) -> DeviceIo {
        let number = self.content.as_mut().map_or(0, SimulatedContent::next_number);
        let io = DeviceIo { number, ..io };
        self.device.submit(self.now_ns, tag, io);
        self.take_losses();
        io
    }

    fn take_losses(&mut self) {
        if let Some(content) = &mut self.content {
            self.device.losses(&mut self.losses);
            content.take(&mut self.losses);
        }
    }

    /// Moves the clock on, from event to event within the device, until something completes or
    /// `limit_ns` is reached; marks the workers that got something. Gives the time; `None` when
    /// nothing will ever happen.
    pub fn advance_until(&mut self, limit_ns: Option<u64>, due: &mut [bool]) -> Option<u64> {
        loop {
            let event_ns = self.device.next_event_ns();
            let to_ns = event_ns.into_iter().chain(limit_ns).min()?;
            self.now_ns = self.now_ns.max(to_ns);
            self.device.advance(self.now_ns, &mut self.done);
            self.take_losses();
            if !self.done.is_empty() || limit_ns.is_some_and(|limit_ns| to_ns >= limit_ns) {
                self.hand_out(due);
                return Some(to_ns);
            }
        }
    }

    /// Gives what completed to the workers that wait for it.
    fn hand_out(&mut self, due: &mut [bool]) {
        for (tag, result) in self.done.drain(..) {
            let [slot, worker] = split(tag);
            due[worker as usize] = true;
            self.ready[worker as usize].push(Completion { slot, result, stamps_ns: None });
        }
    }
}

/// Slot and worker in one number.
const fn tag(worker: u32, slot: u32) -> u64 {
    (worker as u64) << 32 | slot as u64
}

fn split(tag: u64) -> [u32; 2] {
    let bytes = tag.to_le_bytes();
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    [word(0), word(4)]
}

/// One worker's door to the world.
pub struct SimulatedBackend {
    world: Rc<RefCell<SimulationState>>,
    worker: u32,
    queued: Vec<BackendIo>,
    buffers: Vec<Vec<u8>>,
    /// What is under way in each slot, with the stamps of a write; where nobody compares, nobody
    /// asks.
    flying: Vec<(DeviceIo, Vec<WriteStamp>)>,
    block_bytes: Option<usize>,
}

impl SimulatedBackend {
    /// The door of a worker; where content is kept its blocks have `block_bytes`.
    pub fn new(
        world: Rc<RefCell<SimulationState>>,
        worker: u32,
        slots: u32,
        slot_bytes: usize,
        block_bytes: Option<u64>,
    ) -> Self {
        let block_bytes = block_bytes.map(index_of);
        // Where nobody compares, all slots share one buffer.
        let slots = if block_bytes.is_some() { slots as usize } else { 1 };
        Self {
            world,
            worker,
            queued: Vec::new(),
            buffers: vec![vec![0; slot_bytes]; slots],
            flying: vec![(DeviceIo::read(0, 0), Vec::new()); slots],
            block_bytes,
        }
    }

    /// The stamps that the blocks of a write carry.
    fn stamps(&self, io: &BackendIo, block_bytes: usize) -> Vec<WriteStamp> {
        if io.operation != Operation::Write {
            return Vec::new();
        }
        let data = &self.buffers[io.slot as usize][..io.bytes as usize];
        data.chunks_exact(block_bytes).filter_map(WriteStamp::read).collect()
    }

    /// Lets what was written be held, and what was read be found in the buffer.
    fn move_data(&mut self, completion: &Completion) {
        let (io, stamps) = &self.flying[completion.slot as usize];
        let mut world = self.world.borrow_mut();
        let Some(content) = &mut world.content else { return };
        if completion.result != io.moved() {
            return;
        }
        match io.operation {
            Operation::Write => content.write(io, stamps),
            Operation::Read => {
                let buffer = &mut self.buffers[completion.slot as usize];
                content.read(io, &mut buffer[..io.bytes as usize]);
            }
            Operation::Sync => {}
        }
    }
}

impl IoBackend for SimulatedBackend {
    fn now_ns(&self) -> u64 {
        self.world.borrow().now_ns
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let slot = if self.block_bytes.is_some() { slot as usize } else { 0 };
        &mut self.buffers[slot]
    }

    fn keeps_data(&self) -> bool {
        self.block_bytes.is_some()
    }

    fn push(&mut self, io: &BackendIo) {
        self.queued.push(*io);
    }

    fn enter(&mut self, _wait: BackendWait) -> Result<()> {
        // Its memory is used again in the next turn.
        let mut queued = std::mem::take(&mut self.queued);
        for io in queued.drain(..) {
            let BackendIo { operation, target, offset, bytes, slot, .. } = io;
            let request = DeviceIo { operation, target, offset, bytes, number: 0 };
            let stamps = self.block_bytes.map(|block_bytes| self.stamps(&io, block_bytes));
            let submitted = self.world.borrow_mut().submit(tag(self.worker, slot), request);
            if let Some(stamps) = stamps {
                self.flying[slot as usize] = (submitted, stamps);
            }
        }
        self.queued = queued;
        Ok(())
    }

    fn reap(&mut self, completed: &mut Vec<Completion>) {
        let begin = completed.len();
        completed.append(&mut self.world.borrow_mut().ready[self.worker as usize]);
        if self.block_bytes.is_some() {
            completed[begin..].iter().for_each(|completion| self.move_data(completion));
        }
    }
}
