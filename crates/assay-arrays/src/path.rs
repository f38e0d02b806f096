//! The way between host and array: a delay, links that carry data, and volumes that each limit
//! their I/Os.

use crate::stage::{StageLaw, StageServers};
use assay_model::array::Path;
use assay_model::device::{DataLoss, Device, DeviceIo};
use assay_model::number::{count, real};
use std::collections::VecDeque;

/// Links that carry data one I/O after the other.
pub struct PathLinks {
    links: StageServers,
    bytes_per_ns: f64,
}

impl PathLinks {
    /// Equal links, each with this bandwidth in bytes per second.
    pub fn new(links: u32, bytes_per_s: u64) -> Self {
        Self { links: StageServers::new(links), bytes_per_ns: real(bytes_per_s) / 1e9 }
    }
}

impl StageLaw for PathLinks {
    fn leave_ns(&mut self, now_ns: u64, io: &DeviceIo, _inside: u32) -> u64 {
        let carry_ns = count(f64::from(io.bytes) / self.bytes_per_ns);
        self.links.serve_ns(now_ns, carry_ns)
    }
}

/// A constant delay on the way back.
pub struct PathDelay {
    way_ns: u64,
    lower: Box<dyn Device>,
    back: VecDeque<(u64, u64, i32)>,
    arrived: Vec<(u64, i32)>,
}

impl PathDelay {
    /// A delay over a device.
    pub fn new(way_ns: u64, lower: Box<dyn Device>) -> Self {
        Self { way_ns, lower, back: VecDeque::new(), arrived: Vec::new() }
    }
}

impl Device for PathDelay {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.lower.submit(now_ns, tag, io);
    }

    fn next_event_ns(&self) -> Option<u64> {
        let back_ns = self.back.front().map(|(at_ns, ..)| *at_ns);
        crate::event_queue::earlier(back_ns, self.lower.next_event_ns())
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        self.lower.advance(now_ns, &mut self.arrived);
        for (tag, result) in self.arrived.drain(..) {
            self.back.push_back((now_ns + self.way_ns, tag, result));
        }
        while let Some((at_ns, tag, result)) = self.back.front().copied() {
            if at_ns > now_ns {
                break;
            }
            self.back.pop_front();
            done.push((tag, result));
        }
    }

    fn losses(&mut self, found: &mut Vec<DataLoss>) {
        self.lower.losses(found);
    }
}

/// Volumes of equal size, each with a limit of I/Os at a time; the rest waits in order.
pub struct Volumes {
    volume_bytes: u64,
    depth: u32,
    gates: Vec<PathGate>,
    slots: Vec<(u64, usize)>,
    free: Vec<usize>,
    lower: Box<dyn Device>,
    arrived: Vec<(u64, i32)>,
}

#[derive(Default)]
struct PathGate {
    inside: u32,
    waiting: VecDeque<(u64, DeviceIo)>,
}

impl Volumes {
    /// The space of `capacity_bytes` cut into volumes.
    pub fn new(volumes: u32, depth: u32, capacity_bytes: u64, lower: Box<dyn Device>) -> Self {
        Self {
            volume_bytes: (capacity_bytes / u64::from(volumes)).max(1),
            depth,
            gates: (0..volumes).map(|_| PathGate::default()).collect(),
            slots: Vec::new(),
            free: Vec::new(),
            lower,
            arrived: Vec::new(),
        }
    }

    fn enter(&mut self, now_ns: u64, volume: usize, tag: u64, io: DeviceIo) {
        self.gates[volume].inside += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, 0));
            self.slots.len() - 1
        });
        self.slots[slot] = (tag, volume);
        self.lower.submit(now_ns, assay_model::number::count_of(slot), io);
    }

    fn leave(&mut self, now_ns: u64, slot: u64) -> u64 {
        let slot = assay_model::number::index_of(slot);
        let (tag, volume) = self.slots[slot];
        self.free.push(slot);
        self.gates[volume].inside -= 1;
        if let Some((next, io)) = self.gates[volume].waiting.pop_front() {
            self.enter(now_ns, volume, next, io);
        }
        tag
    }
}

impl Device for Volumes {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        let index = assay_model::number::index_of(io.offset / self.volume_bytes);
        let volume = index.min(self.gates.len() - 1);
        if self.gates[volume].inside < self.depth {
            self.enter(now_ns, volume, tag, io);
        } else {
            self.gates[volume].waiting.push_back((tag, io));
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.lower.next_event_ns()
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        let mut arrived = std::mem::take(&mut self.arrived);
        self.lower.advance(now_ns, &mut arrived);
        for (slot, result) in arrived.drain(..) {
            let tag = self.leave(now_ns, slot);
            done.push((tag, result));
        }
        self.arrived = arrived;
    }

    fn losses(&mut self, found: &mut Vec<DataLoss>) {
        self.lower.losses(found);
    }
}

/// The path as described, over what follows it.
pub fn path(path: &Path, capacity_bytes: u64, lower: Box<dyn Device>) -> Box<dyn Device> {
    let mut device = lower;
    if path.latency.0 > 0 {
        device = Box::new(PathDelay::new(path.latency.0, device));
    }
    if let Some(bandwidth) = path.bandwidth_per_s {
        let links = PathLinks::new(path.links, bandwidth.0);
        device = Box::new(crate::stage::ArrayStage::new(links, device));
    }
    if let Some(depth) = path.volume_depth {
        let volumes = path.volumes.unwrap_or(1);
        device = Box::new(Volumes::new(volumes, depth, capacity_bytes, device));
    }
    device
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Closed, Instant};
    use assay_model::units::{Bytes, Nanos};

    fn plain() -> Path {
        Path {
            latency: Nanos(0),
            links: 1,
            bandwidth_per_s: None,
            volumes: None,
            volume_depth: None,
        }
    }

    fn run(described: &Path, queue_depth: u32) -> crate::drive::SequentialRun {
        let mut device = path(described, 1 << 30, Box::new(Instant::default()));
        Closed::reads(queue_depth).run(device.as_mut(), 1_000_000_000)
    }

    #[test]
    fn a_link_carries_its_bytes() {
        let mut two = plain();
        (two.links, two.bandwidth_per_s) = (2, Some(Bytes(81_920_000)));
        assert!((run(&two, 16).iops() / 20_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn the_delay_is_added() {
        let mut far = plain();
        far.latency = Nanos(50_000);
        assert!((run(&far, 3).read.mean_ns() - 50_000.0).abs() < 1.0);
    }

    #[test]
    fn a_volume_lets_in_what_its_depth_allows() {
        let mut gated = plain();
        (gated.volumes, gated.volume_depth) = (Some(2), Some(4));
        let slow = Box::new(PathDelay::new(1_000_000, Box::new(Instant::default())));
        let mut device = path(&gated, 1 << 30, slow);
        let run = Closed::reads(64).run(device.as_mut(), 1_000_000_000);
        assert!((run.iops() / 8000.0 - 1.0).abs() < 0.02, "{}", run.iops());
    }
}
