//! Prints the tables of the documentation: how often intervals hold the truth and tests raise false alarms.
//!
//! Takes some minutes: `cargo run --release -p assay-stats --example coverage`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints tables of series that always have an answer"
)]

use assay_model::number::{count_of, index, real_len};
use assay_model::random::Random;
use assay_stats::bootstrap::{Resampling, block_length, bootstrap_interval};
use assay_stats::change::{level_shift, segments};
use assay_stats::distribution::normal_quantile;
use assay_stats::mean_interval;
use assay_stats::quantile::quantile_levels;
use assay_stats::trend::trend;

const COEFFICIENTS: [f64; 4] = [0.0, 0.5, 0.8, 0.9];

fn autoregression(random: &mut Random, n: usize, coefficient: f64) -> Vec<f64> {
    let shock = (1.0 - coefficient * coefficient).sqrt();
    let mut value = random.normal();
    let mut series = Vec::with_capacity(n);
    for _ in 0..n {
        series.push(value);
        value = coefficient * value + shock * random.normal();
    }
    series
}

/// One row for each coefficient, one column for each length: in what percentage of the series the event happens.
fn table(title: &str, lengths: &[usize], trials: u32, mut event: impl FnMut(&[f64]) -> bool) {
    let header: Vec<String> = lengths.iter().map(usize::to_string).collect();
    println!("\n{title}\n| φ | {} |", header.join(" | "));
    for coefficient in COEFFICIENTS {
        let mut random = Random::new(2026);
        let mut percent = |n: &usize| {
            let mut happens = || event(&autoregression(&mut random, *n, coefficient));
            let times = (0..trials).filter(|_| happens()).count();
            format!("{:.1}", 100.0 * real_len(times) / f64::from(trials))
        };
        let row: Vec<String> = lengths.iter().map(&mut percent).collect();
        println!("| {coefficient} | {} |", row.join(" | "));
    }
}

/// 200 values around each level of a series, and whether the interval of their quantile holds the truth.
fn quantile_covered(levels: &[f64], quantile: f64, random: &mut Random) -> bool {
    let mut around = |level: &f64| (0..200).map(|_| 0.5 * level + random.normal()).collect();
    let intervals: Vec<Vec<f64>> = levels.iter().map(&mut around).collect();
    let mut ascending = intervals.concat();
    ascending.sort_by(f64::total_cmp);
    let n = ascending.len();
    let at = |level: f64| ascending[index((level * real_len(n)).ceil()).clamp(1, n) - 1];
    let beyond = |values: &Vec<f64>| values.iter().filter(|value| **value > at(quantile)).count();
    let above: Vec<u64> = intervals.iter().map(beyond).map(count_of).collect();
    let found = quantile_levels(&vec![200; levels.len()], &above, quantile, 0.95).unwrap();
    let truth = normal_quantile(quantile) * 1.25_f64.sqrt();
    found.low.is_none_or(|low| at(low) <= truth) && found.high.is_none_or(|high| truth <= at(high))
}

fn bootstrap_covered(series: &[f64]) -> bool {
    let resampling =
        Resampling { block_length: 2.0 * block_length(series), resamples: 400, seed: 1 };
    let sum = |drawn: &[usize]| drawn.iter().map(|index| series[*index]).sum();
    bootstrap_interval(series.len(), &resampling, 0.95, sum)
        .is_some_and(|interval| interval.covers(0.0))
}

fn main() {
    let lengths = [10, 20, 30, 60, 120, 300, 1200];
    table("mean_interval", &lengths, 4000, |series| {
        mean_interval(series, 0.95).unwrap().covers(0.0)
    });
    table("trend", &lengths, 4000, |series| trend(series, 0.95).unwrap().slope.covers(0.0));
    table("bootstrap_interval", &lengths[3..], 1000, bootstrap_covered);
    for level in [0.05, 0.01] {
        let title = format!("level_shift at {level}");
        table(&title, &lengths[2..], 1000, |series| {
            level_shift(series, 0.95).unwrap().p_value <= level
        });
    }
    table("segments at 0.01", &lengths[2..], 1000, |series| segments(series, 0.01, 0.95).len() > 1);
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        let mut random = Random::new(7);
        let title = format!("quantile_levels at {quantile}");
        table(&title, &[30, 60, 300], 1000, |series| {
            quantile_covered(series, quantile, &mut random)
        });
    }
}
