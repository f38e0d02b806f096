//! A model whose figures are known beforehand.

use super::*;
use assay_model::array::parse_array;

/// Memory of 100 µs on eight channels: everything is known beforehand.
const EXACT: &str = r#"
format = 1
name = "exact"
title = "Exact"
source = "arithmetic"
capacity = "1GiB"
[[part]]
[part.ram]
channels = 8
latency = "100us"
[[experiment]]
name = "four"
duration = "100ms"
[experiment.load.closed]
read_share = 1.0
block_size = "8KiB"
queue_depth = 4
[[experiment]]
name = "limit"
duration = "100ms"
[experiment.load.closed]
read_share = 1.0
block_size = "8KiB"
queue_depth = 100
latency_max = "200us"
[[figure]]
name = "four outstanding"
experiment = "four"
measure = "iops"
published_value = 40000.0
role = "fitted"
place = "here"
[[figure]]
name = "below twice the latency"
experiment = "limit"
measure = "iops"
published_value = 80000.0
role = "held_back"
place = "here"
[[figure]]
name = "as a ratio"
experiment = "limit"
over = "four"
measure = "read_iops"
published_value = 2.0
role = "held_back"
place = "here"
[[figure]]
name = "not simulated"
measure = "iops"
published_value = 1.0
role = "held_back"
place = "here"
why = "no experiment"
"#;

#[test]
fn figures_are_held_against_what_is_simulated() {
    let checked = verify(&parse_array(EXACT).unwrap(), |_| ()).unwrap();
    for figure in &checked[..3] {
        let error = figure.error().unwrap();
        assert!(error.abs() < 0.002, "{}: {error}", figure.figure.name);
    }
    assert!(checked[3].measured_value.is_none());
}

/// An outcome of reads alone, with the number of each part.
fn course(parts: impl Fn(usize) -> u64) -> ExperimentOutcome {
    let mut io = SequentialRun::of(64_000_000_000);
    io.read_parts = (0..TIME_PARTS).map(parts).collect();
    ExperimentOutcome { io, host: None, block_size_bytes: 8192.0, hasten: 10.0 }
}

#[test]
fn a_fall_and_the_new_level_are_dated() {
    // 1000 a part of 1 s, from part 16 on a step of 100 down in each until 500 are left.
    let steps = |part: usize| 1000 - 100 * u64::try_from(part.saturating_sub(15).min(5)).unwrap();
    let fallen = course(steps);
    assert_eq!(fallen.measure(ExperimentMeasure::FallS), Some(170.0));
    assert_eq!(fallen.measure(ExperimentMeasure::SettledS), Some(200.0));
    assert_eq!(fallen.measure(ExperimentMeasure::LastToFirst), Some(0.5));
    let level = course(|_| 1000);
    assert_eq!(level.measure(ExperimentMeasure::FallS), None);
    assert_eq!(level.measure(ExperimentMeasure::SettledS), Some(0.0));
}
