//! Tables for other programs: what stands in which column.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use assay_model::run::{IntervalSummary, OperationSummary, TimeSummary};
use assay_report::{INTERVALS_HEADER, Report, curve_csv, histograms_csv, intervals_csv};
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
        outstanding_mean: 1.25,
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
    let rows = intervals_csv("a \"b\"", &[interval]);
    let [read, sync] = rows.lines().collect::<Vec<_>>().try_into().unwrap();
    let (read, sync) = (named(read), named(sync));
    for (column, value) in [
        ("run", "\"a \"\"b\"\"\""),
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
        ("outstanding_mean", "1.25"),
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

#[test]
fn every_column_is_in_the_manual() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let (curve, histograms) = (curve_csv(&Report::default()), histograms_csv(&Report::default()));
    for header in [curve.as_str(), histograms.as_str(), INTERVALS_HEADER] {
        for column in header.trim_end().split(',') {
            assert!(
                manual.contains(&format!("`{column}`")),
                "docs/tables.md does not know {column}"
            );
        }
    }
}
