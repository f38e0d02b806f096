//! fio's JSON of every version, with or without bins, in base units.

use super::printed::{
    PrintedJob, PrintedOutput, PrintedSide, PrintedTimes, ProcessorTime, ascending, bytes_of_rate,
    depth_max, ios_of_rate,
};
use crate::results::amount::possible;
use crate::results::imported::{Lack, broken, refused};
use assay_model::Result;
use assay_model::number::{count, real};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Jobs that are read at most.
const JOBS_MAX: usize = 16_384;
/// Buckets of a histogram: fio has 29 groups of 64.
const BINS_MAX: usize = 16_384;
/// The row in which fio adds up its clients.
const ALL_CLIENTS: &str = "All clients";

#[derive(Deserialize)]
struct FioDocument {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp: Loose,
    #[serde(default)]
    timestamp_ms: Loose,
    #[serde(default, rename = "written by")]
    writer: Option<String>,
    #[serde(default, rename = "global options", deserialize_with = "or_default")]
    options: BTreeMap<String, serde_json::Value>,
    #[serde(default, deserialize_with = "or_default")]
    jobs: FioRows,
    #[serde(default, deserialize_with = "or_default")]
    client_stats: FioRows,
}

/// Jobs or clients: each takes a hundred times as much in memory as it can take in a file, so they
/// are counted as they come.
#[derive(Default)]
struct FioRows(Vec<FioResultJob>);

impl<'de> Deserialize<'de> for FioRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor)
    }
}

struct RowsVisitor;

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = FioRows;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> std::result::Result<FioRows, A::Error> {
        let mut read = Vec::new();
        while let Some(row) = rows.next_element()? {
            if read.len() == JOBS_MAX {
                return Err(A::Error::custom(format_args!("it holds more than {JOBS_MAX} jobs")));
            }
            read.push(row);
        }
        Ok(FioRows(read))
    }
}

#[derive(Deserialize)]
struct FioResultJob {
    jobname: String,
    #[serde(default)]
    groupid: u32,
    #[serde(default)]
    error: i64,
    #[serde(default)]
    hostname: Option<String>,
    #[serde(default)]
    port: Option<u16>,
    #[serde(default, rename = "job options", deserialize_with = "or_default")]
    options: BTreeMap<String, serde_json::Value>,
    #[serde(default, deserialize_with = "or_default")]
    read: FioSide,
    #[serde(default, deserialize_with = "or_default")]
    write: FioSide,
    #[serde(default, deserialize_with = "or_default")]
    trim: FioSide,
    #[serde(default, deserialize_with = "or_default")]
    mixed: FioSide,
    #[serde(default, deserialize_with = "or_default")]
    sync: FioSide,
    #[serde(default)]
    usr_cpu: Loose,
    #[serde(default)]
    sys_cpu: Loose,
    #[serde(default, rename = "job_runtime")]
    runtime: Loose,
    #[serde(default)]
    total_err: Loose,
    #[serde(default)]
    elapsed: Loose,
    #[serde(default, rename = "job_start")]
    started_ms: Loose,
    #[serde(default, rename = "iodepth_level", deserialize_with = "or_default")]
    depths: BTreeMap<String, Loose>,
}

#[derive(Default, Deserialize)]
struct FioSide {
    #[serde(default)]
    io_bytes: Loose,
    #[serde(default)]
    io_kbytes: Loose,
    #[serde(default)]
    bw: Loose,
    #[serde(default)]
    iops: Loose,
    #[serde(default)]
    total_ios: Loose,
    #[serde(default)]
    runtime: Loose,
    /// What Assay writes of its own runs.
    #[serde(default)]
    failed_ios: Loose,
    #[serde(default, deserialize_with = "or_default")]
    clat: Option<FioTimes>,
    #[serde(default, deserialize_with = "or_default")]
    clat_ns: Option<FioTimes>,
    #[serde(default, deserialize_with = "or_default")]
    lat: Option<FioTimes>,
    #[serde(default, deserialize_with = "or_default")]
    lat_ns: Option<FioTimes>,
}

/// Buckets of a histogram: text of six bytes takes a hundred in memory.
#[derive(Default)]
struct FioBins(BTreeMap<String, Loose>);

impl<'de> Deserialize<'de> for FioBins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(BinsVisitor)
    }
}

struct BinsVisitor;

impl<'de> Visitor<'de> for BinsVisitor {
    type Value = FioBins;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("buckets and their counts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut bins: A) -> std::result::Result<FioBins, A::Error> {
        let mut read = BTreeMap::new();
        while let Some((time, count)) = bins.next_entry()? {
            read.insert(time, count);
            if read.len() > BINS_MAX {
                let words = format_args!("a histogram of it has more than {BINS_MAX} buckets");
                return Err(A::Error::custom(words));
            }
        }
        Ok(FioBins(read))
    }
}

#[derive(Default, Deserialize)]
struct FioTimes {
    #[serde(default)]
    min: Loose,
    #[serde(default)]
    max: Loose,
    #[serde(default)]
    mean: Loose,
    #[serde(default, rename = "N")]
    n: Loose,
    #[serde(default, rename = "percentile", deserialize_with = "or_default")]
    quantiles: BTreeMap<String, Loose>,
    #[serde(default, deserialize_with = "or_default")]
    bins: FioBins,
}

/// A number that may be missing, and is unknown where it is impossible or something else stands in
/// its place.
#[derive(Clone, Copy, Default)]
struct Loose(Option<f64>);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let number = match &value {
            serde_json::Value::String(text) => text.trim_end_matches('%').parse().ok(),
            other => other.as_f64(),
        };
        Ok(Self(number.and_then(possible)))
    }
}

/// What is `null` is as if it were not there.
fn or_default<'de, D, T>(deserializer: D) -> std::result::Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads fio's JSON; what stands before, between and behind its documents are notes and other
/// outputs of fio.
pub fn read(text: &str) -> Result<PrintedOutput> {
    let text = with_nulls(text);
    let mut last: Option<FioDocument> = None;
    let mut rest: &str = &text;
    while let Some(begin) = begin(rest) {
        let mut documents =
            serde_json::Deserializer::from_str(&rest[begin..]).into_iter::<FioDocument>();
        let document = match documents.next() {
            Some(Ok(document)) => document,
            Some(Err(error)) => return Err(broken("fio", &error.to_string())),
            None => break,
        };
        rest = &rest[begin + documents.byte_offset()..];
        if let Some(earlier) = last.replace(document) {
            check_cumulative(&earlier, last.as_ref().unwrap_or(&earlier))?;
        }
    }
    Ok(last.ok_or_else(|| broken("fio", "it contains no JSON"))?.printed())
}

/// Where the next document begins: at the brace before its first key, which is the version, or at
/// the first brace.
fn begin(text: &str) -> Option<usize> {
    let key = text.find("\"fio version\"")?;
    let before = text[..key].trim_end();
    before.strip_suffix('{').map(str::len).or_else(|| text[..key].find('{'))
}

/// The text with `null` for `nan` and `inf`, which C prints and JSON does not have.
fn with_nulls(text: &str) -> Cow<'_, str> {
    let has_words = ["nan", "inf"].iter().any(|word| text.contains(word));
    if !has_words {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let (mut is_text, mut is_escaped, mut word) = (false, false, String::new());
    for letter in text.chars() {
        let is_of_word = !is_text && (letter.is_ascii_alphanumeric() || "+-.".contains(letter));
        if is_of_word {
            word.push(letter);
            continue;
        }
        plain.push_str(number_or_null(&word));
        word.clear();
        plain.push(letter);
        is_text ^= letter == '"' && !is_escaped;
        is_escaped = is_text && letter == '\\' && !is_escaped;
    }
    plain.push_str(number_or_null(&word));
    Cow::Owned(plain)
}

fn number_or_null(word: &str) -> &str {
    match word.trim_start_matches(['-', '+']) {
        "nan" | "inf" | "NaN" | "Infinity" | "infinity" => "null",
        _ => word,
    }
}

/// Documents of one run follow one another where it printed its state now and then: nothing of the
/// later one is less, and it comes as much later as it has run longer.
fn check_cumulative(earlier: &FioDocument, later: &FioDocument) -> Result<()> {
    let grows = |before: Option<f64>, after: Option<f64>| match (before, after) {
        (Some(before), Some(after)) => before <= after,
        _ => true,
    };
    let same_jobs = earlier.version == later.version
        && earlier.options == later.options
        && earlier.rows().len() == later.rows().len();
    let pairs = || earlier.rows().iter().zip(later.rows());
    let same_jobs = same_jobs
        && pairs().all(|(before, after)| {
            before.jobname == after.jobname && before.options == after.options
        });
    let jobs_grow = pairs().all(|(before, after)| {
        before.sides().zip(after.sides()).all(|(before, after)| {
            grows(before.total_ios.0, after.total_ios.0) && grows(before.runtime.0, after.runtime.0)
        })
    });
    let apart_s = match (earlier.timestamp.0, later.timestamp.0) {
        (Some(before), Some(after)) => after - before,
        _ => 0.0,
    };
    let ran_s = (later.runtime_ms() - earlier.runtime_ms()) / 1e3;
    let is_later = apart_s >= 0.0 && apart_s <= ran_s + 2.0 + 0.2 * apart_s;
    if same_jobs && (jobs_grow && is_later || earlier.is_ramp_of(later, apart_s)) {
        return Ok(());
    }
    Err(refused("fio", "it contains the results of several runs", "split it into one file per run"))
}

/// Ports of the servers that ran jobs, by their hosts.
type Clients<'a> = BTreeMap<&'a Option<String>, BTreeSet<Option<u16>>>;

impl FioDocument {
    fn rows(&self) -> &[FioResultJob] {
        if self.jobs.0.is_empty() { &self.client_stats.0 } else { &self.jobs.0 }
    }

    /// Whether it is a state before the end of `ramp_time`, when fio sets its counters to 0: the
    /// time since the start of the jobs goes on as the clock does.
    fn is_ramp_of(&self, later: &Self, apart_s: f64) -> bool {
        let has_ramp = |job: &FioResultJob| {
            self.options.contains_key("ramp_time") || job.options.contains_key("ramp_time")
        };
        let goes_on = |(before, after): (&FioResultJob, &FioResultJob)| {
            let (Some(before_s), Some(after_s)) = (before.elapsed.0, after.elapsed.0) else {
                return false;
            };
            has_ramp(before) && after_s >= before_s && apart_s <= after_s - before_s + 1.0
        };
        apart_s >= 0.0 && self.rows().iter().zip(later.rows()).all(goes_on)
    }

    /// The time of all groups one after the other, ms.
    fn runtime_ms(&self) -> f64 {
        let mut groups: BTreeMap<u32, f64> = BTreeMap::new();
        for job in self.rows() {
            let longest = job.sides().filter_map(|side| side.runtime.0).fold(0.0, f64::max);
            let known = groups.entry(job.groupid).or_default();
            *known = known.max(longest);
        }
        groups.values().sum()
    }

    /// Whether times are in microseconds and amounts in KiB.
    fn is_of_2(&self) -> bool {
        let digits = self.version.trim_start_matches(|sign: char| !sign.is_ascii_digit());
        let major = digits.split('.').next().and_then(|text| text.parse::<u32>().ok());
        major.is_some_and(|major| major < 3)
    }

    fn printed(self) -> PrintedOutput {
        let rows = self.rows();
        let is_sum = |job: &&FioResultJob| job.jobname == ALL_CLIENTS && job.hostname.is_some();
        let has_others = rows.iter().any(|job| !is_sum(&job));
        let counted = rows.iter().filter(|job| !(has_others && is_sum(job)));
        let mut clients = Clients::new();
        for job in rows.iter().filter(|job| job.jobname != ALL_CLIENTS) {
            clients.entry(&job.hostname).or_default().insert(job.port);
        }
        let jobs: Vec<PrintedJob> = counted.map(|job| self.job(job, &clients)).collect();
        let failed: f64 = rows.iter().filter_map(|job| job.total_err.0).sum();
        let mut lacks = Vec::new();
        if failed > 0.0 {
            lacks.push(Lack::OperationsLeftOut(vec![format!("{failed} failed I/Os")]));
        }
        let ended_ms = self.timestamp_ms.0.or(self.timestamp.0.map(|time_s| time_s * 1e3));
        PrintedOutput {
            version: self.version,
            ended_unix_ns: ended_ms.filter(|time| *time > 0.0).map(|time| count(time * 1e6)),
            is_of_assay: self.writer.is_some_and(|writer| writer.starts_with("assay")),
            jobs,
            lacks,
        }
    }

    fn job(&self, job: &FioResultJob, clients: &Clients<'_>) -> PrintedJob {
        let text = |value: &serde_json::Value| {
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        };
        let own = job.options.iter();
        let options: BTreeMap<String, String> = self
            .options
            .iter()
            .chain(own)
            .map(|(name, value)| (name.clone(), text(value)))
            .collect();
        let side = |side: &FioSide| side.printed(self.is_of_2());
        let is_several = clients.keys().any(|host| **host != job.hostname);
        // Servers of one host differ by their ports.
        let ports = clients.get(&job.hostname);
        let has_ports = ports.is_some_and(|ports| ports.iter().any(|port| *port != job.port));
        let host = job.hostname.as_ref().map(|host| match job.port.filter(|_| has_ports) {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        });
        let printed = PrintedJob {
            name: job.jobname.clone(),
            host: host.filter(|_| is_several || has_ports),
            group: job.groupid,
            error: job.error,
            read: side(&job.read),
            write: side(&job.write),
            trim: side(&job.trim),
            mixed: side(&job.mixed),
            sync: side(&job.sync),
            processor: None,
            queue_depth_max: None,
            started_unix_ns: job
                .started_ms
                .0
                .filter(|time| *time > 0.0)
                .map(|time| count(time) * 1_000_000),
            options,
        };
        PrintedJob {
            processor: job.processor(&printed),
            queue_depth_max: job.queue_depth_max(&printed),
            ..printed
        }
        .told_apart()
    }
}

impl FioResultJob {
    fn sides(&self) -> impl Iterator<Item = &FioSide> {
        [&self.read, &self.write, &self.trim, &self.mixed].into_iter()
    }

    /// The time of all threads over that of the job says how many there were.
    fn queue_depth_max(&self, printed: &PrintedJob) -> Option<f64> {
        let threads = (self.runtime.0? / 1e3 / printed.runtime_s()?).ceil();
        let option = printed.options.get("iodepth").and_then(|depth| depth.parse().ok());
        let shares = self.depths.iter().filter_map(|(depth, share)| {
            Some((depth.trim_start_matches(['>', '=']).parse().ok()?, share.0?))
        });
        Some(f64::from(depth_max(shares, option)?) * threads)
    }

    /// fio's percentages are of the time of all threads, which are one where nothing else is said.
    fn processor(&self, printed: &PrintedJob) -> Option<ProcessorTime> {
        let alone =
            printed.options.get("numjobs").map_or(!printed.options.is_empty(), |jobs| jobs == "1");
        let own_s = self.runtime.0.map(|time_ms| time_ms / 1e3);
        let runtime_s = own_s.or_else(|| printed.runtime_s().filter(|_| alone))?;
        let seconds = |percent: Loose| Some(percent.0? / 100.0 * runtime_s);
        Some(ProcessorTime { user_s: seconds(self.usr_cpu)?, system_s: seconds(self.sys_cpu)? })
    }
}

impl FioSide {
    /// The operation in nanoseconds and bytes; nothing where it did not happen.
    fn printed(&self, is_of_2: bool) -> Option<PrintedSide> {
        let times = |ns: &Option<FioTimes>, us: &Option<FioTimes>| match (ns, us) {
            (Some(times), _) => times.printed(1.0),
            (None, Some(times)) => times.printed(1e3),
            (None, None) => PrintedTimes::default(),
        };
        let runtime_ms = self.runtime.0;
        let measured = [&self.clat_ns, &self.clat, &self.lat_ns, &self.lat];
        let counted = measured.into_iter().flatten().find_map(|times| times.n.0).map(count);
        let of_rate = || Some(ios_of_rate(self.iops.0?, runtime_ms?));
        // Of flushes fio 3.33 writes 0 as the total, and counts those that it timed.
        let total = self.total_ios.0.map(count).filter(|total| *total > 0 || counted.is_none());
        let ios = total.or_else(of_rate).or(counted)?;
        let kibibytes = |amount: f64| count(amount * 1024.0);
        let bytes = match (self.io_bytes.0, self.io_kbytes.0) {
            (Some(amount), None) if is_of_2 => Some(kibibytes(amount)),
            (Some(bytes), _) => Some(count(bytes)),
            (None, amount) => amount.map(kibibytes),
        };
        let bytes = bytes.or_else(|| Some(bytes_of_rate(self.bw.0? * 1024.0, runtime_ms?)));
        (ios > 0).then(|| PrintedSide {
            ios,
            bytes: bytes.unwrap_or(0),
            errors: self.failed_ios.0.map_or(0, count),
            runtime_s: runtime_ms.map(|time_ms| time_ms / 1e3),
            completion: times(&self.clat_ns, &self.clat),
            total: times(&self.lat_ns, &self.lat),
        })
    }
}

impl FioTimes {
    fn printed(&self, unit_ns: f64) -> PrintedTimes {
        let scaled = |number: Loose| number.0.map(|number| number * unit_ns);
        let quantile = |(percent, time): (&String, &Loose)| {
            Some((percent.parse::<f64>().ok()? / 100.0, scaled(*time)?))
        };
        let bin = |(time, ios): (&String, &Loose)| {
            Some((count(real(time.parse().ok()?) * unit_ns), count(ios.0?)))
        };
        let bins: Vec<(u64, u64)> = self.bins.0.iter().filter_map(bin).collect();
        let has_ios = bins.iter().any(|(_, ios)| *ios > 0);
        PrintedTimes {
            min_ns: scaled(self.min),
            max_ns: scaled(self.max),
            mean_ns: scaled(self.mean),
            quantiles: ascending(self.quantiles.iter().filter_map(quantile).collect()),
            bins: if has_ios { bins } else { Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::printed::KnownTimes;
    use super::*;

    fn job(read: &str) -> String {
        format!(
            r#"{{"jobname": "a", "read": {{"io_bytes": 8192, "total_ios": 2, "runtime": 9, {read}}}}}"#
        )
    }

    fn document(version: &str, more: &str) -> String {
        format!(r#"{{"fio version": "fio-{version}", {more}}}"#)
    }

    fn of_job(version: &str, read: &str) -> PrintedSide {
        let text = document(version, &format!(r#""jobs": [{}]"#, job(read)));
        read_one(&text).jobs.remove(0).read.unwrap()
    }

    fn read_one(text: &str) -> PrintedOutput {
        read(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Ten megabytes of jobs that say nothing took 900 MiB.
    #[test]
    fn jobs_are_counted_as_they_come() {
        let jobs =
            |count: usize| format!(r#""jobs": [{}]"#, vec![r#"{"jobname":"a"}"#; count].join(","));
        let of = |count| read(&document("3.33", &jobs(count)));
        let error = of(JOBS_MAX + 1).unwrap_err().to_string();
        assert!(error.contains("it holds more than 16384 jobs"), "{error}");
        assert_eq!(of(2).unwrap().jobs.len(), 2);
    }

    #[test]
    fn buckets_are_counted_as_they_come() {
        let bins = |count: usize| (0..count).map(|at| format!(r#""{at}":1"#)).collect::<Vec<_>>();
        let of = |count| {
            let bins = bins(count).join(",");
            read(&document(
                "3.33",
                &format!(
                    r#""jobs": [{{"jobname":"a","read":{{"clat_ns":{{"bins":{{{bins}}}}}}}}}]"#
                ),
            ))
        };
        assert!(of(BINS_MAX + 1).unwrap_err().to_string().contains("more than 16384 buckets"));
        assert!(of(BINS_MAX).is_ok());
    }

    #[test]
    fn units_are_those_of_the_version() {
        let times =
            r#"{"min": 1, "max": 9, "mean": 5.0, "percentile": {"50.000000": 4, "0.00": 0}}"#;
        let new = of_job("3.13", &format!(r#""clat_ns": {times}"#));
        let old = of_job("2.17", &format!(r#""clat": {times}"#));
        assert_eq!((new.bytes, old.bytes), (8192, 8192 * 1024));
        assert_eq!((new.completion.mean_ns, old.completion.mean_ns), (Some(5.0), Some(5000.0)));
        assert_eq!(old.completion.quantiles, [(0.5, 4000.0)]);
        let rates = r#""jobs": [{"jobname": "a", "read": {"io_bytes": 80, "bw": 1, "iops": 100, "runtime": 2000}}]"#;
        assert_eq!(read_one(&document("2.1.4", rates)).jobs[0].read.as_ref().unwrap().ios, 200);
    }

    #[test]
    fn what_is_no_number_is_unknown() {
        let side = of_job(
            "3.33",
            r#""bw_agg": -nan, "clat_ns": {"min": nan, "mean": inf, "max": 18446744073709551615}"#,
        );
        assert_eq!(side.completion, PrintedTimes::default());
        assert_eq!(side.times(), KnownTimes::Nothing);
        let text = document("3.33", &format!(r#""jobs": [{}]"#, job(r#""x": "nan \" inf""#)));
        assert!(with_nulls(&text).contains(r#""nan \" inf""#));
    }

    #[test]
    fn the_last_state_of_a_run_counts() {
        let state = |ios: u32, runtime: u32, at: u32| {
            document(
                "3.33",
                &format!(
                    r#""timestamp": {at}, "jobs": [{{"jobname": "a", "read": {{"total_ios": {ios}, "runtime": {runtime}}}}}]"#
                ),
            )
        };
        let ios = |text: &str| read(text).map(|found| found.jobs[0].read.as_ref().unwrap().ios);
        let states = [state(10, 5000, 105), state(30, 15_000, 115), state(31, 15_100, 115)];
        assert_eq!(ios(&states.join("\nnormal output {\n")).unwrap(), 31);
        for other in [state(5, 20_000, 120), state(40, 16_000, 300), state(40, 16_000, 90)] {
            let error = ios(&format!("{}{other}", states[2])).unwrap_err();
            assert!(error.message().contains("several runs"), "{error}");
        }
        assert!(read(&states.concat()[..states.concat().len() - 3]).is_err());
    }

    #[test]
    fn counters_begin_again_at_the_end_of_the_ramp() {
        let state = |ios: u32, runtime: u32, at: u32, elapsed: u32| {
            let read = format!(r#""read": {{"total_ios": {ios}, "runtime": {runtime}}}"#);
            document(
                "3.33",
                &format!(
                    r#""timestamp": {at}, "global options": {{"ramp_time": "10s"}},
                       "jobs": [{{"jobname": "a", "elapsed": {elapsed}, {read}}}]"#
                ),
            )
        };
        let ios = |text: &str| read(text).map(|found| found.jobs[0].read.as_ref().unwrap().ios);
        let states = [state(90, 9000, 109, 10), state(20, 2000, 112, 13), state(99, 9900, 120, 21)];
        assert_eq!(ios(&states.concat()).unwrap(), 99);
        // Another run of the same jobs is not later by as much as its jobs have run longer.
        for other in [state(20, 2000, 400, 13), state(98, 9900, 141, 21)] {
            assert!(ios(&format!("{}{other}", states[2])).is_err());
        }
        let without = states.concat().replace("ramp_time", "numjobs");
        assert!(ios(&without).is_err());
    }

    #[test]
    fn clients_are_told_apart_and_their_sum_is_not_added() {
        let client = |name: &str, host: &str| {
            format!(r#"{{"jobname": "{name}", "hostname": "{host}", "read": {{"total_ios": 5}}}}"#)
        };
        let rows = [client("a", "h1"), client("a", "h2"), client(ALL_CLIENTS, "h2")].join(",");
        let found = read_one(&document("3.33", &format!(r#""client_stats": [{rows}]"#)));
        let names: Vec<String> = found.jobs.iter().map(PrintedJob::full_name).collect();
        assert_eq!(names, ["a@h1", "a@h2"]);
    }

    #[test]
    fn processor_time_is_that_of_all_threads_or_unknown() {
        let with = |more: &str| {
            let job = format!(
                r#"{{"jobname": "a", "usr_cpu": 10, "sys_cpu": 20, "read": {{"total_ios": 1, "runtime": 10000}}{more}}}"#
            );
            read_one(&document("3.33", &format!(r#""jobs": [{job}]"#))).jobs[0].processor
        };
        let of_eight = with(r#", "job_runtime": 80000"#).unwrap();
        assert!((of_eight.user_s - 8.0).abs() < 1e-9 && (of_eight.system_s - 16.0).abs() < 1e-9);
        assert_eq!((with(""), with(r#", "job options": {"numjobs": "8"}"#)), (None, None));
        assert!(with(r#", "job options": {"rw": "read"}"#).is_some());
    }
}
