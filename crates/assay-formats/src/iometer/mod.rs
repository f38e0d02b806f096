//! `IOMeter`'s `.icf` files: each step of a test as a workload, or as a study if outstanding I/Os
//! are cycled.

mod access;
mod file;

use crate::conversion::{
    self, Conversion, ConversionPart, ConvertedDocument, DocumentLine, NamedTarget, Note,
    OptionOrigin, Refused, SourceProgram, Treatment, farthest,
};
use crate::reason::{Approximation, OptionReason};
use access::{AccessPattern, meaning};
use assay_model::number::real;
use assay_model::study::{Factor, FactorValue, Phases, Study};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Arrival, Content, Span, Stream, SyncPolicy, Workload};
use file::{AccessDefinition, IometerConfiguration, IometerValue, IometerWorker};
use std::collections::BTreeMap;

const SECOND_NS: u64 = 1_000_000_000;
const SECTOR_BYTES: u64 = 512;
/// Outstanding I/Os of a stream at most.
const QUEUE_DEPTH_MAX: u64 = 32_768;
/// Time of a test that runs until somebody stops it.
const ENDLESS: Nanos = Nanos(60 * SECOND_NS);
/// The specification that `IOMeter` knows without a line: nothing is done.
const IDLE: &str = "Idle";
/// What a worker without a target works on.
const NO_TARGET: &str = "disk";

/// Reads an `.icf` file; `name` is what its lines are called by.
///
/// # Errors
/// The line, the heading and the reason where nothing can be made of the file.
pub fn convert(text: &str, name: &str) -> Result<Conversion, Refused> {
    let found = file::read(text, name)?;
    let nothing = || Refused {
        origin: OptionOrigin { file: name.to_owned(), line: 1, key: String::new() },
        value: String::new(),
        reason: OptionReason::NoJob,
    };
    let mut notes = of_setup(&found);
    let workers: Vec<&IometerWorker> =
        found.workers.iter().filter(|worker| !worker.is_network).collect();
    for worker in found.workers.iter().filter(|worker| worker.is_network) {
        notes.push(worker.name.note(Treatment::Refused(OptionReason::Engine)));
    }
    if workers.is_empty() {
        return Err(found
            .workers
            .first()
            .map_or_else(nothing, |network| network.name.refused(OptionReason::Engine)));
    }
    let targets = targets(&workers)?;
    let times = times(&found, &mut notes)?;
    let depths = depths(&found)?;
    let steps = workers.iter().map(|worker| of_worker(worker, &found).len()).max().unwrap_or(0);
    let mut parts = Vec::new();
    for index in 0..steps {
        let step = IometerStep { found: &found, workers: &workers, targets: &targets, index };
        parts.extend(step.part(&times, &depths, &mut notes)?);
    }
    if parts.is_empty() {
        return Err(nothing());
    }
    Ok(Conversion {
        program: SourceProgram::Iometer,
        parts,
        targets,
        notes: farthest(notes),
        hosts: hosts(&found),
    })
}

fn hosts(found: &IometerConfiguration) -> Vec<String> {
    if found.managers.len() < 2 {
        return Vec::new();
    }
    let name =
        |manager: &IometerValue| manager.parts().get(1).copied().unwrap_or_default().to_owned();
    found.managers.iter().map(name).collect()
}

/// What is said of the test as a whole and changes nothing of one of its loads.
fn of_setup(found: &IometerConfiguration) -> Vec<Note> {
    let mut notes: Vec<Note> =
        found.others.iter().map(|value| value.note(of_cycling(found, value))).collect();
    notes.extend(found.description.iter().map(|value| value.note(Treatment::Exact)));
    let one_host = || Treatment::Approximated(Approximation::OneHost);
    let is_one = found.managers.len() < 2;
    notes.extend(
        found
            .managers
            .iter()
            .map(|value| value.note(if is_one { Treatment::NoEffect } else { one_host() })),
    );
    if let Some(kind) = &found.test_type {
        let is_cycle = !kind.text.eq_ignore_ascii_case("NORMAL");
        let is_depths = kind.text.to_ascii_uppercase().contains("OUTSTANDING");
        let treatment = match (is_cycle, is_depths) {
            (false, _) | (true, true) => Treatment::Exact,
            (true, false) => Treatment::Refused(OptionReason::NoWord),
        };
        notes.push(kind.note(treatment));
    }
    notes
}

/// What becomes of a line of no load: cycling changes the number of targets or workers from step to
/// step, where the test has several of them.
fn of_cycling(found: &IometerConfiguration, value: &IometerValue) -> Treatment {
    let disks = || found.workers.iter().filter(|worker| !worker.is_network);
    let kind = found.test_type.as_ref().map(|kind| kind.text.to_ascii_uppercase());
    let cycles = |word: &str| kind.as_ref().is_some_and(|kind| kind.contains(word));
    let has_effect = match value.origin.key.to_ascii_lowercase().as_str() {
        "disk cycling" => cycles("TARGETS") && disks().any(|worker| worker.targets.len() > 1),
        "worker cycling" => cycles("WORKERS") && disks().count() > 1,
        _ => false,
    };
    if has_effect { Treatment::Refused(OptionReason::NoWord) } else { Treatment::NoEffect }
}

/// The disks of all workers, each with the sectors that are used of it.
fn targets(workers: &[&IometerWorker]) -> Result<Vec<NamedTarget>, Refused> {
    let mut found: Vec<NamedTarget> = Vec::new();
    for worker in workers {
        let size = sectors(worker)?.used_bytes().map(Bytes);
        for name in names(worker) {
            match found.iter_mut().find(|known| known.name == name) {
                Some(known) => known.size = known.size.max(size),
                None => found.push(NamedTarget { name, size }),
            }
        }
    }
    Ok(found)
}

fn names(worker: &IometerWorker) -> Vec<String> {
    if worker.targets.is_empty() {
        return vec![NO_TARGET.to_owned()];
    }
    worker.targets.iter().map(|target| unquoted(&target.text).to_owned()).collect()
}

/// A name without the quotes around all of it; `C: "Data"` has its own.
fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

/// The part of a disk that a worker uses.
struct Sectors {
    size: u64,
    first: u64,
}

impl Sectors {
    /// Bytes up to its end, where it has one.
    fn used_bytes(&self) -> Option<u64> {
        let end = self.first.saturating_add(self.size).saturating_mul(SECTOR_BYTES);
        (self.size > 0).then_some(end)
    }

    fn span(&self) -> Span {
        let end = real(self.first.saturating_add(self.size));
        let from = if self.size > 0 { real(self.first) / end } else { 0.0 };
        Span { from: Share(from), to: Share(1.0) }
    }
}

fn sectors(worker: &IometerWorker) -> Result<Sectors, Refused> {
    match &worker.disk {
        Some(disk) => Ok(Sectors { size: disk.number(0)?, first: disk.number(1)? }),
        None => Ok(Sectors { size: 0, first: 0 }),
    }
}

struct IometerTimes {
    measure: Nanos,
    ramp_up: Nanos,
}

fn times(found: &IometerConfiguration, notes: &mut Vec<Note>) -> Result<IometerTimes, Refused> {
    let mut seconds = 0;
    if let Some(value) = &found.run_time {
        for (place, unit_s) in [3600, 60, 1].into_iter().enumerate() {
            seconds = value.number(place)?.saturating_mul(unit_s).saturating_add(seconds);
        }
        let endless = Treatment::Approximated(Approximation::UntilStopped(ENDLESS));
        notes.push(value.note(if seconds > 0 { Treatment::Exact } else { endless }));
    }
    let ramp_up_s = found.ramp_up.as_ref().map_or(Ok(0), |value| value.number(0))?;
    notes.extend(found.ramp_up.iter().map(|value| value.note(Treatment::Exact)));
    let measure = Nanos(seconds.saturating_mul(SECOND_NS));
    Ok(IometerTimes {
        measure: if seconds > 0 { measure } else { ENDLESS },
        ramp_up: Nanos(ramp_up_s.saturating_mul(SECOND_NS)),
    })
}

/// The outstanding I/Os that the test cycles through; none where it does not.
fn depths(found: &IometerConfiguration) -> Result<Vec<u64>, Refused> {
    let cycles = found.test_type.as_ref();
    let cycles = cycles.filter(|kind| kind.text.to_ascii_uppercase().contains("OUTSTANDING"));
    let (Some(_), Some(value)) = (cycles, &found.depths) else { return Ok(Vec::new()) };
    let (first, last, step) = (value.number(0)?, value.number(1)?, value.number(2)?);
    let is_factor = value.text.to_ascii_uppercase().contains("EXPONENTIAL");
    if first == 0 || last < first || step == 0 || (is_factor && step < 2) {
        return Err(value.refused(OptionReason::Value));
    }
    let next = |depth: &u64| {
        let next = if is_factor { depth.checked_mul(step) } else { depth.checked_add(step) };
        next.filter(|next| *next <= last)
    };
    Ok(std::iter::successors(Some(first), next).take(1024).collect())
}

/// The specifications of a worker: its own, or those that all have.
fn of_worker<'a>(
    worker: &IometerWorker,
    found: &'a IometerConfiguration,
) -> Vec<Option<&'a AccessDefinition>> {
    let named = |value: &IometerValue| {
        found.specifications.iter().find(|one| one.name.eq_ignore_ascii_case(&value.text))
    };
    if worker.specifications.is_empty() {
        return found.specifications.iter().filter(|one| one.is_default).map(Some).collect();
    }
    worker.specifications.iter().map(named).collect()
}

/// One step of the test: every worker with one of its specifications.
struct IometerStep<'a> {
    found: &'a IometerConfiguration,
    workers: &'a [&'a IometerWorker],
    targets: &'a [NamedTarget],
    index: usize,
}

/// Workers that do the same.
struct WorkerGroup<'a> {
    first: &'a IometerWorker,
    workers: u64,
    specification: &'a AccessDefinition,
    targets: Vec<usize>,
    depth: u64,
    sources: Vec<(&'static str, OptionOrigin)>,
}

impl<'a> IometerStep<'a> {
    /// The document of the step; nothing where every worker is idle.
    fn part(
        &self,
        times: &IometerTimes,
        depths: &[u64],
        notes: &mut Vec<Note>,
    ) -> Result<Option<ConversionPart>, Refused> {
        let groups = self.groups(notes)?;
        let Some(first) = groups.first() else { return Ok(None) };
        let mut used: Vec<usize> = groups.iter().flat_map(|group| group.targets.clone()).collect();
        used.sort_unstable();
        used.dedup();
        let mut streams = Vec::new();
        for (number, group) in (1..).zip(&groups) {
            let of_access = meaning(group.specification)?;
            notes.extend(of_access.notes.iter().cloned());
            streams.push(stream(number, group, &of_access, &used)?);
        }
        let mut whole = Workload::of(&first.specification.name, times.measure, streams[0].clone());
        whole.description =
            self.found.description.as_ref().map_or_else(String::new, |value| value.text.clone());
        whole.streams = streams;
        whole.warm_up = times.ramp_up;
        whole.interval = Nanos(SECOND_NS.min(times.measure.0));
        let sizes: Option<Vec<u64>> =
            used.iter().map(|index| self.targets[*index].size.map(|size| size.0)).collect();
        whole.capacity = sizes.map(|sizes| Bytes(sizes.iter().sum())).filter(|size| size.0 > 0);
        let document = match (depths, groups.as_slice()) {
            ([], _) => ConvertedDocument::Workload(whole),
            (depths, [group]) => ConvertedDocument::Study(study(whole, depths, group, times)),
            (_, _) => {
                let value = self.found.depths.clone().unwrap_or_default();
                return Err(value.refused(OptionReason::NoWord));
            }
        };
        check(&document, first)?;
        Ok(Some(ConversionPart { document, targets: used, sources: self.sources(&groups) }))
    }

    fn groups(&self, notes: &mut Vec<Note>) -> Result<Vec<WorkerGroup<'a>>, Refused> {
        let mut groups: Vec<WorkerGroup<'a>> = Vec::new();
        for worker in self.workers {
            let specifications = of_worker(worker, self.found);
            let named = worker.specifications.get(self.index);
            notes.extend(named.map(|value| value.note(Treatment::Exact)));
            let Some(specification) = specifications.get(self.index) else { continue };
            let Some(specification) = *specification else {
                let value = named.cloned().unwrap_or_default();
                if value.text.eq_ignore_ascii_case(IDLE) {
                    continue;
                }
                return Err(value.refused(OptionReason::Missing(value.text.clone())));
            };
            let group = self.group(worker, specification, notes)?;
            let same = |known: &&mut WorkerGroup<'_>| {
                std::ptr::eq(known.specification, group.specification)
                    && (&known.targets, known.depth) == (&group.targets, group.depth)
                    && known.first.disk.as_ref().map(|one| &one.text)
                        == group.first.disk.as_ref().map(|one| &one.text)
            };
            match groups.iter_mut().find(same) {
                Some(known) => {
                    known.workers += 1;
                    known.sources.extend(group.sources);
                }
                None => groups.push(group),
            }
        }
        Ok(groups)
    }

    fn group(
        &self,
        worker: &'a IometerWorker,
        specification: &'a AccessDefinition,
        notes: &mut Vec<Note>,
    ) -> Result<WorkerGroup<'a>, Refused> {
        let mut sources = vec![("workers", worker.name.origin.clone())];
        notes.push(worker.name.note(Treatment::Exact));
        let depth = worker.queue_depth.as_ref().map_or(Ok(1), |value| value.number(0))?;
        if let Some(value) = &worker.queue_depth {
            sources.push(("arrival", value.origin.clone()));
            notes.push(value.note(Treatment::Exact));
        }
        if let Some(value) = &worker.disk {
            sources.push(("span", value.origin.clone()));
            let is_open = value.number(0)? == 0 && value.number(1)? > 0;
            let none = Treatment::Refused(OptionReason::NoWord);
            notes.push(value.note(if is_open { none } else { Treatment::Exact }));
        }
        for target in &worker.targets {
            sources.push(("targets", target.origin.clone()));
            notes.push(target.note(Treatment::Exact));
        }
        let lines = specification.lines.iter();
        let keys = ["block_size", "read_share", "access"];
        sources.extend(lines.flat_map(|line| keys.map(|key| (key, line.origin.clone()))));
        let names = names(worker);
        let place = |name: &String| self.targets.iter().position(|target| target.name == *name);
        let targets = names.iter().filter_map(place).collect();
        Ok(WorkerGroup {
            first: worker,
            workers: 1,
            specification,
            targets,
            depth: depth.max(1),
            sources,
        })
    }

    fn sources(&self, groups: &[WorkerGroup<'_>]) -> BTreeMap<DocumentLine, Vec<OptionOrigin>> {
        let times = [
            ("duration", &self.found.run_time),
            ("measure", &self.found.run_time),
            ("warm_up", &self.found.ramp_up),
        ];
        let of_whole = times.into_iter().flat_map(|(key, value)| {
            value.iter().map(move |value| (DocumentLine { stream: None, key }, &value.origin))
        });
        let of_streams = groups.iter().enumerate().flat_map(|(stream, group)| {
            let line = move |key| DocumentLine { stream: Some(stream), key };
            group.sources.iter().map(move |(key, origin)| (line(key), origin))
        });
        conversion::sources(of_whole.chain(of_streams))
    }
}

fn check(document: &ConvertedDocument, group: &WorkerGroup<'_>) -> Result<(), Refused> {
    let name = &group.first.name;
    let Some(workload) = document.workload() else { return Ok(()) };
    workload
        .check()
        .map_err(|error| name.refused(OptionReason::Invalid(error.message().to_owned())))
}

/// Outstanding I/Os are those of each worker on each of its targets.
fn queue_depth(group: &WorkerGroup<'_>, depth: u64) -> u64 {
    let targets = assay_model::number::count_of(group.targets.len()).max(1);
    depth.saturating_mul(targets).saturating_mul(group.workers).clamp(1, QUEUE_DEPTH_MAX)
}

fn stream(
    number: usize,
    group: &WorkerGroup<'_>,
    of_access: &AccessPattern,
    used: &[usize],
) -> Result<Stream, Refused> {
    let place = |target: &usize| used.iter().position(|known| known == target);
    let own: Vec<usize> = group.targets.iter().filter_map(place).collect();
    let runs = u32::try_from(group.targets.len().max(1)).unwrap_or(1);
    let access = match of_access.access {
        Access::Sequential { .. } => Access::Sequential { streams: runs },
        other => other,
    };
    // Pattern 0 repeats one byte in each I/O; 1 and 2 are random.
    let pattern = group.first.disk.as_ref().and_then(|disk| disk.number(2).ok());
    let repeats = pattern == Some(0) && of_access.read_share < 1.0;
    Ok(Stream {
        name: if number == 1 {
            group.specification.name.clone()
        } else {
            format!("{}-{number}", group.specification.name)
        },
        read_share: Share(of_access.read_share),
        block_size: of_access.block_size.clone(),
        access,
        arrival: Arrival::Closed {
            queue_depth: u32::try_from(queue_depth(group, group.depth)).unwrap_or(1),
            think_time: of_access.think_time,
        },
        workers: u32::try_from(group.workers).unwrap_or(1),
        pattern: Vec::new(),
        sync: SyncPolicy::None,
        span: sectors(group.first)?.span(),
        targets: if own.len() == used.len() { Vec::new() } else { own },
        content: Content {
            compressible: Share(if repeats { 1.0 } else { 0.0 }),
            ..Content::default()
        },
    })
}

/// A step that is repeated with each number of outstanding I/Os.
fn study(
    mut whole: Workload,
    depths: &[u64],
    group: &WorkerGroup<'_>,
    times: &IometerTimes,
) -> Study {
    let capacity = whole.capacity.take();
    let values = depths.iter().map(|depth| FactorValue::Whole(queue_depth(group, *depth)));
    Study {
        name: whole.name.clone(),
        description: std::mem::take(&mut whole.description),
        capacity,
        phases: Phases { warm_up: times.ramp_up, measure: times.measure, ..Phases::default() },
        factors: vec![Factor {
            name: "queue_depth".to_owned(),
            values: values.collect(),
            stream: None,
        }],
        workload: Some(whole),
        ..Study::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `IOMeter` 1.1 writes it, with invented names.
    const FILE: &str = "Version 1.1.0 \n'TEST SETUP ====\n'Test Description\n\tarray of two\n'Run Time\n'\thours      minutes    seconds\n\t0          2          30\n'Ramp Up Time (s)\n\t15\n'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS\n'Record Results\n\tALL\n'Queue Depth Cycling\n'\tstart      end        step       step type\n\t1          32         2          EXPONENTIAL\n'Test Type\n\tNORMAL\n'END test setup\n'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tOLTP,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t8192,80,70,100,0,1,8192,0\n\t16384,20,70,100,0,1,8192,0\n'Access specification name,default assignment\n\tScan; 100% read,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\t65536,100,100,0,0,1,0,0\n'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n'Manager network address\n\t\nWORKERS'END manager list\nVersion 1.1.0 \n";
    const WORKER: &str = "'Worker\n\tWorker #\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number \
         of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed \
         seed value\n\t4,DISABLED,1,DISABLED,0\n'Disk maximum size,starting sector,Data \
         pattern\n\t2097152,0,2\n'End default target settings for worker\n'Assigned access \
         specs\n\tOLTP\n\tScan; 100% read\n'End assigned access specs\n'Target \
         assignments\n'Target\n\tD:\n'Target type\n\tDISK\n'End target\n'Target\n\tE:\n'Target \
         type\n\tDISK\n'End target\n'End target assignments\n'End worker\n";

    fn two_workers() -> String {
        FILE.replace(
            "WORKERS",
            &format!("{}{}", WORKER.replace('#', "1"), WORKER.replace('#', "2")),
        )
    }

    fn workload(part: &ConversionPart) -> &Workload {
        part.document.workload().unwrap()
    }

    #[test]
    fn workers_outstanding_and_specifications_become_a_workload_a_step() {
        let found = convert(&two_workers(), "x.icf").unwrap();
        assert_eq!((found.parts.len(), found.program), (2, SourceProgram::Iometer));
        let names: Vec<&str> = found.targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!((names, found.targets[0].size), (vec!["D:", "E:"], Some(Bytes(1 << 30))));
        let whole = workload(&found.parts[0]);
        let stream = &whole.streams[0];
        // Two workers with four I/Os on each of two disks.
        assert_eq!((stream.workers, stream.arrival.queue_depth()), (2, 16));
        assert_eq!((stream.read_share, stream.access), (Share(0.7), Access::Uniform));
        let sizes: Vec<u64> = stream.block_size.parts.iter().map(|part| part.size.0).collect();
        assert_eq!(sizes, [8192, 16384]);
        assert_eq!(
            (whole.duration, whole.warm_up),
            (Nanos(150 * SECOND_NS), Nanos(15 * SECOND_NS))
        );
        assert_eq!(whole.capacity, Some(Bytes(2 << 30)));
        let scan = &workload(&found.parts[1]).streams[0];
        assert_eq!(scan.access, Access::Sequential { streams: 2 });
        assert!(
            found.approximated().next().is_none() && found.refused().next().is_none(),
            "{:?}",
            found.notes
        );
    }

    #[test]
    fn the_label_of_a_target_keeps_its_quotes() {
        let text = two_workers().replace("\tD:\n", "\tD: \"Data\"\n");
        let found = convert(&text.replace("\tE:\n", "\t\"E:\"\n"), "x.icf").unwrap();
        let names: Vec<&str> = found.targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names, ["D: \"Data\"", "E:"]);
    }

    #[test]
    fn cycled_depths_are_a_study() {
        let text = two_workers();
        let found = convert(&text.replace("NORMAL", "CYCLE_OUTSTANDING_IOS"), "x.icf").unwrap();
        let ConvertedDocument::Study(study) = &found.parts[0].document else { panic!() };
        let values: Vec<String> = study.factors[0].values.iter().map(ToString::to_string).collect();
        assert_eq!(values, ["4", "8", "16", "32", "64", "128"]);
    }

    #[test]
    fn cycled_targets_are_left_out_where_a_worker_has_several() {
        let cycle = "'Disk Cycling\n\t1 1 LINEAR\n'Test Type\n\tNORMAL";
        let text = two_workers().replace("'Test Type\n\tNORMAL", cycle);
        let of = |text: &str| {
            let found = convert(text, "x.icf").unwrap();
            let note = found.notes.into_iter().find(|note| note.origin.key == "Disk Cycling");
            note.unwrap().treatment
        };
        let cycled = text.replace("NORMAL", "CYCLE_OUTSTANDING_IOS_AND_TARGETS");
        let several = |text: &str| text.replace("\tD:\n", "\tD:\n'Target\n\tF:\n");
        assert_eq!(of(&several(&cycled)), Treatment::Refused(OptionReason::NoWord));
        assert_eq!(of(&several(&text)), Treatment::NoEffect);
    }

    #[test]
    fn what_cannot_be_carried_is_named() {
        let text = two_workers();
        let with = |from: &str, to: &str| convert(&text.replace(from, to), "x.icf");
        let mixed = with("70,100,0,1,8192,0", "70,60,0,1,8192,0").unwrap();
        assert!(mixed.approximated().any(|(_, how)| *how == Approximation::Majority));
        let endless = with("0          2          30", "0 0 0").unwrap();
        assert!(
            endless.approximated().any(|(_, how)| matches!(how, Approximation::UntilStopped(_)))
        );
        for (from, to, line) in [
            ("\tOLTP\n\tScan", "\tOther\n\tScan", 47),
            ("8192,80,70,100", "8192,80,700,100", 24),
            ("\tDISK\n'Default", "\tNETWORK\n'Default", 37),
        ] {
            assert_eq!(with(from, to).map(|_| ()).unwrap_err().origin.line, line, "{to}");
        }
        assert!(convert("'TEST SETUP\n", "x.icf").is_err());
    }
}
