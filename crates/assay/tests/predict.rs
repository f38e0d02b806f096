//! Predictions on the command line: a simulated database moved to simulated storage, its page and document, and refusals.
#![allow(clippy::unwrap_used, reason = "a test stops where its ground is missing")]

mod support;

use std::fs;
use support::{Place, all_refused};

/// Storage as fast as the profile's own, in short virtual time.
const SERVERS: &str = "sim:servers?count=16&service=1ms";

/// A place with the profile of a simulated database: 96 sessions without think time on an array.
fn place() -> Place {
    let place = Place::new();
    let profile = place.json("arrays xtremio-1 --profile slob-1h", 0);
    place.write("slob.profile.json", &profile.to_string());
    place
}

#[test]
fn a_database_is_projected_with_intervals_bounds_and_a_page() {
    let place = place();
    let line = format!(
        "predict slob.profile.json --on slow={SERVERS} --time 5s --draws 20 --users 500 --response-limit 1s --html page.html -o x.projection.json"
    );
    let found = place.json(&line, 0);
    let target = &found["targets"][0];
    assert_eq!(target["name"], "slow");
    assert_eq!(target["origin"], "simulated");
    let states = target["states"].as_array().unwrap();
    let closed = states.iter().find(|state| state["population"]["kind"] == "closed").unwrap();
    // Sixteen servers of a millisecond do 16,000 reads and writes a second; an execution is 2.9 reads and 0.5 writes.
    let work = closed["throughput_per_s"]["value"].as_f64().unwrap();
    assert!((3500.0..5000.0).contains(&work), "{work}");
    assert!(closed["throughput_per_s"]["low"].as_f64().unwrap() < work);
    assert!(target["overload_per_s"].as_f64().unwrap() > 20_000.0);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Where its time would go") && page.len() < 1 << 20);
    let document = fs::read_to_string(place.path("x.projection.json")).unwrap();
    assert!(document.contains("\"format\": 1"));
}

#[test]
fn mistakes_are_answered_in_kind() {
    let place = place();
    let cases = [
        (
            "predict nothing.html --on latest",
            2,
            "error: there is no file nothing.html\nhint: name a report, a profile (*.profile.json), or a rung of a load as RUN:SESSIONS",
        ),
        (
            "predict slob.profile.json --on latest --draws 0",
            2,
            "error: --draws is to be from 1 to 100,000\nhint: 1000 are usual",
        ),
        (
            "predict slob.profile.json --on sim:servers?count=4&service=1ms --cache 1TiB",
            2,
            "error: nothing in slob.profile.json says what a cache of 1TiB would do\nhint: take a report with the section Buffer Pool Advisory and a size within it, or a live profile with relations and --present-cache",
        ),
    ];
    all_refused(&place, &cases);
}

#[test]
fn other_processors_need_a_word_on_their_speed() {
    let place = place();
    let line = format!("predict slob.profile.json --on {SERVERS} --time 5s --draws 20 --cpus 64");
    let refused = place.json(&line, 4);
    assert_eq!(refused["targets"][0]["answer"], "refused");
    assert_eq!(refused["objections"][0]["kind"], "other_host");
}
