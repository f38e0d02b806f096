//! fio's JSON of version 3.3x: each stream is a job, each run a group.

use super::OutputRun;
use assay_model::histogram::Histogram;
use assay_model::measurement::{BackendKind, Conduct, Measurement, OperationResult};
use assay_model::number::{count, index_of, rate, real, real_len, seconds};
use assay_model::run::{IntervalSummary, OperationSummary, Utc};
use assay_model::workload::{Access, Arrival, Stream};
use serde_json::{Map, Value, json};

/// The percentiles that fio prints by default.
const PER_CENT: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// Upper ends of fio's three tables of latencies.
const LATENCY_NS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
const LATENCY_MS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// The runs as one JSON document.
pub fn fio_json(runs: &[OutputRun<'_>], tool_version: &str) -> String {
    let ended_ns =
        runs.iter().map(|run| run.measurement.started_unix_ns + run.measurement.elapsed_ns).max();
    let ended_ms = ended_ns.unwrap_or(0) / 1_000_000;
    let jobs: Vec<Value> = (0..).zip(runs).flat_map(|(group, run)| jobs(group, run)).collect();
    let document = json!({
        "fio version": "fio-3.33",
        "timestamp": ended_ms / 1000,
        "timestamp_ms": ended_ms,
        "time": clock(ended_ms),
        "written by": format!("assay {tool_version}"),
        "global options": {},
        "jobs": jobs,
        "disk_util": [],
    });
    let text = serde_json::to_string_pretty(&document);
    text.map_or_else(|_| String::new(), |text| text + "\n")
}

/// Date and time as C's `ctime` prints them, UTC.
fn clock(unix_ms: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = Utc::of(unix_ms.saturating_mul(1_000_000));
    // 1 January 1970 was a Thursday.
    let day = DAYS[index_of(unix_ms / 86_400_000 % 7)];
    let month = MONTHS[index_of(at.month.clamp(1, 12) - 1)];
    format!(
        "{day} {month} {:>2} {:02}:{:02}:{:02} {}",
        at.day, at.hour, at.minute, at.second, at.year
    )
}

fn jobs(group: usize, run: &OutputRun<'_>) -> Vec<Value> {
    let only = run.measurement.streams.len() == 1;
    let streams = run.measurement.streams.iter().map(|result| {
        let asked = run
            .workload
            .and_then(|workload| workload.streams.iter().find(|one| one.name == result.name));
        let intervals = if only { run.intervals } else { &[] };
        let operations = &result.operations;
        let elapsed_s = run.measurement.elapsed_s();
        let of_read: Vec<_> = intervals.iter().map(|one| (one, one.read.as_ref())).collect();
        let of_write: Vec<_> = intervals.iter().map(|one| (one, one.write.as_ref())).collect();
        let mut job = Map::new();
        job.insert("jobname".to_owned(), json!(result.name));
        job.insert("groupid".to_owned(), json!(group));
        job.insert("error".to_owned(), json!(i32::from(operations.errors() > 0)));
        job.insert("eta".to_owned(), json!(0));
        job.insert("elapsed".to_owned(), json!(count(elapsed_s.ceil())));
        job.insert("job options".to_owned(), options(asked, run));
        job.insert("read".to_owned(), direction(operations.read.as_ref(), elapsed_s, &of_read));
        job.insert("write".to_owned(), direction(operations.write.as_ref(), elapsed_s, &of_write));
        job.insert("trim".to_owned(), direction(None, elapsed_s, &[]));
        job.insert("sync".to_owned(), sync(operations.sync.as_ref()));
        job.extend(rest(
            run.measurement,
            asked,
            [operations.read.as_ref(), operations.write.as_ref()],
        ));
        Value::Object(job)
    });
    streams.collect()
}

/// The options of a job that would do the same, all as text as fio writes them.
fn options(asked: Option<&Stream>, run: &OutputRun<'_>) -> Value {
    let (Some(stream), Some(workload)) = (asked, run.workload) else { return json!({}) };
    let random = !matches!(stream.access, Access::Sequential { .. } | Access::Stride { .. });
    let direction = match (stream.read_share.0, random) {
        (share, true) if share >= 1.0 => "randread",
        (share, true) if share <= 0.0 => "randwrite",
        (_, true) => "randrw",
        (share, false) if share >= 1.0 => "read",
        (share, false) if share <= 0.0 => "write",
        (_, false) => "rw",
    };
    let workers = stream.workers.max(1);
    let mut options = json!({
        "name": stream.name,
        "rw": direction,
        "bs": stream.transfer.max_bytes().to_string(),
        "iodepth": (stream.arrival.outstanding() / workers).max(1).to_string(),
        "numjobs": workers.to_string(),
        "direct": u32::from(workload.direct).to_string(),
        "ioengine": engine(&run.measurement.conduct),
        "runtime": count(workload.duration.seconds()).to_string(),
        "time_based": "1",
    });
    if direction.ends_with("rw") {
        options["rwmixread"] = json!(count((stream.read_share.0 * 100.0).round()).to_string());
    }
    if let Arrival::Open { rate, .. } = stream.arrival {
        options["rate_iops"] = json!(count(rate.0 / real(u64::from(workers))).to_string());
    }
    options
}

/// The engine of fio that does the same.
const fn engine(conduct: &Conduct) -> &'static str {
    match conduct.backend {
        BackendKind::Posix => "psync",
        _ if conduct.passthrough.is_empty() => "io_uring",
        _ => "io_uring_cmd",
    }
}

/// One direction of a job.
fn direction(
    result: Option<&OperationResult>,
    elapsed_s: f64,
    intervals: &[(&IntervalSummary, Option<&OperationSummary>)],
) -> Value {
    let empty = OperationResult::default();
    let result = result.unwrap_or(&empty);
    let happened = result.ios > 0;
    let per_second = |amount: fn(&OperationSummary) -> u64| -> Vec<f64> {
        let rates =
            intervals.iter().map(|(one, summary)| rate(summary.map_or(0, amount), one.elapsed_s()));
        if happened { rates.collect() } else { Vec::new() }
    };
    let iops = Spread::of(&per_second(|summary| summary.ios));
    let kib = Spread::of(&per_second(|summary| summary.bytes / 1024));
    let bytes_per_s = rate(result.bytes, elapsed_s);
    json!({
        "io_bytes": result.bytes,
        "io_kbytes": result.bytes / 1024,
        "bw_bytes": count(bytes_per_s),
        "bw": count(bytes_per_s / 1024.0),
        "iops": rate(result.ios, elapsed_s),
        "runtime": if happened { count(elapsed_s * 1000.0) } else { 0 },
        "total_ios": result.ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": times(&result.service, true),
        "lat_ns": times(result.response(), false),
        "bw_min": count(kib.least), "bw_max": count(kib.most), "bw_agg": if happened { 100.0 } else { 0.0 },
        "bw_mean": kib.mean, "bw_dev": kib.deviation, "bw_samples": kib.n,
        "iops_min": count(iops.least), "iops_max": count(iops.most), "iops_mean": iops.mean,
        "iops_stddev": iops.deviation, "iops_samples": iops.n,
    })
}

fn sync(result: Option<&OperationResult>) -> Value {
    let empty = OperationResult::default();
    let result = result.unwrap_or(&empty);
    json!({"total_ios": result.ios, "lat_ns": times(&result.service, result.ios > 0)})
}

fn times(histogram: &Histogram, with_quantiles: bool) -> Value {
    let mut times = json!({
        "min": histogram.min_ns(),
        "max": histogram.max_ns(),
        "mean": histogram.mean_ns(),
        "stddev": deviation(histogram),
        "N": histogram.ios(),
    });
    if with_quantiles && !histogram.is_empty() {
        let quantile = |percent: &f64| {
            (format!("{percent:.6}"), json!(histogram.quantile_ns(percent / 100.0)))
        };
        times["percentile"] = Value::Object(PER_CENT.iter().map(quantile).collect());
        // The bins of `json+`; fio's are as wide as those of a coarse histogram.
        let bins = histogram.coarsened();
        let bin =
            |(lowest, width, ios): (u64, u64, u64)| ((lowest + width / 2).to_string(), json!(ios));
        times["bins"] = Value::Object(bins.buckets().map(bin).collect());
    }
    times
}

fn deviation(histogram: &Histogram) -> f64 {
    let mean_ns = histogram.mean_ns();
    let squares = histogram.buckets().map(|(lowest, width, ios)| {
        (real(lowest) + real(width) / 2.0 - mean_ns).powi(2) * real(ios)
    });
    (squares.sum::<f64>() / real(histogram.ios().max(1))).sqrt()
}

/// Ends, mean and standard deviation of a series.
#[derive(Default)]
struct Spread {
    least: f64,
    most: f64,
    mean: f64,
    deviation: f64,
    n: usize,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / real_len(values.len());
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: (squares / real_len(values.len())).sqrt(),
            n: values.len(),
        }
    }
}

/// What is said of a job as a whole.
fn rest(
    measurement: &Measurement,
    asked: Option<&Stream>,
    results: [Option<&OperationResult>; 2],
) -> Map<String, Value> {
    let elapsed_s = seconds(measurement.elapsed_ns).max(f64::MIN_POSITIVE);
    let conduct = &measurement.conduct;
    let depth = asked.map_or(1, |stream| stream.arrival.outstanding() / stream.workers.max(1));
    let level = usize::try_from(depth.max(1).ilog2().min(6)).unwrap_or(6);
    let levels = DEPTHS
        .iter()
        .enumerate()
        .map(|(index, name)| ((*name).to_owned(), json!(if index == level { 100.0 } else { 0.0 })));
    let mut whole = Histogram::default();
    results.into_iter().flatten().for_each(|result| whole.merge(&result.service));
    let mut rest = Map::new();
    let mut put = |name: &str, value: Value| drop(rest.insert(name.to_owned(), value));
    put("job_runtime", json!(count(elapsed_s * 1000.0)));
    put("usr_cpu", json!(conduct.cpu_user_s / elapsed_s * 100.0));
    put("sys_cpu", json!(conduct.cpu_system_s / elapsed_s * 100.0));
    for name in ["ctx", "majf", "minf"] {
        put(name, json!(0));
    }
    put("iodepth_level", Value::Object(levels.collect()));
    for name in ["iodepth_submit", "iodepth_complete"] {
        put(
            name,
            json!({"0": 0.0, "4": 100.0, "8": 0.0, "16": 0.0, "32": 0.0, "64": 0.0, ">=64": 0.0}),
        );
    }
    put("latency_ns", table(&whole, &LATENCY_NS, 1, 0));
    put("latency_us", table(&whole, &LATENCY_NS, 1000, 1000));
    let mut milliseconds = table(&whole, &LATENCY_MS, 1_000_000, 1_000_000);
    let above = whole.ios_above(2_000_000_000);
    milliseconds[">=2000"] = json!(assay_model::number::share(above, whole.ios()) * 100.0);
    put("latency_ms", milliseconds);
    put("latency_depth", json!(depth));
    put("latency_target", json!(0));
    put("latency_percentile", json!(100.0));
    put("latency_window", json!(0));
    rest
}

/// The per cent of the times up to each end and above the one before, above `floor_ns`.
fn table(histogram: &Histogram, ends: &[u64], unit_ns: u64, floor_ns: u64) -> Value {
    let mut above = if floor_ns == 0 { histogram.ios() } else { histogram.ios_above(floor_ns) };
    let mut table = Map::new();
    for end in ends {
        let rest = histogram.ios_above(end * unit_ns);
        let inside = above.saturating_sub(rest);
        above = above.min(rest);
        let percent = assay_model::number::share(inside, histogram.ios().max(1)) * 100.0;
        table.insert(end.to_string(), json!(percent));
    }
    Value::Object(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{ImportedContent, import};
    use assay_model::histogram::Precision;
    use assay_model::measurement::{Finish, NamedResult, PerOperation};

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let mut read = OperationResult::empty(Precision::Fine, false);
        for index in 0..1000_u64 {
            read.ios += 1;
            read.bytes += 8192;
            read.service.record(100_000 + index * index);
        }
        let operations = PerOperation { read: Some(read.clone()), ..PerOperation::default() };
        let measurement = Measurement {
            format: 1,
            workload: "w".to_owned(),
            started_unix_ns: 1_700_000_000_000_000_000,
            elapsed_ns: 2_000_000_000,
            finish: Finish::Complete,
            streams: vec![NamedResult { name: "s".to_owned(), operations }],
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: Conduct::default(),
        };
        let run = OutputRun { measurement: &measurement, workload: None, intervals: &[] };
        let text = fio_json(&[run], "0");
        let ImportedContent::Runs(runs) = import(&text, "x.json").unwrap().content else {
            panic!()
        };
        let found = runs[0].measurement.operations().read.unwrap();
        assert_eq!((found.ios, found.bytes), (read.ios, read.bytes));
        for quantile in [0.5, 0.9, 0.99] {
            let (mine, theirs) = (
                real(read.service.quantile_ns(quantile)),
                real(found.service.quantile_ns(quantile)),
            );
            assert!((mine / theirs - 1.0).abs() < 0.008, "{quantile}");
        }
        assert!((found.service.mean_ns() / read.service.mean_ns() - 1.0).abs() < 0.002);
    }
}
