//! A stream as options of fio, if they can express all of it.

use crate::surroundings::Surroundings;
use assay_model::measurement::{BackendKind, Conduct};
use assay_model::number::{count, real};
use assay_model::units::Share;
use assay_model::workload::{
    Access, Arrival, BlockSizeMix, Process, Span, Stream, SyncPolicy, Workload,
};

/// Options with their values, as fio writes them.
pub(super) type FioOptions = Vec<(&'static str, String)>;

/// The options of a job that does the same; nothing where a job file of them would stand for
/// something else.
pub(super) fn options(
    stream: &Stream,
    workload: &Workload,
    conduct: &Conduct,
) -> Option<FioOptions> {
    let options = written(stream, workload, conduct);
    let lines = options.iter().map(|(name, value)| format!("{name}={value}\n"));
    let file = lines.fold("[job]\n".to_owned(), |text, line| text + &line);
    let conversion = crate::fio::convert(&file, "fio", &Surroundings::none()).ok()?;
    let read = conversion.parts.first()?.document.workload()?;
    let same = Stream {
        name: stream.name.clone(),
        targets: stream.targets.clone(),
        ..read.streams.first()?.clone()
    };
    let is_same = same == *stream
        && read.direct == workload.direct
        && read.duration == workload.duration
        && read.warm_up == workload.warm_up;
    is_same.then_some(options)
}

fn written(stream: &Stream, workload: &Workload, conduct: &Conduct) -> FioOptions {
    let workers = stream.workers.max(1);
    let mut options = vec![
        ("rw", direction(stream).to_owned()),
        ("iodepth", (stream.arrival.queue_depth() / workers).max(1).to_string()),
        ("numjobs", workers.to_string()),
        ("direct", u32::from(workload.direct).to_string()),
        ("ioengine", engine(stream, conduct).to_owned()),
        ("runtime", count(workload.duration.seconds()).to_string()),
        ("time_based", "1".to_owned()),
    ];
    let mut add = |name, value: Option<String>| options.extend(value.map(|value| (name, value)));
    add(
        "ramp_time",
        (workload.warm_up.0 > 0).then(|| count(workload.warm_up.seconds()).to_string()),
    );
    let is_mixed = stream.read_share.0 > 0.0 && stream.read_share.0 < 1.0;
    add("rwmixread", is_mixed.then(|| percent(stream.read_share)));
    let (name, sizes) = sizes(&stream.block_size);
    add(name, Some(sizes));
    let (name, law) = law(stream.access);
    add(name, law);
    let (name, every) = flushes(stream.sync);
    add(name, every);
    let content = stream.content;
    add(
        "buffer_compress_percentage",
        (content.compressible.0 > 0.0).then(|| percent(content.compressible)),
    );
    add("dedupe_percentage", (content.duplicate.0 > 0.0).then(|| percent(content.duplicate)));
    add("offset", (stream.span != Span::default()).then(|| percent(stream.span.from) + "%"));
    options.extend(pace(stream, workers));
    options
}

/// fio's percentages are whole numbers.
fn percent(share: Share) -> String {
    count((share.0 * 100.0).round()).to_string()
}

fn direction(stream: &Stream) -> &'static str {
    let is_random = !matches!(stream.access, Access::Sequential { .. } | Access::Stride { .. });
    match (stream.read_share.0, is_random) {
        (share, true) if share >= 1.0 => "randread",
        (share, true) if share <= 0.0 => "randwrite",
        (_, true) => "randrw",
        (share, false) if share >= 1.0 => "read",
        (share, false) if share <= 0.0 => "write",
        (_, false) => "rw",
    }
}

/// The engine of fio that does the same.
fn engine(stream: &Stream, conduct: &Conduct) -> &'static str {
    let is_one_by_one = stream.arrival.queue_depth() <= stream.workers;
    match conduct.backend {
        BackendKind::Posix if is_one_by_one => "psync",
        BackendKind::Posix => "posixaio",
        _ if conduct.passthrough.is_empty() => "io_uring",
        _ => "io_uring_cmd",
    }
}

fn sizes(block_size: &BlockSizeMix) -> (&'static str, String) {
    if let [one] = block_size.parts.as_slice() {
        return ("bs", one.size.0.to_string());
    }
    let parts =
        block_size.parts.iter().map(|part| format!("{}/{}", part.size.0, percent(part.share)));
    ("bssplit", parts.collect::<Vec<_>>().join(":"))
}

fn law(access: Access) -> (&'static str, Option<String>) {
    match access {
        Access::Uniform => ("norandommap", Some("1".to_owned())),
        Access::Zipf { theta } => ("random_distribution", Some(format!("zipf:{theta}"))),
        Access::HotBand { share, band, .. } => {
            let rest = |share: Share| percent(Share(1.0 - share.0));
            let zones = [(percent(share), percent(band)), (rest(share), rest(band))];
            let zones = zones.map(|(share, band)| format!("{share}/{band}"));
            ("random_distribution", Some(format!("zoned:{}", zones.join(":"))))
        }
        _ => ("random_distribution", None),
    }
}

fn flushes(sync: SyncPolicy) -> (&'static str, Option<String>) {
    match sync {
        // fio has no word for force-unit-access.
        SyncPolicy::None | SyncPolicy::Fua => ("fdatasync", None),
        SyncPolicy::Fdatasync { every } => ("fdatasync", Some(every.to_string())),
        SyncPolicy::ODsync => ("sync", Some("dsync".to_owned())),
    }
}

/// Rates are those of each job and direction, and whole numbers.
fn pace(stream: &Stream, workers: u32) -> FioOptions {
    match stream.arrival {
        Arrival::Closed { think_time, .. } if think_time.0 > 0 => {
            vec![("thinktime", (think_time.0 / 1000).to_string())]
        }
        Arrival::Closed { .. } => Vec::new(),
        Arrival::Open { rate, process, .. } => {
            let each = |share: f64| count((rate.0 * share / real(u64::from(workers))).round());
            let reads = stream.read_share.0;
            let rates = if reads > 0.0 && reads < 1.0 {
                format!("{},{}", each(reads), each(1.0 - reads))
            } else {
                each(1.0).to_string()
            };
            let process = if process == Process::Poisson { "poisson" } else { "linear" };
            vec![("rate_iops", rates), ("rate_process", process.to_owned())]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::{Bytes, Nanos, Rate};

    fn workload(change: impl Fn(&mut Stream)) -> Workload {
        let mut stream = Stream::closed("s", Share(0.7), Bytes(8192), 32);
        change(&mut stream);
        let mut workload = Workload::of("w", Nanos(10_000_000_000), stream);
        workload.direct = true;
        workload
    }

    fn of(change: impl Fn(&mut Stream)) -> Option<String> {
        let workload = workload(change);
        let options = options(&workload.streams[0], &workload, &Conduct::default())?;
        let words = options.iter().skip(7).map(|(name, value)| format!("{name}={value}"));
        Some(words.collect::<Vec<_>>().join(" "))
    }

    fn open(rate: f64, process: Process) -> Arrival {
        Arrival::Open {
            rate: Rate(rate),
            process,
            burst: 1,
            queue_depth_max: 32,
            group_commit: None,
        }
    }

    #[test]
    fn what_fio_has_words_for_is_written_in_them() {
        for (found, words) in [
            (of(|_| ()), "rwmixread=70 bs=8192 norandommap=1"),
            (of(|one| one.access = Access::Permutation), "rwmixread=70 bs=8192"),
            (
                of(|one| one.arrival = open(5000.0, Process::Poisson)),
                "rwmixread=70 bs=8192 norandommap=1 rate_iops=3500,1500 rate_process=poisson",
            ),
            (
                of(|one| {
                    one.access =
                        Access::HotBand { share: Share(0.9), band: Share(0.1), start: Share(0.0) }
                }),
                "rwmixread=70 bs=8192 random_distribution=zoned:90/10:10/90",
            ),
            (
                of(|one| one.sync = SyncPolicy::Fdatasync { every: 4 }),
                "rwmixread=70 bs=8192 norandommap=1 fdatasync=4",
            ),
        ] {
            assert_eq!(found.as_deref(), Some(words));
        }
    }

    #[test]
    fn what_fio_has_no_words_for_is_not_half_written() {
        assert_eq!(of(|one| one.access = Access::Stride { step: Bytes(16384) }), None);
        assert_eq!(of(|one| one.access = Access::Sequential { streams: 4 }), None);
        assert_eq!(of(|one| one.read_share = Share(0.333)), None);
        assert_eq!(of(|one| one.arrival = open(1000.5, Process::Constant)), None);
    }
}
