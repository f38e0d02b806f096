//! Every query of a load of decision support as a table: a row a query.

use super::{number, table};
use crate::input::GivenReport;
use assay_model::dss::{DssKind, DssOutcome, DssQuery, DssRun};

/// The header line.
const HEADER: &str =
    "run,kind,streams,parallel,repeat,stream,query,started_s,elapsed_s,rows,outcome,scale";

/// Every query and refresh function of every run; nothing without such a load.
pub fn queries_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let rows = report.dss.iter().flat_map(|dss| {
        let runs = (1_u32..).zip(&dss.runs);
        runs.flat_map(move |(place, run)| {
            run.queries.iter().map(move |query| cells(place, run, query, dss.scale))
        })
    });
    table(HEADER, run_id, rows)
}

/// A query in the order of the columns.
fn cells(place: u32, run: &DssRun, query: &DssQuery, scale: f64) -> Vec<String> {
    let kind = match run.kind {
        DssKind::Power => "power",
        DssKind::Throughput => "throughput",
    };
    let outcome = match &query.outcome {
        DssOutcome::Complete => "complete",
        DssOutcome::OverLimit => "over_limit",
        DssOutcome::Failed { .. } => "failed",
    };
    vec![
        place.to_string(),
        kind.to_owned(),
        run.streams.to_string(),
        run.parallel.to_string(),
        run.repeat.to_string(),
        query.stream.map_or_else(String::new, |stream| stream.to_string()),
        query.name.clone(),
        number(assay_model::number::seconds(query.started_ns)),
        number(query.elapsed_s()),
        query.rows.to_string(),
        outcome.to_owned(),
        number(scale),
    ]
}
