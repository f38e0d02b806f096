//! Takes acknowledgements from workers and hands them on from a thread of its own: no worker ever waits for a ledger.

use crate::frame::{ACKNOWLEDGEMENTS_MAX, Acknowledgement, acknowledged};
use crate::place::{LedgerWriter, Sink};
use assay_model::number::{count_of, narrow};
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What waits for a slow ledger at most, 16 bytes each; what comes then is left out and counted.
const WAITING_MAX: usize = 1 << 20;
/// How often what waits is handed on: acknowledgements of the last moment before a cut are those that tell most.
const PAUSE: Duration = Duration::from_millis(2);
/// How often a witness hears that the writer is alive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// Takes acknowledgements; dropped or finished, it hands on what waits.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
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
struct Shared {
    waiting: Mutex<Vec<Acknowledgement>>,
    kept: AtomicU64,
    unkept: AtomicU64,
    reason: Mutex<Option<String>>,
    ended: AtomicBool,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Vec<Acknowledgement>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why something was not taken.
    fn reason(&self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, acknowledgements: usize, reason: String) {
        self.unkept.fetch_add(count_of(acknowledgements), Ordering::Relaxed);
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}

impl Recorder {
    /// Begins to record into a ledger. The first reason for which it does not take something is said at once: who waits for a cut
    /// would not hear it afterwards.
    ///
    /// # Errors
    /// An environment error when no thread can be started.
    pub fn begin(
        writer: LedgerWriter,
        complain: impl FnOnce(&str) + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::<Shared>::default();
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
            return self.shared.fail(acknowledgements.len(), reason);
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

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

fn hand_on(mut sink: Sink, shared: &Shared, complain: impl FnOnce(&str)) {
    let mut complain = Some(complain);
    let began = Instant::now();
    let mut signed = began;
    loop {
        let is_last = shared.ended.load(Ordering::Acquire);
        let taken = std::mem::take(&mut *shared.waiting());
        let elapsed_ns = narrow(began.elapsed().as_nanos());
        for part in taken.chunks(ACKNOWLEDGEMENTS_MAX) {
            put(&mut sink, elapsed_ns, part, shared);
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
            sink.live(&acknowledged(elapsed_ns, &[]));
        }
        thread::sleep(PAUSE);
    }
    sink.end();
}

fn put(sink: &mut Sink, elapsed_ns: u64, part: &[Acknowledgement], shared: &Shared) {
    match sink.put(&acknowledged(elapsed_ns, part)) {
        Ok(()) => {
            shared.kept.fetch_add(count_of(part.len()), Ordering::Relaxed);
        }
        Err(reason) => shared.fail(part.len(), reason),
    }
}

impl Sink {
    /// Hands a frame on; the reason where that fails.
    fn put(&mut self, frame: &[u8]) -> std::result::Result<(), String> {
        match self {
            Self::File(file) => {
                file.append(frame).map_err(|error| format!("writing the ledger: {error}"))
            }
            Self::Witness(link) => link.append(frame),
        }
    }

    /// Shows that the writer is alive; a file needs no such sign.
    fn live(&mut self, frame: &[u8]) {
        if let Self::Witness(link) = self {
            // What it would say is said when an acknowledgement is lost.
            drop(link.append(frame));
        }
    }

    fn end(self) {
        if let Self::Witness(link) = self {
            link.end();
        }
    }
}
