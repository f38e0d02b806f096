//! Fifteen kinds of devices whose parameters are drawn from a seed, with their true answers: a new
//! seed is a device that no one has seen.
#![allow(clippy::unwrap_used, reason = "a device that was drawn wrongly is a bug of the draw")]

use super::noisy::{Kind, Noise, Noisy};
use super::usl::{Usl, UslLaw};
use super::{Case, Truth, bucket, exponential, raid};
use assay_engine::Simulation;
use assay_engine::device::DeviceSpec;
use assay_methods::{Bench, SimulatedBench};
use assay_stats::random::Random;

/// A device that was drawn.
pub struct Drawn {
    pub case: Case,
    pub bench: Box<dyn Bench>,
    /// The law of its noise, where one who knows it can say how well a rate can be known.
    pub kind: Option<Kind>,
}

/// A kind: its name, and how one is drawn.
pub type Draw = (&'static str, fn(&mut Between, u64) -> Drawn);

pub const KINDS: [Draw; 15] = [
    ("M/M/c", plain),
    ("log-normal", log_normal),
    ("hyperexponential", hyperexponential),
    ("wanders by 2%", |between, seed| wanders(between, seed, 0.02)),
    ("wanders by 5%", |between, seed| wanders(between, seed, 0.05)),
    ("wanders by 10%", |between, seed| wanders(between, seed, 0.1)),
    ("two regimes, 0.15 to 0.6 s", |between, seed| regimes(between, seed, 0.15, 0.6)),
    ("two regimes, 0.6 to 3 s", |between, seed| regimes(between, seed, 0.6, 3.0)),
    ("periodic stalls", stalls),
    ("Pareto", pareto),
    ("cold start", cold),
    ("queue collapse", collapse),
    ("USL", usl),
    ("RAID-5", raid_5),
    ("token bucket", token_bucket),
];

/// Numbers between two others, drawn evenly on a scale of logarithms.
pub struct Between(Random);

impl Between {
    pub fn new(seed: u64, kind: &str) -> Self {
        let hashed = |all: u64, byte| all.wrapping_mul(31).wrapping_add(u64::from(byte));
        let name = kind.bytes().fold(0, hashed);
        Self(Random::part(seed, name))
    }

    pub fn real(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.unit())
    }

    pub fn whole(&mut self, low: u32, high: u32) -> u32 {
        let drawn = self.0.below(u64::from(high - low) + 1);
        low + u32::try_from(drawn).unwrap()
    }
}

/// A farm of equal servers; its limit in mean times.
fn farm(between: &mut Between, seed: u64, limit: f64, noise: Noise) -> Drawn {
    let (servers, mean_us) = (between.whole(3, 9), between.real(300.0, 1500.0));
    of_kind(Kind::farm("drawn", servers, mean_us, limit * mean_us, noise), seed)
}

pub fn of_kind(kind: Kind, seed: u64) -> Drawn {
    Drawn { case: kind.case.clone(), bench: Box::new(kind.bench(seed)), kind: Some(kind) }
}

fn of_case(case: Case, seed: u64) -> Drawn {
    let spec = DeviceSpec::parse(&case.device).unwrap().with_seed(seed);
    Drawn { case, bench: Box::new(SimulatedBench::new(&spec)), kind: None }
}

fn plain(between: &mut Between, seed: u64) -> Drawn {
    let (servers, mean_us) = (between.whole(1, 12), between.real(200.0, 2000.0));
    let limit_us = mean_us * between.real(6.0, 16.0);
    let case = exponential(servers, mean_us.round(), limit_us, 60.0);
    let kind = Kind::farm("drawn", servers, mean_us, limit_us, Noise::None);
    Drawn { kind: Some(kind), ..of_case(case, seed) }
}

fn log_normal(between: &mut Between, seed: u64) -> Drawn {
    let deviation = between.real(1.0, 1.6);
    farm(between, seed, 40.0, Noise::LogNormal { deviation })
}

fn hyperexponential(between: &mut Between, seed: u64) -> Drawn {
    let (share, longer) = (between.real(0.02, 0.1), between.real(10.0, 30.0));
    farm(between, seed, 60.0, Noise::Hyper { share, longer })
}

fn wanders(between: &mut Between, seed: u64, spread: f64) -> Drawn {
    let coefficient = between.real(0.7, 0.88);
    farm(between, seed, 16.0, Noise::Wander { spread, coefficient })
}

fn regimes(between: &mut Between, seed: u64, least_s: f64, most_s: f64) -> Drawn {
    let slower = between.real(2.0, 4.0);
    let (fast_s, slow_s) = (between.real(least_s, most_s), between.real(least_s, most_s));
    farm(between, seed, 40.0, Noise::Regimes { slower, fast_s, slow_s })
}

fn stalls(between: &mut Between, seed: u64) -> Drawn {
    let (servers, mean_us) = (between.whole(3, 9), between.real(300.0, 900.0));
    let every_s = between.real(1.5, 7.0);
    let length_s = every_s * between.real(0.04, 0.12);
    let kind = Kind::farm("drawn", servers, mean_us, 35.0 * mean_us, Noise::None);
    of_kind(kind.stalling(every_s, length_s), seed)
}

fn pareto(between: &mut Between, seed: u64) -> Drawn {
    let exponent = between.real(1.7, 2.2);
    farm(between, seed, 60.0, Noise::Pareto { exponent })
}

fn cold(between: &mut Between, seed: u64) -> Drawn {
    let (slower, until_s) = (between.real(2.0, 4.0), between.real(8.0, 28.0));
    farm(between, seed, 14.0, Noise::Cold { slower, until_s })
}

fn collapse(between: &mut Between, seed: u64) -> Drawn {
    let (servers, mean_us) = (between.whole(3, 9), between.real(300.0, 1500.0));
    let waiting = usize::try_from(servers * between.whole(3, 6)).unwrap();
    let noise = Noise::Collapse { slower: between.real(3.0, 5.0), waiting };
    let kind = Kind::farm("drawn", servers, mean_us, 60.0 * mean_us, noise);
    of_kind(kind.at_most(256), seed)
}

fn usl(between: &mut Between, seed: u64) -> Drawn {
    let law = UslLaw {
        alone_per_s: between.real(300.0, 1500.0),
        contention: between.real(0.01, 0.05),
        coherency: between.real(0.0008, 0.004),
    };
    let case = law.case(between.real(0.6, 4.0));
    let simulation = Simulation::new(Box::new(Usl::new(law, seed)), 1 << 40);
    Drawn { case, bench: Box::new(Noisy::of(simulation)), kind: None }
}

/// Ten seeds share an array: its truth takes a long simulation.
fn raid_5(_: &mut Between, seed: u64) -> Drawn {
    let array = raid::array(&mut Between::new(seed / 10, "RAID-5"));
    let case = raid::case(&array);
    let bench = Noisy::of(raid::simulation(&array, seed));
    Drawn { case, bench: Box::new(bench), kind: None }
}

fn token_bucket(between: &mut Between, seed: u64) -> Drawn {
    let service_us = between.real(400.0, 2500.0).round();
    let burst = 8e6 / service_us;
    let refill = (burst * between.real(0.2, 0.7)).round();
    let credits = ((burst - refill) * between.real(3.0, 25.0)).round();
    let case = bucket(service_us, refill, credits, 60.0);
    let truth = Truth { burst_s: None, ..case.truth };
    of_case(Case { truth, ..case }, seed)
}
