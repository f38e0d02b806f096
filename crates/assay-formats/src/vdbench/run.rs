//! Run definitions: rates, times and loops, as one workload, or as a study where something is
//! varied.

use super::file::{Definitions, is_named};
use super::number;
use super::storage::{OpenFlags, StorageDefinition, open_flags};
use super::workload::{WorkloadDefinition, workload};
use crate::conversion::{
    self, ConversionPart, ConvertedDocument, DocumentLine, NamedTarget, Note, OptionOrigin, Refused,
};
use crate::reading::{ReadSection, SectionReader};
use crate::reason::{Approximation, OptionReason};
use assay_model::number::{count, real};
use assay_model::study::{Factor, FactorValue, Phases, Study};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::workload::{Arrival, Content, Process, Span, Stream, SyncPolicy, Workload};
use std::collections::{BTreeMap, HashMap};

/// Streams of a run at most, counted on each of their targets: `wd=*` and `sd=*` multiply.
const STREAMS_MAX: usize = 1 << 16;

/// Outstanding I/Os of a stream at most.
const QUEUE_DEPTH_MAX: u64 = 32_768;
const SECOND_NS: u64 = 1_000_000_000;

/// What a run makes of the definitions.
pub struct RunDefinition {
    /// Its document.
    pub part: ConversionPart,
    /// What became of its parameters, and of those of its workloads.
    pub notes: Vec<Note>,
}

/// The rates of a run.
enum Rates {
    /// As fast as it goes.
    Max,
    /// A curve up to the maximum.
    Curve,
    /// Given rates.
    Given(Vec<f64>),
}

/// Values that a loop varies.
#[derive(Default)]
struct RunLoops {
    block_size: Vec<u64>,
    threads: Vec<u64>,
    read_percent: Vec<u64>,
    ratios: Vec<u64>,
}

struct VdbenchTimes {
    measure: Nanos,
    warm_up: Nanos,
    interval: Nanos,
    rest: Nanos,
}

/// Everything that is said of a run.
struct VdbenchRun<'a> {
    storages: &'a [StorageDefinition],
    workloads: Vec<WorkloadDefinition>,
    rates: Rates,
    loops: RunLoops,
    process: Process,
    flags: OpenFlags,
    content: Content,
}

/// Reads a run definition.
pub fn run(
    section: &ReadSection,
    found: &Definitions,
    storages: &[StorageDefinition],
    content: Content,
    targets: &[NamedTarget],
) -> Result<RunDefinition, Refused> {
    let mut reading = SectionReader::new(section, super::names::rule);
    if reading.setting("fwd", "targets").is_some() {
        return Err(reading.refusal("fwd", OptionReason::FileSystemLoad));
    }
    let workloads = workloads(&mut reading, found, storages)?;
    let (rates, process) = (rates(&mut reading)?, process(&mut reading)?);
    let (loops, times) = (loops(&mut reading)?, times(&mut reading)?);
    let flags = open_flags(&mut reading)?;
    let run = VdbenchRun { storages, workloads, rates, loops, process, flags, content };
    let is_dealt = run.is_dealt();
    if is_dealt {
        reading.near("wd", Approximation::DealtThreads);
    }
    let whole = run.workload(section, &times);
    let whole = whole.map_err(|reason| refused(section, reason))?;
    let (whole, used) = on_targets(whole, &run, targets);
    let factors = run.factors(&mut reading);
    let (notes, sources) = reading.finish();
    let mut part = ConversionPart {
        document: ConvertedDocument::Workload(whole),
        targets: used,
        sources: run.sources(&sources),
    };
    if !factors.is_empty() {
        part.document = ConvertedDocument::Study(study(&part.document, factors, &times));
    }
    check(&part.document).map_err(|why| refused(section, OptionReason::Invalid(why)))?;
    let own = run.workloads.iter().flat_map(|one| one.notes.clone());
    Ok(RunDefinition { part, notes: notes.into_iter().chain(own).collect() })
}

fn refused(section: &ReadSection, reason: OptionReason) -> Refused {
    Refused { origin: section.origin.clone(), value: section.name.clone(), reason }
}

/// Whether a document can be run: a study with the first values of its factors, too.
fn check(document: &ConvertedDocument) -> Result<(), String> {
    if let Some(workload) = document.workload() {
        workload.check().map_err(|error| error.message().to_owned())?;
    }
    match document {
        ConvertedDocument::Workload(_) => Ok(()),
        ConvertedDocument::Study(study) => {
            let text = assay_model::document::to_toml(study)
                .map_err(|error| error.message().to_owned())?;
            let read = assay_model::study::parse_study(&text);
            read.map(drop).map_err(|error| error.message().to_owned())
        }
    }
}

fn workloads(
    reading: &mut SectionReader<'_>,
    found: &Definitions,
    storages: &[StorageDefinition],
) -> Result<Vec<WorkloadDefinition>, Refused> {
    let named = reading.text("sd", "targets")?.map(str::to_owned);
    let Some(pattern) = reading.text("wd", "targets")? else {
        let mut bare = found.workload_default.clone();
        "default".clone_into(&mut bare.name);
        return Ok(vec![workload(&bare, named.as_deref(), storages)?]);
    };
    let used: Vec<&ReadSection> =
        found.workloads.iter().filter(|one| is_named(pattern, &one.name)).collect();
    if used.len() * storages.len() > STREAMS_MAX {
        return Err(reading.refusal("wd", OptionReason::TooManyJobs));
    }
    let used: Result<Vec<_>, _> =
        used.into_iter().map(|one| workload(one, named.as_deref(), storages)).collect();
    let used = used?;
    if used.is_empty() {
        return Err(reading.refusal("wd", OptionReason::Missing(pattern.to_owned())));
    }
    Ok(used)
}

fn rates(reading: &mut SectionReader<'_>) -> Result<Rates, Refused> {
    let text = reading.text("iorate", "arrival")?.unwrap_or("max").to_ascii_lowercase();
    reading.near("curve", Approximation::DepthLadder);
    match text.as_str() {
        "max" => Ok(Rates::Max),
        "curve" => {
            reading.near("iorate", Approximation::DepthLadder);
            Ok(Rates::Curve)
        }
        list => {
            let rates = number::values(list, number::count)
                .map_err(|reason| reading.refusal("iorate", reason))?;
            Ok(Rates::Given(rates.into_iter().map(real).filter(|rate| *rate > 0.0).collect()))
        }
    }
}

fn process(reading: &mut SectionReader<'_>) -> Result<Process, Refused> {
    let Some(text) = reading.text("distribution", "arrival")? else { return Ok(Process::Poisson) };
    let words = number::parts(text);
    if words.iter().any(|word| word.starts_with('v') || word.starts_with('s')) {
        reading.leave_out("distribution", OptionReason::NoWord);
    }
    match words.first().and_then(|word| word.chars().next()) {
        Some('e') => Ok(Process::Poisson),
        Some('d') => Ok(Process::Constant),
        Some('u') => {
            reading.near("distribution", Approximation::Majority);
            Ok(Process::Constant)
        }
        _ => Err(reading.refusal("distribution", OptionReason::Value)),
    }
}

fn loops(reading: &mut SectionReader<'_>) -> Result<RunLoops, Refused> {
    let mut values = |names: [&str; 2], line, one: fn(&str) -> Result<u64, OptionReason>| {
        for name in names {
            if let Some(values) = reading.parsed(name, line, |text| number::values(text, one))? {
                return Ok::<_, Refused>(values);
            }
        }
        Ok(Vec::new())
    };
    let loops = RunLoops {
        block_size: values(["forxfersize", "xfersize"], "block_size", number::bytes)?,
        threads: values(["forthreads", "threads"], "arrival", number::count)?,
        read_percent: values(["forrdpct", "rdpct"], "read_share", number::count)?,
        ratios: values(["forcompratio", "compratio"], "content", number::count)?,
    };
    for name in [
        "forseekpct",
        "seekpct",
        "forrhpct",
        "rhpct",
        "forhpct",
        "forwhpct",
        "whpct",
        "forhitarea",
        "hitarea",
    ] {
        reading.leave_out(name, OptionReason::NoWord);
    }
    Ok(loops)
}

fn times(reading: &mut SectionReader<'_>) -> Result<VdbenchTimes, Refused> {
    let measure_ns =
        reading.parsed("elapsed", "duration", number::time_ns)?.unwrap_or(30 * SECOND_NS);
    let warm_up_ns = reading.parsed("warmup", "warm_up", number::time_ns)?.unwrap_or(0);
    let interval_ns = reading.parsed("interval", "interval", number::time_ns)?;
    let interval_ns = interval_ns.unwrap_or((measure_ns / 2).min(60 * SECOND_NS)).max(10_000_000);
    let rest_ns = reading.parsed("pause", "rest", number::time_ns)?.unwrap_or(0);
    Ok(VdbenchTimes {
        measure: Nanos(measure_ns),
        warm_up: Nanos(warm_up_ns),
        interval: Nanos(interval_ns.min(measure_ns.max(10_000_000))),
        rest: Nanos(rest_ns),
    })
}

impl VdbenchRun<'_> {
    /// Workloads among which the threads of one storage are dealt out.
    fn sharing(&self, storage: usize) -> u64 {
        let using = self.workloads.iter().filter(|one| one.storages.contains(&storage));
        assay_model::number::count_of(using.count()).max(1)
    }

    fn is_dealt(&self) -> bool {
        self.workloads.iter().flat_map(|one| &one.storages).any(|index| self.sharing(*index) > 1)
    }

    /// Outstanding I/Os of a workload, with this many threads a storage where a loop says so.
    fn queue_depth(&self, one: &WorkloadDefinition, looped: Option<u64>) -> u64 {
        if let (Some(threads), None) = (one.threads, looped) {
            return threads.clamp(1, QUEUE_DEPTH_MAX);
        }
        let of_storage = |index: &usize| {
            let threads = looped.unwrap_or(self.storages[*index].threads);
            match one.skew.filter(|_| self.sharing(*index) > 1) {
                Some(skew) => count((real(threads) * skew).round()),
                None => threads / self.sharing(*index),
            }
        };
        let sum: u64 = one.storages.iter().map(of_storage).fold(0, u64::saturating_add);
        sum.clamp(1, QUEUE_DEPTH_MAX)
    }

    /// The share of the whole rate that a workload has.
    fn skew(&self, one: &WorkloadDefinition) -> f64 {
        let given: f64 = self.workloads.iter().filter_map(|one| one.skew).sum();
        let open = self.workloads.iter().filter(|one| one.skew.is_none()).count();
        let rest = (1.0 - given).max(0.0) / real(assay_model::number::count_of(open.max(1)));
        one.skew.unwrap_or(rest)
    }

    fn arrival(&self, one: &WorkloadDefinition) -> Arrival {
        let queue_depth = self.queue_depth(one, self.loops.threads.first().copied());
        let queue_depth = u32::try_from(queue_depth).unwrap_or(1);
        let given = match &self.rates {
            Rates::Given(rates) => rates.first().map(|rate| rate * self.skew(one)),
            Rates::Max | Rates::Curve => None,
        };
        match one.rate_iops.or(given) {
            Some(rate) => Arrival::Open {
                rate: Rate(rate),
                process: self.process,
                burst: 1,
                queue_depth_max: queue_depth,
                group_commit: None,
            },
            None => Arrival::Closed { queue_depth, think_time: Nanos(0) },
        }
    }

    fn stream(&self, one: &WorkloadDefinition) -> Stream {
        let of_storages = one.storages.iter().map(|index| self.storages[*index].flags);
        let flags = of_storages.fold(one.flags.with(self.flags), OpenFlags::with);
        let read_share =
            self.loops.read_percent.first().map_or(one.read_share, |first| real(*first) / 100.0);
        let first = one.storages.first().map_or((0.0, 1.0), |index| self.storages[*index].range);
        // A range of the workload replaces that of its storage.
        let (from, to) = if one.range == (0.0, 1.0) { first } else { one.range };
        let block_size = match self.loops.block_size.first() {
            Some(size) => assay_model::workload::BlockSizeMix::single(Bytes(*size)),
            None => one.block_size.clone(),
        };
        let writes = read_share < 1.0;
        Stream {
            name: one.name.clone(),
            read_share: Share(read_share.clamp(0.0, 1.0)),
            block_size,
            access: one.access,
            arrival: self.arrival(one),
            pattern: Vec::new(),
            workers: 1,
            sync: if flags.durable && writes { SyncPolicy::ODsync } else { SyncPolicy::None },
            span: Span { from: Share(from), to: Share(to) },
            targets: Vec::new(),
            content: self.content,
        }
    }

    fn workload(
        &self,
        section: &ReadSection,
        times: &VdbenchTimes,
    ) -> Result<Workload, OptionReason> {
        let mut streams: Vec<Stream> = Vec::new();
        for one in &self.workloads {
            let mut stream = self.stream(one);
            if streams.iter().any(|known| known.name == stream.name) {
                stream.name = format!("{}-{}", stream.name, streams.len() + 1);
            }
            streams.push(stream);
        }
        let first = streams.first().cloned().ok_or(OptionReason::NoJob)?;
        let mut whole = Workload::of(&section.name, times.measure, first);
        whole.streams = streams;
        whole.warm_up = times.warm_up;
        whole.interval = times.interval;
        let mut storages = self.workloads.iter().flat_map(|one| &one.storages);
        let of_storages = storages.any(|index| self.storages[*index].flags.direct);
        whole.direct =
            of_storages || self.flags.direct || self.workloads.iter().any(|one| one.flags.direct);
        Ok(whole)
    }

    /// What is varied; the loops of a run in the order of Vdbench.
    fn factors(&self, reading: &mut SectionReader<'_>) -> Vec<Factor> {
        let factor = |name: &str, values: Vec<FactorValue>| Factor {
            name: name.to_owned(),
            values,
            stream: None,
        };
        let mut factors = Vec::new();
        let RunLoops { block_size, threads, read_percent, ratios } = &self.loops;
        if read_percent.len() > 1 {
            let values =
                read_percent.iter().map(|percent| FactorValue::Text(format!("{percent}%")));
            factors.push(factor("read_share", values.collect()));
        }
        if block_size.len() > 1 {
            let values = block_size.iter().map(|size| FactorValue::Text(Bytes(*size).to_string()));
            factors.push(factor("block_size", values.collect()));
        }
        if ratios.len() > 1 {
            let values = ratios.iter().map(|ratio| FactorValue::Real(compressible(real(*ratio))));
            factors.push(factor("compressible", values.collect()));
        }
        match &self.rates {
            Rates::Given(rates) if rates.len() > 1 => {
                if self.workloads.len() > 1 {
                    reading.near("iorate", Approximation::JointRate);
                }
                let count = real(assay_model::number::count_of(self.workloads.len()));
                let values =
                    rates.iter().map(|rate| FactorValue::Text(Rate(rate / count).to_string()));
                factors.push(factor("rate", values.collect()));
                for name in ["forthreads", "threads"].into_iter().filter(|_| threads.len() > 1) {
                    reading.leave_out(name, OptionReason::NoWord);
                }
            }
            // Each of the threads has a curve of its own: its depths are those of the loop.
            Rates::Curve if threads.len() < 2 => factors.push(factor("queue_depth", self.ladder())),
            Rates::Given(_) if threads.len() > 1 => {}
            _ if threads.len() > 1 => {
                let depth = |threads: &u64| {
                    FactorValue::Whole(self.queue_depth(&self.workloads[0], Some(*threads)))
                };
                factors.push(factor("queue_depth", threads.iter().map(depth).collect()));
            }
            _ => {}
        }
        factors
    }

    /// Doubling from queue depth 1 up to what the run would keep.
    fn ladder(&self) -> Vec<FactorValue> {
        let most = self.queue_depth(&self.workloads[0], self.loops.threads.first().copied());
        let steps = std::iter::successors(Some(1_u64), |depth| depth.checked_mul(2));
        let mut steps: Vec<u64> = steps.take_while(|depth| *depth < most).collect();
        steps.push(most);
        steps.into_iter().map(FactorValue::Whole).collect()
    }

    fn sources(
        &self,
        own: &[(&'static str, OptionOrigin)],
    ) -> BTreeMap<DocumentLine, Vec<OptionOrigin>> {
        const OF_THE_WHOLE: [&str; 7] =
            ["duration", "warm_up", "interval", "direct", "capacity", "rest", "measure"];
        let line = |stream: usize, key: &'static str| {
            let stream = (!OF_THE_WHOLE.contains(&key)).then_some(stream);
            DocumentLine { stream, key }
        };
        conversion::sources(self.workloads.iter().enumerate().flat_map(|(index, one)| {
            let storages = one.storages.iter().flat_map(|storage| &self.storages[*storage].sources);
            one.sources.iter().chain(own).chain(storages).flat_map(move |(key, origin)| {
                let measure = (*key == "duration").then(|| (line(index, "measure"), origin));
                std::iter::once((line(index, key), origin)).chain(measure)
            })
        }))
    }
}

/// The share that compresses away at a ratio of n to 1.
pub fn compressible(ratio: f64) -> f64 {
    if ratio > 1.0 { 1.0 - 1.0 / ratio } else { 0.0 }
}

/// The workload with its streams' targets numbered among those that it uses, and its capacity where
/// all sizes are known.
fn on_targets(
    mut whole: Workload,
    run: &VdbenchRun<'_>,
    targets: &[NamedTarget],
) -> (Workload, Vec<usize>) {
    let numbers: HashMap<&str, usize> =
        targets.iter().enumerate().map(|(number, one)| (one.name.as_str(), number)).collect();
    let place = |storage: &usize| numbers.get(run.storages[*storage].lun.as_str()).copied();
    let (mut used, mut places) = (Vec::new(), HashMap::new());
    for index in run.workloads.iter().flat_map(|one| &one.storages).filter_map(place) {
        places.entry(index).or_insert_with(|| {
            used.push(index);
            used.len() - 1
        });
    }
    for (stream, one) in whole.streams.iter_mut().zip(&run.workloads) {
        let numbers = one.storages.iter().filter_map(place);
        let mut numbers: Vec<usize> = numbers.map(|index| places[&index]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        stream.targets = if numbers.len() == used.len() { Vec::new() } else { numbers };
    }
    let sizes: Option<Vec<u64>> =
        used.iter().map(|index| targets[*index].size.map(|size| size.0)).collect();
    whole.capacity = sizes.filter(|sizes| !sizes.is_empty()).map(|sizes| {
        let largest = sizes.iter().max().copied().unwrap_or(0);
        Bytes(largest.saturating_mul(assay_model::number::count_of(sizes.len())))
    });
    (whole, used)
}

fn study(document: &ConvertedDocument, factors: Vec<Factor>, times: &VdbenchTimes) -> Study {
    let mut whole = document.workload().cloned();
    let capacity = whole.as_mut().and_then(|whole| whole.capacity.take());
    Study {
        name: document.name().to_owned(),
        capacity,
        phases: Phases {
            warm_up: times.warm_up,
            measure: times.measure,
            rest: times.rest,
            ..Phases::default()
        },
        factors,
        workload: whole,
        ..Study::default()
    }
}
