//! Tables for other programs: what stands in which column.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use assay_model::run::{IntervalSummary, OperationSummary, TimeSummary};
use assay_report::{
    GivenReport, INTERVALS_HEADER, RunReport, cells_csv, comparison_csv, curve_csv, factors_csv,
    histograms_csv, host_rates_csv, hosts_csv, intervals_csv, ladder_csv, levels_csv, locality_csv,
    published_csv, queries_csv, transactions_csv,
};
use std::collections::BTreeMap;
use std::path::Path;

fn times(factor: u64) -> TimeSummary {
    TimeSummary {
        mean_ns: 20.5,
        min_ns: 10 * factor,
        q50_ns: 20 * factor,
        q90_ns: 28 * factor,
        q99_ns: 29 * factor,
        q999_ns: 30 * factor,
        max_ns: 31 * factor,
    }
}

/// The cells of a row by the names of their columns.
fn named(row: &str) -> BTreeMap<&'static str, &str> {
    assert_eq!(row.split(',').count(), INTERVALS_HEADER.split(',').count());
    INTERVALS_HEADER.trim_end().split(',').zip(row.split(',')).collect()
}

#[test]
fn an_interval_has_a_row_an_operation() {
    let interval = IntervalSummary {
        index: 7,
        start_ns: 3_500_000_000,
        end_ns: 4_000_000_000,
        queue_depth_mean: 1.25,
        read: Some(OperationSummary {
            ios: 3,
            bytes: 12_288,
            errors: 0,
            service: times(1),
            response: Some(times(2)),
        }),
        sync: Some(OperationSummary { errors: 2, ..OperationSummary::default() }),
        write: None,
    };
    let rows = intervals_csv(["id", "a \"b\"", "reads"], &[interval]);
    let [read, sync] = rows.lines().collect::<Vec<_>>().try_into().unwrap();
    let (read, sync) = (named(read), named(sync));
    for (column, value) in [
        ("run_id", "id"),
        ("cell", "\"a \"\"b\"\"\""),
        ("workload", "reads"),
        ("interval", "7"),
        ("start_s", "3.5"),
        ("end_s", "4"),
        ("operation", "read"),
        ("ios", "3"),
        ("iops", "6"),
        ("throughput_bytes_per_s", "24576"),
        ("errors", "0"),
        ("service_time_mean_ns", "20.5"),
        ("service_time_q0_5_ns", "20"),
        ("service_time_max_ns", "31"),
        ("response_time_min_ns", "20"),
        ("response_time_q0_999_ns", "60"),
        ("queue_depth_mean", "1.25"),
    ] {
        assert_eq!(read[column], value, "{column}");
    }
    for (column, value) in [
        ("operation", "sync"),
        ("errors", "2"),
        ("service_time_mean_ns", ""),
        ("response_time_max_ns", ""),
    ] {
        assert_eq!(sync[column], value, "{column}");
    }
}

/// An example of the contract.
fn example<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/examples");
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// A report that has a row of every table, and all of them.
fn tables() -> Vec<(&'static str, Option<String>)> {
    let comparison = example("small.comparison.json");
    let report = GivenReport {
        calibration: Some(example("small.calibration.json")),
        load: Some(example("small.load.json")),
        dss: Some(example("small.dss.json")),
        locality: Some(example("small.locality.json")),
        soak: Some(example("small.soak.json")),
        study: Some(example("small.results.json")),
        cluster: Some(example("small.cluster.json")),
        runs: vec![RunReport::of(example("small.measurement.json"))],
        ..GivenReport::default()
    };
    vec![
        ("curve", curve_csv(&report, "id")),
        ("histograms", histograms_csv(&report, "id")),
        ("queries", queries_csv(&report, "id")),
        ("ladder", ladder_csv(&report, "id")),
        ("transactions", transactions_csv(&report, "id")),
        ("cells", cells_csv(&report, "id")),
        ("factors", factors_csv(&report, "id")),
        ("published", published_csv(&report, "id")),
        ("locality", locality_csv(&report, "id")),
        ("levels", levels_csv(&report, "id")),
        ("hosts", hosts_csv(&report, "id")),
        ("host-rates", host_rates_csv(&report, "id")),
        ("comparison", comparison_csv(&comparison)),
    ]
}

#[test]
fn every_row_has_a_cell_for_every_column() {
    for (name, table) in tables() {
        let table = table.unwrap_or_else(|| panic!("{name} has no row"));
        let mut reader = csv::ReaderBuilder::new().from_reader(table.as_bytes());
        let columns = reader.headers().unwrap().len();
        let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == columns), "{name}");
        if name != "comparison" {
            assert!(rows.iter().all(|row| &row[0] == "id"), "{name}");
        }
    }
}

#[test]
fn a_table_without_a_row_is_none() {
    let nothing = GivenReport::default();
    assert_eq!(curve_csv(&nothing, "id"), None);
    assert_eq!(cells_csv(&nothing, "id"), None);
    assert_eq!(ladder_csv(&nothing, "id"), None);
}

#[test]
fn every_column_is_in_the_manual() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let tables = tables().into_iter().filter_map(|(_, table)| table);
    let headers = tables.filter_map(|table| table.lines().next().map(str::to_owned));
    for header in headers.chain([INTERVALS_HEADER.to_owned()]) {
        for column in header.trim_end().split(',').filter(|column| !column.starts_with("factor_")) {
            assert!(
                manual.contains(&format!("`{column}`")),
                "docs/tables.md does not know {column}"
            );
        }
    }
}
