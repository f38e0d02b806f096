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
/// Options that are not understood at most, until the others are given up, too.
const UNKNOWN_MAX: usize = 32;

/// What a job was asked for.
#[derive(Default)]
struct AskedLoad {
    stream: Option<Stream>,
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
    let mut stream = |(job, result): (&&PrintedJob, &NamedResult)| {
        // A job that was not reported as a group stands there once for each of its copies.
        let is_same = |other: &&&PrintedJob| other.name == job.name && other.host == job.host;
        let is_copy = jobs.iter().filter(is_same).count() > 1;
        let asked = asked(job, is_copy);
        unused.add(asked.options);
        let stream = asked.stream.unwrap_or_else(|| done(job, result));
        Stream { name: result.name.clone(), targets: Vec::new(), ..stream }
    };
    let streams: Vec<Stream> =
        jobs.iter().zip(&measurement.streams).take(STREAMS_MAX).map(&mut stream).collect();
    let mut workload =
        Workload::of(&jobs[0].name, Nanos(measurement.elapsed_ns), streams[0].clone());
    workload.streams = streams;
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
