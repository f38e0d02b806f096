//! Two sittings of one measurement as one.

use super::recover::UNFINISHED;
use assay_model::measurement::{
    BackendKind, Conduct, Measurement, Remark, Submission, merge_errors, merge_named,
};
use assay_model::number::seconds;

/// The measurement `after`, which took up `before` where it ended: counts and histograms add up,
/// means are weighted by measured time, and what the tool says of itself is said once.
pub fn joined(before: Measurement, after: Measurement) -> Measurement {
    let weights = TimeWeights::of(before.elapsed_ns, after.elapsed_ns);
    let mut whole = Measurement {
        elapsed_ns: before.elapsed_ns + after.elapsed_ns,
        finish: after.finish,
        conduct: joined_conduct(&before.conduct, &after.conduct, weights),
        ..before
    };
    merge_named(&mut whole.streams, &after.streams);
    merge_named(&mut whole.targets, &after.targets);
    merge_errors(&mut whole.errors, after.errors);
    whole
}

/// The conduct of a measurement at the moment when it is taken up, with what is known of the new
/// sitting.
pub(super) fn taken_up(before: &Measurement, start: &Conduct) -> Conduct {
    let mut conduct = before.conduct.clone();
    if let Some(unfinished) = conduct.remarks.iter_mut().find(|found| found.what == UNFINISHED) {
        *unfinished = Remark {
            what: "the program ended during the measurement, which was then resumed".to_owned(),
            why: "CPU time, missed arrivals and abandoned I/Os of the first part are missing; its \
                  I/Os and times are complete except for the last interval"
                .to_owned(),
            remedy: "measure again without interruption if CPU time per I/O matters".to_owned(),
        };
    }
    joined_conduct(&conduct, start, TimeWeights::of(before.elapsed_ns, 0))
}

/// Shares of the whole measured time.
#[derive(Clone, Copy)]
struct TimeWeights {
    before: f64,
    after: f64,
}

impl TimeWeights {
    /// `before_ns` is above 0: a sitting without an interval leaves nothing to take up.
    fn of(before_ns: u64, after_ns: u64) -> Self {
        let before = seconds(before_ns) / seconds(before_ns + after_ns);
        Self { before, after: 1.0 - before }
    }

    fn mean(self, before: f64, after: f64) -> f64 {
        before * self.before + after * self.after
    }
}

fn joined_conduct(before: &Conduct, after: &Conduct, weights: TimeWeights) -> Conduct {
    let queue_depth_mean = weights.mean(before.queue_depth_mean, after.queue_depth_mean);
    let mut whole = Conduct {
        enters: before.enters + after.enters,
        cpu_user_s: before.cpu_user_s + after.cpu_user_s,
        cpu_system_s: before.cpu_system_s + after.cpu_system_s,
        worker_busy_share_max: before.worker_busy_share_max.max(after.worker_busy_share_max),
        worker_delayed_share_max: [before, after]
            .iter()
            .filter_map(|conduct| conduct.worker_delayed_share_max)
            .reduce(f64::max),
        host_busy_share: match (before.host_busy_share, after.host_busy_share) {
            (Some(before), Some(after)) => Some(weights.mean(before, after)),
            (before, after) => before.or(after),
        },
        queue_depth_mean,
        littles_law_ratio: littles_law_ratio(before, after, weights, queue_depth_mean),
        missed_arrivals: before.missed_arrivals + after.missed_arrivals,
        abandoned_ios: before.abandoned_ios + after.abandoned_ios,
        remarks: before.remarks.clone(),
        start_error: before.start_error.clone(),
        // Counters of one sitting say nothing of the whole.
        kernel: None,
        ..rig(before, after)
    };
    match (&mut whole.start_error, &after.start_error) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine, theirs) => *mine = mine.take().or_else(|| theirs.clone()),
    }
    let change = change_of_rig(before, after);
    for remark in after.remarks.iter().cloned().chain(change) {
        if !whole.remarks.contains(&remark) {
            whole.remarks.push(remark);
        }
    }
    whole
}

/// Backend, clock and submission: those of the later sitting that says them.
fn rig(before: &Conduct, after: &Conduct) -> Conduct {
    let mut rig = if after.backend == BackendKind::Unknown { before } else { after }.clone();
    if rig.submission == Submission::Unknown {
        rig.submission = before.submission;
    }
    rig
}

fn change_of_rig(before: &Conduct, after: &Conduct) -> Option<Remark> {
    let rig = |conduct: &Conduct| (conduct.backend, conduct.direct_io);
    let known = ![before.backend, after.backend].contains(&BackendKind::Unknown);
    (known && rig(before) != rig(after)).then(|| Remark {
        what: format!(
            "the measurement started on backend '{}' and was resumed on '{}', or only one part \
             bypassed the page cache",
            before.backend, after.backend
        ),
        why: "its parts are not comparable: their service times are measured at different points"
            .to_owned(),
        remedy: "measure again without interruption".to_owned(),
    })
}

/// Of the whole time: busy time over outstanding time, both being means weighted by measured time.
fn littles_law_ratio(
    before: &Conduct,
    after: &Conduct,
    weights: TimeWeights,
    queue_depth: f64,
) -> f64 {
    let busy = |conduct: &Conduct| conduct.littles_law_ratio * conduct.queue_depth_mean;
    if queue_depth > 0.0 { weights.mean(busy(before), busy(after)) / queue_depth } else { 0.0 }
}
