//! Simulated devices whose service times are drawn from a law, and what Assay reports of a run on
//! one.

use assay_engine::device::{DeviceIo, DeviceLaw, LawPipeline};
use assay_engine::{Observer, Simulation};
use assay_judge::{JudgedRun, Series, SeriesBuilder, estimates_of_run};
use assay_model::Result;
use assay_model::measurement::{Interval, Measurement, Window};
use assay_model::number::{count, seconds};
use assay_model::verdict::NamedEstimate;
use assay_model::workload::Workload;
use assay_stats::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// How long one server works on one I/O; means in ms.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "each example draws from some of the laws")]
pub(crate) enum Drawn {
    Exponential(f64),
    Constant(f64),
    /// An exponential time of the first mean with this probability, else of the second.
    Hyper(f64, f64, f64),
    /// Exponential of the first mean, but of the second length with this probability.
    Rare(f64, f64, f64),
    /// The mean, and the standard deviation of the logarithm.
    LogNormal(f64, f64),
    /// The exponent and the mean.
    Pareto(f64, f64),
    /// The mean, and the standard deviation and the memory of its logarithm from one second to the
    /// next; Erlang of 16 within.
    Wander(f64, f64, f64),
    /// The mean, the standard deviation of the logarithm of each of two noises, and their memories;
    /// Erlang of 16 within.
    TwoWanders(f64, f64, [f64; 2]),
    /// Two means, and how many seconds each lasts on average.
    Regimes([f64; 2], [f64; 2]),
}

/// Draws service times in their order in time.
#[derive(Debug)]
pub(crate) struct Sampler {
    law: Drawn,
    random: Random,
    /// The second that the wander has reached, and where each noise stands in standard deviations.
    second: u64,
    levels: [f64; 2],
    /// The regime, and until when it lasts, s.
    regime: usize,
    until_s: f64,
}

impl Sampler {
    pub(crate) fn new(law: Drawn, seed: u64) -> Self {
        let mut random = Random::part(seed, 0xd4a3);
        let levels = [random.normal(), random.normal()];
        let mut regime = 0;
        if let Drawn::Regimes(_, stays) = law {
            regime = usize::from(random.chance(stays[1] / (stays[0] + stays[1])));
        }
        Self { law, random, second: 0, levels, regime, until_s: 0.0 }
    }

    /// A service time that begins at `now_s`, ms.
    pub(crate) fn draw_ms(&mut self, now_s: f64) -> f64 {
        match self.law {
            Drawn::Exponential(mean) => mean * self.random.exponential(),
            Drawn::Constant(time) => time,
            Drawn::Hyper(chance, one, other) => {
                let mean = if self.random.chance(chance) { one } else { other };
                mean * self.random.exponential()
            }
            Drawn::Rare(mean, length, chance) => {
                if self.random.chance(chance) {
                    length
                } else {
                    mean * self.random.exponential()
                }
            }
            Drawn::LogNormal(mean, spread) => {
                mean * (spread * self.random.normal() - 0.5 * spread * spread).exp()
            }
            Drawn::Pareto(exponent, mean) => {
                mean * (exponent - 1.0) / exponent * (self.random.exponential() / exponent).exp()
            }
            Drawn::Wander(mean, spread, memory) => {
                self.wander(now_s, [memory, 0.0]);
                mean * (spread * self.levels[0]).exp() * self.erlang()
            }
            Drawn::TwoWanders(mean, spread, memories) => {
                self.wander(now_s, memories);
                mean * (spread * self.levels.iter().sum::<f64>()).exp() * self.erlang()
            }
            Drawn::Regimes(means, stays) => {
                self.change(now_s, stays);
                means[self.regime] * self.random.exponential()
            }
        }
    }

    /// Around 1.
    fn erlang(&mut self) -> f64 {
        (0..16).map(|_| self.random.exponential()).sum::<f64>() / 16.0
    }

    fn wander(&mut self, now_s: f64, memories: [f64; 2]) {
        while self.second < count(now_s) {
            self.second += 1;
            for (level, memory) in self.levels.iter_mut().zip(memories) {
                let shock = (1.0 - memory * memory).sqrt();
                *level = memory * *level + shock * self.random.normal();
            }
        }
    }

    fn change(&mut self, now_s: f64, stays: [f64; 2]) {
        while self.until_s < now_s {
            self.regime = 1 - self.regime;
            self.until_s += stays[self.regime] * self.random.exponential();
        }
    }
}

/// Equal servers behind one queue, first come first served.
#[derive(Debug)]
pub(crate) struct Queue {
    free_ns: BinaryHeap<Reverse<u64>>,
    sampler: Sampler,
}

impl Queue {
    pub(crate) fn new(servers: usize, law: Drawn, seed: u64) -> Self {
        let free_ns = (0..servers).map(|_| Reverse(0)).collect();
        Self { free_ns, sampler: Sampler::new(law, seed) }
    }

    /// When an I/O that arrives at `now_ns` is completed, ns.
    pub(crate) fn done_ns(&mut self, now_ns: u64) -> u64 {
        let Reverse(free_ns) = self.free_ns.pop().unwrap_or(Reverse(0));
        let begin_ns = free_ns.max(now_ns);
        let service_ns = count(1e6 * self.sampler.draw_ms(seconds(begin_ns))).max(1);
        self.free_ns.push(Reverse(begin_ns + service_ns));
        begin_ns + service_ns
    }
}

impl DeviceLaw for Queue {
    fn completion_ns(&mut self, now_ns: u64, _io: &DeviceIo) -> u64 {
        self.done_ns(now_ns)
    }
}

struct Keep(SeriesBuilder);

impl Observer for Keep {
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()> {
        self.0.add(interval);
        self.0.add_joint(joint);
        ControlFlow::Continue(())
    }
}

/// A workload on `servers` with a law of service: what was measured, how it went over time, and
/// what is reported of it.
pub(crate) fn run(
    servers: usize,
    law: Drawn,
    workload: &Workload,
) -> Result<(Measurement, Series, Vec<NamedEstimate>)> {
    let queue: Box<dyn DeviceLaw> = Box::new(Queue::new(servers, law, workload.seed));
    let mut simulation = Simulation::new(Box::new(LawPipeline::new(vec![queue])), 1 << 40);
    let mut keep = Keep(SeriesBuilder::new());
    let measurement = simulation.run(workload, &mut keep)?;
    let series = keep.0.finish();
    let run = JudgedRun { measurement: &measurement, series: &series };
    let estimates = estimates_of_run(run);
    Ok((measurement, series, estimates))
}
