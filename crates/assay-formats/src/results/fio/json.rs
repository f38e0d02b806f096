//! fio's JSON, with or without bins: each group of jobs is a run, each job a stream.

use super::super::imported::{ImportedContent, ImportedResult, ImportedRun, Lack, broken};
use super::quantiles::QuantileSummary;
use crate::surroundings::Surroundings;
use assay_model::Result;
use assay_model::histogram::{Histogram, Precision};
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, OperationResult,
    PerOperation,
};
use assay_model::number::real;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Stream, Workload};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Jobs that are read at most.
const JOBS_MAX: usize = 16_384;

#[derive(Deserialize)]
struct FioOutput {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp_ms: u64,
    #[serde(default, rename = "global options")]
    options: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    jobs: Vec<FioJob>,
}

#[derive(Deserialize)]
struct FioJob {
    jobname: String,
    #[serde(default)]
    groupid: u32,
    #[serde(default)]
    error: i64,
    #[serde(default, rename = "job options")]
    options: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    read: FioDirection,
    #[serde(default)]
    write: FioDirection,
    #[serde(default)]
    sync: FioSync,
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
}

#[derive(Default, Deserialize)]
struct FioDirection {
    #[serde(default)]
    io_bytes: u64,
    #[serde(default)]
    total_ios: u64,
    #[serde(default)]
    runtime: u64,
    #[serde(default)]
    clat_ns: FioTimes,
    #[serde(default)]
    lat_ns: FioTimes,
}

#[derive(Default, Deserialize)]
struct FioSync {
    #[serde(default)]
    lat_ns: FioTimes,
}

#[derive(Default, Deserialize)]
struct FioTimes {
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default)]
    mean: f64,
    #[serde(default, rename = "N")]
    n: u64,
    #[serde(default, rename = "percentile")]
    quantiles: BTreeMap<String, f64>,
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

/// Reads fio's JSON; lines before it are notes of fio.
pub fn read(text: &str) -> Result<ImportedResult> {
    let begin = text.find('{').ok_or_else(|| broken("fio", "it holds no JSON"))?;
    let output: FioOutput = {
        // What stands behind the document is fio's normal output.
        let mut values =
            serde_json::Deserializer::from_str(&text[begin..]).into_iter::<FioOutput>();
        let first = values.next().ok_or_else(|| broken("fio", "it holds no JSON"))?;
        first.map_err(|error| broken("fio", &error.to_string()))?
    };
    if output.jobs.is_empty() {
        return Err(broken("fio", "it holds no jobs"));
    }
    if output.jobs.len() > JOBS_MAX {
        return Err(broken("fio", "it holds more than 16384 jobs"));
    }
    let mut groups: BTreeMap<u32, Vec<&FioJob>> = BTreeMap::new();
    output.jobs.iter().for_each(|job| groups.entry(job.groupid).or_default().push(job));
    let has_bins = output.jobs.iter().all(FioJob::has_bins);
    let runs = groups.values().map(|jobs| run(jobs, &output)).collect();
    let mut lacks = vec![Lack::Intervals, Lack::Submission, Lack::Environment];
    if !has_bins {
        lacks.push(Lack::QuantileRanks);
    }
    if output.jobs.iter().any(|job| hides_flags(job, &output)) {
        lacks.push(Lack::Flags);
    }
    Ok(ImportedResult {
        program: output.version,
        name: output.jobs[0].jobname.clone(),
        content: ImportedContent::Runs(runs),
        lacks,
    })
}

impl FioJob {
    fn has_bins(&self) -> bool {
        let with_ios = [&self.read, &self.write].into_iter().filter(|one| one.total_ios > 0);
        with_ios.map(|one| &one.clat_ns.bins).all(|bins| !bins.is_empty())
    }

    fn option(&self, output: &FioOutput, name: &str) -> Option<String> {
        let value = self.options.get(name).or_else(|| output.options.get(name))?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    fn operations(&self) -> PerOperation {
        let mut all =
            PerOperation { read: self.read.result(), write: self.write.result(), sync: None };
        if self.sync.lat_ns.n > 0 {
            let times = &self.sync.lat_ns;
            let service = times.histogram(times.n);
            all.sync =
                Some(OperationResult { ios: times.n, service, ..OperationResult::default() });
        }
        all
    }
}

impl FioDirection {
    fn result(&self) -> Option<OperationResult> {
        if self.total_ios == 0 {
            return None;
        }
        let times = if self.clat_ns.n > 0 { &self.clat_ns } else { &self.lat_ns };
        Some(OperationResult {
            ios: self.total_ios,
            bytes: self.io_bytes,
            errors: 0,
            service: times.histogram(self.total_ios),
            response: None,
        })
    }
}

impl FioTimes {
    /// The times of this many I/Os; fio leaves out those of none when `gtod_reduce` is set.
    fn histogram(&self, ios: u64) -> Histogram {
        let bins: Option<Vec<(u64, u64)>> =
            self.bins.iter().map(|(time, ios)| Some((time.parse().ok()?, *ios))).collect();
        if let Some(bins) = bins.filter(|bins| !bins.is_empty()) {
            let mut histogram = Histogram::new(Precision::Fine);
            bins.into_iter()
                .filter(|(_, ios)| *ios > 0)
                .for_each(|(time_ns, ios)| histogram.record_many(time_ns, ios));
            return histogram;
        }
        if self.n == 0 {
            return Histogram::new(Precision::Fine);
        }
        let share = |(percent, time_ns): (&String, &f64)| {
            Some((percent.parse::<f64>().ok()? / 100.0, *time_ns))
        };
        let mut quantiles: Vec<(f64, f64)> =
            self.quantiles.iter().filter_map(share).filter(|(share, _)| *share < 1.0).collect();
        quantiles.sort_by(|left, right| left.0.total_cmp(&right.0));
        QuantileSummary { ios, min_ns: self.min, max_ns: self.max, mean_ns: self.mean, quantiles }
            .histogram()
    }
}

fn run(jobs: &[&FioJob], output: &FioOutput) -> ImportedRun {
    let runtime_ms = |job: &&FioJob| job.read.runtime.max(job.write.runtime);
    let elapsed_ns =
        jobs.iter().map(runtime_ms).max().unwrap_or(0).max(1).saturating_mul(1_000_000);
    let mut streams: Vec<NamedResult> = Vec::new();
    for job in jobs {
        let mut name = job.jobname.clone();
        if streams.iter().any(|known| known.name == name) {
            name = format!("{name}-{}", streams.len() + 1);
        }
        streams.push(NamedResult { name, operations: job.operations() });
    }
    let measurement = Measurement {
        format: 1,
        workload: jobs[0].jobname.clone(),
        started_unix_ns: output.timestamp_ms.saturating_mul(1_000_000).saturating_sub(elapsed_ns),
        elapsed_ns,
        finish: finish(jobs),
        targets: Vec::new(),
        errors: Vec::new(),
        conduct: conduct(jobs, output, elapsed_ns),
        streams,
    };
    let interval = Interval {
        index: 0,
        start_ns: 0,
        end_ns: elapsed_ns,
        operations: measurement.operations().coarsened(),
        outstanding_mean: measurement.conduct.outstanding_mean,
    };
    let intervals = vec![(interval, measurement.streams.clone())];
    ImportedRun { workload: workload(jobs, output, &measurement), measurement, intervals }
}

fn finish(jobs: &[&FioJob]) -> Finish {
    match jobs.iter().find(|job| job.error != 0) {
        Some(job) => {
            Finish::Failed { reason: format!("fio: error {} in job {}", job.error, job.jobname) }
        }
        None => Finish::Complete,
    }
}

fn conduct(jobs: &[&FioJob], output: &FioOutput, elapsed_ns: u64) -> Conduct {
    let elapsed_s = real(elapsed_ns) / 1e9;
    let seconds = |percent: f64| percent / 100.0 * elapsed_s;
    let engine = jobs[0].option(output, "ioengine").unwrap_or_else(|| "psync".to_owned());
    let busy_ns: f64 = jobs
        .iter()
        .flat_map(|job| [&job.read, &job.write])
        .map(|one| one.clat_ns.mean * real(one.total_ios))
        .sum();
    Conduct {
        backend: BackendKind::Fio,
        features: vec![output.version.clone(), engine],
        direct_io: jobs[0].option(output, "direct").map(|text| text != "0"),
        clock: ClockKind::Fio,
        cpu_user_s: jobs.iter().map(|job| seconds(job.usr_cpu)).sum(),
        cpu_system_s: jobs.iter().map(|job| seconds(job.sys_cpu)).sum(),
        outstanding_mean: busy_ns / real(elapsed_ns),
        littles_law_ratio: 1.0,
        ..Conduct::default()
    }
}

/// What the jobs did, as far as their options say: never run again, only shown and compared.
fn workload(jobs: &[&FioJob], output: &FioOutput, measurement: &Measurement) -> Workload {
    let stream = |(job, result): (&&FioJob, &NamedResult)| {
        // A job that was not reported as a group stands there once for each of its copies.
        let is_copy = jobs.iter().filter(|other| other.jobname == job.jobname).count() > 1;
        let stream = asked(job, output, is_copy).unwrap_or_else(|| done(job, output, result));
        Stream { name: result.name.clone(), targets: Vec::new(), ..stream }
    };
    let streams: Vec<Stream> =
        jobs.iter().zip(&measurement.streams).map(stream).take(256).collect();
    let mut workload =
        Workload::of(&jobs[0].jobname, Nanos(measurement.elapsed_ns), streams[0].clone());
    workload.streams = streams;
    workload.interval = Nanos(measurement.elapsed_ns.max(10_000_000));
    workload.direct = measurement.conduct.direct_io.unwrap_or(false);
    workload
}

/// What the options of a job stand for in a job file; nothing where a file of them is refused.
fn asked(job: &FioJob, output: &FioOutput, is_copy: bool) -> Option<Stream> {
    let own = job.options.iter();
    let inherited = output.options.iter().filter(|(name, _)| !job.options.contains_key(*name));
    let mut text = "[job]\n".to_owned();
    for (name, value) in inherited.chain(own).filter(|(name, _)| !is_copy || *name != "numjobs") {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Places are names here, and every job has its own.
        if ["name", "filename", "directory"].contains(&name.as_str()) || value.contains('\n') {
            continue;
        }
        let line = if value.is_empty() { name.clone() } else { format!("{name}={value}") };
        text = text + &line + "\n";
    }
    let conversion = crate::fio::convert(&text, "fio", &Surroundings::none()).ok()?;
    let is_whole = conversion.refused().all(|(_, reason)| !reason.leaves_out_load());
    let first = conversion.parts.first().filter(|_| is_whole)?;
    first.document.workload()?.streams.first().cloned()
}

/// What was done, where the options say nothing that can be read.
fn done(job: &FioJob, output: &FioOutput, result: &NamedResult) -> Stream {
    let number = |name: &str| job.option(output, name).and_then(|text| text.parse::<u32>().ok());
    let outstanding = number("iodepth").unwrap_or(1).clamp(1, 32_768);
    let (ios, bytes) = (result.operations.ios(), result.operations.bytes());
    let transfer = (bytes / ios.max(1)).clamp(512, 64 << 20);
    let reads = result.operations.read.as_ref().map_or(0, |read| read.ios);
    let read_share = Share(assay_model::number::share(reads, ios));
    Stream::closed("", read_share, Bytes(transfer), outstanding)
}

/// Whether fio's JSON leaves it open how random places were drawn: it has no options without a value, as `norandommap` is.
fn hides_flags(job: &FioJob, output: &FioOutput) -> bool {
    let direction = job.option(output, "rw").or_else(|| job.option(output, "readwrite"));
    let is_random = direction.is_some_and(|direction| direction.starts_with("rand"));
    is_random
        && ["norandommap", "random_distribution"]
            .iter()
            .all(|name| job.option(output, name).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::workload::{Access, Arrival};

    const SMALL: &str = r#"{"fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [
        {"jobname": "a", "groupid": 0, "job options": {"iodepth": "4", "direct": "1"}, "usr_cpu": 1.0, "sys_cpu": 2.0,
         "read": {"io_bytes": 4096000, "total_ios": 1000, "runtime": 2000,
                  "clat_ns": {"min": 10, "max": 900, "mean": 200.0, "N": 1000, "percentile": {"50.000000": 150, "99.000000": 700}}}},
        {"jobname": "b", "groupid": 1, "write": {"io_bytes": 4096, "total_ios": 1, "runtime": 1000,
                  "clat_ns": {"min": 5, "max": 5, "mean": 5.0, "N": 1, "bins": {"5": 1}}}}]}"#;

    #[test]
    fn groups_are_runs_and_jobs_are_streams() {
        let found = read(&format!("note: fio says something\n{SMALL}")).unwrap();
        let ImportedContent::Runs(runs) = &found.content else { panic!("{found:?}") };
        assert_eq!((runs.len(), found.program.as_str()), (2, "fio-3.33"));
        let operations = runs[0].measurement.operations();
        let read = operations.read.unwrap();
        assert_eq!((read.ios, read.bytes, read.service.quantile_ns(0.99)), (1000, 4_096_000, 700));
        assert!((runs[0].measurement.iops() - 500.0).abs() < 1e-9);
        assert!((read.service.mean_ns() - 200.0).abs() < 1.0, "{}", read.service.mean_ns());
        assert!(
            found.lacks.contains(&Lack::QuantileRanks) && found.lacks.contains(&Lack::Intervals)
        );
        runs[0].workload.check().unwrap();
    }

    #[test]
    fn the_load_is_what_a_job_file_of_the_same_options_stands_for() {
        let with = |options: &str, jobs: usize| {
            let job = format!(
                r#"{{"jobname": "a", "job options": {{{options}}}, "read": {{"io_bytes": 8192, "total_ios": 2, "runtime": 9,
                    "clat_ns": {{"min": 5, "max": 5, "mean": 5.0, "N": 2, "bins": {{"5": 2}}}}}}}}"#
            );
            let all = vec![job; jobs].join(",");
            let found =
                read(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{all}]}}"#)).unwrap();
            let ImportedContent::Runs(runs) = found.content else { panic!() };
            (runs[0].workload.streams[0].clone(), found.lacks.contains(&Lack::Flags))
        };
        let zipf = r#""rw": "randread", "bssplit": "4k/50:8k/50", "random_distribution": "zipf:0.9", "iodepth": "16", "filename": "/x""#;
        let (stream, hides) = with(zipf, 1);
        assert_eq!((stream.access, hides), (Access::Zipf { theta: 0.9 }, false));
        assert_eq!(stream.transfer.parts.len(), 2);
        let four = r#""rw": "randread", "ioengine": "libaio", "iodepth": "16", "numjobs": "4""#;
        let outstanding = |stream: &Stream| match stream.arrival {
            Arrival::Closed { outstanding, .. } => outstanding,
            Arrival::Open { .. } => 0,
        };
        // A group is one job of four; copies of a job are four jobs.
        assert_eq!([1, 4].map(|jobs| outstanding(&with(four, jobs).0)), [64, 16]);
        assert!(with(four, 1).1, "norandommap may have been set");
        // What no workload says is shown as it was done.
        let (stream, _) = with(r#""rw": "randread", "ioengine": "http", "iodepth": "3""#, 1);
        assert_eq!(outstanding(&stream), 3);
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        for end in [1, 40, 200, SMALL.len() - 2] {
            let error = read(&SMALL[..end]).unwrap_err();
            assert!(error.message().contains("fio"), "{error}");
        }
    }
}
