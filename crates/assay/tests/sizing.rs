//! Sizing and catalogs on the command line: what is chosen and what it costs, what is refused, and
//! volumes as targets.
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

/// The same report an hour or more later.
fn later(report: &str, hours: u32) -> String {
    let moved = |report: String, id: u32| {
        let old = format!("{id} 01-Mar-20 {:02}:00:00", id - 2);
        let id = id + hours;
        report.replace(&old, &format!("{id} 01-Mar-20 {:02}:00:00", id - 2))
    };
    moved(moved(report.to_owned(), 11), 10)
}

/// The same report of another instance of the cluster.
fn instance(report: &str, number: u32) -> String {
    report
        .replace("shop1               1", &format!("shop{number}               {number}"))
        .replace("till             Linux", &format!("till{number}            Linux"))
        .replace(" NO\n", " YES\n")
}

/// The same report of another database.
fn database(report: &str, name: &str, id: u64) -> String {
    report.replace("SHOP          1234567890", &format!("{name}          {id}"))
}

/// Reads and writes per second that were seen, rounded.
fn seen(sizing: &serde_json::Value) -> [f64; 2] {
    ["read_iops", "write_iops"].map(|quantity| {
        let lines = sizing["demand"].as_array().unwrap();
        let line = lines.iter().find(|line| line["quantity"] == quantity).unwrap();
        line["seen_value"].as_f64().unwrap().round()
    })
}

#[test]
fn the_instances_of_a_cluster_are_added_up_and_copies_count_once() {
    let place = Place::new();
    let (one, two) = (instance(&report(100, 20), 1), instance(&report(60, 50), 2));
    std::fs::create_dir(place.path("a")).unwrap();
    for (name, text) in [("a/i1.txt", &one), ("a/i2.txt", &two), ("a/copy.txt", &one)] {
        place.write(name, text);
    }
    place.write("a/i1-later.txt", &later(&one, 1));
    let sizing = place.json(&format!("size a --only gp3 {PLAIN}"), 0);
    assert_eq!(seen(&sizing), [160.0, 70.0]);
    let doubts = sizing["doubts"].to_string();
    for expected in [
        "instances 1, 2 are added up",
        "instance 2 has no report for 1 of 2 intervals",
        "the same instance and snapshots as",
    ] {
        assert!(doubts.contains(expected), "{expected}: {doubts}");
    }
    assert!(!doubts.contains("one instance of several"), "{doubts}");
    let alone = place.json(&format!("size a/i1.txt --only gp3 {PLAIN}"), 0);
    assert!(alone["doubts"].to_string().contains("one instance of several"), "{alone}");
}

#[test]
fn different_databases_are_refused_or_consolidated() {
    let place = Place::new();
    let till = report(100, 20);
    place.write("a.txt", &till);
    place.write("b.txt", &database(&report(900, 50), "CRM ", 77));
    place.write("c.txt", &later(&database(&report(7, 5), "SHOP", 78), 5));
    let refused = place.run("size a.txt b.txt c.txt");
    let refused = refused.ends_with(2);
    let expected = "the profiles are of 3 different databases: SHOP (a.txt), CRM, SHOP (c.txt)";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    assert!(refused.stderr.contains("--consolidate"), "{}", refused.stderr);
    let sizing = place.json(&format!("size a.txt b.txt c.txt --consolidate --only gp3 {PLAIN}"), 0);
    assert_eq!(seen(&sizing), [1007.0, 75.0]);
    assert!(sizing["doubts"].to_string().contains("as if they coincided"));
}

#[test]
fn a_demand_of_nothing_is_refused_and_a_shrinking_one_is_not() {
    let place = Place::new();
    for (line, expected) in [
        ("size --iops 0 --capacity 1TiB", "--iops: above 0"),
        ("size --iops 100/s --growth -100%", "use a growth above -100%"),
        ("size --iops 100/s --growth much", "'much' is not a share"),
    ] {
        let ran = place.run(line);
        assert!(ran.ends_with(2).stderr.contains(expected), "{line}: {}", ran.stderr);
    }
    let sizing = place.json(&format!("size --iops 100/s --growth -50% --only gp3 {PLAIN}"), 0);
    assert!((sizing["demand"][0]["need_value"].as_f64().unwrap() - 35.0).abs() < 1e-9);
    let only_capacity = place.json("size --capacity 1TiB --only gp3", 0);
    assert!(only_capacity["doubts"].to_string().contains("follow from the capacity alone"));
    assert_eq!(only_capacity["configurations"][0]["cost"]["once_total"].to_string(), "0.0");
}

#[test]
fn a_volume_is_ordered_for_what_its_list_asks() {
    let place = Place::new();
    let line = format!(
        "size --iops 20000/s --throughput 600MiB/s --capacity 4TiB --only gp3,io2 --stripes 1 \
         {PLAIN} --output own.sizing.json --html sizing.html"
    );
    let text = place.run(&line).ends_with(0).stdout.clone();
    assert!(
        text.contains("The cheapest is 1 × gp3") && text.contains("431.68 USD per month"),
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
    place.write("b.txt", &later(&report(60_000, 5_000), 1));
    let line = "size a.txt b.txt --only xtremio-1 --survive controller --read-latency 1ms \
                --growth 30% --years 2";
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
        if limit["limit"] == "latency" {
            // What is needed is the limit, what there is the promise.
            assert!(limit["need_value"].as_f64() >= limit["has_value"].as_f64(), "{limit}");
            continue;
        }
        assert!(limit["need_value"].as_f64() <= limit["has_value"].as_f64(), "{limit}");
    }
    assert_eq!(found["limits"][0]["failed"]["part"], "controller");
}

#[test]
fn what_nothing_carries_ends_with_1_and_names_the_limit() {
    let place = Place::new();
    let words = |line: &str, code: i32| {
        let text = place.run(&format!("{line} {PLAIN}")).ends_with(code).stdout.clone();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = words("size --iops 200/s --only hdd-7k2 --read-latency 1ms", 1);
    assert!(text.contains("The nearest is hdd-7k2: read latency: 1.00 ms required"), "{text}");
    // Of gp3 nobody documents a latency: nothing is decided by it.
    let text = words("size --iops 20000/s --only gp3 --read-latency 1ms", 3);
    for expected in [
        "Undecided: 7 × gp3",
        "meets every limit except read latency, for which nothing is documented",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
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
        ("size", 2, "no demand is specified"),
        ("size empty.txt", 2, "empty.txt has no I/O rate"),
        ("size a.txt --iops 5/s", 2, "--iops"),
        ("size a.txt --only gp4", 2, "did you mean 'gp2'?"),
        ("size a.txt --peak often", 2, "write max, p95, or a multiple such as 2x"),
        ("run reads.toml catalog:gp3", 2, "the only documented latency is"),
        ("size a.txt --catalog bad.catalog.toml", 2, "entry 'disk': 180 IOPS need a latency"),
        (
            "size a.txt --catalog own.catalog.toml --only gp3,volume",
            2,
            "prices are in two currencies",
        ),
        ("size a.txt --response 10ms", 2, "it has no DB time"),
        ("size a.txt --measured gp3=latest", 2, "neither a device nor an array"),
        ("list catalog gp33", 2, "'gp33' is not in any catalog"),
        ("list catalog bad.catalog.toml", 2, "need a latency"),
        ("check catalog:gp3", 2, "the only documented latency is"),
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
    let listed = place.run("list catalog").ends_with(0).stdout.clone();
    for name in ["gp2", "hyperdisk-extreme", "ultra-disk", "xtremio-1", "fc-64g", "hdd-15k"] {
        assert!(
            listed.lines().any(|line| line.starts_with(&format!("{name} "))),
            "{name}: {listed}"
        );
    }
    let shown = place.run("list catalog gp3").ends_with(0).stdout.clone();
    assert!(shown.contains("as a target: catalog:gp3") && shown.contains("source: AWS"), "{shown}");
    let licence = place.run("list catalog exadata-x3-2-quarter").ends_with(0).stdout.clone();
    assert!(licence.contains("360,000.00 each, 3,333.33 per TB"), "{licence}");
    let own = include_str!("../../../contract/examples/small.catalog.toml");
    place.write("own.catalog.toml", own);
    assert!(place.run("list catalog own.catalog.toml").ends_with(0).stdout.contains("volume"));
    assert_eq!(place.json("list catalog gp2 gp3", 0)["entries"].as_array().unwrap().len(), 2);
}

#[test]
fn a_volume_is_a_target_with_its_limits() {
    let place = Place::new();
    let line = "run reads.toml catalog:gp3?latency=500us --time 2s --interval 1s --criteria \
                no-errors.toml";
    let run = place.json(line, 0);
    // Four outstanding at 0.5 ms could do 16,000; 3,000 a second are let through.
    let ios = all_ios(measurement(&run));
    assert!((5_900..=6_010).contains(&ios), "{ios}");
    let own = include_str!("../../../contract/examples/small.catalog.toml");
    place.write("own.catalog.toml", own);
    let line = "run reads.toml catalog:own.catalog.toml/volume?iops=3000 --time 2s --criteria \
                no-errors.toml";
    assert!(all_ios(measurement(&place.json(line, 0))) > 5_000);
}
