//! Prints how often the watch of a soak alarms where nothing changed, and how soon it notices
//! steps: benchmarks/results/steadiness.md.
//!
//! `cargo run --release -p assay-stats --example watch_alarms -- [SEED [HOURS [TRACES]]]`.
#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use assay_model::number::{count, index, real, real_len};
use assay_stats::random::Random;
use assay_stats::series::mean;
use assay_stats::watch::{LevelWatch, WatchRule};

const HOUR: usize = 3600;
const COEFFICIENTS: [f64; 7] = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Noise of one value a second: coefficients it is drawn from, its sizes, and whether its shocks
/// are heavy-tailed.
#[derive(Clone, Copy)]
struct Noise(&'static [f64], f64, f64, bool);

/// Stalls of 1 s to some seconds that come once in a number of seconds.
#[derive(Clone, Copy)]
struct Stalls {
    every_s: f64,
    longest_s: f64,
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// Relative values of `n` seconds.
fn values(random: &mut Random, n: usize, noise: Noise, stalls: Option<Stalls>) -> Vec<f64> {
    let Noise(coefficients, least, most, heavy) = noise;
    let coefficient = coefficients[index(real_len(coefficients.len()) * random.unit())];
    let (size, shock) = (between(random, least, most), (1.0 - coefficient * coefficient).sqrt());
    let mut slow = random.normal();
    let mut next = || {
        let now = slow;
        let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
        let new = if heavy { random.normal() / squares.sqrt() } else { random.normal() };
        slow = coefficient * slow + shock * new;
        1.0 + size * now
    };
    let mut values: Vec<f64> = std::iter::repeat_with(&mut next).take(n).collect();
    if let Some(stalls) = stalls {
        stall(random, &mut values, stalls);
    }
    values
}

fn stall(random: &mut Random, values: &mut [f64], stalls: Stalls) {
    let mut at = stalls.every_s * random.exponential();
    while index(at) < values.len() {
        let from = index(at);
        let to = from + 1 + index(stalls.longest_s * random.unit());
        let (left, n) = (between(random, 0.05, 0.5), values.len());
        values[from..to.min(n)].iter_mut().for_each(|value| *value *= left);
        at += stalls.every_s * random.exponential();
    }
}

/// When something was noticed, s.
fn noticed_s(values: &[f64]) -> Vec<f64> {
    let mut watch = LevelWatch::new(WatchRule { change_share: 0.05, between_alarms: 72_000.0 });
    let changes = values.chunks_exact(5).filter_map(|five| watch.add(8000.0 * mean(five)));
    changes.map(|change| 5.0 * real(change.noticed_at + 1)).collect()
}

fn alarms(seed: u64, hours: f64) {
    let short = &COEFFICIENTS[4..];
    let long = &[0.97, 0.98];
    let stalls = |every_s, longest_s| Some(Stalls { every_s, longest_s });
    let calm = Noise(&[0.5], 0.01, 0.01, false);
    println!("| nothing changes | length of a soak | alarms | in 100 h |\n|---|---|---|---|");
    for (name, soak_h, noise, stalls) in [
        ("noise of 0.5 to 5%, φ to 0.95", 4.0, Noise(&COEFFICIENTS, 0.005, 0.05, false), None),
        ("noise of 1 to 5%, φ of 0.8 to 0.95", 0.5, Noise(short, 0.01, 0.05, false), None),
        ("noise of 1 to 5%, φ of 0.8 to 0.95", 1.0, Noise(short, 0.01, 0.05, false), None),
        ("noise of 1 to 3%, φ of 0.97 or 0.98", 1.0, Noise(long, 0.01, 0.03, false), None),
        ("noise of 1 to 3%, φ of 0.97 or 0.98", 4.0, Noise(long, 0.01, 0.03, false), None),
        (
            "the same with Student's t₃, φ to 0.95",
            1.0,
            Noise(&COEFFICIENTS, 0.01, 0.03, true),
            None,
        ),
        (
            "the same with Student's t₃, φ to 0.95",
            4.0,
            Noise(&COEFFICIENTS, 0.01, 0.03, true),
            None,
        ),
        ("stalls of 1 to 5 s every 120 s", 1.0, calm, stalls(120.0, 5.0)),
        ("stalls of 1 to 5 s every 120 s", 4.0, calm, stalls(120.0, 5.0)),
        ("stalls of 1 to 5 s every 60 s", 4.0, calm, stalls(60.0, 5.0)),
        ("stalls of 1 to 8 s every 300 s", 4.0, calm, stalls(300.0, 8.0)),
        ("stalls of 1 to 3 s every 30 s", 4.0, calm, stalls(30.0, 3.0)),
    ] {
        let soaks = count(hours / soak_h);
        let n = index(soak_h * real_len(HOUR));
        let alarmed =
            |soak| noticed_s(&values(&mut Random::part(seed, soak), n, noise, stalls)).len();
        let all: usize = (0..soaks).map(alarmed).sum();
        println!(
            "| {name} | {soak_h} h | {all} in {hours} h | {:.1} |",
            100.0 * real_len(all) / hours
        );
    }
}

fn steps(seed: u64, traces: u64) {
    println!("\n| step | traces | noticed within 60 s | ever | median s | nine tenths s |");
    println!("|---|---|---|---|---|---|");
    let noise = Noise(&COEFFICIENTS, 0.005, 0.02, false);
    for share in [0.02, 0.03, 0.05, 0.1] {
        let delay_s = |trace| {
            let mut random = Random::part(seed + 1, trace);
            let n = 4 * HOUR;
            let at = index(between(&mut random, 0.2, 0.8) * real_len(n));
            let change = if random.chance(0.5) { share } else { -share };
            let mut levels = values(&mut random, n, noise, None);
            levels[at..].iter_mut().for_each(|value| *value *= 1.0 + change);
            let delays = noticed_s(&levels).into_iter().map(|noticed| noticed - real_len(at));
            delays.into_iter().find(|delay| *delay >= 0.0).unwrap_or(f64::INFINITY)
        };
        let mut delays: Vec<f64> = (0..traces).map(delay_s).collect();
        delays.sort_by(f64::total_cmp);
        let within = |most_s: f64| {
            100.0 * real_len(delays.iter().filter(|delay| **delay <= most_s).count()) / real(traces)
        };
        println!(
            "| {:.0}% | {traces} | {:.1}% | {:.1}% | {:.0} | {:.0} |",
            100.0 * share,
            within(60.0),
            within(f64::MAX),
            delays[delays.len() / 2],
            delays[delays.len() * 9 / 10]
        );
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number =
        |otherwise: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    let (seed, hours, traces) = (number(1), number(500), number(200));
    alarms(seed, real(hours));
    steps(seed, traces);
}
