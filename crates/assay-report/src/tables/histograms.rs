//! The histograms of runs as a table: a row a bucket that holds anything.

use super::push_row;
use crate::input::Report;
use assay_model::Histogram;
use assay_model::measurement::{NamedResult, OperationResult};

/// The header line.
const HEADER: &str = "run,scope,name,operation,time,lowest_ns,highest_ns,ios\n";

/// All histograms of all streams and targets of all runs; the whole of a run is the sum of its streams. A bucket holds
/// the times from its lowest to its highest, both included.
pub fn histograms_csv(report: &Report) -> String {
    let mut table = HEADER.to_owned();
    for run in &report.runs {
        let measurement = &run.measurement;
        for (scope, results) in [("stream", &measurement.streams), ("target", &measurement.targets)]
        {
            for result in results {
                push_result(&mut table, &measurement.workload, scope, result);
            }
        }
    }
    table
}

/// All histograms of one stream or target.
fn push_result(table: &mut String, run: &str, scope: &str, result: &NamedResult) {
    for (operation, of_operation) in result.operations.iter() {
        for (kind, times) in kinds(of_operation) {
            let place = [run, scope, &result.name, operation.name(), kind];
            push_buckets(table, &place.map(str::to_owned), times);
        }
    }
}

/// Service times, and response times where there are any.
fn kinds(result: &OperationResult) -> impl Iterator<Item = (&'static str, &Histogram)> {
    let response = result.response.as_ref().map(|times| ("response", times));
    [("service", &result.service)].into_iter().chain(response)
}

/// The rows of one histogram.
fn push_buckets(table: &mut String, place: &[String; 5], times: &Histogram) {
    for (lowest, width, ios) in times.buckets() {
        let numbers = [lowest, lowest + (width - 1), ios].map(|number| number.to_string());
        push_row(table, &[&place[..], &numbers[..]].concat());
    }
}
