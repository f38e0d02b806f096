//! Sessions against the interactive law, and a run as a profile.

use super::*;
use crate::ram::RamDevice;
use assay_model::array::Ram;
use assay_model::units::{Bytes, Nanos, Share};

/// Sessions on a storage of 1 ms, with 100 µs of processor time a read.
fn load(sessions: u32, cpus: u32) -> SessionLoad {
    SessionLoad {
        sessions,
        hosts: 1,
        cpus,
        cpu_per_read: Nanos(100_000),
        cluster_wait: Nanos(0),
        update_share: Share(0.0),
        logical_reads_mean: 6.0,
        cache_hits: Share(0.5),
        block_changes_mean: 6.0,
        dirty_blocks_mean: 2.0,
        dirty_max: 1000,
        writer_depth: 64,
        redo: Bytes(3000),
        commit_waits: false,
        log_pause: Nanos(0),
        log_copies: 1,
        block: Bytes(8192),
        active: Bytes(1 << 40),
    }
}

fn storage(channels: u32, latency_ns: u64) -> RamDevice {
    let ram = Ram { channels, latency: Nanos(latency_ns), spread: Spread::Constant };
    RamDevice::new(&ram, 1)
}

fn run(load: &SessionLoad, device: &mut RamDevice) -> HostRun {
    run_host(load, device, 1_000_000_000, 10_000_000_000, 1)
}

#[test]
fn sessions_without_think_time_follow_the_interactive_law() {
    // With processors to spare a round is a read and a burst: X = N / (R + C).
    let run = run(&load(11, 16), &mut storage(64, 1_000_000));
    let reads = run.per_s(run.io.read.ios());
    assert!((reads / 10_000.0 - 1.0).abs() < 0.005, "{reads}");
    assert!((real(run.cpu_ns) / 1e10 - 1.0).abs() < 0.01);
    assert!((run.executions_per_s() / (reads / 3.0) - 1.0).abs() < 0.02);
}

#[test]
fn busy_processors_bound_the_rate_and_lengthen_the_waits() {
    // Two processors serve 20,000 bursts a second; 60 sessions then wait 3 ms a round, of which 0.1
    // ms is the burst.
    let run = run(&load(60, 2), &mut storage(64, 1_000_000));
    let reads = run.per_s(run.io.read.ios());
    assert!((reads / 20_000.0 - 1.0).abs() < 0.01, "{reads}");
    assert!((run.io.read.mean_ns() / 2_900_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn updates_are_written_behind_and_logged() {
    let mut updates = load(11, 16);
    updates.update_share = Share(0.25);
    let run = run(&updates, &mut storage(256, 1_000_000));
    let expected = real(run.updates) * 2.0;
    assert!((real(run.io.write.ios()) / expected - 1.0).abs() < 0.02);
    assert_eq!(run.redo_bytes, run.updates * 3000);
    // One write after the other, each of a millisecond.
    let log_writes = run.per_s(run.log_writes.ios());
    assert!(log_writes > 500.0 && log_writes <= 1000.0, "{log_writes}");
    assert!(run.log_syncs.is_empty());
}

#[test]
fn commits_are_waited_for() {
    let mut updates = load(1, 1);
    (updates.update_share, updates.commit_waits) = (Share(1.0), true);
    updates.cache_hits = Share(1.0 - 1.0 / 6.0);
    let run = run(&updates, &mut storage(64, 1_000_000));
    // A lone session reads for 1 ms, computes for 0.1 ms and waits for its log for 1 ms.
    assert!((run.executions_per_s() / (1e3 / 2.1) - 1.0).abs() < 0.01);
    assert!((run.log_syncs.mean_ns() / 1e6 - 1.0).abs() < 0.01);
}

#[test]
fn without_free_buffers_sessions_go_at_the_pace_of_the_writers() {
    let mut updates = load(50, 16);
    (updates.update_share, updates.writer_depth) = (Share(1.0), 4);
    let run = run(&updates, &mut storage(256, 1_000_000));
    let writes = run.per_s(run.io.write.ios());
    assert!((writes / 4000.0 - 1.0).abs() < 0.01, "{writes}");
    assert!(run.free_buffer_waits > 0);
}

#[test]
fn a_run_becomes_the_profile_that_a_report_would() {
    let mut updates = load(30, 4);
    updates.update_share = Share(0.25);
    let run = run(&updates, &mut storage(16, 1_000_000));
    let made = profile(&run, &updates, "ram");
    let reads = made.class(assay_model::profile::IoPurpose::SingleBlockRead).unwrap();
    let counted = reads.latency.as_ref().unwrap().ios();
    assert!((counted - real(run.io.read.ios())).abs() < 0.5);
    // Thirty sessions that never think: what is not waited for and not computed is waiting for a
    // processor.
    let time = &made.time;
    let waited: f64 = time.waits.iter().map(|wait| wait.time_s.value).sum();
    let all =
        waited + time.db_cpu_s.as_ref().unwrap().value + time.unaccounted_s.as_ref().unwrap().value;
    assert!((all / time.db_time_s.as_ref().unwrap().value - 1.0).abs() < 1e-9);
    assert!(time.unaccounted_s.as_ref().unwrap().value.abs() < 0.01 * all);
    assert!(made.verdict.speedup_limit.unwrap() > 1.0);
}
