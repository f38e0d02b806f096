//! One changed byte anywhere in a run is noticed by whoever reads it, and what a crash leaves is no alarm.
#![allow(clippy::unwrap_used, reason = "tests stop where their ground is missing")]

mod common;

use assay_model::measurement::Finish;
use assay_model::run::{Event, Happening};
use assay_model::watch::Moment;
use assay_model::{Error, Result};
use assay_store::{Document, Durability, RunReader, Store, take_damage};
use common::{Folder, NOW_UNIX_NS, Random, interval_of, measured, new_run, piece, start, workload};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Every byte of files up to this length is changed in turn, of longer ones one of so many.
const EVERY_BYTE_MAX: usize = 1024;
const PART: u64 = 40;

/// What was found damaged is one list for the program, so the tests here take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    drop(take_damage());
    turn
}

/// A run with a document of either form, events, moments, and a cell, finished or killed.
fn write_run(store: &Store, is_finished: bool) -> PathBuf {
    let mut run = store.create(&new_run()).unwrap();
    let path = run.path().to_owned();
    run.put(Document::Workload, &toml::to_string(&workload(4)).unwrap()).unwrap();
    let happened = |what| Event { at_unix_ns: NOW_UNIX_NS, cell: None, what };
    run.event(&happened(Happening::Resumed)).unwrap();
    run.event(&happened(Happening::PhaseBegin { name: "measure".to_owned() })).unwrap();
    let mut watch = run.watch_log().unwrap();
    watch.append(&Moment { at_unix_ns: NOW_UNIX_NS, ..Moment::default() }).unwrap();
    let mut cell =
        run.create_cell("oltp", &workload(480 * 3), &start(Durability::Finished)).unwrap();
    for index in 0..5 {
        let joint = piece(index);
        cell.append_interval(&interval_of(index, &joint), &joint).unwrap();
    }
    if is_finished {
        cell.finish(measured(0, 5, Finish::Complete)).unwrap();
        run.finish(Finish::Complete, NOW_UNIX_NS).unwrap();
    }
    path
}

/// Reads everything that any verb reads.
fn read_all(path: &Path) -> Result<usize> {
    let run = RunReader::open(path)?;
    let mut read = 0;
    for document in Document::ALL {
        read += run.document(document)?.map_or(0, |text| text.len());
    }
    read += run.events()?.collect::<Result<Vec<_>>>()?.len();
    read += run.moments()?.collect::<Result<Vec<_>>>()?.len();
    for cell in run.cells()? {
        cell.workload()?;
        cell.measurement()?;
        read += cell.summaries()?.collect::<Result<Vec<_>>>()?.len();
        read += cell.joints()?.collect::<Result<Vec<_>>>()?.len();
    }
    Ok(read)
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.append(&mut files(&entry));
        } else {
            found.insert(entry.clone(), fs::read(&entry).unwrap());
        }
    }
    found
}

/// What a reader is told: the error, and the places of damage.
fn told(path: &Path) -> (Option<Error>, Vec<PathBuf>) {
    let error = read_all(path).err();
    (error, take_damage().into_iter().map(|damage| damage.path).collect())
}

fn is_noticed(path: &Path, file: &Path) -> bool {
    let (error, places) = told(path);
    let names = |text: &str| text.contains(file.file_name().unwrap().to_str().unwrap());
    error.is_some_and(|error| names(error.message())) || places.iter().any(|place| place == file)
}

#[test]
fn every_changed_byte_is_noticed_and_its_file_named() {
    let _turn = alone();
    let mut random = Random(30);
    for is_finished in [true, false] {
        let folder = Folder::new();
        let path = write_run(&folder.store(), is_finished);
        assert_eq!(told(&path), (None, Vec::new()));
        let mut changed = 0;
        for (file, bytes) in files(&path) {
            // Who holds the lock is of no interest when nobody does.
            if file.ends_with("lock") {
                continue;
            }
            for place in 0..bytes.len() {
                // Of long lines a part, and each of their ends.
                let is_drawn = bytes.len() < EVERY_BYTE_MAX || random.below(PART) == 0;
                if !is_drawn && bytes[place] != b'\n' {
                    continue;
                }
                let mut other = bytes.clone();
                let digit = bytes[place].is_ascii_digit() && random.below(2) == 0;
                other[place] ^= if digit { 1 } else { 1 << random.below(8) };
                fs::write(&file, &other).unwrap();
                assert!(is_noticed(&path, &file), "{} {place}", file.display());
                changed += 1;
            }
            fs::write(&file, &bytes).unwrap();
        }
        assert!(changed > 1500, "{changed}");
        assert_eq!(told(&path), (None, Vec::new()));
    }
}

#[test]
fn a_line_that_was_cut_off_is_no_alarm() {
    let _turn = alone();
    let folder = Folder::new();
    let path = write_run(&folder.store(), false);
    for name in
        ["events.jsonl", "watch.jsonl", "cells/oltp/intervals.jsonl", "cells/oltp/tail.jsonl"]
    {
        let (file, bytes) = (path.join(name), fs::read(path.join(name)).unwrap());
        for kept in bytes.len().saturating_sub(200)..bytes.len() {
            fs::write(&file, &bytes[..kept]).unwrap();
            assert_eq!(told(&path), (None, Vec::new()), "{name} {kept}");
        }
        fs::write(&file, &bytes).unwrap();
    }
}

/// Takes the checksums off a run, as earlier versions wrote it.
fn make_old(path: &Path) {
    for (file, bytes) in files(path) {
        if file.ends_with("checksums.jsonl") {
            fs::remove_file(&file).unwrap();
        } else if file.extension().is_some_and(|form| form == "jsonl") {
            let line = |line: &str| match line.rsplit_once(",\"crc32\":") {
                Some((noun, _)) => format!("{noun}}}\n"),
                None => format!("{line}\n"),
            };
            let text = String::from_utf8(bytes).unwrap();
            fs::write(&file, text.lines().map(line).collect::<String>()).unwrap();
        }
    }
}

#[test]
fn a_run_of_an_earlier_version_opens_unchecked_and_goes_on_with_checksums() {
    let _turn = alone();
    let folder = Folder::new();
    let path = write_run(&folder.store(), false);
    let whole = read_all(&path).unwrap();
    assert!(RunReader::open(&path).unwrap().is_checked());
    make_old(&path);
    assert!(!RunReader::open(&path).unwrap().is_checked());
    assert_eq!(read_all(&path).unwrap(), whole);

    let run = folder.store().resume("latest", NOW_UNIX_NS).unwrap();
    let mut cell = run.resume_cell("oltp", &start(Durability::Finished)).unwrap();
    let joint = piece(5);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    drop((cell, run));
    assert_eq!(told(&path), (None, Vec::new()));
    let lines = path.join("cells/oltp/intervals.jsonl");
    let text = fs::read_to_string(&lines).unwrap();
    fs::write(&lines, text.replacen(",\"crc32\":", ",\"crc33\":", 1)).unwrap();
    assert!(is_noticed(&path, &lines));
}

#[test]
fn a_checksum_that_was_kept_before_its_document_is_no_alarm() {
    let _turn = alone();
    let folder = Folder::new();
    let path = write_run(&folder.store(), false);
    let older = fs::read(path.join("workload.toml")).unwrap();
    let run = folder.store().reopen("latest").unwrap();
    run.put(Document::Workload, "# killed before this was in its place\n").unwrap();
    drop(run);
    fs::write(path.join("workload.toml"), older).unwrap();
    assert_eq!(told(&path), (None, Vec::new()));
    fs::remove_file(path.join("workload.toml")).unwrap();
    assert_eq!(told(&path), (None, Vec::new()));
}
