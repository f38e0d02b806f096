//! The result of a cell: as it was finished, or what a measurement amounts to that never was.

use super::line::BeginLine;
use super::progress::CellProgress;
use super::{CellExtent, CellReader, MEASUREMENT, end_of};
use crate::document::{parse_versioned, read_text};
use assay_model::Result;
use assay_model::measurement::{
    Conduct, ErrorCount, Finish, Measurement, NamedResult, PerOperation, Remark, Window,
    merge_errors,
};
use assay_model::number::{real, seconds};

/// The remark by which a recovered result is known.
pub(super) const UNFINISHED: &str =
    "the measurement is not finished: it is still running, or the program was killed";

/// While a cell is written a joint may take the place of the tail between two looks; then it is
/// looked at again.
const LOOKS: u32 = 3;

impl CellReader {
    /// The result: as it was finished, or what the intervals add up to with [`Finish::Unfinished`]
    /// and a remark on what that means.
    pub fn measurement(&self) -> Result<Measurement> {
        match read_text(&self.directory()?, MEASUREMENT)? {
            Some(text) => parse_versioned(&text, &self.path().join(MEASUREMENT)),
            None => recovered(self),
        }
    }
}

/// The result of an unfinished cell: joints and tail added up.
fn recovered(cell: &CellReader) -> Result<Measurement> {
    let mut look = 1;
    loop {
        let progress = cell.progress()?;
        let sum = sum(cell)?;
        if look == LOOKS || sum.is_whole(&progress) {
            return measurement(cell, progress, sum);
        }
        look += 1;
    }
}

/// Everything that joints and tail have.
#[derive(Default)]
struct RecoveredSum {
    joint: Window,
    outstanding_s: f64,
    /// Time of all joints, ns.
    covered_ns: u64,
    extent: CellExtent,
}

impl RecoveredSum {
    /// Measured time, ns; where joints are missing their time is missing too, so that rates stay
    /// true.
    const fn elapsed_ns(&self) -> u64 {
        if self.joint.intervals == self.extent.intervals {
            self.extent.elapsed_ns
        } else {
            self.covered_ns
        }
    }

    /// Whether nothing is missing of what was there when the progress was looked at.
    fn is_whole(&self, progress: &CellProgress) -> bool {
        self.joint.intervals == self.extent.intervals
            && self.extent.intervals >= progress.extent.intervals
    }
}

fn sum(cell: &CellReader) -> Result<RecoveredSum> {
    let mut sum = RecoveredSum::default();
    for item in cell.joints()? {
        let (interval, joint) = item?;
        sum.outstanding_s += interval.queue_depth_mean * interval.elapsed_s();
        sum.covered_ns += interval.end_ns.saturating_sub(interval.start_ns);
        sum.extent = CellExtent {
            intervals: end_of(joint.first_interval, joint.intervals),
            elapsed_ns: interval.end_ns,
        };
        sum.joint.merge(&joint);
    }
    Ok(sum)
}

fn measurement(
    cell: &CellReader,
    progress: CellProgress,
    sum: RecoveredSum,
) -> Result<Measurement> {
    let started_unix_ns = progress.first_begin_unix_ns.unwrap_or(cell.manifest.created_unix_ns);
    let mut conduct = conduct(&progress, &sum);
    conduct.remarks.push(remark(&progress, &sum));
    let errors = errors(cell, progress.last_begin)?;
    Ok(Measurement {
        format: 1,
        workload: cell.plan()?.title(),
        started_unix_ns,
        elapsed_ns: sum.elapsed_ns(),
        finish: Finish::Unfinished,
        targets: targets(cell, &sum.joint),
        streams: sum.joint.streams,
        errors,
        conduct,
    })
}

/// Joints leave out a single target, whose result is that of all streams.
fn targets(cell: &CellReader, joint: &Window) -> Vec<NamedResult> {
    match cell.manifest.targets.as_slice() {
        [only] if joint.targets.is_empty() && joint.intervals > 0 => {
            vec![NamedResult { name: only.clone(), operations: together(&joint.streams) }]
        }
        _ => joint.targets.clone(),
    }
}

fn together(streams: &[NamedResult]) -> PerOperation {
    let mut all = PerOperation::default();
    for stream in streams {
        all.merge(&stream.operations);
    }
    all
}

fn errors(cell: &CellReader, begin: Option<BeginLine>) -> Result<Vec<ErrorCount>> {
    let since = begin.as_ref().map_or(0, |begin| begin.started_unix_ns);
    let mut errors = begin.map_or_else(Vec::new, |begin| begin.errors);
    merge_errors(&mut errors, cell.errors_since(since)?);
    Ok(errors)
}

/// What was known when the measured time began, and what the intervals tell.
fn conduct(progress: &CellProgress, sum: &RecoveredSum) -> Conduct {
    let elapsed_s = seconds(sum.elapsed_ns());
    let busy_s: f64 = together(&sum.joint.streams)
        .iter()
        .map(|(_, result)| real(result.service.ios()) * result.service.mean_ns() / 1e9)
        .sum();
    let begin = progress.last_begin.as_ref();
    Conduct {
        queue_depth_mean: ratio(sum.outstanding_s, elapsed_s),
        littles_law_ratio: ratio(busy_s, sum.outstanding_s),
        ..begin.map_or_else(Conduct::default, |begin| begin.conduct.clone())
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn remark(progress: &CellProgress, sum: &RecoveredSum) -> Remark {
    let known = sum.joint.intervals;
    let measured = progress.extent.intervals.max(sum.extent.intervals);
    let mut why = format!(
        "it contains the {known} stored intervals ({:.3} s) at full precision; CPU time, missed \
         arrivals and abandoned I/Os of the missing part are unknown",
        seconds(sum.elapsed_ns())
    );
    if known != measured {
        why = format!("{why}; the totals have {known} of the {measured} intervals");
    }
    if progress.damaged > 0 {
        why = format!("{why}; {} lines could not be read", progress.damaged);
    }
    Remark {
        what: UNFINISHED.to_owned(),
        why,
        remedy: "continue with --resume, or use it as a shorter measurement".to_owned(),
    }
}
