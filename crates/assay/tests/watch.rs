//! Watching the machine: alone, during a measurement, from an archive and into one.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use std::fs;
use support::Place;

/// What no machine fails: its processors cannot be busier, and of what was not sent nothing is
/// asked.
const ANY: &str = r#"format = 1
name = "any"
[[criterion]]
quantity = "host.cpu_busy"
at_most = "100%"
[[criterion]]
quantity = "host.tcp_retransmits"
at_most = "100%"
optional = true
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("any.toml", ANY);
    place
}

#[test]
fn watching_alone_is_kept_judged_and_shown() {
    let place = place();
    let report = place.json("watch d --time 1s --interval 200ms --criteria any.toml", 0);
    let summary = &report["watch"]["summary"];
    assert!(summary["moments"].as_u64().unwrap() >= 2, "{summary}");
    assert!(summary["total"]["counters"]["time_ns"].as_u64().unwrap() >= 900_000_000);
    assert_eq!(report["verdict"]["judgements"][0]["quantity"], "host.cpu_busy");
    let run = &place.run_ids()[0];
    let page = fs::read_to_string(place.path("assay-runs").join(run).join("report.html")).unwrap();
    assert!(page.contains("Host during the run"));
    let text = place.run("report");
    assert!(text.stdout.contains("Run queue"), "{text:#?}");
}

#[test]
fn a_measurement_is_watched_and_its_cell_is_marked() {
    let place = place();
    let report =
        place.json("run reads.toml d --size 4MiB --time 1500ms --criteria no-errors.toml", 0);
    assert!(report["watch"]["summary"]["moments"].as_u64().unwrap() >= 2);
    let run = &place.run_ids()[0];
    let lines = fs::read_to_string(place.path("assay-runs").join(run).join("watch.jsonl")).unwrap();
    assert!(lines.lines().any(|line| line.contains(r#""cell":"run""#)), "{lines}");
}

#[test]
fn a_simulated_device_is_not_watched() {
    let place = place();
    place
        .run("run reads.toml sim:servers?count=4&service=1ms --time 10s --criteria no-errors.toml");
    let run = &place.run_ids()[0];
    assert!(!place.path("assay-runs").join(run).join("watch.jsonl").exists());
}

#[test]
fn an_archive_is_written_and_read_again() {
    let place = place();
    let written =
        place.run("watch d --time 2s --interval 1s --oswatcher osw --csv --criteria any.toml");
    assert_eq!(written.code, Some(0), "{written:#?}");
    let columns = |line: &str| line.split(',').count();
    let mut rows = written.stdout.lines();
    let head = columns(rows.next().unwrap());
    assert!(written.stdout.lines().count() > 1 && rows.all(|row| columns(row) == head));
    let read = place.json("watch --from osw --criteria any.toml", 0);
    let moments = read["watch"]["summary"]["moments"].as_u64().unwrap();
    assert!(moments >= 1 && read["environment"].is_null(), "{read}");
}

/// Two reports, ten seconds apart; the first is the mean since the host started.
const TRACE: &str = "Linux 6.1.0 (db1) \t01/15/26 \t_x86_64_\t(4 CPU)\n
01/15/26 10:00:00
Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util
sda 9 9 9 9 9 9 9 9\n
01/15/26 10:00:10
Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util
sda 100 50 800 400 4 2 0.5 25
";

#[test]
fn a_trace_is_watched_and_other_verbs_name_the_command() {
    let place = place();
    fs::write(place.path("iostat.txt"), TRACE).unwrap();
    let read = place.json("watch --from iostat.txt", 0);
    let device = &read["watch"]["summary"]["total"]["counters"]["devices"][0];
    assert_eq!((&device["name"], &device["counters"]["read_ios"]), (&"sda".into(), &1000.into()));
    let first = "the first report is the mean since the host started and is left out";
    assert_eq!(read["watch_remarks"][0]["what"], first);
    let shown = place.run("report latest").stdout.replace("\n ", "");
    assert!(shown.contains(&first[1..]), "{shown}");
    for command in ["profile", "runs import"] {
        let ran = place.run(&format!("{command} iostat.txt"));
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains("assay watch --from iostat.txt"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let place = place();
    for (line, words) in [
        ("watch --from d", "oswiostat"),
        ("watch d --time 1s --interval 1ms", "milliseconds"),
        ("watch d --from d", "cannot be used with"),
        ("watch nowhere --time 1s", "nowhere"),
    ] {
        let ran = place.run(line);
        assert!(ran.code == Some(2) || ran.code == Some(4), "{line}: {ran:#?}");
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
    assert!(place.run_ids().is_empty());
}
