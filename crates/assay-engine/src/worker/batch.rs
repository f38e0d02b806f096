//! How many I/Os go to the kernel in one entry: as many as do not make one another late.

use crate::plan::SubmissionBatch;
use assay_model::number::{count, index_of, real, real_len};

/// The kernel hands a batch to the device when all of it is prepared; up to this share of its
/// service time an I/O may wait for the others.
const HELD_SHARE: f64 = 0.015;
/// I/Os that are handed over together complete together, so that on average half of the others of a
/// batch are missing from the queue that was asked for; up to this share of it.
const MISSING_SHARE: f64 = 0.03;
/// What one completion counts in the running mean of service times.
const WEIGHT: f64 = 1.0 / 256.0;
/// A worker that has not slept for this many turns is short of processor time, and nothing else is.
const AWAKE_TURNS: u32 = 64;

/// The batches of one worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkerBatch {
    rule: SubmissionBatch,
    service_mean_ns: f64,
    awake_turns: u32,
}

impl WorkerBatch {
    pub(super) const fn new(rule: SubmissionBatch) -> Self {
        Self { rule, service_mean_ns: 0.0, awake_turns: 0 }
    }

    /// I/Os that may start in this turn while `queue_depth` others are under way.
    pub(super) fn most(&self, queue_depth: usize) -> usize {
        let most = match self.rule {
            SubmissionBatch::AllDue => u32::MAX,
            SubmissionBatch::UpTo(most) => most,
            SubmissionBatch::ByServiceTime { most, .. } if self.awake_turns >= AWAKE_TURNS => most,
            SubmissionBatch::ByServiceTime { most, preparation_ns } => {
                let in_time = HELD_SHARE * self.service_mean_ns / real(preparation_ns.max(1));
                let in_queue = 2.0 * MISSING_SHARE * real_len(queue_depth);
                let further = count(in_time.min(in_queue).floor());
                u32::try_from(1 + further).map_or(most, |ios| ios.min(most))
            }
        };
        index_of(u64::from(most))
    }

    /// Notes that a transfer took this long.
    #[inline]
    pub(super) fn completed(&mut self, service_ns: u64) {
        self.service_mean_ns += WEIGHT * (real(service_ns) - self.service_mean_ns);
    }

    /// Notes whether the worker sleeps before its next turn.
    pub(super) const fn turned(&mut self, sleeps: bool) {
        self.awake_turns = if sleeps { 0 } else { self.awake_turns.saturating_add(1) };
    }

    /// The rule in words; there is none where everything that is due starts.
    pub(super) fn feature(&self) -> Option<String> {
        Some(match self.rule {
            SubmissionBatch::AllDue => return None,
            SubmissionBatch::UpTo(most) => format!("up to {most} I/Os per system call"),
            SubmissionBatch::ByServiceTime { most, preparation_ns } => format!(
                "up to {most} I/Os per system call, while they wait at most {:.1}% of their time \
                 for one another, {:.1} µs each, and leave at most {:.0}% of the queue empty",
                HELD_SHARE * 100.0,
                real(preparation_ns) / 1000.0,
                MISSING_SHARE * 100.0
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: SubmissionBatch = SubmissionBatch::ByServiceTime { most: 8, preparation_ns: 4_000 };

    /// A batch after a thousand completions of this service time.
    fn after(service_ns: u64) -> WorkerBatch {
        let mut batch = WorkerBatch::new(RULE);
        (0..2000).for_each(|_| batch.completed(service_ns));
        batch
    }

    #[test]
    fn a_batch_holds_an_io_back_for_a_small_share_of_its_time() {
        for (service_us, ios) in [(100, 1), (300, 2), (1000, 4), (10_000, 8), (50_000_000, 8)] {
            assert_eq!(after(service_us * 1000 + 2000).most(1000), ios, "{service_us}");
        }
    }

    #[test]
    fn a_batch_takes_a_small_share_of_the_queue_away() {
        for (queue_depth, ios) in [(0, 1), (16, 1), (17, 2), (32, 2), (64, 4), (128, 8), (4096, 8)]
        {
            assert_eq!(after(10_000_000).most(queue_depth), ios, "{queue_depth}");
        }
    }

    #[test]
    fn nothing_is_gathered_before_anything_is_known() {
        assert_eq!(WorkerBatch::new(RULE).most(128), 1);
        assert_eq!(WorkerBatch::new(SubmissionBatch::UpTo(40)).most(1), 40);
        assert_eq!(WorkerBatch::new(SubmissionBatch::AllDue).most(1), u32::MAX as usize);
    }

    #[test]
    fn who_never_sleeps_gathers_until_it_sleeps() {
        let mut batch = after(100_000);
        (0..AWAKE_TURNS).for_each(|_| batch.turned(false));
        assert_eq!(batch.most(4), 8);
        batch.turned(true);
        assert_eq!(batch.most(4), 1);
    }
}
