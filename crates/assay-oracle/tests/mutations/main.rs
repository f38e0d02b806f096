//! Reports survive their travels: whatever a copy did to the layout, each number is the same or
//! absent, and absence is said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails where what it needs is missing"
)]

#[path = "../made_up/mod.rs"]
mod made_up;
use made_up::*;

mod kinds;
mod numbers;

use assay_oracle::read_reports;
use assay_oracle::report::{OracleReport, ReportForm};
use kinds::{Mutation, PAGE, TEXT};
use numbers::Outcome;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

fn first(bytes: &[u8]) -> Option<OracleReport> {
    read_reports(bytes).into_iter().flatten().next()
}

/// All mutations of a report with their outcomes; `None` if the bytes do not hold a report.
fn outcomes(bytes: &[u8]) -> Option<Vec<(&'static Mutation, Outcome)>> {
    let whole = first(bytes)?;
    let kinds = if whole.form == ReportForm::Html { PAGE } else { TEXT };
    let of = |kind: &'static Mutation| {
        let copy = first(&(kind.of)(bytes));
        (kind, Outcome::of(&whole, copy.as_ref()))
    };
    Some(kinds.iter().map(of).collect())
}

/// One line a report and mutation: equal, absent, wrong.
fn table(name: &str, outcomes: &[(&Mutation, Outcome)]) -> String {
    let mut table = String::new();
    for (kind, outcome) in outcomes {
        let _ = writeln!(
            table,
            "{name}: {}: {} equal, {} absent, {} wrong{}",
            kind.name,
            outcome.equal,
            outcome.absent,
            outcome.wrong.len(),
            outcome
                .wrong
                .iter()
                .take(4)
                .map(|wrong| format!("\n    {wrong}"))
                .collect::<Vec<_>>()
                .concat()
        );
    }
    table
}

fn wrong(outcomes: &[(&Mutation, Outcome)]) -> usize {
    outcomes.iter().map(|(_, outcome)| outcome.wrong.len()).sum()
}

/// Invented reports of every layout that is printed.
fn invented() -> [(&'static str, String); 4] {
    let events: &[&[&str]] = &[
        &["db file sequential read", "2,100,000", "1,470", "1", "40.8"],
        &["log file sync", "91,000", "182", "2", "5.1"],
        &["direct path read", "12,345", "98", "8", "2.7"],
    ];
    let background: &[&[&str]] = &[&["log file parallel write", "90,100", "91", "1", "2.1"]];
    let counters: &[&[&str]] = &[
        &["physical read total IO requests", "2,345,678", "651.6", "23.1"],
        &["physical write total IO requests", "345,678", "96.0", "3.4"],
        &["redo size", "987,654,321", "274,348.4", "9,753.2"],
    ];
    let top: &[&[&str]] = &[
        &["DB CPU", "", "1,512", "", "42.0", ""],
        &["db file sequential read", "2,100,000", "1,470", "1", "40.8", "User I/O"],
        &["log file sync", "91,000", "182", "2", "5.1", "Commit"],
    ];
    let load = [("DB Time(s)", "1.0"), ("Redo size", "274,348.4"), ("Physical reads", "711.5")];
    let body = load_profile(&load)
        + &top_five(top)
        + "\n"
        + &wait_events("Foreground Wait Events", events)
        + &wait_events("Background Wait Events", background)
        + &activity("Instance Activity Stats", counters)
        + &tablespaces()
        + END_OF_REPORT;
    let page = html_header("12.1.0.2.0", "60.00", "60.00")
        + &html_table(
            "Instance Activity Stats",
            "",
            &["Statistic", "Total", "per Second", "per Trans"],
            counters,
        )
        + &html_table(
            "Top 10 Foreground Events by Total Wait Time",
            "",
            &["Event", "Waits", "Total Wait Time (sec)", "Wait Avg(ms)", "% DB time", "Wait Class"],
            top,
        )
        + "End of Report</body></html>\n";
    [
        ("text up to 12.1", header_11("11.2.0.3.0", "60.00", "60.00") + &cache_sizes("8K") + &body),
        ("text from 12.2 on", header_122("60.00", "60.00") + &body),
        ("Statspack", header_statspack_92() + &body),
        ("page", page),
    ]
}

fn tablespaces() -> String {
    let columns = [
        Column(&["", "Reads"], 14),
        Column(&["Av", "Reads/s"], 7),
        Column(&["Av", "Rd(ms)"], 7),
        Column(&["Av", "Blks/Rd"], 7),
        Column(&["", "Writes"], 12),
        Column(&["Av", "Writes/s"], 8),
        Column(&["Buffer", "Waits"], 10),
        Column(&["Av Buf", "Wt(ms)"], 6),
    ];
    let table = |row: &[&str]| rows(&columns, &[row]);
    let first = table(&["1,234,567", "343", "5.1", "1.0", "45,678", "13", "0", "0.0"]);
    let second = table(&["234,567", "65", "4.1", "3.0", "5,678", "2", "12", "1.5"]);
    let numbers = second.lines().last().unwrap();
    // The first column of the numbers stands to the right, too.
    let right = |line: &str| format!("{:>14}{}", line[..14].trim(), &line[14..]);
    let lines: Vec<&str> = first.lines().collect();
    let (heads, rule, row) = (&lines[..2], lines[2], lines[3]);
    let heads: Vec<String> = heads.iter().map(|line| right(line)).collect();
    section(
        "Tablespace IO Stats",
        &format!(
            "Tablespace\n------------------------------\n{}\n{rule}\nUSERS\n{}\nSYSAUX\n{}\n",
            heads.join("\n"),
            right(row),
            right(numbers)
        ),
    )
}

#[test]
fn copies_of_invented_reports_have_the_same_numbers_or_none() {
    for (name, report) in invented() {
        let outcomes = outcomes(report.as_bytes()).expect(name);
        let table = table(name, &outcomes);
        let unchanged = outcomes.iter().filter(|(_, outcome)| outcome.absent == 0).count();
        assert_eq!(wrong(&outcomes), 0, "{table}");
        assert!(unchanged >= outcomes.len() / 2, "{table}");
    }
}

#[test]
fn a_number_that_stands_under_another_heading_is_not_read() {
    let (_, report) = invented().into_iter().next().unwrap();
    let moved = report.replace("1,470       1", "1,470     1  ");
    assert_ne!(moved, report);
    let events = first(moved.as_bytes()).unwrap().foreground_events;
    assert_eq!((events[0].average, events[1].average.unwrap().value), (None, 0.002));
}

/// The reports next to the repository, by name.
fn shared() -> Option<Vec<PathBuf>> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["../shared", "../../shared"].map(|path| repository.join(path));
    let folder = beside.into_iter().find(|path| path.join("awr2/INDEX.md").is_file())?;
    let folders = [folder.join("awr"), folder.join("awr2")];
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    Some(files)
}

#[test]
fn copies_of_reports_of_the_field_have_the_same_numbers_or_none() {
    let Some(files) = shared() else {
        println!("skipped: no real reports next to the repository");
        return;
    };
    let (next, done) = (Mutex::new(files.into_iter()), Mutex::new((0, 0, String::new())));
    let work = || {
        loop {
            let Some(file) = next.lock().unwrap().next() else { return };
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&file).unwrap();
            let Some(outcomes) = outcomes(&bytes) else { continue };
            let mut done = done.lock().unwrap();
            done.0 += 1;
            done.1 += wrong(&outcomes);
            done.2 += &table(&name, &outcomes);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let (reports, wrong, table) = done.into_inner().unwrap();
    println!("{table}");
    assert!(reports >= 42, "{reports} reports");
    assert_eq!(wrong, 0, "{table}");
}
