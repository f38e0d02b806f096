//! How the kernel takes I/Os on a target: asynchronously, inline, through its worker threads, or by
//! blocking the caller. Other tools do not tell, and it decides what depth and CPU figures mean.

use crate::backend::{
    BackendIo, BackendWait, Completion, IoBackend, PassthroughBackend, UringBackend, UringOptions,
};
use crate::sys::{ThreadUsage, monotonic_ns};
use crate::target::{OpenFile, has_passthrough};
use assay_model::measurement::{Operation, Submission};
use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads at once, and how often.
const BATCH: u32 = 8;
const ROUNDS: usize = 8;
const BYTES: u64 = 4096;
/// A device that does not answer within this time is not waited for.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What the first target showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probed {
    /// How I/Os are taken.
    pub(crate) submission: Submission,
    /// How long the kernel prepares each further I/O of an entry, ns: the median; 0 where nothing
    /// was seen.
    pub(crate) preparation_ns: u64,
}

impl Probed {
    /// Nothing is known.
    pub(crate) const NOTHING: Self = Self { submission: Submission::Unknown, preparation_ns: 0 };
}

/// What one round looked like: a single read, and a batch right behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProbeRound {
    /// Completions that were there when the submission of the batch returned.
    inline: usize,
    /// Whether the submission put the thread to sleep.
    slept: bool,
    /// Whether kernel worker threads of the ring existed afterwards.
    punted: bool,
    /// How long the submission of the single read took, ns.
    single_ns: u64,
    /// How long that of the batch took, ns.
    batch_ns: u64,
}

/// Reads a few blocks of the first target and watches what happens; never writes.
pub(crate) fn probe(targets: &Arc<[OpenFile]>, options: UringOptions, stop: &AtomicBool) -> Probed {
    rounds(targets, options, stop).map_or(Probed::NOTHING, |rounds| Probed {
        submission: classify(&rounds),
        preparation_ns: preparation_ns(&rounds),
    })
}

fn rounds(
    targets: &Arc<[OpenFile]>,
    options: UringOptions,
    stop: &AtomicBool,
) -> Option<[ProbeRound; ROUNDS]> {
    let target = targets.first()?;
    let bytes = BYTES.max(target.alignment_bytes);
    if target.length_bytes < bytes {
        return None;
    }
    let (slots, slot_bytes, all) = (BATCH as usize, index_of(bytes), Arc::clone(targets));
    if has_passthrough(targets) {
        let backend = PassthroughBackend::new(all, slots, slot_bytes, options).ok()?;
        return read_rounds(backend, target, bytes, stop);
    }
    read_rounds(UringBackend::new(all, slots, slot_bytes, options).ok()?, target, bytes, stop)
}

fn read_rounds(
    backend: impl IoBackend,
    target: &OpenFile,
    bytes: u64,
    stop: &AtomicBool,
) -> Option<[ProbeRound; ROUNDS]> {
    let random = Random::new(monotonic_ns());
    let mut reader = ProbeReader { backend, target, bytes, random, stop };
    let rounds: Option<Vec<ProbeRound>> = (0..ROUNDS).map(|_| reader.round()).collect();
    rounds?.try_into().ok()
}

/// What each further read of a batch takes, ns: the entry and the notification of the device are
/// paid once an entry, and are not time for which I/Os wait because of one another. Medians, since
/// single rounds are disturbed by other load.
fn preparation_ns(rounds: &[ProbeRound; ROUNDS]) -> u64 {
    let median_ns = |what: fn(&ProbeRound) -> u64| {
        let mut times_ns = rounds.each_ref().map(what);
        times_ns.sort_unstable();
        times_ns[ROUNDS / 2]
    };
    let further_ns =
        median_ns(|seen| seen.batch_ns).saturating_sub(median_ns(|seen| seen.single_ns));
    further_ns / u64::from(BATCH - 1)
}

/// Reads places at random and waits for them.
struct ProbeReader<'a, B> {
    backend: B,
    target: &'a OpenFile,
    bytes: u64,
    random: Random,
    stop: &'a AtomicBool,
}

impl<B: IoBackend> ProbeReader<'_, B> {
    fn round(&mut self) -> Option<ProbeRound> {
        self.push(1)?;
        let (single_ns, inline) = self.submit()?;
        self.wait(1, inline)?;
        self.push(BATCH)?;
        let before = ThreadUsage::of_thread().voluntary_switches;
        let (batch_ns, inline) = self.submit()?;
        let slept = ThreadUsage::of_thread().voluntary_switches > before;
        self.wait(BATCH, inline)?;
        Some(ProbeRound { inline, slept, punted: has_kernel_workers(), single_ns, batch_ns })
    }

    fn push(&mut self, ios: u32) -> Option<()> {
        let bytes = u32::try_from(self.bytes).ok()?;
        for slot in 0..ios {
            let place = self.random.below(self.target.length_bytes / self.bytes);
            let offset = self.target.first_byte + place * self.bytes;
            let operation = Operation::Read;
            self.backend.push(&BackendIo {
                slot,
                operation,
                target: 0,
                offset,
                bytes,
                durable: false,
            });
        }
        Some(())
    }

    /// Enters the kernel without waiting; how long that took, ns, and what was completed when it
    /// returned.
    fn submit(&mut self) -> Option<(u64, usize)> {
        let begun_ns = monotonic_ns();
        self.backend.enter(BackendWait::No).ok()?;
        let submission_ns = monotonic_ns() - begun_ns;
        Some((submission_ns, self.reap()))
    }

    fn reap(&mut self) -> usize {
        let mut completed: Vec<Completion> = Vec::new();
        self.backend.reap(&mut completed);
        completed.len()
    }

    /// Waits for the rest of `ios` reads of which `completed` are there.
    fn wait(&mut self, ios: u32, mut completed: usize) -> Option<()> {
        let until_ns = monotonic_ns() + PATIENCE_NS;
        let is_patient = || monotonic_ns() < until_ns && !self.stop.load(Ordering::Relaxed);
        while count_of(completed) < u64::from(ios) && is_patient() {
            self.backend.enter(BackendWait::Until(None)).ok()?;
            completed += self.reap();
        }
        (count_of(completed) == u64::from(ios)).then_some(())
    }
}

/// The majority decides: single batches are disturbed by other load.
fn classify(rounds: &[ProbeRound]) -> Submission {
    let most = |what: fn(&ProbeRound) -> bool| {
        rounds.iter().filter(|seen| what(seen)).count() * 2 > rounds.len()
    };
    let whole = |seen: &ProbeRound| seen.inline == BATCH as usize;
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
        let seen = |inline, slept, punted| {
            vec![ProbeRound { inline, slept, punted, single_ns: 0, batch_ns: 0 }; 8]
        };
        assert_eq!(classify(&seen(0, false, false)), Submission::Asynchronous);
        assert_eq!(classify(&seen(8, false, false)), Submission::Inline);
        assert_eq!(classify(&seen(8, true, false)), Submission::Blocking);
        assert_eq!(classify(&seen(0, false, true)), Submission::Punted);
    }

    #[test]
    fn the_preparation_is_what_a_further_read_takes() {
        let seen = |(single_ns, batch_ns)| ProbeRound {
            inline: 0,
            slept: false,
            punted: false,
            single_ns,
            batch_ns,
        };
        let rounds = [
            (6_000, 24_000),
            (6_000, 27_000),
            // The batch was disturbed, then the single read.
            (6_000, 900_000),
            (900_000, 27_000),
            (5_000, 26_000),
            (7_000, 29_000),
            (6_000, 27_000),
            (6_000, 27_000),
        ];
        assert_eq!(preparation_ns(&rounds.map(seen)), 3_000);
    }
}
