//! What the answer of a report means for somebody who does not know the words of storage.

use super::super::comparison_headline::{different, variation};
use super::super::quantity_names::{factor, quantity};
use super::super::rates::rounded;
use crate::format::Formatter;
use crate::input::{GivenReport, RunReport};
use crate::ladder::split::SessionSplit;
use crate::phrases::nines;
use crate::summary::hundred_reads;
use assay_model::calibration::{Calibration, MixCalibration};
use assay_model::comparison::Comparison;
use assay_model::load::{Load, Rung};
use assay_model::locality::Locality;
use assay_model::number::real;
use assay_model::soak::{Soak, SoakState};
use assay_model::spelling::LimitStatistic;
use assay_model::study::{StudyPoint, StudyResult};
use assay_model::units::{show_bytes, show_count};
use assay_model::verdict::{Outcome, Unit};
use assay_model::watch::Summary;

/// A processor that is busy for longer has no time to spare.
const BUSY: f64 = 0.8;

pub(super) fn meaning(report: &GivenReport, format: &Formatter) -> Vec<String> {
    if let Some(found) = &report.comparison {
        return of_comparison(found);
    }
    if let Some(soak) = &report.soak {
        return of_soak(soak, format);
    }
    if let Some(locality) = &report.locality {
        return of_locality(locality, format);
    }
    if let Some(study) = &report.study {
        return of_study(study);
    }
    if report.projection.as_ref().is_some_and(|found| found.replay.is_some()) {
        let verdict = report.verdict.as_ref().map(|verdict| verdict.outcome);
        return verdict.map(|outcome| database_words(outcome).to_owned()).into_iter().collect();
    }
    let verdict = report.verdict.as_ref().map(|verdict| outcome_words(verdict.outcome).to_owned());
    let mut said: Vec<String> = verdict.into_iter().collect();
    if is_undecided(report) {
        said.push(UNDECIDED.to_owned());
    } else if let Some(calibration) = &report.calibration {
        said.extend(of_calibration(calibration, format));
    } else if let Some(load) = &report.load {
        said.extend(of_load(load));
    } else if report.dss.is_some() {
        said.push(DSS.to_owned());
    } else if let Some(run) = report.runs.first() {
        said.extend(of_run(run));
    } else if let Some(watch) = &report.watch {
        said.push(of_watch(&watch.summary));
    }
    said
}

const fn database_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "Yes: the database would do its work at least as fast as now.",
        Outcome::Fail => "No: the database would be slower than now, or would not get its I/O.",
        Outcome::Inconclusive => {
            "Undecided: the measurement does not show whether the database would be slower than \
             now."
        }
    }
}

/// Whether nothing that was measured can be said of the storage.
fn is_undecided(report: &GivenReport) -> bool {
    let verdict = report.verdict.as_ref().map(|verdict| verdict.outcome);
    verdict == Some(Outcome::Inconclusive) || report.is_disturbed()
}

/// What stands in place of statements about the storage.
const UNDECIDED: &str =
    "The numbers are those of this measurement; they are not a property of the storage.";

const fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => {
            "Yes: every limit is met, and by more than the uncertainty of the measurement."
        }
        Outcome::Fail => {
            "No: at least one limit is missed by more than the uncertainty of the measurement."
        }
        Outcome::Inconclusive => {
            "Undecided: the measurement is too short, or something disturbed it. The table has the \
             reason for each limit."
        }
    }
}

/// What times of queries stand for.
const DSS: &str = "Reports and analyses take about as long as these queries; the table of queries \
                   shows which wait for storage and which for CPUs.";

/// Up to which rate the limit holds, and what a single read costs.
fn of_calibration(calibration: &Calibration, format: &Formatter) -> Vec<String> {
    let Some(mix) = calibration.mixes.iter().find(|mix| mix.read_share >= 1.0) else {
        return Vec::new();
    };
    let limited = calibration.limit.quantile;
    let limit = format.chosen(Unit::Ns, calibration.limit.service_time_ns);
    let rate = |value: f64| show_count(rounded(value));
    if !calibration.limit.is_asked() {
        return vec![single_read(mix)];
    }
    let first = match &mix.iops_within_limit {
        Some(most) => format!(
            "At up to {} random reads/s, {} {limit}; beyond that, reads queue.",
            rate(most.rate.value),
            match limited {
                LimitStatistic::Mean => "the mean time is within".to_owned(),
                LimitStatistic::Quantile(share) => format!("{}% complete within", nines(share)),
            }
        ),
        None => format!(
            "{limited} read latency {} {limit} even at queue depth 1. Without that limit, the \
             storage delivers {} random reads/s.",
            if mix.certainly_exceeds(&calibration.limit) { "exceeds" } else { "may exceed" },
            rate(mix.iops_max.rate.value)
        ),
    };
    vec![first, single_read(mix)]
}

fn single_read(mix: &MixCalibration) -> String {
    hundred_reads(mix.base_service_time_ns.value)
}

/// By Amdahl's law: what no storage can exceed.
fn of_load(load: &Load) -> Vec<String> {
    let Some(rung) = load.best() else {
        return Vec::new();
    };
    let mut said: Vec<String> = waited_share(rung).map(of_waiting).into_iter().collect();
    said.extend(load.knee_sessions.map(|sessions| {
        format!("Beyond {sessions} sessions, additional sessions only wait longer.")
    }));
    said
}

/// The share of DB time that was waiting for files, by the same split that charts and tables show.
fn waited_share(rung: &Rung) -> Option<f64> {
    let split = SessionSplit::of(rung);
    let waited = split.data_io? + split.commit.unwrap_or(0.0);
    (split.database > 0.0).then(|| (waited / split.database).min(1.0))
}

fn of_waiting(waited: f64) -> String {
    let percent = 100.0 * waited;
    if waited > 0.99 {
        return format!(
            "The database spent {percent:.0}% of its time waiting for the storage: faster storage \
             makes it faster to the same extent."
        );
    }
    let limit = 1.0 / (1.0 - waited);
    format!(
        "The database spent {percent:.0}% of its time waiting for the storage: with infinitely \
         fast storage it would be at most {limit:.1} times as fast."
    )
}

/// What single reads cost, where they were single: with others outstanding a read waits for them,
/// too.
fn of_run(run: &RunReport) -> Vec<String> {
    const SINGLE_MAX: f64 = 1.1;
    let operations = run.measurement.operations();
    let is_single = run.measurement.conduct.queue_depth_mean <= SINGLE_MAX;
    let reads = operations.read.iter().filter(|_| is_single);
    reads.map(|read| hundred_reads(read.service.mean_ns())).collect()
}

fn of_soak(soak: &Soak, format: &Formatter) -> Vec<String> {
    let level = soak.courses.first().and_then(|iops| iops.levels.last());
    let level = level.map(|level| format.value(Unit::IosPerS, level.value.value));
    let first = match (soak.state, level) {
        (SoakState::Steady { .. }, Some(level)) if soak.courses[0].levels.len() > 1 => {
            format!("Plan with {level}, the rate after the change.")
        }
        (SoakState::Steady { .. }, Some(level)) => {
            format!("Plan with {level}: the rate was steady for the whole run.")
        }
        (SoakState::NeverSteady, _) => "Do not plan with a mean: the rate changed until the end, \
                                        so a longer run may show a lower one."
            .to_owned(),
        _ => "The run was too short to show the sustained rate.".to_owned(),
    };
    let lost = soak.courses.iter().find(|course| course.degraded);
    let lost = lost.and_then(|course| course.last_of_first.as_ref()).map(|ratio| {
        format!("It lost {:.0}% of its initial rate.", 100.0 * (1.0 - ratio.value).max(0.0))
    });
    [first].into_iter().chain(lost).collect()
}

fn of_locality(found: &Locality, format: &Formatter) -> Vec<String> {
    let (Some(first), Some(last)) = (found.tiers.first(), found.tiers.last()) else {
        return vec!["This run does not reveal the size of a cache.".to_owned()];
    };
    let slow = hundred_reads(last.service_time_ns);
    let Some(holds) = first.holds_bytes else {
        return vec![
            "No cache was found: latency does not depend on the amount of data in use.".to_owned(),
            slow,
        ];
    };
    let times = last.service_time_ns / first.service_time_ns;
    vec![
        format!(
            "Reads are fast ({}) while the data in use fits into {}; beyond, they take up to \
             {times:.1} times as long.",
            format.value(Unit::Ns, first.service_time_ns),
            show_bytes(holds)
        ),
        slow,
    ]
}

/// What more of a factor brings.
fn of_study(study: &StudyResult) -> Vec<String> {
    let number = |point: &StudyPoint| Some((point.value.number()?, point.estimate.value));
    let grown = study.curves.first().and_then(|curve| {
        let (first, last) =
            (curve.points.first().and_then(number)?, curve.points.last().and_then(number)?);
        let (factor_grew, result_grew) = (last.0 / first.0, last.1 / first.1);
        (first.0 > 0.0 && first.1 > 0.0 && factor_grew > 1.0).then(|| {
            format!(
                "{factor_grew:.1} times the {} gives {result_grew:.1} times the {}.",
                factor(&curve.factor),
                quantity(&curve.quantity)
            )
        })
    });
    let every = "Every point is a separate measurement; all other settings were the same.";
    grown.into_iter().chain([every.to_owned()]).collect()
}

/// What differs, and why not more can be said.
fn of_comparison(found: &Comparison) -> Vec<String> {
    let pairs = found.pairs.iter().flat_map(|pair| [different(pair), variation(pair)]);
    let mut said: Vec<String> = pairs.collect();
    said.dedup();
    said
}

fn of_watch(summary: &Summary) -> String {
    let busy = summary.total.counters.cpu.map(|cpu| cpu.busy_share());
    match busy {
        Some(busy) if busy > BUSY => format!(
            "The CPUs were {:.0}% busy: slow requests may have waited for a CPU, not for the \
             storage.",
            100.0 * busy
        ),
        Some(busy) => format!(
            "The CPUs were only {:.0}% busy: slow requests did not wait for them.",
            100.0 * busy
        ),
        None => format!(
            "{} devices were watched.",
            real(u64::try_from(summary.total.counters.devices.len()).unwrap_or(0))
        ),
    }
}
