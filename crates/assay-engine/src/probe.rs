//! How the kernel takes I/Os on a target: asynchronously, inline, through its worker threads, or by blocking the
//! caller. Other tools do not tell, and it decides what depth and CPU figures mean.

use crate::backend::{
    Backend, Completion, Io, PassthroughBackend, UringBackend, UringOptions, Wait,
};
use crate::sys::{Usage, monotonic_ns};
use crate::target::{Target, has_passthrough};
use assay_model::measurement::{Operation, Submission};
use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads at once, and how often.
const BATCH: u32 = 4;
const ROUNDS: usize = 8;
const BYTES: u64 = 4096;
/// A device that does not answer within this time is not waited for.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What the first target showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probed {
    /// How I/Os are taken.
    pub(crate) submission: Submission,
    /// How long the kernel prepares an I/O of an entry, ns: the median; 0 where nothing was seen.
    pub(crate) preparation_ns: u64,
}

impl Probed {
    /// Nothing is known.
    pub(crate) const NOTHING: Self = Self { submission: Submission::Unknown, preparation_ns: 0 };
}

/// What one batch looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    /// Completions that were there when the submission returned.
    inline: usize,
    /// Whether the submission put the thread to sleep.
    slept: bool,
    /// Whether kernel worker threads of the ring existed afterwards.
    punted: bool,
    /// How long the submission took, ns.
    submission_ns: u64,
}

/// Reads a few blocks of the first target and watches what happens; never writes.
pub(crate) fn probe(targets: &Arc<[Target]>, options: UringOptions, stop: &AtomicBool) -> Probed {
    rounds(targets, options, stop).map_or(Probed::NOTHING, |rounds| Probed {
        submission: classify(&rounds),
        preparation_ns: preparation_ns(&rounds),
    })
}

fn rounds(
    targets: &Arc<[Target]>,
    options: UringOptions,
    stop: &AtomicBool,
) -> Option<[Seen; ROUNDS]> {
    let target = targets.first()?;
    let bytes = BYTES.max(target.alignment_bytes);
    if target.length_bytes < bytes {
        return None;
    }
    let (slots, slot_bytes, all) = (BATCH as usize, index_of(bytes), Arc::clone(targets));
    if has_passthrough(targets) {
        let backend = PassthroughBackend::new(all, slots, slot_bytes, options).ok()?;
        return batches(backend, target, bytes, stop);
    }
    batches(UringBackend::new(all, slots, slot_bytes, options).ok()?, target, bytes, stop)
}

fn batches(
    mut backend: impl Backend,
    target: &Target,
    bytes: u64,
    stop: &AtomicBool,
) -> Option<[Seen; ROUNDS]> {
    let mut random = Random::new(monotonic_ns());
    let rounds: Option<Vec<Seen>> =
        (0..ROUNDS).map(|_| batch(&mut backend, target, bytes, &mut random, stop)).collect();
    rounds?.try_into().ok()
}

/// The median over all rounds: single ones are disturbed by other load.
fn preparation_ns(rounds: &[Seen; ROUNDS]) -> u64 {
    let mut times_ns = rounds.map(|seen| seen.submission_ns);
    times_ns.sort_unstable();
    times_ns[ROUNDS / 2] / u64::from(BATCH)
}

fn batch(
    backend: &mut impl Backend,
    target: &Target,
    bytes: u64,
    random: &mut Random,
    stop: &AtomicBool,
) -> Option<Seen> {
    for slot in 0..BATCH {
        let offset = target.first_byte + random.below(target.length_bytes / bytes) * bytes;
        let bytes = u32::try_from(bytes).ok()?;
        backend.push(&Io {
            slot,
            operation: Operation::Read,
            target: 0,
            offset,
            bytes,
            durable: false,
        });
    }
    let mut completed: Vec<Completion> = Vec::new();
    let before = Usage::of_thread().voluntary_switches;
    let begun_ns = monotonic_ns();
    backend.enter(Wait::No).ok()?;
    let submission_ns = monotonic_ns() - begun_ns;
    let slept = Usage::of_thread().voluntary_switches > before;
    backend.reap(&mut completed);
    let inline = completed.len();
    let until_ns = monotonic_ns() + PATIENCE_NS;
    let is_patient = || monotonic_ns() < until_ns && !stop.load(Ordering::Relaxed);
    while count_of(completed.len()) < u64::from(BATCH) && is_patient() {
        backend.enter(Wait::Until(None)).ok()?;
        backend.reap(&mut completed);
    }
    let all = count_of(completed.len()) == u64::from(BATCH);
    all.then(|| Seen { inline, slept, punted: has_kernel_workers(), submission_ns })
}

/// The majority decides: single batches are disturbed by other load.
fn classify(rounds: &[Seen]) -> Submission {
    let most = |what: fn(&Seen) -> bool| {
        rounds.iter().filter(|seen| what(seen)).count() * 2 > rounds.len()
    };
    let whole = |seen: &Seen| seen.inline == BATCH as usize;
    if most(|seen| seen.punted && !seen.slept) && !most(whole) {
        Submission::Punted
    } else if most(|seen| seen.slept && seen.inline > 0) {
        Submission::Blocking
    } else if most(whole) {
        Submission::Inline
    } else {
        Submission::Asynchronous
    }
}

/// Whether this process has worker threads of a ring.
fn has_kernel_workers() -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return false;
    };
    let name = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).unwrap_or_default()
    };
    tasks.flatten().any(|task| name(task).starts_with("iou-wrk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_from_what_was_seen() {
        let seen =
            |inline, slept, punted| vec![Seen { inline, slept, punted, submission_ns: 0 }; 8];
        assert_eq!(classify(&seen(0, false, false)), Submission::Asynchronous);
        assert_eq!(classify(&seen(4, false, false)), Submission::Inline);
        assert_eq!(classify(&seen(4, true, false)), Submission::Blocking);
        assert_eq!(classify(&seen(0, false, true)), Submission::Punted);
    }

    #[test]
    fn the_preparation_is_the_median_of_the_rounds() {
        let seen = |submission_ns| Seen { inline: 0, slept: false, punted: false, submission_ns };
        let rounds = [9_000, 8_000, 12_000, 900_000, 7_000, 8_000, 12_000, 12_000].map(seen);
        assert_eq!(preparation_ns(&rounds), 3_000);
    }
}
