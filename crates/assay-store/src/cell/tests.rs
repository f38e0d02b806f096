//! The growth of a cell on disk: how joints and tail stay within their limits, with all intervals
//! in them.

use super::*;
use crate::{NewRun, RunWriter, Store};
use assay_model::Stream;
use assay_model::Workload;
use assay_model::histogram::Precision;
use assay_model::measurement::{Interval, NamedResult, OperationResult, PerOperation, Window};
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, Share};
use std::path::PathBuf;

const SECOND_NS: u64 = 1_000_000_000;

/// A run in a folder of its own.
struct Rig {
    folder: PathBuf,
    run: RunWriter,
}

impl Rig {
    fn new(name: &str) -> Self {
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("assay-store-unit-{name}-{process}"));
        let run = Store::at(&folder).create(&NewRun {
            kind: RunKind::Run,
            tool_version: String::new(),
            command: Vec::new(),
            targets: vec!["/data".to_owned()],
            created_unix_ns: 0,
        });
        Self { folder, run: run.unwrap() }
    }

    fn reader(&self) -> CellReader {
        self.run.reader().unwrap().cell("x").unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn plan(window: u64) -> Workload {
    let stream = Stream::closed("s", Share(1.0), Bytes(4096), 1);
    Workload::of("x", Nanos(WINDOWS_MAX * window * SECOND_NS), stream)
}

fn start() -> CellStart {
    CellStart { durability: WriteDurability::Finished, ..CellStart::default() }
}

fn piece(index: u64) -> (Interval, Window) {
    let mut read = OperationResult::empty(Precision::Fine, false);
    for time_ns in [1 + index, 7 * index + 3] {
        read.ios += 1;
        read.service.record(time_ns);
    }
    let operations = PerOperation { read: Some(read), ..PerOperation::default() };
    let interval = Interval {
        index,
        start_ns: index * SECOND_NS,
        end_ns: (index + 1) * SECOND_NS,
        operations: operations.clone(),
        queue_depth_mean: 1.5,
    };
    let joint = Window {
        streams: vec![NamedResult { name: "s".to_owned(), operations }],
        ..Window::default()
    };
    (interval, joint)
}

/// The cell has the first pieces, in numbers and in sum.
fn holds(cell: &CellReader, intervals: u64) {
    let mut sum = Window::default();
    for index in 0..intervals {
        sum.merge(&Window { intervals: 1, ..piece(index).1 });
    }
    let found = cell.measurement().unwrap();
    assert_eq!(found.streams, sum.streams);
    assert_eq!(found.elapsed_ns, intervals * SECOND_NS);
    assert!((found.conduct.queue_depth_mean - 1.5).abs() < 1e-12);
    let numbers: Vec<u64> = cell.summaries().unwrap().map(|found| found.unwrap().index).collect();
    assert!(numbers.into_iter().eq(0..intervals));
}

/// Joints of two intervals: the first one goes with the tail that the reader has open.
#[test]
fn a_tail_that_is_read_stays_what_it_was() {
    let rig = Rig::new("read");
    let mut cell = rig.run.create_cell("x", &plan(2), &start()).unwrap();
    let mut append = |index| {
        let (interval, joint) = piece(index);
        cell.append_interval(&interval, &joint).unwrap();
    };
    append(0);
    let reader = rig.reader();
    let opened = reader.tail_from(0).unwrap();
    append(1);
    append(2);
    let found: Vec<u64> = opened.map(|line| line.unwrap().0.unwrap().index).collect();
    assert_eq!(found, [0]);
    holds(&reader, 3);
}

#[test]
fn a_tail_that_is_joined_to_one_line_stays_short_and_complete() {
    let rig = Rig::new("tail");
    let mut cell = rig.run.create_cell("x", &plan(50), &start()).unwrap();
    cell.tail_bytes_max = 1500;
    let tail = rig.reader().path().join(TAIL);
    let mut joined = 0;
    for index in 0..40 {
        let (interval, joint) = piece(index);
        cell.append_interval(&interval, &joint).unwrap();
        let text = std::fs::read_to_string(&tail).unwrap();
        assert!(text.len() < 4000, "{}", text.len());
        joined += u64::from(text.starts_with("{\"joint\""));
        holds(&rig.reader(), index + 1);
    }
    assert!(joined > 20);
    drop(cell);
    let mut cell = rig.run.resume_cell("x", &start()).unwrap();
    for index in 40..60 {
        let (interval, joint) = piece(index);
        let interval = Interval {
            index: index - 40,
            start_ns: interval.start_ns - 40 * SECOND_NS,
            end_ns: interval.end_ns - 40 * SECOND_NS,
            ..interval
        };
        cell.append_interval(&interval, &joint).unwrap();
        holds(&rig.reader(), index + 1);
    }
    let stretches: Vec<(u64, u64)> = rig
        .reader()
        .joints()
        .unwrap()
        .map(|item| {
            item.map(|(interval, joint)| (interval.end_ns / SECOND_NS, joint.intervals)).unwrap()
        })
        .collect();
    assert_eq!(stretches, [(50, 50), (60, 10)]);
}

#[test]
fn joints_are_as_many_as_the_plan_and_their_size_allow() {
    let day = 86_400;
    assert_eq!(window_intervals(30, 0), 1);
    assert_eq!(window_intervals(480, 160 << 10), 1);
    assert_eq!(window_intervals(481, 0), 2);
    assert_eq!(window_intervals(day, 40_000), 180);
    for joint_bytes in [400_000u64, 2_000_000, 50_000_000] {
        let joints = day.div_ceil(window_intervals(day, joint_bytes));
        assert!(joints * joint_bytes <= JOINT_BYTES_MAX + joint_bytes);
    }
    assert_eq!(window_intervals(0, 0), 1);
    assert_eq!(window_intervals(u64::MAX, u64::MAX), u64::MAX);
}
