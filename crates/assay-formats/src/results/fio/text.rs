//! fio's normal output, versions 2 and 3.

use super::printed::{
    PrintedJob, PrintedOutput, PrintedSide, PrintedTimes, ProcessorTime, ascending, depth_max,
};
use crate::results::amount::possible;
use crate::results::dates;
use crate::results::imported::{Lack, broken, refused};
use crate::results::rows::cut;
use assay_model::Result;
use assay_model::number::{count, real};
use std::collections::{BTreeMap, BTreeSet};

/// The row in which fio adds up its clients.
const ALL_CLIENTS: &str = "All clients";

/// Whether a text has the first line of a job's result, or that of its plan.
pub fn is_output(text: &str) -> bool {
    text.lines().any(|line| JobHead::parse(line).is_some() || is_plan(line))
}

fn is_plan(line: &str) -> bool {
    planned(split_host(line).1.trim()).is_some_and(|(_, options)| options.contains_key("rw"))
}

/// Reads every job; of the states of one run the last counts.
pub fn read(text: &str) -> Result<PrintedOutput> {
    let mut reader = TextReader::default();
    for line in text.lines() {
        reader.line(line)?;
    }
    reader.finish()
}

/// `alpha: (groupid=0, jobs=1): err= 0: pid=12101: Fri Nov 27 10:31:02 2026`
struct JobHead<'a> {
    host: Option<&'a str>,
    name: &'a str,
    group: u32,
    threads: u32,
    error: i64,
    pid: &'a str,
    ended_unix_ns: Option<u64>,
}

impl<'a> JobHead<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (host, line) = split_host(line);
        let (name, rest) = line.trim_start().split_once(": (groupid=")?;
        let (group, rest) = rest.split_once(',')?;
        let (threads, rest) = rest.split_once("jobs=")?.1.split_once(')')?;
        let error = rest.split_once("err=")?.1.trim_start();
        let end = error.find(|sign: char| !sign.is_ascii_digit() && sign != '-');
        let after_pid = rest.split_once("pid=").map_or("", |(_, rest)| rest);
        let (pid, date) = after_pid.split_once(':').unwrap_or((after_pid, ""));
        Some(Self {
            host,
            name,
            group: group.trim().parse().ok()?,
            threads: threads.trim().parse().ok()?,
            error: error[..end.unwrap_or(error.len())].parse().ok()?,
            pid,
            ended_unix_ns: dates::with_weekday(date),
        })
    }
}

/// A client's lines begin with its name: `<host>`.
fn split_host(line: &str) -> (Option<&str>, &str) {
    let split = line.strip_prefix('<').and_then(|rest| rest.split_once("> "));
    split.map_or((None, line), |(host, rest)| (Some(host), rest))
}

/// What is the same in all states of one job.
#[derive(Clone, PartialEq, Eq)]
struct JobKey {
    name: String,
    host: Option<String>,
    pid: String,
}

/// A job whose lines are being read.
struct OpenJob {
    job: PrintedJob,
    key: JobKey,
    threads: u32,
    operation: FioOperation,
    quantiles: Option<QuantileBlock>,
}

/// The operation whose lines follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FioOperation {
    None,
    Read,
    Write,
    Trim,
    Mixed,
    Sync,
}

/// The percentiles whose lines follow.
#[derive(Clone, Copy)]
struct QuantileBlock {
    kind: FioTimeKind,
    unit_ns: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FioTimeKind {
    Completion,
    Total,
    Other,
}

#[derive(Default)]
struct TextReader {
    version: String,
    options: BTreeMap<String, BTreeMap<String, String>>,
    jobs: Vec<(JobKey, PrintedJob)>,
    open: Option<OpenJob>,
    ended_groups: BTreeSet<u32>,
    /// Whether fio began again after a job: what follows is another run, even if the end of the
    /// first was cut off.
    has_begun_again: bool,
    ended_unix_ns: Option<u64>,
    /// Whether the result is of clients, which print one after the other.
    has_clients: bool,
    /// Why fio gave up, in its own words.
    failure: Option<String>,
}

impl TextReader {
    fn line(&mut self, line: &str) -> Result<()> {
        if let Some(head) = JobHead::parse(line) {
            return self.begin(&head);
        }
        let text = split_host(line).1.trim();
        if let Some((name, options)) = planned(text) {
            self.options.insert(name, options);
        } else if let Some(rest) = text.strip_prefix("Run status group ") {
            self.close()?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            self.ended_groups.insert(digits.parse().unwrap_or(0));
        } else if text.starts_with("hostname=") && text.contains(", be=") {
            self.has_clients = true;
        } else if let Some(failure) = failure(text) {
            self.failure.get_or_insert_with(|| cut(failure));
        } else if is_version(text) {
            self.has_begun_again |= self.open.is_some() || !self.jobs.is_empty();
            self.version = format!("fio-{}", text.trim_start_matches("fio-"));
        } else if let Some(open) = &mut self.open {
            open.line(text);
        }
        Ok(())
    }

    fn begin(&mut self, head: &JobHead<'_>) -> Result<()> {
        self.close()?;
        self.ended_unix_ns = self.ended_unix_ns.max(head.ended_unix_ns);
        let host = head.host.map(str::to_owned);
        let key =
            JobKey { name: head.name.to_owned(), host: host.clone(), pid: head.pid.to_owned() };
        let is_known = self.jobs.iter().any(|(known, _)| *known == key);
        let has_ended = self.has_begun_again || self.ended_groups.contains(&head.group);
        if has_ended && !self.has_clients && !is_known {
            return Err(several());
        }
        let mut options = self.options.get(head.name).cloned().unwrap_or_default();
        if head.threads > 1 && !options.is_empty() {
            options.insert("numjobs".to_owned(), head.threads.to_string());
        }
        let job = PrintedJob {
            name: head.name.to_owned(),
            host,
            group: head.group,
            error: head.error,
            options,
            ..PrintedJob::default()
        };
        let operation = FioOperation::None;
        self.open = Some(OpenJob { job, key, threads: head.threads, operation, quantiles: None });
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let (key, job) = (open.key, open.job);
        match self.jobs.iter_mut().find(|(known, _)| *known == key) {
            Some((_, earlier)) if earlier.runtime_s() <= job.runtime_s() => *earlier = job,
            Some(_) => return Err(several()),
            None => self.jobs.push((key, job)),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<PrintedOutput> {
        self.close()?;
        if let (true, Some(failure)) = (self.jobs.is_empty(), &self.failure) {
            let what = format!("its job failed: {failure}");
            return Err(refused("fio", &what, "specify the output of a job that ran to its end"));
        }
        if self.ended_groups.is_empty() {
            return Err(broken("fio", "its end, Run status, is missing"));
        }
        let mut jobs: Vec<PrintedJob> = self.jobs.into_iter().map(|(_, job)| job).collect();
        if jobs.iter().any(|job| job.name != ALL_CLIENTS) {
            jobs.retain(|job| job.name != ALL_CLIENTS);
        }
        let version = if self.version.is_empty() { "fio".to_owned() } else { self.version };
        let jobs = jobs.into_iter().map(PrintedJob::told_apart).collect();
        let ended_unix_ns = self.ended_unix_ns;
        // fio prints its local time.
        let lacks = ended_unix_ns.map(|_| Lack::Zone).into_iter().collect();
        Ok(PrintedOutput { version, ended_unix_ns, jobs, lacks, is_of_assay: false })
    }
}

/// `fio-3.33`, up to 2.0 without the name.
fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|sign| sign.is_ascii_digit());
    match text.strip_prefix("fio-") {
        Some(_) => !text.contains(' '),
        None => text.split('.').count() == 3 && text.split('.').all(is_number),
    }
}

/// `fio: pid=0, err=13/file:filesetup.c:174, func=open, error=Permission denied`, or `error:
/// maximum number of jobs (8) reached.`
fn failure(text: &str) -> Option<&str> {
    let of_job = || text.strip_prefix("fio: ")?.split_once(", error=").map(|(_, why)| why);
    let failure = text.strip_prefix("error: ").or_else(of_job)?;
    Some(failure.trim_end_matches('.'))
}

fn several() -> assay_model::Error {
    let what = "it contains the results of several runs";
    refused("fio", what, "split it into one file per run")
}

/// `alpha: (g=0): rw=randrw, bs=(R) 4096B-4096B, …, ioengine=psync, iodepth=1`: what the job was
/// asked for.
fn planned(text: &str) -> Option<(String, BTreeMap<String, String>)> {
    let (name, rest) = text.split_once(": (g=")?;
    let mut options = BTreeMap::new();
    for (option, value) in rest
        .split(", ")
        .filter_map(|part| part.rsplit_once(": ").map_or(part, |(_, part)| part).split_once('='))
    {
        match option {
            "rw" | "ioengine" | "iodepth" => {
                drop(options.insert(option.to_owned(), value.to_owned()));
            }
            "bs" => options.extend(one_size(value).map(|size| ("bs".to_owned(), size))),
            _ => {}
        }
    }
    Some((name.to_owned(), options))
}

/// `(R) 4096B-4096B` and `8K-8K/8K-8K/8K-8K`: the size where it is one.
fn one_size(value: &str) -> Option<String> {
    let range = value.trim_start_matches("(R)").trim().split('/').next()?;
    let (least, most) = range.split_once('-')?;
    (least == most).then(|| least.trim_end_matches('B').to_owned())
}

impl OpenJob {
    fn line(&mut self, text: &str) {
        if text.starts_with('|') {
            return self.quantiles(text);
        }
        let Some((word, rest)) = text.split_once(':') else { return };
        let word = word.trim();
        match word {
            "read" => self.side(FioOperation::Read, rest),
            "write" => self.side(FioOperation::Write, rest),
            "trim" => self.side(FioOperation::Trim, rest),
            "mixed" => self.side(FioOperation::Mixed, rest),
            "cpu" => self.processor(rest),
            "IO depths" => self.depths(rest),
            _ if word.starts_with("issued") => self.issued(rest),
            _ if word.starts_with("fsync") => self.operation = FioOperation::Sync,
            _ => self.times(word, rest),
        }
    }

    fn side(&mut self, operation: FioOperation, rest: &str) {
        self.operation = operation;
        let runtime_ms = before(rest, "msec").and_then(number);
        let iops = after(rest, "IOPS=").or_else(|| after(rest, "iops=")).and_then(number);
        // Since version 3 the amount stands before the runtime; before it, it is named, and K is
        // 1024.
        let amount = match after(rest, "io=") {
            Some(amount) => size(amount, 1024.0),
            None => {
                rest.rsplit_once('(').and_then(|(_, last)| size(last.split('/').next()?, 1000.0))
            }
        };
        let ios =
            iops.zip(runtime_ms).map_or(0, |(iops, time_ms)| count((iops * time_ms / 1e3).round()));
        let bytes = amount.map_or(0, count);
        let runtime_s = runtime_ms.map(|time_ms| time_ms / 1e3);
        let side = PrintedSide { ios, bytes, runtime_s, ..PrintedSide::default() };
        *self.slot(operation) = Some(side);
    }

    fn slot(&mut self, operation: FioOperation) -> &mut Option<PrintedSide> {
        match operation {
            FioOperation::Write => &mut self.job.write,
            FioOperation::Trim => &mut self.job.trim,
            FioOperation::Mixed => &mut self.job.mixed,
            FioOperation::Sync => &mut self.job.sync,
            FioOperation::Read | FioOperation::None => &mut self.job.read,
        }
    }

    /// `clat (usec): min=21, max=43286, avg=42.95, stdev=269.58`, or the head of percentiles.
    fn times(&mut self, word: &str, rest: &str) {
        let Some((name, unit)) = word.split_once('(') else { return };
        let Some(unit_ns) = unit_ns(unit) else { return };
        let (name, is_head) = name
            .trim()
            .strip_suffix("percentiles")
            .map_or((name.trim(), false), |name| (name.trim(), true));
        let kind = match name {
            "clat" => FioTimeKind::Completion,
            // Times of flushes are of the whole call.
            "lat" | "sync" => FioTimeKind::Total,
            _ => FioTimeKind::Other,
        };
        if is_head {
            self.quantiles = Some(QuantileBlock { kind, unit_ns });
        } else if kind != FioTimeKind::Other
            && self.operation != FioOperation::None
            && rest.contains("avg=")
        {
            let value = |name: &str| Some(number(after(rest, name)?)? * unit_ns);
            let [min_ns, max_ns, mean_ns] = ["min=", "max=", "avg="].map(value);
            let times = PrintedTimes { min_ns, max_ns, mean_ns, ..PrintedTimes::default() };
            self.set_times(kind, times);
        }
    }

    fn set_times(&mut self, kind: FioTimeKind, times: PrintedTimes) {
        let side = self.slot(self.operation).get_or_insert_default();
        match kind {
            FioTimeKind::Completion => side.completion = times,
            FioTimeKind::Total => side.total = times,
            FioTimeKind::Other => {}
        }
    }

    /// `|  1.00th=[   25],  5.00th=[   27], …`
    fn quantiles(&mut self, text: &str) {
        let Some(block) = self.quantiles else { return };
        let quantile = |part: &str| {
            let (percent, time) = part.split_once("th=[")?;
            let percent = number(percent.trim_start_matches(['|', ',', ' ']))?;
            Some((
                percent / 100.0,
                number(time.trim_start_matches(['>', '=', ' ']))? * block.unit_ns,
            ))
        };
        let found: Vec<(f64, f64)> = text.split(']').filter_map(quantile).collect();
        let Some(side) = self.slot(self.operation) else { return };
        let times = match block.kind {
            FioTimeKind::Completion => &mut side.completion,
            FioTimeKind::Total => &mut side.total,
            FioTimeKind::Other => return,
        };
        times.quantiles = ascending([std::mem::take(&mut times.quantiles), found].concat());
    }

    /// `total=32707,13963,0,0 short=…`, before version 3 `total=r=32707/w=13963/d=0, short=…`:
    /// exact counts.
    fn issued(&mut self, rest: &str) {
        let total = after(rest, "total=").unwrap_or_default();
        let counts = total.split(' ').next().unwrap_or_default();
        let counts = counts.split(", short").next().unwrap_or_default();
        let counts: Vec<u64> = counts
            .split([',', '/'])
            .filter_map(|part| part.rsplit('=').next()?.trim().parse().ok())
            .collect();
        let operations =
            [FioOperation::Read, FioOperation::Write, FioOperation::Trim, FioOperation::Sync];
        for (operation, ios) in operations.into_iter().zip(&counts) {
            let printed = self.job.options.get("bs").and_then(|printed| size(printed, 1024.0));
            let size = printed.map(count).filter(|size| size.is_multiple_of(512));
            if let Some(side) = self.slot(operation) {
                side.ios = *ios;
                // The amount is printed with a few digits; of one size it is the exact one.
                let exact = size.map_or(0, |size| size.saturating_mul(*ios));
                if (real(exact) / real(side.bytes.max(1)) - 1.0).abs() < 0.01 {
                    side.bytes = exact;
                }
            }
        }
        let all = counts.iter().take(3).sum();
        self.job.mixed.iter_mut().for_each(|side| side.ios = all);
        let sides =
            [&mut self.job.read, &mut self.job.write, &mut self.job.trim, &mut self.job.sync];
        for side in sides {
            side.take_if(|side| side.ios == 0);
        }
    }

    /// `1=0.1%, 2=0.1%, 4=99.8%, 8=0.0%, …, >=64=0.0%`.
    fn depths(&mut self, rest: &str) {
        let shares = rest.split(',').filter_map(|part| {
            let (depth, share) = part.trim().trim_start_matches(['>', '=']).split_once('=')?;
            Some((depth.parse().ok()?, number(share)?))
        });
        let option = self.job.options.get("iodepth").and_then(|depth| depth.parse().ok());
        let threads = f64::from(self.threads);
        self.job.queue_depth_max =
            depth_max(shares, option).map(|depth| f64::from(depth) * threads);
    }

    /// fio's percentages are of the time of all threads.
    fn processor(&mut self, rest: &str) {
        let threads = f64::from(self.threads);
        let seconds = |name: &str, runtime_s: f64| {
            Some(number(after(rest, name)?)? / 100.0 * threads * runtime_s)
        };
        self.job.processor = self.job.runtime_s().and_then(|runtime_s| {
            let user_s = seconds("usr=", runtime_s)?;
            Some(ProcessorTime { user_s, system_s: seconds("sys=", runtime_s)? })
        });
    }
}

fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.split_once(word).map(|(_, rest)| rest.trim_start())
}

/// The number that stands before a word.
fn before<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (text, _) = text.split_once(word)?;
    let begin = text.rfind(|sign: char| !sign.is_ascii_digit()).map_or(0, |place| place + 1);
    text.get(begin..)
}

/// A number at the beginning of a text, with fio's `k` and `M` of thousands.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(text.len());
    let factor = match text[end..].chars().next() {
        Some('k' | 'K') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        _ => 1.0,
    };
    possible(text[..end].parse::<f64>().ok()? * factor)
}

/// `128MiB`, `134MB`, `1404.0MB`; letters without an `i` have this base.
fn size(text: &str, base: f64) -> Option<f64> {
    let end = text.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(text.len());
    let unit = &text[end..];
    let power = "BKMGTP".find(unit.chars().next().unwrap_or('B').to_ascii_uppercase())?;
    let base: f64 = if unit.chars().nth(1) == Some('i') { 1024.0 } else { base };
    let factor = base.powi(i32::try_from(power).ok()?);
    possible(text[..end].parse::<f64>().ok()? * factor)
}

fn unit_ns(text: &str) -> Option<f64> {
    match text.split(')').next()?.trim() {
        "nsec" | "ns" => Some(1.0),
        "usec" | "us" => Some(1e3),
        "msec" | "ms" => Some(1e6),
        "sec" | "s" => Some(1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::printed::KnownTimes;
    use super::super::runs::imported;
    use super::*;
    use crate::results::ImportedContent;
    use crate::results::rows::testing::{rows, value};

    const NEW: &str = "alpha: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) \
                       4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

alpha: (groupid=0, jobs=2): err= 0: pid=12101: Fri Nov 27 10:31:02 2026
  read: IOPS=16.3k, BW=63.6MiB/s (66.7MB/s)(128MiB/2008msec)
    clat (usec): min=21, max=43286, avg=42.95, stdev=269.58
     lat (usec): min=21, max=43286, avg=43.00, stdev=269.58
    clat percentiles (usec):
     |  1.00th=[   25], 50.00th=[   33], 99.00th=[  143], 99.90th=[ 2311],
     | 99.99th=[ 4817]
   bw (  KiB/s): min=59064, max=73720, per=100.00%, avg=65412.00, stdev=7001.44, samples=4
  write: IOPS=6953, BW=27.2MiB/s (28.5MB/s)(54.5MiB/2008msec); 0 zone resets
    clat (nsec): min=1170, max=4031.7k, avg=3507.87, stdev=34135.07
    clat percentiles (nsec):
     |  1.00th=[ 1736], 99.00th=[10560]
  lat (usec)   : 2=1.41%, 4=24.83%, 10=3.35%, 20=0.28%, 50=64.61%
  cpu          : usr=10.00%, sys=20.00%, ctx=32900, majf=0, minf=14
     issued rwts: total=32707,13963,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=63.6MiB/s (66.7MB/s), io=128MiB (134MB), run=2008-2008msec
";

    const OLD: &str = "beta: (groupid=0, jobs=1): err= 0: pid=7: Tue Nov 14 22:13:20 2017
  read : io=1404.0MB, bw=71875KB/s, iops=8984, runt= 20003msec
    clat (usec): min=90, max=5200, avg=412.00, stdev=150.00
    clat percentiles (usec):
     | 50.00th=[  380], 99.00th=[ 1900]
     issued    : total=r=179712/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0

Run status group 0 (all jobs):
";

    #[test]
    fn the_amount_of_large_blocks_follows_from_their_number() {
        let text = "s: (g=0): rw=write, bs=(R) 20.0MiB-20.0MiB, (W) 20.0MiB-20.0MiB, (T) 20.0MiB-\
                    20.0MiB, ioengine=posixaio, iodepth=1\nfio-3.19\n\ns: (groupid=0, jobs=1): err= \
                    0: pid=1: Wed Dec 30 09:30:23 2020\n  write: IOPS=113, BW=2267MiB/s \
                    (2377MB/s)(22.1GiB/10005msec)\n    clat (usec): min=6459, max=37275, \
                    avg=8152.63, stdev=4464.64\n     issued rwts: total=0,1134,0,0 short=0,0,0,0 \
                    dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n  WRITE: bw=2267MiB/s \
                    (2377MB/s), io=22.1GiB (23.8GB), run=10005-10005msec\n";
        let output = read(text).unwrap();
        let write = output.jobs[0].write.as_ref().unwrap();
        assert_eq!((write.ios, write.bytes), (1134, 1134 * (20 << 20)));
    }

    #[test]
    fn a_result_has_the_date_of_its_jobs() {
        assert_eq!(read(NEW).unwrap().ended_unix_ns, Some(1_795_775_462_000_000_000));
        assert_eq!(read(OLD).unwrap().ended_unix_ns, Some(1_510_697_600_000_000_000));
        assert_eq!(read(OLD).unwrap().lacks, [Lack::Zone]);
    }

    #[test]
    fn an_output_of_version_3_is_read_to_its_digits() {
        let output = read(NEW).unwrap();
        let job = &output.jobs[0];
        let (reads, writes) = (job.read.as_ref().unwrap(), job.write.as_ref().unwrap());
        assert_eq!((reads.ios, reads.bytes, writes.ios), (32_707, 32_707 * 4096, 13_963));
        assert_eq!(reads.completion.quantiles.len(), 5);
        assert_eq!(writes.completion.max_ns, Some(4_031_700.0));
        let KnownTimes::Distribution(times) = reads.times() else { panic!() };
        assert!((times.mean_ns() / 42_950.0 - 1.0).abs() < 0.01, "{}", times.mean_ns());
        let processor = job.processor.unwrap();
        assert!((processor.user_s - 0.1 * 2.0 * 2.008).abs() < 1e-9);
        let options: Vec<String> =
            job.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(options, ["bs=4096", "iodepth=1", "ioengine=psync", "numjobs=2", "rw=randrw"]);
        assert_eq!(output.version, "fio-3.33");
    }

    #[test]
    fn an_output_of_version_2_is_read() {
        let output = read(OLD).unwrap();
        let read = output.jobs[0].read.as_ref().unwrap();
        assert_eq!((read.ios, read.runtime_s), (179_712, Some(20.003)));
        assert_eq!(read.bytes, 1404 << 20);
        assert_eq!(read.completion.quantiles, [(0.5, 380e3), (0.99, 1.9e6)]);
    }

    #[test]
    fn states_are_one_and_two_results_are_refused() {
        let later = NEW.replace("2008msec", "4008msec").replace("32707", "65414");
        let found = read(&format!("{NEW}{later}")).unwrap();
        assert_eq!(found.jobs[0].read.as_ref().unwrap().ios, 65_414);
        let other = read(&format!("{NEW}{}", NEW.replace("pid=12101", "pid=12102")));
        assert!(other.unwrap_err().message().contains("several runs"));
        let end = NEW.find("Run status").unwrap();
        let other = read(&format!("{}{}", &NEW[..end], NEW.replace("pid=12101", "pid=12102")));
        assert!(other.unwrap_err().message().contains("several runs"), "cut before its end");
        let cut = &NEW[..NEW.len() - 150];
        assert!(read(cut).unwrap_err().message().contains("Run status"));
    }

    #[test]
    fn clients_are_told_apart() {
        let of = |host: &str| -> String {
            NEW.lines()
                .skip(4)
                .map(|line| format!("<{host}> {line}\n"))
                .collect::<Vec<_>>()
                .concat()
        };
        let sum = NEW
            .lines()
            .skip(4)
            .map(|line| line.replace("alpha", ALL_CLIENTS) + "\n")
            .collect::<String>();
        let hosts = "hostname=h1, be=0, 64-bit\nhostname=h2, be=0, 64-bit\n";
        let output = read(&format!("{hosts}{}{}{sum}", of("h1"), of("h2"))).unwrap();
        let names: Vec<String> = output.jobs.iter().map(PrintedJob::full_name).collect();
        assert_eq!(names, ["alpha@h1", "alpha@h2"]);
    }

    #[test]
    fn times_that_contradict_rate_and_depth_are_left_out() {
        let depths = |depths: &str| {
            let line = format!("  IO depths    : {depths}\n     issued");
            imported(read(&NEW.replacen("     issued", &line, 1)).unwrap()).unwrap()
        };
        // Two jobs of 16,300 I/Os per second and 43 us have 0.7 at a time.
        let known = depths("1=100.0%, 2=0.0%, >=64=0.0%");
        assert!(matches!(known.content, ImportedContent::Runs(_)), "{:?}", known.lacks);
        let slower = NEW.replace("avg=42.95", "avg=4295").replace("max=43286", "max=43286k");
        let slower = slower.replacen("     issued", "  IO depths    : 1=100.0%\n     issued", 1);
        let found = imported(read(&slower).unwrap()).unwrap();
        assert!(found.lacks.contains(&Lack::ContradictoryTimes), "{:?}", found.lacks);
        let row = &rows(found)[0];
        assert!(value(row, "read.iops") > 16_000.0);
        assert!(row.measures.iter().all(|one| !one.quantity.contains("service_time")));
    }

    #[test]
    fn a_side_that_ran_shorter_has_the_rate_of_its_own_time() {
        let text = NEW.replacen("54.5MiB/2008msec", "54.5MiB/1004msec", 1);
        let row = &rows(imported(read(&text).unwrap()).unwrap())[0];
        assert!((value(row, "write.iops") - 13_963.0 / 1.004).abs() < 0.1);
        assert!((value(row, "read.iops") - 32_707.0 / 2.008).abs() < 0.1);
        assert!(row.started_unix_ns.is_some() && value(row, "iops").is_nan());
    }

    #[test]
    fn jobs_of_a_group_that_ran_for_different_times_keep_their_rates() {
        let job = |pid: u32, time_ms: u32| {
            let text = NEW.split("Run status").next().unwrap().lines().skip(4).collect::<Vec<_>>();
            let text = text.join("\n").replace("12101", &pid.to_string());
            text.replace("2008msec", &format!("{time_ms}msec")) + "\n"
        };
        let text = format!("{}{}\nRun status group 0 (all jobs):\n", job(1, 2008), job(2, 1004));
        let rows = rows(imported(read(&text).unwrap()).unwrap());
        let names = [0, 1, 2].map(|row: usize| rows[row].settings[0].value.to_string());
        assert_eq!(names, ["alpha", "alpha-2", "alpha and 1 more"]);
        let rates = [0, 1, 2].map(|row: usize| value(&rows[row], "iops"));
        for (rate, time_s) in rates.into_iter().zip([2.008, 1.004, 1.004]) {
            assert!((rate - 46_670.0 / time_s).abs() < 0.1, "{rates:?}");
        }
    }

    #[test]
    fn a_job_that_failed_is_refused_in_the_words_of_fio() {
        let plan = NEW.lines().next().unwrap();
        for (line, why) in [
            (
                "fio: pid=0, err=13/file:x.c:1, func=open, error=Permission denied",
                "Permission denied",
            ),
            ("error: maximum number of jobs (8) reached.", "maximum number of jobs (8) reached"),
        ] {
            let text = format!("{plan}\nfio-3.28\n{line}\n\nRun status group 0 (all jobs):\n");
            assert!(is_output(&text));
            let error = read(&text).unwrap_err();
            assert!(error.message().ends_with(&format!("its job failed: {why}")), "{error}");
        }
        let error = read(&format!("{plan}\nfio-3.28\nStarting 1 process\n")).unwrap_err();
        assert!(error.message().contains("Run status"), "{error}");
        assert_eq!(read(&NEW.replace("fio-3.33", "2.0.8")).unwrap().version, "fio-2.0.8");
    }
}
