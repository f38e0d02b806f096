//! A disk that is full in mid-run: the run ends cleanly, keeps what was measured, and goes on when
//! there is room.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop where something is missing, and say what they found or skipped"
)]

mod common;

use assay_model::measurement::Finish;
use assay_model::{Blame, Error};
use assay_store::{CellWriter, RunStatus, Store, WriteDurability};
use common::{Folder, NOW_UNIX_NS, interval_of, measured, new_run, piece, pieces, start, workload};
use std::path::Path;
use std::process::Command;

/// A file system of its own on a folder, as large as given.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn new(path: &'a Path, size: &str) -> Option<Self> {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(path)
            .output();
        done.is_ok_and(|output| output.status.success()).then_some(Self(path))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Appends intervals until the store refuses; how many it took, and why it refused.
fn fill(cell: &mut CellWriter) -> (u64, Error) {
    for index in 0..100_000 {
        let joint = piece(index);
        if let Err(error) = cell.append_interval(&interval_of(index, &joint), &joint) {
            return (index, error);
        }
    }
    panic!("the disk never got full");
}

#[test]
fn a_full_disk_keeps_what_was_measured() {
    let folder = Folder::on_disk();
    let Some(_mounted) = Mounted::new(folder.path(), "512k") else {
        println!("skipped: mounting a file system is not allowed here");
        return;
    };
    let filler = folder.path().join("filler");
    std::fs::write(&filler, vec![1; 128 << 10]).unwrap();
    let store = Store::at(folder.path().join("runs"));
    let run = store.create(&new_run()).unwrap();
    let start = start(WriteDurability::EveryInterval);
    let mut cell = run.create_cell("oltp", &workload(480 * 4), &start).unwrap();
    let (kept, error) = fill(&mut cell);
    assert_eq!(error.blame(), Blame::Environment);
    assert!(error.message().contains("no space left"), "{error}");
    assert!(error.hint().contains("are kept"), "{error}");

    // Ending the run cleanly may need more room than there is; nothing may be lost by trying.
    let failed = Finish::Failed { reason: error.message().to_owned() };
    let _ = cell.finish(measured(0, kept, failed.clone()));
    let _ = run.finish(failed, NOW_UNIX_NS);
    let run = store.open("latest").unwrap();
    assert_ne!(run.status(), RunStatus::Finished(Finish::Complete));
    let reader = run.cell("oltp").unwrap();
    let intervals = reader.extent().unwrap().intervals;
    assert!((kept..=kept + 1).contains(&intervals), "{intervals} of {kept}");
    assert_eq!(reader.measurement().unwrap().streams, pieces(intervals).streams);

    std::fs::remove_file(&filler).unwrap();
    let run = store.resume("latest", NOW_UNIX_NS).unwrap();
    let mut cell = run.resume_cell("oltp", &start).unwrap();
    let joint = piece(intervals);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    let whole = cell.finish(measured(intervals, intervals + 1, Finish::Complete)).unwrap();
    assert_eq!(whole.streams, pieces(intervals + 1).streams);
    run.finish(Finish::Complete, NOW_UNIX_NS).unwrap();
}
