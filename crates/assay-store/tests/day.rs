//! A day of one-second intervals: what it takes on the disk, in memory, and in time to read.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop where something is missing, and say what they found or skipped"
)]

mod common;

use assay_model::measurement::{
    Finish, Interval, Measurement, NamedResult, Operation, PerOperation, Window,
};
use assay_model::number::{count, count_of, real};
use assay_store::{CellWriter, JOINT_BYTES_MAX, TAIL_BYTES_MAX, WINDOWS_MAX, WriteDurability};
use common::{
    Folder, Random, interval_of, measured, new_run, operations, result, service_times, start,
    workload,
};
use std::path::Path;
use std::time::Instant;

const DAY_S: u64 = 86_400;
const DISK_BYTES_MAX: u64 = 200 << 20;
/// Seconds that differ.
const DISTINCT: u64 = 30;
const FEW: u64 = 5;
/// What is measured of a page is the reading; the rest of its 3 s is for drawing.
const MEMORY_BYTES_MAX: u64 = 64 << 20;

/// One second of an OLTP load: 45,000 IOPS, 70% reads, one stream on one target.
fn oltp(random: &mut Random, second: u64) -> Window {
    let (reads, writes) = (31_000 + random.below(1000), 13_000 + random.below(1000));
    let read = service_times(random, reads, 180e3, 0.5);
    let write = service_times(random, writes, 90e3, 0.5);
    let mut both = operations(Operation::Read, result(&read, false));
    both.write = Some(result(&write, false));
    joint(second, &[("pages", both)], 0)
}

/// One second of a database: six streams with open arrivals on four targets.
fn database(random: &mut Random, second: u64) -> Window {
    let loads = [
        ("pages", Operation::Read, 20_000, 180e3),
        ("writer", Operation::Write, 6000, 300e3),
        ("log", Operation::Write, 2000, 400e3),
        ("scan", Operation::Read, 900, 3e6),
        ("temporary", Operation::Write, 500, 2e6),
        ("archive", Operation::Read, 200, 5e6),
    ];
    let streams = loads.map(|(name, operation, ios, median_ns)| {
        let times = service_times(random, ios, median_ns, 0.5);
        (name, operations(operation, result(&times, true)))
    });
    joint(second, &streams, 4)
}

fn joint(second: u64, streams: &[(&str, PerOperation)], targets: u64) -> Window {
    let mut all = PerOperation::default();
    for (_, operations) in streams {
        all.merge(operations);
    }
    Window {
        first_interval: second,
        intervals: 1,
        streams: streams.iter().map(|(name, operations)| named(name, operations)).collect(),
        targets: (0..targets).map(|number| named(&format!("/dev/disk{number}"), &all)).collect(),
    }
}

fn named(name: &str, operations: &PerOperation) -> NamedResult {
    NamedResult { name: name.to_owned(), operations: operations.clone() }
}

/// Some seconds that differ, to be used again and again: no line depends on the lines before.
fn pool(make: fn(&mut Random, u64) -> Window, seconds: u64) -> Vec<(Interval, Window)> {
    let mut random = Random(7);
    (0..seconds)
        .map(|second| {
            let joint = make(&mut random, second);
            (interval_of(second, &joint), joint)
        })
        .collect()
}

fn append(cell: &mut CellWriter, pool: &[(Interval, Window)], second: u64, sum: &mut Window) {
    let (interval, joint) = &pool[usize::try_from(second).unwrap() % pool.len()];
    let interval = Interval {
        index: second,
        start_ns: second * common::SECOND_NS,
        end_ns: (second + 1) * common::SECOND_NS,
        ..interval.clone()
    };
    cell.append_interval(&interval, joint).unwrap();
    sum.merge(joint);
}

fn of(sum: Window, elapsed_s: u64) -> Measurement {
    Measurement {
        elapsed_ns: elapsed_s * common::SECOND_NS,
        streams: sum.streams,
        targets: sum.targets,
        ..measured(0, 0, Finish::Complete)
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// Bytes of a day, from its lines: `DISTINCT` seconds joined stand for a joint of three minutes,
/// whose buckets are a little fuller.
fn day_bytes(make: fn(&mut Random, u64) -> Window) -> u64 {
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    let start = start(WriteDurability::Finished);
    let pool = pool(make, DISTINCT);
    let mut few = Window::default();
    let mut cell = run.create_cell("day", &workload(DAY_S), &start).unwrap();
    let directory = run.path().join("cells/day");
    let begin = length(&directory.join("intervals.jsonl"));
    for second in 0..FEW {
        append(&mut cell, &pool, second, &mut few);
    }
    let line = (length(&directory.join("intervals.jsonl")) - begin) / FEW;
    let tail = length(&directory.join("tail.jsonl")) / FEW;

    let mut sum = Window::default();
    for (_, joint) in &pool {
        sum.merge(joint);
    }
    let joint = count_of(serde_json::to_vec(&sum).unwrap().len());
    println!(
        "{line} bytes an interval, {joint} bytes a joint, {tail} bytes an interval of the tail"
    );
    let joints = (WINDOWS_MAX * joint).min(JOINT_BYTES_MAX);
    let tail = (DAY_S / WINDOWS_MAX * tail).min(TAIL_BYTES_MAX + joint);
    // The result is as large as a joint, and there twice while it is put in place.
    DAY_S * line + joints + tail + 3 * joint
}

#[test]
fn a_day_fits_on_the_disk_whatever_the_load() {
    for make in [oltp, database] {
        let bytes = day_bytes(make);
        println!("a day takes {} MiB", bytes >> 20);
        assert!(bytes < DISK_BYTES_MAX, "{bytes}");
    }
}

/// Most memory that the process has had since the mark was set back.
fn memory_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// Runs something and says what memory it took at most, beyond what was there, and how long.
fn observe<T>(what: &str, work: impl FnOnce() -> T) -> (T, u64) {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory_peak_bytes();
    let begin = Instant::now();
    let done = work();
    let took_s = begin.elapsed().as_secs_f64();
    let grown = memory_peak_bytes().saturating_sub(before);
    println!("{what}: {took_s:.2} s, {:.1} MiB of memory", real(grown) / 1_048_576.0);
    (done, grown)
}

#[test]
#[ignore = "writes 86,400 intervals twice; run it alone and optimized"]
fn a_whole_day_is_written_and_read_in_flat_memory() {
    for (name, make) in [("oltp", oltp as fn(&mut Random, u64) -> Window), ("database", database)] {
        println!("{name}:");
        let folder = Folder::on_disk();
        let run = folder.store().create(&new_run()).unwrap();
        let plan = workload(DAY_S);
        let mut cell = run.create_cell("day", &plan, &start(WriteDurability::Finished)).unwrap();
        let pool = pool(make, 60);
        let mut sum = Window::default();
        let ((), grown) = observe("writing", || {
            for second in 0..DAY_S {
                append(&mut cell, &pool, second, &mut sum);
            }
        });
        assert!(grown < MEMORY_BYTES_MAX, "{grown}");
        let reader = run.reader().unwrap().cell("day").unwrap();
        let (recovered, _) = observe("recovering the result", || reader.measurement().unwrap());
        assert_eq!(recovered.streams, sum.streams);
        let whole = cell.finish(of(sum, DAY_S)).unwrap();
        let bytes = run.reader().unwrap().disk_bytes();
        println!("{} bytes an interval, {:.1} MiB", bytes / DAY_S, real(bytes) / 1_048_576.0);
        assert!(bytes < DISK_BYTES_MAX, "{bytes}");

        let (read, grown) = observe("reading all intervals in numbers", || {
            let all = reader.summaries().unwrap();
            all.map(|summary| summary.unwrap().ios()).sum::<u64>()
        });
        let ios = count(whole.iops() * whole.elapsed_s());
        assert_eq!(read, ios);
        assert!(grown < MEMORY_BYTES_MAX, "{grown}");
        let (joined, grown) = observe("reading all joints with histograms", || {
            let all = reader.joints().unwrap();
            all.map(|item| item.unwrap().0.operations.ios()).sum::<u64>()
        });
        assert_eq!(joined, ios);
        assert!(grown < MEMORY_BYTES_MAX, "{grown}");
        observe("reading the result", || reader.measurement().unwrap());
    }
}
