//! Simulated arrays on the command line: listed, verified, used as targets, and mistakes answered in kind.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use support::{Place, all_ios, all_refused, measurement};

#[test]
fn every_array_is_listed() {
    let place = Place::new();
    let listed = &place.json("arrays", 0)["arrays"];
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"xtremio-1") && names.contains(&"nexstor-24"));
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .all(|model| !model["source"].as_str().unwrap().is_empty())
    );
}

#[test]
fn a_model_is_held_against_what_was_published() {
    let place = Place::new();
    let checked = place.json("arrays ramsan-300 --verify", 0);
    let figures = checked["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 2);
    for figure in figures {
        assert!(figure["error"].as_f64().unwrap().abs() < 0.05, "{figure}");
    }
}

#[test]
fn an_array_is_a_target_as_a_simulated_device_is() {
    let place = Place::new();
    let line = "run reads.toml array:ramsan-300?capacity=1GiB&seed=3 --time 2s --interval 1s --criteria no-errors.toml";
    let run = place.json(line, 0);
    // Sixteen channels of 97.5 µs bound what any number of outstanding I/Os can do.
    assert!(all_ios(measurement(&run)) <= 2 * 164_103);
    assert!(all_ios(measurement(&run)) > 1000);
}

#[test]
fn a_simulated_database_yields_a_profile() {
    let place = Place::new();
    let profile = place.json("arrays sx350-3200 --profile high-low", 0);
    assert_eq!(profile["source"]["product"], "simulated");
    assert!(profile["time"]["db_time_s"]["value"].as_f64().unwrap() > 0.0);
}

#[test]
fn mistakes_are_answered_in_kind() {
    let place = Place::new();
    let cases = [
        (
            "run reads.toml array:ramsan-30",
            2,
            "error: there is no array 'ramsan-30'\nhint: did you mean 'ramsan-300'? `assay arrays` lists them; a file ends with .array.toml",
        ),
        (
            "run reads.toml array:ramsan-300?capcity=1GiB",
            2,
            "error: array?capcity: an array has no key 'capcity'\nhint: its keys are capacity, seed, nodes, volumes, hasten, pace",
        ),
        (
            "arrays --profile slob-1h",
            2,
            "error: --profile needs one array\nhint: name it, for example `assay arrays xtremio-1 --profile slob-1h`",
        ),
        (
            "arrays ramsan-300 --profile none",
            2,
            "error: 'ramsan-300' has no experiment of sessions 'none'\nhint: its experiments of sessions: ",
        ),
    ];
    all_refused(&place, &cases);
}
