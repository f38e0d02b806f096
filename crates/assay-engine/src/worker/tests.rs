//! Workers on simulated devices: what must come out is known exactly.

use crate::device::DeviceSpec;
use crate::{Ignore, Simulation};
use assay_model::measurement::{Interval, Measurement, Operation, Window};
use assay_model::number::{index_of, real, seconds};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::workload::{Access, Arrival, Process, Stream, SyncPolicy, Workload};
use std::ops::ControlFlow;

const SECOND: u64 = 1_000_000_000;

fn closed(queue_depth: u32) -> Stream {
    Stream::closed("reads", Share(1.0), Bytes(8192), queue_depth)
}

fn open(rate: f64, process: Process) -> Stream {
    let arrival = Arrival::Open {
        rate: Rate(rate),
        process,
        burst: 1,
        queue_depth_max: 20_000,
        group_commit: None,
    };
    Stream { arrival, ..closed(1) }
}

fn simulate(device: &str, duration_s: u64, stream: Stream) -> Measurement {
    let spec = DeviceSpec::parse(device).unwrap();
    let workload = Workload::of("test", Nanos(duration_s * SECOND), stream);
    Simulation::new(spec.build(), spec.length_bytes).run(&workload, &mut Ignore).unwrap()
}

fn close_to(value: f64, expected: f64, share: f64) {
    assert!(
        (value - expected).abs() <= expected * share,
        "{value} is not within {share} of {expected}"
    );
}

#[test]
fn constant_servers_give_exactly_their_rate_and_time() {
    let measurement = simulate("constant?count=1&service=100us", 10, closed(4));
    let reads = measurement.streams[0].operations.read.as_ref().unwrap();
    assert_eq!(measurement.elapsed_ns, 10 * SECOND);
    assert_eq!(reads.ios, 100_000);
    // The first four wait less than those that find a full queue.
    assert_eq!((reads.service.min_ns(), reads.service.max_ns()), (100_000, 400_000));
    close_to(real(reads.service.quantile_ns(0.5)), 400_000.0, 0.001);
    close_to(measurement.conduct.littles_law_ratio, 1.0, 0.001);
    close_to(measurement.conduct.queue_depth_mean, 4.0, 0.001);
}

#[test]
fn closed_exponential_servers_match_queueing_theory() {
    // Below the number of servers nobody waits: X = n / s, exponential times.
    let measurement = simulate("servers?count=8&service=200us", 20, closed(4));
    close_to(measurement.iops(), 4.0 / 200e-6, 0.01);
    let service = &measurement.streams[0].operations.read.as_ref().unwrap().service;
    close_to(real(service.quantile_ns(0.99)), 200_000.0 * 100f64.ln(), 0.02);
    // Above it the rate is c / s and Little's law gives the mean.
    let measurement = simulate("servers?count=8&service=200us", 20, closed(32));
    close_to(measurement.iops(), 40_000.0, 0.01);
    let service = &measurement.streams[0].operations.read.as_ref().unwrap().service;
    close_to(service.mean_ns(), 32.0 / 40_000.0 * 1e9, 0.01);
}

#[test]
fn open_arrivals_at_one_exponential_server_match_queueing_theory() {
    // M/M/1: the response time is exponential with mean 1 / (mu - lambda) = 1 / (10000 - 5000) s.
    let measurement =
        simulate("servers?count=1&service=100us", 100, open(5000.0, Process::Poisson));
    let response = measurement.streams[0].operations.read.as_ref().unwrap().response().clone();
    close_to(response.mean_ns(), 200_000.0, 0.02);
    close_to(real(response.quantile_ns(0.99)), 200_000.0 * 100f64.ln(), 0.04);
    close_to(measurement.iops(), 5000.0, 0.01);
}

#[test]
fn a_stall_shows_in_the_response_times_of_all_that_arrived_in_it() {
    // 1 s of every 20 s nothing completes; arrivals are even, so 5% of them wait, uniformly up to 1
    // s.
    let device = "constant?count=1000&service=100us+stall?every=20s&length=1s";
    let measurement = simulate(device, 200, open(10_000.0, Process::Constant));
    let response = measurement.streams[0].operations.read.as_ref().unwrap().response().clone();
    for quantile in [0.5, 0.9, 0.96, 0.97, 0.99, 0.999, 0.9999] {
        let expected_s = if quantile < 0.95 { 100e-6 } else { (quantile - 0.95) / 0.05 };
        close_to(seconds(response.quantile_ns(quantile)), expected_s, 0.02);
    }
}

#[test]
fn a_limited_depth_moves_the_wait_from_service_to_response() {
    let arrival = Arrival::Open {
        rate: Rate(20_000.0),
        process: Process::Constant,
        burst: 1,
        queue_depth_max: 1,
        group_commit: None,
    };
    let measurement =
        simulate("constant?count=1&service=100us", 10, Stream { arrival, ..closed(1) });
    let reads = measurement.streams[0].operations.read.as_ref().unwrap();
    // The device does 10,000 a second of 20,000: service stays at 100 us, response grows to 5 s.
    assert_eq!(reads.service.max_ns(), 100_000);
    close_to(seconds(reads.response().max_ns()), 5.0, 0.01);
    close_to(real(measurement.conduct.missed_arrivals), 100_000.0, 0.01);
}

#[test]
fn a_bandwidth_cap_and_a_bucket_give_their_rates() {
    let measurement = simulate("bandwidth?rate=400MB/s", 10, closed(8));
    close_to(measurement.throughput_bytes_per_s(), 4e8, 0.001);
    // 10,000 credits and 1,000 a second: in 10 s 20,000 I/Os, the burst at 5,000/s from one server
    // of 200 us.
    let measurement =
        simulate("bucket?rate=1000/s&credits=10000+constant?count=1&service=200us", 10, closed(4));
    close_to(measurement.iops(), 2000.0, 0.01);
}

#[test]
fn writes_fall_from_the_cliff_when_the_cache_is_full() {
    let stream = Stream { read_share: Share(0.0), ..closed(1) };
    // 80 MB of cache filled at 100 MB/s and drained at 20 MB/s: full after 1 s.
    let spec = DeviceSpec::parse("cliff?cache=80MB&drain=20MB/s+constant?count=1&service=81920ns")
        .unwrap();
    let workload = Workload::of("cliff", Nanos(4 * SECOND), stream);
    let mut rates = Vec::new();
    let mut keep = |interval: &Interval, _: &Window| {
        rates.push(real(interval.operations.bytes()) / interval.elapsed_s());
        ControlFlow::Continue(())
    };
    Simulation::new(spec.build(), spec.length_bytes).run(&workload, &mut keep).unwrap();
    assert_eq!(rates.len(), 4);
    close_to(rates[0], 100e6, 0.01);
    close_to(rates[3], 20e6, 0.01);
}

#[test]
fn thinking_lowers_the_rate_by_the_law_of_interactive_systems() {
    // X = N / (Z + R): 10 / (900 us + 100 us).
    let arrival = Arrival::Closed { queue_depth: 10, think_time: Nanos(900_000) };
    let measurement =
        simulate("constant?count=10&service=100us", 10, Stream { arrival, ..closed(1) });
    close_to(measurement.iops(), 10_000.0, 0.001);
}

#[test]
fn mixes_syncs_and_sequential_streams_are_counted_apart() {
    let sync = SyncPolicy::Fdatasync { every: 4 };
    let stream = Stream {
        read_share: Share(0.7),
        sync,
        access: Access::Sequential { streams: 2 },
        workers: 2,
        ..closed(4)
    };
    let measurement = simulate("constant?count=4&service=100us", 10, stream);
    let operations = measurement.operations();
    let ios = |operation| real(operations.get(operation).unwrap().ios);
    close_to(ios(Operation::Read) / (ios(Operation::Read) + ios(Operation::Write)), 0.7, 0.01);
    close_to(ios(Operation::Write) / ios(Operation::Sync), 4.0, 0.01);
    assert!(operations.sync.unwrap().bytes == 0);
}

#[test]
fn group_commit_joins_what_waits_and_every_commit_gets_its_time() {
    let arrival = Arrival::Open {
        rate: Rate(20_000.0),
        process: Process::Constant,
        burst: 1,
        queue_depth_max: 1,
        group_commit: Some(Bytes(65536)),
    };
    let sync = SyncPolicy::Fdatasync { every: 1 };
    let stream = Stream {
        read_share: Share(0.0),
        block_size: assay_model::workload::BlockSizeMix::single(Bytes(4096)),
        arrival,
        sync,
        access: Access::Sequential { streams: 1 },
        ..closed(1)
    };
    let measurement = simulate("constant?count=1&service=100us", 10, stream);
    let operations = measurement.operations();
    let (write, sync) = (operations.write.unwrap(), operations.sync.unwrap());
    // 200 us for write and sync, 4 commits each: every commit is carried, although one by one would
    // be 5,000 a second.
    close_to(real(write.response().ios()), 200_000.0, 0.001);
    close_to(real(sync.response().ios()), 200_000.0, 0.001);
    close_to(real(write.ios), 50_000.0, 0.01);
    assert!(sync.response().max_ns() <= 500_000 && sync.response().min_ns() >= 200_000);
    // Only the commits of the group that had not begun.
    assert!(measurement.conduct.missed_arrivals <= 5);
}

#[test]
fn intervals_add_up_to_the_total() {
    let spec = DeviceSpec::parse("servers?count=4&service=150us").unwrap();
    let mut workload = Workload::of(
        "sum",
        Nanos(2_500_000_000),
        Stream { workers: 2, read_share: Share(0.5), ..closed(8) },
    );
    workload.warm_up = Nanos(SECOND);
    let (mut total, mut ends) = (Window::default(), Vec::new());
    let mut keep = |interval: &Interval, joint: &Window| {
        total.merge(joint);
        ends.push(interval.end_ns);
        ControlFlow::Continue(())
    };
    let measurement =
        Simulation::new(spec.build(), spec.length_bytes).run(&workload, &mut keep).unwrap();
    assert_eq!(ends, [SECOND, 2 * SECOND, 2_500_000_000]);
    assert_eq!(total.streams, measurement.streams);
    assert_eq!(index_of(total.intervals), ends.len());
    close_to(measurement.conduct.littles_law_ratio, 1.0, 0.01);
}

#[test]
fn an_observer_can_end_the_run_and_equal_seeds_give_equal_runs() {
    let spec = DeviceSpec::parse("servers?count=4&service=150us").unwrap();
    let workload = Workload::of("stop", Nanos(10 * SECOND), closed(4));
    let run = || {
        let mut stop = |interval: &Interval, _: &Window| {
            if interval.index == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Simulation::new(spec.build(), spec.length_bytes).run(&workload, &mut stop).unwrap()
    };
    let (first, second) = (run(), run());
    assert!((3 * SECOND..4 * SECOND).contains(&first.elapsed_ns), "{}", first.elapsed_ns);
    assert_eq!(first.streams, second.streams);
}

/// What a worker writes with every I/O lies on lines that no other worker touches: in the worker
/// itself, on the stack of its thread, and in what it allocates there.
#[test]
fn a_worker_shares_no_cache_line() {
    type Any = crate::worker::EngineWorker<crate::backend::NullBackend>;
    assert_eq!(align_of::<Any>(), align_of::<crate::cache_line::OwnLines<u8>>());
    assert!(size_of::<Any>().is_multiple_of(128));
}
