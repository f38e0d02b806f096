//! Scripted time: never shorter than scripted, independent of depth, and logged as it was.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_model::number::real;
use assay_rig::direct::{self, Buffer};
use assay_rig::{Errno, Latency, Mode, Operation, Rig, Script, Stall, monotonic_ns, or_skip};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MS: u64 = 1_000_000;
const SIZE: u64 = 1 << 20;

fn script() -> Script {
    Script::new().seed(5).file("data", SIZE)
}

fn read(rig: &Rig) -> std::io::Result<usize> {
    direct::open_to_read(&rig.path("data"))?.read_at(&mut Buffer::new(4096, 0), 0)
}

/// Waits for something that must happen, however slow the machine is.
fn until(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn each_kind_of_operation_takes_at_least_its_own_time() {
    let script = script()
        .latency(Operation::Read, Latency::fixed(Duration::from_millis(3)))
        .latency(Operation::Write, Latency::fixed(Duration::from_millis(5)))
        .latency(Operation::Sync, Latency::fixed(Duration::from_millis(7)));
    let rig = or_skip!(Rig::mount(&script));
    let file = direct::open(&rig.path("data")).unwrap();
    let mut stamps = vec![monotonic_ns()];
    file.read_at(&mut Buffer::new(4096, 0), 0).unwrap();
    stamps.push(monotonic_ns());
    file.write_at(&Buffer::new(4096, 1), 0).unwrap();
    stamps.push(monotonic_ns());
    file.sync_data().unwrap();
    stamps.push(monotonic_ns());
    let log = rig.log();
    for (index, scripted_ns) in [3 * MS, 5 * MS, 7 * MS].into_iter().enumerate() {
        let entry = &log.entries[index];
        assert_eq!(entry.due_ns - entry.arrival_ns, scripted_ns);
        assert!(entry.service_time_ns() >= scripted_ns);
        // The rig's stamps lie inside the caller's, so that its log is a lower bound for them.
        assert!(stamps[index] <= entry.arrival_ns && entry.completion_ns <= stamps[index + 1]);
    }
}

#[test]
fn exponential_times_have_their_mean_and_repeat_with_the_seed() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let law = Latency::exponential(Duration::from_micros(200));
        let rig = or_skip!(Rig::mount(&script().latency(Operation::Read, law)));
        (0..300).for_each(|_| assert!(read(&rig).is_ok()));
        let log = rig.log();
        assert!(log.entries.iter().all(|entry| entry.completion_ns >= entry.due_ns));
        let planned = log.entries.iter().map(|entry| entry.due_ns - entry.arrival_ns);
        runs.push(planned.collect::<Vec<u64>>());
    }
    assert_eq!(runs[0], runs[1]);
    // Five standard errors of the mean of 300 exponential times: 5 * 200 / sqrt(300) = 58 us.
    let mean_ns = real(runs[0].iter().sum()) / 300.0;
    assert!((mean_ns - 200_000.0).abs() < 58_000.0, "{mean_ns}");
}

#[test]
fn depth_is_not_limited_by_threads_of_the_rig() {
    let hour = Latency::fixed(Duration::from_secs(3600));
    let script = script().latency(Operation::Read, hour).max_background(512);
    let rig = Arc::new(or_skip!(Rig::mount(&script)));
    let clients: Vec<_> = (0..300)
        .map(|_| {
            let rig = Arc::clone(&rig);
            let small = std::thread::Builder::new().stack_size(128 << 10);
            small.spawn(move || read(&rig).unwrap_err().raw_os_error()).unwrap()
        })
        .collect();
    until(|| rig.statistics().queue_depth == 300);
    rig.vanish(Errno::ENODEV);
    for client in clients {
        assert_eq!(client.join().unwrap(), Some(Errno::ENODEV.raw()));
    }
    assert_eq!(rig.statistics().queue_depth, 0);
    assert_eq!(rig.statistics().queue_depth_max, 300);
}

#[test]
fn one_server_serves_one_after_the_other() {
    let law = Latency::fixed(Duration::from_millis(4));
    let rig = or_skip!(Rig::mount(&script().latency(Operation::Read, law).servers(1)));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| read(&rig).unwrap());
        }
    });
    let mut entries = rig.log().entries;
    entries.sort_by_key(|entry| entry.sequence);
    for pair in entries.windows(2) {
        assert!(pair[1].due_ns >= pair[0].due_ns + 4 * MS);
        assert!(pair[1].acknowledged > pair[0].acknowledged);
    }
}

#[test]
fn a_stall_holds_up_what_arrives_in_it_until_its_end() {
    let stall = Stall::once(Duration::ZERO, Duration::from_millis(60));
    let rig = or_skip!(Rig::mount(&script().stall(stall)));
    assert!(read(&rig).is_ok());
    let log = rig.log();
    assert!(log.entries[0].service_time_ns() >= 60 * MS);
    assert_eq!(log.service_times_ns(Operation::Read).len(), 1);
}

#[test]
fn latency_can_change_while_the_rig_runs() {
    let rig = or_skip!(Rig::mount(&script()));
    assert!(read(&rig).is_ok());
    rig.set_latency(Operation::Read, Latency::fixed(Duration::from_millis(6)));
    assert!(read(&rig).is_ok());
    let planned: Vec<u64> =
        rig.log().entries.iter().map(|entry| entry.due_ns - entry.arrival_ns).collect();
    assert_eq!(planned, [0, 6 * MS]);
}

/// The most writes of four threads to one file that were outstanding together.
fn write_depth_of_threads(mode: Mode, expected: u64) -> Option<u64> {
    let hour = Latency::fixed(Duration::from_secs(3600));
    let rig = match Rig::mount(&script().mode(mode).latency(Operation::Write, hour)) {
        Ok(rig) => rig,
        Err(skip) => {
            skip.announce();
            return None;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let file = direct::open(&rig.path("data")).unwrap();
                file.write_at(&Buffer::new(4096, 1), 0).unwrap_err();
            });
        }
        until(|| rig.statistics().queue_depth == expected);
        rig.vanish(Errno::EIO);
    });
    Some(rig.statistics().queue_depth_max)
}

#[test]
fn threads_write_at_depth_in_blocking_mode() {
    if let Some(depth) = write_depth_of_threads(Mode::Blocking, 4) {
        assert_eq!(depth, 4);
    }
}

/// Reads 400 blocks at a depth of 32 through `io_uring`; none if fio is missing.
fn depth_reached(mode: Mode) -> Option<u64> {
    let law = Latency::fixed(Duration::from_millis(2));
    let rig = match Rig::mount(&script().mode(mode).latency(Operation::Read, law)) {
        Ok(rig) => rig,
        Err(skip) => {
            skip.announce();
            return None;
        }
    };
    let path = rig.path("data");
    let status = Command::new("fio")
        .args(["--name=depth", "--ioengine=io_uring", "--iodepth=32", "--direct=1", "--bs=8k"])
        .args(["--rw=randread", "--number_ios=400", "--norandommap=1", "--thread=1"])
        .arg(format!("--filename={}", path.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) => assert!(status.success(), "fio ended with {status}"),
        Err(error) => {
            assay_rig::Skip::new(format!("fio: {error}")).announce();
            return None;
        }
    }
    Some(rig.statistics().queue_depth_max)
}

#[test]
fn asynchronous_mode_keeps_the_depth_and_blocking_mode_loses_it() {
    if let Some(depth) = depth_reached(Mode::Asynchronous) {
        assert!(depth >= 24, "{depth} of 32 outstanding");
    }
    if let Some(depth) = depth_reached(Mode::Blocking) {
        assert_eq!(depth, 1);
    }
}
