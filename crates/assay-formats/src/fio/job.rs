//! One job as a stream: what it does, on which files, from when to when.

use super::access::access;
use super::direction::FioDirection;
use super::limits::{DEFAULT_TIME, JOBS_MAX, QUEUE_DEPTH_MAX};
use super::number::{self, FioSize};
use super::sizes::block_size;
use crate::conversion::{Note, OptionOrigin, Refused};
use crate::reading::{ReadSection, SectionReader};
use crate::reason::{Approximation, OptionReason};
use assay_model::number::real;
use assay_model::units::{Nanos, Rate, Share};
use assay_model::workload::{Arrival, BlockSizeMix, Content, Process, Span, Stream, SyncPolicy};

const SECOND_NS: u64 = 1_000_000_000;

/// A job, ready to run with others.
pub struct FioJob {
    /// The stream, on targets that are not numbered yet.
    pub stream: Stream,
    /// Names of its files or devices, and the bytes of each where they are known.
    pub files: Vec<String>,
    /// Bytes of each of them.
    pub file_bytes: Option<u64>,
    /// Part of its files that it uses, where it does not use all.
    pub share: Option<f64>,
    /// Whether it begins when all before it have ended.
    pub is_barrier: bool,
    /// When it starts, ns after its group.
    pub start_ns: u64,
    /// How long it runs, ns, where time ends it.
    pub run_ns: Option<u64>,
    /// Load before measuring, ns.
    pub warm_up_ns: u64,
    /// Whether it passes the page cache.
    pub is_direct: bool,
    /// Its random numbers.
    pub seed: Option<u64>,
    /// Whether a part of its load cannot be carried over.
    pub is_left_out: bool,
    /// What became of its options.
    pub notes: Vec<Note>,
    /// Where the lines of its document come from.
    pub sources: Vec<(&'static str, OptionOrigin)>,
}

/// Reads a job.
pub fn job(section: &ReadSection) -> Result<FioJob, Refused> {
    let mut reading = SectionReader::new(section, super::names::rule);
    let kilo = reading.parsed("kb_base", "block_size", kilo)?.unwrap_or(1024);
    let engine = engine(&mut reading)?;
    let direction = direction(&mut reading)?;
    let jobs = jobs(&mut reading, section)?;
    let read_share = direction.map_or(1.0, |direction| direction.read_share);
    let block_size = block_size(&mut reading, kilo, read_share)?;
    let is_left_out = direction.is_none() || engine.is_none();
    let direction = direction.unwrap_or(FioDirection { read_share, is_random: false });
    let is_asynchronous = engine.is_some_and(|engine| engine == Engine::Asynchronous);
    let arrival = arrival(&mut reading, kilo, jobs, is_asynchronous, &block_size, read_share)?;
    let place = place(&mut reading, section, kilo, jobs)?;
    let is_direct = is_direct(&mut reading)? && engine != Some(Engine::Mapped);
    let times = times(&mut reading)?;
    let is_shared = place.is_shared;
    let stream = Stream {
        name: section.name.clone(),
        read_share: Share(read_share),
        access: access(&mut reading, direction, &block_size, jobs, is_shared)?,
        workers: u32::try_from(jobs.min(u64::from(arrival.queue_depth()))).unwrap_or(1),
        sync: sync(&mut reading, read_share < 1.0)?,
        span: place.span,
        targets: Vec::new(),
        content: content(&mut reading)?,
        block_size,
        arrival,
        pattern: Vec::new(),
    };
    let seed = reading.parsed("randseed", "seed", number::count)?;
    strides(&mut reading)?;
    reading.flag("thread", "workers")?;
    let (notes, sources) = reading.finish();
    Ok(FioJob {
        stream,
        files: place.files,
        file_bytes: place.file_bytes,
        share: place.share,
        is_barrier: times.is_barrier,
        start_ns: times.start_ns,
        run_ns: times.run_ns,
        warm_up_ns: times.warm_up_ns,
        is_direct,
        seed,
        is_left_out,
        notes,
        sources,
    })
}

fn kilo(text: &str) -> Result<u64, OptionReason> {
    match text {
        "1024" => Ok(1024),
        "1000" => Ok(1000),
        _ => Err(OptionReason::Value),
    }
}

/// Without a mode, zones of a size are strides, as in the time before fio knew zoned devices.
fn strides(reading: &mut SectionReader<'_>) -> Result<(), Refused> {
    match reading.text("zonemode", "access")? {
        None | Some("strided") => {
            for name in ["zonemode", "zonesize", "zonerange", "zoneskip"] {
                reading.leave_out(name, OptionReason::Strides);
            }
        }
        Some("none") => {}
        Some(_) => reading.leave_out("zonemode", OptionReason::ZonedDevice),
    }
    Ok(())
}

/// Who issues the I/O.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Asynchronous,
    Blocking,
    Mapped,
}

/// The engine; nothing where it is not supported.
fn engine(reading: &mut SectionReader<'_>) -> Result<Option<Engine>, Refused> {
    let Some(name) = reading.text("ioengine", "arrival")? else {
        return Ok(Some(Engine::Blocking));
    };
    let engine = engine_kind(name);
    match engine {
        None => reading.leave_out("ioengine", OptionReason::Engine),
        Some(Engine::Mapped) => reading.near("ioengine", Approximation::MappedMemory),
        Some(_) if name.starts_with("io_uring") => {}
        Some(_) => reading.near("ioengine", Approximation::Engine),
    }
    Ok(engine)
}

/// What an engine of this name does; nothing where Assay does not do the same.
pub(super) fn engine_kind(name: &str) -> Option<Engine> {
    match name.split(':').next().unwrap_or_default() {
        "io_uring" | "io_uring_cmd" | "libaio" | "posixaio" | "windowsaio" | "solarisaio"
        | "sg" => Some(Engine::Asynchronous),
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Some(Engine::Blocking),
        "mmap" => Some(Engine::Mapped),
        _ => None,
    }
}

/// What is read and written; nothing where it is neither.
fn direction(reading: &mut SectionReader<'_>) -> Result<Option<FioDirection>, Refused> {
    let text = reading.text("rw", "read_share")?.unwrap_or("read");
    let (word, count) = text.split_once(':').map_or((text, None), |(word, n)| (word, Some(n)));
    let (read_share, is_random, is_mixed) = match word {
        "read" => (1.0, false, false),
        "write" => (0.0, false, false),
        "randread" => (1.0, true, false),
        "randwrite" => (0.0, true, false),
        "rw" | "readwrite" => (0.5, false, true),
        "randrw" => (0.5, true, true),
        "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
            reading.leave_out("rw", OptionReason::Trim);
            return Ok(None);
        }
        _ => return Err(reading.refusal("rw", OptionReason::Value)),
    };
    let run = count.map(|count| run_length(count, is_random));
    let is_random = match run {
        Some(Some(1)) | None => is_random,
        // Of each run only the first I/O goes to a random place.
        Some(Some(_)) => {
            reading.near("rw", Approximation::Majority);
            false
        }
        Some(None) => {
            reading.near("rw", Approximation::NoGaps);
            is_random
        }
    };
    let read_share = if is_mixed { mix(reading)?.unwrap_or(read_share) } else { read_share };
    if is_mixed && !is_random && read_share > 0.0 && read_share < 1.0 {
        reading.near("rw", Approximation::OnePosition);
    }
    Ok(Some(FioDirection { read_share, is_random }))
}

/// What follows the colon of `rw`: with random addresses how many I/Os follow one another from
/// each; else a gap after every I/O, which has no number of I/Os.
fn run_length(count: &str, is_random: bool) -> Option<u64> {
    is_random.then(|| count.trim().parse().unwrap_or(1))
}

/// The share of reads of a mixed job; of two options the later one counts.
fn mix(reading: &mut SectionReader<'_>) -> Result<Option<f64>, Refused> {
    reading.setting("rwmixread", "read_share");
    reading.setting("rwmixwrite", "read_share");
    let percent = |text: &str| match number::real(text) {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(OptionReason::Value),
    };
    if reading.is_later("rwmixwrite", "rwmixread") {
        return Ok(reading.parsed("rwmixwrite", "read_share", percent)?.map(|share| 1.0 - share));
    }
    reading.parsed("rwmixread", "read_share", percent)
}

fn jobs(reading: &mut SectionReader<'_>, section: &ReadSection) -> Result<u64, Refused> {
    let jobs = reading.parsed("numjobs", "workers", number::count)?.unwrap_or(1).max(1);
    if jobs > JOBS_MAX {
        let mut refused = reading.refusal("numjobs", OptionReason::TooManyJobs);
        refused.origin.key = format!("numjobs of [{}]", section.name);
        return Err(refused);
    }
    Ok(jobs)
}

/// When I/Os start.
fn arrival(
    reading: &mut SectionReader<'_>,
    kilo: u64,
    jobs: u64,
    is_asynchronous: bool,
    block_size: &BlockSizeMix,
    read_share: f64,
) -> Result<Arrival, Refused> {
    let depth = reading.parsed("iodepth", "arrival", number::count)?.unwrap_or(1).max(1);
    if depth > 1 && !is_asynchronous {
        reading.near("iodepth", Approximation::BlockingCalls);
    }
    let depth = if is_asynchronous { depth } else { 1 };
    let wanted = depth.saturating_mul(jobs);
    if wanted > QUEUE_DEPTH_MAX {
        reading.near("iodepth", Approximation::OutstandingMax);
    }
    let queue_depth = u32::try_from(wanted.min(QUEUE_DEPTH_MAX)).unwrap_or(1);
    if let Some(rate) = rate(reading, kilo, block_size, read_share)? {
        let process = process(reading)?;
        let rate = Rate(rate * real(jobs));
        reading.setting("thinktime", "arrival");
        return Ok(Arrival::Open {
            rate,
            process,
            burst: 1,
            queue_depth_max: queue_depth,
            group_commit: None,
        });
    }
    reading.setting("rate_process", "arrival");
    let pause = reading.parsed("thinktime", "arrival", |text| number::time_ns(text, 1000))?;
    if pause.is_some() && depth > 1 {
        reading.near("thinktime", Approximation::PausePerIo);
    }
    Ok(Arrival::Closed { queue_depth, think_time: Nanos(pause.unwrap_or(0)) })
}

/// I/Os per second of one job, where it has a rate; a rate of 0 is not a limit.
fn rate(
    reading: &mut SectionReader<'_>,
    kilo: u64,
    block_size: &BlockSizeMix,
    read_share: f64,
) -> Result<Option<f64>, Refused> {
    // A side that is not named has no limit.
    let parts = |text: &str| -> Result<Vec<f64>, OptionReason> {
        let one = |part: &str| match part {
            "" => Ok(0.0),
            part => number::bytes(part, kilo).map(real),
        };
        text.split([',', '-']).map(one).collect()
    };
    let sizes = block_size.parts.iter().map(|part| real(part.size.0) * part.share.0);
    let mean_bytes: f64 = sizes.sum();
    for (name, unit) in [("rate_iops", 1.0), ("rate", mean_bytes)] {
        let Some(rates) = reading.parsed(name, "arrival", parts)? else { continue };
        let (first, last) = (rates.first().copied(), rates.get(1).copied());
        let rate = match (first, last) {
            (Some(read), Some(write)) if read_share > 0.0 && read_share < 1.0 => {
                reading.near(name, Approximation::JointRate);
                // A side without a limit follows the other one by the mix.
                match (read > 0.0, write > 0.0) {
                    (true, false) => read / read_share,
                    (false, true) => write / (1.0 - read_share),
                    _ => read + write,
                }
            }
            (_, Some(write)) if read_share <= 0.0 => write,
            // One rate holds for each direction.
            (Some(one), None) if read_share > 0.0 && read_share < 1.0 => {
                reading.near(name, Approximation::JointRate);
                one / read_share.max(1.0 - read_share)
            }
            (Some(one), _) => one,
            (None, _) => 0.0,
        };
        let rate = rate / unit;
        if rate <= 0.0 {
            continue;
        }
        if !(rate > 0.0 && rate <= 1e8) {
            return Err(reading.refusal(name, OptionReason::Value));
        }
        return Ok(Some(rate));
    }
    Ok(None)
}

fn process(reading: &mut SectionReader<'_>) -> Result<Process, Refused> {
    match reading.text("rate_process", "arrival")?.unwrap_or("linear") {
        "linear" => Ok(Process::Constant),
        "poisson" => Ok(Process::Poisson),
        _ => Err(reading.refusal("rate_process", OptionReason::Value)),
    }
}

/// Direct I/O, by either of its two options; the later one counts.
fn is_direct(reading: &mut SectionReader<'_>) -> Result<bool, Refused> {
    reading.setting("direct", "direct");
    reading.setting("buffered", "direct");
    if reading.is_later("buffered", "direct") {
        return Ok(!reading.flag("buffered", "direct")?.unwrap_or(true));
    }
    Ok(reading.flag("direct", "direct")?.unwrap_or(false))
}

struct JobTimes {
    is_barrier: bool,
    start_ns: u64,
    run_ns: Option<u64>,
    warm_up_ns: u64,
}

fn times(reading: &mut SectionReader<'_>) -> Result<JobTimes, Refused> {
    let seconds = |text: &str| number::time_ns(text, SECOND_NS);
    let run_ns = reading.parsed("runtime", "duration", seconds)?.filter(|time_ns| *time_ns > 0);
    let is_by_time = reading.flag("time_based", "duration")?.unwrap_or(false);
    // fio 3: without time_based a job also ends when its data are through.
    if run_ns.is_some() && !is_by_time {
        reading.near("runtime", Approximation::WholeTime);
    }
    for name in ["loops", "io_size", "number_ios"] {
        if reading.setting(name, "duration").is_some() && !(is_by_time && run_ns.is_some()) {
            reading.near(name, Approximation::EndsByTime(DEFAULT_TIME));
        }
    }
    let start = |text: &str| seconds(text.split('-').next().unwrap_or_default());
    Ok(JobTimes {
        is_barrier: reading.flag("stonewall", "duration")?.unwrap_or(false),
        start_ns: reading.parsed("startdelay", "duration", start)?.unwrap_or(0),
        run_ns,
        warm_up_ns: reading.parsed("ramp_time", "warm_up", seconds)?.unwrap_or(0),
    })
}

fn sync(reading: &mut SectionReader<'_>, writes: bool) -> Result<SyncPolicy, Refused> {
    let fsync = reading.parsed("fsync", "sync", number::count)?.unwrap_or(0);
    let fdatasync = reading.parsed("fdatasync", "sync", number::count)?.unwrap_or(0);
    let open = reading.text("sync", "sync")?.unwrap_or("none");
    for name in ["end_fsync", "end_syncfs", "fsync_on_close"] {
        if reading.flag(name, "sync")?.unwrap_or(false) {
            reading.near(name, Approximation::NoFinalFlush);
        }
    }
    if !writes {
        return Ok(SyncPolicy::None);
    }
    let every = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    match open {
        "dsync" => return Ok(SyncPolicy::ODsync),
        "1" | "sync" => {
            reading.near("sync", Approximation::DataSync);
            return Ok(SyncPolicy::ODsync);
        }
        "0" | "none" => {}
        _ => return Err(reading.refusal("sync", OptionReason::Value)),
    }
    if fdatasync > 0 {
        return Ok(SyncPolicy::Fdatasync { every: every(fdatasync) });
    }
    if fsync > 0 {
        reading.near("fsync", Approximation::Fdatasync);
        return Ok(SyncPolicy::Fdatasync { every: every(fsync) });
    }
    Ok(SyncPolicy::None)
}

fn content(reading: &mut SectionReader<'_>) -> Result<Content, Refused> {
    let percent = |text: &str| match number::real(text) {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(OptionReason::Value),
    };
    let zeros = reading.flag("zero_buffers", "content")?.unwrap_or(false);
    let compressible = reading.parsed("buffer_compress_percentage", "content", percent)?;
    let duplicate = reading.parsed("dedupe_percentage", "content", percent)?;
    let compressible = if zeros { 1.0 } else { compressible.unwrap_or(0.0) };
    Ok(Content { compressible: Share(compressible), duplicate: Share(duplicate.unwrap_or(0.0)) })
}

struct JobPlace {
    files: Vec<String>,
    file_bytes: Option<u64>,
    span: Span,
    share: Option<f64>,
    is_shared: bool,
}

/// Where the job works: files that are named are shared by all its clones, others are theirs.
fn place(
    reading: &mut SectionReader<'_>,
    section: &ReadSection,
    kilo: u64,
    jobs: u64,
) -> Result<JobPlace, Refused> {
    let size = reading.parsed("size", "capacity", |text| number::size(text, kilo))?;
    let files = reading.parsed("nrfiles", "capacity", number::count)?.unwrap_or(1).max(1);
    let file_size = file_size(reading, kilo)?;
    let directory = reading.text("directory", "targets")?.map(str::to_owned);
    let named = reading.settings("filename", "targets");
    let format = reading.text("filename_format", "targets")?.map(str::to_owned);
    reading.setting("fill_device", "capacity");
    let names: Vec<String> = named.iter().flat_map(|one| names(one.value.as_deref())).collect();
    let is_shared = !names.is_empty();
    let bytes = match (size, file_size) {
        (Some(FioSize::Bytes(bytes)), _) if bytes > 0 => Some(bytes),
        (_, Some(each)) => Some(each.saturating_mul(files)),
        _ => None,
    };
    if files > 1 {
        reading.near("nrfiles", Approximation::FilesJoined(files));
    }
    let own = || match &format {
        Some(format) if !format.contains("$jobname") => format.clone(),
        _ => format!("{}.*", section.name),
    };
    let names = if is_shared { names } else { vec![own()] };
    let in_directory = |name: String| match &directory {
        Some(directory) if !name.starts_with('/') => {
            format!("{}/{name}", directory.trim_end_matches('/'))
        }
        _ => name,
    };
    let count = assay_model::number::count_of(names.len());
    let file_bytes =
        bytes.map(|bytes| if is_shared { bytes / count } else { bytes.saturating_mul(jobs) });
    let share = match size {
        Some(FioSize::Share(share)) if share > 0.0 && share < 1.0 => Some(share),
        _ => None,
    };
    Ok(JobPlace {
        files: names.into_iter().map(in_directory).collect(),
        span: span(reading, kilo, bytes)?,
        file_bytes,
        share,
        is_shared,
    })
}

/// Names are separated by colons, which a backslash makes part of a name.
fn names(value: Option<&str>) -> Vec<String> {
    let text = value.unwrap_or_default().replace("\\:", "\0");
    let names = text.split(':').map(|name| name.replace('\0', ":"));
    names.filter(|name| !name.is_empty()).collect()
}

fn file_size(reading: &mut SectionReader<'_>, kilo: u64) -> Result<Option<u64>, Refused> {
    let is_range = |text: &str| text.contains(['-', ',']);
    let largest = |text: &str| {
        let sizes = text.split(['-', ',']).map(|part| number::size(part, kilo));
        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
        Ok(sizes
            .into_iter()
            .filter_map(|size| match size {
                FioSize::Bytes(bytes) => Some(bytes),
                FioSize::Share(_) => None,
            })
            .max())
    };
    let text = reading.text("filesize", "capacity")?;
    if text.is_some_and(is_range) {
        reading.near("filesize", Approximation::FileSizes);
    }
    Ok(reading.parsed("filesize", "capacity", largest)?.flatten())
}

/// The part of the files behind an offset.
fn span(reading: &mut SectionReader<'_>, kilo: u64, bytes: Option<u64>) -> Result<Span, Refused> {
    let offset = reading.parsed("offset", "span", |text| number::size(text, kilo))?;
    let from = match (offset, bytes) {
        (None | Some(FioSize::Bytes(0)), _) => 0.0,
        (Some(FioSize::Share(share)), _) => share,
        (Some(FioSize::Bytes(offset)), Some(bytes)) => {
            reading.near("offset", Approximation::ShareOfSpace);
            real(offset) / (real(offset) + real(bytes))
        }
        (Some(FioSize::Bytes(_)), None) => {
            reading.leave_out("offset", OptionReason::NoWord);
            0.0
        }
    };
    let to = 1.0;
    if from >= to {
        return Err(reading.refusal("offset", OptionReason::Value));
    }
    Ok(Span { from: Share(from), to: Share(to) })
}
