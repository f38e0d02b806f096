//! The contract of the exit codes: 0 PASS, 1 FAIL, 2 usage, 3 INCONCLUSIVE, 4 refused, each from a
//! measurement.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

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
            &format!(
                "run reads.toml sim:servers?count=4&service=1ms --time 10s --interval 1s \
                 --criteria {criteria}"
            ),
            code,
        );
        assert_eq!(run["verdict"]["outcome"], outcome);
        // Another look at the same run comes to the same end.
        let again = place.json(&format!("report latest --criteria {criteria}"), code);
        assert_eq!(again["verdict"], run["verdict"]);
    }
}

#[test]
fn a_run_is_judged_anew_without_measuring() {
    let place = Place::new();
    place.write("impossible.toml", IMPOSSIBLE);
    let run = place.json("run reads.toml d --size 4MiB --criteria no-errors.toml", 0);
    assert_eq!(place.json("report --criteria no-errors.toml", 0)["verdict"], run["verdict"]);
    let other = place.run("report --criteria impossible.toml");
    assert!(matches!(other.code, Some(1 | 3)), "{other:#?}");
    // The run itself keeps the verdict that it was given.
    assert_eq!(place.json("report", 0)["verdict"], run["verdict"]);
    assert_eq!(measurement(&run)["finish"]["outcome"], "complete");
}

/// Nothing is asked, so there is an answer and no verdict: not even INCONCLUSIVE.
#[test]
fn without_a_question_there_is_an_answer_and_no_verdict() {
    let place = Place::new();
    let device = "sim:servers?count=4&service=1ms";
    for (line, answer) in [
        (
            format!("calibrate {device} --time 5s --read-share 100% --max-latency 20ms"),
            "random 8 KiB reads/s with p99 ≤ 20 ms",
        ),
        (format!("run reads.toml {device} --time 10s"), "IOPS; p99 of reads"),
        ("watch d --time 500ms --interval 100ms".to_owned(), "on average over"),
    ] {
        let ran = place.run(&line);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let headline = ran.stdout.lines().next().unwrap_or_default();
        assert!(headline.contains(answer) && !ran.stdout.contains("INCONCLUSIVE"), "{ran:#?}");
        let kept = place.json("report", 0);
        assert!(kept["verdict"].is_null() && !ran.stdout.contains("not judged"), "{kept:#}");
    }
}

#[test]
fn a_check_of_disks_fails_by_p99_and_is_judged_so_again() {
    let place = Place::new();
    let ran = place.run("check sim:servers?count=4&service=12ms --time 20s");
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.starts_with("FAIL p99 of reads at queue depth 1: ") && words.contains("(limit 1 ms)"),
        "{words}"
    );
    let again = place.json("report latest --criteria check", 1);
    assert_eq!(again["verdict"]["outcome"], "FAIL");
    let flash = place.run("check sim:servers?count=4&service=100us --time 60s");
    assert_eq!(flash.code, Some(0), "{flash:#?}");
    assert!(flash.stdout.contains(" (limit 1 ms); rate of reads "), "{}", flash.stdout);
    assert_eq!(place.json("report latest --criteria dell-2017", 0)["verdict"]["outcome"], "PASS");
}

#[test]
fn without_any_word_the_help_is_shown_as_an_error() {
    let ran = Place::new().run("");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("Usage: assay COMMAND"), "{}", ran.stderr);
}
