//! Memory that stores: channels behind one queue.

use crate::event_queue::EventQueue;
use crate::service::ServiceSource;
use crate::stage::StageServers;
use assay_model::array::Ram;
use assay_model::device::{Device, DeviceIo};

/// Memory as a device.
pub struct RamDevice {
    channels: StageServers,
    service: ServiceSource,
    due: EventQueue<(u64, i32)>,
}

impl RamDevice {
    /// Memory as described.
    pub fn new(ram: &Ram, seed: u64) -> Self {
        Self {
            channels: StageServers::new(ram.channels),
            service: ServiceSource::new(ram.latency, ram.spread, seed),
            due: EventQueue::default(),
        }
    }
}

impl Device for RamDevice {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        let service_ns = self.service.next_ns();
        let done_ns = self.channels.serve_ns(now_ns, service_ns);
        self.due.push(done_ns, (tag, io.moved()));
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.due.next_ns()
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        done.extend(std::iter::from_fn(|| self.due.pop(now_ns)));
    }

    fn takes_ahead(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Closed;
    use assay_model::array::Spread;
    use assay_model::units::Nanos;

    fn ram(channels: u32, spread: Spread) -> RamDevice {
        let latency = Nanos(100_000);
        RamDevice::new(&Ram { channels, latency, spread }, 1)
    }

    #[test]
    fn a_closed_load_meets_littles_law() {
        let run = Closed::reads(4).run(&mut ram(4, Spread::Constant), 1_000_000_000);
        assert!((run.iops() - 40_000.0).abs() < 5.0, "{}", run.iops());
        assert!((run.read.mean_ns() - 100_000.0).abs() < 1.0);
    }

    #[test]
    fn what_exceeds_the_channels_waits() {
        // Eight outstanding on two channels: 20,000 a second, each 400 µs.
        let run = Closed::reads(8).run(&mut ram(2, Spread::Exponential), 10_000_000_000);
        assert!((run.iops() / 20_000.0 - 1.0).abs() < 0.01, "{}", run.iops());
        assert!((run.read.mean_ns() / 400_000.0 - 1.0).abs() < 0.01);
    }
}
