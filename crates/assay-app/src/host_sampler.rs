//! Watches the machine during a measurement: a thread that sleeps, reads the kernel's counters, and
//! keeps them.

use assay_host::root::SysRoot;
use assay_host::watch::HostWatch;
use assay_model::number::narrow;
use assay_model::watch::Moment;
use assay_store::WatchLog;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the machine is read during a measurement.
const EVERY: Duration = Duration::from_secs(1);

/// When the next sample is due; samples that were missed are not made up for.
pub struct SamplerPace {
    every: Duration,
    due: Instant,
}

impl SamplerPace {
    /// The first sample is due after one period.
    pub fn new(every: Duration) -> Self {
        let due = Instant::now() + every;
        Self { every, due }
    }

    /// How long there is to wait.
    pub fn left(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Goes on to the next sample and says by how much this one came too late, ns.
    pub fn step(&mut self) -> u64 {
        let now = Instant::now();
        let late = now.saturating_duration_since(self.due);
        self.due += self.every;
        if self.due <= now {
            self.due = now + self.every;
        }
        narrow(late.as_nanos())
    }

    /// The sample was taken early, for a reason: the next one is due a period from now.
    fn restart(&mut self) {
        self.due = Instant::now() + self.every;
    }
}

/// A word to the thread.
enum Word {
    /// From now on this cell is measured, or none.
    Cell(Option<String>),
}

/// The thread; it ends with the watcher.
pub struct HostSampler {
    sender: Option<Sender<Word>>,
    thread: Option<JoinHandle<()>>,
}

impl HostSampler {
    /// Begins to watch devices by kernel name; without a thread nothing is watched, and nothing
    /// else is lost.
    pub fn begin(log: WatchLog, devices: Vec<String>) -> Self {
        let (sender, words) = channel();
        let builder = thread::Builder::new().name("watch".to_owned());
        let thread = builder.spawn(move || watch(log, devices, &words));
        Self { sender: Some(sender), thread: thread.ok() }
    }

    /// Says which cell is measured from now on; the previous sample ends here.
    pub fn mark(&self, cell: Option<&str>) {
        if let Some(sender) = &self.sender {
            // A thread that could not be started, or keep its samples, hears nothing.
            drop(sender.send(Word::Cell(cell.map(str::to_owned))));
        }
    }
}

impl Drop for HostSampler {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Reads and keeps until the watcher is dropped or the store is full: the measurement itself says
/// so then.
fn watch(mut log: WatchLog, devices: Vec<String>, words: &Receiver<Word>) {
    let mut sampler = HostWatch::new(SysRoot::live(), devices);
    let (mut pace, mut cell) = (SamplerPace::new(EVERY), None);
    loop {
        let word = words.recv_timeout(pace.left());
        let late_ns = match word {
            Err(RecvTimeoutError::Timeout) => pace.step(),
            _ => 0,
        };
        let moment = Moment { cell: cell.clone(), ..sampler.sample(late_ns) };
        if log.append(&moment).is_err() {
            return;
        }
        match word {
            Ok(Word::Cell(next)) => cell = next,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        pace.restart();
    }
    // What a power failure would take is no more than the last samples.
    drop(log.sync());
}
