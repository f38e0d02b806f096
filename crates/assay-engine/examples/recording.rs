//! What recording one I/O costs on this processor: a time stamp, a count in a histogram, both as a
//! worker does them. Prints one JSON object of nanoseconds.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

use assay_engine::StampClock;
use assay_model::number::{real, real_len};
use assay_model::{Histogram, Precision};
use assay_stats::random::Random;
use std::hint::black_box;
use std::time::Instant;

const LOOPS: u64 = 5_000_000;
const ROUNDS: usize = 9;

/// The median time of one of `LOOPS` calls over several rounds, ns.
fn median_ns(mut call: impl FnMut(u64)) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            (0..LOOPS).for_each(&mut call);
            begin.elapsed().as_secs_f64() * 1e9 / real(LOOPS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

/// Service times as a disk gives them: 100 µs and an exponential tail.
fn service_times_ns() -> Vec<u64> {
    let mut random = Random::new(1);
    let one = |_| 100_000 + assay_model::number::count(random.exponential() * 200_000.0);
    (0..1 << 16).map(one).collect()
}

fn main() {
    let times_ns = service_times_ns();
    let pick = |index: u64| times_ns[assay_model::number::index_of(index) % times_ns.len()];
    let empty = median_ns(|index| {
        black_box(pick(index));
    });
    let stamps = StampClock::new();
    let clock = median_ns(|_| {
        black_box(stamps.now_ns());
    });
    // `Instant` reads the system's clock, by the same call as the engine where it has no better
    // one.
    let system = median_ns(|_| {
        black_box(Instant::now());
    });
    let feature = stamps.feature().unwrap_or_else(|| "the system's clock".to_owned());
    let mut histogram = Histogram::new(Precision::Fine);
    let record = median_ns(|index| histogram.record(black_box(pick(index)))) - empty;
    let checked = real_len(times_ns.len()) > 0.0 && !histogram.is_empty();
    println!(
        r#"{{"clock_ns": {clock:.2}, "system_clock_ns": {system:.2}, "feature": "{feature}", "record_ns": {record:.2}, "valid": {checked}}}"#
    );
}
