//! Whatever a crash leaves, a cell opens, has lost at most its last interval, and can be taken up
//! again.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod common;

use assay_model::Workload;
use assay_model::measurement::{Finish, Window};
use assay_model::run::IntervalSummary;
use assay_store::{CellExtent, CellReader, RunReader, Store, WriteDurability};
use common::{Folder, SECOND_NS, interval_of, measured, new_run, piece, pieces, start, workload};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// The bytes of a cell's two growing files.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bytes {
    lines: Vec<u8>,
    tail: Vec<u8>,
}

impl Bytes {
    fn read(cell: &Path) -> Self {
        Self {
            lines: fs::read(cell.join("intervals.jsonl")).unwrap(),
            tail: fs::read(cell.join("tail.jsonl")).unwrap(),
        }
    }

    fn write(&self, cell: &Path) {
        fs::write(cell.join("intervals.jsonl"), &self.lines).unwrap();
        fs::write(cell.join("tail.jsonl"), &self.tail).unwrap();
    }
}

/// A cell that was written for some intervals and then left, with its bytes before the last one.
struct Left {
    _folder: Folder,
    store: Store,
    cell: PathBuf,
    before: Bytes,
    after: Bytes,
}

/// A plan whose joints have `window` intervals.
fn plan(window: u64) -> Workload {
    workload(480 * window)
}

fn leave(intervals: u64, window: u64) -> Left {
    let folder = Folder::new();
    let store = folder.store();
    let run = store.create(&new_run()).unwrap();
    let mut writer =
        run.create_cell("oltp", &plan(window), &start(WriteDurability::Finished)).unwrap();
    let cell = run.path().join("cells/oltp");
    let mut before = Bytes::read(&cell);
    for index in 0..intervals {
        before = Bytes::read(&cell);
        let joint = piece(index);
        writer.append_interval(&interval_of(index, &joint), &joint).unwrap();
    }
    let after = Bytes::read(&cell);
    Left { _folder: folder, store, cell, before, after }
}

impl Left {
    /// The bytes at every moment of writing the last interval, as a share of its bytes; with them,
    /// whether the interval was safe by then.
    fn cut(&self, share: f64) -> (Bytes, bool) {
        let grown = |now: &[u8], past: &[u8]| now.get(past.len()..).unwrap_or_default().to_vec();
        let lines = grown(&self.after.lines, &self.before.lines);
        let tail = grown(&self.after.tail, &self.before.tail);
        let all = lines.len() + tail.len();
        let at = assay_model::number::index(share * assay_model::number::real_len(all + 1));
        let mut bytes = self.before.clone();
        bytes.tail.extend(&tail[..at.min(tail.len())]);
        bytes.lines.extend(&lines[..at.saturating_sub(tail.len())]);
        let deciding = if tail.is_empty() { all } else { tail.len() };
        (bytes, at >= deciding)
    }

    fn reader(&self) -> CellReader {
        let run: RunReader = self.store.open("latest").unwrap();
        run.cell("oltp").unwrap()
    }
}

fn summaries(cell: &CellReader) -> Vec<IntervalSummary> {
    cell.summaries().unwrap().map(Result::unwrap).collect()
}

fn joints(cell: &CellReader) -> Vec<Window> {
    cell.joints().unwrap().map(|item| item.unwrap().1).collect()
}

/// The cell holds exactly the first `intervals` pieces.
fn holds(cell: &CellReader, intervals: u64) {
    let elapsed_ns = intervals * SECOND_NS;
    assert_eq!(cell.extent().unwrap(), CellExtent { intervals, elapsed_ns });
    for (index, summary) in (0..).zip(summaries(cell)) {
        let joint = piece(index);
        let mut expected = interval_of(index, &joint);
        expected.operations = measured(index, index + 1, Finish::Complete).operations();
        assert_eq!(summary, IntervalSummary::of(&expected));
    }
    let mut sum = Window::default();
    for joint in joints(cell) {
        sum.merge(&joint);
    }
    assert_eq!(sum, pieces(intervals));
    let found = cell.measurement().unwrap();
    assert_eq!((found.elapsed_ns, &found.streams), (elapsed_ns, &sum.streams));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_crash_costs_the_last_interval_at_most(
        intervals in 1u64..14, window in 1u64..5, share in 0.0f64..=1.0,
    ) {
        let left = leave(intervals, window);
        let (bytes, safe) = left.cut(share);
        bytes.write(&left.cell);
        let kept = if safe { intervals } else { intervals - 1 };
        holds(&left.reader(), kept);
        prop_assert_eq!(left.reader().measurement().unwrap().finish, Finish::Unfinished);

        let run = left.store.resume("latest", 1).unwrap();
        let mut writer = run.resume_cell("oltp", &start(WriteDurability::Finished)).unwrap();
        prop_assert_eq!(writer.elapsed_before_ns(), kept * SECOND_NS);
        for index in kept..20 {
            let joint = piece(index);
            writer.append_interval(&interval_of(index - kept, &joint), &joint).unwrap();
        }
        let whole = writer.finish(measured(kept, 20, Finish::Complete)).unwrap();
        let uncut = measured(0, 20, Finish::Complete);
        prop_assert_eq!(&whole.streams, &uncut.streams);
        prop_assert_eq!(&whole.targets, &uncut.targets);
        prop_assert_eq!((whole.elapsed_ns, whole.finish.clone()), (uncut.elapsed_ns, uncut.finish));
        prop_assert_eq!(left.reader().measurement().unwrap(), whole);
        let mut sum = Window::default();
        for joint in joints(&left.reader()) {
            sum.merge(&joint);
        }
        prop_assert_eq!(sum, pieces(20));
        prop_assert!(!left.cell.join("tail.jsonl").exists());
    }

    #[test]
    fn damage_anywhere_leaves_the_rest_readable_and_is_said(
        intervals in 1u64..14, window in 1u64..5, at in any::<prop::sample::Index>(), cut in any::<bool>(),
        of_tail in any::<bool>(),
    ) {
        let left = leave(intervals, window);
        let mut bytes = left.after.clone();
        let hit = if of_tail { &mut bytes.tail } else { &mut bytes.lines };
        if !hit.is_empty() {
            let at = at.index(hit.len());
            if cut {
                hit.truncate(at);
            } else {
                hit[at] = 0;
            }
        }
        bytes.write(&left.cell);
        let cell = left.reader();
        for summary in summaries(&cell) {
            let joint = piece(summary.index);
            prop_assert_eq!(summary.ios(), interval_of(summary.index, &joint).operations.ios());
        }
        let found = cell.measurement().unwrap();
        let ios: u64 = found.streams.iter().map(|stream| stream.operations.ios()).sum();
        let all: u64 = pieces(intervals).streams.iter().map(|stream| stream.operations.ios()).sum();
        prop_assert!(ios <= all);
        let why = &found.conduct.remarks.last().unwrap().why;
        prop_assert!(ios == all || why.contains("totals have") || why.contains("not be read")
            || cell.extent().unwrap().intervals < intervals, "{}", why);
    }
}

#[test]
fn a_stale_tail_behind_its_joint_counts_once() {
    // Killed after the joint was written and before the tail was emptied.
    let left = leave(4, 4);
    let stale = Bytes { tail: left.before.tail.clone(), ..left.after.clone() };
    assert!(!stale.tail.is_empty() && left.after.tail.is_empty());
    stale.write(&left.cell);
    holds(&left.reader(), 4);
    let run = left.store.resume("latest", 1).unwrap();
    let mut writer = run.resume_cell("oltp", &start(WriteDurability::Finished)).unwrap();
    for index in 4..6 {
        let joint = piece(index);
        writer.append_interval(&interval_of(index - 4, &joint), &joint).unwrap();
    }
    drop(writer);
    holds(&left.reader(), 6);
}

#[test]
fn intervals_that_only_the_tail_kept_are_whole_again() {
    // A power failure: the tail was synced, `intervals.jsonl` was not.
    let left = leave(7, 4);
    let lost = Bytes {
        lines: left.before.lines[..left.before.lines.len() - 40].to_vec(),
        ..left.after.clone()
    };
    lost.write(&left.cell);
    holds(&left.reader(), 7);
    let run = left.store.resume("latest", 1).unwrap();
    drop(run.resume_cell("oltp", &start(WriteDurability::Finished)).unwrap());
    fs::remove_file(left.cell.join("tail.jsonl")).unwrap();
    assert_eq!(summaries(&left.reader()).len(), 7);
}
