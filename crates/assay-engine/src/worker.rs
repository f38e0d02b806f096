//! One worker's loop: reap, record, start what is due, say how long to wait. It never blocks
//! itself, so that a thread and a simulation drive the same code.

use crate::access::{Generator, Sizes};
use crate::arrivals::StreamArrivals;
use crate::backend::{BackendWait, Completion, IoBackend};
use crate::payload::Payload;
use crate::plan::WorkerPlan;
use crate::recorder::IntervalRecorder;
use assay_model::measurement::Operation;
use assay_model::number::{count_of, real, real_len};
use assay_stats::random::Random;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;

mod batch;
mod complete;
mod issue;
mod lead;
mod messages;
mod verification;

use batch::WorkerBatch;
use lead::Lead;
use messages::WorkerMeter;
pub use messages::{Message, WorkerInterval, WorkerSummary};
use verification::WorkerVerification;

/// When the phases of a run begin, on the backend's clock.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_field_names, reason = "all are times, and the unit comes last")]
pub struct PhaseTimes {
    /// Start of the load, ns.
    pub start_ns: u64,
    /// Start of measuring, ns.
    pub measure_ns: u64,
    /// End of measuring, ns.
    pub end_ns: u64,
    /// Length of an interval, ns.
    pub interval_ns: u64,
}

/// What a worker wants after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// To enter the backend.
    Enter(BackendWait),
    /// Nothing: the measured time is over and nothing is in flight.
    Finished,
}

/// What is known of an I/O in flight.
#[derive(Clone, Debug, Default)]
struct WorkerSlot {
    submitted_ns: u64,
    intended_ns: u64,
    offset: u64,
    bytes: u32,
    target: u32,
    operation: Option<Operation>,
    /// Intended starts of further commits that this I/O carries.
    joined: Vec<u64>,
    /// Targets that this sync leaves to be synced for the same commits.
    rest: Vec<u32>,
}

/// A write that waits for a place that nobody else is writing.
#[derive(Clone, Copy, Debug)]
struct HeldWrite {
    slot: u32,
    intended_ns: u64,
    places: u64,
}

/// What writes await their sync.
#[derive(Debug, Default)]
struct Unsynced {
    /// Completed since the last flush.
    writes: u32,
    /// Targets that these went to.
    targets: Vec<u32>,
    commits: Vec<u64>,
    /// What is to be synced as soon as there is a slot.
    due: VecDeque<Flush>,
}

impl Unsynced {
    fn write_to(&mut self, target: u32) {
        self.writes += 1;
        if !self.targets.contains(&target) {
            self.targets.push(target);
        }
    }

    /// Puts what was written in line to be synced.
    fn flush(&mut self, now_ns: u64) {
        self.writes = 0;
        let mut commits = std::mem::take(&mut self.commits);
        self.due.push_back(Flush {
            targets: std::mem::take(&mut self.targets),
            intended_ns: commits.pop().unwrap_or(now_ns),
            commits,
        });
    }
}

/// Commits, and the targets that must be synced one after the other before they are durable.
#[derive(Debug)]
struct Flush {
    targets: Vec<u32>,
    intended_ns: u64,
    commits: Vec<u64>,
}

/// A worker over a backend. It writes to itself with every I/O, so it shares its cache lines with
/// nobody.
#[repr(align(128))]
pub struct EngineWorker<B> {
    backend: B,
    plan: WorkerPlan,
    times: PhaseTimes,
    generator: Generator,
    sizes: Sizes,
    random: Random,
    payload: Payload,
    /// Where what is read is compared with what was written.
    verification: Option<WorkerVerification>,
    held: Option<HeldWrite>,
    arrivals: StreamArrivals,
    slots: Vec<WorkerSlot>,
    free: Vec<u32>,
    fresh: Vec<u32>,
    completed: Vec<Completion>,
    recorder: IntervalRecorder,
    sender: Sender<Message>,
    /// Up to when outstanding I/Os are accounted for.
    clock_ns: u64,
    /// When the running interval ends.
    edge_ns: u64,
    /// Number of the running interval; `None` while warming up.
    interval: Option<u64>,
    unsynced: Unsynced,
    batch: WorkerBatch,
    ios_left: u64,
    failures_in_row: u64,
    ended: bool,
    began_ns: Option<u64>,
    meter: WorkerMeter,
    lead: Lead,
}

impl<B: IoBackend> EngineWorker<B> {
    /// A worker that is ready to start; its buffers are filled.
    pub fn new(
        mut backend: B,
        plan: WorkerPlan,
        times: PhaseTimes,
        sender: Sender<Message>,
    ) -> Self {
        let part = plan.part();
        let payload = Payload::new(&plan.stream.content, part.seed, part.worker);
        if plan.stream.writes() {
            (0..plan.slots).for_each(|slot| payload.fill(backend.buffer(slot)));
        }
        let arrivals =
            StreamArrivals::new(&plan.stream, part.worker, part.workers, part.seed, times.start_ns);
        let verification = plan.verifier.as_ref().map(|verifier| {
            let (worker, sync) = (plan.worker, plan.stream.sync);
            WorkerVerification::new(Arc::clone(verifier), worker, plan.slots, sync, part.seed)
        });
        Self {
            verification,
            held: None,
            generator: Generator::new(&plan.stream.access, plan.places(), plan.place_bytes(), part),
            sizes: Sizes::new(&plan.stream.block_size, plan.place_bytes()),
            random: Random::part(part.seed ^ 0x700d, part.worker),
            payload,
            recorder: IntervalRecorder::new(arrivals.is_open(), plan.bounds.len()),
            arrivals,
            slots: vec![WorkerSlot::default(); plan.slots as usize],
            free: (0..plan.slots).rev().collect(),
            fresh: Vec::with_capacity(plan.slots as usize),
            completed: Vec::with_capacity(plan.slots as usize),
            sender,
            clock_ns: times.start_ns,
            edge_ns: times.measure_ns,
            interval: None,
            unsynced: Unsynced::default(),
            batch: WorkerBatch::new(plan.batching),
            ios_left: plan.ios_max,
            failures_in_row: 0,
            ended: false,
            began_ns: None,
            meter: WorkerMeter::default(),
            lead: Lead::default(),
            backend,
            plan,
            times,
        }
    }

    /// The backend, to enter it.
    pub fn backend(&mut self) -> &mut B {
        &mut self.backend
    }

    /// I/Os in flight.
    pub fn queue_depth(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Does everything that can be done now; `stopping` ends the measured time here.
    pub fn turn(&mut self, stopping: bool) -> NextStep {
        let now_ns = self.backend.now_ns();
        self.began_ns.get_or_insert(now_ns);
        self.lead.wakes(now_ns);
        self.roll(now_ns);
        self.account(now_ns);
        self.reap(now_ns);
        if !self.ended && (stopping || now_ns >= self.times.end_ns || self.is_done()) {
            self.end(now_ns.min(self.times.end_ns));
        }
        if self.ended {
            return if self.queue_depth() == 0 {
                NextStep::Finished
            } else {
                NextStep::Enter(BackendWait::Until(None))
            };
        }
        self.issue(now_ns);
        self.stamp();
        NextStep::Enter(self.wait())
    }

    /// Whether a worker with a fixed amount of work has done it.
    fn is_done(&self) -> bool {
        self.ios_left == 0 && self.queue_depth() == 0
    }

    /// Adds the time since the last look to the integral of outstanding I/Os.
    fn account(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.clock_ns);
        self.recorder.outstanding_ns += real(passed_ns) * real_len(self.queue_depth());
        self.clock_ns = self.clock_ns.max(now_ns);
    }

    /// Hands over every interval that is over.
    fn roll(&mut self, now_ns: u64) {
        while !self.ended && now_ns >= self.edge_ns && self.edge_ns < self.times.end_ns {
            self.account(self.edge_ns);
            self.hand_over(self.edge_ns);
            self.edge_ns = (self.edge_ns + self.times.interval_ns).min(self.times.end_ns);
        }
    }

    /// Sends the recorder; what came before measuring is dropped.
    fn hand_over(&mut self, end_ns: u64) {
        let recorder = self.recorder.take();
        let next = if let Some(index) = self.interval {
            let start_ns = self.times.measure_ns + index * self.times.interval_ns;
            let stream = self.plan.stream_index;
            let interval = WorkerInterval { stream, index, start_ns, end_ns, recorder };
            self.send(Message::Interval(Box::new(interval)));
            index + 1
        } else {
            self.meter = WorkerMeter::start(self.backend.enters());
            self.send(Message::Measuring);
            0
        };
        self.interval = Some(next);
    }

    /// Ends the measured time: the last interval may be shorter than the others.
    fn end(&mut self, end_ns: u64) {
        self.account(end_ns);
        self.ended = true;
        // It was never issued.
        self.free.extend(self.held.take().map(|held| held.slot));
        if self.interval.is_some() {
            self.hand_over(end_ns);
        }
        let flying = self.slots.iter().filter(|slot| slot.operation.is_some());
        let oldest_ns =
            flying.map(|slot| end_ns.saturating_sub(slot.submitted_ns)).max().unwrap_or(0);
        let ended = WorkerSummary {
            missed_arrivals: self.arrivals.missed(end_ns),
            in_flight: count_of(self.queue_depth()),
            oldest_ns,
            began_ns: self.began_ns,
            features: self.features(),
            ..self.meter.end(self.backend.enters())
        };
        self.send(Message::Ended(Box::new(ended)));
    }

    /// Settings that a result depends on: the backend's, and how exactly open arrivals were met.
    fn features(&self) -> Vec<String> {
        let mut features = self.backend.features();
        features.extend(self.batch.feature());
        if self.arrivals.is_open() {
            let lead_us = self.lead.ns() / 1000;
            features.push(format!("awake {lead_us} µs before an arrival"));
        }
        features
    }

    fn send(&self, message: Message) {
        // A collector that has gone has stopped waiting for this worker.
        drop(self.sender.send(message));
    }
}

#[cfg(test)]
mod tests;
