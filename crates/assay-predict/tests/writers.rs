//! The bound by writes where a database has few writers: the point of the mix at which that many
//! writes are outstanding.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod made_up;

use assay_model::profile::{Figure, IoClass, IoPurpose, Profile, ServerActivity};
use assay_model::projection::{TargetOrigin, ThroughputLimit};
use assay_predict::{ProjectionPlan, StorageSource, demand_of, project};

/// The most units a second that writes allow, on 32 servers of 0.5 ms.
fn bound_by_writes(profile: &Profile, write_queue_depth: Option<f64>) -> f64 {
    let calibration = made_up::calibration(5e5, 32.0);
    let source = StorageSource {
        name: "on".to_owned(),
        calibration: &calibration,
        origin: TargetOrigin::Measured,
        log: None,
    };
    let plan = ProjectionPlan { draws: 20, write_queue_depth, ..ProjectionPlan::default() };
    let found = project(&demand_of(profile, None), None, &[source], &plan);
    let bounds = found.targets[0].bounds.iter();
    bounds.clone().find(|bound| bound.limit == ThroughputLimit::Writes).unwrap().most_per_s
}

#[test]
fn writers_bound_as_the_mix_does_where_they_are_all_at_work() {
    let profile = made_up::profile();
    let all = bound_by_writes(&profile, None);
    // Of the mix a tenth are writes: where 0.8 of them are outstanding there are 8 I/Os on 32
    // servers, a quarter of the most.
    let few = bound_by_writes(&profile, Some(0.8));
    assert!((few / all - 0.25).abs() < 0.02, "{few} {all}");
    // More than the calibration had add no bound of their own.
    assert!((bound_by_writes(&profile, Some(1000.0)) / all - 1.0).abs() < 1e-9);
}

#[test]
fn writers_follow_from_what_was_outstanding_when_sessions_waited_for_them() {
    let figure = |value: f64| Some(Figure::new(value, "made up"));
    let mut profile = made_up::profile();
    let writes = IoClass {
        rate_iops: figure(500.0),
        block_size_bytes: figure(8192.0),
        latency_s: figure(0.0032),
        ..IoClass::new(IoPurpose::DataFileWrite)
    };
    profile.classes.push(writes.complete());
    assert_eq!(demand_of(&profile, None).demand.write_queue_depth, None);
    profile.verdict.write_behind_share = Some(0.2);
    // A report times batches, which grow with what is late.
    assert_eq!(demand_of(&profile, None).demand.write_queue_depth, None);
    profile.server = Some(ServerActivity::default());
    let found = demand_of(&profile, None).demand.write_queue_depth.unwrap();
    assert!((found - 1.6).abs() < 1e-9, "{found}");
}
