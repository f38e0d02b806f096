//! Prints how well rules separate steady series from others, and how soon a step is noticed:
//! benchmarks/results/steadiness.md.
//!
//! Takes about a minute: `cargo run --release -p assay-stats --example steadiness`.
#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use assay_model::number::{count, index, real, real_len};
use assay_stats::random::Random;
use assay_stats::series::{batch_means, mean};
use assay_stats::steady::{SteadyRule, five_rounds, slope_rule, steadiness};
use assay_stats::watch::{LevelWatch, WatchRule};
use std::f64::consts::TAU;

/// Four hours at one value a second.
const LENGTH: usize = 14_400;
/// Values in a batch of our rule.
const BATCH: usize = 60;
/// Values in a batch of the watch.
const WATCHED: usize = 5;
const SEEDS: u64 = 25;

/// What a trace does besides its noise; the share of its level at a time in 0..=1 of the trace.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stationary,
    Drift,
    Step,
    Dip,
    SawTooth,
    Cliff,
    Thermal,
    Never,
}

const KINDS: [(Kind, &str, u64); 8] = [
    (Kind::Stationary, "stationary", 7 * SEEDS),
    (Kind::Drift, "drift of 1% an hour", SEEDS),
    (Kind::Step, "step of 5%", SEEDS),
    (Kind::Dip, "V-shaped dip", SEEDS),
    (Kind::SawTooth, "garbage-collection saw-tooth", SEEDS),
    (Kind::Cliff, "write cliff", SEEDS),
    (Kind::Thermal, "thermal", SEEDS),
    (Kind::Never, "never steady", SEEDS),
];

fn autoregression(random: &mut Random, n: usize, coefficient: f64) -> Vec<f64> {
    let shock = (1.0 - coefficient * coefficient).sqrt();
    let mut value = random.normal();
    let next = || {
        let now = value;
        value = coefficient * value + shock * random.normal();
        now
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// The level at every second.
fn shape(kind: Kind, random: &mut Random) -> Vec<f64> {
    let (place, depth) = (0.2 + 0.6 * random.unit(), random.unit());
    let sign = if random.chance(0.5) { 1.0 } else { -1.0 };
    let period_s = 600.0 + 1800.0 * random.unit();
    let at = |second: usize| {
        let (time_s, share) = (real_len(second), real_len(second) / real_len(LENGTH));
        match kind {
            Kind::Stationary | Kind::Never => 1.0,
            Kind::Drift => 1.0 + sign * 0.01 * time_s / 3600.0,
            Kind::Step => 1.0 + sign * if share < place { 0.0 } else { 0.05 },
            Kind::Dip => {
                let half_s = 300.0 + 600.0 * depth;
                let near = 1.0 - ((time_s - place * real_len(LENGTH)) / half_s).abs();
                1.0 - (0.10 + 0.18 * depth) * near.max(0.0)
            }
            Kind::SawTooth => 1.0 - (0.10 + 0.25 * depth) * (time_s / period_s).fract(),
            Kind::Cliff => {
                if share < place {
                    1.0
                } else {
                    0.3 + 0.5 * depth
                }
            }
            Kind::Thermal => {
                let hot = if share > place { 0.08 + 0.12 * depth } else { 0.0 };
                let wave = 0.5 + 0.5 * (TAU * time_s / 480.0).sin();
                1.0 - hot * wave
            }
        }
    };
    let mut levels: Vec<f64> = (0..LENGTH).map(at).collect();
    if kind == Kind::Never {
        wander(&mut levels, random);
    }
    levels
}

/// A random walk that moves a tenth of the level in an hour.
fn wander(levels: &mut [f64], random: &mut Random) {
    let mut at = 0.0;
    for level in levels {
        at += 0.10 / 60.0 * random.normal();
        *level = (1.0_f64 + at).max(0.1);
    }
}

/// A trace around 10,000 IOPS with correlated noise of 1 to 3%.
fn trace(kind: Kind, seed: u64) -> Vec<f64> {
    // Other seeds than those that the rule was made with.
    let mut random = Random::part(1_000 + seed, 77 + real_kind(kind));
    let coefficient = [0.0, 0.5, 0.8, 0.9][index(4.0 * random.unit())];
    let noise = 0.01 + 0.02 * random.unit();
    let levels = shape(kind, &mut random);
    let shocks = autoregression(&mut random, LENGTH, coefficient);
    let value = |(level, shock): (f64, f64)| 10_000.0 * level * (1.0 + noise * shock);
    levels.into_iter().zip(shocks).map(value).collect()
}

fn real_kind(kind: Kind) -> u64 {
    KINDS.iter().zip(0u64..).find(|((one, ..), _)| *one == kind).map_or(0, |(_, at)| at)
}

type Rule = (&'static str, fn(&[f64]) -> bool);

const RULES: [Rule; 5] = [
    ("ours: batches of 60 s, whole trace", |trace| {
        steadiness(&batch_means(trace, BATCH), &SteadyRule::default()).since == Some(0)
    }),
    ("five rounds of 60 s, any window", |trace| five_rounds(&batch_means(trace, 60)).is_some()),
    ("five rounds over the whole trace", |trace| {
        five_rounds(&batch_means(trace, LENGTH / 5)).is_some()
    }),
    ("slope 0.1% a second, any 300 s", |trace| slope_rule(trace, 300, 0.001).is_some()),
    ("slope 0.1% a second, whole trace", |trace| slope_rule(trace, LENGTH, 0.001).is_some()),
];

/// True and false "steady", and how many steady traces were missed.
#[derive(Default)]
struct Score {
    right: f64,
    wrong: f64,
    missed: f64,
}

impl Score {
    fn f1(&self) -> f64 {
        2.0 * self.right / (2.0 * self.right + self.wrong + self.missed)
    }
}

fn rules() {
    let traces: u64 = KINDS.iter().map(|(.., seeds)| seeds).sum();
    println!("## Steady or not: {traces} traces of four hours\n");
    println!("| rule | F1 | {} |", KINDS.map(|(_, name, _)| name).join(" | "));
    println!("|---|---|{}", "---|".repeat(KINDS.len()));
    for (name, rule) in RULES {
        let mut score = Score::default();
        let cells: Vec<String> = KINDS
            .iter()
            .map(|(kind, _, seeds)| {
                let said = (0..*seeds).filter(|seed| rule(&trace(*kind, *seed))).count();
                let (said, all) = (real_len(said), real(*seeds));
                if *kind == Kind::Stationary {
                    (score.right, score.missed) = (said, all - said);
                } else {
                    score.wrong += said;
                }
                format!("{said}/{all}")
            })
            .collect();
        println!("| {name} | {:.3} | {} |", score.f1(), cells.join(" | "));
    }
}

fn watch() -> LevelWatch {
    LevelWatch::new(WatchRule {
        change_share: 0.05,
        // 100 h of batches of 5 s.
        between_alarms: 72_000.0,
    })
}

fn steps() {
    println!(
        "\n## A step of 5%: batches of {WATCHED} s, 200 traces each; alarms in 2,000 h without \
         one\n"
    );
    println!(
        "| noise of 1 s | φ | noticed within 60 s | median s | slowest s | least mean of any rule \
         s | alarms in 100 h |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (noise, coefficient) in
        [(0.01, 0.5), (0.02, 0.0), (0.02, 0.5), (0.02, 0.8), (0.03, 0.8), (0.05, 0.8)]
    {
        let mut delays: Vec<f64> = (0..200).map(|seed| delay_s(noise, coefficient, seed)).collect();
        delays.sort_by(f64::total_cmp);
        let soon = delays.iter().filter(|delay| **delay <= 60.0).count();
        let alarms: usize = (0..20).map(|seed| alarms(noise, coefficient, seed)).sum();
        println!(
            "| {}% | {coefficient} | {:.1}% | {:.0} | {:.0} | {:.0} | {:.2} |",
            count(100.0 * noise),
            real_len(soon) / 2.0,
            delays[100],
            delays[199],
            least_mean_s(noise, coefficient),
            real_len(alarms) / 20.0
        );
    }
}

/// The least mean delay of any rule with 100 h between false alarms: ln(T I) / I with the
/// information of a second I = δ² (1 - φ) / (2 σ² (1 + φ)) (Lorden 1971), as T grows.
fn least_mean_s(noise: f64, coefficient: f64) -> f64 {
    let variance = noise * noise * (1.0 + coefficient) / (1.0 - coefficient);
    let information = 0.05 * 0.05 / (2.0 * variance);
    (360_000.0 * information).ln() / information
}

/// Seconds from a step in a trace of an hour to the alarm.
fn delay_s(noise: f64, coefficient: f64, seed: u64) -> f64 {
    let mut random = Random::part(seed, 5);
    let step_at = 1800 + index(600.0 * random.unit());
    let sign = if random.chance(0.5) { 1.0 } else { -1.0 };
    let shocks = autoregression(&mut random, 7200, coefficient);
    let values: Vec<f64> = shocks
        .iter()
        .enumerate()
        .map(|(at, shock)| 1.0 + noise * shock + if at < step_at { 0.0 } else { sign * 0.05 })
        .collect();
    let mut watch = watch();
    for (batch, stretch) in values.chunks(WATCHED).enumerate() {
        let end = (batch + 1) * WATCHED;
        if watch.add(mean(stretch)).is_some() && end > step_at {
            return real_len(end - step_at);
        }
    }
    f64::INFINITY
}

/// False alarms in 100 h.
fn alarms(noise: f64, coefficient: f64, seed: u64) -> usize {
    let mut random = Random::part(seed, 6);
    let shocks = autoregression(&mut random, 360_000, coefficient);
    let mut watch = watch();
    shocks
        .chunks(WATCHED)
        .filter(|stretch| watch.add(1.0 + noise * mean(stretch)).is_some())
        .count()
}

fn main() {
    rules();
    steps();
}
