//! When there must be no answer, or bounds, or a doubt: one thing at a time is spoilt of a sound
//! database on sound storage.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod made_up;

use assay_model::Profile;
use assay_model::calibration::{Calibration, CapacityBound};
use assay_model::profile::{
    Bottleneck, CheckOutcome, ClassSeries, CrossCheck, Figure, IoPurpose, ReadLevels, ReportScope,
    ServerActivity, WaitClassTime, WaitSeries,
};
use assay_model::projection::{
    Objection, ObjectionKind, Projection, ProjectionAnswer, TargetOrigin,
};
use assay_predict::{ProjectionPlan, StorageSource, demand_of, project};
use made_up::{calibration, profile};

/// Everything that is given to a prediction.
struct Given {
    profile: Profile,
    cached_share: Option<f64>,
    on: Calibration,
    origin: TargetOrigin,
    from: Option<Calibration>,
    plan: ProjectionPlan,
}

impl Given {
    fn sound() -> Self {
        Self {
            profile: profile(),
            cached_share: None,
            on: calibration(5e5, 32.0),
            origin: TargetOrigin::Measured,
            from: Some(calibration(1e6, 32.0)),
            plan: ProjectionPlan { draws: 20, ..ProjectionPlan::default() },
        }
    }

    fn projected(&self) -> Projection {
        let source = |name: &str, calibration, origin| StorageSource {
            name: name.to_owned(),
            calibration,
            origin,
            log: None,
        };
        let read = demand_of(&self.profile, self.cached_share);
        let from = self.from.as_ref().map(|one| source("from", one, TargetOrigin::Measured));
        project(&read, from.as_ref(), &[source("on", &self.on, self.origin)], &self.plan)
    }
}

fn found(projection: &Projection) -> Vec<&Objection> {
    let of_targets = projection.targets.iter().flat_map(|target| &target.objections);
    projection.objections.iter().chain(of_targets).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as the fields of a profile are")]
fn figure(value: f64) -> Option<Figure> {
    Some(Figure::new(value, "spoilt"))
}

fn waits_of(profile: &mut Profile, class: &str, share: f64) {
    let time_s = Figure::new(1000.0 * share, "spoilt");
    profile.time.waits.push(WaitClassTime { class: class.to_owned(), time_s });
}

/// A live server that reads from this page cache, with sessions that are as active as `active`
/// says.
fn live(cached: Option<f64>, active: &[f64]) -> ServerActivity {
    ServerActivity {
        reads: Some(ReadLevels { page_cache_share: cached, ..ReadLevels::default() }),
        over_time: Some(WaitSeries {
            step_s: 1.0,
            samples: vec![10; active.len()],
            classes: vec![ClassSeries { class: "CPU".to_owned(), sessions_mean: active.to_vec() }],
        }),
        ..ServerActivity::default()
    }
}

type Spoil = fn(&mut Given);

/// What is spoilt, how far it may then be answered, and what is found.
const CASES: [(&str, Spoil, ProjectionAnswer, ObjectionKind); 30] = {
    use ObjectionKind as Kind;
    use ProjectionAnswer::{Answered, Bounds, Refused};
    [
        (
            "no DB time",
            |given| {
                given.profile.time.db_time_s = None;
                given.profile.time.average_active_sessions = None;
            },
            Refused,
            Kind::NoTimeModel,
        ),
        ("no DB CPU", |given| given.profile.time.db_cpu_s = None, Refused, Kind::NoTimeModel),
        (
            "nothing counted",
            |given| {
                given.profile.work = assay_model::profile::Work::default();
                given.profile.classes.clear();
            },
            Refused,
            Kind::NoTimeModel,
        ),
        (
            "idle",
            |given| given.profile.verdict.bottleneck = Bottleneck::Idle,
            Refused,
            Kind::NoTimeModel,
        ),
        (
            "a restart within",
            |given| {
                given.profile.report.as_mut().unwrap().invalid =
                    Some("instance shutdown".to_owned());
            },
            Refused,
            Kind::NoTimeModel,
        ),
        (
            "a quarter unaccounted",
            |given| given.profile.verdict.unaccounted_share = Some(0.25),
            Refused,
            Kind::Unaccounted,
        ),
        (
            "a quarter counted twice",
            |given| given.profile.verdict.unaccounted_share = Some(-0.25),
            Refused,
            Kind::Unaccounted,
        ),
        (
            "15% unaccounted",
            |given| {
                given.profile.verdict.unaccounted_share = Some(0.15);
                given.from = None;
            },
            Bounds,
            Kind::Unaccounted,
        ),
        (
            "more CPU than DB time",
            |given| given.profile.time.db_cpu_s = figure(1200.0),
            Refused,
            Kind::Contradiction,
        ),
        (
            "parts above the whole",
            |given| {
                given.profile.classes[0].latency_s = figure(0.002);
            },
            Refused,
            Kind::Contradiction,
        ),
        (
            "sections that disagree",
            |given| {
                let what = "reads".to_owned();
                let outcome = CheckOutcome::Contradicts;
                given.profile.checks.push(CrossCheck { what, left: None, right: None, outcome });
            },
            Answered,
            Kind::Contradiction,
        ),
        (
            "closure misses by half",
            |given| given.from = Some(calibration(2.5e6, 32.0)),
            Refused,
            Kind::Closure,
        ),
        (
            "closure misses a little",
            |given| given.from = Some(calibration(8.3e5, 32.0)),
            Answered,
            Kind::Closure,
        ),
        (
            "no calibration of the present storage",
            |given| given.from = None,
            Answered,
            Kind::NoClosure,
        ),
        (
            "locks",
            |given| {
                given.profile.verdict.contention_share = Some(0.25);
                given.from = None;
            },
            Bounds,
            Kind::Contention,
        ),
        (
            "waits of the cluster",
            |given| {
                given.profile.verdict.contention_share = Some(0.25);
                waits_of(&mut given.profile, "Cluster", 0.25);
                given.from = None;
            },
            Bounds,
            Kind::Contention,
        ),
        (
            "processors are the limit",
            |given| {
                given.profile.time.cpus = figure(4.2);
                given.profile.time.host_busy_share = figure(0.953);
                given.on = calibration(5e4, 32.0);
                given.from = None;
            },
            Answered,
            Kind::CpuBound,
        ),
        ("a page cache", |given| given.cached_share = Some(0.10), Refused, Kind::ProfileCached),
        (
            "a page cache of which nothing is known",
            |given| {
                given.profile.server = Some(live(None, &[]));
            },
            Refused,
            Kind::ProfileCached,
        ),
        (
            "a calibration through the page cache",
            |given| given.on.direct_io = Some(false),
            Refused,
            Kind::CalibrationCached,
        ),
        (
            "another block",
            |given| {
                given.on.mixes.iter_mut().for_each(|mix| mix.block_size_bytes = 16_384);
            },
            Refused,
            Kind::BlockSize,
        ),
        (
            "another mix",
            |given| {
                given.on.mixes.truncate(2);
                given.profile.rates[0].write_per_s = figure(2000.0);
                given.from = None;
            },
            Answered,
            Kind::Mix,
        ),
        (
            "a curve that still rises",
            |given| {
                given.on = calibration(5e5, 2.0);
                given.on.mixes.iter_mut().for_each(|mix| {
                    mix.iops_max.bound = CapacityBound::StillRising;
                    mix.curve.truncate(2);
                });
            },
            Answered,
            Kind::Extrapolation,
        ),
        (
            "a host that was the limit",
            |given| {
                given.on = calibration(5e5, 2.0);
                given.on.mixes.iter_mut().for_each(|mix| {
                    mix.iops_max.bound = CapacityBound::Host;
                    mix.curve.truncate(2);
                });
            },
            Answered,
            Kind::HostLimited,
        ),
        ("no log", |given| given.on.log = None, Answered, Kind::NoLog),
        (
            "neither log nor writes",
            |given| {
                given.on.log = None;
                given.on.mixes.remove(1);
            },
            Bounds,
            Kind::NoLog,
        ),
        (
            "many writes and none calibrated",
            |given| {
                given.on.mixes.truncate(1);
                given.profile.rates[0].write_per_s = figure(2000.0);
            },
            Refused,
            Kind::NoWrites,
        ),
        (
            "writes that come late, none calibrated",
            |given| {
                given.on.mixes.truncate(1);
                given.profile.verdict.write_behind_share = Some(0.06);
            },
            Refused,
            Kind::NoWrites,
        ),
        ("another host", |given| given.plan.processors_mean = Some(64.0), Refused, Kind::OtherHost),
        (
            "an uneven load",
            |given| {
                let active: Vec<f64> =
                    (0..50).map(|step| if step < 25 { 2.0 } else { 18.0 }).collect();
                given.profile.server = Some(live(Some(0.0), &active));
            },
            Answered,
            Kind::Uneven,
        ),
    ]
};

#[test]
fn sound_inputs_are_answered_and_nothing_stands_against_them() {
    let projection = Given::sound().projected();
    assert_eq!(projection.answer(), ProjectionAnswer::Answered, "{:?}", found(&projection));
    assert!(found(&projection).is_empty(), "{:?}", found(&projection));
    let closed = projection.targets[0].states.last().unwrap();
    assert!(closed.throughput_per_s.value > 1200.0);
    assert!(closed.throughput_per_s.low < closed.throughput_per_s.value);
}

#[test]
fn thirty_spoilt_inputs_are_each_found() {
    let mut wrong = Vec::new();
    for (what, spoil, answer, kind) in CASES {
        let mut given = Given::sound();
        spoil(&mut given);
        let projection = given.projected();
        let is_found = found(&projection).iter().any(|one| one.kind == kind);
        let is_silent = projection.targets.iter().all(|target| target.states.is_empty());
        let is_right = is_found
            && projection.answer() == answer
            && is_silent == (answer == ProjectionAnswer::Refused);
        if !is_right {
            wrong.push((what, projection.answer(), found(&projection).len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn parts_of_a_whole_are_told_as_such() {
    for (scope, kind) in [
        (ReportScope::Instance, ObjectionKind::Cluster),
        (ReportScope::PluggableDatabase, ObjectionKind::PluggableDatabase),
    ] {
        let mut given = Given::sound();
        given.profile.report.as_mut().unwrap().scope = scope;
        let projection = given.projected();
        assert!(found(&projection).iter().any(|one| one.kind == kind));
    }
}

#[test]
fn a_data_sheet_and_a_burst_are_said() {
    let mut given = Given::sound();
    given.origin = TargetOrigin::DataSheet;
    given.on.mixes[2].iops_max.burst_rate = Some(assay_model::Estimate::exact(1e5, 1));
    let projection = given.projected();
    let kinds: Vec<ObjectionKind> = found(&projection).iter().map(|one| one.kind).collect();
    assert!(kinds.contains(&ObjectionKind::DataSheet) && kinds.contains(&ObjectionKind::Burst));
}

#[test]
fn zero_transactions_are_counted_by_statements() {
    let mut given = Given::sound();
    given.profile.work.transactions_per_s = figure(0.0);
    let projection = given.projected();
    assert_eq!(projection.unit.name(), "execution");
    assert!((projection.base.throughput_per_s.value - 9000.0).abs() < 1e-9);
    let reads = given.profile.class(IoPurpose::SingleBlockRead).unwrap();
    assert!(reads.rate_iops.is_some() && projection.answer() == ProjectionAnswer::Answered);
}

#[test]
fn the_budget_of_a_read_is_what_the_rest_leaves() {
    let mut given = Given::sound();
    given.plan.response_limit_s = Some(0.009);
    let projection = given.projected();
    let budget = projection.targets[0].budget.unwrap();
    // 9 ms less 4 ms of CPU, 0.69 ms of commit and 0.8 ms of others, over four reads.
    assert!((budget.read_latency_max_s * 1e3 - 0.875).abs() < 0.01, "{budget:?}");
    assert!((budget.read_iops - 4000.0).abs() < 1e-6);
}
