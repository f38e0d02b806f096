//! The histograms of runs as a table: a row a bucket that holds anything.

use crate::input::Report;
use crate::render::csv::csv;
use assay_model::Histogram;
use assay_model::measurement::{NamedResult, OperationResult};

/// The header line.
const HEADER: &str = "run,scope,name,operation,time,lowest_ns,highest_ns,ios\n";

/// All histograms of all streams and targets of all runs; the whole of a run is the sum of its streams. A bucket holds
/// the times from its lowest to its highest, both included.
pub fn histograms_csv(report: &Report) -> String {
    let rows = report.runs.iter().flat_map(|run| {
        let measurement = &run.measurement;
        let scopes = [("stream", &measurement.streams), ("target", &measurement.targets)];
        scopes.into_iter().flat_map(move |(scope, results)| {
            results.iter().flat_map(move |result| rows(&measurement.workload, scope, result))
        })
    });
    HEADER.to_owned() + &csv(rows)
}

/// All histograms of one stream or target.
fn rows(run: &str, scope: &str, result: &NamedResult) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (operation, of_operation) in result.operations.iter() {
        for (kind, times) in kinds(of_operation) {
            let place = [run, scope, &result.name, operation.name(), kind].map(str::to_owned);
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
