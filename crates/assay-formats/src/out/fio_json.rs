//! fio's JSON of version 3.3x: each stream is a job, each run a group.

use super::{OutputRun, fio_options};
use assay_model::histogram::Histogram;
use assay_model::measurement::{Finish, Measurement, OperationResult, PerOperation};
use assay_model::number::{count, index_of, rate, real, real_len, seconds, share};
use assay_model::run::{IntervalSummary, OperationSummary, Utc};
use assay_model::workload::Stream;
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
        let is_failed = matches!(run.measurement.finish, Finish::Failed { .. });
        job.insert("error".to_owned(), json!(i32::from(is_failed)));
        job.insert("job_start".to_owned(), json!(run.measurement.started_unix_ns / 1_000_000));
        job.insert("eta".to_owned(), json!(0));
        job.insert("elapsed".to_owned(), json!(count(elapsed_s.ceil())));
        job.insert("job options".to_owned(), job_options(asked, run));
        job.insert("read".to_owned(), direction(operations.read.as_ref(), elapsed_s, &of_read));
        job.insert("write".to_owned(), direction(operations.write.as_ref(), elapsed_s, &of_write));
        job.insert("trim".to_owned(), direction(None, elapsed_s, &[]));
        job.insert("sync".to_owned(), sync(operations.sync.as_ref()));
        job.extend(rest(run.measurement, asked, operations));
        Value::Object(job)
    });
    streams.collect()
}

/// What the job was asked for, in options of fio; empty where these would say something else.
fn job_options(asked: Option<&Stream>, run: &OutputRun<'_>) -> Value {
    let found = asked.zip(run.workload).and_then(|(stream, workload)| {
        fio_options::options(stream, workload, &run.measurement.conduct)
    });
    let named = asked.zip(found).map(|(stream, options)| {
        let name = [("name", stream.name.clone())];
        let all = name.into_iter().chain(options);
        all.map(|(name, value)| (name.to_owned(), json!(value))).collect::<Map<_, _>>()
    });
    Value::Object(named.unwrap_or_default())
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
    let iops = SeriesSpread::of(&per_second(|summary| summary.ios));
    let kib = SeriesSpread::of(&per_second(|summary| summary.bytes / 1024));
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
        "failed_ios": result.errors,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": times(&result.service, true),
        "lat_ns": times(result.response(), result.response.is_some()),
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
        // The bins of `json+`, at the middle of their times.
        let bin =
            |(lowest, width, ios): (u64, u64, u64)| ((lowest + width / 2).to_string(), json!(ios));
        times["bins"] = Value::Object(histogram.buckets().map(bin).collect());
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
struct SeriesSpread {
    least: f64,
    most: f64,
    mean: f64,
    deviation: f64,
    n: usize,
}

impl SeriesSpread {
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
    operations: &PerOperation,
) -> Map<String, Value> {
    let elapsed_s = seconds(measurement.elapsed_ns).max(f64::MIN_POSITIVE);
    let conduct = &measurement.conduct;
    // Processor time is that of all streams, and fio's percentages are of the time of all threads.
    let part = share(operations.ios(), measurement.operations().ios());
    let threads_s = elapsed_s * asked.map_or(1.0, |stream| real(u64::from(stream.workers.max(1))));
    let depth = asked.map_or(1, |stream| stream.arrival.queue_depth() / stream.workers.max(1));
    let level = usize::try_from(depth.max(1).ilog2().min(6)).unwrap_or(6);
    let levels = DEPTHS
        .iter()
        .enumerate()
        .map(|(index, name)| ((*name).to_owned(), json!(if index == level { 100.0 } else { 0.0 })));
    let mut whole = Histogram::default();
    let results = [operations.read.as_ref(), operations.write.as_ref()];
    results.into_iter().flatten().for_each(|result| whole.merge(&result.service));
    let mut rest = Map::new();
    let mut put = |name: &str, value: Value| drop(rest.insert(name.to_owned(), value));
    put("job_runtime", json!(count((threads_s * 1000.0).round())));
    put("usr_cpu", json!(conduct.cpu_user_s * part / threads_s * 100.0));
    put("sys_cpu", json!(conduct.cpu_system_s * part / threads_s * 100.0));
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
    milliseconds[">=2000"] = json!(share(above, whole.ios()) * 100.0);
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
        let percent = share(inside, histogram.ios().max(1)) * 100.0;
        table.insert(end.to_string(), json!(percent));
    }
    Value::Object(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{ImportedContent, ImportedRun, import};
    use assay_model::histogram::Precision;
    use assay_model::measurement::{Conduct, NamedResult};
    use assay_model::units::{Bytes, Nanos, Share};
    use assay_model::workload::Workload;

    /// This many I/Os with times of their own, queueing before a part of them.
    fn operation(ios: u64, step_ns: u64) -> OperationResult {
        let mut result = OperationResult::empty(Precision::Fine, true);
        for index in 0..ios {
            result.ios += 1;
            result.bytes += 8192;
            result.service.record(100_000 + step_ns * index * index);
            let waited = result.response.as_mut().expect("an open stream");
            waited.record(150_000 + 2 * step_ns * index * index);
        }
        result.errors = 3;
        result
    }

    fn measured() -> (Workload, Measurement) {
        let streams = [("reads", 1.0), ("mixed", 0.7)]
            .map(|(name, share)| Stream::closed(name, Share(share), Bytes(8192), 32));
        let mut workload = Workload::of("w", Nanos(2_000_000_000), streams[0].clone());
        workload.streams = streams.to_vec();
        let named = |name: &str, read, write| NamedResult {
            name: name.to_owned(),
            operations: PerOperation { read, write, sync: None },
        };
        let streams = vec![
            named("reads", Some(operation(1000, 1)), None),
            named("mixed", Some(operation(700, 3)), Some(operation(300, 7))),
        ];
        let measurement = Measurement {
            format: 1,
            workload: "w".to_owned(),
            started_unix_ns: 1_700_000_000_123_000_000,
            elapsed_ns: 2_000_000_000,
            finish: Finish::Complete,
            streams,
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: Conduct { cpu_user_s: 0.5, cpu_system_s: 1.5, ..Conduct::default() },
        };
        (workload, measurement)
    }

    fn read_back(runs: &[OutputRun<'_>]) -> Vec<ImportedRun> {
        let found = import(&fio_json(runs, "0"), "x.json").unwrap();
        let ImportedContent::Runs(runs) = found.content else { panic!() };
        runs
    }

    fn assert_same_times(found: &Histogram, written: &Histogram) {
        assert_eq!(
            (found.ios(), found.min_ns(), found.max_ns()),
            (written.ios(), written.min_ns(), written.max_ns())
        );
        for quantile in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let (found, written) = (found.quantile_ns(quantile), written.quantile_ns(quantile));
            assert!(
                (real(found) / real(written) - 1.0).abs() < 0.004,
                "{quantile}: {found} {written}"
            );
        }
        assert!((found.mean_ns() / written.mean_ns() - 1.0).abs() < 0.002);
    }

    #[test]
    fn every_quantity_that_is_written_is_read_back_the_same() {
        let (workload, measurement) = measured();
        let run =
            OutputRun { measurement: &measurement, workload: Some(&workload), intervals: &[] };
        let back = read_back(&[run]);
        let found = &back[0].measurement;
        assert_eq!(
            (found.started_unix_ns, found.elapsed_ns, &found.finish),
            (measurement.started_unix_ns, measurement.elapsed_ns, &measurement.finish)
        );
        assert!((found.conduct.cpu_user_s - 0.5).abs() < 1e-6);
        assert!((found.conduct.cpu_system_s - 1.5).abs() < 1e-6);
        assert_eq!(back[0].workload.streams, workload.streams);
        assert_eq!(found.streams.len(), 2);
        for (found, written) in found.streams.iter().zip(&measurement.streams) {
            assert_eq!(found.name, written.name);
            for (found, written) in found.operations.iter().zip(written.operations.iter()) {
                let ((operation, found), (same, written)) = (found, written);
                assert_eq!(
                    (operation, found.ios, found.bytes, found.errors),
                    (same, written.ios, written.bytes, written.errors)
                );
                assert_same_times(&found.service, &written.service);
                assert_same_times(found.response(), written.response());
            }
        }
    }

    #[test]
    fn a_load_without_words_in_fio_is_left_out_and_the_numbers_stay() {
        let (mut workload, measurement) = measured();
        workload.streams[0].read_share = Share(0.333);
        let run =
            OutputRun { measurement: &measurement, workload: Some(&workload), intervals: &[] };
        let document: Value = serde_json::from_str(&fio_json(&[run], "0")).unwrap();
        assert_eq!(document["jobs"][0]["job options"], json!({}));
        assert_eq!(document["jobs"][1]["job options"]["rwmixread"], "70");
        assert_eq!(document["jobs"][0]["read"]["total_ios"], 1000);
    }
}
