//! Soaks whose truth is known.

use super::*;
use assay_model::Precision;
use assay_model::measurement::{OperationResult, PerOperation};
use assay_model::number::nanoseconds;
use assay_model::units::Nanos;
use assay_stats::random::Random;

fn interval(at_s: f64, ios: f64, time_ns: u64) -> Interval {
    let mut read = OperationResult::empty(Precision::Coarse, false);
    let ios = assay_model::number::count(ios);
    (read.ios, read.bytes) = (ios, ios * 8192);
    read.service.record_many(time_ns, ios);
    Interval {
        index: 0,
        start_ns: nanoseconds(at_s),
        end_ns: nanoseconds(at_s + 1.0),
        operations: PerOperation { read: Some(read), ..PerOperation::default() },
        queue_depth_mean: 1.0,
    }
}

fn plan(cycles: u32, final_rest_s: f64) -> SoakCycles {
    SoakCycles {
        work: Nanos::from_seconds(300.0),
        rest: Nanos::from_seconds(600.0),
        cycles,
        final_rest: Nanos::from_seconds(final_rest_s),
    }
}

/// `length` seconds of load at a level that depends on the second, with a little noise.
fn soak(length: u32, level: impl Fn(f64) -> f64) -> SoakRecorder {
    let (mut recorder, mut random) = (SoakRecorder::new(), Random::new(5));
    for second in 0..length {
        let at_s = f64::from(second);
        let ios = level(at_s) * (1.0 + 0.01 * random.normal());
        recorder.add(0, 0.0, &interval(at_s, ios, 500_000));
    }
    recorder
}

#[test]
fn a_constant_level_is_steady_from_the_beginning() {
    let found = soak(7200, |_| 1000.0).finish("flat", plan(1, 0.0), &SoakRule::default());
    assert_eq!(found.state, SoakState::Steady { since_s: 0.0 });
    assert_eq!(found.outcome, Outcome::Pass);
    assert!(found.noticed.is_empty() && found.rests.is_none());
    assert!(found.rules.iter().all(|rule| rule.steady_at_s.is_some()));
}

#[test]
fn a_fall_is_dated_measured_and_noticed() {
    let level = |at_s: f64| if at_s < 7200.0 { 1170.0 } else { 500.0 };
    let found = soak(28_800, level).finish("fall", plan(1, 0.0), &SoakRule::default());
    let SoakState::Steady { since_s } = found.state else { panic!("{:?}", found.state) };
    assert!((since_s - 7200.0).abs() <= 60.0, "{since_s}");
    assert_eq!(found.outcome, Outcome::Fail);
    let iops = &found.courses[0];
    assert!(iops.degraded && iops.last_of_first.unwrap().covers(500.0 / 1170.0));
    assert_eq!(found.noticed.len(), 1);
    let noticed = found.noticed[0];
    assert!((noticed.at_s - 7200.0).abs() <= 5.0 && noticed.noticed_s <= 7260.0);
}

#[test]
fn a_saw_tooth_is_never_steady() {
    let level = |at_s: f64| 1000.0 - 0.3 * (at_s % 1200.0);
    let found = soak(28_800, level).finish("saw", plan(1, 0.0), &SoakRule::default());
    assert_eq!((found.state, found.outcome), (SoakState::NeverSteady, Outcome::Fail));
    let short = soak(60, |_| 1000.0).finish("short", plan(1, 0.0), &SoakRule::default());
    assert_eq!((short.state, short.outcome), (SoakState::TooShort, Outcome::Inconclusive));
}

#[test]
fn rests_that_bring_nothing_and_a_long_one_that_does() {
    let mut recorder = SoakRecorder::new();
    let mut random = Random::new(6);
    for cycle in 0..41u32 {
        let is_last = cycle == 40;
        let level = if cycle < 4 || is_last { 1000.0 } else { 500.0 };
        let begin_s = f64::from(cycle) * 900.0 + if is_last { 172_800.0 } else { 0.0 };
        for second in 0..300 {
            let ios = level * (1.0 + 0.01 * random.normal());
            recorder.add(cycle, begin_s, &interval(f64::from(second), ios, 100_000));
        }
    }
    let found = recorder.finish("rests", plan(40, 172_800.0), &SoakRule::default());
    let rests = found.rests.unwrap();
    assert!((rests.after_of_before.unwrap().value - 1.0).abs() < 0.03);
    assert!(rests.recovered_of_best.unwrap().covers(1.0));
    assert!(rests.idle_share > 0.9);
    let SoakState::Steady { since_s } = found.state else { panic!("{:?}", found.state) };
    assert!((since_s - 3600.0).abs() < 61.0, "{since_s}");
}

#[test]
fn memory_does_not_grow_with_time() {
    let day = soak(200_000, |_| 100.0);
    assert!(day.batches.items().len() <= 960 && day.begins.len() <= 4096);
}
