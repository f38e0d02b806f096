//! fio's output as measurements if it has distributions, and as rows of numbers if not.

use super::load::{OptionLacks, STREAMS_MAX, hides_flags, unused, workload};
use super::printed::{
    KnownTimes, PrintedJob, PrintedOutput, PrintedSide, have_one_runtime, queue_depth_mean,
};
use crate::fio::{OptionUse, full_name, option_use};
use crate::results::imported::{
    ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack, broken, refused, total,
};
use assay_model::Result;
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, OperationResult,
    PerOperation,
};
use assay_model::number::{count, rate, real};
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::{NamedEstimate, Unit};
use std::collections::{BTreeMap, BTreeSet};

const SECOND_NS: f64 = 1e9;
/// Reads and writes of run times that differ by more have no sum.
const SUM_ROUNDING: f64 = 0.05;

/// The result of what fio printed.
///
/// # Errors
/// A usage error where it holds no job, or no read or write.
pub fn imported(mut output: PrintedOutput) -> Result<ImportedResult> {
    if !output.is_of_assay && drop_contradictory_times(&mut output.jobs) {
        output.lacks.push(Lack::ContradictoryTimes);
    }
    if !output.is_of_assay && drop_impossible_times(&mut output.jobs) {
        output.lacks.push(Lack::ImpossibleTimes);
    }
    join_concurrent_groups(&mut output.jobs);
    let first = output.jobs.first().ok_or_else(|| broken("fio", "it has no jobs"))?;
    let name = first.name.clone();
    let mut lacks = lacks(&output);
    let content = if output.jobs.iter().all(|job| job.sides().next().is_none()) {
        return Err(nothing(&output));
    } else if has_distributions(&output) {
        ImportedContent::Runs(runs(&output, &mut lacks))
    } else {
        lacks.extend(unused(&output.jobs).lacks());
        ImportedContent::Rows(rows(&output))
    };
    Ok(ImportedResult { program: output.version, name, content, lacks })
}

/// Gives groups that ran at the same time one number: `new_group` separates only their statistics.
fn join_concurrent_groups(jobs: &mut [PrintedJob]) {
    let times: Vec<Option<RunTime>> = jobs.iter().map(RunTime::of).collect();
    for later in 1..jobs.len() {
        let is_concurrent = |earlier: &usize| match (times[*earlier], times[later]) {
            (Some(one), Some(other)) => one.is_concurrent(other),
            _ => false,
        };
        let group = jobs[later].group;
        if let Some(earlier) = (0..later).find(is_concurrent) {
            let joined = jobs[earlier].group;
            jobs.iter_mut().filter(|job| job.group == group).for_each(|job| job.group = joined);
        }
    }
}

/// When a job ran, where it says so itself.
#[derive(Clone, Copy)]
struct RunTime {
    started_ns: u64,
    ended_ns: u64,
}

impl RunTime {
    fn of(job: &PrintedJob) -> Option<Self> {
        let started_ns = job.started_unix_ns?;
        let ended_ns = started_ns.saturating_add(count(job.runtime_s()? * SECOND_NS));
        Some(Self { started_ns, ended_ns })
    }

    /// Whether they ran together for most of the shorter time: a start is known to the millisecond,
    /// and the next group begins while the last one ends.
    fn is_concurrent(self, other: Self) -> bool {
        let both_ns = self.ended_ns.min(other.ended_ns);
        let both_ns = both_ns.saturating_sub(self.started_ns.max(other.started_ns));
        let length_ns = |time: Self| time.ended_ns - time.started_ns;
        2 * both_ns > length_ns(self).min(length_ns(other))
    }
}

fn drop_contradictory_times(jobs: &mut [PrintedJob]) -> bool {
    let dropped = jobs.iter_mut().filter_map(|job| job.drop_contradictory_times().then_some(()));
    dropped.count() > 0
}

fn drop_impossible_times(jobs: &mut [PrintedJob]) -> bool {
    let dropped = jobs.iter_mut().filter_map(|job| job.drop_impossible_times().then_some(()));
    dropped.count() > 0
}

/// Why a result without reads and writes is none.
fn nothing(output: &PrintedOutput) -> assay_model::Error {
    if output.jobs.iter().any(|job| job.trim.is_some()) {
        let hint = "specify a result with reads or writes; Assay does not measure trims";
        return refused("fio", "it has only trims", hint);
    }
    let failed = output.jobs.iter().find(|job| job.error != 0);
    let what = failed.map_or_else(
        || "no job read or wrote anything".to_owned(),
        |job| format!("no job read or wrote anything: {}", failure(job)),
    );
    refused("fio", &what, "specify a result with reads or writes")
}

fn failure(job: &PrintedJob) -> String {
    format!("error {} in job {}", job.error, job.name)
}

fn sides(output: &PrintedOutput) -> impl Iterator<Item = &PrintedSide> {
    output.jobs.iter().flat_map(|job| job.sides().map(|(_, side)| side))
}

/// Whether reads and writes are separate, have a distribution, and share one run time in each
/// group, because a measurement has only one.
fn has_distributions(output: &PrintedOutput) -> bool {
    output.jobs.iter().all(|job| job.mixed.is_none())
        && have_one_runtime(&output.jobs)
        && sides(output).all(|side| matches!(side.times(), KnownTimes::Distribution(_)))
}

fn lacks(output: &PrintedOutput) -> Vec<Lack> {
    let mut lacks = output.lacks.clone();
    lacks.extend([Lack::Intervals, Lack::Environment]);
    let mut add = |holds: bool, lack: Lack| lacks.extend(holds.then_some(lack));
    // A distribution takes a hundred times as much as what is printed of it: one at a time.
    let (mut has_quantiles, mut has_mean, mut has_nothing) = (false, false, false);
    for side in sides(output) {
        match side.times() {
            KnownTimes::Distribution(_) => has_quantiles = true,
            KnownTimes::Mean { .. } => has_mean = true,
            KnownTimes::Nothing => has_nothing = true,
        }
    }
    let is_of_completion = sides(output).any(PrintedSide::is_of_completion);
    add(is_of_completion && !output.is_of_assay, Lack::Submission);
    let long = long_submissions(output);
    add(!long.is_empty() && !output.is_of_assay, Lack::LongSubmission(long));
    add(sides(output).any(PrintedSide::has_quantiles_of_total), Lack::QuantilesOfTotal);
    add(has_quantiles && !sides(output).all(PrintedSide::has_bins), Lack::QuantileRanks);
    add(has_quantiles && joins_quantiles(output), Lack::JointQuantiles);
    add(has_mean, Lack::Quantiles);
    add(has_nothing, Lack::Times);
    add(output.jobs.iter().any(|job| job.mixed.is_some()), Lack::Operations);
    add(output.jobs.iter().all(|job| job.options.is_empty()), Lack::Load);
    add(output.jobs.iter().any(hides_flags), Lack::Flags);
    let undated = output.jobs.iter().filter(|job| start_of_group(job, output).is_none()).count();
    add(undated == output.jobs.len(), Lack::Date);
    add(undated > 0 && undated < output.jobs.len(), Lack::StartsOfGroups);
    let idle = output.jobs.iter().filter(|job| job.sides().next().is_none() && job.trim.is_none());
    let idle = assay_model::number::count_of(idle.count());
    add(idle > 0, Lack::IdleJobs(idle));
    let trims: u64 = output.jobs.iter().filter_map(|job| Some(job.trim.as_ref()?.ios)).sum();
    let untimed = output.jobs.iter().filter_map(|job| job.sync.as_ref());
    let untimed = untimed.filter(|sync| sync.times() == KnownTimes::Nothing);
    let untimed: u64 = untimed.map(|sync| sync.ios).sum();
    let left_out = [(trims, "trims"), (untimed, "syncs")];
    let left_out = left_out.iter().filter(|(ios, _)| *ios > 0);
    let left_out: Vec<String> = left_out.map(|(ios, name)| format!("{ios} {name}")).collect();
    add(!left_out.is_empty(), Lack::OperationsLeftOut(left_out));
    lacks
}

/// Whether jobs of one group have quantiles without the histograms that would give joint ones.
fn joins_quantiles(output: &PrintedOutput) -> bool {
    let mut groups: BTreeMap<u32, Vec<&PrintedJob>> = BTreeMap::new();
    let without_bins =
        |job: &&PrintedJob| job.sides().any(|(_, side)| side.ios > 0 && !side.has_bins());
    let jobs = output.jobs.iter().filter(without_bins);
    jobs.for_each(|job| groups.entry(job.group).or_default().push(job));
    let share = |jobs: &Vec<&PrintedJob>| {
        let of = |side: fn(&PrintedJob) -> bool| jobs.iter().filter(|job| side(job)).count() > 1;
        of(|job| job.read.is_some()) || of(|job| job.write.is_some())
    };
    groups.values().any(share)
}

/// Mean total latencies that are more than twice the mean completion latency.
fn long_submissions(output: &PrintedOutput) -> String {
    let sides = output.jobs.iter().flat_map(PrintedJob::sides).filter_map(|(name, side)| {
        let (completion_ns, total_ns) = (side.completion.mean_ns?, side.total.mean_ns?);
        let words = format!("{} on average ({name})", Unit::Ns.show(total_ns));
        (completion_ns > 0.0 && total_ns > 2.0 * completion_ns).then(|| words.replace(" ()", ""))
    });
    sides.take(4).collect::<Vec<_>>().join(", ")
}

/// A run for each group of jobs, which ran at the same time.
fn runs(output: &PrintedOutput, lacks: &mut Vec<Lack>) -> Vec<ImportedRun> {
    let mut groups: BTreeMap<u32, Vec<&PrintedJob>> = BTreeMap::new();
    let active = output.jobs.iter().filter(|job| job.sides().next().is_some());
    active.for_each(|job| groups.entry(job.group).or_default().push(job));
    let mut unused = OptionLacks::default();
    let runs = groups.values().map(|jobs| run(jobs, output, &mut unused)).collect();
    lacks.extend(unused.lacks());
    runs
}

fn run(jobs: &[&PrintedJob], output: &PrintedOutput, unused: &mut OptionLacks) -> ImportedRun {
    let elapsed_ns = elapsed_ns(jobs);
    let streams = streams(jobs, output.is_of_assay);
    let measurement = Measurement {
        format: 1,
        workload: jobs[0].name.clone(),
        started_unix_ns: started(jobs, output),
        elapsed_ns,
        finish: finish(jobs),
        targets: Vec::new(),
        errors: Vec::new(),
        conduct: Conduct {
            stream_elapsed_ns: stream_elapsed_ns(jobs, &streams, elapsed_ns),
            ..conduct(jobs, output, elapsed_ns)
        },
        streams,
    };
    let interval = Interval {
        index: 0,
        start_ns: 0,
        end_ns: elapsed_ns,
        operations: measurement.operations().coarsened(),
        queue_depth_mean: measurement.conduct.queue_depth_mean,
    };
    let workload = workload(jobs, &measurement, unused);
    let intervals = vec![(interval, measurement.streams.clone())];
    ImportedRun { workload, measurement, intervals }
}

/// When the first of the jobs started; 0 where that is not known.
fn started(jobs: &[&PrintedJob], output: &PrintedOutput) -> u64 {
    let own = jobs.iter().filter_map(|job| job.started_unix_ns).min();
    own.or_else(|| start_of_group(jobs[0], output)).unwrap_or(0)
}

/// When the group of a job started, ns since 1970. fio prints its date at the end: only the last
/// group ended then, and groups run one after another.
fn start_of_group(job: &PrintedJob, output: &PrintedOutput) -> Option<u64> {
    if job.started_unix_ns.is_some() {
        return job.started_unix_ns;
    }
    let last = output.jobs.iter().map(|job| job.group).max()?;
    let group: Vec<&PrintedJob> = output.jobs.iter().filter(|job| job.group == last).collect();
    group.iter().find_map(|job| job.runtime_s())?;
    output.ended_unix_ns.filter(|_| job.group == last)?.checked_sub(elapsed_ns(&group))
}

/// The longest time of the jobs, which began together.
fn elapsed_ns(jobs: &[&PrintedJob]) -> u64 {
    let longest_s = jobs.iter().filter_map(|job| job.runtime_s()).fold(0.0, f64::max);
    count(longest_s * SECOND_NS).max(1_000_000)
}

/// A stream for each job; of more than a workload can have, the last joins all others.
fn streams(jobs: &[&PrintedJob], is_of_assay: bool) -> Vec<NamedResult> {
    let mut streams = Vec::<NamedResult>::new();
    for (number, (job, name)) in jobs.iter().zip(names(jobs)).enumerate() {
        let result = |side: &Option<PrintedSide>| {
            let side = side.as_ref()?;
            let response = side.response().filter(|_| is_of_assay);
            Some(OperationResult { response, ..operation(side)? })
        };
        let operations = PerOperation {
            read: result(&job.read),
            write: result(&job.write),
            sync: result(&job.sync),
        };
        match streams.last_mut().filter(|_| number >= STREAMS_MAX) {
            None => streams.push(NamedResult { name, operations }),
            Some(others) => {
                others.name = format!("{} other jobs", jobs.len() + 1 - STREAMS_MAX);
                others.operations.merge(&operations);
            }
        }
    }
    streams
}

/// Times of the jobs that ended before the last one; those of the joined last stream differ.
fn stream_elapsed_ns(
    jobs: &[&PrintedJob],
    streams: &[NamedResult],
    elapsed_ns: u64,
) -> BTreeMap<String, u64> {
    let own = jobs.iter().zip(streams).filter_map(|(job, stream)| {
        let time_ns = count(job.runtime_s()? * SECOND_NS);
        (time_ns < elapsed_ns).then(|| (stream.name.clone(), time_ns))
    });
    let mut own: BTreeMap<String, u64> = own.collect();
    if let Some(last) = streams.last().filter(|_| jobs.len() > streams.len()) {
        own.remove(&last.name);
    }
    own
}

/// A name for each job; a later one of the same name has its number.
fn names(jobs: &[&PrintedJob]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut known = BTreeSet::new();
    for job in jobs {
        let name = job.full_name();
        let name = if known.contains(&name) { format!("{name}-{}", names.len() + 1) } else { name };
        known.insert(name.clone());
        names.push(name);
    }
    names
}

fn operation(side: &PrintedSide) -> Option<OperationResult> {
    let KnownTimes::Distribution(service) = side.times() else { return None };
    let (ios, bytes, errors) = (side.ios, side.bytes, side.errors);
    Some(OperationResult { ios, bytes, errors, service, response: None })
}

fn finish(jobs: &[&PrintedJob]) -> Finish {
    let failed = jobs.iter().find(|job| job.error != 0);
    failed
        .map_or(Finish::Complete, |job| Finish::Failed { reason: format!("fio: {}", failure(job)) })
}

fn conduct(jobs: &[&PrintedJob], output: &PrintedOutput, elapsed_ns: u64) -> Conduct {
    let engine = jobs[0].options.get("ioengine");
    let engine = engine.cloned().or_else(|| (!jobs[0].options.is_empty()).then(|| "psync".into()));
    // A sum that lacks a job is none.
    let processor: Option<Vec<_>> = jobs.iter().map(|job| job.processor).collect();
    let processor = processor.unwrap_or_default();
    Conduct {
        backend: BackendKind::Fio,
        features: std::iter::once(output.version.clone()).chain(engine).collect(),
        direct_io: jobs[0].options.get("direct").map(|text| text != "0"),
        clock: ClockKind::Fio,
        cpu_user_s: processor.iter().map(|one| one.user_s).sum(),
        cpu_system_s: processor.iter().map(|one| one.system_s).sum(),
        queue_depth_mean: queue_depth_mean(jobs, elapsed_ns),
        littles_law_ratio: 1.0,
        ..Conduct::default()
    }
}

/// A row for each job, with the options of its load, and any other in which jobs differ.
fn rows(output: &PrintedOutput) -> Vec<ImportedRow> {
    let jobs: Vec<&PrintedJob> =
        output.jobs.iter().filter(|job| job.sides().next().is_some()).collect();
    let options: BTreeSet<&String> = jobs.iter().flat_map(|job| job.options.keys()).collect();
    let differ = |name: &&&String| {
        let mut values = jobs.iter().map(|job| job.options.get(**name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let of_load = |name: &&&String| matches!(option_use(name), OptionUse::Load);
    let shown: Vec<&&String> =
        options.iter().filter(|name| of_load(name) || differ(name)).collect();
    let text = |factor: &str, value: String| StudySetting {
        factor: factor.to_owned(),
        value: FactorValue::Text(value),
    };
    let row = |(job, name): (&&PrintedJob, String)| {
        let mut settings = vec![text("run", name)];
        settings.extend(shown.iter().filter_map(|name| {
            Some(text(full_name(name).unwrap_or(name), job.options.get(**name)?.clone()))
        }));
        let started_ns = started(&[*job], output);
        ImportedRow {
            settings,
            started_unix_ns: (started_ns > 0).then_some(started_ns),
            elapsed_s: job.runtime_s(),
            measures: measures(job),
            ..ImportedRow::default()
        }
    };
    let mut rows: Vec<ImportedRow> = jobs.iter().zip(names(&jobs)).map(row).collect();
    if !have_one_runtime(&output.jobs) {
        rows.extend(sums(&jobs, output));
    }
    rows
}

/// A row for each group of several jobs: what they did together, over the longest of their times.
fn sums(jobs: &[&PrintedJob], output: &PrintedOutput) -> Vec<ImportedRow> {
    let groups = jobs.chunk_by(|one, next| one.group == next.group);
    let sum = |group: &[&PrintedJob]| {
        let elapsed_ns = elapsed_ns(group);
        let elapsed_s = real(elapsed_ns) / SECOND_NS;
        let per_s = |amount: fn(&PrintedSide) -> u64| {
            let sides = group.iter().flat_map(|job| job.sides());
            rate(sides.map(|(_, side)| amount(side)).sum(), elapsed_s)
        };
        let name = format!("{} and {} more", group[0].full_name(), group.len() - 1);
        let started_ns = started(group, output);
        ImportedRow {
            settings: vec![StudySetting {
                factor: "run".to_owned(),
                value: FactorValue::Text(name),
            }],
            started_unix_ns: (started_ns > 0).then_some(started_ns),
            elapsed_s: Some(elapsed_s),
            measures: vec![
                total("iops", per_s(|side| side.ios)),
                total("throughput", per_s(|side| side.bytes)),
            ],
            ..ImportedRow::default()
        }
    };
    groups.filter(|group| group.len() > 1).map(sum).collect()
}

/// The numbers of a job: rates of all, then what is known of each operation.
fn measures(job: &PrintedJob) -> Vec<NamedEstimate> {
    let sides: Vec<_> = job.sides().collect();
    let mut measures = Vec::new();
    // What was written first and read later has no sum.
    if job.sides_ran_together(SUM_ROUNDING) {
        let sum = |amount: fn(&PrintedSide) -> u64| -> Option<f64> {
            sides.iter().map(|(_, side)| Some(rate(amount(side), side.elapsed_s()?))).sum()
        };
        measures.extend(sum(|side| side.ios).map(|value| total("iops", value)));
        measures.extend(sum(|side| side.bytes).map(|value| total("throughput", value)));
    }
    for (operation, side) in &sides {
        let name =
            |quantity: &str| format!("{operation}.{quantity}").trim_start_matches('.').to_owned();
        if let Some(elapsed_s) = side.elapsed_s().filter(|_| sides.len() > 1) {
            measures.push(total(&name("iops"), rate(side.ios, elapsed_s)));
            measures.push(total(&name("throughput"), rate(side.bytes, elapsed_s)));
        }
        measures.extend(times(side, &name));
    }
    measures
}

/// What is known of the times of an operation.
fn times(side: &PrintedSide, name: &dyn Fn(&str) -> String) -> Vec<NamedEstimate> {
    match side.times() {
        KnownTimes::Nothing => Vec::new(),
        KnownTimes::Mean { mean_ns, max_ns } => {
            let mean = total(&name("service_time.mean"), mean_ns);
            let max = max_ns.map(|max_ns| total(&name("service_time.max"), max_ns));
            std::iter::once(mean).chain(max).collect()
        }
        KnownTimes::Distribution(histogram) => {
            let mean = total(&name("service_time.mean"), histogram.mean_ns());
            let quantile = |rank: f64| {
                total(&name(&format!("service_time.q{rank}")), real(histogram.quantile_ns(rank)))
            };
            let ranks = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];
            let ranks = ranks.into_iter().filter(|rank| histogram.knows_quantile(*rank));
            let longest = total(&name("service_time.max"), real(histogram.max_ns()));
            std::iter::once(mean).chain(ranks.map(quantile)).chain([longest]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::*;

    const SMALL: &str = r#"{"fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [
        {"jobname": "a", "groupid": 0, "job options": {"iodepth": "4", "direct": "1"}, "usr_cpu": 1.0, "sys_cpu": 2.0,
         "read": {"io_bytes": 4096000, "total_ios": 1000, "runtime": 2000,
                  "clat_ns": {"min": 10, "max": 900, "mean": 200.0, "N": 1000, "percentile": {"50.000000": 150, "99.000000": 700}}}},
        {"jobname": "b", "groupid": 1, "write": {"io_bytes": 4096, "total_ios": 1, "runtime": 1000,
                  "clat_ns": {"min": 5, "max": 5, "mean": 5.0, "N": 1, "bins": {"5": 1}}}}]}"#;

    #[test]
    fn groups_are_runs_and_jobs_are_streams() {
        let found = import(&format!("note: fio says something\n{SMALL}")).unwrap();
        let ImportedContent::Runs(runs) = &found.content else { panic!("{found:?}") };
        assert_eq!((runs.len(), found.program.as_str()), (2, "fio-3.33"));
        let operations = runs[0].measurement.operations();
        let read = operations.read.unwrap();
        assert_eq!((read.ios, read.bytes, read.service.quantile_ns(0.99)), (1000, 4_096_000, 700));
        assert!((runs[0].measurement.iops() - 500.0).abs() < 1e-9);
        assert!((read.service.mean_ns() - 200.0).abs() < 1.0, "{}", read.service.mean_ns());
        assert!(found.lacks.contains(&Lack::QuantileRanks));
        assert!(!found.lacks.contains(&Lack::JointQuantiles), "each group has one job");
        let joint = SMALL.replacen(r#""jobs": ["#, r#""jobs": [JOB, "#, 1);
        let job =
            SMALL[SMALL.find(r#"{"jobname": "a""#).unwrap()..].split(",\n        {\"jobname\"");
        let joint = joint.replace("JOB", job.into_iter().next().unwrap());
        assert!(import(&joint).unwrap().lacks.contains(&Lack::JointQuantiles));
        runs[0].workload.check().unwrap();
    }

    /// A job of a group with 1,000 reads; `start_ms` is its own start, if it has one.
    fn of_group(group: u32, start_ms: Option<u64>, runtime_ms: u64) -> String {
        let start = start_ms.map_or_else(String::new, |ms| format!(r#""job_start": {ms}, "#));
        format!(
            r#"{{"jobname": "g{group}", "groupid": {group}, {start}"read": {{"io_bytes": 4096000, "total_ios": 1000,
                "runtime": {runtime_ms}, "clat_ns": {{"min": 5, "max": 5, "mean": 5.0, "N": 1000, "bins": {{"5": 1000}}}}}}}}"#
        )
    }

    fn runs_of(jobs: &[String]) -> (Vec<ImportedRun>, Vec<Lack>) {
        let jobs = jobs.join(",");
        let head = r#""fio version": "fio-3.33", "timestamp_ms": 1700000100000"#;
        let found = import(&format!(r#"{{{head}, "jobs": [{jobs}]}}"#)).unwrap();
        let ImportedContent::Runs(runs) = found.content else { panic!("{:?}", found.content) };
        (runs, found.lacks)
    }

    #[test]
    fn groups_that_ran_at_the_same_time_are_one_run() {
        let start_ms = 1_700_000_000_000;
        let (runs, _) =
            runs_of(&[of_group(0, Some(start_ms), 2000), of_group(1, Some(start_ms + 1), 2000)]);
        assert_eq!((runs.len(), runs[0].measurement.streams.len()), (1, 2));
        assert!((runs[0].measurement.iops() - 1000.0).abs() < 1e-9);
        assert_eq!(runs[0].measurement.started_unix_ns, start_ms * 1_000_000);
        // One after the other, and without starts, they are two.
        let after = [of_group(0, Some(start_ms), 2000), of_group(1, Some(start_ms + 1999), 2000)];
        assert_eq!(runs_of(&after).0.len(), 2);
        assert_eq!(runs_of(&[of_group(0, None, 2000), of_group(1, None, 2000)]).0.len(), 2);
    }

    #[test]
    fn without_starts_of_jobs_only_the_last_group_has_one() {
        let (runs, lacks) = runs_of(&[of_group(0, None, 9000), of_group(1, None, 4000)]);
        let started: Vec<u64> = runs.iter().map(|run| run.measurement.started_unix_ns).collect();
        assert_eq!(started, [0, 1_700_000_096_000_000_000]);
        assert!(lacks.contains(&Lack::StartsOfGroups) && !lacks.contains(&Lack::Date));
        let (runs, lacks) = runs_of(&[of_group(0, None, 9000)]);
        assert_eq!(runs[0].measurement.started_unix_ns, 1_700_000_091_000_000_000);
        assert!(!lacks.contains(&Lack::StartsOfGroups) && !lacks.contains(&Lack::Date));
    }

    #[test]
    fn jobs_without_io_are_named() {
        let idle = r#"{"jobname": "idle", "groupid": 0, "read": {"total_ios": 0}}"#.to_owned();
        let (runs, lacks) = runs_of(&[of_group(0, None, 1000), idle.clone(), idle]);
        assert_eq!(runs.len(), 1);
        assert!(lacks.contains(&Lack::IdleJobs(2)), "{lacks:?}");
    }

    #[test]
    fn a_job_has_the_rate_of_its_own_time() {
        let job = |name: &str, ms: u32| {
            format!(
                r#"{{"jobname": "{name}", "read": {{"io_bytes": 40960000, "total_ios": 10000, "runtime": {ms},
                    "clat_ns": {{"min": 5, "max": 5, "mean": 5.0, "bins": {{"5": 10000}}}}}}}}"#
            )
        };
        let jobs = format!("{},{}", job("a", 10_000), job("b", 9_970));
        let text = format!(r#"{{"fio version": "fio-3.33", "jobs": [{jobs}]}}"#);
        let ImportedContent::Runs(runs) = import(&text).unwrap().content else { panic!() };
        let measurement = &runs[0].measurement;
        let times = ["a", "b", "c"].map(|name| measurement.stream_elapsed_s(name));
        assert_eq!(times.map(f64::to_bits), [10.0, 9.97, 10.0].map(f64::to_bits));
        assert!((measurement.iops() - 2000.0).abs() < 1e-9, "the sum is over the whole time");
    }

    #[test]
    fn jobs_beyond_the_streams_of_a_workload_are_one_stream() {
        let job = r#"{"jobname": "a", "read": {"io_bytes": 4096, "total_ios": 10, "runtime": 1000, "clat_ns": {"min": 5, "max": 5, "mean": 5.0, "bins": {"5": 10}}}}"#;
        let of = |jobs: usize| {
            let jobs = vec![job; jobs].join(",");
            let text = format!(r#"{{"fio version": "fio-3.33", "jobs": [{jobs}]}}"#);
            let ImportedContent::Runs(runs) = import(&text).unwrap().content else { panic!() };
            runs[0].workload.check().unwrap();
            let streams = &runs[0].measurement.streams;
            assert_eq!(runs[0].workload.streams.len(), streams.len());
            let last = streams.last().unwrap();
            (streams.len(), last.name.clone(), last.operations.ios())
        };
        assert_eq!(of(STREAMS_MAX), (STREAMS_MAX, "a-256".to_owned(), 10));
        assert_eq!(of(300), (STREAMS_MAX, "45 other jobs".to_owned(), 450));
    }

    #[test]
    fn a_submission_that_is_most_of_an_io_is_named() {
        let with = |mean: &str| {
            let total =
                format!(r#""lat_ns": {{"min": 10, "max": 900, "mean": {mean}}}, "clat_ns""#);
            import(&SMALL.replacen(r#""clat_ns""#, &total, 1)).unwrap().lacks
        };
        let words = "4.00 ms on average (read)".to_owned();
        assert!(with("4000000.0").contains(&Lack::LongSubmission(words)));
        assert!(!with("210.0").iter().any(|lack| matches!(lack, Lack::LongSubmission(_))));
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        for end in [1, 40, 200, SMALL.len() - 2] {
            let error = import(&SMALL[..end]).unwrap_err();
            assert!(error.message().contains("fio"), "{error}");
        }
    }

    fn of_job(job: &str) -> Result<ImportedResult> {
        import(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", {job}}}]}}"#))
    }

    fn numbers(result: ImportedResult) -> Vec<(String, f64)> {
        let ImportedContent::Rows(rows) = result.content else { panic!("{result:?}") };
        let measures = rows.into_iter().flat_map(|row| row.measures);
        measures.map(|one| (one.quantity, one.estimate.value)).collect()
    }

    /// fio 3.33 prints a flush of half an hour in a run of two seconds.
    #[test]
    fn flushes_that_are_longer_than_the_run_are_left_out() {
        let times = |max: u64| {
            format!(
                r#"{{"min": 5, "max": {max}, "mean": 5.0, "N": 2, "percentile": {{"50.000000": 5}}}}"#
            )
        };
        let job = |max| {
            format!(
                r#""write": {{"io_bytes": 8192, "total_ios": 2, "runtime": 2000, "clat_ns": {}}}, "sync": {{"total_ios": 0, "lat_ns": {}}}"#,
                times(9),
                times(max)
            )
        };
        let of = |max| {
            let found = of_job(&job(max)).unwrap();
            let ImportedContent::Runs(runs) = &found.content else { panic!("{found:?}") };
            (runs[0].measurement.operations().sync.map(|sync| sync.ios), found.lacks)
        };
        assert_eq!(of(9).0, Some(2));
        let (syncs, lacks) = of(2_019_616_796_306);
        assert_eq!(syncs, None);
        let left_out = Lack::OperationsLeftOut(vec!["2 syncs".to_owned()]);
        assert!(lacks.contains(&Lack::ImpossibleTimes) && lacks.contains(&left_out), "{lacks:?}");
    }

    #[test]
    fn quantiles_that_were_not_printed_are_unknown() {
        let times = r#"{"min": 5, "max": 900, "mean": 50.0, "percentile": {"50.000000": 40, "99.500000": 247}}"#;
        let found = of_job(&format!(r#""read": {{"io_bytes": 8192, "total_ios": 2000, "runtime": 2000, "clat_ns": {times}}}"#)).unwrap();
        let ImportedContent::Runs(runs) = &found.content else { panic!("{found:?}") };
        let service = runs[0].measurement.operations().read.unwrap().service;
        assert_eq!([0.5, 0.99, 0.995].map(|q| service.knows_quantile(q)), [true, false, true]);
        assert_eq!(service.quantile_ns(0.995), 247);
    }

    #[test]
    fn what_has_no_distribution_is_a_row_of_what_is_known() {
        let job = |times: &str| {
            format!(r#""read": {{"io_bytes": 8192, "total_ios": 2000, "runtime": 1000{times}}}"#)
        };
        let mean = of_job(&job(r#", "clat_ns": {"max": 9, "mean": 5.0}"#)).unwrap();
        assert!(mean.lacks.contains(&Lack::Quantiles));
        let known = |name: &str, value| (name.to_owned(), value);
        let rates = [known("iops", 2000.0), known("throughput", 8192.0)];
        let times = [known("read.service_time.mean", 5.0), known("read.service_time.max", 9.0)];
        assert_eq!(numbers(mean), [&rates[..], &times[..]].concat());
        let off = of_job(&job("")).unwrap();
        assert!(off.lacks.contains(&Lack::Times));
        assert_eq!(numbers(off), rates);
    }

    #[test]
    fn trims_are_named_and_joined_numbers_stay_joined() {
        let side = r#"{"io_bytes": 4096, "total_ios": 1, "runtime": 1000, "clat_ns": {"min": 5, "max": 5, "mean": 5.0, "bins": {"5": 1}}}"#;
        let both = of_job(&format!(r#""write": {side}, "trim": {side}"#)).unwrap();
        assert!(both.lacks.contains(&Lack::OperationsLeftOut(vec!["1 trims".to_owned()])));
        let error = of_job(&format!(r#""trim": {side}"#)).unwrap_err();
        assert!(error.message().contains("only trims"), "{error}");
        let mixed =
            of_job(&format!(r#""job options": {{"rw": "randrw"}}, "mixed": {side}"#)).unwrap();
        assert!(mixed.lacks.contains(&Lack::Operations));
        assert_eq!(numbers(mixed)[2].0, "service_time.mean");
        let error = of_job(r#""error": 5"#).unwrap_err();
        assert!(error.message().contains("error 5 in job a"), "{error}");
    }
}
