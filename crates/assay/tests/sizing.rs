//! Sizing and catalogs on the command line: what is chosen and what it costs, what is refused, and volumes as targets.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails where what it needs is missing"
)]

#[path = "../../assay-oracle/tests/made_up/mod.rs"]
mod made_up;
mod support;

use made_up::{END_OF_REPORT, activity, cache_sizes, header_11};
use support::{Place, all_ios, measurement};

const PLAIN: &str = "--headroom 0% --fill 100%";

/// A report of these reads and writes of 8 KiB a second.
fn report(reads: u64, writes: u64) -> String {
    let row = |name: &str, per_s: u64| -> [String; 4] {
        [name.to_owned(), (per_s * 3600).to_string(), format!("{per_s}.0"), "1.0".to_owned()]
    };
    let rows = [
        row("physical read total IO requests", reads),
        row("physical read total bytes", reads * 8192),
        row("physical write total IO requests", writes),
        row("physical write total bytes", writes * 8192),
    ];
    let rows: Vec<Vec<&str>> =
        rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    header_11("11.2.0.3.0", "60.00", "120.00")
        + &cache_sizes("8K")
        + &activity("Instance Activity Stats", &rows)
        + END_OF_REPORT
}

#[test]
fn a_volume_is_ordered_for_what_its_list_asks() {
    let place = Place::new();
    let line = format!(
        "size --iops 20000/s --throughput 600MiB/s --capacity 4TiB --only gp3,io2 --stripes 1 {PLAIN} --output own.sizing.json --html sizing.html"
    );
    let text = place.run(&line).ends_with(0).stdout.clone();
    assert!(
        text.contains("The cheapest is 1 x gp3") && text.contains("431.68 USD a month"),
        "{text}"
    );
    let kept = std::fs::read_to_string(place.path("own.sizing.json")).unwrap();
    assert!(kept.contains("\"month_total\": 431.68"), "{kept}");
    let page = std::fs::read_to_string(place.path("sizing.html")).unwrap();
    assert!(page.contains("431.68") && page.len() < 1_000_000);
    // Nothing is overwritten.
    assert!(place.run(&line).ends_with(4).stderr.contains("own.sizing.json"));
}

#[test]
fn the_highest_of_several_reports_is_carried_also_without_a_controller() {
    let place = Place::new();
    place.write("a.txt", &report(40_000, 10_000));
    place.write("b.txt", &report(60_000, 5_000));
    let line = "size a.txt b.txt --only xtremio-1 --survive controller --read-latency 1ms --growth 30% --years 2";
    let sizing = place.json(line, 0);
    let lines = sizing["demand"].as_array().unwrap();
    let reads = lines.iter().find(|line| line["quantity"] == "read_iops").unwrap();
    assert_eq!(
        (reads["source"].as_str(), reads["seen_value"].as_f64()),
        (Some("b.txt"), Some(60_000.0))
    );
    let writes = lines.iter().find(|line| line["quantity"] == "write_iops").unwrap();
    assert_eq!(writes["source"], "a.txt");
    let found = &sizing["configurations"][0];
    for limit in found["limits"].as_array().unwrap() {
        assert!(limit["need_value"].as_f64() <= limit["has_value"].as_f64(), "{limit}");
    }
    assert_eq!(found["limits"][0]["failed"]["part"], "controller");
}

#[test]
fn what_nothing_carries_ends_with_1_and_names_the_limit() {
    let place = Place::new();
    let line = format!("size --iops 20000/s --only gp3 --read-latency 1ms {PLAIN}");
    let text = place.run(&line).ends_with(1).stdout.clone();
    let expected = "The nearest is gp3: read latency: 10.0 ms is promised, 1.00 ms is asked for (10 times too little).";
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn mistakes_are_answered_in_kind() {
    let place = Place::new();
    place.write("empty.txt", &(header_11("11.2.0.3.0", "60.00", "120.00") + END_OF_REPORT));
    place.write("a.txt", &report(400, 100));
    let own = include_str!("../../../contract/examples/small.catalog.toml");
    place.write("own.catalog.toml", own);
    place.write("bad.catalog.toml", &own.replacen("latency = \"5ms\"", "", 1));
    for (line, code, expected) in [
        ("size", 2, "there is no demand"),
        ("size empty.txt", 2, "empty.txt: it has no rate of I/Os"),
        ("size a.txt --iops 5/s", 2, "--iops"),
        ("size a.txt --only gp4", 2, "did you mean 'gp2'?"),
        ("size a.txt --peak often", 2, "write max, p95, or a multiple such as 2x"),
        ("size a.txt --catalog bad.catalog.toml", 2, "entry 'disk': 180 IOPS without a latency"),
        (
            "size a.txt --catalog own.catalog.toml --only gp3,volume",
            2,
            "prices are in two currencies",
        ),
        ("size a.txt --response 10ms", 2, "it has no DB time"),
        ("size a.txt --measured gp3=latest", 2, "neither a device nor an array"),
        ("catalog gp33", 2, "no catalog has 'gp33'"),
        ("catalog bad.catalog.toml", 2, "without a latency"),
        ("run reads.toml catalog:gp3?iops=90000", 2, "90,000 IOPS cannot be ordered"),
    ] {
        let ran = place.run(line);
        let ran = ran.ends_with(code);
        assert!(ran.stderr.contains(expected), "{line}: {}", ran.stderr);
    }
}

#[test]
fn catalogs_are_listed_shown_and_checked() {
    let place = Place::new();
    let listed = place.run("catalog").ends_with(0).stdout.clone();
    for name in ["gp2", "hyperdisk-extreme", "ultra-disk", "xtremio-1", "fc-64g", "hdd-15k"] {
        assert!(
            listed.lines().any(|line| line.starts_with(&format!("{name} "))),
            "{name}: {listed}"
        );
    }
    let shown = place.run("catalog gp3").ends_with(0).stdout.clone();
    assert!(shown.contains("as a target: catalog:gp3") && shown.contains("source: AWS"), "{shown}");
    let own = include_str!("../../../contract/examples/small.catalog.toml");
    place.write("own.catalog.toml", own);
    assert!(place.run("catalog own.catalog.toml").ends_with(0).stdout.contains("volume"));
    assert_eq!(place.json("catalog gp2 gp3", 0)["entries"].as_array().unwrap().len(), 2);
}

#[test]
fn a_volume_is_a_target_with_its_limits() {
    let place = Place::new();
    let line = "run reads.toml catalog:gp3?latency=500us --time 2s --interval 1s --criteria no-errors.toml";
    let run = place.json(line, 0);
    // Four outstanding at 0.5 ms could do 16,000; 3,000 a second are let through.
    let ios = all_ios(measurement(&run));
    assert!((5_900..=6_010).contains(&ios), "{ios}");
    let own = include_str!("../../../contract/examples/small.catalog.toml");
    place.write("own.catalog.toml", own);
    let line = "run reads.toml catalog:own.catalog.toml/volume?iops=3000 --time 2s --criteria no-errors.toml";
    assert!(all_ios(measurement(&place.json(line, 0))) > 5_000);
}
