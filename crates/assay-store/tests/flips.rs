//! One changed byte anywhere in a run is noticed by whoever reads it, and what a crash leaves does
//! not raise an alarm.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod common;

use assay_model::measurement::Finish;
use assay_model::run::{Event, EventKind};
use assay_model::watch::Moment;
use assay_model::{Error, Result};
use assay_store::{RunReader, Store, StoredDocument, WriteDurability, take_damage};
use common::{Folder, NOW_UNIX_NS, Random, interval_of, measured, new_run, piece, start, workload};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Every byte this near to either end of a file is changed in turn, and every Nth one between.
const END_BYTES: usize = 4096;
/// The same for files of kinds that were changed so before.
const KNOWN_END_BYTES: usize = 128;
const STRIDE: usize = 61;

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
    run.put(StoredDocument::Workload, &toml::to_string(&workload(4)).unwrap()).unwrap();
    let happened = |what| Event { at_unix_ns: NOW_UNIX_NS, cell: None, what };
    run.event(&happened(EventKind::Resumed)).unwrap();
    run.event(&happened(EventKind::PhaseBegin { name: "measure".to_owned() })).unwrap();
    let mut watch = run.watch_log().unwrap();
    watch.append(&Moment { at_unix_ns: NOW_UNIX_NS, ..Moment::default() }).unwrap();
    let mut cell =
        run.create_cell("oltp", &workload(480 * 3), &start(WriteDurability::Finished)).unwrap();
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

/// A run with every document, one of them long.
fn write_documents(store: &Store) -> PathBuf {
    let run = store.create(&new_run()).unwrap();
    for (index, document) in StoredDocument::ALL.into_iter().enumerate() {
        let rows = if index == 0 { 4000 } else { 10 + index };
        let text = format!("# a row of {index}\n").repeat(rows);
        run.put(document, &text).unwrap();
    }
    run.path().to_owned()
}

/// Reads everything that any command reads.
fn read_all(path: &Path) -> Result<usize> {
    let run = RunReader::open(path)?;
    let mut read = 0;
    for document in StoredDocument::ALL {
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

/// Reads what a file is a part of: a document alone, or the summaries of all cells.
fn read(path: &Path, file: &Path) -> Result<()> {
    let is_this = |document: &StoredDocument| path.join(document.file_name()) == file;
    let run = RunReader::open(path)?;
    if let Some(document) = StoredDocument::ALL.into_iter().find(is_this) {
        return run.document(document).map(drop);
    }
    for cell in run.cells()? {
        cell.summaries()?.try_for_each(|summary| summary.map(drop))?;
    }
    Ok(())
}

/// What a reader learns: the error, and the places of damage.
fn told_of(read: Result<impl Sized>) -> (Option<Error>, Vec<PathBuf>) {
    (read.err(), take_damage().into_iter().map(|damage| damage.path).collect())
}

fn check_result(path: &Path) -> (Option<Error>, Vec<PathBuf>) {
    told_of(read_all(path))
}

/// By who reads the file alone, or by who reads everything.
fn is_noticed(path: &Path, file: &Path) -> bool {
    let names = |text: &str| text.contains(file.file_name().unwrap().to_str().unwrap());
    let is_named = |(error, places): (Option<Error>, Vec<PathBuf>)| {
        error.is_some_and(|error| names(error.message())) || places.iter().any(|one| one == file)
    };
    is_named(told_of(read(path, file))) || is_named(check_result(path))
}

/// Changes one byte in its place.
fn put(file: &Path, place: usize, byte: u8) {
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.write_all_at(&[byte], u64::try_from(place).unwrap()).unwrap();
}

/// Changes byte after byte of all files of a run; each is noticed. Returns how many there were.
fn change_all(path: &Path, end_bytes: usize, random: &mut Random) -> usize {
    assert_eq!(check_result(path), (None, Vec::new()));
    let mut changed = 0;
    for (file, bytes) in files(path) {
        // Who holds the lock is of no interest when nobody does.
        if file.ends_with("lock") {
            continue;
        }
        let is_near = |place: usize| place < end_bytes || place + end_bytes >= bytes.len();
        for (place, byte) in bytes.iter().copied().enumerate() {
            if !is_near(place) && place % STRIDE != 0 && byte != b'\n' {
                continue;
            }
            let digit = byte.is_ascii_digit() && random.below(2) == 0;
            put(&file, place, byte ^ if digit { 1 } else { 1 << random.below(8) });
            assert!(is_noticed(path, &file), "{} {place}", file.display());
            put(&file, place, byte);
            changed += 1;
        }
    }
    assert_eq!(check_result(path), (None, Vec::new()));
    changed
}

#[test]
fn every_changed_byte_is_noticed_and_its_file_named() {
    let _turn = alone();
    let mut random = Random(30);
    for (is_finished, end_bytes) in [(false, END_BYTES), (true, KNOWN_END_BYTES)] {
        let folder = Folder::new();
        let path = write_run(&folder.store(), is_finished);
        assert!(change_all(&path, end_bytes, &mut random) > 1500);
    }
}

#[test]
fn every_changed_byte_of_every_kind_of_document_is_noticed() {
    let _turn = alone();
    let folder = Folder::new();
    let path = write_documents(&folder.store());
    assert!(change_all(&path, END_BYTES, &mut Random(31)) > 10_000);
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
            assert_eq!(check_result(&path), (None, Vec::new()), "{name} {kept}");
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
    let mut cell = run.resume_cell("oltp", &start(WriteDurability::Finished)).unwrap();
    let joint = piece(5);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    drop((cell, run));
    assert_eq!(check_result(&path), (None, Vec::new()));
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
    run.put(StoredDocument::Workload, "# killed before this was in its place\n").unwrap();
    drop(run);
    fs::write(path.join("workload.toml"), older).unwrap();
    assert_eq!(check_result(&path), (None, Vec::new()));
    fs::remove_file(path.join("workload.toml")).unwrap();
    assert_eq!(check_result(&path), (None, Vec::new()));
}
