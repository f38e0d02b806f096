//! Intervals of seconds that were recorded on a real, drifting disk: simulated devices do not show
//! what these do.
#![allow(clippy::unwrap_used, reason = "a table that cannot be read fails the test")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use assay_stats::batches::mean_of_batches;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Rates of the seconds of each series; `None` where the table is not next to the checkout.
fn recorded() -> Option<BTreeMap<u32, Vec<f64>>> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["../shared", "../../shared"].map(|path| repository.join(path));
    let tables = places.map(|path| path.join("truth/real-seconds.csv"));
    let Some(text) = tables.iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
        println!("skipped: the seconds recorded on a disk are not next to the repository");
        return None;
    };
    let mut all: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        all.entry(cells[0].parse().unwrap()).or_default().push(cells[5].parse().unwrap());
    }
    Some(all)
}

#[test]
fn no_recorded_series_has_an_end_beyond_one_and_a_half_times_the_value() {
    let Some(all) = recorded() else { return };
    let mut without = Vec::new();
    for (series, rates) in &all {
        let Ok(found) = mean_of_batches(rates, 1.0) else {
            without.push(*series);
            continue;
        };
        assert!(found.high <= 1.5 * found.value, "{series}: {found:?}");
        assert!(found.low >= found.value / 1.5, "{series}: {found:?}");
    }
    assert_eq!((all.len(), without), (23, vec![8, 17]));
}

#[test]
fn eight_recorded_seconds_hold_the_mean_of_their_minute() {
    let Some(all) = recorded() else { return };
    let long = all.values().filter(|rates| rates.len() >= 20);
    for rates in long {
        let truth = rates.iter().sum::<f64>() / assay_model::number::real_len(rates.len());
        for window in rates.windows(8) {
            if let Ok(found) = mean_of_batches(window, 1.0) {
                assert!(found.covers(truth), "{window:?}: {found:?}, {truth}");
            }
        }
    }
}

#[test]
fn no_window_of_three_to_seven_recorded_seconds_bounds_out_the_mean_of_its_series() {
    let Some(all) = recorded() else { return };
    let mut windows = 0;
    for rates in all.values() {
        let truth = rates.iter().sum::<f64>() / assay_model::number::real_len(rates.len());
        for window in (3..8).flat_map(|seconds| rates.windows(seconds)) {
            let (low, high) = mean_of_batches(window, 1.0).unwrap_err().bounds().unwrap();
            assert!(low < truth && truth < high, "{window:?}: {truth}");
            windows += 1;
        }
    }
    assert_eq!(windows, 800);
}
