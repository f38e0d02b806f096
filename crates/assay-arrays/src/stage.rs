//! A stage in front of other parts: an I/O leaves it at a time that is known when it arrives.

use crate::event_queue::{EventQueue, earlier};
use assay_model::device::{DataLoss, Device, DeviceIo};

/// Says when an I/O that arrives now goes on; arrivals never decrease, so queues in order are
/// exact.
pub trait StageLaw {
    /// When the I/O leaves, ns; `inside` I/Os are in this stage and below it, this one included.
    fn leave_ns(&mut self, now_ns: u64, io: &DeviceIo, inside: u32) -> u64;

    /// No I/O leaves sooner after its arrival than this, ns.
    fn least_ns(&self) -> u64 {
        0
    }
}

/// A stage and what lies below it.
///
/// An I/O needs an event of its own to go on only where the device below must not know it before
/// its time. Elsewhere it goes on as soon as nothing that arrives later can overtake it: that saves
/// a third of the events of an array of flash.
pub struct ArrayStage<L> {
    law: L,
    /// What an I/O travels before it is here, ns; for all the same, so that nobody overtakes.
    way_ns: u64,
    lower: Box<dyn Device>,
    waiting: EventQueue<(u64, DeviceIo)>,
    inside: u32,
    /// How far ahead of the clock I/Os go on, ns; 0 where each goes on at its time.
    ahead_ns: u64,
}

impl<L: StageLaw> ArrayStage<L> {
    /// A stage over a device.
    pub fn new(law: L, lower: Box<dyn Device>) -> Self {
        let ahead_ns = if lower.takes_ahead() { law.least_ns() } else { 0 };
        Self { law, way_ns: 0, lower, waiting: EventQueue::default(), inside: 0, ahead_ns }
    }

    /// With a constant way in front of it, which needs no event of its own.
    pub fn behind(mut self, way_ns: u64) -> Self {
        self.way_ns = way_ns;
        if self.lower.takes_ahead() {
            self.ahead_ns += way_ns;
        }
        self
    }

    /// Passes on what nothing that arrives from now on can overtake.
    #[inline]
    fn pass_on(&mut self, now_ns: u64) {
        let sure_ns = now_ns + self.ahead_ns;
        while let Some(leave_ns) = self.waiting.next_ns().filter(|leave_ns| *leave_ns <= sure_ns) {
            if let Some((tag, io)) = self.waiting.pop(sure_ns) {
                self.lower.submit(leave_ns, tag, io);
            }
        }
    }
}

impl<L: StageLaw> Device for ArrayStage<L> {
    #[inline]
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.inside += 1;
        let leave_ns = self.law.leave_ns(now_ns + self.way_ns, &io, self.inside);
        self.pass_on(now_ns);
        if leave_ns <= now_ns + self.ahead_ns {
            self.lower.submit(leave_ns.max(now_ns), tag, io);
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
        self.pass_on(now_ns);
        let before = done.len();
        self.lower.advance(now_ns, done);
        self.inside -= u32::try_from(done.len() - before).unwrap_or(self.inside);
    }

    fn losses(&mut self, found: &mut Vec<DataLoss>) {
        self.lower.losses(found);
    }
}

/// Equal servers behind one queue, first come first served: when each is free.
#[derive(Debug)]
pub struct StageServers {
    free_ns: Vec<u64>,
}

impl StageServers {
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
    use crate::controller::Processors;
    use crate::drive::Closed;
    use crate::flash::FlashDevice;
    use assay_model::Histogram;
    use assay_model::array::{Flash, Part, Spread, parse_array};

    #[test]
    fn a_way_is_added_without_an_event() {
        struct At(Vec<u64>);
        impl StageLaw for At {
            fn leave_ns(&mut self, now_ns: u64, _io: &DeviceIo, _inside: u32) -> u64 {
                self.0.push(now_ns);
                now_ns + 10
            }
        }
        let mut stage = ArrayStage::new(At(Vec::new()), Box::new(crate::drive::Instant::default()));
        stage = stage.behind(100);
        stage.submit(5, 1, DeviceIo::read(0, 512));
        assert_eq!((stage.next_event_ns(), stage.law.0.as_slice()), (Some(115), [105].as_slice()));
    }

    /// The device below, which lets nobody pass ahead of the clock.
    struct InTime(Box<dyn Device>);

    impl Device for InTime {
        fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
            self.0.submit(now_ns, tag, io);
        }

        fn next_event_ns(&self) -> Option<u64> {
            self.0.next_event_ns()
        }

        fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
            self.0.advance(now_ns, done);
        }
    }

    /// Reads and writes with different service times overtake each other; what comes of it is the
    /// same to the nanosecond.
    #[test]
    fn going_on_ahead_of_the_clock_changes_no_time() {
        let model = include_str!("../../../benchmarks/plain-ssd.array.toml");
        let model = parse_array(model).unwrap();
        let [_, Part::Controller(controller), Part::Flash(flash)] = model.parts.as_slice() else {
            panic!("{model:?}")
        };
        let flash = Flash { spread: Spread::Exponential, ..flash.clone() };
        let stage = |way_ns: u64, in_time: bool| {
            let below = Box::new(FlashDevice::new(&flash, 1 << 40, 1.0, 3));
            let below: Box<dyn Device> = if in_time { Box::new(InTime(below)) } else { below };
            ArrayStage::new(Processors::new(controller, 1), below).behind(way_ns)
        };
        for (way_ns, read_share) in [(0, 1.0), (50_000, 1.0), (50_000, 0.6), (3000, 0.0)] {
            let load = Closed::reads(48).with_read_share(read_share);
            let run = |in_time: bool| load.run(&mut stage(way_ns, in_time), 300_000_000);
            let (ahead, in_time) = (run(false), run(true));
            let exact = |times: &Histogram| (times.ios(), times.mean_ns(), times.max_ns());
            assert_eq!(exact(&ahead.read), exact(&in_time.read), "{way_ns} {read_share}");
            assert_eq!(exact(&ahead.write), exact(&in_time.write), "{way_ns} {read_share}");
            assert!(ahead.read.ios() + ahead.write.ios() > 1000);
        }
        assert!(stage(50_000, false).ahead_ns == 54_000 && stage(50_000, true).ahead_ns == 0);
    }

    #[test]
    fn servers_serve_in_the_order_of_arrival() {
        let mut servers = StageServers::new(2);
        let ends: Vec<u64> = [(0, 10), (0, 4), (1, 5), (20, 1)]
            .iter()
            .map(|(now_ns, service_ns)| servers.serve_ns(*now_ns, *service_ns))
            .collect();
        assert_eq!(ends, [10, 4, 9, 21]);
    }
}
