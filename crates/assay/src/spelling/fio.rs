//! The command line of fio, as its users type it, in the options of `assay run` (fio manual, "Job file parameters").

use super::value::quantity;
use assay_methods::patterns::Pattern;
use assay_model::number::share;
use assay_model::units::{Bytes, show_count};
use assay_model::{Error, Result};
use std::collections::VecDeque;

/// Options that fio needs and that have nothing to do here.
const IGNORED: [&str; 33] = [
    "allow_file_create",
    "clocksource",
    "create_on_open",
    "create_serialize",
    "disk_util",
    "end_fsync",
    "eta",
    "eta-newline",
    "exitall",
    "fallocate",
    "fixedbufs",
    "group_reporting",
    "gtod_reduce",
    "invalidate",
    "iodepth_batch",
    "iodepth_batch_complete",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_batch_submit",
    "iodepth_low",
    "norandommap",
    "percentile_list",
    "randrepeat",
    "refill_buffers",
    "registerfiles",
    "status-interval",
    "stonewall",
    "thread",
    "time_based",
    "unified_rw_reporting",
    "unlink",
    "verify_fatal",
    "wait_for_previous",
];

/// Those among all of them that stand without a value.
const FLAGS: [&str; 15] = [
    "create_on_open",
    "exitall",
    "fixedbufs",
    "group_reporting",
    "gtod_reduce",
    "norandommap",
    "refill_buffers",
    "registerfiles",
    "stonewall",
    "thread",
    "time_based",
    "wait_for_previous",
    "hipri",
    "minimal",
    "zero_buffers",
];

const IN_A_FILE: &str = "write it into a workload file: start from `assay run randread --print`";

/// Options that are refused, and what to do instead.
const REFUSED: [(&str, &str); 33] = [
    ("bs_unaligned", "leave it out: I/Os are aligned to their size"),
    (
        "bsrange",
        "write `transfer = [{ size = \"4KiB\", share = 0.5 }, …]` into a workload file: start from `assay run randread --print`",
    ),
    (
        "bssplit",
        "write `transfer = [{ size = \"4KiB\", share = 0.5 }, …]` into a workload file: start from `assay run randread --print`",
    ),
    ("client", "run it on each host"),
    ("cpus_allowed", "put `taskset -c 0-3` before the command"),
    ("do_verify", "write --verify alone: what is read is checked while the run lasts"),
    ("file_service_type", "name several targets; they make one address space"),
    ("flow", IN_A_FILE),
    ("io_size", "leave it out: a run lasts for --time, and --size is the size of the test file"),
    (
        "latency_percentile",
        "use `assay calibrate DIR --max-latency 1ms --quantile p99`, which finds the most IOPS within a limit",
    ),
    (
        "latency_target",
        "use `assay calibrate DIR --max-latency 1ms`, which finds the most IOPS within a limit",
    ),
    (
        "latency_window",
        "use `assay calibrate DIR --max-latency 1ms`, which finds the most IOPS within a limit",
    ),
    ("log_avg_msec", "write --interval; `assay report latest --csv intervals` has the log"),
    ("loops", "leave it out: a run lasts for --time"),
    (
        "max_latency",
        "add a criterion on q1 and --criteria, or use `assay calibrate DIR --max-latency 1ms`",
    ),
    ("nice", "put `nice -n 10` before the command"),
    ("nrfiles", "name several targets; they make one address space"),
    ("number_ios", "leave it out: a run lasts for --time"),
    ("numa_cpu_nodes", "put `numactl --cpunodebind=0` before the command"),
    ("offset", "write `span` into a workload file: start from `assay run randread --print`"),
    (
        "offset_increment",
        "write `span` into a workload file: start from `assay run randread --print`",
    ),
    ("output", "redirect standard output, or see `assay report --html FILE`"),
    (
        "rate_process",
        "write `arrival` with a process into a workload file: start from `assay run randread --print`",
    ),
    ("rwmixcycle", "leave it out"),
    ("startdelay", "put `sleep 10;` before the command"),
    ("sync", "write --fdatasync 1, which flushes after every write"),
    (
        "thinktime",
        "write `arrival = { closed = { outstanding = 1, think_time = \"1ms\" } }` into a workload file: start from `assay run randread --print`",
    ),
    ("write_bw_log", "see `assay report latest --csv intervals`"),
    ("write_hist_log", "see `assay report latest --csv histograms`"),
    ("write_iops_log", "see `assay report latest --csv intervals`"),
    ("write_lat_log", "see `assay report latest --csv histograms`"),
    ("zonemode", "leave it out: zoned devices are not written to"),
    ("zonesize", "write `span` into a workload file: start from `assay run randread --print`"),
];

/// Engines of fio, and the backend that does the same.
const ENGINES: [(&str, &str); 9] = [
    ("io_uring", "uring"),
    // Its targets, such as /dev/ng0n1, say the rest.
    ("io_uring_cmd", "uring"),
    ("libaio", "auto"),
    ("null", "null"),
    ("posixaio", "posix"),
    ("psync", "posix"),
    ("pvsync", "posix"),
    ("pvsync2", "posix"),
    ("sync", "posix"),
];

/// Options that have another name or another form here.
const KNOWN: [&str; 32] = [
    "blocksize",
    "bs",
    "buffer_compress_percentage",
    "buffered",
    "cmd_type",
    "dedupe_percentage",
    "direct",
    "directory",
    "fdatasync",
    "filename",
    "filesize",
    "fsync",
    "hipri",
    "iodepth",
    "ioengine",
    "minimal",
    "name",
    "numjobs",
    "output-format",
    "ramp_time",
    "random_distribution",
    "randseed",
    "rate",
    "rate_iops",
    "readwrite",
    "runtime",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
    "verify",
    "zero_buffers",
];

/// What a command line in fio's words means here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandWords {
    /// The same in the options of `assay run`.
    pub words: Vec<String>,
    /// What is read otherwise than a user of fio might expect.
    pub notes: Vec<String>,
}

/// What was found in fio's words so far.
#[derive(Default)]
struct Job {
    pattern: Option<String>,
    transfer: Option<String>,
    depth: Option<u32>,
    jobs: Option<u32>,
    bytes_per_s: Option<String>,
    says_direct: bool,
    words: Vec<String>,
    targets: Vec<String>,
    notes: Vec<String>,
}

/// Translates the words that follow `assay run`; words that are not fio's stay as they are.
///
/// # Errors
/// A usage error for what fio does and Assay does not.
pub fn translate(words: &[String]) -> Result<CommandWords> {
    let (mut job, mut rest) = (Job::default(), VecDeque::from(words.to_vec()));
    while let Some(word) = rest.pop_front() {
        if word == "--" {
            job.words.push(word);
            job.words.extend(rest.drain(..));
            break;
        }
        match option(&word) {
            Some((name, value)) => {
                let is_value = |word: &&String| !word.starts_with('-');
                let waits = value.is_none() && !FLAGS.contains(&name.as_str());
                let next = if waits && rest.front().as_ref().is_some_and(is_value) {
                    rest.pop_front()
                } else {
                    None
                };
                job.take(&name, value.or(next).unwrap_or_default())?;
            }
            None => job.words.push(word),
        }
    }
    job.finish()
}

/// The name and the value of a word that is an option of fio: `--bs=4k`, `--bs`, and `-bs=4k`, which fio takes, too.
fn option(word: &str) -> Option<(String, Option<String>)> {
    let typed = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let (name, value) = match typed.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (typed, None),
    };
    let is_known = KNOWN.contains(&name) || IGNORED.contains(&name) || is_refused(name);
    // These are options of Assay itself, in the same sense.
    let is_shared = match name {
        "name" | "size" => true,
        "buffered" => value.is_none(),
        "rate" => is_iops(value.as_deref()),
        "verify" => value.as_deref().is_none_or(|value| value.ends_with('%')),
        _ => false,
    };
    (is_known && !is_shared).then(|| (name.to_owned(), value))
}

fn is_refused(name: &str) -> bool {
    REFUSED.iter().any(|(refused, _)| *refused == name)
}

/// Whether a rate can be one of I/Os: fio's own is in bytes and has a suffix, as in `--rate=10m`.
fn is_iops(value: Option<&str>) -> bool {
    value.is_none_or(|value| !value.ends_with(['k', 'm', 'g', 'K', 'M', 'G']))
}

impl Job {
    fn take(&mut self, name: &str, value: String) -> Result<()> {
        match name {
            "rw" | "readwrite" => self.pattern = Some(pattern(&value)?),
            "bs" | "blocksize" => self.transfer = Some(value),
            "iodepth" => self.depth = Some(number(name, &value)?),
            "numjobs" => self.jobs = Some(number(name, &value)?),
            "direct" | "buffered" => self.direct((name == "direct") == (value != "0")),
            "ioengine" => self.engine(&value)?,
            "cmd_type" if value == "nvme" => {}
            "filename" => self.targets.extend(value.split(':').map(str::to_owned)),
            "directory" => self.targets.push(value),
            "random_distribution" => self.distribution(&value)?,
            "output-format" if value.starts_with("json") => self.words.push("--json".to_owned()),
            "output-format" => self.ignore(name),
            "rwmixwrite" => {
                let share = number(name, &value)?.min(100);
                self.option("--read-share", format!("{}%", 100 - share));
            }
            "rwmixread" => self.option("--read-share", percent(&value)),
            "runtime" => self.option("--time", value),
            "ramp_time" => self.option("--warm-up", value),
            "rate_iops" => self.option("--rate", value),
            "rate" => self.bytes_per_s = Some(value),
            "verify" => self.verify(&value),
            "minimal" => self.words.push("--json".to_owned()),
            "hipri" => self.words.push("--polled".to_owned()),
            "buffer_compress_percentage" => self.option("--compressible", percent(&value)),
            "dedupe_percentage" => self.option("--duplicate", percent(&value)),
            "zero_buffers" => self.option("--compressible", "100%".to_owned()),
            "randseed" => self.option("--seed", value),
            "filesize" => self.option("--size", value),
            "fdatasync" | "fsync" => self.option("--fdatasync", value),
            _ if IGNORED.contains(&name) => self.ignore(name),
            _ => return Err(refused(name)),
        }
        Ok(())
    }

    fn option(&mut self, name: &str, value: String) {
        self.words.extend([name.to_owned(), value]);
    }

    fn ignore(&mut self, name: &str) {
        self.notes.push(format!("note: --{name} has nothing to do here and is ignored"));
    }

    fn direct(&mut self, is_direct: bool) {
        self.says_direct = true;
        if !is_direct {
            self.words.push("--buffered".to_owned());
        }
    }

    fn engine(&mut self, name: &str) -> Result<()> {
        let found = ENGINES.iter().find(|(engine, _)| *engine == name);
        // A backend's own name is right, too.
        let backend = found.map_or(name, |(_, backend)| backend);
        if !["auto", "uring", "posix", "null"].contains(&backend) {
            let known: Vec<&str> = ENGINES.iter().map(|(engine, _)| *engine).collect();
            return Err(Error::usage(
                format!("--ioengine {name} is not known"),
                format!("write one of {}, or leave it out", known.join(", ")),
            ));
        }
        if name == "libaio" {
            self.notes.push(
                "note: --ioengine libaio: I/Os go through io_uring where the kernel has it"
                    .to_owned(),
            );
        }
        self.option("--backend", backend.to_owned());
        Ok(())
    }

    fn distribution(&mut self, value: &str) -> Result<()> {
        match value.split_once(':') {
            None if value == "random" => Ok(()),
            Some(("zipf", theta)) => {
                self.option("--zipf", theta.to_owned());
                Ok(())
            }
            _ => Err(Error::usage(
                format!("--random_distribution {value} is not known"),
                "write zipf:1.1, or write a workload file with its access: start from `assay run randread --print`",
            )),
        }
    }

    fn verify(&mut self, check: &str) {
        self.words.push("--verify".to_owned());
        self.notes.push(format!(
            "note: --verify {check}: blocks carry stamps of Assay, which also show lost and misplaced writes"
        ));
    }

    /// A rate in bytes per second as the rate of I/Os of the one size.
    fn paced(&mut self) -> Result<()> {
        let Some(rate) = self.bytes_per_s.take() else {
            return Ok(());
        };
        let transfer = self.transfer.clone().unwrap_or_else(|| "4KiB".to_owned());
        let size = |text: &str| quantity::<Bytes>(text).map(|Bytes(bytes)| bytes);
        let (Ok(bytes_per_s), Ok(transfer_bytes)) = (size(&rate), size(&transfer)) else {
            return Err(Error::usage(
                format!("--rate {rate} with --bs {transfer} is not one rate"),
                "write I/Os per second, for example --rate 5000/s",
            ));
        };
        let iops = share(bytes_per_s, transfer_bytes);
        self.option("--rate", format!("{iops:.3}/s"));
        let iops = show_count(iops);
        self.notes.push(format!(
            "note: --rate {rate} is in bytes per second, as in fio: {iops} I/Os of {transfer} per second"
        ));
        Ok(())
    }

    /// Puts the pattern first and the targets last, and adds what fio does where nothing is said.
    fn finish(mut self) -> Result<CommandWords> {
        self.paced()?;
        let is_fio = self.pattern.is_some();
        let (depth, jobs) = (self.depth.or(is_fio.then_some(1)), self.jobs.unwrap_or(1));
        if is_fio && (self.transfer.is_none() || self.depth.is_none()) {
            self.notes.push(
                "note: as in fio, --bs is 4k and --iodepth is 1 where they are not given"
                    .to_owned(),
            );
        }
        if is_fio && !self.says_direct {
            self.notes.push("note: I/O is direct unless --direct=0 is given".to_owned());
        }
        if let Some(transfer) = self.transfer.take().or_else(|| is_fio.then(|| "4KiB".to_owned())) {
            self.option("--transfer", transfer);
        }
        if jobs > 1 {
            self.option("--workers", jobs.to_string());
            let outstanding = jobs.saturating_mul(depth.unwrap_or(1));
            self.notes.push(format!(
                "note: --numjobs {jobs} with {} I/Os each are {jobs} workers with {outstanding} outstanding I/Os",
                depth.unwrap_or(1)
            ));
        }
        if let Some(depth) = depth.or((jobs > 1).then_some(1)) {
            self.option("--outstanding", depth.saturating_mul(jobs).to_string());
        }
        let pattern = self.pattern.into_iter();
        let words = pattern.chain(self.words).chain(self.targets).collect();
        Ok(CommandWords { words, notes: self.notes })
    }
}

fn pattern(value: &str) -> Result<String> {
    if Pattern::named(value).is_some() {
        return Ok(value.to_owned());
    }
    let hint = "write randread, randwrite, randrw, read, write or rw";
    Err(Error::usage(format!("--rw {value} is not known"), hint))
}

fn number(name: &str, value: &str) -> Result<u32> {
    let hint = "write a whole number above 0";
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Error::usage(format!("--{name}: '{value}' is not a number"), hint))
}

/// fio writes shares of reads as whole percentages, so that 1 is one percent.
fn percent(value: &str) -> String {
    if value.bytes().all(|digit| digit.is_ascii_digit()) {
        format!("{value}%")
    } else {
        value.to_owned()
    }
}

fn refused(name: &str) -> Error {
    let found = REFUSED.iter().find(|(refused, _)| *refused == name);
    let hint = found.map_or("leave it out", |(_, hint)| hint);
    Error::usage(format!("--{name} is an option of fio that has no counterpart here"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<CommandWords> {
        translate(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn words(line: &str) -> String {
        read(line).unwrap().words.join(" ")
    }

    #[test]
    fn a_job_of_fio_is_the_same_run() {
        assert_eq!(
            words("--bs 8k --iodepth 32 --rw randread --runtime 10 DIR"),
            "randread --time 10 DIR --transfer 8k --outstanding 32"
        );
        assert_eq!(
            words(
                "-rw=randrw -bs=4k -rwmixread=70 -numjobs=4 -iodepth=8 --direct=1 --filename=/a:/b"
            ),
            "randrw --read-share 70% --transfer 4k --workers 4 --outstanding 32 /a /b"
        );
        assert_eq!(
            words("--readwrite=write --direct=0 D"),
            "write --buffered D --transfer 4KiB --outstanding 1"
        );
        assert_eq!(words("randread D --iodepth 4"), "randread D --outstanding 4");
        assert_eq!(
            words(
                "randread D --ioengine=psync --random_distribution=zipf:1.1 --rwmixwrite 30 --output-format=json+"
            ),
            "randread D --backend posix --zipf 1.1 --read-share 70% --json"
        );
    }

    #[test]
    fn a_rate_in_bytes_is_that_of_the_ios() {
        assert_eq!(
            words("--rw randread --bs 8k --iodepth 4 --direct 1 --rate=10m D"),
            "randread D --rate 1280.000/s --transfer 8k --outstanding 4"
        );
        assert_eq!(words("oltp D --rate 5000/s"), "oltp D --rate 5000/s");
        assert_eq!(words("oltp D --ramp_time=2 --fsync=1"), "oltp D --warm-up 2 --fdatasync 1");
        assert_eq!(
            words("randwrite D --verify=crc32c --dedupe_percentage=30"),
            "randwrite D --verify --duplicate 30%"
        );
        assert_eq!(words("randwrite D --verify"), "randwrite D --verify");
    }

    #[test]
    fn words_of_assay_stay_as_they_are() {
        let line =
            "oltp D --time 30s --size 1GiB --name one --rate 5000 --read-share 0.7 -q -- --bs";
        assert_eq!(
            read(line).unwrap(),
            CommandWords { words: line.split(' ').map(str::to_owned).collect(), notes: Vec::new() }
        );
    }

    #[test]
    fn what_is_read_otherwise_is_noted() {
        let notes = |line| read(line).unwrap().notes;
        assert_eq!(notes("--rw read --bs 1m --iodepth 2 --direct 1 D"), [""; 0]);
        assert_eq!(notes("--rw read D").len(), 2);
        assert!(notes("oltp D --group_reporting")[0].contains("ignored"));
        assert!(notes("oltp D --numjobs 4")[0].contains("4 workers with 4 outstanding"));
    }

    #[test]
    fn what_has_no_counterpart_is_refused_with_what_to_do() {
        for line in [
            "--rw trim D",
            "--rw randread --bssplit 4k/50 D",
            "x --iodepth many",
            "x --ioengine rados",
            "x --rate=manyk",
            "x --rate=10m --bs 0",
            "x --offset 1g",
            "x --thinktime 100",
            "x --latency_target=1ms",
            "x --loops 3",
            "x --random_distribution=pareto:0.9",
        ] {
            assert!(!read(line).unwrap_err().hint().is_empty(), "{line}");
        }
    }
}
