//! Simulated devices with exactly known laws: the truth that methods are tested against.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

mod laws;
mod spec;
mod tiers;

pub use assay_model::device::{Device, DeviceIo};
pub use laws::{
    Bandwidth, Cliff, CreditBucket, DelayLaw, DeviceLaw, ServersLaw, ServiceLaw, Stall,
};
pub use spec::{DeviceSpec, PARTS};
pub use tiers::SimulatedTiers;

/// A device made of laws in a row: an I/O that completes at one arrives at the next.
///
/// Every law sees its arrivals in order of time, so that one that keeps a queue works it off as it
/// came, whatever law stands before it.
pub struct LawPipeline {
    laws: Vec<Box<dyn DeviceLaw>>,
    due: BinaryHeap<Reverse<LawDue>>,
    under_way: Vec<UnderWay>,
    /// Places of `under_way` that nobody has.
    free: Vec<usize>,
    arrivals: u64,
}

/// When an I/O leaves a law; at one time in order of arrival at the device. The queue moves these
/// about, so they hold no more.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LawDue {
    at_ns: u64,
    arrival: u64,
    place: usize,
}

/// An I/O on its way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// The law that it goes to next; that of their number means it is completed.
    next: usize,
    tag: u64,
    io: DeviceIo,
}

impl LawPipeline {
    /// A device made of laws, the first one first.
    pub fn new(laws: Vec<Box<dyn DeviceLaw>>) -> Self {
        Self { laws, due: BinaryHeap::new(), under_way: Vec::new(), free: Vec::new(), arrivals: 0 }
    }

    /// An I/O goes through the law that is next.
    fn pass(&mut self, now_ns: u64, due: &LawDue) {
        let one = &mut self.under_way[due.place];
        let at_ns = match self.laws.get_mut(one.next) {
            Some(law) => law.completion_ns(now_ns, &one.io).max(now_ns),
            None => now_ns,
        };
        one.next += 1;
        self.due.push(Reverse(LawDue { at_ns, ..*due }));
    }
}

impl Device for LawPipeline {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.arrivals += 1;
        let one = UnderWay { next: 0, tag, io };
        let place = if let Some(place) = self.free.pop() {
            self.under_way[place] = one;
            place
        } else {
            self.under_way.push(one);
            self.under_way.len() - 1
        };
        self.pass(now_ns, &LawDue { at_ns: now_ns, arrival: self.arrivals, place });
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse(due)| due.at_ns)
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while self.due.peek().is_some_and(|Reverse(due)| due.at_ns <= now_ns) {
            let Some(Reverse(due)) = self.due.pop() else {
                break;
            };
            let one = self.under_way[due.place];
            if one.next < self.laws.len() {
                self.pass(due.at_ns, &due);
            } else {
                self.free.push(due.place);
                done.push((one.tag, i32::try_from(one.io.bytes).unwrap_or(i32::MAX)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ignore, Simulation};
    use assay_model::number::{nanoseconds, real_len};
    use assay_model::units::{Bytes, Nanos, Share};
    use assay_model::workload::{Stream, Workload};
    use assay_stats::random::Random;

    fn laws() -> Vec<Box<dyn Fn() -> Box<dyn DeviceLaw>>> {
        vec![
            Box::new(|| Box::new(ServersLaw::new(8, ServiceLaw::Exponential(2e6), 3))),
            Box::new(|| Box::new(ServersLaw::new(3, ServiceLaw::Constant(7e5), 3))),
            Box::new(|| Box::new(Bandwidth::new(20e6))),
            Box::new(|| Box::new(CreditBucket::new(1500.0, 200.0))),
            Box::new(|| Box::new(Cliff::new(2e6, 15e6))),
            Box::new(|| Box::new(SimulatedTiers::new(&[1 << 16], vec![100_000, 900_000], 0))),
            Box::new(|| Box::new(Stall::new(50_000_000, 20_000_000))),
        ]
    }

    /// Arrivals in order of time, all through one law, then in order of time through the next: no
    /// event loop is needed.
    fn one_after_the_other(
        arrivals: &[(u64, DeviceIo)],
        laws: Vec<Box<dyn DeviceLaw>>,
    ) -> Vec<(u64, u64)> {
        let mut at: Vec<(u64, u64, DeviceIo)> =
            (0u64..).zip(arrivals).map(|(tag, (at_ns, io))| (*at_ns, tag, *io)).collect();
        for mut law in laws {
            for one in &mut at {
                one.0 = law.completion_ns(one.0, &one.2).max(one.0);
            }
            at.sort_by_key(|one| (one.0, one.1));
        }
        at.into_iter().map(|(at_ns, tag, _)| (at_ns, tag)).collect()
    }

    fn arrivals() -> Vec<(u64, DeviceIo)> {
        let (mut random, mut at_s) = (Random::new(5), 0.0);
        (0..3000)
            .map(|_| {
                at_s += random.exponential() / 2000.0;
                let io = DeviceIo::write(random.below(64) * 8192, 8192);
                (nanoseconds(at_s), io)
            })
            .collect()
    }

    #[test]
    fn every_pair_of_laws_works_off_what_comes_in_its_own_order() {
        let arrivals = arrivals();
        for (first, one) in laws().iter().enumerate() {
            for (second, other) in laws().iter().enumerate() {
                let expected = one_after_the_other(&arrivals, vec![one(), other()]);
                let mut device = LawPipeline::new(vec![one(), other()]);
                let mut found = Vec::new();
                let mut done = Vec::new();
                let mut rest = (0u64..).zip(&arrivals).peekable();
                while rest.peek().is_some() || device.next_event_ns().is_some() {
                    let arrival_ns = rest.peek().map_or(u64::MAX, |(_, (at_ns, _))| *at_ns);
                    let event_ns = device.next_event_ns().unwrap_or(u64::MAX);
                    if arrival_ns < event_ns {
                        let (tag, (at_ns, io)) = rest.next().unwrap();
                        device.submit(*at_ns, tag, *io);
                    } else {
                        device.advance(event_ns, &mut done);
                        found.extend(done.drain(..).map(|(tag, _)| (event_ns, tag)));
                    }
                }
                let sorted = |mut all: Vec<(u64, u64)>| {
                    all.sort_unstable();
                    all
                };
                assert_eq!(sorted(found), sorted(expected), "laws {first} and {second}");
            }
        }
    }

    /// Gordon and Newell: with k of N at the single server, 8 servers work on the others.
    #[test]
    fn eight_servers_before_one_are_a_closed_network() {
        let (eight_s, one_s, circulating) = (2e-3_f64, 4.1e-4_f64, 12);
        let weight = |at_one: usize| -> f64 {
            let rates = (1..=circulating - at_one).map(|busy| real_len(busy.min(8)) / eight_s);
            one_s.powi(i32::try_from(at_one).unwrap()) / rates.product::<f64>()
        };
        let total: f64 = (0..=circulating).map(weight).sum();
        let expected = (1.0 - weight(0) / total) / one_s;
        let device = LawPipeline::new(vec![
            Box::new(ServersLaw::new(8, ServiceLaw::Exponential(eight_s * 1e9), 11)),
            Box::new(ServersLaw::new(1, ServiceLaw::Exponential(one_s * 1e9), 12)),
        ]);
        let stream = Stream::closed("reads", Share(1.0), Bytes(8192), 12);
        let workload = Workload {
            warm_up: Nanos(1_000_000_000),
            ..Workload::of("tandem", Nanos(100_000_000_000), stream)
        };
        let mut simulation = Simulation::new(Box::new(device), 1 << 40);
        let found = simulation.run(&workload, &mut Ignore).unwrap().iops();
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
}
