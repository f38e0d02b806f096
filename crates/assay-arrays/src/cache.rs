//! Memory in front of slower parts: what it holds, what leaves, and writes that are written through
//! later.

use crate::event_queue::{EventQueue, earlier, own_tag};
use crate::failure::CacheFailure;
use assay_model::array::{Cache, EvictionPolicy};
use assay_model::device::{DataLoss, Device, DeviceIo};
use assay_model::measurement::Operation;
use assay_model::number::{count, index_of, real};
use std::collections::VecDeque;

mod lines;

use lines::CacheLines;

/// A cache as a device.
pub struct CacheDevice {
    lower: Box<dyn Device>,
    /// The tag of what it destages, with no host behind it.
    own_tag: u64,
    lines: CacheLines,
    line_bytes: u64,
    hit_ns: u64,
    reads: bool,
    dirty_max: u64,
    depth: u32,
    /// Writes taken and not yet destaged, oldest first.
    dirty: VecDeque<DeviceIo>,
    destaging: u32,
    /// Writes that found no room.
    waiting: VecDeque<(u64, DeviceIo)>,
    due: EventQueue<(u64, i32)>,
    arrived: Vec<(u64, i32)>,
    /// What becomes of it later.
    failure: Option<CacheFailure>,
    /// What became of it and was not asked for yet.
    found: Vec<DataLoss>,
}

impl CacheDevice {
    /// A cache as described, over a device.
    pub fn new(cache: &Cache, seed: u64, lower: Box<dyn Device>) -> Self {
        let lines = (cache.size.0 / cache.line.0).max(1);
        Self {
            lower,
            own_tag: own_tag(seed),
            lines: CacheLines::new(index_of(lines), cache.eviction == EvictionPolicy::Clock),
            line_bytes: cache.line.0,
            hit_ns: cache.hit.0,
            reads: cache.reads,
            dirty_max: count(real(lines) * cache.dirty.0),
            depth: cache.destage_depth.max(1),
            dirty: VecDeque::new(),
            destaging: 0,
            waiting: VecDeque::new(),
            due: EventQueue::default(),
            arrived: Vec::new(),
            failure: None,
            found: Vec::new(),
        }
    }

    /// With what becomes of it later.
    pub fn failing(self, failure: Option<CacheFailure>) -> Self {
        Self { failure, ..self }
    }

    /// From its failure on writes go through. Nothing changes between two calls, so that what it
    /// holds at the first one after that time it held then. What is on its way to the members
    /// arrives.
    fn fail_when_due(&mut self, now_ns: u64) {
        let Some(failure) = self.failure.filter(|failure| failure.at_ns <= now_ns) else { return };
        self.failure = None;
        self.dirty_max = 0;
        if failure.loses_data {
            self.found.extend(self.dirty.drain(..).map(DataLoss::Write));
        }
        self.found.push(DataLoss::Over);
        for (tag, io) in std::mem::take(&mut self.waiting) {
            self.lower.submit(now_ns, tag, io);
        }
    }

    /// Whether all lines of an I/O are held; they are from now on, as the policy allows.
    fn touch(&mut self, io: &DeviceIo) -> bool {
        let first = io.offset / self.line_bytes;
        let last = (io.offset + u64::from(io.bytes.max(1)) - 1) / self.line_bytes;
        let missed = (first..=last).filter(|line| !self.lines.touch(*line));
        missed.count() == 0
    }

    fn held_dirty(&self) -> u64 {
        assay_model::number::count_of(self.dirty.len()) + u64::from(self.destaging)
    }

    fn read(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        if self.reads && self.touch(&io) {
            self.due.push(now_ns + self.hit_ns, (tag, io.moved()));
        } else {
            self.lower.submit(now_ns, tag, io);
        }
    }

    fn write(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        if self.dirty_max == 0 {
            self.touch(&io);
            self.lower.submit(now_ns, tag, io);
        } else if self.held_dirty() < self.dirty_max {
            self.take(now_ns, tag, io);
        } else {
            self.waiting.push_back((tag, io));
        }
    }

    fn take(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        if self.reads {
            self.touch(&io);
        }
        self.due.push(now_ns + self.hit_ns, (tag, io.moved()));
        self.dirty.push_back(io);
        self.destage(now_ns);
    }

    fn destage(&mut self, now_ns: u64) {
        while self.destaging < self.depth {
            let Some(io) = self.dirty.pop_front() else {
                return;
            };
            self.destaging += 1;
            self.lower.submit(now_ns, self.own_tag, io);
        }
    }

    fn destaged(&mut self, now_ns: u64) {
        self.destaging -= 1;
        if let Some((tag, io)) = self.waiting.pop_front() {
            self.take(now_ns, tag, io);
        }
        self.destage(now_ns);
    }
}

impl Device for CacheDevice {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.fail_when_due(now_ns);
        match io.operation {
            Operation::Read => self.read(now_ns, tag, io),
            Operation::Write => self.write(now_ns, tag, io),
            // What it holds survives a power cut.
            Operation::Sync => self.due.push(now_ns, (tag, 0)),
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.due.next_ns(), self.lower.next_event_ns())
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        self.fail_when_due(now_ns);
        let mut arrived = std::mem::take(&mut self.arrived);
        self.lower.advance(now_ns, &mut arrived);
        for (tag, result) in arrived.drain(..) {
            if tag == self.own_tag {
                self.destaged(now_ns);
            } else {
                done.push((tag, result));
            }
        }
        self.arrived = arrived;
        done.extend(std::iter::from_fn(|| self.due.pop(now_ns)));
    }

    fn losses(&mut self, found: &mut Vec<DataLoss>) {
        found.append(&mut self.found);
        self.lower.losses(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Closed;
    use crate::ram::RamDevice;
    use assay_model::array::{Ram, Spread};
    use assay_model::units::{Bytes, Nanos, Share};

    /// 1 ms behind the cache, 10 µs in it.
    fn cached(size: u64, dirty: f64, eviction: EvictionPolicy) -> CacheDevice {
        let ram = Ram { channels: 4, latency: Nanos(1_000_000), spread: Spread::Constant };
        let cache = Cache {
            size: Bytes(size),
            line: Bytes(8192),
            hit: Nanos(10_000),
            eviction,
            reads: true,
            dirty: Share(dirty),
            destage_depth: 4,
        };
        CacheDevice::new(&cache, 1, Box::new(RamDevice::new(&ram, 1)))
    }

    #[test]
    fn uniform_reads_hit_as_much_as_is_held() {
        for eviction in [EvictionPolicy::Lru, EvictionPolicy::Clock] {
            let mut device = cached(1 << 26, 0.0, eviction);
            let load = Closed { warm_up_ns: 30_000_000_000, ..Closed::reads(4).over(1 << 27) };
            let run = load.run(&mut device, 60_000_000_000);
            let expected = 0.5 * 10_000.0 + 0.5 * 1_000_000.0;
            assert!(
                (run.read.mean_ns() / expected - 1.0).abs() < 0.02,
                "{eviction:?} {}",
                run.read.mean_ns()
            );
        }
    }

    #[test]
    fn a_burst_of_writes_is_taken_and_then_drains() {
        // 1,000 dirty lines, then as much as four channels of 1 ms take.
        let mut device = cached(1000 * 8192, 1.0, EvictionPolicy::Lru);
        let load = Closed::reads(16).with_read_share(0.0);
        let run = load.run(&mut device, 1_000_000_000);
        let iops = run.iops();
        assert!((iops / 5000.0 - 1.0).abs() < 0.01, "{iops}");
        assert_eq!(run.write.min_ns(), 10_000);
    }

    #[test]
    fn without_room_for_writes_they_go_through() {
        let mut device = cached(1 << 20, 0.0, EvictionPolicy::Lru);
        let load = Closed::reads(4).with_read_share(0.0);
        let run = load.run(&mut device, 1_000_000_000);
        assert_eq!(run.write.min_ns(), 1_000_000);
    }
}
