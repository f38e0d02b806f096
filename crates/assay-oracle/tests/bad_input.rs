//! No bytes make the reader fail or hang, and no prefix of a report gives a number that the whole
//! does not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::float_cmp,
    reason = "a test fails where what it needs is missing"
)]

mod made_up;

use assay_oracle::report::{NamedAmount, OracleQuantity, OracleReport, Statistic};
use assay_oracle::{profile, read_reports, table_row};
use made_up::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::path::PathBuf;

/// Everything the crate does with a file.
fn all(bytes: &[u8]) -> Vec<OracleReport> {
    let reports: Vec<OracleReport> = read_reports(bytes).into_iter().flatten().collect();
    for report in &reports {
        let profile = profile(report);
        assert!(!table_row("f", report, &profile).is_empty());
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(assay_model::profile::parse_profile(&text).unwrap(), profile);
    }
    reports
}

#[test]
fn a_quoted_or_indented_copy_reads_as_the_report_itself() {
    let (text, whole) = (sample(), all(sample().as_bytes()));
    for margin in ["> ", ">> ", "    ", "\t", "| "] {
        let copy = format!("{margin}{}", text.trim_end().replace('\n', &format!("\n{margin}")));
        let copied = all(format!("Hello,\n\nthis is ours:\n\n{copy}\nBest\n").as_bytes());
        assert_eq!(copied.len(), 1, "{margin:?}");
        let (mut one, mut other) = (profile(&copied[0]), profile(&whole[0]));
        // A copy has its lines further down.
        for finding in one.verdict.devices.iter_mut().chain(&mut other.verdict.devices) {
            finding.latency_s.source.clear();
            finding.queue_depth.iter_mut().for_each(|figure| figure.source.clear());
        }
        assert_eq!((&one.name, &one.verdict), (&other.name, &other.verdict), "{margin:?}");
        let total = |report: &OracleReport| report.activity[0].total.map(|total| total.value);
        assert_eq!(total(&copied[0]), total(&whole[0]));
    }
}

#[test]
fn a_report_whose_counters_contradict_their_rates_has_no_verdict() {
    let right = ["1,366,000", "2,000,000", "3,600", "36,000", "7,200,000"];
    let rates = ["379.4", "555.6", "1.0", "10.0", "2,000.0"];
    let names: Vec<String> = (0..15).map(|number| format!("counter {number}")).collect();
    let report = |group: &str| {
        let totals: Vec<String> =
            (0..15).map(|number| right[number % 5].replace(',', group)).collect();
        let rows: Vec<[&str; 4]> = (0..15)
            .map(|number| [names[number].as_str(), &totals[number], rates[number % 5], "1.0"])
            .collect();
        let rows: Vec<&[&str]> = rows.iter().map(<[&str; 4]>::as_slice).collect();
        let text = header_11("11.2.0.3.0", "60.00", "120.00")
            + &top_five(&[&[
                "db file sequential read",
                "299,784",
                "5,000",
                "17",
                "69.4",
                "User I/O",
            ]])
            + &activity("Instance Activity Stats", &rows)
            + END_OF_REPORT;
        profile(&all(text.as_bytes())[0])
    };
    assert!(!report(",").doubts.iter().any(|doubt| doubt.contains("contradict their own rates")));
    let doubted = report(".");
    assert!(
        doubted.verdict.reason.contains("counters contradict their own rates"),
        "{:?}",
        doubted.verdict
    );
    assert!(doubted.verdict.speedup_limit.is_none() && doubted.verdict.user_io_share.is_none());
}

fn page() -> String {
    html_header("19.0.0.0.0", "60.00", "120.00")
        + &html_table(
            "Instance Activity Stats",
            "",
            &["Statistic", "Total", "per Second"],
            &[
                &["redo size", "78,602,437,800", "21,834,010.5"],
                &["physical reads", "3,600", "1.0"],
            ],
        )
        + "End of Report</body></html>\n"
}

/// Every number of a report with what it is, so that those of a prefix can be looked up.
fn numbers(report: &OracleReport) -> HashSet<String> {
    let mut numbers = HashSet::new();
    let mut keep = |name: &str, quantity: Option<OracleQuantity>| {
        if let Some(quantity) = quantity {
            numbers.insert(format!(
                "{name} {:?} {} {}",
                quantity.section, quantity.line, quantity.value
            ));
        }
    };
    let header = &report.header;
    keep("elapsed", header.elapsed);
    keep("db time", header.db_time);
    keep("block", header.block);
    keep("cpus", header.cpus);
    for Statistic { name, total, per_second } in &report.activity {
        keep(name, *total);
        keep(name, *per_second);
    }
    for NamedAmount { name, value } in report.time_model.iter().chain(&report.operating_system) {
        keep(name, *value);
    }
    for row in &report.load_profile {
        keep(&row.name, row.per_second);
    }
    for row in &report.io_profile {
        for number in [row.both, row.read, row.write] {
            keep(&row.name, number);
        }
    }
    let lists = [
        &report.foreground_events,
        &report.background_events,
        &report.all_events,
        &report.top_events,
    ];
    for event in lists.into_iter().flatten() {
        for number in [event.waits, event.time, event.average] {
            keep(&event.name, number);
        }
    }
    for row in report.files.iter().chain(&report.tablespaces) {
        for number in [row.reads, row.read_time, row.writes] {
            keep(&row.tablespace, number);
        }
    }
    for row in report.io_by_function.iter().chain(&report.io_by_file_type) {
        for number in [row.reads, row.writes, row.small_time] {
            keep(&row.name, number);
        }
    }
    numbers
}

/// Reads prefixes in steps and looks every number of theirs up in the whole.
fn prefixes(bytes: &[u8], step: usize) {
    let whole = read_reports(bytes).remove(0).unwrap();
    let known = numbers(&whole);
    let mut last = 0;
    for end in (0..bytes.len()).step_by(step) {
        for report in read_reports(&bytes[..end]).into_iter().flatten() {
            let found = numbers(&report);
            let wrong: Vec<&String> = found.difference(&known).collect();
            assert!(wrong.is_empty(), "cut at {end}: {wrong:?}");
            last = found.len();
        }
    }
    assert!(last > known.len() / 2);
}

#[test]
fn a_cut_anywhere_gives_no_number_that_is_not_in_the_whole() {
    prefixes(sample().as_bytes(), 1);
    prefixes(page().as_bytes(), 1);
    let cut = &sample()[..sample().len() - 30];
    assert!(!all(cut.as_bytes())[0].complete);
}

#[test]
fn real_reports_cut_every_kilobyte_give_no_number_that_is_not_in_the_whole() {
    let named = std::env::var_os("ASSAY_AWR_REPORTS").map(PathBuf::from);
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["../shared/awr", "../../shared/awr"].map(|path| repository.join(path));
    let folder = named.into_iter().chain(beside).find(|path| path.join("INDEX.md").is_file());
    let Some(folder) = folder else {
        println!(
            "skipped: no real reports next to the repository (ASSAY_AWR_REPORTS names their \
             folder)"
        );
        return;
    };
    for file in [
        "statspack-12.1-txt-01.txt",
        "awr-11.2.0.3-txt-01.txt",
        "awr-12.2-pdb-racinst-html-13.html",
    ] {
        prefixes(&std::fs::read(folder.join(file)).unwrap(), 1024);
    }
}

/// Seeds for the fuzzer, which finds the layouts faster from them than from nothing.
#[test]
fn seeds_of_the_fuzzer_are_reports() {
    let seeds = [("sample.txt", sample()), ("page.html", page()), ("both", sample() + &page())];
    let folder = std::env::var_os("ASSAY_WRITE_SEEDS").map(PathBuf::from);
    for (name, text) in seeds {
        assert!(!all(text.as_bytes()).is_empty());
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        all(&bytes);
    }

    #[test]
    fn no_damage_to_a_report_makes_it_fail(
        is_text in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..6)), 1..20),
    ) {
        let mut bytes = if is_text { sample() } else { page() }.into_bytes();
        for (place, new) in damage {
            let at = place.index(bytes.len());
            let end = bytes.len().min(at + 3);
            bytes.splice(at..end, new);
        }
        all(&bytes);
    }

    #[test]
    fn no_shuffle_of_lines_makes_it_fail(order in Just((0..90_usize).collect::<Vec<_>>()).prop_shuffle()) {
        let sample = sample() + &page();
        let lines: Vec<&str> = sample.lines().collect();
        let shuffled: Vec<&str> = order.iter().filter_map(|line| lines.get(*line).copied()).collect();
        let head = header_11("11.2.0.3.0", "60.00", "120.00");
        all((head + &shuffled.join("\n")).as_bytes());
    }
}

#[test]
fn very_long_lines_rows_and_nests_end() {
    let long = "9".repeat(1 << 20);
    all((header_11("11.2.0.3.0", &long, &long) + "x~~~\n" + &long).as_bytes());
    let dashes = format!(
        "Instance Activity Stats  DB/Inst: A/b\n\n{}\n{}\n",
        "- ".repeat(5000),
        "1 ".repeat(5000)
    );
    all((header_11("11.2.0.3.0", "60.00", "1.00") + &dashes).as_bytes());
    let tags = "<table summary=\"This table displays load profile\">".repeat(2000)
        + &"<tr><td colspan=\"99999999\">".repeat(2000);
    all((html_header("19.0.0.0.0", "60.00", "1.00") + &tags).as_bytes());
}
