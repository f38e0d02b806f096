//! A fixed number of I/Os outstanding on a device: the load of published experiments, without an
//! engine.

use assay_model::Histogram;
use assay_model::device::{Device, DeviceIo};
use assay_model::measurement::Operation;
use assay_model::number::{index_of, rate, seconds};
use assay_stats::random::Random;

/// A closed load on random or ascending addresses.
#[derive(Clone, Debug)]
pub struct Closed {
    /// I/Os outstanding.
    pub queue_depth: u32,
    /// Share of reads.
    pub read_share: f64,
    /// Bytes of one I/O.
    pub block_size_bytes: u32,
    /// Space that I/Os go to, bytes.
    pub space_bytes: u64,
    /// Ascending addresses instead of random ones.
    pub sequential: bool,
    /// Seed of all choices.
    pub seed: u64,
    /// Time before measuring, ns.
    pub warm_up_ns: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct SequentialRun {
    /// Times of reads.
    pub read: Histogram,
    /// Times of writes.
    pub write: Histogram,
    /// Measured time, ns.
    pub elapsed_ns: u64,
    /// Reads in each of equal parts of the measured time.
    pub read_parts: Vec<u64>,
}

/// Parts that the measured time is cut into, to see how it went.
pub const TIME_PARTS: usize = 64;

impl SequentialRun {
    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        rate(self.read.ios() + self.write.ios(), seconds(self.elapsed_ns))
    }

    /// An empty one for a measured time.
    pub fn of(elapsed_ns: u64) -> Self {
        Self { elapsed_ns, read_parts: vec![0; TIME_PARTS], ..Self::default() }
    }

    /// Counts a read or write that took `time_ns` and ended `since_ns` after measuring began.
    pub fn record(&mut self, operation: Operation, time_ns: u64, since_ns: u64) {
        if operation != Operation::Read {
            return self.write.record(time_ns);
        }
        self.read.record(time_ns);
        let part = u128::from(since_ns) * TIME_PARTS as u128 / u128::from(self.elapsed_ns.max(1));
        let part = index_of(assay_model::number::narrow(part)).min(TIME_PARTS - 1);
        self.read_parts[part] += 1;
    }
}

impl Closed {
    /// Random reads of 8 KiB over 1 GiB.
    #[cfg(test)]
    pub fn reads(queue_depth: u32) -> Self {
        Self {
            queue_depth,
            read_share: 1.0,
            block_size_bytes: 8192,
            space_bytes: 1 << 30,
            sequential: false,
            seed: 1,
            warm_up_ns: 0,
        }
    }

    /// With a share of reads.
    #[cfg(test)]
    pub fn with_read_share(mut self, read_share: f64) -> Self {
        self.read_share = read_share;
        self
    }

    /// Over a space.
    #[cfg(test)]
    pub fn over(mut self, space_bytes: u64) -> Self {
        self.space_bytes = space_bytes;
        self
    }

    /// Runs it for `elapsed_ns` of measured time.
    pub fn run(&self, device: &mut dyn Device, elapsed_ns: u64) -> SequentialRun {
        let mut run = SequentialRun::of(elapsed_ns);
        let mut source = IoSource::new(self);
        let mut flying = vec![(0, Operation::Read); self.queue_depth as usize];
        for (slot, io) in flying.iter_mut().enumerate() {
            *io = source.issue(device, 0, slot);
        }
        let (mut done, end_ns) = (Vec::new(), self.warm_up_ns + elapsed_ns);
        while let Some(now_ns) = device.next_event_ns().filter(|at_ns| *at_ns < end_ns) {
            device.advance(now_ns, &mut done);
            for (tag, _) in done.drain(..) {
                let slot = index_of(tag);
                let (begun_ns, operation) = flying[slot];
                if let Some(since_ns) = now_ns.checked_sub(self.warm_up_ns) {
                    run.record(operation, now_ns - begun_ns, since_ns);
                }
                flying[slot] = source.issue(device, now_ns, slot);
            }
        }
        run
    }
}

/// Where I/Os come from.
struct IoSource<'a> {
    load: &'a Closed,
    random: Random,
    places: u64,
    next: u64,
}

impl<'a> IoSource<'a> {
    fn new(load: &'a Closed) -> Self {
        Self {
            load,
            random: Random::part(load.seed, 0xc105),
            places: (load.space_bytes / u64::from(load.block_size_bytes)).max(1),
            next: 0,
        }
    }

    fn issue(&mut self, device: &mut dyn Device, now_ns: u64, slot: usize) -> (u64, Operation) {
        let place = if self.load.sequential {
            self.next = (self.next + 1) % self.places;
            self.next
        } else {
            self.random.below(self.places)
        };
        let offset = place * u64::from(self.load.block_size_bytes);
        let io = if self.random.chance(self.load.read_share) {
            DeviceIo::read(offset, self.load.block_size_bytes)
        } else {
            DeviceIo::write(offset, self.load.block_size_bytes)
        };
        device.submit(now_ns, assay_model::number::count_of(slot), io);
        (now_ns, io.operation)
    }
}

/// A device that takes no time.
#[cfg(test)]
#[derive(Default)]
pub struct Instant {
    due: Vec<(u64, i32)>,
    now_ns: u64,
}

#[cfg(test)]
impl Device for Instant {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.now_ns = now_ns;
        self.due.push((tag, io.moved()));
    }

    fn next_event_ns(&self) -> Option<u64> {
        (!self.due.is_empty()).then_some(self.now_ns)
    }

    fn advance(&mut self, _now_ns: u64, done: &mut Vec<(u64, i32)>) {
        done.append(&mut self.due);
    }
}
