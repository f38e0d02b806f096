//! What happened under each workload, as text.

use super::layout::Text;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::{Report, RunReport};
use crate::page::kind;
use crate::phrases::{self, nines};
use assay_model::measurement::{ErrorCount, Operation, OperationResult, PerOperation};
use assay_model::number::{rate, real};
use assay_model::verdict::Unit;

/// Quantiles of the table.
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];

/// A table a run, what failed, and how the tool behaved.
pub(super) fn runs(text: &mut Text, report: &Report, format: &Formatter) {
    for run in &report.runs {
        let measurement = &run.measurement;
        let length = show_length(measurement.elapsed_s());
        let whole = measurement.operations();
        let kind = kind(&whole);
        text.heading(&format!("Workload “{}”, {length}, {kind}s", measurement.workload));
        text.table(&numbers(run, &whole, format));
        let intervals = intervals(run, &whole, format);
        if intervals.len() > 1 {
            text.table(&intervals);
        }
        for error in &measurement.errors {
            text.item(&failed(error, format));
        }
        text.item(&conduct(run, format));
    }
}

/// One kind of failure.
fn failed(error: &ErrorCount, format: &Formatter) -> String {
    let (ios, name) = (format.count(error.ios), error.operation.name());
    let (offset, target) = (error.first_offset_bytes, &error.target);
    format!("Failed: {ios} {name}s with {}, first at byte {offset} of {target}.", error.meaning)
}

/// The rows of the table, its head first.
fn numbers(run: &RunReport, whole: &PerOperation, format: &Formatter) -> Vec<Vec<String>> {
    let elapsed_s = run.measurement.elapsed_s();
    let quantiles = QUANTILES.map(|quantile| format!("p{}", nines(quantile)));
    let head = ["", "IOPS", "throughput", "mean"].map(str::to_owned).into_iter();
    let mut rows = vec![head.chain(quantiles).chain(["longest".to_owned()]).collect()];
    let mut add = |operations: &PerOperation, scope: &str, subject: Option<&str>| {
        rows.extend(operations.iter().map(|(operation, result)| {
            let told = |what: &str, total: f64| {
                run.told(&format!("{scope}{}.{what}", operation.name()), subject, total)
            };
            let name = format!("{} {}s", subject.unwrap_or_default(), operation.name());
            row(name.trim_start().to_owned(), operation, result, elapsed_s, told, format)
        }));
    };
    add(whole, "", None);
    let measurement = &run.measurement;
    for (scope, results) in [("stream.", &measurement.streams), ("target.", &measurement.targets)] {
        for result in results.iter().filter(|_| results.len() > 1) {
            add(&result.operations, scope, Some(&result.name));
        }
    }
    rows
}

/// Quantities whose intervals are told.
const SURE: [(&str, Unit); 4] = [
    ("iops", Unit::IosPerS),
    ("service_time.mean", Unit::Ns),
    ("service_time.q0.99", Unit::Ns),
    ("service_time.q0.999", Unit::Ns),
];

/// The intervals of the whole, below the numbers that they belong to; the head alone where nothing is known.
fn intervals(run: &RunReport, whole: &PerOperation, format: &Formatter) -> Vec<Vec<String>> {
    let head = ["95 % intervals", "IOPS", "mean", "p99", "p99.9"].map(str::to_owned).to_vec();
    let rows = whole.iter().filter_map(|(operation, result)| {
        let open = result.response.is_some();
        let told = SURE.map(|(what, unit)| {
            let what = if open { what.replace("service", "response") } else { what.to_owned() };
            let estimate = run.estimate(&format!("{}.{what}", operation.name()), None);
            estimate.map_or_else(String::new, |estimate| format.interval(unit, estimate))
        });
        let is_known = told.iter().any(|interval| !interval.is_empty());
        is_known.then(|| [format!("{}s", operation.name())].into_iter().chain(told).collect())
    });
    std::iter::once(head).chain(rows).collect()
}

/// One operation; `told` turns a total into the number of the last level, where that is told alone.
fn row(
    name: String,
    operation: Operation,
    result: &OperationResult,
    elapsed_s: f64,
    told: impl Fn(&str, f64) -> f64,
    format: &Formatter,
) -> Vec<String> {
    let times = result.response();
    let kind = if result.response.is_some() { "response_time" } else { "service_time" };
    let time = |statistic: &str, total: f64| {
        format.value(Unit::Ns, told(&format!("{kind}.{statistic}"), total))
    };
    let throughput = match operation {
        Operation::Sync => "–".to_owned(),
        Operation::Read | Operation::Write => {
            format.value(Unit::BytesPerS, told("throughput", rate(result.bytes, elapsed_s)))
        }
    };
    let iops = format.value(Unit::IosPerS, told("iops", rate(result.ios, elapsed_s)));
    let mut row = vec![name, iops, throughput, time("mean", times.mean_ns())];
    row.extend(QUANTILES.map(|quantile| {
        // Fewer than ten I/Os beyond a quantile say nothing about it.
        if (1.0 - quantile) * real(times.ios()) < 10.0 {
            return "too few".to_owned();
        }
        time(&format!("q{quantile}"), real(times.quantile_ns(quantile)))
    }));
    row.push(format.value(Unit::Ns, real(times.max_ns())));
    row
}

/// How the tool behaved, in a sentence.
fn conduct(run: &RunReport, format: &Formatter) -> String {
    let conduct = &run.measurement.conduct;
    let busy = format.value(Unit::Share, conduct.worker_busy_share_max);
    let direct = match conduct.direct_io {
        Some(true) => "direct I/O",
        Some(false) => "through the page cache",
        None => "no page cache",
    };
    let reason = conduct.backend_reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "Measured by {}{reason}, {direct}, submission {}; busiest worker {busy}, Little's law {:.3}.",
        conduct.backend,
        phrases::submission(conduct.submission),
        conduct.littles_law_ratio
    )
}
