//! Messages of nodes to the driver, limited in memory and rate.

use super::wire::{NodeEvent, TOO_MUCH};
use assay_cluster::protocol::NodeAnswer;
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Words that wait for the driver, bytes in memory of all nodes together; one that is larger waits
/// alone.
const WAITING_BYTES_MAX: u64 = 32 << 20;
/// What a short line costs at least.
const EVENT_BYTES: u64 = 256;
/// A node may say this many words at once, and this many more a second: answers to beats are a
/// tenth of them.
const WORDS_AT_ONCE: f64 = 20_000.0;
const WORDS_PER_SECOND: f64 = 5_000.0;
/// A note is for a person to read.
const NOTE_WORDS: f64 = 20.0;
/// How often one that waits for room shows that its node is heard.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How much one node may still say.
#[derive(Debug)]
struct Speech {
    words_left: f64,
    counted: Instant,
    has_ended: bool,
}

/// A word with the bytes that it holds of what may wait.
pub(super) struct InletDelivery {
    pub(super) host: usize,
    pub(super) event: NodeEvent,
    pub(super) bytes: u64,
}

/// Takes what nodes say.
pub(super) struct Inlet {
    deliveries: Sender<InletDelivery>,
    speeches: Mutex<Vec<Speech>>,
    waiting: Mutex<Waiting>,
    freed: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: u64,
    is_closed: bool,
}

impl Speech {
    fn new(now: Instant) -> Self {
        Self { words_left: WORDS_AT_ONCE, counted: now, has_ended: false }
    }

    /// Whether a word may be said.
    fn allows(&mut self, event: &NodeEvent, now: Instant) -> bool {
        let elapsed_s = now.saturating_duration_since(self.counted).as_secs_f64();
        self.counted = now;
        let is_note = matches!(event, NodeEvent::Said(NodeAnswer::Note(_)));
        let cost = if is_note { NOTE_WORDS } else { 1.0 };
        let filled = (self.words_left + WORDS_PER_SECOND * elapsed_s).min(WORDS_AT_ONCE);
        self.words_left = filled - cost;
        self.words_left >= 0.0
    }
}

impl Inlet {
    pub(super) fn new(hosts: usize, deliveries: Sender<InletDelivery>) -> Self {
        let now = Instant::now();
        Self {
            deliveries,
            speeches: Mutex::new((0..hosts).map(|_| Speech::new(now)).collect()),
            waiting: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Passes a word of a node on once there is room for it; `heard` is called meanwhile. False
    /// when nothing more of this node is taken: it has ended, it said too much, or the driver
    /// has gone.
    pub(super) fn put(&self, host: usize, event: NodeEvent, bytes: u64, heard: &dyn Fn()) -> bool {
        let bytes = bytes.max(EVENT_BYTES);
        let Some(event) = self.judged(host, event) else { return false };
        let is_last = matches!(event, NodeEvent::Gone(_));
        let has_room = self.enter(bytes, heard);
        has_room && self.deliveries.send(InletDelivery { host, event, bytes }).is_ok() && !is_last
    }

    /// The word, or the end of a node that says too much; nothing after its end.
    fn judged(&self, host: usize, event: NodeEvent) -> Option<NodeEvent> {
        let mut speeches = self.speeches.lock().unwrap_or_else(PoisonError::into_inner);
        let speech = speeches.get_mut(host).filter(|speech| !speech.has_ended)?;
        let event = if speech.allows(&event, Instant::now()) {
            event
        } else {
            NodeEvent::Gone(TOO_MUCH.to_owned())
        };
        speech.has_ended = matches!(event, NodeEvent::Gone(_));
        Some(event)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room; false when the driver has gone.
    fn enter(&self, bytes: u64, heard: &dyn Fn()) -> bool {
        let mut waiting = self.waiting();
        while !waiting.is_closed && waiting.bytes > 0 && waiting.bytes + bytes > WAITING_BYTES_MAX {
            let waited = self.freed.wait_timeout(waiting, POLL_INTERVAL);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            // It is the driver that is slow.
            heard();
        }
        waiting.bytes += bytes;
        !waiting.is_closed
    }

    /// The driver has done with a word.
    pub(super) fn leave(&self, bytes: u64) {
        let mut waiting = self.waiting();
        waiting.bytes = waiting.bytes.saturating_sub(bytes);
        self.freed.notify_all();
    }

    /// Takes nothing more of a node that the driver has given up.
    pub(super) fn turn_away(&self, host: usize) {
        let mut speeches = self.speeches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(speech) = speeches.get_mut(host) {
            speech.has_ended = true;
        }
    }

    /// Whether the driver takes nothing more.
    pub(super) fn is_closed(&self) -> bool {
        self.waiting().is_closed
    }

    /// The driver takes nothing more.
    pub(super) fn close(&self) {
        self.waiting().is_closed = true;
        self.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    fn note() -> NodeEvent {
        NodeEvent::Said(NodeAnswer::Note(String::new()))
    }

    #[test]
    fn a_node_that_says_too_much_is_ended_once_and_the_others_go_on() {
        let (sender, deliveries) = channel();
        let inlet = Inlet::new(2, sender);
        let said = (0..100_000).take_while(|_| {
            let goes_on = inlet.put(0, note(), 1, &|| {});
            inlet.leave(EVENT_BYTES);
            goes_on
        });
        let said = said.count();
        assert!((1_000..100_000).contains(&said), "{said}");
        assert!(!inlet.put(0, note(), 1, &|| {}) && inlet.put(1, note(), 1, &|| {}));
        let heard: Vec<InletDelivery> = deliveries.try_iter().collect();
        let ends = heard.iter().filter(|one| matches!(one.event, NodeEvent::Gone(_))).count();
        assert_eq!((ends, heard.len()), (1, said + 2));
    }

    #[test]
    fn words_wait_until_the_driver_has_done_with_those_before() {
        let (sender, deliveries) = channel();
        let inlet = Arc::new(Inlet::new(1, sender));
        assert!(inlet.put(0, note(), WAITING_BYTES_MAX, &|| {}));
        let theirs = Arc::clone(&inlet);
        let blocked = thread::spawn(move || theirs.put(0, note(), WAITING_BYTES_MAX / 2, &|| {}));
        let first = deliveries.recv().unwrap();
        assert!(deliveries.try_recv().is_err());
        inlet.leave(first.bytes);
        assert!(blocked.join().unwrap() && deliveries.recv().is_ok());
    }

    #[test]
    fn a_driver_that_goes_ends_those_who_wait() {
        let (sender, _deliveries) = channel();
        let inlet = Arc::new(Inlet::new(1, sender));
        assert!(inlet.put(0, note(), WAITING_BYTES_MAX, &|| {}));
        let theirs = Arc::clone(&inlet);
        let blocked = thread::spawn(move || theirs.put(0, note(), WAITING_BYTES_MAX / 2, &|| {}));
        inlet.close();
        assert!(!blocked.join().unwrap());
    }
}
