//! Takes acknowledgements from workers and hands them on from a thread of its own: no worker ever
//! waits for a ledger.

use crate::frame::{ACKNOWLEDGEMENTS_MAX, Acknowledgement, acknowledged};
use crate::link::Settled;
use crate::place::{LedgerSink, LedgerWriter};
use assay_model::number::{count_of, narrow};
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What waits for a slow ledger at most, 16 bytes each; what comes then is left out and counted.
const WAITING_MAX: usize = 1 << 20;
/// How often what waits is handed on: acknowledgements of the last moment before a cut are those
/// that tell most.
const PAUSE: Duration = Duration::from_millis(2);
/// How often a witness hears that the writer is alive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// Takes acknowledgements; dropped or finished, it hands on what waits.
#[derive(Debug)]
pub struct LedgerRecorder {
    shared: Arc<RecorderShared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What became of the acknowledgements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptAcknowledgements {
    /// Those that the ledger took.
    pub kept: u64,
    /// Those that it did not.
    pub unkept: u64,
    /// Why not, the first reason.
    pub reason: Option<String>,
}

#[derive(Debug, Default)]
struct RecorderShared {
    waiting: Mutex<Vec<Acknowledgement>>,
    kept: AtomicU64,
    unkept: AtomicU64,
    reason: Mutex<Option<String>>,
    ended: AtomicBool,
}

impl RecorderShared {
    fn waiting(&self) -> MutexGuard<'_, Vec<Acknowledgement>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why something was not taken.
    fn reason(&self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what became of acknowledgements; a reason without any lost is said where some are.
    fn settle(&self, settled: Settled) {
        self.kept.fetch_add(settled.kept, Ordering::Relaxed);
        self.unkept.fetch_add(settled.lost, Ordering::Relaxed);
        if let Some(reason) = settled.reason.filter(|_| settled.lost > 0) {
            self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        }
    }
}

impl LedgerRecorder {
    /// Begins to record into a ledger. The first reason for which it does not take something is
    /// said at once: who waits for a cut would not hear it afterwards.
    ///
    /// # Errors
    /// An environment error when no thread can be started.
    pub fn begin(
        writer: LedgerWriter,
        complain: impl FnOnce(&str) + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::<RecorderShared>::default();
        let theirs = Arc::clone(&shared);
        let work = move || hand_on(writer.sink, &theirs, complain);
        let thread = thread::Builder::new().name("ledger".to_owned()).spawn(work);
        let thread = thread.map_err(|error| {
            Error::environment(format!("starting a thread: {error}"), "allow more threads")
        })?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// These were acknowledged.
    pub fn acknowledge(&self, acknowledgements: &[Acknowledgement]) {
        let mut waiting = self.shared.waiting();
        if waiting.len() + acknowledgements.len() > WAITING_MAX {
            drop(waiting);
            let reason = "the ledger is slower than the storage".to_owned();
            let lost = count_of(acknowledgements.len());
            return self.shared.settle(Settled { kept: 0, lost, reason: Some(reason) });
        }
        waiting.extend_from_slice(acknowledgements);
    }

    /// Acknowledgements that the ledger did not take so far.
    pub fn unkept(&self) -> u64 {
        self.shared.unkept.load(Ordering::Relaxed)
    }

    /// Hands on what waits, and says what became of all; what comes later is not kept.
    pub fn finish(&self) -> KeptAcknowledgements {
        self.end();
        let reason = self.shared.reason();
        KeptAcknowledgements {
            kept: self.shared.kept.load(Ordering::Relaxed),
            unkept: self.shared.unkept.load(Ordering::Relaxed),
            reason,
        }
    }

    fn end(&self) {
        self.shared.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(thread.join());
        }
    }
}

impl Drop for LedgerRecorder {
    fn drop(&mut self) {
        self.end();
    }
}

fn hand_on(mut sink: LedgerSink, shared: &RecorderShared, complain: impl FnOnce(&str)) {
    let mut complain = Some(complain);
    let began = Instant::now();
    let mut signed = began;
    loop {
        let is_last = shared.ended.load(Ordering::Acquire);
        let taken = std::mem::take(&mut *shared.waiting());
        let elapsed_ns = narrow(began.elapsed().as_nanos());
        for part in taken.chunks(ACKNOWLEDGEMENTS_MAX) {
            shared.settle(sink.put(&acknowledged(elapsed_ns, part), count_of(part.len())));
        }
        if shared.unkept.load(Ordering::Relaxed) > 0
            && let (Some(reason), Some(complain)) = (shared.reason(), complain.take())
        {
            complain(&reason);
        }
        if is_last {
            break;
        }
        if !taken.is_empty() {
            signed = Instant::now();
        } else if signed.elapsed() > SIGN_OF_LIFE {
            signed = Instant::now();
            shared.settle(sink.live(&acknowledged(elapsed_ns, &[])));
        }
        thread::sleep(PAUSE);
    }
    shared.settle(sink.end());
    if let (Some(reason), Some(complain)) = (shared.reason(), complain.take()) {
        complain(&reason);
    }
}

impl LedgerSink {
    /// Hands a frame with its number of acknowledgements on; what became of these and of those
    /// before.
    fn put(&mut self, frame: &[u8], acknowledgements: u64) -> Settled {
        match self {
            Self::File(file) => match file.append(frame) {
                Ok(()) => Settled { kept: acknowledgements, ..Settled::default() },
                Err(error) => Settled {
                    kept: 0,
                    lost: acknowledgements,
                    reason: Some(format!("writing the ledger: {error}")),
                },
            },
            Self::Witness(link) => link.append(frame, acknowledgements),
        }
    }

    /// Shows that the writer is alive; a file needs no such sign.
    fn live(&mut self, frame: &[u8]) -> Settled {
        match self {
            Self::File(_) => Settled::default(),
            Self::Witness(link) => link.append(frame, 0),
        }
    }

    fn end(self) -> Settled {
        match self {
            Self::File(_) => Settled::default(),
            Self::Witness(link) => link.end(),
        }
    }
}
