//! Calibrations and ladders as sides of a comparison: which measures they have, what is judged,
//! what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made_up;

use assay_judge::compare::{
    CompareRules, SideFacts, compare, facts_of_calibration, facts_of_load, joined, of_parts,
};
use assay_model::Result;
use assay_model::calibration::{Calibration, CapacityBound};
use assay_model::comparison::{Comparison, Measure, OverlayAxis, SideKind};
use assay_model::load::Load;
use assay_model::verdict::{Outcome, Reason};

fn calibration() -> Calibration {
    serde_json::from_str(include_str!("../../../contract/examples/small.calibration.json")).unwrap()
}

/// The same device with all rates multiplied, and times divided, by `factor`.
fn faster(factor: f64) -> Calibration {
    let mut found = calibration();
    for mix in &mut found.mixes {
        mix.iops_max.rate = mix.iops_max.rate.scaled(factor);
        mix.base_service_time_ns = mix.base_service_time_ns.scaled(1.0 / factor);
        if let Some(within) = &mut mix.iops_within_limit {
            within.rate = within.rate.scaled(factor);
        }
        if let Some(large) = &mut mix.throughput_max_bytes_per_s {
            large.rate = large.rate.scaled(factor);
        }
        mix.single_stream_bytes_per_s = mix.single_stream_bytes_per_s.map(|one| one.scaled(factor));
        for rung in &mut mix.curve {
            rung.iops = rung.iops.scaled(factor);
        }
    }
    found
}

fn side(name: &str, calibration: &Calibration) -> SideFacts {
    facts_of_calibration(name, "sim", calibration)
}

fn compared(base: &Calibration, other: &Calibration) -> Result<Comparison> {
    let sides = [side("base", base), side("other", other)];
    // What differs from run to run is the subject of other tests.
    compare(&sides, &[], &judging())
}

/// Judged by 2%, on storage that does not vary.
fn judging() -> CompareRules {
    CompareRules { tolerance: Some(0.02), run_to_run_share: Some(0.0), ..CompareRules::default() }
}

fn measure<'a>(found: &'a Comparison, quantity: &str, subject: Option<&str>) -> &'a Measure {
    let same = |one: &&Measure| one.quantity == quantity && one.subject.as_deref() == subject;
    found.pairs[0].measures.iter().find(same).unwrap()
}

#[test]
fn capacities_are_judged_and_rungs_are_shown() {
    let found = compared(&calibration(), &faster(2.0)).unwrap();
    let most = measure(&found, "calibration.read.iops_max", None);
    assert!((most.ratio.unwrap().value - 2.0).abs() < 1e-9 && most.judged);
    let base = measure(&found, "calibration.read.base_service_time", None);
    assert!((base.ratio.unwrap().value - 0.5).abs() < 1e-9 && base.judged);
    assert_eq!((most.outcome, base.outcome), (Some(Outcome::Pass), Some(Outcome::Pass)));
    let rung = measure(&found, "calibration.read.iops", Some("queue depth 4"));
    assert!(!rung.judged && (rung.ratio.unwrap().value - 2.0).abs() < 1e-9);
    assert_eq!(found.outcome, Some(Outcome::Pass));
    let slower = compared(&faster(2.0), &calibration()).unwrap();
    assert_eq!(slower.outcome, Some(Outcome::Fail));
}

#[test]
fn curves_of_both_sides_stand_over_each_other() {
    let found = compared(&calibration(), &faster(2.0)).unwrap();
    let iops = found.overlays.iter().find(|one| one.what == "IOPS of read").unwrap();
    assert_eq!(iops.over, OverlayAxis::Outstanding);
    assert_eq!(iops.lines.len(), 2);
    let points = |side: usize| &iops.lines[side].points;
    assert_eq!(points(0).len(), calibration().mixes[0].curve.len());
    for (one, other) in points(0).iter().zip(points(1)) {
        assert!((other.value.value / one.value.value - 2.0).abs() < 1e-9);
    }
}

#[test]
fn a_bound_below_the_truth_condemns_nobody() {
    // Less was seen, but the storage may deliver more: that it is worse cannot be said.
    let mut other = faster(0.5);
    other.mixes[0].iops_max.bound = CapacityBound::StillRising;
    let found = compared(&calibration(), &other).unwrap();
    let most = measure(&found, "calibration.read.iops_max", None);
    assert_eq!(most.outcome, Some(Outcome::Inconclusive));
    assert_eq!(most.reason, Some(Reason::Doubtful));
    assert_eq!(most.doubts.len(), 1);
    // A base that may have more cannot be shown to be reached.
    let mut base = calibration();
    base.mixes[0].iops_max.bound = CapacityBound::Host;
    let found = compared(&base, &faster(2.0)).unwrap();
    let most = measure(&found, "calibration.read.iops_max", None);
    assert_eq!(most.outcome, Some(Outcome::Inconclusive));
    assert_eq!(most.reason, Some(Reason::Doubtful));
}

#[test]
fn a_host_without_idle_processors_condemns_no_storage() {
    let mut other = faster(0.5);
    for mix in &mut other.mixes {
        mix.iops_within_limit = None;
        for rung in &mut mix.curve {
            rung.host_busy_share = Some(0.99);
        }
    }
    let found = compared(&calibration(), &other).unwrap();
    let judged = found.pairs[0].measures.iter().filter(|measure| measure.judged);
    for measure in judged.filter(|measure| measure.quantity.starts_with("calibration.read")) {
        let large = measure.quantity.contains("throughput_max");
        assert!(large || measure.outcome == Some(Outcome::Inconclusive), "{measure:?}");
        assert!(large || measure.doubts.iter().any(|doubt| doubt.what.contains("too busy")));
    }
}

#[test]
fn storage_that_never_keeps_the_limit_is_worse_than_one_that_does() {
    let mut other = calibration();
    other.mixes[0].iops_within_limit = None;
    let found = compared(&calibration(), &other).unwrap();
    let within = measure(&found, "calibration.read.iops_within_limit", None);
    assert_eq!((within.outcome, within.ratio.unwrap().value), (Some(Outcome::Fail), 0.0));
    assert!(within.different);
}

#[test]
fn other_limits_and_sizes_are_other_questions() {
    let mut other = calibration();
    other.limit.service_time_ns = 5e6;
    other.mixes[0].block_size_bytes = 4096;
    let refused = compared(&calibration(), &other).unwrap_err();
    for key in ["calibration.max_latency_ns", "calibration.read.block_size_bytes is 8192 and 4096"]
    {
        assert!(refused.message().contains(key), "{refused}");
    }
}

#[test]
fn repeats_are_pooled_at_every_rung() {
    let repeats = vec![side("a", &calibration()), side("b", &faster(3.0))];
    let whole = joined(repeats).unwrap();
    let curve = whole.curves.iter().find(|one| one.what == "IOPS of read").unwrap();
    let first = calibration().mixes[0].curve[0].iops.value;
    assert!((curve.points[0].value.value / first - 2.0).abs() < 1e-9);
    assert_eq!(whole.side.repeats, 2);
}

fn load() -> Load {
    serde_json::from_str(include_str!("../../../contract/examples/small.load.json")).unwrap()
}

/// A ladder of steps: sessions and transactions of each of two kinds a second; a number twice is a
/// repeat.
fn ladder(asked: &Load, rungs: &[(u32, u64)]) -> SideFacts {
    let rungs = rungs
        .iter()
        .zip(1..)
        .map(|((sessions, per_s), repeat)| made_up::rung(*sessions, repeat, *per_s, None));
    let (rungs, series): (Vec<_>, Vec<_>) = rungs.unzip();
    let load = Load { rungs, ..asked.clone() };
    let facts = assay_judge::JudgedLoadFacts { load: &load, series: &series };
    facts_of_load("load", "d", facts)
}

#[test]
fn ladders_are_compared_rung_by_rung_with_repeats_pooled() {
    let load = load();
    let base = ladder(&load, &[(1, 100), (4, 318), (4, 320), (4, 322)]);
    let other = ladder(&load, &[(1, 100), (4, 160), (8, 200)]);
    let found = compare(&[base, other], &[], &judging()).unwrap();
    let four = measure(&found, "load.step.new_orders", Some("4 sessions"));
    assert!((four.ratio.unwrap().value - 0.5).abs() < 0.01, "{four:?}");
    assert!(four.judged && four.outcome == Some(Outcome::Fail));
    assert!(found.pairs[0].primary().unwrap().quantity == "load.step.new_orders");
    let orders = found.overlays.iter().find(|one| one.what == "new orders").unwrap();
    assert_eq!(orders.over, OverlayAxis::Sessions);
    let places: Vec<f64> = orders.lines[1].points.iter().map(|point| point.x).collect();
    assert_eq!(places, [1.0, 4.0, 8.0]);
}

#[test]
fn another_size_of_data_is_another_question_and_another_seed_is_not() {
    let (base, mut other) = (load(), load());
    let set = |load: &mut Load, name: &str, value: &str| {
        let found = load.plan.iter_mut().find(|setting| setting.name == name).unwrap();
        value.clone_into(&mut found.value);
    };
    set(&mut other, "seed", "77");
    let sides = |other: &Load| [ladder(&base, &[(1, 10)]), ladder(other, &[(1, 10)])];
    let rules = CompareRules::default();
    assert!(compare(&sides(&other), &[], &rules).is_ok());
    set(&mut other, "scale", "1GiB");
    let refused = compare(&sides(&other), &[], &rules).unwrap_err();
    assert!(refused.message().contains("load.scale is 8MiB and 1GiB"), "{refused}");
}

#[test]
fn a_check_is_compared_in_all_its_parts() {
    let load = load();
    let parts = |factor: f64, per_s: u64| {
        let parts = vec![side("check", &faster(factor)), ladder(&load, &[(2, per_s)])];
        of_parts(parts).unwrap()
    };
    let sides = [parts(1.0, 100), parts(2.0, 200)];
    let found = compare(&sides, &[], &CompareRules::default()).unwrap();
    assert_eq!(found.sides[0].kind, SideKind::Check);
    for (quantity, subject) in
        [("calibration.read.iops_max", None), ("load.step.new_orders", Some("2 sessions"))]
    {
        let ratio = measure(&found, quantity, subject).ratio.unwrap().value;
        assert!((ratio - 2.0).abs() < 0.03, "{quantity}: {ratio}");
    }
    assert!(of_parts(Vec::new()).is_none());
}
