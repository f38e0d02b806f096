//! The documents in `contract/examples` are what the store writes and reads: set `ASSAY_BLESS=1` to
//! write them again.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod common;

use assay_model::Estimate;
use assay_model::calibration::{
    Calibration, Capacity, CapacityBound, CurvePoint, Knee, LatencyLimit, MixCalibration,
};
use assay_model::measurement::{ErrorCount, Finish, Measurement, Operation, Remark};
use assay_model::run::{Event, EventKind, RunManifest};
use assay_model::spelling::LimitStatistic;
use assay_store::{RunWriter, StoredDocument, WriteDurability};
use common::{
    Folder, NOW_UNIX_NS, SECOND_NS, interval_of, measured, new_run, operations, piece, result,
    start, workload,
};
use std::fs;
use std::path::{Path, PathBuf};

const INTERVALS: u64 = 3;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/examples")
}

/// The example is what was written, and says so with a way to accept a change.
#[track_caller]
fn agree(name: &str, written: &str) {
    let path = examples().join(name);
    if std::env::var_os("ASSAY_BLESS").is_some() {
        fs::create_dir_all(examples()).unwrap();
        fs::write(&path, written).unwrap();
    }
    let example = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(example, written, "{name} differs; ASSAY_BLESS=1 writes it again");
}

fn remark() -> Remark {
    Remark {
        what: "the file system refused direct I/O".to_owned(),
        why: "the page cache was measured, not the device".to_owned(),
        remedy: "choose a target on a file system with direct I/O".to_owned(),
    }
}

fn failure() -> ErrorCount {
    ErrorCount {
        operation: Operation::Read,
        target: "/data".to_owned(),
        errno: 5,
        meaning: "EIO: input/output error".to_owned(),
        ios: 2,
        first_offset_bytes: 1_048_576,
    }
}

fn happenings() -> [Event; 5] {
    let measure = "measure".to_owned();
    let cell = Some("oltp".to_owned());
    let at = |second: u64, cell: &Option<String>, what| Event {
        at_unix_ns: NOW_UNIX_NS + second * SECOND_NS,
        cell: cell.clone(),
        what,
    };
    [
        at(0, &None, EventKind::Remark(remark())),
        at(1, &cell, EventKind::PhaseBegin { name: measure.clone() }),
        at(2, &cell, EventKind::Errors(failure())),
        at(3, &None, EventKind::Resumed),
        at(4, &cell, EventKind::PhaseEnd { name: measure }),
    ]
}

fn finished() -> Measurement {
    let mut whole = measured(0, INTERVALS, Finish::Complete);
    whole.errors.push(failure());
    whole.conduct.remarks.push(remark());
    whole
}

/// A run with one cell, written through the store.
fn write(run: &mut RunWriter) {
    for event in happenings() {
        run.event(&event).unwrap();
    }
    let mut cell =
        run.create_cell("oltp", &workload(1440), &start(WriteDurability::Finished)).unwrap();
    for index in 0..INTERVALS {
        let joint = piece(index);
        cell.append_interval(&interval_of(index, &joint), &joint).unwrap();
    }
    cell.finish(finished()).unwrap();
}

#[test]
fn a_run_looks_as_its_examples() {
    let folder = Folder::new();
    let mut run = folder.store().create(&new_run()).unwrap();
    write(&mut run);
    let reader = run.finish(Finish::Complete, NOW_UNIX_NS + SECOND_NS).unwrap();
    let text = |name: &str| fs::read_to_string(reader.path().join(name)).unwrap();
    agree("run.json", &text("run.json").replace(&reader.manifest().id, "20261121-083955-run-k3f9"));
    agree("stored.event.jsonl", &text("events.jsonl"));
    agree("workload.toml", &text("cells/oltp/workload.toml"));
    agree("stored.intervals.jsonl", &text("cells/oltp/intervals.jsonl"));
    agree("measurement.json", &text("cells/oltp/measurement.json"));
}

#[test]
fn the_examples_are_read_as_what_they_mean() {
    let read = |name: &str| fs::read_to_string(examples().join(name)).unwrap();
    let folder = Folder::new();
    let run = folder.path().join("20261121-083955-run-k3f9");
    let cell = run.join("cells/oltp");
    fs::create_dir_all(&cell).unwrap();
    for name in ["run.json", "calibration.json"] {
        fs::write(run.join(name), read(name)).unwrap();
    }
    fs::write(run.join("events.jsonl"), read("stored.event.jsonl")).unwrap();
    for name in ["workload.toml", "measurement.json"] {
        fs::write(cell.join(name), read(name)).unwrap();
    }
    fs::write(cell.join("intervals.jsonl"), read("stored.intervals.jsonl")).unwrap();
    let reader = assay_store::RunReader::open(&run).unwrap();
    let manifest: &RunManifest = reader.manifest();
    assert_eq!(manifest.finish, Some(Finish::Complete));
    let events: Vec<Event> = reader.events().unwrap().map(Result::unwrap).collect();
    assert_eq!(events, happenings());
    let calibration: Option<Calibration> = reader.json(StoredDocument::Calibration).unwrap();
    assert_eq!(calibration, Some(calibrated()));
    let cell = reader.cell("oltp").unwrap();
    assert_eq!(cell.measurement().unwrap(), finished());
    assert_eq!(cell.workload().unwrap(), workload(1440));
    let (_, joint) = cell.joints().unwrap().next().unwrap().unwrap();
    assert_eq!(joint, common::pieces(INTERVALS));
}

#[test]
fn a_calibration_looks_as_its_example() {
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    run.put_json(StoredDocument::Calibration, &calibrated()).unwrap();
    let text = run.reader().unwrap().document(StoredDocument::Calibration);
    agree("calibration.json", &text.unwrap().unwrap());
}

fn estimate(value: f64) -> Estimate {
    Estimate { value, low: 0.98 * value, high: 1.02 * value, confidence: 0.95, n: 40 }
}

fn capacity(rate: f64, queue_depth: u32, bound: CapacityBound) -> Capacity {
    Capacity { rate: estimate(rate), burst_rate: None, burst_s: None, queue_depth, bound }
}

fn calibrated() -> Calibration {
    Calibration {
        format: 1,
        target: "/data".to_owned(),
        limit: LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 },
        mixes: vec![MixCalibration {
            name: "read".to_owned(),
            read_share: 1.0,
            block_size_bytes: 8192,
            large_block_size_bytes: 1 << 20,
            base_service_time_ns: estimate(82e3),
            iops_within_limit: Some(Capacity {
                burst_rate: Some(estimate(61e3)),
                burst_s: Some(4.5),
                ..capacity(45e3, 16, CapacityBound::LatencyLimit)
            }),
            iops_max: capacity(52e3, 64, CapacityBound::Saturated),
            throughput_max_bytes_per_s: Some(capacity(2.1e9, 8, CapacityBound::StillRising)),
            single_stream_bytes_per_s: Some(estimate(0.9e9)),
            curve: vec![CurvePoint {
                queue_depth: 1,
                block_size_bytes: 8192,
                iops: estimate(12e3),
                throughput_bytes_per_s: estimate(98e6),
                service_time_ns: estimate(82e3),
                limited_quantile_ns: estimate(140e3),
                operations: operations(Operation::Read, result(&[80_000, 84_000], false)),
                elapsed_s: 2.0,
                worker_busy_share: 0.1,
                host_busy_share: Some(0.25),
            }],
            burst_curve: Vec::new(),
            large_curve: Vec::new(),
            knee: Some(Knee {
                queue_depth: 16,
                iops: 45e3,
                service_time_ns: 350e3,
                rule: "largest distance from the chord".to_owned(),
            }),
            steps: Vec::new(),
            stalls: None,
            contradictions: Vec::new(),
        }],
        direct_io: None,
        log: None,
        elapsed_s: 60.0,
        early_end: None,
        remarks: vec![remark()],
    }
}
