//! The histograms of runs as a table: a row a bucket that holds anything.

use super::table;
use crate::input::GivenReport;
use assay_model::Histogram;
use assay_model::measurement::{NamedResult, OperationResult};

/// The header line.
const HEADER: &str = "workload,scope,name,operation,time,lowest_ns,highest_ns,ios";

/// All histograms of all streams and targets of all runs and steps of ladders; the whole of a run
/// is the sum of its streams. A bucket holds the times from its lowest to its highest, both
/// included.
pub fn histograms_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let of_load = report.load.iter().flat_map(|load| &load.rungs).map(|rung| &rung.measurement);
    let of_runs = report.runs.iter().map(|run| &run.measurement);
    let rows = of_runs.chain(of_load).flat_map(|measurement| {
        let scopes = [("stream", &measurement.streams), ("target", &measurement.targets)];
        scopes.into_iter().flat_map(move |(scope, results)| {
            results.iter().flat_map(move |result| rows(&measurement.workload, scope, result))
        })
    });
    table(HEADER, run_id, rows)
}

/// All histograms of one stream or target.
fn rows(workload: &str, scope: &str, result: &NamedResult) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (operation, of_operation) in result.operations.iter() {
        for (kind, times) in kinds(of_operation) {
            let place = [workload, scope, &result.name, operation.name(), kind].map(str::to_owned);
            rows.extend(buckets(times).map(|numbers| [&place[..], &numbers[..]].concat()));
        }
    }
    rows
}

/// Service times, and response times where there are any.
fn kinds(result: &OperationResult) -> impl Iterator<Item = (&'static str, &Histogram)> {
    let response = result.response.as_ref().map(|times| ("response", times));
    [("service", &result.service)].into_iter().chain(response)
}

/// Lowest and highest time of every bucket, and how many are in it.
fn buckets(times: &Histogram) -> impl Iterator<Item = [String; 3]> {
    times.buckets().map(|(lowest, width, ios)| {
        [lowest, lowest + (width - 1), ios].map(|number| number.to_string())
    })
}
