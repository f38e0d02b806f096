//! Nothing that a host says to the driver, or the driver to a host, makes the other one fail or fills its memory.
#![no_main]

use assay_cluster::clock::{Clock, Ping};
use assay_cluster::merge::Merger;
use assay_cluster::protocol::{LineSize, NodeAnswer, NodeOrder, line, next_line, parse};
use assay_model::Error;

/// Hosts of a session.
const HOSTS: usize = 2;

#[derive(Default)]
struct Driver {
    clock: Clock,
    said: u64,
}

impl Driver {
    fn hear(&mut self, merger: &mut Merger, answer: NodeAnswer) {
        self.said += 1;
        match answer {
            NodeAnswer::Hello(greeting) => drop(greeting.check("0")),
            NodeAnswer::Refused(refusal) => drop(Error::from(refusal)),
            NodeAnswer::Beat(sent_ns, read_ns) => {
                self.clock.add(Ping { sent_ns, read_ns, received_ns: sent_ns.saturating_add(1000) });
                let _ = (self.clock.to_node_ns(self.said), self.clock.to_driver_ns(read_ns));
                let _ = (self.clock.drift(), self.clock.jump_ns(), self.clock.is_precise());
            }
            NodeAnswer::Interval(part) => {
                let host = usize::try_from(self.said).unwrap_or(0) % HOSTS;
                drop(merger.add(host, *part));
            }
            _ => {}
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (mut reader, mut driver, mut merger) = (bytes, Driver::default(), Merger::new(HOSTS));
    while let Ok(Some(read)) = next_line(&mut reader) {
        let size = LineSize::new(&read);
        assert!(size.memory_bytes() >= read.len() as u64);
        if let Ok(order) = parse::<NodeOrder>(&read) {
            if let NodeOrder::Hello(session) = &order {
                let _ = session.check("0", "");
            }
            let written = line(&order).expect("an order is written");
            assert!(parse::<NodeOrder>(&written).is_ok());
        }
        if !size.is_allowed(&read, false) {
            continue;
        }
        if let Ok(answer) = parse::<NodeAnswer>(&read) {
            driver.hear(&mut merger, answer);
        }
    }
    let _ = (merger.series(), merger.interval_s(), merger.left_out());
});
