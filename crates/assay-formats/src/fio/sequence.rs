//! Jobs in time: what runs at the same time is one workload, what follows is the next one.

use super::job::FioJob;
use super::limits::{DEFAULT_TIME, JOBS_MAX};
use crate::conversion::{
    self, Conversion, ConversionPart, ConvertedDocument, DocumentLine, NamedTarget, Note,
    OptionOrigin, Refused, SourceProgram, Treatment, farthest,
};
use crate::reason::{Approximation, OptionReason};
use crate::surroundings::HeldBytes;
use assay_model::number::real;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Span, Stream, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Workloads of a file at most.
const PARTS_MAX: usize = 1024;

/// The jobs of a file as documents.
pub fn sequence(jobs: &[FioJob]) -> Result<Conversion, Refused> {
    check_count(jobs)?;
    let mut conversion = Conversion {
        program: SourceProgram::Fio,
        parts: Vec::new(),
        targets: Vec::new(),
        notes: Vec::new(),
        hosts: Vec::new(),
    };
    let (mut names, mut held) = (BTreeSet::new(), HeldBytes::default());
    for group in groups(jobs) {
        for (stretch, jobs) in stretches(group) {
            if conversion.parts.len() >= PARTS_MAX {
                return Err(refused(&group[0], OptionReason::TooManyJobs));
            }
            let name = unique(&mut names, &title(group, &jobs, stretch.start_ns));
            let part = part(&name, stretch, &jobs, &mut conversion.targets)?;
            // A job is in each stretch of its time.
            held.add_part(&part, &[]).map_err(|reason| refused(&group[0], reason))?;
            conversion.parts.push(part);
        }
    }
    conversion.notes = farthest(jobs.iter().flat_map(notes_of).chain(cached_with_direct(jobs)));
    if conversion.parts.is_empty() {
        return Err(
            first_refusal(&conversion).unwrap_or_else(|| refused(&jobs[0], OptionReason::NoJob))
        );
    }
    Ok(conversion)
}

/// The first refusal that left out a job.
fn first_refusal(conversion: &Conversion) -> Option<Refused> {
    let (note, reason) = conversion.refused().find(|(_, reason)| reason.leaves_out_load())?;
    Some(Refused { origin: note.origin.clone(), value: note.value.clone(), reason: reason.clone() })
}

fn check_count(jobs: &[FioJob]) -> Result<(), Refused> {
    let mut sum = 0;
    for job in jobs {
        sum += u64::from(job.stream.workers);
        if sum > JOBS_MAX {
            return Err(refused(job, OptionReason::TooManyJobs));
        }
    }
    Ok(())
}

fn refused(job: &FioJob, reason: OptionReason) -> Refused {
    let origin = job.sources.first().map(|(_, origin)| origin.clone()).unwrap_or_default();
    Refused { origin, value: job.stream.name.clone(), reason }
}

/// Jobs that may run at the same time.
fn groups(jobs: &[FioJob]) -> Vec<&[FioJob]> {
    let mut groups = Vec::new();
    let mut begin = 0;
    for index in 1..=jobs.len() {
        if index == jobs.len() || jobs[index].is_barrier {
            groups.push(&jobs[begin..index]);
            begin = index;
        }
    }
    groups
}

/// A stretch of time in which the same jobs run.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the unit is a part of each name")]
struct SequenceStretch {
    start_ns: u64,
    end_ns: u64,
    warm_up_ns: u64,
}

/// The stretches of a group, each with its jobs; pauses are left out.
fn stretches(group: &[FioJob]) -> Vec<(SequenceStretch, Vec<&FioJob>)> {
    let end_ns = |job: &FioJob| job.start_ns.saturating_add(job.run_ns.unwrap_or(DEFAULT_TIME.0));
    let carried: Vec<&FioJob> = group.iter().filter(|job| !job.is_left_out).collect();
    let edges: BTreeSet<u64> = carried.iter().flat_map(|job| [job.start_ns, end_ns(job)]).collect();
    let edges: Vec<u64> = edges.into_iter().collect();
    let mut found = Vec::new();
    for edge in edges.windows(2) {
        let runs = |job: &&&FioJob| job.start_ns <= edge[0] && end_ns(job) >= edge[1];
        let jobs: Vec<&FioJob> = carried.iter().filter(runs).copied().collect();
        let begins = jobs.iter().filter(|job| job.start_ns == edge[0]);
        let warm_up_ns = begins.map(|job| job.warm_up_ns).max().unwrap_or(0);
        if !jobs.is_empty() {
            found.push((SequenceStretch { start_ns: edge[0], end_ns: edge[1], warm_up_ns }, jobs));
        }
        // The caller refuses more than that.
        if found.len() > PARTS_MAX {
            break;
        }
    }
    found
}

fn title(group: &[FioJob], jobs: &[&FioJob], start_ns: u64) -> String {
    let others = jobs.len() - 1;
    let first = &jobs[0].stream.name;
    let name = if others > 0 { format!("{first}+{others}") } else { first.clone() };
    let is_whole = jobs.len() == group.len() && start_ns == group[0].start_ns;
    if is_whole && group.iter().all(|job| job.start_ns == 0) {
        return name;
    }
    format!("{name}-at-{}", Nanos(start_ns))
}

fn unique(names: &mut BTreeSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
    let found = candidates.find(|candidate| !names.contains(candidate));
    let found = found.unwrap_or_else(|| name.to_owned());
    names.insert(found.clone());
    found
}

fn part(
    name: &str,
    stretch: SequenceStretch,
    jobs: &[&FioJob],
    all: &mut Vec<NamedTarget>,
) -> Result<ConversionPart, Refused> {
    let targets = targets(jobs, all);
    let largest = targets.iter().map(|index| all[*index].size.map(|size| size.0)).max().flatten();
    let are_known = targets.iter().all(|index| all[*index].size.is_some());
    let capacity = largest
        .filter(|_| are_known)
        .map(|bytes| Bytes(bytes.saturating_mul(count(targets.len()))));
    let mut taken = BTreeSet::new();
    let streams = jobs.iter().map(|job| Stream {
        name: unique(&mut taken, &job.stream.name),
        span: span(job, largest.filter(|_| are_known)),
        targets: numbered(job, &targets, all),
        ..job.stream.clone()
    });
    let duration = Nanos(stretch.end_ns - stretch.start_ns);
    let seed = jobs.iter().find_map(|job| job.seed).unwrap_or(1);
    let streams: Vec<Stream> = streams.collect();
    let mut workload = Workload::of(name, duration, streams[0].clone());
    workload.streams = streams;
    workload.warm_up = Nanos(stretch.warm_up_ns);
    workload.direct = jobs.iter().any(|job| job.is_direct);
    workload.capacity = capacity;
    workload.seed = seed;
    workload
        .check()
        .map_err(|error| refused(jobs[0], OptionReason::Invalid(error.message().to_owned())))?;
    Ok(ConversionPart {
        document: ConvertedDocument::Workload(workload),
        targets,
        sources: sources(jobs),
    })
}

fn count(length: usize) -> u64 {
    assay_model::number::count_of(length)
}

/// The targets of the jobs, as indices into all targets; sizes grow to the largest that is asked
/// for.
fn targets(jobs: &[&FioJob], all: &mut Vec<NamedTarget>) -> Vec<usize> {
    let mut found = Vec::new();
    for job in jobs {
        for name in &job.files {
            let index = all.iter().position(|one| &one.name == name).unwrap_or_else(|| {
                all.push(NamedTarget { name: name.clone(), size: None });
                all.len() - 1
            });
            let bytes = job.file_bytes.map(Bytes);
            all[index].size = all[index].size.max(bytes);
            if !found.contains(&index) {
                found.push(index);
            }
        }
    }
    found
}

/// The job's targets as the workload counts them; none where it uses all.
fn numbered(job: &FioJob, targets: &[usize], all: &[NamedTarget]) -> Vec<usize> {
    let place = |name: &String| targets.iter().position(|index| &all[*index].name == name);
    let mut places: Vec<usize> = job.files.iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    if places.len() == targets.len() { Vec::new() } else { places }
}

/// The part of its targets that a job uses, where others use more.
fn span(job: &FioJob, largest: Option<u64>) -> Span {
    let of_bytes = match (job.file_bytes, largest) {
        (Some(mine), Some(largest)) if largest > mine => real(mine) / real(largest),
        _ => 1.0,
    };
    let used = job.share.unwrap_or(1.0) * of_bytes;
    let Span { from, to } = job.stream.span;
    Span { from: Share(from.0 * used), to: Share(to.0 * used) }
}

fn sources(jobs: &[&FioJob]) -> BTreeMap<DocumentLine, Vec<OptionOrigin>> {
    const OF_THE_WHOLE: [&str; 5] = ["duration", "warm_up", "direct", "capacity", "seed"];
    conversion::sources(jobs.iter().enumerate().flat_map(|(index, job)| {
        job.sources.iter().map(move |(key, origin)| {
            let stream = (!OF_THE_WHOLE.contains(key)).then_some(index);
            (DocumentLine { stream, key }, origin)
        })
    }))
}

/// A note for each job that uses the page cache while another that runs with it does not.
fn cached_with_direct(jobs: &[FioJob]) -> Vec<Note> {
    let mixed = groups(jobs).into_iter().filter(|group| group.iter().any(|job| job.is_direct));
    let cached = mixed.flatten().filter(|job| !job.is_direct && !job.is_left_out);
    let note = |job: &FioJob| {
        let begin = job.notes.last().map(|note| note.origin.clone()).unwrap_or_default();
        Note {
            origin: OptionOrigin { key: format!("[{}] direct", job.stream.name), ..begin },
            value: "0".to_owned(),
            treatment: Treatment::Approximated(Approximation::AllDirect),
        }
    };
    cached.map(note).collect()
}

/// What became of a job's options, and what its place among the others changed.
fn notes_of(job: &FioJob) -> Vec<Note> {
    let mut notes = job.notes.clone();
    for note in &mut notes {
        let is_delay =
            ["startdelay", "start_delay"].contains(&note.origin.key.trim_start_matches('-'));
        if is_delay && job.start_ns > 0 && note.treatment == Treatment::Exact {
            note.treatment = Treatment::Approximated(Approximation::Steps);
        }
    }
    if job.run_ns.is_none() {
        let begin = job.notes.first().map(|note| note.origin.clone()).unwrap_or_default();
        notes.push(Note {
            origin: OptionOrigin { key: format!("[{}] runtime", job.stream.name), ..begin },
            value: String::new(),
            treatment: Treatment::Approximated(Approximation::EndsByTime(DEFAULT_TIME)),
        });
    }
    notes
}
