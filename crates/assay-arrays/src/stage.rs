//! A stage in front of other parts: an I/O leaves it at a time that is known when it arrives.

use crate::event_queue::{EventQueue, earlier};
use assay_model::device::{Device, DeviceIo};

/// Says when an I/O that arrives now goes on; arrivals never decrease, so queues in order are exact.
pub trait StageLaw {
    /// When the I/O leaves, ns; `inside` I/Os are in this stage and below it, this one included.
    fn leave_ns(&mut self, now_ns: u64, io: &DeviceIo, inside: u32) -> u64;
}

/// A stage and what lies below it.
pub struct Stage<L> {
    law: L,
    /// What an I/O travels before it is here, ns; for all the same, so that nobody overtakes.
    way_ns: u64,
    lower: Box<dyn Device>,
    waiting: EventQueue<(u64, DeviceIo)>,
    inside: u32,
}

impl<L: StageLaw> Stage<L> {
    /// A stage over a device.
    pub fn new(law: L, lower: Box<dyn Device>) -> Self {
        Self { law, way_ns: 0, lower, waiting: EventQueue::default(), inside: 0 }
    }

    /// With a constant way in front of it, which needs no event of its own.
    pub const fn behind(mut self, way_ns: u64) -> Self {
        self.way_ns = way_ns;
        self
    }
}

impl<L: StageLaw> Device for Stage<L> {
    #[inline]
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.inside += 1;
        let leave_ns = self.law.leave_ns(now_ns + self.way_ns, &io, self.inside);
        if leave_ns <= now_ns {
            self.lower.submit(now_ns, tag, io);
        } else {
            self.waiting.push(leave_ns, (tag, io));
        }
    }

    #[inline]
    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.waiting.next_ns(), self.lower.next_event_ns())
    }

    #[inline]
    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while let Some((tag, io)) = self.waiting.pop(now_ns) {
            self.lower.submit(now_ns, tag, io);
        }
        let before = done.len();
        self.lower.advance(now_ns, done);
        self.inside -= u32::try_from(done.len() - before).unwrap_or(self.inside);
    }
}

/// Equal servers behind one queue, first come first served: when each is free.
#[derive(Debug)]
pub struct Servers {
    free_ns: Vec<u64>,
}

impl Servers {
    /// This number of servers, all free.
    pub fn new(servers: u32) -> Self {
        Self { free_ns: vec![0; servers.max(1) as usize] }
    }

    /// Serves for `service_ns` from now or from when a server is free; gives the end.
    #[inline]
    pub fn serve_ns(&mut self, now_ns: u64, service_ns: u64) -> u64 {
        let mut first = 0;
        for (server, free_ns) in self.free_ns.iter().enumerate() {
            if *free_ns <= now_ns {
                first = server;
                break;
            }
            if *free_ns < self.free_ns[first] {
                first = server;
            }
        }
        let end_ns = self.free_ns[first].max(now_ns) + service_ns;
        self.free_ns[first] = end_ns;
        end_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_added_without_an_event() {
        struct At(Vec<u64>);
        impl StageLaw for At {
            fn leave_ns(&mut self, now_ns: u64, _io: &DeviceIo, _inside: u32) -> u64 {
                self.0.push(now_ns);
                now_ns + 10
            }
        }
        let mut stage = Stage::new(At(Vec::new()), Box::new(crate::drive::Instant::default()));
        stage = stage.behind(100);
        stage.submit(5, 1, DeviceIo::read(0, 512));
        assert_eq!((stage.next_event_ns(), stage.law.0.as_slice()), (Some(115), [105].as_slice()));
    }

    #[test]
    fn servers_serve_in_the_order_of_arrival() {
        let mut servers = Servers::new(2);
        let ends: Vec<u64> = [(0, 10), (0, 4), (1, 5), (20, 1)]
            .iter()
            .map(|(now_ns, service_ns)| servers.serve_ns(*now_ns, *service_ns))
            .collect();
        assert_eq!(ends, [10, 4, 9, 21]);
    }
}
