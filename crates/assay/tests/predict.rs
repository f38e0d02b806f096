//! Predictions on the command line: a simulated database moved to simulated storage, its page and
//! document, and refusals.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use std::fs;
use support::{Place, all_refused};

/// Storage as fast as the profile's own, in short virtual time.
const SERVERS: &str = "sim:servers?count=16&service=1ms";

/// A place with the profile of a simulated database: 96 sessions without think time on an array.
fn place() -> Place {
    let place = Place::new();
    let profile = place.json("list arrays xtremio-1 --profile slob-1h", 0);
    place.write("slob.profile.json", &profile.to_string());
    place
}

#[test]
fn a_database_is_projected_with_intervals_bounds_and_a_page() {
    let place = place();
    let line = format!(
        "predict slob.profile.json --on slow={SERVERS} --time 5s --draws 20 --users 500 \
         --response-limit 1s --html page.html -o x.projection.json"
    );
    let found = place.json(&line, 0);
    let target = &found["targets"][0];
    assert_eq!(target["name"], "slow");
    assert_eq!(target["origin"], "simulated");
    let states = target["states"].as_array().unwrap();
    let closed = states.iter().find(|state| state["population"]["kind"] == "closed").unwrap();
    // Sixteen servers of a millisecond do 16,000 reads and writes per second; an execution is 2.9
    // reads and 0.5 writes.
    let work = closed["throughput_per_s"]["value"].as_f64().unwrap();
    assert!((3500.0..5000.0).contains(&work), "{work}");
    assert!(closed["throughput_per_s"]["low"].as_f64().unwrap() < work);
    assert!(target["overload_per_s"].as_f64().unwrap() > 20_000.0);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Projected DB time") && page.len() < 1 << 20);
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
            "error: cannot find the database nothing.html: there is no run 'nothing.html': no \
             store at ./assay-runs\nhint: specify a report, a folder with reports, a profile, a \
             run (RUN or RUN:SESSIONS), or an address such as postgresql://user@host/database",
        ),
        (
            "predict slob.profile.json --on latest --draws 0",
            2,
            "error: --draws must be between 1 and 100,000\nhint: 1000 is typical",
        ),
        (
            "predict slob.profile.json --on sim:servers?count=4&service=1ms --cache 1TiB",
            2,
            "error: slob.profile.json has no data on a cache of 1TiB\nhint: take a report with \
             the section Buffer Pool Advisory and a size within it, or a live profile with \
             relations and --present-cache",
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

/// A change of a profile, what is refused of it, and the word for that.
type Spoilt = (fn(&mut serde_json::Value), &'static str);

#[test]
fn a_profile_that_says_too_little_is_refused_by_name() {
    let place = place();
    let sound: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(place.path("slob.profile.json")).unwrap())
            .unwrap();
    let cases: [Spoilt; 4] = [
        (
            |profile| {
                for name in ["db_time_s", "average_active_sessions"] {
                    profile["time"][name] = serde_json::Value::Null;
                }
            },
            "no_time_model",
        ),
        (|profile| profile["time"]["db_cpu_s"] = serde_json::Value::Null, "no_time_model"),
        (|profile| profile["verdict"]["unaccounted_share"] = 0.4.into(), "unaccounted"),
        (
            |profile| {
                let time_s = profile["time"]["db_time_s"]["value"].as_f64().unwrap();
                profile["time"]["db_cpu_s"]["value"] = (1.5 * time_s).into();
            },
            "contradiction",
        ),
    ];
    for (spoil, kind) in cases {
        let mut spoilt = sound.clone();
        spoil(&mut spoilt);
        place.write("spoilt.profile.json", &spoilt.to_string());
        let line = format!("predict spoilt.profile.json --on {SERVERS} --time 5s --draws 20");
        let found = place.json(&line, 4);
        let against = found["objections"].as_array().unwrap();
        let refused = against.iter().find(|one| one["effect"] == "refused").unwrap();
        assert_eq!(refused["kind"], kind, "{against:#?}");
        assert_eq!(found["targets"][0]["answer"], "refused");
    }
}

#[test]
fn a_calibration_of_another_transfer_or_without_writes_is_refused() {
    let place = place();
    let calibrate = format!("calibrate {SERVERS} --time 5s");
    place.json(&format!("{calibrate} --block-size 64KiB --name large"), 0);
    let found = place.json("predict slob.profile.json --on large --draws 20", 4);
    let kinds = |found: &serde_json::Value| -> Vec<String> {
        let against = found["targets"][0]["objections"].as_array().unwrap();
        let refused = against.iter().filter(|one| one["effect"] == "refused");
        refused.map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&found), ["block_size"]);
    place.json(&format!("{calibrate} --read-share 100% --name reads"), 0);
    place.json(&format!("{calibrate} --read-share 0% --name writes"), 0);
    let found = place.json("predict slob.profile.json --on writes --draws 20", 4);
    assert_eq!(kinds(&found), ["mix"]);
    let log = place.run("predict slob.profile.json --on reads --log writes");
    assert_eq!(log.code, Some(2), "{log:#?}");
    assert!(log.complaint.contains("the calibration writes has no log"), "{log:#?}");
}

#[test]
fn a_volume_of_the_catalog_is_answered_as_a_data_sheet() {
    let place = place();
    let line = "predict slob.profile.json --on catalog:gp3?iops=16000&latency=10ms --draws 20";
    let ran = place.run(&format!("{line} --json"));
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let target = &found["targets"][0];
    assert_eq!(target["origin"], "data_sheet");
    let against = target["objections"].as_array().unwrap();
    assert!(against.iter().any(|one| one["kind"] == "data_sheet"), "{against:#?}");
    let iops = target["bounds"].as_array().unwrap().iter().find(|one| one["limit"] == "iops");
    // An execution is 2.9 reads and 0.5 writes, and the volume counts both.
    let most = iops.unwrap()["most_per_s"].as_f64().unwrap();
    assert!((4500.0..5000.0).contains(&most), "{most}");
}

#[test]
fn a_verification_needs_two_loads() {
    let place = place();
    place.json(&format!("calibrate {SERVERS} --time 5s --name one"), 0);
    let ran = place.run("predict --verify one one --on one");
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.complaint.contains("did not load a database"), "{ran:#?}");
    let ran = place.run("predict slob.profile.json --on one --held-out");
    assert_eq!(ran.code, Some(2), "{ran:#?}");
}
