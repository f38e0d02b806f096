//! The numbers under the charts of a run, for the page's own script: pointing at a chart reads
//! them.

use crate::compact_histogram::CompactHistogram;
use crate::format::Formatter;
use crate::timeline::{RunTimeline, TimelineColumn};
use assay_model::measurement::Operation;
use assay_model::number::{count, rate, real, seconds};
use assay_model::verdict::Unit;
use serde_json::{Value, json};

/// The id of a run's numbers.
pub(super) fn id(number: u32) -> String {
    format!("timeline-{number}")
}

/// The columns as JSON: ends in seconds, and for each operation rates and times. Numbers carry four
/// digits, which is more than a line on a screen can format.
pub(super) fn data(timeline: &RunTimeline, format: &Formatter) -> Value {
    let columns = timeline.columns();
    let start: Vec<Value> =
        columns.iter().map(|column| four_digits(seconds(column.start_ns))).collect();
    let operations = timeline.operations();
    let operations: Vec<Value> =
        operations.into_iter().map(|one| operation(columns, one, format)).collect();
    json!({
        "end": seconds(timeline.end_ns()),
        "start": start,
        "relative": format.is_relative(),
        "operations": operations,
    })
}

/// The numbers of one operation, a value a column.
fn operation(columns: &[TimelineColumn], operation: Operation, format: &Formatter) -> Value {
    let iops = columns.iter().map(|column| {
        let rate = rate(column.operation(operation).ios, column.elapsed_s());
        four_digits(rate / format.divisor(Unit::IosPerS))
    });
    let time = |pick: fn(&CompactHistogram) -> Option<u64>| -> Vec<Option<Value>> {
        let shown = |time: u64| four_digits(real(time) / format.divisor(Unit::Ns));
        let times = columns.iter().map(|column| &column.operation(operation).times);
        times.map(|times| pick(times).map(shown)).collect()
    };
    json!({
        "name": format!("{}s", operation.name()),
        "iops": iops.collect::<Vec<Value>>(),
        "p50": time(|times| times.quantile_ns(0.5)),
        "p99": time(|times| times.quantile_ns(0.99)),
        "max": time(|times| (times.ios() > 0).then(|| times.max_ns())),
    })
}

/// Rounded to four significant digits, and without a fraction where there is none.
fn four_digits(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return json!(0);
    }
    let unit = 10f64.powf(value.abs().log10().floor() - 3.0);
    let rounded = (value / unit).round() * unit;
    if rounded >= 1000.0 {
        return json!(count(rounded));
    }
    json!((rounded * 1e6).round() / 1e6)
}
