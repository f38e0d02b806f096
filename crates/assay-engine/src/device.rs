//! Simulated devices with exactly known laws: the truth that methods are tested against.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

mod laws;
mod spec;
mod tiers;

pub use assay_model::device::{Device, DeviceIo};
pub use laws::{Bandwidth, Bucket, Cliff, Law, Servers, Service, Stall};
pub use spec::{DeviceSpec, PARTS};
pub use tiers::Tiers;

/// A device whose completion times are known on arrival: laws in a row, the completion of one the arrival at the next.
pub struct Pipeline {
    laws: Vec<Box<dyn Law>>,
    due: BinaryHeap<Reverse<(u64, u64, u64, i32)>>,
    arrivals: u64,
}

impl Pipeline {
    /// A device made of laws; laws that keep a queue in order come first.
    pub fn new(laws: Vec<Box<dyn Law>>) -> Self {
        Self { laws, due: BinaryHeap::new(), arrivals: 0 }
    }
}

impl Device for Pipeline {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        let done_ns = self
            .laws
            .iter_mut()
            .fold(now_ns, |at_ns, law| law.completion_ns(at_ns, &io).max(at_ns));
        self.arrivals += 1;
        let result = i32::try_from(io.bytes).unwrap_or(i32::MAX);
        self.due.push(Reverse((done_ns, self.arrivals, tag, result)));
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((done_ns, ..))| *done_ns)
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while let Some(Reverse((done_ns, _, tag, result))) = self.due.peek().copied() {
            if done_ns > now_ns {
                break;
            }
            self.due.pop();
            done.push((tag, result));
        }
    }
}
