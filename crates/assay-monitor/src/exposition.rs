//! The state of a measurement as `OpenMetrics` 1.0 text: what a scraper reads.

use crate::state::MonitorState;
use assay_model::histogram::Histogram;
use assay_model::measurement::{Operation, OperationResult};
use assay_model::number::{real, seconds};
use std::fmt::Write as _;

/// The media type of the text.
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper ends of the buckets of times, in steps of 1, 2 and 5 from 1 µs to 10 s: text as it is
/// written, and ns.
const BUCKETS: [(&str, u64); 22] = [
    ("1e-06", 1_000),
    ("2e-06", 2_000),
    ("5e-06", 5_000),
    ("1e-05", 10_000),
    ("2e-05", 20_000),
    ("5e-05", 50_000),
    ("0.0001", 100_000),
    ("0.0002", 200_000),
    ("0.0005", 500_000),
    ("0.001", 1_000_000),
    ("0.002", 2_000_000),
    ("0.005", 5_000_000),
    ("0.01", 10_000_000),
    ("0.02", 20_000_000),
    ("0.05", 50_000_000),
    ("0.1", 100_000_000),
    ("0.2", 200_000_000),
    ("0.5", 500_000_000),
    ("1.0", 1_000_000_000),
    ("2.0", 2_000_000_000),
    ("5.0", 5_000_000_000),
    ("10.0", 10_000_000_000),
];

/// What kind of metric a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows; its sample ends in `_total`.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// Counts by upper ends of buckets.
    Histogram,
    /// Words about the run.
    Info,
}

/// A metric that is exposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricName {
    /// Its name without the ending of its samples.
    pub name: &'static str,
    /// Its kind.
    pub kind: MetricKind,
    /// Its unit, which ends the name, where it has one.
    pub unit: Option<&'static str>,
    /// What it counts.
    pub help: &'static str,
}

const fn metric(
    name: &'static str,
    kind: MetricKind,
    unit: Option<&'static str>,
    help: &'static str,
) -> MetricName {
    MetricName { name, kind, unit, help }
}

const RUN: MetricName =
    metric("assay_run", MetricKind::Info, None, "What is measured, where, and by which version.");
const PROGRESS: MetricName = metric(
    "assay_progress_ratio",
    MetricKind::Gauge,
    Some("ratio"),
    "Completed share of the work.",
);
const TIME_LEFT: MetricName = metric(
    "assay_time_left_seconds",
    MetricKind::Gauge,
    Some("seconds"),
    "Estimated remaining time, if known.",
);
const MEASURED: MetricName = metric(
    "assay_measured_seconds",
    MetricKind::Counter,
    Some("seconds"),
    "Time that was measured.",
);
const IOS: MetricName =
    metric("assay_ios", MetricKind::Counter, None, "I/Os that completed without error.");
const BYTES: MetricName =
    metric("assay_transferred_bytes", MetricKind::Counter, Some("bytes"), "Bytes that they moved.");
const ERRORS: MetricName =
    metric("assay_io_errors", MetricKind::Counter, None, "I/Os that failed.");
const SERVICE: MetricName = metric(
    "assay_service_time_seconds",
    MetricKind::Histogram,
    Some("seconds"),
    "Time from submission to completion.",
);
const RESPONSE: MetricName = metric(
    "assay_response_time_seconds",
    MetricKind::Histogram,
    Some("seconds"),
    "Time from the intended start to completion, where arrivals are open.",
);
const OUTSTANDING: MetricName = metric(
    "assay_outstanding_ios",
    MetricKind::Gauge,
    None,
    "Time-weighted mean of the outstanding I/Os in the last interval.",
);
const CPU_BUSY: MetricName = metric(
    "assay_host_cpu_busy_ratio",
    MetricKind::Gauge,
    Some("ratio"),
    "CPU utilization of the host.",
);
const RUNNABLE: MetricName = metric(
    "assay_host_runnable_tasks",
    MetricKind::Gauge,
    None,
    "Tasks that ran or were ready to run.",
);
const NOTES: MetricName =
    metric("assay_notes", MetricKind::Counter, None, "Notes and alarms of the run.");
const COST: MetricName = metric(
    "assay_monitor_cpu_seconds",
    MetricKind::Counter,
    Some("seconds"),
    "CPU time used to show the measurement.",
);

/// Every metric that is exposed.
pub const METRICS: [MetricName; 14] = [
    RUN,
    PROGRESS,
    TIME_LEFT,
    MEASURED,
    IOS,
    BYTES,
    ERRORS,
    SERVICE,
    RESPONSE,
    OUTSTANDING,
    CPU_BUSY,
    RUNNABLE,
    NOTES,
    COST,
];

/// The whole text; `cost_s` is the CPU time that showing has cost, s.
pub fn exposition(state: &MonitorState, cost_s: f64) -> String {
    let mut text = String::new();
    head(&mut text, RUN);
    _ = writeln!(
        text,
        "assay_run_info{{program=\"{}\",subject=\"{}\"}} 1",
        escaped(&state.program),
        escaped(&state.subject)
    );
    one(&mut text, PROGRESS, Some(state.share));
    one(&mut text, TIME_LEFT, state.left_s);
    one(&mut text, MEASURED, Some(seconds(state.measured_ns)));
    each(&mut text, state, IOS, |result| result.ios);
    each(&mut text, state, BYTES, |result| result.bytes);
    each(&mut text, state, ERRORS, |result| result.errors);
    times(&mut text, state, SERVICE, |result| Some(&result.service));
    times(&mut text, state, RESPONSE, |result| result.response.as_ref());
    one(&mut text, OUTSTANDING, (state.taken > 0).then_some(state.queue_depth_mean));
    one(&mut text, CPU_BUSY, state.host.map(|host| host.cpu_busy_share));
    one(&mut text, RUNNABLE, state.host.map(|host| real(host.runnable)));
    one(&mut text, NOTES, Some(real(state.noted)));
    one(&mut text, COST, Some(cost_s));
    text.push_str("# EOF\n");
    text
}

/// What is said of a metric before its samples.
fn head(text: &mut String, metric: MetricName) {
    let kind = match metric.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
        MetricKind::Info => "info",
    };
    _ = writeln!(text, "# TYPE {} {kind}", metric.name);
    if let Some(unit) = metric.unit {
        _ = writeln!(text, "# UNIT {} {unit}", metric.name);
    }
    _ = writeln!(text, "# HELP {} {}", metric.name, metric.help);
}

/// The ending of a metric's samples.
const fn ending(metric: MetricName) -> &'static str {
    match metric.kind {
        MetricKind::Counter => "_total",
        MetricKind::Gauge | MetricKind::Histogram | MetricKind::Info => "",
    }
}

/// A metric with one sample, where there is one.
fn one(text: &mut String, metric: MetricName, value: Option<f64>) {
    let Some(value) = value else { return };
    head(text, metric);
    _ = writeln!(text, "{}{} {value}", metric.name, ending(metric));
}

/// A counter with a sample for each operation.
fn each(
    text: &mut String,
    state: &MonitorState,
    metric: MetricName,
    of: fn(&OperationResult) -> u64,
) {
    head(text, metric);
    for (operation, result) in state.totals.iter() {
        let labels = labels(operation);
        _ = writeln!(text, "{}{}{{{labels}}} {}", metric.name, ending(metric), of(result));
    }
}

/// A histogram for each operation; nothing where there is none.
fn times(
    text: &mut String,
    state: &MonitorState,
    metric: MetricName,
    of: fn(&OperationResult) -> Option<&Histogram>,
) {
    let all: Vec<(Operation, &Histogram)> = state
        .totals
        .iter()
        .filter_map(|(operation, result)| Some((operation, of(result)?)))
        .collect();
    if all.is_empty() {
        return;
    }
    head(text, metric);
    for (operation, histogram) in all {
        let (name, labels) = (metric.name, labels(operation));
        for (end, end_ns) in BUCKETS {
            let below = histogram.ios() - histogram.ios_above(end_ns);
            _ = writeln!(text, "{name}_bucket{{{labels},le=\"{end}\"}} {below}");
        }
        _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", histogram.ios());
        let sum_s = histogram.mean_ns() * real(histogram.ios()) / 1e9;
        _ = writeln!(text, "{name}_count{{{labels}}} {}", histogram.ios());
        _ = writeln!(text, "{name}_sum{{{labels}}} {sum_s}");
    }
}

fn labels(operation: Operation) -> String {
    format!("operation=\"{}\"", operation.name())
}

/// A text as the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::histogram::Precision;
    use assay_model::measurement::{Interval, PerOperation};
    use std::path::Path;

    fn state() -> MonitorState {
        let mut state = MonitorState { program: "assay 1".to_owned(), ..MonitorState::default() };
        state.begin(Path::new("/runs/a"), "run of \"a\\b\"");
        let mut read = OperationResult::empty(Precision::Fine, true);
        (read.ios, read.bytes, read.errors) = (3, 12_288, 1);
        for time_ns in [900, 150_000, 30_000_000_000] {
            read.service.record(time_ns);
            read.response.as_mut().unwrap().record(time_ns + 500);
        }
        let operations = PerOperation { read: Some(read), ..PerOperation::default() };
        state.take(&Interval { end_ns: 2_000_000_000, operations, ..Interval::default() });
        state
    }

    #[test]
    fn names_follow_the_conventions() {
        for metric in METRICS {
            assert!(metric.name.starts_with("assay_") && !metric.name.ends_with("_total"));
            assert!(metric.unit.is_none_or(|unit| metric.name.ends_with(&format!("_{unit}"))));
            assert!(metric.help.ends_with('.'));
        }
    }

    #[test]
    fn counters_and_buckets_are_those_of_the_intervals() {
        let text = exposition(&state(), 0.25);
        for line in [
            "assay_run_info{program=\"assay 1\",subject=\"run of \\\"a\\\\b\\\"\"} 1",
            "assay_ios_total{operation=\"read\"} 3",
            "assay_transferred_bytes_total{operation=\"read\"} 12288",
            "assay_io_errors_total{operation=\"read\"} 1",
            "assay_measured_seconds_total 2",
            "assay_service_time_seconds_bucket{operation=\"read\",le=\"1e-06\"} 1",
            "assay_service_time_seconds_bucket{operation=\"read\",le=\"0.0001\"} 1",
            "assay_service_time_seconds_bucket{operation=\"read\",le=\"0.0002\"} 2",
            "assay_service_time_seconds_bucket{operation=\"read\",le=\"10.0\"} 2",
            "assay_service_time_seconds_bucket{operation=\"read\",le=\"+Inf\"} 3",
            "assay_service_time_seconds_sum{operation=\"read\"} 30.0001509",
            "assay_response_time_seconds_count{operation=\"read\"} 3",
            "assay_monitor_cpu_seconds_total 0.25",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.ends_with("\n# EOF\n") && !text.contains("host_cpu"));
    }

    #[test]
    fn a_metric_stands_together_and_is_named_once() {
        let text = exposition(&state(), 0.0);
        let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let mut known = types.clone();
        known.dedup();
        assert_eq!(types, known);
        assert!(types.len() >= 10);
    }

    #[test]
    fn the_dashboard_asks_for_metrics_that_exist() {
        let dashboard = include_str!("../../../docs/grafana/assay.json");
        let text = exposition(&state(), 0.0);
        let known: Vec<&str> =
            text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
        let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        let mut asked = 0;
        for line in dashboard
            .lines()
            .filter(|line| line.contains("\"expr\"") || line.contains("label_values"))
        {
            let mut rest = line;
            while let Some(place) = rest.find("assay_") {
                let name: String =
                    rest[place..].chars().take_while(|letter| is_part(*letter)).collect();
                let of_host = name.starts_with("assay_host_") || name == "assay_time_left_seconds";
                let exists = known.contains(&name.as_str())
                    || METRICS.iter().any(|metric| of_host && metric.name == name);
                assert!(exists, "{name}");
                rest = &rest[place + name.len()..];
                asked += 1;
            }
        }
        assert!(asked >= 14, "{asked}");
    }
}
