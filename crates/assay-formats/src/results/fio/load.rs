//! The workload that fio's options describe, as far as a result names them.

use super::printed::PrintedJob;
use crate::conversion::{Conversion, Treatment};
use crate::fio::OptionUse;
use crate::reason::OptionReason;
use crate::results::imported::Lack;
use crate::surroundings::Surroundings;
use assay_model::measurement::{Measurement, NamedResult};
use assay_model::number::share;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Stream, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Streams of a workload at most.
pub(super) const STREAMS_MAX: usize = 256;
/// A measured share of reads that differs by more from fio's default of one half contradicts it.
const READ_SHARE_ROUNDING: f64 = 0.02;
/// Options that are not understood at most, until the others are given up, too.
const UNKNOWN_MAX: usize = 32;

/// What a job was asked for.
#[derive(Default)]
struct AskedLoad {
    stream: Option<Stream>,
    /// The time before the measured one.
    warm_up: Nanos,
    options: OptionLacks,
}

/// Options of a result that its workload does not follow, by their names.
#[derive(Debug, Default)]
pub struct OptionLacks {
    /// Those that no version of fio known here has.
    unknown: BTreeSet<String>,
    /// Those that a workload has no counterpart for, or follows nearly.
    left_out: BTreeSet<String>,
}

impl OptionLacks {
    fn add(&mut self, other: Self) {
        self.unknown.extend(other.unknown);
        self.left_out.extend(other.left_out);
    }

    /// What they mean for the result.
    pub fn lacks(self) -> impl Iterator<Item = Lack> {
        let named = |names: BTreeSet<String>, lack: fn(Vec<String>) -> Lack| {
            (!names.is_empty()).then(|| lack(names.into_iter().collect()))
        };
        let lacks =
            [named(self.unknown, Lack::NotUnderstood), named(self.left_out, Lack::OptionsLeftOut)];
        lacks.into_iter().flatten()
    }
}

/// The options of jobs that are shown as rows, in which options of the load are settings.
pub fn unused(jobs: &[PrintedJob]) -> OptionLacks {
    let mut all = OptionLacks::default();
    for name in jobs.iter().flat_map(|job| job.options.keys()) {
        match crate::fio::option_use(name) {
            OptionUse::Load | OptionUse::Name => {}
            OptionUse::NoEffect => drop(all.left_out.insert(name.clone())),
            OptionUse::Unknown => drop(all.unknown.insert(name.clone())),
        }
    }
    all
}

/// What the jobs did, as far as their options say: never run again, only shown and compared. The
/// options that it does not follow are added to `unused`.
pub fn workload(
    jobs: &[&PrintedJob],
    measurement: &Measurement,
    unused: &mut OptionLacks,
) -> Workload {
    let mut warm_up = Nanos(0);
    let mut stream = |(job, result): (&&PrintedJob, &NamedResult)| {
        // A job that was not reported as a group stands there once for each of its copies.
        let is_same = |other: &&&PrintedJob| other.name == job.name && other.host == job.host;
        let is_copy = jobs.iter().filter(is_same).count() > 1;
        let asked = asked(job, is_copy);
        unused.add(asked.options);
        warm_up = Nanos(warm_up.0.max(asked.warm_up.0));
        let stream = asked.stream.unwrap_or_else(|| done(job, result));
        let read_share = read_share(job, result).unwrap_or(stream.read_share);
        let block_size =
            if has_size(job) { stream.block_size } else { done(job, result).block_size };
        Stream { name: result.name.clone(), targets: Vec::new(), read_share, block_size, ..stream }
    };
    let streams: Vec<Stream> =
        jobs.iter().zip(&measurement.streams).take(STREAMS_MAX).map(&mut stream).collect();
    let mut workload =
        Workload::of(&jobs[0].name, Nanos(measurement.elapsed_ns), streams[0].clone());
    workload.streams = streams;
    workload.warm_up = warm_up;
    workload.interval = Nanos(measurement.elapsed_ns.max(10_000_000));
    workload.direct = measurement.conduct.direct_io.unwrap_or(false);
    workload
}

/// What the options of a job stand for in a job file; nothing where a file of them is refused for
/// more than a name that is not known.
fn asked(job: &PrintedJob, is_copy: bool) -> AskedLoad {
    let mut options: BTreeMap<&String, &String> = job.options.iter().collect();
    // Places are names here, and every job has its own.
    options.retain(|name, value| {
        let is_place = ["name", "filename", "directory"].contains(&name.as_str());
        let is_counted = is_copy && *name == "numjobs";
        !(is_place || is_counted || value.contains('\n'))
    });
    let mut asked = AskedLoad::default();
    // Without options fio's defaults would be invented.
    if !options.keys().any(|name| ["rw", "readwrite", "bs", "blocksize"].contains(&name.as_str())) {
        asked.options.unknown.extend(unknown_names(options.keys().copied()));
        return asked;
    }
    for _ in 0..UNKNOWN_MAX {
        match crate::fio::convert(&job_file(&options), "fio", &Surroundings::none()) {
            Ok(conversion) => {
                let not_followed = not_followed(&conversion);
                let own = not_followed.filter(|name| job.options.contains_key(name));
                asked.options.left_out.extend(own);
                let is_whole = conversion.refused().all(|(_, reason)| !reason.leaves_out_load());
                let first = conversion.parts.first().filter(|_| is_whole);
                let workload = first.and_then(|part| part.document.workload());
                asked.stream = workload.and_then(|one| one.streams.first().cloned());
                asked.warm_up = workload.map_or(Nanos(0), |one| one.warm_up);
                return asked;
            }
            Err(refused) if matches!(refused.reason, OptionReason::UnknownOption { .. }) => {
                options.remove(&refused.origin.key);
                asked.options.unknown.insert(refused.origin.key);
            }
            Err(_) => return asked,
        }
    }
    asked
}

/// Names of options that no version of fio known here has.
fn unknown_names<'a>(names: impl Iterator<Item = &'a String>) -> impl Iterator<Item = String> {
    let is_unknown = |name: &&String| matches!(crate::fio::option_use(name), OptionUse::Unknown);
    names.filter(is_unknown).cloned()
}

/// Options that a conversion does not follow exactly; the engine is named elsewhere.
fn not_followed(conversion: &Conversion) -> impl Iterator<Item = String> {
    let others = conversion.notes.iter().filter(|note| {
        let is_followed = matches!(note.treatment, Treatment::Exact | Treatment::NoEffect);
        !(is_followed || note.origin.key == "ioengine" || note.origin.key == "runtime")
    });
    let names = others.map(|note| note.origin.key.as_str());
    names.chain(conversion.without_effect()).map(str::to_owned)
}

fn job_file(options: &BTreeMap<&String, &String>) -> String {
    let line = |(name, value): (&&String, &&String)| {
        if value.is_empty() { format!("{name}\n") } else { format!("{name}={value}\n") }
    };
    options.iter().fold("[job]\n".to_owned(), |text, option| text + &line(option))
}

/// What was done, where the options say nothing that can be read.
fn done(job: &PrintedJob, result: &NamedResult) -> Stream {
    let number = |name: &str| job.options.get(name).and_then(|text| text.parse::<u32>().ok());
    let queue_depth = number("iodepth").unwrap_or(1).clamp(1, 32_768);
    let (ios, bytes) = (result.operations.ios(), result.operations.bytes());
    let block_size = (bytes / ios.max(1)).clamp(512, 64 << 20);
    let reads = result.operations.read.as_ref().map_or(0, |read| read.ios);
    Stream::closed("", Share(share(reads, ios)), Bytes(block_size), queue_depth)
}

/// Whether the options name the sizes of I/Os: the printed output leaves out mixed ones.
fn has_size(job: &PrintedJob) -> bool {
    job.options.keys().any(|name| name.starts_with("bs") || name.starts_with("blocksize"))
}

/// The share of reads that was measured, in percent, if the options leave it open and fio's default
/// of one half contradicts it: the printed output has no `rwmixread`, and limits of rates change it.
fn read_share(job: &PrintedJob, result: &NamedResult) -> Option<Share> {
    let option = |name: &str| job.options.get(name).map(String::as_str);
    let is_mixed =
        matches!(option("rw").or_else(|| option("readwrite")), Some("rw" | "readwrite" | "randrw"));
    let is_set = option("rwmixread").is_some() || option("rwmixwrite").is_some();
    let (ios, reads) = (result.operations.ios(), result.operations.read.as_ref());
    let measured = share(reads.map_or(0, |read| read.ios), ios);
    let is_default = (measured - 0.5).abs() <= READ_SHARE_ROUNDING;
    (is_mixed && !is_set && !is_default && ios > 0)
        .then(|| Share((measured * 100.0).round() / 100.0))
}

/// Whether a result leaves it open how random places were drawn: older ones have no options without
/// a value, as `norandommap` is.
pub fn hides_flags(job: &PrintedJob) -> bool {
    let direction = job.options.get("rw").or_else(|| job.options.get("readwrite"));
    let is_random = direction.is_some_and(|direction| direction.starts_with("rand"));
    is_random
        && ["norandommap", "random_distribution"]
            .iter()
            .all(|name| !job.options.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use crate::results::{ImportedContent, Lack};
    use assay_model::workload::{Access, Arrival, Stream};

    fn with(options: &str, jobs: usize) -> (Stream, Vec<Lack>) {
        let job = format!(
            r#"{{"jobname": "a", "job options": {{{options}}}, "read": {{"io_bytes": 8192, "total_ios": 2, "runtime": 9,
                "clat_ns": {{"min": 5, "max": 5, "mean": 5.0, "N": 2, "bins": {{"5": 2}}}}}}}}"#
        );
        let all = vec![job; jobs].join(",");
        let found = import(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{all}]}}"#)).unwrap();
        let ImportedContent::Runs(runs) = found.content else { panic!() };
        (runs[0].workload.streams[0].clone(), found.lacks)
    }

    fn queue_depth(stream: &Stream) -> u32 {
        match stream.arrival {
            Arrival::Closed { queue_depth, .. } => queue_depth,
            Arrival::Open { .. } => 0,
        }
    }

    #[test]
    fn the_load_is_what_a_job_file_of_the_same_options_stands_for() {
        let zipf = r#""rw": "randread", "bssplit": "4k/50:8k/50", "random_distribution": "zipf:0.9", "iodepth": "16", "filename": "/x""#;
        let (stream, lacks) = with(zipf, 1);
        assert_eq!(stream.access, Access::Zipf { theta: 0.9 });
        assert!(stream.block_size.parts.len() == 2 && !lacks.contains(&Lack::Flags));
        let four = r#""rw": "randread", "ioengine": "libaio", "iodepth": "16", "numjobs": "4""#;
        // A group is one job of four; copies of a job are four jobs.
        assert_eq!([1, 4].map(|jobs| queue_depth(&with(four, jobs).0)), [64, 16]);
        assert!(with(four, 1).1.contains(&Lack::Flags), "norandommap may have been set");
        // What no workload says is shown as it was done.
        assert_eq!(
            queue_depth(&with(r#""rw": "randread", "ioengine": "http", "iodepth": "3""#, 1).0),
            3
        );
    }

    #[test]
    fn the_share_of_reads_is_that_of_the_options_or_the_measured_one() {
        let share = |options: &str| with(options, 1).0.read_share.0;
        // Both of its I/Os are reads.
        let shares =
            [r#""rw": "randrw""#, r#""rw": "randrw", "rwmixread": "70""#, r#""iodepth": "4""#];
        assert_eq!(
            shares.map(|options| share(options).to_bits()),
            [1.0, 0.7, 1.0].map(f64::to_bits)
        );
        let (stream, _) = with(r#""iodepth": "4""#, 1);
        assert_eq!(
            stream.block_size.parts.len(),
            1,
            "the size is that of the I/Os, not fio's default"
        );
        assert_eq!(queue_depth(&stream), 4);
    }

    #[test]
    fn what_fio_ran_before_it_measured_is_a_warm_up() {
        let options =
            r#""rw": "randread", "percentage_random": "85", "runtime": "20", "ramp_time": "5s""#;
        let job = format!(
            r#"{{"jobname": "a", "job options": {{{options}}}, "read": {{"io_bytes": 8192, "total_ios": 2, "runtime": 9,
                "clat_ns": {{"min": 5, "max": 5, "mean": 5.0, "N": 2, "bins": {{"5": 2}}}}}}}}"#
        );
        let found = import(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{job}]}}"#)).unwrap();
        let ImportedContent::Runs(runs) = found.content else { panic!() };
        assert_eq!(runs[0].workload.warm_up.0, 5_000_000_000);
        let left_out = Lack::OptionsLeftOut(vec!["percentage_random".to_owned()]);
        assert!(found.lacks.contains(&left_out), "{:?}", found.lacks);
    }

    #[test]
    fn an_option_that_is_not_known_is_named_and_the_others_count() {
        let options =
            r#""rw": "randread", "ioengine": "libaio", "iodepth": "16", "of_the_future": "7""#;
        let (stream, lacks) = with(options, 1);
        assert_eq!(queue_depth(&stream), 16);
        assert!(
            lacks.contains(&Lack::NotUnderstood(vec!["of_the_future".to_owned()])),
            "{lacks:?}"
        );
    }

    #[test]
    fn options_that_a_workload_does_not_follow_are_named_once() {
        let options = r#""rw": "randread", "ioengine": "libaio", "iodepth": "16", "nonvectored": "1", "name": "x",
                         "registerfiles": "1", "rate_min": "1m", "iodepth_batch": "4""#;
        let names = ["iodepth_batch", "nonvectored", "rate_min", "registerfiles"];
        let expected = Lack::OptionsLeftOut(names.map(str::to_owned).to_vec());
        let lacks = with(options, 2).1;
        assert!(lacks.contains(&expected), "{lacks:?}");
        let exact = with(r#""rw": "randread", "ioengine": "libaio", "iodepth": "16""#, 1).1;
        assert!(!exact.iter().any(|lack| matches!(lack, Lack::OptionsLeftOut(_))), "{exact:?}");
    }
}
