//! The network against the worked example of the manual and against its limits.

use super::*;
use crate::curve::ReadCurve;
use crate::demand::Deviations;
use crate::flush::FlushTimes;
use assay_model::projection::WorkUnit;

/// The worked example of the manual: 1,000 transactions per second of 20 ms on 16 processors.
fn example() -> PredictedDemand {
    PredictedDemand {
        unit: WorkUnit::Transaction,
        throughput_per_s: 1000.0,
        response_s: 0.020,
        cpu_s: 0.004,
        processors_mean: 16.0,
        reads_mean: 8.0,
        read_latency_s: 0.0015,
        read_bytes: 8192.0,
        commits_mean: 1.0,
        commit_latency_s: 0.003,
        flush_s: Some(0.002),
        other_s: 0.001,
        deviations: Deviations::default(),
        ..PredictedDemand::default()
    }
}

/// Reads of 0.2 ms up to 24 outstanding, then flat; a flush of 0.3 ms.
fn faster() -> PredictedStorage {
    let points: Vec<(f64, f64)> =
        (1..=24).map(|at| (f64::from(at), f64::from(at) * 5000.0)).collect();
    PredictedStorage {
        curve: ReadCurve::new(&points).unwrap(),
        flush: Some(FlushTimes::constant(0.0003, 0.0)),
        ..PredictedStorage::constant("faster", 0.0002)
    }
}

fn overheads() -> Overheads {
    Overheads { read_s: 0.0, commit_s: crate::closure::commit_overhead_s(&example(), None) }
}

fn on_faster(population: Population) -> Solution {
    solve(&example(), &faster(), overheads(), population, Lean::CAUTIOUS).unwrap()
}

#[test]
fn the_worked_example_gives_its_three_answers() {
    assert!((overheads().commit_s * 1e3 - 0.063).abs() < 0.0005);
    let same = on_faster(Population::SameWork);
    assert!((same.response_s * 1e3 - 7.01).abs() < 0.006, "{}", same.response_s);
    assert!((same.throughput_per_s * same.response_s - 7.0).abs() < 0.02);
    let users = on_faster(Population::Users { sessions: 200.0, think_time_s: 0.180 });
    assert!((users.throughput_per_s - 1069.0).abs() < 1.0, "{}", users.throughput_per_s);
    assert!((users.response_s * 1e3 - 7.01).abs() < 0.02);
    let closed = on_faster(Population::Closed { sessions: 20.0 });
    // By the manual 2,831 a second; the wait for one of 16 processors is a few microseconds of
    // that.
    assert!((closed.throughput_per_s / 2831.4 - 1.0).abs() < 1e-3, "{}", closed.throughput_per_s);
    assert!((closed.response_s * 1e3 - 7.06).abs() < 0.008);
    assert!((closed.cpu_busy_share - 0.71).abs() < 0.003);
}

#[test]
fn what_one_session_waits_for_is_the_sum_of_its_demands() {
    let alone = solve(
        &example(),
        &faster(),
        Overheads::default(),
        Population::Closed { sessions: 1.0 },
        Lean::CAUTIOUS,
    )
    .unwrap();
    // CPU 4 ms, eight reads of 0.2 ms, a flush of its own of 0.3 ms, other waits of 1 ms.
    assert!((alone.response_s * 1e3 - 6.9).abs() < 0.001, "{}", alone.response_s);
}

#[test]
fn the_same_work_has_no_answer_where_there_is_no_room_for_it() {
    let slow = PredictedStorage {
        curve: ReadCurve::new(&[(1.0, 500.0), (8.0, 4000.0)]).unwrap(),
        ..faster()
    };
    let found =
        solve(&example(), &slow, Overheads::default(), Population::SameWork, Lean::CAUTIOUS);
    assert_eq!(found, None);
    let crowded = PredictedDemand { cpu_s: 0.017, ..example() };
    let found =
        solve(&crowded, &faster(), Overheads::default(), Population::SameWork, Lean::CAUTIOUS);
    assert_eq!(found, None);
}

#[test]
fn faster_storage_never_lowers_throughput_and_no_bound_is_passed() {
    let sessions = Population::Closed { sessions: 64.0 };
    let mut before = 0.0;
    for factor in [0.1, 0.3, 1.0, 2.0, 10.0] {
        let storage = PredictedStorage { curve: faster().curve.faster(factor), ..faster() };
        let found =
            solve(&example(), &storage, Overheads::default(), sessions, Lean::CAUTIOUS).unwrap();
        assert!(found.throughput_per_s >= before);
        let lowest = crate::bounds::bounds(&example(), &storage)[0].most_per_s;
        assert!(found.throughput_per_s <= lowest * (1.0 + 1e-9));
        before = found.throughput_per_s;
    }
}

#[test]
fn writes_that_come_too_late_bound_what_reads_alone_would_allow() {
    let writing = PredictedDemand { writes_mean: 4.0, ..example() };
    let storage = PredictedStorage { writes_most_per_s: Some(8000.0), ..faster() };
    let sessions = Population::Closed { sessions: 20.0 };
    let found = solve(&writing, &storage, Overheads::default(), sessions, Lean::CAUTIOUS).unwrap();
    assert!((found.throughput_per_s - 2000.0).abs() < 1e-6);
    assert!((found.response_s - 0.010).abs() < 1e-9 && found.parts.writes_s > 0.002);
}

#[test]
fn commits_that_wait_for_pages_wait_as_long_as_reads_do() {
    let of = |commits_wait_for_pages: bool| {
        let demand = PredictedDemand { commits_wait_for_pages, ..example() };
        let population = Population::Closed { sessions: 20.0 };
        solve(&demand, &faster(), overheads(), population, Lean::CAUTIOUS).unwrap()
    };
    let (constant, with_pages) = (of(false), of(true));
    // Reads took 1.5 ms and take 0.2 ms; the rest of the difference is the batch, which follows the
    // throughput.
    let shorter_s = overheads().commit_s * (1.0 - 0.2 / 1.5);
    let found_s = constant.commit_latency_s - with_pages.commit_latency_s;
    assert!((found_s / shorter_s - 1.0).abs() < 0.1, "{found_s} {shorter_s}");
}
