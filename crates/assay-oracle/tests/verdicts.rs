//! A table of verdicts: what three rules of the field's books say of each report, and what is
//! concluded here.
//!
//! - `Profile`: the largest part of response time is the cause, and time that no event accounts for
//!   is a part like any other (C. Millsap, J. Holt, *Optimizing Oracle Performance*, 2003, chapters
//!   6 to 9).
//! - `Log`: above 20 ms a log file parallel write is slow I/O; below, commits wait for the device
//!   when the write is most of the wait, else for something else (Oracle support, *Troubleshooting:
//!   'Log file sync' Waits*, 1376916.1). What waits for another session's commit waits for the log
//!   with it (R. Shee, K. Deshpande, K. Gopalakrishnan, *Oracle Wait Interface*, 2004, chapter 6: a
//!   row lock is held until its transaction ends).
//! - `Queue`: a server that is busy most of the time makes what comes wait (L. Kleinrock, *Queueing
//!   Systems* 1, 1975), and one that barely works proves nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails where what it needs is missing"
)]

mod made_up;

use assay_model::profile::{Bottleneck, DeviceGrade, IoPath, Profile, RedoFinding, StorageMedium};
use made_up::{END_OF_REPORT, header_11, read, top_five, wait_events};
use std::path::PathBuf;

/// Which rule gives the word.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Profile,
    Log,
    Queue,
}

use Bottleneck::{Commit, Contention, Cpu, Idle, Mixed, Other, Storage, Unknown};
use Rule::{Log, Profile as Time, Queue};

type Row = (&'static str, Rule, Bottleneck, Option<&'static str>);

/// Reports of the field, by file name.
const REAL: &[Row] = &[
    ("awr/awr-11.1-racinst-html-01.html", Time, Mixed, None),
    ("awr/awr-11.2.0.3-aix-html-04.html", Queue, Cpu, Some("DB CPU")),
    ("awr/awr-11.2.0.3-html-02.html", Time, Storage, Some("db file sequential read")),
    ("awr/awr-11.2.0.3-txt-01.txt", Time, Storage, Some("db file sequential read")),
    ("awr/awr-11.2.0.3-racglobal-html-03.html", Time, Storage, Some("db file sequential read")),
    ("awr/awr-11.2.0.4-html-05.html", Time, Cpu, Some("DB CPU")),
    ("awr/awr-11.2.0.4-racinst-html-06.html", Queue, Idle, None),
    ("awr/awr-11.2.0.4-racinst-txt-02.txt", Queue, Idle, None),
    (
        "awr/awr-11.2.0.4-racinst-html-07.html",
        Time,
        Contention,
        Some("enq: TX - row lock contention"),
    ),
    ("awr/awr-12.1-aix-html-08.html", Time, Storage, Some("direct path read")),
    ("awr/awr-12.1-cdb-html-09.html", Time, Cpu, Some("DB CPU")),
    ("awr/awr-12.1-racinst-exadata-html-10.html", Time, Storage, Some("cell smart table scan")),
    ("awr/awr-12.2-html-11.html", Time, Unknown, None),
    ("awr/awr-12.2-racglobal-html-12.html", Time, Unknown, None),
    ("awr/awr-12.2-pdb-racinst-html-13.html", Time, Contention, Some("gc buffer busy acquire")),
    ("awr/awr-12.2-txt-03.txt", Time, Unknown, None),
    ("awr/awr-18c-racinst-exadata-html-14.html", Time, Cpu, Some("DB CPU")),
    ("awr/awr-19c-html-15.html", Queue, Idle, None),
    ("awr/awr-19c-cdb-racinst-html-16.html", Time, Mixed, None),
    ("awr/awr-19c-aix-html-17.html", Time, Storage, Some("db file sequential read")),
    ("awr/awr-19c-racinst-html-18.html", Time, Cpu, Some("DB CPU")),
    ("awr/awr-19c-racglobal-exadata-html-19.html", Time, Cpu, Some("DB CPU")),
    ("awr/statspack-12.1-txt-01.txt", Time, Cpu, Some("DB CPU")),
    ("awr2/w01-statspack-9.2.0.1-invalid.lst", Queue, Unknown, None),
    ("awr2/w02-statspack-10.1-mu2.lst", Time, Cpu, Some("DB CPU")),
    ("awr2/w03-statspack-10.1-mu3.lst", Queue, Cpu, Some("DB CPU")),
    ("awr2/w04-statspack-10.1-mu4.lst", Queue, Cpu, Some("DB CPU")),
    ("awr2/w09-statspack-10.1-mu9.lst", Time, Contention, Some("latch: library cache")),
    ("awr2/w12-statspack-11.2.0.3-sp1930.txt", Time, Storage, Some("db file sequential read")),
    ("awr2/w14-awr-11.2.0.3-1830.txt", Time, Storage, Some("db file sequential read")),
    ("awr2/w16-awr-11.2.0.3-1830.html", Time, Storage, Some("db file sequential read")),
    ("awr2/w20-awr-11.1-rac-916.html", Time, Cpu, Some("DB CPU")),
    ("awr2/w31-awr-11.2.0.4-153snaps.html", Queue, Idle, None),
    (
        "awr2/w34-awr-11.2.0.4-rac-24727.html",
        Time,
        Contention,
        Some("enq: TX - row lock contention"),
    ),
    ("awr2/w38-awr-12.1-aix-4.html", Time, Unknown, None),
    ("awr2/w40-awr-12.2-DBS.html", Time, Cpu, Some("DB CPU")),
    ("awr2/w43-awr-19c-rac-18175.html", Time, Unknown, None),
    ("awr2/w50-awr-pdb-rac-redacted.html", Time, Other, Some("resmgr:cpu quantum")),
    ("awr2/w52-awrg-19c-DBX.html", Time, Cpu, Some("DB CPU")),
    ("awr2/w54-awrg-19c-DBZ.html", Time, Contention, Some("enq: TX - contention")),
    ("awr2/w55-awr-19c-aix-1300.html", Time, Unknown, None),
    ("awr2/w58-awr-19c-aix-21Decto22Dec.html", Log, Commit, Some("log file sync")),
];

/// A made-up report of an hour with ten sessions active: seconds on a CPU, then waits of sessions
/// and of the background, each with its count and seconds.
struct Made {
    row: Row,
    cpu_s: u32,
    foreground: &'static [(&'static str, u32, u32)],
    background: &'static [(&'static str, u32, u32)],
    redo: Option<RedoFinding>,
}

const fn made(
    row: Row,
    cpu_s: u32,
    foreground: &'static [(&'static str, u32, u32)],
    background: &'static [(&'static str, u32, u32)],
    redo: Option<RedoFinding>,
) -> Made {
    Made { row, cpu_s, foreground, background, redo }
}

/// A log that is fine and barely used.
const CALM: &[(&str, u32, u32)] = &[("log file parallel write", 100_000, 100)];
/// Writes of 300 ms.
const DYING: &[(&str, u32, u32)] = &[("log file parallel write", 10_000, 3_000)];
/// Writes of 30 ms.
const SLOW: &[(&str, u32, u32)] = &[("log file parallel write", 20_000, 600)];
/// One write after the other, each of 2 ms.
const BUSY: &[(&str, u32, u32)] = &[("log file parallel write", 1_600_000, 3_200)];

const MADE: &[Made] = &[
    made(
        ("CPU", Time, Cpu, Some("DB CPU")),
        32_000,
        &[("db file sequential read", 900_000, 900)],
        CALM,
        None,
    ),
    made(
        ("single blocks", Time, Storage, Some("db file sequential read")),
        9_000,
        &[("db file sequential read", 5_000_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("scattered", Time, Storage, Some("db file scattered read")),
        9_000,
        &[("db file scattered read", 2_000_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("direct reads", Time, Storage, Some("direct path read")),
        9_000,
        &[("direct path read", 2_000_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("sorts", Time, Storage, Some("direct path write temp")),
        9_000,
        &[("direct path write temp", 90_000, 15_000), ("direct path read temp", 900_000, 10_000)],
        CALM,
        None,
    ),
    made(
        ("smart scans", Time, Storage, Some("cell smart table scan")),
        9_000,
        &[("cell smart table scan", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("Exadata blocks", Time, Storage, Some("cell single block physical")),
        9_000,
        &[("cell single block physical r", 9_000_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("control files", Time, Storage, Some("control file sequential re")),
        9_000,
        &[("control file sequential re", 9_000_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("other sessions read", Time, Storage, Some("read by other session")),
        9_000,
        &[("read by other session", 3_000_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("no free buffers", Time, Storage, Some("free buffer waits")),
        9_000,
        &[("free buffer waits", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("log buffer full", Time, Storage, Some("log buffer space")),
        9_000,
        &[("log buffer space", 90_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("writes and reads", Time, Storage, Some("db file sequential read")),
        9_000,
        &[("db file sequential read", 3_000_000, 14_000), ("write complete waits", 9_000, 11_000)],
        CALM,
        None,
    ),
    made(
        ("latches", Time, Contention, Some("latch: cache buffers chain")),
        9_000,
        &[("latch: cache buffers chain", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("library cache", Time, Contention, Some("library cache: mutex X")),
        9_000,
        &[("library cache: mutex X", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("hot block", Time, Contention, Some("buffer busy waits")),
        9_000,
        &[("buffer busy waits", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("cluster", Time, Contention, Some("gc buffer busy acquire")),
        9_000,
        &[("gc buffer busy acquire", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("index", Time, Contention, Some("enq: TX - index contention")),
        9_000,
        &[("enq: TX - index contention", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("row locks, good log", Log, Contention, Some("enq: TX - row lock content")),
        9_000,
        &[("enq: TX - row lock content", 9_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("row locks, dying log", Time, Contention, Some("enq: TX - row lock content")),
        1_000,
        &[("enq: TX - row lock content", 9_000, 25_000), ("log file sync", 9_000, 9_000)],
        DYING,
        Some(RedoFinding::Device),
    ),
    made(
        ("row locks, slow log", Time, Contention, Some("enq: TX - row lock content")),
        1_000,
        &[("enq: TX - row lock content", 9_000, 25_000), ("log file sync", 90_000, 9_000)],
        SLOW,
        Some(RedoFinding::Device),
    ),
    made(
        ("a lock of no class", Time, Contention, Some("enq: PS - contention")),
        9_000,
        &[("enq: PS - contention", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("resource plan", Time, Other, Some("resmgr:cpu quantum")),
        9_000,
        &[("resmgr:cpu quantum", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("uploads", Time, Other, Some("SQL*Net more data from cli")),
        9_000,
        &[("SQL*Net more data from cli", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("database link", Time, Other, Some("SQL*Net vector data to cli")),
        9_000,
        &[("SQL*Net vector data to cli", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("an external call", Time, Other, Some("External Procedure call")),
        9_000,
        &[("External Procedure call", 900_000, 25_000)],
        CALM,
        None,
    ),
    made(
        ("commits, slow log", Log, Commit, Some("log file sync")),
        9_000,
        &[("log file sync", 500_000, 25_000)],
        SLOW,
        Some(RedoFinding::Device),
    ),
    made(
        ("commits, dying log", Log, Commit, Some("log file sync")),
        9_000,
        &[("log file sync", 50_000, 25_000)],
        DYING,
        Some(RedoFinding::Device),
    ),
    made(
        ("commits, the device", Log, Commit, Some("log file sync")),
        9_000,
        &[("log file sync", 2_500_000, 25_000)],
        &[("log file parallel write", 200_000, 1_600)],
        Some(RedoFinding::Device),
    ),
    made(
        ("commits, a busy writer", Queue, Commit, Some("log file sync")),
        9_000,
        &[("log file sync", 5_000_000, 25_000)],
        BUSY,
        Some(RedoFinding::Saturated),
    ),
    made(
        ("commits, outside the device", Log, Commit, Some("log file sync")),
        9_000,
        &[("log file sync", 2_500_000, 25_000)],
        CALM,
        Some(RedoFinding::BesideTheDevice),
    ),
    made(
        ("no commits, slow log", Log, Cpu, Some("DB CPU")),
        32_000,
        &[("log file sync", 100, 3)],
        SLOW,
        Some(RedoFinding::Device),
    ),
    made(
        ("no commits", Log, Cpu, Some("DB CPU")),
        32_000,
        &[("log file sync", 10_000, 30)],
        CALM,
        Some(RedoFinding::NotWaitedFor),
    ),
    made(
        ("nothing leads", Time, Mixed, None),
        14_000,
        &[("db file sequential read", 3_000_000, 15_000)],
        CALM,
        None,
    ),
    made(
        ("three parts", Time, Mixed, None),
        11_000,
        &[("db file sequential read", 3_000_000, 12_000), ("log file sync", 900_000, 11_500)],
        CALM,
        None,
    ),
    made(
        ("unaccounted", Time, Unknown, None),
        5_000,
        &[("db file sequential read", 900_000, 4_000)],
        CALM,
        None,
    ),
    made(
        ("more unaccounted than reads", Time, Unknown, None),
        4_000,
        &[("db file sequential read", 900_000, 12_000)],
        CALM,
        None,
    ),
    made(
        ("CPU above DB time", Time, Unknown, None),
        60_000,
        &[("db file sequential read", 900_000, 900)],
        CALM,
        None,
    ),
    made(
        ("reads lead idle events", Time, Storage, Some("db file sequential read")),
        9_000,
        &[
            ("db file sequential read", 5_000_000, 25_000),
            ("SQL*Net message from clien", 900_000, 900_000),
        ],
        CALM,
        None,
    ),
    made(
        ("parallel servers rest", Time, Cpu, Some("DB CPU")),
        32_000,
        &[("PX Deq Credit: send blkd", 900_000, 90_000)],
        CALM,
        None,
    ),
];

/// The made-up report as text.
fn text(made: &Made) -> String {
    let row = |event: &(&str, u32, u32)| {
        let (name, waits, time_s) = *event;
        let mean_ms = f64::from(time_s) * 1e3 / f64::from(waits);
        let share = f64::from(time_s) / 360.0;
        [
            name.to_owned(),
            waits.to_string(),
            time_s.to_string(),
            format!("{mean_ms:.0}"),
            format!("{share:.1}"),
        ]
    };
    let table = |title: &str, events: &[(&str, u32, u32)]| {
        let rows: Vec<[String; 5]> = events.iter().map(row).collect();
        let rows: Vec<Vec<&str>> =
            rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        wait_events(title, &rows)
    };
    let cpu = made.cpu_s.to_string();
    let cpu_share = format!("{:.1}", f64::from(made.cpu_s) / 360.0);
    header_11("11.2.0.3.0", "60.00", "600.00")
        + &top_five(&[&["DB CPU", "", &cpu, "", &cpu_share, ""]])
        + "\n"
        + &table("Foreground Wait Events", made.foreground)
        + &table("Background Wait Events", made.background)
        + END_OF_REPORT
}

/// No log device above 20 ms is called sound, and no sentence of the verdict contradicts another.
fn consistent(name: &str, profile: &Profile) -> Vec<String> {
    let mut wrong = Vec::new();
    let write_s = profile.redo.write_latency_s.as_ref().map_or(0.0, |write| write.value);
    let log = profile.verdict.devices.iter().find(|device| device.path == IoPath::RedoWrite);
    let slow = log.is_some_and(|log| log.grade >= DeviceGrade::Slow);
    let judged = profile.report.as_ref().is_some_and(|report| report.invalid.is_none());
    let sound = !slow || profile.redo.finding != RedoFinding::Device;
    if judged && log.is_some() && write_s > 0.020 && sound {
        wrong.push(format!("{name}: a log device of {write_s} s is called sound"));
    }
    let verdict = &profile.verdict;
    let bounds = verdict.speedup_limit.zip(verdict.storage_speedup_limit);
    if bounds.is_some_and(|(reads, all)| all < reads - 1e-9) {
        wrong.push(format!("{name}: all of storage brings less than its reads"));
    }
    let beside = profile.redo.finding == RedoFinding::BesideTheDevice;
    if beside && verdict.cause.as_deref() == Some("log file parallel write") {
        wrong.push(format!("{name}: the cause is the log, and commits do not wait for it"));
    }
    wrong
}

/// In how far the verdict is not the rule's.
fn differs(row: &Row, profile: &Profile) -> Option<String> {
    let (name, rule, word, cause) = row;
    let found = (profile.verdict.bottleneck, profile.verdict.cause.as_deref());
    let reason = &profile.verdict.reason;
    (found != (*word, *cause))
        .then(|| format!("{name}: {rule:?} says {word:?} {cause:?}, found {found:?}: {reason}"))
}

fn shared() -> Option<PathBuf> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["../shared", "../../shared"].map(|path| repository.join(path));
    beside.into_iter().find(|path| path.join("awr2/INDEX.md").is_file())
}

#[test]
fn made_up_reports_are_judged_as_the_books_do() {
    let (mut wrong, mut differing) = (Vec::new(), Vec::new());
    for made in MADE {
        let profile = assay_oracle::profile(&read(&text(made)));
        wrong.extend(consistent(made.row.0, &profile));
        differing.extend(differs(&made.row, &profile));
        if let Some(redo) = made.redo {
            assert_eq!(profile.redo.finding, redo, "{}", made.row.0);
        }
    }
    let (all, agreed) = (MADE.len(), MADE.len() - differing.len());
    println!("{agreed} of {all} made-up reports agree; {}", differing.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(agreed * 100 >= all * 95, "{}", differing.join("\n"));
}

#[test]
fn storage_said_to_be_flash_is_judged_as_flash() {
    let report = read(&text(
        MADE.iter().find(|made| made.row.0 == "single blocks").expect("a row of reads of 5 ms"),
    ));
    let grade = |medium| {
        let verdict = assay_oracle::profile_on(&report, medium).verdict;
        let device = verdict.devices.iter().find(|one| one.path == IoPath::SingleBlockRead);
        let is_noted = verdict.notes.iter().any(|note| note.contains("judged as hard disks"));
        (device.unwrap().grade, is_noted)
    };
    assert_eq!(grade(None), (DeviceGrade::Sound, true));
    assert_eq!(grade(Some(StorageMedium::Disks)), (DeviceGrade::Sound, false));
    assert_eq!(grade(Some(StorageMedium::Flash)), (DeviceGrade::Slow, false));
}

#[test]
fn reports_of_the_field_are_judged_as_the_books_do() {
    let Some(folder) = shared() else {
        println!("skipped: no real reports next to the repository");
        return;
    };
    let (mut wrong, mut differing) = (Vec::new(), Vec::new());
    for row in REAL {
        let bytes = std::fs::read(folder.join(row.0)).unwrap();
        let report = assay_oracle::read_reports(&bytes).remove(0).expect(row.0);
        let profile = assay_oracle::profile(&report);
        wrong.extend(consistent(row.0, &profile));
        differing.extend(differs(row, &profile));
    }
    let (all, agreed) = (REAL.len(), REAL.len() - differing.len());
    println!("{agreed} of {all} real reports agree; {}", differing.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(agreed * 100 >= all * 95, "{}", differing.join("\n"));
}
