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
transfer = "8KiB"
outstanding = 4
[[experiment]]
name = "limit"
duration = "100ms"
[experiment.load.closed]
read_share = 1.0
transfer = "8KiB"
outstanding = 100
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
name = "not to be told"
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
    assert!(checked[3].simulated_value.is_none());
}
