//! Instances of a cluster, copies of a report, other databases, and reports that overlap or are
//! missing.

use super::*;
use assay_model::profile::{Figure, IoPurpose, parse_profile};
use assay_model::sizing::DemandQuantity;

const HOUR_S: f64 = 3600.0;

/// The report of an instance: which one, when, and how many I/Os per second.
fn report(instance: u32, begin_hour: i64, iops: f64) -> Profile {
    let text = include_str!("../../../../contract/examples/small.profile.json");
    let mut profile = parse_profile(text).unwrap();
    profile.report = None;
    profile.name = format!("TILL/till{instance}");
    profile.elapsed_s = Some(Figure::new(HOUR_S, "made up"));
    let source = &mut profile.source;
    source.product = ProfileProduct::Oracle;
    source.kind = "awr".to_owned();
    source.complete = true;
    (source.database_id, source.instance_number) = (Some("77".to_owned()), Some(instance));
    source.begin_clock_s = Some(3600 * begin_hour + i64::from(instance));
    source.snapshots = Some(format!("{begin_hour}-{}", begin_hour + 1));
    let all = profile.classes.iter_mut().find(|class| class.purpose == IoPurpose::All).unwrap();
    all.rate_iops = Some(Figure::new(iops, "made up"));
    all.read_share = Some(Figure::new(0.75, "made up"));
    all.throughput_bytes_per_s = Some(Figure::new(iops * 8192.0, "made up"));
    profile
}

fn grouped(profiles: &[Profile]) -> Vec<SizedDatabase> {
    let named: Vec<String> = (0..profiles.len()).map(|number| format!("r{number}")).collect();
    let named: Vec<(&str, &Profile)> =
        named.iter().map(String::as_str).zip(profiles.iter()).collect();
    databases(&named).unwrap()
}

/// The only database of these profiles.
fn only(profiles: &[Profile]) -> SizedDatabase {
    let mut found = grouped(profiles);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Reads and writes per second of each sample.
fn iops(database: &SizedDatabase) -> Vec<f64> {
    let value = |one: &DemandSample, quantity| one.value(quantity).unwrap();
    let of = |one: &DemandSample| {
        value(one, DemandQuantity::ReadIops) + value(one, DemandQuantity::WriteIops)
    };
    database.samples.iter().map(of).collect()
}

fn assert_iops(database: &SizedDatabase, expected: &[f64]) {
    let found = iops(database);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn instances_of_one_time_are_added_up() {
    let pair = only(&[report(1, 8, 100.0), report(2, 8, 130.0)]);
    assert_iops(&pair, &[230.0]);
    assert_eq!((pair.name.as_str(), pair.samples[0].name.as_str()), ("TILL", "r0 + r1"));
    assert!((pair.samples[0].elapsed_s.unwrap() - HOUR_S).abs() < 2.0);
    assert_eq!(pair.notes.len(), 1);
    assert!(pair.notes[0].contains("instances 1, 2 are added up"), "{:?}", pair.notes);
}

#[test]
fn the_peak_is_one_of_sums_and_no_sum_of_peaks() {
    let quiet = [(1, 8, 900.0), (2, 8, 100.0), (1, 9, 200.0), (2, 9, 700.0)];
    let profiles = quiet.map(|(instance, hour, iops)| report(instance, hour, iops));
    assert_iops(&only(&profiles), &[1000.0, 900.0]);
}

#[test]
fn a_copy_counts_once_and_the_whole_one_is_kept() {
    let mut cut = report(1, 8, 60.0);
    cut.source.complete = false;
    let found = only(&[cut, report(1, 8, 100.0), report(1, 9, 40.0)]);
    assert_iops(&found, &[100.0, 40.0]);
    assert_eq!(found.notes, ["r0: the same instance and snapshots as r1, counted once"]);
    let pair = [report(1, 8, 100.0), report(2, 8, 10.0), report(1, 8, 100.0), report(2, 8, 10.0)];
    assert_iops(&only(&pair), &[110.0]);
}

#[test]
fn an_instance_that_is_missing_for_a_time_is_named() {
    let found = only(&[report(1, 8, 100.0), report(2, 8, 50.0), report(1, 9, 300.0)]);
    assert_iops(&found, &[150.0, 300.0]);
    let missing = "TILL: instance 2 has no report for 1 of 2 intervals";
    assert!(found.notes.iter().any(|note| note.starts_with(missing)), "{:?}", found.notes);
}

#[test]
fn intervals_that_overlap_in_part_are_cut_at_their_ends() {
    let mut long = report(2, 8, 40.0);
    long.elapsed_s = Some(Figure::new(3.0 * HOUR_S, "made up"));
    long.source.snapshots = Some("8-11".to_owned());
    // Instance 1 for the second of the three hours.
    let found = only(&[long, report(1, 9, 100.0)]);
    assert_iops(&found, &[40.0, 140.0, 40.0]);
    let elapsed: f64 = found.samples.iter().filter_map(|one| one.elapsed_s).sum();
    assert!((elapsed / HOUR_S - 3.0).abs() < 0.01, "{elapsed}");
}

#[test]
fn of_two_reports_of_an_instance_the_shorter_one_counts() {
    let mut day = report(1, 8, 50.0);
    day.elapsed_s = Some(Figure::new(2.0 * HOUR_S, "made up"));
    day.source.snapshots = Some("8-10".to_owned());
    let found = only(&[day, report(1, 8, 90.0), report(2, 8, 10.0), report(2, 9, 10.0)]);
    assert_iops(&found, &[100.0, 60.0]);
}

#[test]
fn a_global_report_has_its_instances_in_it() {
    let mut global = report(1, 8, 250.0);
    global.name = "TILL".to_owned();
    global.source.kind = "awr_global".to_owned();
    global.source.instance_number = None;
    let found = only(&[report(1, 8, 100.0), global, report(2, 8, 130.0)]);
    assert_iops(&found, &[250.0]);
}

#[test]
fn without_clocks_snapshots_tell_the_time_and_without_both_peaks_are_added() {
    let mut profiles =
        [report(1, 8, 100.0), report(2, 8, 30.0), report(1, 9, 60.0), report(2, 9, 80.0)];
    for one in &mut profiles {
        one.source.begin_clock_s = None;
    }
    assert_iops(&only(&profiles), &[130.0, 140.0]);
    for one in &mut profiles {
        one.source.snapshots = None;
    }
    let found = only(&profiles);
    assert_iops(&found, &[180.0]);
    assert!(found.notes[0].contains("the peaks of its instances are added up"));
}

#[test]
fn databases_differ_by_name_or_identifier_and_not_by_instance() {
    let mut clone = report(1, 8, 5.0);
    clone.source.database_id = Some("78".to_owned());
    let mut other = report(1, 8, 7.0);
    other.name = "CRM/crm1".to_owned();
    let mut old_document = report(2, 8, 30.0);
    old_document.source.database_id = None;
    let found = grouped(&[report(1, 8, 100.0), clone, other, old_document]);
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["TILL (r0)", "TILL (r1)", "CRM"]);
    assert_iops(&found[0], &[130.0]);
}

#[test]
fn reports_of_one_instance_stay_as_they_are() {
    let found = only(&[report(1, 8, 10.0), report(1, 9, 20.0)]);
    assert_iops(&found, &[10.0, 20.0]);
    assert!(found.notes.is_empty());
}
