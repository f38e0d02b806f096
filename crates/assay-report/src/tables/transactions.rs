//! The transactions of a ladder as a table: a row for each step, stream and operation.

use super::{number, table};
use crate::input::GivenReport;
use assay_model::load::{Load, Rung};
use assay_model::number::rate;

/// The header line.
const HEADER: &str = "load,sessions,repeat,transaction,operation,count,per_s,errors,\
                      response_time_mean_ns,response_time_q0_5_ns,response_time_q0_9_ns,\
                      response_time_q0_95_ns,response_time_q0_99_ns,response_time_q0_999_ns,\
                      response_time_max_ns";

/// Quantiles of the columns.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// All transactions of a load; nothing where there is none.
pub fn transactions_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let steps = report.load.iter().flat_map(|load| load.rungs.iter().map(move |rung| (load, rung)));
    table(HEADER, run_id, steps.flat_map(|(load, rung)| rows(load, rung)))
}

/// All transactions of a step.
fn rows(load: &Load, rung: &Rung) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for stream in &rung.measurement.streams {
        for (operation, result) in stream.operations.iter() {
            // A session that keeps a schedule counts from the intended start.
            let times = result.response.as_ref().unwrap_or(&result.service);
            let mut cells = vec![load.kind.name().to_owned()];
            cells.extend([rung.sessions, rung.repeat].map(|count| count.to_string()));
            cells.extend([stream.name.clone(), operation.name().to_owned()]);
            cells.push(result.ios.to_string());
            cells.push(number(rate(result.ios, rung.elapsed_s())));
            cells.push(result.errors.to_string());
            cells.push(number(times.mean_ns()));
            cells.extend(QUANTILES.map(|quantile| times.quantile_ns(quantile).to_string()));
            cells.push(times.max_ns().to_string());
            rows.push(cells);
        }
    }
    rows
}
