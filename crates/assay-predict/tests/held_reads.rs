//! Reads that flushes of the log hold up: as long as the calibration says, as often as the log is
//! busy.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod made_up;

use assay_model::calibration::Calibration;
use assay_model::projection::{Objection, ObjectionKind, Population, TargetOrigin};
use assay_predict::{PredictedDemand, ProjectionPlan, StorageSource, demand_of, project};

const SERVICE_NS: f64 = 5e5;

/// Storage on which a read takes this much longer while the log is written.
fn calibration(delay_ns: f64) -> Calibration {
    let mut calibration = made_up::calibration(SERVICE_NS, 32.0);
    let alone = made_up::log_point(0, SERVICE_NS, 0.0);
    let with_reads = made_up::log_point(1, SERVICE_NS, SERVICE_NS + delay_ns);
    calibration.log.as_mut().unwrap().points = vec![alone, with_reads];
    calibration
}

/// Mean time of a read at the same work, seconds, and what stands against the answer.
fn read_latency_s(calibration: &Calibration) -> (f64, Vec<Objection>) {
    let source = StorageSource {
        name: "on".to_owned(),
        calibration,
        origin: TargetOrigin::Measured,
        log: None,
    };
    let plan = ProjectionPlan { draws: 20, ..ProjectionPlan::default() };
    let profile = demand_of(&made_up::profile(), None);
    let found = project(&profile, None, &[source], &plan);
    let target = &found.targets[0];
    let same = target.state(|population| matches!(population, Population::SameWork)).unwrap();
    (same.read_latency_s.unwrap(), target.objections.clone())
}

/// Share of time in which the log is busy, by the open form of group commit.
fn busy_share(demand: &PredictedDemand) -> f64 {
    let load = demand.throughput_per_s * demand.commits_mean * 0.7 * SERVICE_NS / 1e9;
    load / (load + (-load).exp())
}

#[test]
fn a_read_takes_longer_as_often_as_the_log_is_busy() {
    let demand = demand_of(&made_up::profile(), None).demand;
    let (undisturbed_s, _) = read_latency_s(&calibration(0.0));
    let (held_s, objections) = read_latency_s(&calibration(2e5));
    let expected_s = 2e-4 * busy_share(&demand);
    assert!(expected_s > 1e-6, "{expected_s}");
    // The curve between its steps is known to some hundredths.
    assert!(((held_s - undisturbed_s) / expected_s - 1.0).abs() < 0.05, "{held_s} {undisturbed_s}");
    assert!(!objections.iter().any(|one| one.kind == ObjectionKind::NoLog));
    // No read waits longer than a flush.
    let (longest_s, _) = read_latency_s(&calibration(1e9));
    assert!(longest_s - undisturbed_s <= 0.7 * SERVICE_NS / 1e9);
}

#[test]
fn a_log_that_was_calibrated_without_reads_is_doubted() {
    let mut calibration = calibration(0.0);
    calibration.log.as_mut().unwrap().points.truncate(1);
    let (_, objections) = read_latency_s(&calibration);
    let doubt = objections.iter().find(|one| one.kind == ObjectionKind::NoLog).unwrap();
    assert!(doubt.finding.contains("during flushes"), "{}", doubt.finding);
}
