//! Prints how well `assay soak` and plain segmentation tell steady traces of twenty kinds from others, and how often the watch
//! alarms: benchmarks/steadiness.md.
//!
//! `cargo run --release -p assay-stats --example soak_kinds -- [FIRST_SEED [SEEDS]]`; five seeds a kind and variant by default.
#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use assay_model::number::{index, real, real_len};
use assay_model::random::Random;
use assay_stats::pelt::changes;
use assay_stats::series::{batch_means, mean};
use assay_stats::steady::{Steadiness, SteadyRule, steadiness};
use assay_stats::watch::{Watch, WatchRule};
use std::f64::consts::TAU;

const HOUR: usize = 3600;
const COEFFICIENTS: [f64; 7] = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// What is true of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Truth {
    /// One level from begin to end.
    Whole,
    /// It changed, and its last level holds for a quarter at least.
    Ends,
    /// No level holds at the end.
    Never,
    /// One level, but its noise remembers for too long to tell.
    LongMemory,
    /// Between two of these.
    Grey,
}

struct Trace {
    truth: Truth,
    values: Vec<f64>,
}

fn noise(random: &mut Random, n: usize, coefficient: f64, heavy: bool) -> Vec<f64> {
    let shock = (1.0 - coefficient * coefficient).sqrt();
    let mut value = random.normal();
    let next = || {
        let now = value;
        let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
        // Student's law with 3 degrees of freedom, variance 1.
        let new = if heavy { random.normal() / squares.sqrt() } else { random.normal() };
        value = coefficient * value + shock * new;
        now
    };
    std::iter::repeat_with(next).take(n).collect()
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// Levels of a trace of `n` seconds, and what is true of it.
type Shape = fn(&mut Random, usize) -> (Vec<f64>, Truth);

struct Kind {
    name: &'static str,
    hours: usize,
    /// Noise: the coefficients it is drawn from, its least and largest size, and whether its shocks are heavy-tailed.
    noise: (&'static [f64], f64, f64, bool),
    /// Traces a seed.
    variants: u64,
    shape: Shape,
}

const fn kind(
    name: &'static str,
    hours: usize,
    variants: u64,
    noise: (&'static [f64], f64, f64, bool),
    shape: Shape,
) -> Kind {
    Kind { name, hours, noise, variants, shape }
}

fn flat(_: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    (vec![1.0; n], Truth::Whole)
}

fn of(n: usize, level: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|at| level(real_len(at))).collect()
}

fn sign(random: &mut Random) -> f64 {
    if random.chance(0.5) { 1.0 } else { -1.0 }
}

fn stalls(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let mut levels = vec![1.0; n];
    let mut at = 0.0;
    loop {
        at += 120.0 * random.exponential();
        let from = index(at);
        if from >= n {
            return (levels, Truth::Whole);
        }
        let (length, left) = (1 + index(5.0 * random.unit()), between(random, 0.05, 0.5));
        levels[from..(from + length).min(n)].fill(left);
    }
}

fn wave(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (period, size, phase) =
        (between(random, 7.0, 110.0), between(random, 0.03, 0.1), random.unit());
    (of(n, |at| 1.0 + size * (TAU * (at / period + phase)).sin()), Truth::Whole)
}

fn quick_saw(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (period, size) = (between(random, 25.0, 100.0), between(random, 0.05, 0.3));
    (of(n, |at| 1.0 - size * (at / period).fract()), Truth::Whole)
}

fn long_memory(_: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    (vec![1.0; n], Truth::LongMemory)
}

fn long_wave(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (period, size, phase) =
        (between(random, 1200.0, 3600.0), between(random, 0.03, 0.1), random.unit());
    (of(n, |at| 1.0 + size * (TAU * (at / period + phase)).sin()), Truth::Never)
}

fn drift(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let an_hour = [0.005, 0.01, 0.02, 0.03][index(4.0 * random.unit())] * sign(random);
    (of(n, |at| 1.0 + an_hour * at / real_len(HOUR)), Truth::Never)
}

fn small_step(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    step(random, n, 0.02, 0.05)
}

fn large_step(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    step(random, n, 0.05, 0.1)
}

fn step(random: &mut Random, n: usize, least: f64, most: f64) -> (Vec<f64>, Truth) {
    let (place, size) = (between(random, 0.2, 0.8), between(random, least, most) * sign(random));
    let truth = if place < 0.73 { Truth::Ends } else { Truth::Grey };
    (of(n, |at| if at < place * real_len(n) { 1.0 } else { 1.0 + size }), truth)
}

fn dip(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let from = between(random, 0.25, 0.6) * real_len(n);
    let (length, depth) = (between(random, 300.0, 900.0), between(random, 0.05, 0.3));
    (of(n, |at| if (from..from + length).contains(&at) { 1.0 - depth } else { 1.0 }), Truth::Ends)
}

fn late_step(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (place, depth) = (between(random, 0.88, 0.95), between(random, 0.05, 0.2));
    (of(n, |at| if at < place * real_len(n) { 1.0 } else { 1.0 - depth }), Truth::Never)
}

fn saw(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (period, size) = (between(random, 480.0, 2400.0), between(random, 0.05, 0.3));
    (of(n, |at| 1.0 - size * (at / period).fract()), Truth::Never)
}

fn cliff(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (place, depth) = (between(random, 0.05, 0.7), between(random, 0.3, 0.8));
    (of(n, |at| if at < place * real_len(n) { 1.0 } else { 1.0 - depth }), Truth::Ends)
}

fn slow_cliff(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (from, depth) = (between(random, 0.05, 0.4) * real_len(n), between(random, 0.3, 0.7));
    let tau = between(random, 120.0, 1200.0);
    let level = |at: f64| 1.0 - depth * (1.0 - (-(at - from).max(0.0) / tau).exp());
    settled(n, from + tau * (depth / (1.0 - depth) / 0.01).ln(), of(n, level))
}

fn warm_up(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (tau, depth) =
        ([60.0, 180.0, 600.0, 1200.0][index(4.0 * random.unit())], between(random, 0.1, 0.5));
    settled(n, tau * (depth / 0.01_f64).ln(), of(n, |at| 1.0 - depth * (-at / tau).exp()))
}

/// Grey where the last hundredth is reached late.
fn settled(n: usize, at: f64, levels: Vec<f64>) -> (Vec<f64>, Truth) {
    (levels, if at < 0.65 * real_len(n) { Truth::Ends } else { Truth::Grey })
}

fn ramp(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let gained = between(random, 0.05, 0.4);
    (of(n, |at| 1.0 - gained + gained * at / real_len(n)), Truth::Never)
}

fn walk(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let size = between(random, 0.0006, 0.002);
    let mut level: f64 = 1.0;
    let mut next = || {
        level += size * random.normal();
        level.max(0.2)
    };
    (std::iter::repeat_with(&mut next).take(n).collect(), Truth::Never)
}

fn two_regimes(random: &mut Random, n: usize) -> (Vec<f64>, Truth) {
    let (mut levels, mut high) = (Vec::with_capacity(n), true);
    while levels.len() < n {
        let length = 1 + index(600.0 * random.exponential());
        levels.extend(std::iter::repeat_n(if high { 1.0 } else { 0.9 }, length));
        high = !high;
    }
    levels.truncate(n);
    (levels, Truth::Never)
}

fn kinds() -> Vec<Kind> {
    let usual = (&COEFFICIENTS[..], 0.005, 0.02, false);
    let calm = (&[0.5][..], 0.01, 0.01, false);
    vec![
        kind("stationary, 4 h", 4, 7, (&COEFFICIENTS, 0.005, 0.05, false), flat),
        kind("stationary, 1 h", 1, 4, (&COEFFICIENTS, 0.01, 0.03, false), flat),
        kind("stationary, 12 h", 12, 2, (&COEFFICIENTS, 0.01, 0.03, false), flat),
        kind("heavy-tailed noise", 4, 4, (&COEFFICIENTS, 0.01, 0.03, true), flat),
        kind("stalls of 1 to 5 s", 4, 4, calm, stalls),
        kind("memory of 100 to 500 s", 4, 3, (&[0.99, 0.998], 0.02, 0.02, false), long_memory),
        kind("short waves", 4, 3, calm, wave),
        kind("short saw-teeth", 4, 2, calm, quick_saw),
        kind("long waves", 4, 3, calm, long_wave),
        kind("drift of 0.5 to 3 %/h", 4, 8, usual, drift),
        kind("steps of 2 to 5 %", 4, 4, usual, small_step),
        kind("steps of 5 to 10 %", 4, 4, usual, large_step),
        kind("dips of 5 to 15 min", 4, 3, calm, dip),
        kind("late steps", 4, 2, calm, late_step),
        kind("long saw-teeth", 4, 3, calm, saw),
        kind("cliffs", 4, 3, (&[0.5], 0.02, 0.02, false), cliff),
        kind("exponential cliffs", 4, 4, calm, slow_cliff),
        kind("warm-ups", 4, 4, (&[0.7], 0.01, 0.01, false), warm_up),
        kind("ramps", 4, 2, (&[0.7], 0.02, 0.02, false), ramp),
        kind("random walks", 4, 3, calm, walk),
        kind("two regimes", 4, 2, calm, two_regimes),
    ]
}

fn trace(kind: &Kind, seed: u64, number: u64) -> Trace {
    let mut random = Random::part(seed, number);
    let n = kind.hours * HOUR;
    let (coefficients, least, most, heavy) = kind.noise;
    let coefficient = coefficients[index(real_len(coefficients.len()) * random.unit())];
    let size = between(&mut random, least, most);
    let (levels, truth) = (kind.shape)(&mut random, n);
    let shocks = noise(&mut random, n, coefficient, heavy);
    let value = |(level, shock): (f64, f64)| (8000.0 * level * (1.0 + size * shock)).max(1.0);
    Trace { truth, values: levels.into_iter().zip(shocks).map(value).collect() }
}

/// Seconds in a batch as a soak joins them: doubled from 10 whenever there are 120 of fewer than 60 s.
fn batch(values: &[f64]) -> usize {
    let mut size = 10;
    while size < 60 && values.len() >= 120 * size {
        size *= 2;
    }
    size
}

/// Alarms of the watch over batches of 5 s.
fn alarms(values: &[f64]) -> usize {
    let mut watch = Watch::new(WatchRule { change_share: 0.05, between_alarms: 72_000.0 });
    values.chunks(5).filter(|batch| watch.add(mean(batch)).is_some()).count()
}

/// What a rule says: steady from the begin on, and steady at the end; `None` where it cannot tell.
type Said = Option<(bool, bool)>;

fn ours(found: &Steadiness) -> Said {
    match (found.since, found.long_memory_n) {
        (Some(since), _) => Some((since == 0, true)),
        (None, None) => Some((false, false)),
        (None, Some(_)) => None,
    }
}

/// Segmentation of means of 60 s, changes below 1 % left out: steady at the end when the last stretch is a quarter.
fn segmented(values: &[f64]) -> (bool, bool) {
    let batches = batch_means(values, batch(values));
    let mut found = changes(&batches, 3);
    loop {
        let edges: Vec<usize> =
            [0].into_iter().chain(found.iter().copied()).chain([batches.len()]).collect();
        let small = edges.windows(3).position(|three| {
            let (one, two) =
                (mean(&batches[three[0]..three[1]]), mean(&batches[three[1]..three[2]]));
            (one - two).abs() < 0.01 * one
        });
        let Some(small) = small else { break };
        found.remove(small);
    }
    let last = found.last().copied().unwrap_or(0);
    (found.is_empty(), 4 * (batches.len() - last) >= batches.len())
}

#[derive(Default)]
struct Score {
    right: u64,
    wrong: u64,
    missed: u64,
}

impl Score {
    fn add(&mut self, said: bool, truth: bool) {
        match (said, truth) {
            (true, true) => self.right += 1,
            (true, false) => self.wrong += 1,
            (false, true) => self.missed += 1,
            (false, false) => {}
        }
    }

    fn f1(&self) -> f64 {
        2.0 * real(self.right) / real(2 * self.right + self.wrong + self.missed)
    }
}

/// Adds what was said of a trace to the scores of "whole" and of "ends steady". That a trace of long memory cannot be told is
/// right; to call it steady from begin to end is right, too.
fn score(scores: &mut (Score, Score), said: Said, truth: Truth) {
    let (whole, ends) = said.unwrap_or((truth == Truth::LongMemory, truth == Truth::LongMemory));
    if truth != Truth::Grey {
        scores.0.add(whole, matches!(truth, Truth::Whole | Truth::LongMemory));
        scores.1.add(ends, truth != Truth::Never);
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number =
        |otherwise: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    let (first, seeds) = (number(40_000), number(5));
    let (mut mine, mut theirs) = <((Score, Score), (Score, Score))>::default();
    println!(
        "| kind | traces | steady throughout | steady at the end | not to be told | never steady | alarms in 100 h without a change |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (kind, which) in kinds().iter().zip(0..) {
        let (mut cells, mut alarmed, mut hours) = ([0; 4], 0.0, 0.0);
        for seed in (first..first + seeds)
            .flat_map(|seed| (0..kind.variants).map(move |one| 100 * seed + one))
        {
            let trace = trace(kind, seed, which);
            let found = steadiness(
                &batch_means(&trace.values, batch(&trace.values)),
                &SteadyRule::default(),
            );
            let said = ours(&found);
            score(&mut mine, said, trace.truth);
            score(&mut theirs, Some(segmented(&trace.values)), trace.truth);
            cells[match said {
                Some((true, _)) => 0,
                Some((_, true)) => 1,
                None => 2,
                Some(_) => 3,
            }] += 1;
            if matches!(trace.truth, Truth::Whole | Truth::LongMemory) {
                alarmed += real_len(alarms(&trace.values));
                hours += real_len(kind.hours);
            }
        }
        let all: u64 = cells.iter().sum();
        let [whole, ends, open, never] = cells;
        let rate =
            if hours > 0.0 { format!("{:.1}", 100.0 * alarmed / hours) } else { "–".to_owned() };
        println!("| {} | {all} | {whole} | {ends} | {open} | {never} | {rate} |", kind.name);
    }
    println!(
        "\n| rule | F1 of steady throughout | wrong, missed | F1 of steady at the end | wrong, missed |\n|---|---|---|---|---|"
    );
    for (name, (whole, ends)) in [("assay soak", mine), ("segmentation, 1 %", theirs)] {
        println!(
            "| {name} | {:.3} | {}, {} | {:.3} | {}, {} |",
            whole.f1(),
            whole.wrong,
            whole.missed,
            ends.f1(),
            ends.wrong,
            ends.missed
        );
    }
}
