//! A device whose rate rises and falls with the number of I/Os that are in it, as Gunther's
//! universal law of scalability says, and its true answers.

use super::{Case, MIB, Truth, plan};
use assay_model::device::{Device, DeviceIo};
use assay_model::number::{nanoseconds, real_len};
use assay_stats::random::Random;
use assay_stats::special::incomplete_gamma;
use std::collections::VecDeque;

/// The law: N. J. Gunther, *Guerrilla Capacity Planning*, Springer 2007, §4.
#[derive(Clone, Copy, Debug)]
pub struct UslLaw {
    /// I/Os per second of one alone.
    pub alone_per_s: f64,
    pub contention: f64,
    pub coherency: f64,
}

impl UslLaw {
    /// I/Os per second with this many in it.
    pub fn rate(&self, inside: f64) -> f64 {
        let others = inside - 1.0;
        let lost = self.contention * others + self.coherency * inside * others;
        self.alone_per_s * inside / (1.0 + lost)
    }

    /// A case whose limit is that many times the 0.99 quantile at the load that gives most.
    ///
    /// In a closed loop the number inside is constant, so that completions are a Poisson stream and
    /// a time in a queue in order of arrival is Erlang's.
    pub fn case(&self, limit_times: f64) -> Case {
        let rate = |load: u32| self.rate(f64::from(load));
        let beyond =
            |load: u32, limit_s: f64| incomplete_gamma(f64::from(load), rate(load) * limit_s).upper;
        let of = |load: &u32| rate(*load);
        let peak = (1..=1024).max_by(|one, other| of(one).total_cmp(&of(other))).unwrap_or(1);
        let mut limit_s = 0.0;
        while beyond(peak, limit_s) > 0.01 {
            limit_s += 1e-3 * f64::from(peak) / rate(peak);
        }
        limit_s *= limit_times;
        let within = super::last_within(1024, |load| beyond(load, limit_s));
        let within = within.map(|last| rate(last.min(peak)));
        Case {
            name: "drawn",
            device: String::new(),
            plan: plan(1.0, limit_s * 1e6, 60.0),
            truth: Truth {
                base_service_time_ns: 1e9 / self.alone_per_s,
                iops_max: rate(peak),
                iops_within: within,
                throughput_max: Some(rate(peak) * MIB),
                single_stream: Some(self.alone_per_s * MIB),
                ..Truth::default()
            },
        }
    }
}

/// The device: one queue in order of arrival, drained at random at the law's rate.
pub struct Usl {
    law: UslLaw,
    queue: VecDeque<(u64, i32)>,
    next_ns: Option<u64>,
    random: Random,
}

impl Usl {
    pub fn new(law: UslLaw, seed: u64) -> Self {
        Self { law, queue: VecDeque::new(), next_ns: None, random: Random::part(seed, 0x0551) }
    }

    fn draw(&mut self, now_ns: u64) {
        let inside = real_len(self.queue.len());
        let wait = || self.random.exponential() / self.law.rate(inside);
        self.next_ns = (inside > 0.0).then(wait).map(|wait_s| now_ns + nanoseconds(wait_s).max(1));
    }
}

impl Device for Usl {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        self.queue.push_back((tag, io.moved()));
        self.draw(now_ns);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.next_ns
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while let Some(at_ns) = self.next_ns.filter(|at_ns| *at_ns <= now_ns) {
            done.extend(self.queue.pop_front());
            self.draw(at_ns);
        }
    }
}
