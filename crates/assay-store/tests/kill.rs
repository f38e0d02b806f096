//! `kill -9` at a hundred random moments: every run opens and has lost at most the interval in
//! flight.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod common;

use assay_model::measurement::{Finish, Window};
use assay_store::{CellStart, CellWriter, RunStatus, RunWriter, Store, WriteDurability};
use common::{Folder, NOW_UNIX_NS, Random, interval_of, new_run, piece, pieces, start, workload};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "ASSAY_STORE_KILL_FOLDER";
const SYNCED: &str = "ASSAY_STORE_KILL_SYNCED";
const KILLS: u64 = 100;
/// Kills of one run before the next one is begun.
const KILLS_A_RUN: u64 = 5;
/// Joints of three intervals, so that many are killed between tail and joint.
const WINDOW: u64 = 3;

/// The child: takes up the newest run, or begins one, and writes intervals until it is killed.
/// After each it notes how many are safe.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let durability = match std::env::var_os(SYNCED) {
        Some(_) => WriteDurability::EveryInterval,
        None => WriteDurability::Finished,
    };
    let (_run, mut cell) = take_up(&Store::at(folder.join("runs")), &start(durability));
    let mut safe = OpenOptions::new().append(true).create(true).open(folder.join("safe")).unwrap();
    let first = cell.extent().intervals;
    for index in first..1_000_000 {
        let joint = piece(index);
        cell.append_interval(&interval_of(index - first, &joint), &joint).unwrap();
        safe.write_all(&(index + 1).to_le_bytes()).unwrap();
    }
}

fn take_up(store: &Store, start: &CellStart) -> (RunWriter, CellWriter) {
    if store.runs().unwrap().runs.is_empty() {
        let run = store.create(&new_run()).unwrap();
        let cell = run.create_cell("oltp", &workload(480 * WINDOW), start).unwrap();
        return (run, cell);
    }
    let run = store.resume("latest", NOW_UNIX_NS).unwrap();
    let known = run.reader().unwrap().cells().unwrap();
    let cell = if known.is_empty() {
        run.create_cell("oltp", &workload(480 * WINDOW), start)
    } else {
        run.resume_cell("oltp", start)
    };
    let cell = cell.unwrap();
    (run, cell)
}

fn spawn(folder: &Path, synced: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if synced {
        command.env(SYNCED, "1");
    }
    command.spawn().unwrap()
}

/// Intervals of which the child knew that they are safe.
fn safe_intervals(folder: &Path) -> u64 {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(folder.join("safe")) {
        file.read_to_end(&mut bytes).unwrap();
    }
    let last = bytes.chunks_exact(8).last();
    last.map_or(0, |last| u64::from_le_bytes(last.try_into().unwrap()))
}

/// Checks what the killed child left of the `before` intervals that it found and of its own; how
/// many there are.
fn check(folder: &Path, before: u64) -> u64 {
    let safe = safe_intervals(folder).max(before);
    let store = Store::at(folder.join("runs"));
    let listing = store.runs().unwrap();
    assert!(listing.unreadable.is_empty(), "{listing:?}");
    if listing.runs.is_empty() {
        assert_eq!(safe, 0);
        return 0;
    }
    let run = store.open("latest").unwrap();
    assert_eq!(run.status(), RunStatus::Unfinished);
    let Ok(cell) = run.cell("oltp") else {
        assert_eq!(safe, 0);
        return 0;
    };
    let intervals = cell.extent().unwrap().intervals;
    assert!((safe..=safe + 1).contains(&intervals), "{intervals} of {safe}");
    let found = cell.measurement().unwrap();
    assert_eq!(found.finish, Finish::Unfinished);
    assert_eq!(found.streams, pieces(intervals).streams);
    let mut sum = Window::default();
    for item in cell.joints().unwrap() {
        sum.merge(&item.unwrap().1);
    }
    assert_eq!(sum.intervals, intervals);
    assert_eq!(
        cell.summaries().unwrap().map(Result::unwrap).count(),
        usize::try_from(intervals).unwrap()
    );
    intervals
}

/// Waits until the child has written, so that it is killed at its work and not before.
fn wait_until_writing(child: &mut Child, folder: &Path) {
    let length = || std::fs::metadata(folder.join("safe")).map_or(0, |found| found.len());
    let before = length();
    while length() == before {
        assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn every_run_opens_and_has_lost_at_most_the_interval_in_flight() {
    let mut random = Random(20_261_121);
    let mut folder = Folder::on_disk();
    let mut kept = 0;
    for kill in 0..KILLS {
        if kill % KILLS_A_RUN == 0 {
            folder = Folder::on_disk();
            kept = 0;
        }
        let mut child = spawn(folder.path(), kill % 2 == 1);
        // One in four is killed while it begins or takes up a run.
        if kill % 4 != 0 {
            wait_until_writing(&mut child, folder.path());
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let before = kept;
        kept = check(folder.path(), before);
        assert!(kill % 4 == 0 || kept > before);
    }
}
