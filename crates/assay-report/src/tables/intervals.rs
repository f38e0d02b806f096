//! The intervals of runs as a table: a row for each interval and operation.

use super::number;
use crate::render::csv::csv;
use assay_model::measurement::Operation;
use assay_model::number::{rate, seconds};
use assay_model::run::{IntervalSummary, OperationSummary, TimeSummary};

/// The header line of the table of intervals; it stands once, before the rows of all runs.
pub const INTERVALS_HEADER: &str = "run_id,cell,workload,interval,start_s,end_s,operation,ios,\
    iops,throughput_bytes_per_s,errors,\
     service_time_mean_ns,service_time_min_ns,service_time_q0_5_ns,service_time_q0_9_ns,\
     service_time_q0_99_ns,service_time_q0_999_ns,service_time_max_ns,response_time_mean_ns,\
     response_time_min_ns,response_time_q0_5_ns,response_time_q0_9_ns,response_time_q0_99_ns,\
     response_time_q0_999_ns,response_time_max_ns,queue_depth_mean\n";

/// The rows of some intervals behind their run, cell and workload, without the header, so that a
/// long run can be written piece by piece. Times are empty where nothing completed, response times
/// where arrivals are closed.
pub fn intervals_csv(origin: [&str; 3], intervals: &[IntervalSummary]) -> String {
    csv(intervals.iter().flat_map(|interval| {
        let results = [&interval.read, &interval.write, &interval.sync];
        let operations = Operation::ALL.into_iter().zip(results);
        operations.filter_map(move |(operation, result)| {
            Some(cells(origin, interval, operation, result.as_ref()?))
        })
    }))
}

/// An operation of an interval in the order of the columns.
fn cells(
    origin: [&str; 3],
    interval: &IntervalSummary,
    operation: Operation,
    result: &OperationSummary,
) -> Vec<String> {
    let (start_s, end_s) = (seconds(interval.start_ns), seconds(interval.end_ns));
    let elapsed_s = seconds(interval.end_ns.saturating_sub(interval.start_ns));
    let mut cells: Vec<String> = origin.map(str::to_owned).to_vec();
    cells.push(interval.index.to_string());
    cells.extend([number(start_s), number(end_s), operation.name().to_owned()]);
    cells.extend([result.ios.to_string(), number(rate(result.ios, elapsed_s))]);
    cells.extend([number(rate(result.bytes, elapsed_s)), result.errors.to_string()]);
    cells.extend(times((result.ios > 0).then_some(&result.service)));
    cells.extend(times(result.response.as_ref().filter(|_| result.ios > 0)));
    cells.push(number(interval.queue_depth_mean));
    cells
}

/// Times in the order of the columns, or as many empty cells.
fn times(times: Option<&TimeSummary>) -> [String; 7] {
    let Some(times) = times else {
        return Default::default();
    };
    let whole = |time: u64| time.to_string();
    [
        number(times.mean_ns),
        whole(times.min_ns),
        whole(times.q50_ns),
        whole(times.q90_ns),
        whole(times.q99_ns),
        whole(times.q999_ns),
        whole(times.max_ns),
    ]
}
