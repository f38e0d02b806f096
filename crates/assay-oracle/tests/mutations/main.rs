//! Reports survive their travels: whatever a copy did to the layout, each number is the same or absent, and absence is said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails where what it needs is missing"
)]

#[path = "../made_up/mod.rs"]
mod made_up;

mod kinds;
mod numbers;

use assay_oracle::read_reports;
use assay_oracle::report::{Form, Report};
use kinds::{Mutation, PAGE, TEXT};
use numbers::Outcome;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

fn first(bytes: &[u8]) -> Option<Report> {
    read_reports(bytes).into_iter().flatten().next()
}

/// All mutations of a report with their outcomes; none where the bytes are no report.
fn outcomes(bytes: &[u8]) -> Option<Vec<(&'static Mutation, Outcome)>> {
    let whole = first(bytes)?;
    let kinds = if whole.form == Form::Html { PAGE } else { TEXT };
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
            outcome.wrong.iter().take(4).map(|wrong| format!("\n    {wrong}")).collect::<String>()
        );
    }
    table
}

fn unread(name: &str, bytes: &[u8]) -> String {
    let report = first(bytes).unwrap();
    report
        .unread
        .iter()
        .map(|u| format!("UNREAD {name} {:?} {} {} {}\n", u.section, u.line, u.text, u.reason))
        .collect()
}

fn wrong(outcomes: &[(&Mutation, Outcome)]) -> usize {
    outcomes.iter().map(|(_, outcome)| outcome.wrong.len()).sum()
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
            done.2 += &unread(&name, &bytes);
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
