//! Says of traces in a file what `assay soak` would: one line of JSON each. `soak_traces FILE`,
//! where each trace is the number of its values and the values, one a second (little-endian: 64-bit
//! count, 64-bit floats); benchmarks/soaks.py writes such files.
#![allow(clippy::print_stdout, reason = "a program that prints lines")]

use assay_model::number::{real, real_len};
use assay_stats::series::{batch_means, mean};
use assay_stats::steady::{SteadyRule, steadiness};
use assay_stats::watch::{LevelWatch, WatchRule};
use std::fs::File;
use std::io::{BufReader, Read, Result};

fn main() -> Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "traces.bin".to_owned());
    let mut file = BufReader::new(File::open(name)?);
    while let Some(values) = next(&mut file)? {
        println!("{}", said(&values));
    }
    Ok(())
}

/// The next trace; `None` at the end of the file.
fn next(file: &mut impl Read) -> Result<Option<Vec<f64>>> {
    let mut word = [0; 8];
    if file.read_exact(&mut word).is_err() {
        return Ok(None);
    }
    let mut values = Vec::new();
    for _ in 0..u64::from_le_bytes(word) {
        file.read_exact(&mut word)?;
        values.push(f64::from_le_bytes(word));
    }
    Ok(Some(values))
}

/// State, begin of the steady stretch in s, and the times in s at which the watch noticed
/// something.
fn said(values: &[f64]) -> String {
    let size = batch(values);
    let batches = batch_means(values, size);
    let found = steadiness(&batches, &SteadyRule::default());
    let state = match (found.since, found.long_memory_n) {
        (Some(_), _) => "steady",
        (None, Some(_)) => "long memory",
        (None, None) => "never",
    };
    let since_s = found.since.map_or(-1.0, |since| real_len(since * size));
    let mut watch = LevelWatch::new(WatchRule { change_share: 0.05, between_alarms: 72_000.0 });
    let changes = values.chunks_exact(5).filter_map(|five| watch.add(mean(five)));
    let noticed: Vec<f64> = changes.map(|change| 5.0 * real(change.noticed_at + 1)).collect();
    format!("{{\"state\": \"{state}\", \"since_s\": {since_s}, \"noticed_s\": {noticed:?}}}")
}

/// Seconds in a batch as a soak joins them: doubled from 10 whenever there are 120 of fewer than 60
/// s.
fn batch(values: &[f64]) -> usize {
    let mut size = 10;
    while size < 60 && values.len() >= 120 * size {
        size *= 2;
    }
    size
}
