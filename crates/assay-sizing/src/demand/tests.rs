//! Peaks of profiles, their growth, and the budget of a response.

use super::*;
use crate::databases::databases;
use assay_model::profile::{Figure, parse_profile};

/// The contract's example, with other rates.
fn profile(iops: f64, elapsed_s: f64) -> Profile {
    let text = include_str!("../../../../contract/examples/small.profile.json");
    let mut profile = parse_profile(text).unwrap();
    profile.report = None;
    profile.elapsed_s = Some(Figure::new(elapsed_s, "made up"));
    // Each at a time of its own: the same twice would be a copy.
    let begin = assay_model::number::count(iops * elapsed_s);
    profile.source.begin_clock_s = i64::try_from(begin).ok();
    profile.work.transactions_per_s = Some(Figure::new(iops / 10.0, "made up"));
    let all = profile.classes.iter_mut().find(|class| class.purpose == IoPurpose::All).unwrap();
    all.rate_iops = Some(Figure::new(iops, "made up"));
    all.read_share = Some(Figure::new(0.75, "made up"));
    all.throughput_bytes_per_s = Some(Figure::new(iops * 8192.0, "made up"));
    profile
}

fn reads(profiles: &[Profile], peak: Peak) -> DemandLine {
    let named: Vec<String> = (0..profiles.len()).map(|number| format!("r{number}")).collect();
    let named: Vec<(&str, &Profile)> =
        named.iter().map(String::as_str).zip(profiles.iter()).collect();
    let mut plan = SizingPlan { peak, ..SizingPlan::new(assay_model::calendar::Day(20_000)) };
    (plan.growth, plan.years) = (0.5, 2);
    build_demand(&databases(&named).unwrap(), &plan).unwrap().remove(0)
}

#[test]
fn the_peak_is_the_highest_the_quantile_or_a_multiple_of_the_mean() {
    let profiles: Vec<Profile> = (1..=20).map(|n| profile(f64::from(n) * 100.0, 3600.0)).collect();
    let max = reads(&profiles, Peak::Max);
    assert_eq!((max.quantity, max.source.as_str()), (DemandQuantity::ReadIops, "r19"));
    assert!((max.seen_value - 1500.0).abs() < 1e-9);
    assert!((max.peak_value - 1500.0 * 2.25).abs() < 1e-9);
    assert!((max.need_value - 1500.0 * 2.25 * 1.3).abs() < 1e-9);
    let names: Vec<&str> = max.factors.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["growth of 50% per year for 2 years", "headroom"]);
    // The 19th of 20.
    let quantile = reads(&profiles, Peak::Quantile95);
    assert!((quantile.seen_value - 1425.0).abs() < 1e-9, "{quantile:?}");
    // The mean is that of all time: one long interval weighs more.
    let uneven = [profile(100.0, 7200.0), profile(400.0, 3600.0)];
    let mean = reads(&uneven, Peak::TimesMean(2.0));
    assert!((mean.seen_value - 150.0).abs() < 1e-9, "{mean:?}");
    assert!((mean.peak_value - 150.0 * 2.0 * 2.25).abs() < 1e-9);
}

#[test]
fn a_profile_without_rates_is_refused_by_its_name() {
    let mut empty = profile(100.0, 3600.0);
    empty.classes.clear();
    let error = databases(&[("a.txt", &empty)]).err().unwrap().to_string();
    assert!(error.contains("a.txt has no I/O rate"), "{error}");
}

/// As `plan` makes a workload of it.
#[test]
fn without_a_total_the_purposes_are_added_up() {
    let mut partial = profile(100.0, 3600.0);
    let class = |purpose, iops: f64, bytes: f64, read_share: f64| assay_model::profile::IoClass {
        rate_iops: Some(Figure::new(iops, "made up")),
        block_size_bytes: Some(Figure::new(bytes, "made up")),
        read_share: Some(Figure::new(read_share, "made up")),
        ..assay_model::profile::IoClass::new(purpose)
    };
    partial.classes = vec![
        class(IoPurpose::SingleBlockRead, 400.0, 8192.0, 1.0),
        class(IoPurpose::LogWrite, 50.0, 4096.0, 0.0),
        class(IoPurpose::DirectRead, 10.0, 1_048_576.0, 1.0),
        // Direct I/O counts them, too.
        class(IoPurpose::Temporary, 5.0, 131_072.0, 0.5),
    ];
    let found = reads(&[partial], Peak::Max);
    assert!((found.seen_value - 410.0).abs() < 1e-9, "{found:?}");
}

/// 20 ms with 8 reads of 1.5 ms: 14 ms leave 0.75 ms for each, 8 ms are what all else takes.
#[test]
fn the_budget_of_a_read_is_what_all_else_leaves() {
    let mut profile = profile(100.0, 3600.0);
    profile.work.transactions_per_s = Some(Figure::new(1000.0, "made up"));
    profile.time.db_time_s = Some(Figure::new(20.0 * 3600.0, "made up"));
    profile.classes.retain(|class| class.purpose != IoPurpose::SingleBlockRead);
    profile.classes.push(assay_model::profile::IoClass {
        rate_iops: Some(Figure::new(8000.0, "made up")),
        latency_s: Some(Figure::new(1.5e-3, "made up")),
        ..assay_model::profile::IoClass::new(IoPurpose::SingleBlockRead)
    });
    let budget_s = read_latency_for("r", &profile, 14e-3).unwrap();
    assert!((budget_s - 0.75e-3).abs() < 1e-12, "{budget_s}");
    let error = read_latency_for("r", &profile, 8e-3).unwrap_err().to_string();
    assert!(error.contains("of which reads are 12.00 ms"), "{error}");
}
