//! The contract of the exit codes: 0 PASS, 1 FAIL, 2 usage, 3 INCONCLUSIVE, 4 refused, each from a measurement.
#![allow(clippy::unwrap_used, reason = "a test stops where its ground is missing")]

mod support;

use support::{Place, measurement};

/// A limit that no storage keeps.
const IMPOSSIBLE: &str = r#"format = 1
name = "impossible"
[[criterion]]
quantity = "iops"
at_least = "1000M/s"
"#;

/// Something that a run of reads does not measure.
const UNKNOWN: &str = r#"format = 1
name = "unknown"
[[criterion]]
quantity = "sync.service_time.mean"
at_most = "1ms"
"#;

#[test]
fn the_verdict_is_the_exit_code() {
    let place = Place::new();
    place.write("impossible.toml", IMPOSSIBLE);
    place.write("unknown.toml", UNKNOWN);
    for (criteria, outcome, code) in [
        ("no-errors.toml", "PASS", 0),
        ("impossible.toml", "FAIL", 1),
        ("unknown.toml", "INCONCLUSIVE", 3),
    ] {
        let run = place.json(
            &format!("run reads.toml sim:servers?count=4&service=1ms --duration 10s --interval 1s --criteria {criteria}"),
            code,
        );
        assert_eq!(run["verdict"]["outcome"], outcome);
        // Another judge of the same run comes to the same end.
        let verdict = place.json(&format!("judge latest --criteria {criteria}"), code);
        assert_eq!(verdict, run["verdict"]);
    }
}

#[test]
fn a_run_is_judged_anew_without_measuring() {
    let place = Place::new();
    place.write("impossible.toml", IMPOSSIBLE);
    let run = place.json("run reads.toml d --size 4MiB --criteria no-errors.toml", 0);
    assert_eq!(place.json("judge --criteria no-errors.toml", 0), run["verdict"]);
    let other = place.run("judge --criteria impossible.toml");
    assert!(matches!(other.code, Some(1 | 3)), "{other:#?}");
    // The run itself keeps the verdict that it was given.
    assert_eq!(place.json("report", 0)["verdict"], run["verdict"]);
    assert_eq!(measurement(&run)["finish"]["outcome"], "complete");
}

#[test]
fn without_any_word_the_help_is_shown_as_an_error() {
    let ran = Place::new().run("");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("Usage: assay <COMMAND>"), "{}", ran.stderr);
}
