//! Devices whose rate wanders, stalls, warms up or collapses, on time scales of 0.1 s to many
//! seconds, and their true answers.

use super::{Case, MIB, Truth, plan};
use assay_engine::Observer;
use assay_engine::Simulation;
use assay_engine::device::{DeviceLaw, LawPipeline, Stall};
use assay_methods::Bench;
use assay_model::Result;
use assay_model::device::{Device, DeviceIo};
use assay_model::measurement::Measurement;
use assay_model::number::{count, nanoseconds, seconds};
use assay_model::workload::Workload;
use assay_stats::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What changes the service times of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Nothing but chance.
    None,
    /// The logarithm of the mean follows a first-order autoregression, a step a second.
    Wander { spread: f64, coefficient: f64 },
    /// Times are longer by a factor in a slow regime; both last exponential times of these means,
    /// s.
    Regimes { slower: f64, fast_s: f64, slow_s: f64 },
    /// Pareto times with this exponent.
    Pareto { exponent: f64 },
    /// Log-normal times whose logarithm has this standard deviation.
    LogNormal { deviation: f64 },
    /// Exponential times of two means; a share of the I/Os takes `longer` times the mean of the
    /// others.
    Hyper { share: f64, longer: f64 },
    /// Times are longer by a factor in the first `until_s` seconds.
    Cold { slower: f64, until_s: f64 },
    /// Times are longer by a factor when more I/Os than this have been there for 2 s.
    Collapse { slower: f64, waiting: usize },
}

/// Equal servers behind one queue whose mean service time changes as the noise says.
struct Farm {
    free_ns: BinaryHeap<Reverse<u64>>,
    leaves_ns: BinaryHeap<Reverse<u64>>,
    mean_s: f64,
    noise: Noise,
    random: Random,
    deviation: f64,
    steps: u64,
    slow: bool,
    changes_s: f64,
}

impl Farm {
    fn new(servers: u32, mean_us: f64, noise: Noise, seed: u64) -> Self {
        let mut random = Random::part(seed, 0xfa12);
        let (deviation, first) = (random.normal(), random.unit());
        let mut farm = Self {
            free_ns: (0..servers).map(|_| Reverse(0)).collect(),
            leaves_ns: BinaryHeap::new(),
            mean_s: mean_us / 1e6,
            noise,
            random,
            deviation,
            steps: 0,
            slow: false,
            changes_s: 0.0,
        };
        if let Noise::Regimes { fast_s, slow_s, .. } = noise {
            farm.slow = first < slow_s / (fast_s + slow_s);
            farm.changes_s = farm.stay_s(fast_s, slow_s);
        }
        farm
    }

    fn stay_s(&mut self, fast_s: f64, slow_s: f64) -> f64 {
        self.random.exponential() * if self.slow { slow_s } else { fast_s }
    }

    /// By what factor times are longer at a moment.
    fn factor(&mut self, now_s: f64) -> f64 {
        match self.noise {
            Noise::Wander { spread, coefficient } => {
                while self.steps < count(now_s) {
                    self.steps += 1;
                    let shock = (1.0 - coefficient * coefficient).sqrt() * self.random.normal();
                    self.deviation = coefficient * self.deviation + shock;
                }
                (spread * self.deviation).exp()
            }
            Noise::Regimes { slower, fast_s, slow_s } => {
                while self.changes_s < now_s {
                    self.slow = !self.slow;
                    self.changes_s += self.stay_s(fast_s, slow_s);
                }
                if self.slow { slower } else { 1.0 }
            }
            Noise::Cold { slower, until_s } if now_s < until_s => slower,
            Noise::Collapse { slower, waiting } => {
                if self.leaves_ns.len() <= waiting {
                    self.changes_s = now_s + 2.0;
                }
                if now_s >= self.changes_s { slower } else { 1.0 }
            }
            _ => 1.0,
        }
    }
}

impl DeviceLaw for Farm {
    fn completion_ns(&mut self, now_ns: u64, _io: &DeviceIo) -> u64 {
        while self.leaves_ns.peek().is_some_and(|Reverse(leaves_ns)| *leaves_ns <= now_ns) {
            self.leaves_ns.pop();
        }
        let Reverse(free_ns) = self.free_ns.pop().unwrap_or(Reverse(now_ns));
        let start_ns = free_ns.max(now_ns);
        let mean_s = self.mean_s * self.factor(seconds(start_ns));
        let service_s = match self.noise {
            Noise::Pareto { exponent } => {
                mean_s
                    * (1.0 - exponent.recip())
                    * self.random.unit().max(1e-15).powf(-exponent.recip())
            }
            Noise::LogNormal { deviation } => {
                mean_s * (deviation * self.random.normal() - 0.5 * deviation * deviation).exp()
            }
            Noise::Hyper { share, longer } => {
                let times = if self.random.unit() < share { longer } else { 1.0 };
                mean_s * times / (1.0 + share * (longer - 1.0)) * self.random.exponential()
            }
            _ => mean_s * self.random.exponential(),
        };
        let done_ns = start_ns + nanoseconds(service_s).max(1);
        self.free_ns.push(Reverse(done_ns));
        self.leaves_ns.push(Reverse(done_ns));
        done_ns
    }
}

/// A kind of device.
#[derive(Clone, Debug)]
pub struct Kind {
    pub case: Case,
    servers: u32,
    mean_us: f64,
    noise: Noise,
    /// Period and length of stalls, ns; 0 for none.
    stall_ns: (u64, u64),
}

impl Kind {
    /// Equal servers with a noise. The mean rate of one server is that of a second of all time;
    /// with as many I/Os as servers or more all servers work.
    pub fn farm(
        name: &'static str,
        servers: u32,
        mean_us: f64,
        limit_us: f64,
        noise: Noise,
    ) -> Self {
        // How many times faster than without the noise, in the mean over time.
        let faster = match noise {
            Noise::Wander { spread, .. } => (0.5 * spread * spread).exp(),
            Noise::Regimes { slower, fast_s, slow_s } => {
                (fast_s + slow_s / slower) / (fast_s + slow_s)
            }
            _ => 1.0,
        };
        let one = faster * 1e6 / mean_us;
        let most = f64::from(servers) * one;
        let truth = Truth {
            base_service_time_ns: 1e9 / one,
            iops_max: most,
            iops_within: Some(most),
            throughput_max: Some(most * MIB),
            single_stream: Some(one * MIB),
            ..Truth::default()
        };
        let case = Case { name, device: String::new(), plan: plan(1.0, limit_us, 60.0), truth };
        Self { case, servers, mean_us, noise, stall_ns: (0, 0) }
    }

    /// The device, fresh.
    pub fn bench(&self, seed: u64) -> Noisy {
        let farm = Farm::new(self.servers, self.mean_us, self.noise, seed);
        let mut laws: Vec<Box<dyn DeviceLaw>> = vec![Box::new(farm)];
        if self.stall_ns.0 > 0 {
            laws.push(Box::new(Stall::new(self.stall_ns.0, self.stall_ns.1)));
        }
        let device: Box<dyn Device> = Box::new(LawPipeline::new(laws));
        Noisy(Simulation::new(device, 1 << 40))
    }

    /// Half the width of the 95% interval, as a share, of one who knows the law of the noise and
    /// sees a load of this rate for all the time; `None` where times have no variance.
    ///
    /// The variance of the mean of a stationary process over a long time is its variance times
    /// twice its memory over the time; of completions of servers that are always busy, the
    /// squared coefficient of variation of a time over their number (D. R. Cox,
    /// *Renewal Theory*, 1962, §3.3).
    pub fn oracle(&self, iops: f64, time_s: f64) -> Option<f64> {
        let slow_s = match self.noise {
            Noise::Wander { spread, coefficient } => {
                spread * spread * (1.0 + coefficient) / (1.0 - coefficient)
            }
            Noise::Regimes { slower, fast_s, slow_s } => {
                let share = fast_s / (fast_s + slow_s);
                let mean = share + (1.0 - share) / slower;
                let spread = (1.0 - slower.recip()) / mean;
                let memory_s = fast_s * slow_s / (fast_s + slow_s);
                2.0 * memory_s * share * (1.0 - share) * spread * spread
            }
            _ => 0.0,
        };
        let squared_variation = match self.noise {
            Noise::Pareto { .. } => return None,
            Noise::LogNormal { deviation } => (deviation * deviation).exp_m1(),
            Noise::Hyper { share, longer } => {
                let mean = 1.0 + share * (longer - 1.0);
                2.0 * (1.0 + share * (longer * longer - 1.0)) / (mean * mean) - 1.0
            }
            _ => 1.0,
        };
        let stalls = self.variance_of_stalls(time_s);
        Some(1.96 * ((slow_s + squared_variation / iops) / time_s + stalls).sqrt())
    }

    /// Relative variance of the time between stalls in a window that begins at any moment.
    fn variance_of_stalls(&self, time_s: f64) -> f64 {
        let (every_s, length_s) = (seconds(self.stall_ns.0), seconds(self.stall_ns.1));
        if every_s <= 0.0 {
            return 0.0;
        }
        let more = (time_s / every_s).fract();
        let running_s = time_s * (1.0 - length_s / every_s);
        more * (1.0 - more) * (length_s / running_s).powi(2)
    }

    /// The same with at most this many I/Os outstanding.
    pub fn at_most(mut self, queue_depth: u32) -> Self {
        self.case.plan.queue_depth_max = queue_depth;
        self
    }

    /// The same with stalls of a length at the end of every period.
    pub fn stalling(mut self, every_s: f64, length_s: f64) -> Self {
        let share = 1.0 - length_s / every_s;
        self.stall_ns = (nanoseconds(every_s), nanoseconds(length_s));
        let truth = &mut self.case.truth;
        truth.base_service_time_ns /= share;
        truth.iops_max *= share;
        truth.iops_within = truth.iops_within.map(|rate| rate * share);
        truth.throughput_max = truth.throughput_max.map(|rate| rate * share);
        truth.single_stream = truth.single_stream.map(|rate| rate * share);
        self
    }
}

/// A simulated device as a bench.
pub struct Noisy(Simulation);

impl Noisy {
    pub const fn of(simulation: Simulation) -> Self {
        Self(simulation)
    }
}

impl Bench for Noisy {
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let mut measurement = self.0.run(workload, observer)?;
        measurement.conduct.worker_busy_share_max = 0.0;
        measurement.conduct.host_busy_share = None;
        Ok(measurement)
    }

    fn now_ns(&self) -> u64 {
        self.0.now_ns()
    }

    fn stopped(&self) -> bool {
        false
    }

    fn target(&self) -> String {
        "noisy".to_owned()
    }
}

/// Nine kinds of noisy devices; the limits are such that a load that fills the servers is within.
pub fn kinds() -> Vec<Kind> {
    let wander = |name, spread| {
        Kind::farm(name, 4, 800.0, 12_000.0, Noise::Wander { spread, coefficient: 0.8 })
    };
    let regimes = |name, fast_s, slow_s| {
        Kind::farm(name, 4, 500.0, 15_000.0, Noise::Regimes { slower: 3.0, fast_s, slow_s })
    };
    let cold = Noise::Cold { slower: 3.0, until_s: 20.0 };
    let collapse = Noise::Collapse { slower: 4.0, waiting: 48 };
    vec![
        wander("wanders by 2%", 0.02),
        wander("wanders by 5%", 0.05),
        wander("wanders by 10%", 0.1),
        regimes("two regimes, 0.2 s and 0.1 s", 0.2, 0.1),
        regimes("two regimes, 2 s and 1 s", 2.0, 1.0),
        Kind::farm("stalls of 0.4 s every 3.7 s", 5, 450.0, 15_000.0, Noise::None)
            .stalling(3.7, 0.4),
        Kind::farm("Pareto times", 6, 900.0, 30_000.0, Noise::Pareto { exponent: 1.8 }),
        Kind::farm("cold for 20 s", 4, 700.0, 6000.0, cold),
        Kind::farm("collapse beyond 48 waiting", 8, 1000.0, 50_000.0, collapse).at_most(256),
    ]
}

/// The same kinds with other parameters, and two of long single times: none was looked at while the
/// method was made.
pub fn others() -> Vec<Kind> {
    let wander = |name, spread, coefficient| {
        Kind::farm(name, 6, 1100.0, 15_000.0, Noise::Wander { spread, coefficient })
    };
    let regimes = |name, slower, fast_s, slow_s| {
        Kind::farm(name, 5, 600.0, 25_000.0, Noise::Regimes { slower, fast_s, slow_s })
    };
    let cold = |name, slower, until_s| {
        Kind::farm(name, 6, 900.0, 12_000.0, Noise::Cold { slower, until_s })
    };
    let stalls = |name, every_s, length_s| {
        Kind::farm(name, 3, 350.0, 15_000.0, Noise::None).stalling(every_s, length_s)
    };
    let collapse = Noise::Collapse { slower: 3.0, waiting: 24 };
    vec![
        wander("other: wanders by 3%, 0.9", 0.03, 0.9),
        wander("other: wanders by 7%, 0.7", 0.07, 0.7),
        regimes("other: two regimes, 1 s and 1 s", 2.0, 1.0, 1.0),
        regimes("other: two regimes, 0.5 s and 0.25 s", 4.0, 0.5, 0.25),
        stalls("other: stalls of 0.25 s every 2.3 s", 2.3, 0.25),
        stalls("other: stalls of 0.5 s every 6.1 s", 6.1, 0.5),
        Kind::farm("other: Pareto times", 8, 700.0, 50_000.0, Noise::Pareto { exponent: 1.7 }),
        cold("other: cold for 12 s", 2.0, 12.0),
        cold("other: cold for 27 s", 4.0, 27.0),
        Kind::farm("other: collapse beyond 24", 6, 800.0, 60_000.0, collapse).at_most(256),
        Kind::farm(
            "other: two means",
            4,
            440.0,
            30_000.0,
            Noise::Hyper { share: 0.05, longer: 25.0 },
        ),
        Kind::farm(
            "other: log-normal times",
            7,
            900.0,
            30_000.0,
            Noise::LogNormal { deviation: 1.5 },
        ),
    ]
}
