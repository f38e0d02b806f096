//! The parts of simulated devices: each turns an arrival into a completion by one law.

use super::DeviceIo;
use assay_model::measurement::Operation;
use assay_model::number::{count, nanoseconds, real};
use assay_stats::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Says when an I/O that arrives at a time is completed; arrivals never decrease.
pub trait DeviceLaw {
    /// Completion of an I/O arriving at `now_ns`, ns.
    fn completion_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64;
}

/// How long one server works on one I/O.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceLaw {
    /// Exponential with this mean, ns: memoryless, the M of M/M/c.
    Exponential(f64),
    /// Always this long, ns.
    Constant(f64),
}

/// Equal servers behind one queue, first come first served: M/M/c with exponential service.
#[derive(Debug)]
pub struct ServersLaw {
    service: ServiceLaw,
    free_ns: BinaryHeap<Reverse<u64>>,
    random: Random,
}

impl ServersLaw {
    /// `servers` (at least 1) with a service law.
    pub fn new(servers: usize, service: ServiceLaw, seed: u64) -> Self {
        let free_ns = (0..servers.max(1)).map(|_| Reverse(0)).collect();
        Self { service, free_ns, random: Random::part(seed, 0x5e12) }
    }
}

impl DeviceLaw for ServersLaw {
    fn completion_ns(&mut self, now_ns: u64, _io: &DeviceIo) -> u64 {
        let service_ns = match self.service {
            ServiceLaw::Exponential(mean_ns) => count(mean_ns * self.random.exponential()),
            ServiceLaw::Constant(time_ns) => count(time_ns),
        };
        // The server that is free first takes the place that it has in the queue by now.
        let Some(mut first) = self.free_ns.peek_mut() else { return now_ns + service_ns };
        first.0 = first.0.max(now_ns) + service_ns;
        first.0
    }
}

/// A link that carries one I/O after the other at a fixed bandwidth.
#[derive(Debug)]
pub struct Bandwidth {
    bytes_per_s: f64,
    free_ns: f64,
}

impl Bandwidth {
    /// A link of `bytes_per_s`, above 0.
    pub const fn new(bytes_per_s: f64) -> Self {
        Self { bytes_per_s, free_ns: 0.0 }
    }
}

impl DeviceLaw for Bandwidth {
    fn completion_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64 {
        // Kept as a real number: rounding each transfer would change the bandwidth itself.
        self.free_ns =
            self.free_ns.max(real(now_ns)) + f64::from(io.bytes) / self.bytes_per_s * 1e9;
        count(self.free_ns)
    }
}

/// Credits that refill at a rate up to a depth; an I/O without a credit waits for one: burst and
/// sustained IOPS.
#[derive(Debug)]
pub struct CreditBucket {
    /// Time a credit takes to come back, ns.
    period: f64,
    /// Time an empty bucket takes to fill, ns.
    depth: f64,
    /// When the bucket will be full again, ns.
    full: f64,
    /// What a larger I/O is counted as several of.
    block_size_bytes: u64,
}

impl CreditBucket {
    /// A bucket refilled at `iops` that holds `credits`, full at the beginning.
    pub fn new(iops: f64, credits: f64) -> Self {
        let period = 1e9 / iops;
        Self { period, depth: credits * period, full: 0.0, block_size_bytes: u64::MAX }
    }

    /// The same where an I/O of more than `block_size_bytes` takes a credit for each part of that
    /// size.
    pub fn counting(self, block_size_bytes: u64) -> Self {
        Self { block_size_bytes: block_size_bytes.max(1), ..self }
    }
}

impl DeviceLaw for CreditBucket {
    /// `full` is when the bucket would be full again; the generic cell rate algorithm (ITU-T
    /// I.371).
    fn completion_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64 {
        let now = real(now_ns);
        let credits = real(u64::from(io.bytes).div_ceil(self.block_size_bytes).max(1));
        self.full = self.full.max(now) + credits * self.period;
        count((self.full - self.depth).max(now))
    }
}

/// A time that every I/O takes, whatever else is under way.
#[derive(Clone, Copy, Debug)]
pub struct DelayLaw {
    /// That time, ns.
    pub delay_ns: u64,
}

impl DeviceLaw for DelayLaw {
    fn completion_ns(&mut self, now_ns: u64, _io: &DeviceIo) -> u64 {
        now_ns + self.delay_ns
    }
}

/// A write cache: writes are fast until it is full, then as slow as it drains; reads pass.
#[derive(Debug)]
pub struct Cliff {
    cache_bytes: f64,
    drain_bytes_per_s: f64,
    held_bytes: f64,
    at_ns: u64,
    free_ns: u64,
}

impl Cliff {
    /// A cache of `cache_bytes` that drains at `drain_bytes_per_s`.
    pub const fn new(cache_bytes: f64, drain_bytes_per_s: f64) -> Self {
        Self { cache_bytes, drain_bytes_per_s, held_bytes: 0.0, at_ns: 0, free_ns: 0 }
    }
}

impl DeviceLaw for Cliff {
    fn completion_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64 {
        if io.operation != Operation::Write {
            return now_ns;
        }
        let start_ns = self.free_ns.max(now_ns);
        let drained = real(start_ns - self.at_ns) / 1e9 * self.drain_bytes_per_s;
        self.held_bytes = (self.held_bytes - drained).max(0.0) + f64::from(io.bytes);
        self.at_ns = start_ns;
        let over = self.held_bytes - self.cache_bytes;
        if over <= 0.0 {
            return start_ns;
        }
        // The write is taken when as much has drained as it lacks.
        self.free_ns = start_ns + nanoseconds(over / self.drain_bytes_per_s);
        self.free_ns
    }
}

/// Nothing completes during a stall; what would have, completes at its end.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    every_ns: u64,
    length_ns: u64,
}

impl Stall {
    /// A stall of `length_ns` at the end of every period of `every_ns`, which is longer.
    pub const fn new(every_ns: u64, length_ns: u64) -> Self {
        Self { every_ns, length_ns }
    }
}

impl DeviceLaw for Stall {
    fn completion_ns(&mut self, now_ns: u64, _io: &DeviceIo) -> u64 {
        let within_ns = now_ns % self.every_ns;
        if within_ns < self.every_ns - self.length_ns {
            now_ns
        } else {
            now_ns - within_ns + self.every_ns
        }
    }
}
