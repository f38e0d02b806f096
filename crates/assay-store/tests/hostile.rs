//! A run that came from somebody else: whatever its names lead to, nothing outside is read, written
//! or waited for.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop where something is missing, and say what they skipped"
)]

mod common;

use assay_model::Result;
use assay_model::measurement::Finish;
use assay_model::run::{Event, EventKind};
use assay_store::{RunReader, Store, StoredDocument, WriteDurability};
use common::{Folder, NOW_UNIX_NS, interval_of, measured, new_run, piece, start, workload};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MINE: &str = "first line of mine\nsecond line of mine\nand a third without an end";

/// What is described in a name instead of what the run had.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    LinkToFile,
    LinkToNothing,
    LinkToDirectory,
    LinkToZeros,
    HardLink,
    Pipe,
    Directory,
    Sparse,
}

const PLANTED: [Planted; 8] = [
    Planted::LinkToFile,
    Planted::LinkToNothing,
    Planted::LinkToDirectory,
    Planted::LinkToZeros,
    Planted::HardLink,
    Planted::Pipe,
    Planted::Directory,
    Planted::Sparse,
];

const NAMES: [&str; 16] = [
    "lock",
    "run.json",
    "events.jsonl",
    "watch.jsonl",
    "checksums.jsonl",
    "workload.toml",
    "environment.json",
    "report.html",
    "cells",
    "cells/oltp",
    "cells/oltp/workload.toml",
    "cells/oltp/intervals.jsonl",
    "cells/oltp/tail.jsonl",
    "cells/oltp/measurement.json",
    "cells/oltp/checksums.jsonl",
    ".tmp-run.json",
];

/// Files of a person next to the store, which nothing may change.
struct Scratch {
    folder: Folder,
}

impl Scratch {
    fn new() -> Self {
        let scratch = Self { folder: Folder::new() };
        fs::write(scratch.file(), MINE).unwrap();
        fs::create_dir(scratch.directory()).unwrap();
        fs::write(scratch.directory().join("intervals.jsonl"), MINE).unwrap();
        scratch
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("mine")
    }

    fn directory(&self) -> PathBuf {
        self.folder.path().join("directory-of-mine")
    }

    fn is_untouched(&self) -> bool {
        let listed = fs::read_dir(self.directory()).unwrap().count();
        let inside = fs::read_to_string(self.directory().join("intervals.jsonl")).unwrap();
        fs::read_to_string(self.file()).unwrap() == MINE
            && listed == 1
            && inside == MINE
            && !self.folder.path().join("nothing").exists()
    }

    /// A run that somebody left unfinished, with one name exchanged.
    fn received(&self, name: &str, planted: Planted) -> (Store, PathBuf) {
        let store = self.folder.store();
        let run = store.create(&new_run()).unwrap();
        let path = run.path().to_owned();
        run.put(StoredDocument::Workload, "format = 1\n").unwrap();
        let mut cell =
            run.create_cell("oltp", &workload(480 * 3), &start(WriteDurability::Finished)).unwrap();
        for index in 0..2 {
            let joint = piece(index);
            cell.append_interval(&interval_of(index, &joint), &joint).unwrap();
        }
        drop((cell, run));
        self.plant(&path.join(name), planted);
        (store, path)
    }

    fn plant(&self, at: &Path, planted: Planted) {
        if at.is_dir() {
            fs::remove_dir_all(at).unwrap();
        } else {
            let _ = fs::remove_file(at);
        }
        match planted {
            Planted::LinkToFile => symlink(self.file(), at).unwrap(),
            Planted::LinkToNothing => symlink(self.folder.path().join("nothing"), at).unwrap(),
            Planted::LinkToDirectory => symlink(self.directory(), at).unwrap(),
            Planted::LinkToZeros => symlink("/dev/zero", at).unwrap(),
            Planted::HardLink => fs::hard_link(self.file(), at).unwrap(),
            Planted::Pipe => {
                mknodat(CWD, at, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
            }
            Planted::Directory => fs::create_dir(at).unwrap(),
            Planted::Sparse => File::create(at).unwrap().set_len(20 << 30).unwrap(),
        }
    }
}

fn read_all(path: &Path) -> Result<()> {
    let run = RunReader::open(path)?;
    run.status();
    run.disk_bytes();
    let found: Vec<Result<()>> = vec![
        StoredDocument::ALL.into_iter().try_for_each(|document| run.document(document).map(drop)),
        run.events().map(|events| events.for_each(drop)),
        run.moments().map(|moments| moments.for_each(drop)),
        run.cells().and_then(|cells| {
            cells.iter().try_for_each(|cell| {
                cell.workload()?;
                cell.measurement()?;
                cell.summaries()?.for_each(drop);
                Ok(())
            })
        }),
    ];
    found.into_iter().collect()
}

/// Writes all that a run is written: whatever is refused, the rest is tried.
fn write_all(store: &Store) -> Result<()> {
    let mut run = store.resume("latest", NOW_UNIX_NS)?;
    let happened = Event { at_unix_ns: NOW_UNIX_NS, cell: None, what: EventKind::Resumed };
    let done = [
        run.event(&happened),
        run.watch_log().and_then(|mut log| log.append(&assay_model::watch::Moment::default())),
        run.put(StoredDocument::Environment, "{}"),
        run.put(StoredDocument::Report, "<html>"),
        run.resume_cell("oltp", &start(WriteDurability::Finished)).and_then(|mut cell| {
            let joint = piece(0);
            cell.append_interval(&interval_of(0, &joint), &joint)?;
            cell.finish(measured(0, 1, Finish::Complete)).map(drop)
        }),
        run.finish(Finish::Complete, NOW_UNIX_NS).map(drop),
    ];
    done.into_iter().collect()
}

/// Every name of a run with everything that may stand under it, met by reading, writing and
/// removing.
#[test]
fn whatever_stands_under_a_name_nothing_outside_is_touched_and_nothing_waits() {
    for name in NAMES {
        for planted in PLANTED {
            let is_directory = ["cells", "cells/oltp"].contains(&name);
            let is_long = ["run.json", "report.html", "cells/oltp/tail.jsonl"].contains(&name);
            if (planted == Planted::Directory && is_directory)
                || (planted == Planted::Sparse && !is_long)
            {
                continue;
            }
            for step in ["read", "write", "remove"] {
                let scratch = Scratch::new();
                let (store, path) = scratch.received(name, planted);
                let begun = Instant::now();
                let done = match step {
                    "read" => read_all(&path),
                    "write" => write_all(&store),
                    _ => store.remove(path.to_str().unwrap()).map(drop),
                };
                assert!(scratch.is_untouched(), "{name} {planted:?} {step}: {done:?}");
                assert!(begun.elapsed() < Duration::from_secs(20), "{name} {planted:?} {step}");
                let is_kept = step == "remove" && done.is_err();
                assert!(
                    !is_kept || path.join("run.json").symlink_metadata().is_ok(),
                    "{name} {planted:?}"
                );
                store.runs().unwrap();
            }
        }
    }
}

#[test]
fn what_is_written_in_place_is_refused_with_its_reason() {
    for (name, planted, reason) in [
        ("lock", Planted::LinkToFile, "it is a symbolic link; expected a regular file"),
        ("lock", Planted::HardLink, "it has other hard links"),
        ("events.jsonl", Planted::LinkToFile, "it is a symbolic link"),
        ("events.jsonl", Planted::Pipe, "it is a named pipe"),
        ("cells/oltp/tail.jsonl", Planted::HardLink, "hard links"),
        ("cells", Planted::LinkToDirectory, "it is a symbolic link; expected a directory"),
    ] {
        let scratch = Scratch::new();
        let (store, _) = scratch.received(name, planted);
        let error = write_all(&store).unwrap_err();
        assert!(error.message().contains(reason), "{name} {planted:?}: {error}");
        assert!(error.hint().contains("nothing outside it was touched"), "{error}");
    }
}

#[test]
fn a_document_without_end_is_refused_at_once() {
    let scratch = Scratch::new();
    let (_, path) = scratch.received("run.json", Planted::Sparse);
    let error = RunReader::open(&path).unwrap_err();
    assert!(error.message().ends_with("run.json: it has more than 64 MiB"), "{error}");
}

#[test]
fn an_empty_name_names_no_run() {
    let scratch = Scratch::new();
    let store = scratch.folder.store();
    store.create(&new_run()).unwrap();
    for error in [store.remove("").unwrap_err(), store.open("").map(drop).unwrap_err()] {
        assert_eq!(error.message(), "the name of the run is empty");
    }
    assert_eq!(store.runs().unwrap().runs.len(), 1);
}

#[test]
fn the_report_of_another_program_is_no_run_and_the_hint_says_who_reads_it() {
    let scratch = Scratch::new();
    let report = scratch.folder.path().join("awr.html");
    fs::write(&report, "<html>").unwrap();
    let error = RunReader::open(&report).unwrap_err();
    assert_eq!(error.message(), format!("{} is a file, not a run", report.display()));
    assert!(error.hint().contains("`assay profile FILE`"), "{}", error.hint());
}

#[test]
fn only_the_writer_may_open_the_lock() {
    let scratch = Scratch::new();
    let run = scratch.folder.store().create(&new_run()).unwrap();
    let lock = run.path().join("lock");
    let mode = || fs::metadata(&lock).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    // One of an earlier version is closed when it is taken.
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o644)).unwrap();
    drop(run);
    drop(scratch.folder.store().resume("latest", 1).unwrap());
    assert_eq!(mode(), 0o600);
}

#[test]
fn a_store_behind_a_link_of_another_user_is_refused() {
    let scratch = Scratch::new();
    let link = scratch.folder.path().join("assay-runs");
    symlink(scratch.directory(), &link).unwrap();
    // A link of one's own is one's own business.
    Store::at(&link).create(&new_run()).unwrap();
    if std::os::unix::fs::lchown(&link, Some(65534), Some(65534)).is_err() {
        println!("skipped: only root can give a link to another user");
        return;
    }
    assert_eq!(link.symlink_metadata().unwrap().uid(), 65534);
    let error = Store::at(&link).create(&new_run()).unwrap_err();
    assert!(error.message().contains("a symbolic link of another user (uid 65534)"), "{error}");
}

#[test]
fn a_file_of_another_user_in_a_run_is_not_written() {
    let scratch = Scratch::new();
    let (store, path) = scratch.received("environment.json", Planted::Directory);
    if std::os::unix::fs::lchown(path.join("events.jsonl"), Some(65534), None).is_err() {
        println!("skipped: only root can give a file to another user");
        return;
    }
    let error = store.resume("latest", 1).unwrap_err();
    assert!(error.message().contains("its owner is not the owner of its directory"), "{error}");
}

#[test]
fn a_link_to_a_run_in_a_store_is_no_run_of_it() {
    let scratch = Scratch::new();
    let (store, path) = scratch.received("report.html", Planted::Directory);
    let other = scratch.folder.path().join("others");
    fs::create_dir(&other).unwrap();
    symlink(&path, other.join("20260101-000000-run-link")).unwrap();
    assert!(Store::at(&other).runs().unwrap().runs.is_empty());
    assert!(Store::at(&other).open("20260101").is_err());
    assert_eq!(store.runs().unwrap().runs.len(), 1);
}
