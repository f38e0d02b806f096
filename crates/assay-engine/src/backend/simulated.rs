//! A simulated device under the workers, in virtual time: exact, repeatable, and faster than the clock on the wall.

use super::{Backend, Completion, Io, Wait};
use crate::device::{Device, DeviceIo};
use assay_model::Result;
use std::cell::RefCell;
use std::rc::Rc;

/// The device, its clock and what has completed but was not reaped, shared by all workers of a simulation.
pub struct SimulationState {
    now_ns: u64,
    device: Box<dyn Device>,
    ready: Vec<Vec<Completion>>,
    done: Vec<(u64, i32)>,
}

impl SimulationState {
    /// A device and the time it is, for a number of workers.
    pub fn new(device: Box<dyn Device>, workers: usize, now_ns: u64) -> Self {
        Self { now_ns, device, ready: vec![Vec::new(); workers], done: Vec::new() }
    }

    /// Virtual time since the world began.
    pub const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The device back, with all its traces.
    pub fn into_device(self) -> Box<dyn Device> {
        self.device
    }

    /// Moves the clock on, from event to event within the device, until something completes or `limit_ns` is reached;
    /// marks the workers that got something. Gives the time; `None` when nothing will ever happen.
    pub fn advance_until(&mut self, limit_ns: Option<u64>, due: &mut [bool]) -> Option<u64> {
        loop {
            let event_ns = self.device.next_event_ns();
            let to_ns = event_ns.into_iter().chain(limit_ns).min()?;
            self.now_ns = self.now_ns.max(to_ns);
            self.device.advance(self.now_ns, &mut self.done);
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
    queued: Vec<Io>,
    scratch: Vec<u8>,
}

impl SimulatedBackend {
    /// The door of a worker.
    pub fn new(world: Rc<RefCell<SimulationState>>, worker: u32, slot_bytes: usize) -> Self {
        Self { world, worker, queued: Vec::new(), scratch: vec![0; slot_bytes] }
    }
}

impl Backend for SimulatedBackend {
    fn now_ns(&self) -> u64 {
        self.world.borrow().now_ns
    }

    /// All slots share one buffer: a simulated device stores nothing.
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut self.scratch
    }

    fn keeps_data(&self) -> bool {
        false
    }

    fn push(&mut self, io: &Io) {
        self.queued.push(*io);
    }

    fn enter(&mut self, _wait: Wait) -> Result<()> {
        let mut world = self.world.borrow_mut();
        let now_ns = world.now_ns;
        for io in self.queued.drain(..) {
            let request = DeviceIo {
                operation: io.operation,
                target: io.target,
                offset: io.offset,
                bytes: io.bytes,
            };
            world.device.submit(now_ns, tag(self.worker, io.slot), request);
        }
        Ok(())
    }

    fn reap(&mut self, completed: &mut Vec<Completion>) {
        completed.append(&mut self.world.borrow_mut().ready[self.worker as usize]);
    }
}
