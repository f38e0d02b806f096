//! Prints the tables of the documentation: how often intervals hold the truth and tests raise false
//! alarms.
//!
//! Takes some minutes: `cargo run --release -p assay-stats --example coverage`; `-- --widths`
//! prints the first two tables only.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints tables of series that always have an answer"
)]

use assay_model::number::{count_of, index, real_len};
use assay_stats::bootstrap::{Resampling, block_length, bootstrap_interval};
use assay_stats::change::{level_shift, segments};
use assay_stats::distribution::normal_quantile;
use assay_stats::quantile::quantile_levels;
use assay_stats::random::Random;
use assay_stats::trend::trend;
use assay_stats::{IntervalEstimate, mean_interval};

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

/// One row for each coefficient, one column for each length: in what percentage of the series the
/// event happens.
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

/// 200 values around each level of a series, and whether the interval of their quantile holds the
/// truth.
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

/// A kind of noise: its name, `n` values of it around 0, and its long-run variance.
type Noise = (&'static str, fn(&mut Random, usize, f64) -> Vec<f64>, fn(f64) -> f64);

const NOISES: [Noise; 4] = [
    ("autoregression", autoregression, inflation),
    ("the same, shocks of Student's law with 3 degrees", heavy, inflation),
    ("the same under as much independent noise", under_noise, |coefficient| {
        1.0 + inflation(coefficient)
    }),
    ("white noise whose neighbours borrow from each other by 0.8", borrowing, |_| 0.04),
];

fn inflation(coefficient: f64) -> f64 {
    (1.0 + coefficient) / (1.0 - coefficient)
}

fn heavy(random: &mut Random, n: usize, coefficient: f64) -> Vec<f64> {
    let shock = (1.0 - coefficient * coefficient).sqrt();
    let mut value = 0.0;
    let mut next = || {
        let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
        // A normal over the root of the mean of three squares has variance 3.
        value = coefficient * value + shock * random.normal() / squares.sqrt();
        value
    };
    let all: Vec<f64> = std::iter::repeat_with(&mut next).take(n + 100).collect();
    all[100..].to_vec()
}

fn under_noise(random: &mut Random, n: usize, coefficient: f64) -> Vec<f64> {
    autoregression(random, n, coefficient).iter().map(|slow| slow + random.normal()).collect()
}

fn borrowing(random: &mut Random, n: usize, _: f64) -> Vec<f64> {
    let shocks: Vec<f64> = (0..=n).map(|_| random.normal()).collect();
    shocks.windows(2).map(|pair| pair[1] - 0.8 * pair[0]).collect()
}

/// Coverage, and the median and the largest of ten half widths over the one that knowing the
/// long-run variance would give: `known` of the long-run variance and n.
fn widths(
    title: &str,
    lengths: &[usize],
    interval: impl Fn(&[f64]) -> IntervalEstimate,
    known: impl Fn(f64, f64) -> f64,
) {
    const TRIALS: usize = 2000;
    let header: Vec<String> = lengths.iter().map(usize::to_string).collect();
    println!(
        "\n{title}\n| noise | φ | {} |\n|---|---|{}",
        header.join(" | "),
        "---|".repeat(lengths.len())
    );
    for (name, draw, long_run) in NOISES {
        for coefficient in [0.0, 0.5, 0.8, 0.9, 0.95] {
            if name.starts_with("white") && coefficient > 0.0 {
                continue;
            }
            let cell = |n: &usize| {
                let mut random = Random::part(2027, count_of(*n));
                let found: Vec<IntervalEstimate> =
                    (0..TRIALS).map(|_| interval(&draw(&mut random, *n, coefficient))).collect();
                let covered = found.iter().filter(|one| one.covers(0.0)).count();
                let mut halves: Vec<f64> = found.iter().map(IntervalEstimate::half_width).collect();
                halves.sort_by(f64::total_cmp);
                let of_known = |at: usize| halves[at] / known(long_run(coefficient), real_len(*n));
                let percent = 100.0 * real_len(covered) / real_len(TRIALS);
                format!(
                    "{percent:.1} ({:.2}, {:.2})",
                    of_known(TRIALS / 2),
                    of_known(TRIALS * 9 / 10)
                )
            };
            let row: Vec<String> = lengths.iter().map(cell).collect();
            println!("| {name} | {coefficient} | {} |", row.join(" | "));
        }
    }
}

fn main() {
    let lengths = [10, 20, 30, 60, 120, 300, 1200];
    let of_mean = |series: &[f64]| mean_interval(series, 0.95).unwrap();
    widths("mean_interval", &[20, 30, 60, 120, 300, 2000], of_mean, |long_run, n| {
        1.96 * (long_run / n).sqrt()
    });
    let of_trend = |series: &[f64]| trend(series, 0.95).unwrap().slope;
    widths("trend", &[20, 30, 60, 120, 300, 2000], of_trend, |long_run, n| {
        1.96 * (12.0 * long_run / n / (n * n - 1.0)).sqrt()
    });
    if std::env::args().any(|word| word == "--widths") {
        return;
    }
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
