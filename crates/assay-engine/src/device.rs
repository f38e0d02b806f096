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

/// A device made of laws in a row: an I/O that completes at one arrives at the next.
///
/// Every law sees its arrivals in order of time, so that one that keeps a queue works it off as it came, whatever law
/// stands before it.
pub struct Pipeline {
    laws: Vec<Box<dyn Law>>,
    due: BinaryHeap<Reverse<Due>>,
    arrivals: u64,
}

/// An I/O on its way: when it leaves a law; at one time in order of arrival at the device.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    arrival: u64,
    /// The law that it goes to next; that of their number means it is completed.
    next: usize,
    tag: u64,
    io: DeviceIo,
}

impl Pipeline {
    /// A device made of laws, the first one first.
    pub fn new(laws: Vec<Box<dyn Law>>) -> Self {
        Self { laws, due: BinaryHeap::new(), arrivals: 0 }
    }

    /// An I/O goes through the law that is next.
    fn pass(&mut self, now_ns: u64, mut due: Due) {
        due.at_ns = match self.laws.get_mut(due.next) {
            Some(law) => law.completion_ns(now_ns, &due.io).max(now_ns),
            None => now_ns,
        };
        due.next += 1;
        self.due.push(Reverse(due));
    }
}

impl Device for Pipeline {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.arrivals += 1;
        self.pass(now_ns, Due { at_ns: now_ns, arrival: self.arrivals, next: 0, tag, io });
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse(due)| due.at_ns)
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while self.due.peek().is_some_and(|Reverse(due)| due.at_ns <= now_ns) {
            let Some(Reverse(due)) = self.due.pop() else {
                break;
            };
            if due.next < self.laws.len() {
                self.pass(due.at_ns, due);
            } else {
                done.push((due.tag, i32::try_from(due.io.bytes).unwrap_or(i32::MAX)));
            }
        }
    }
}
