//! Runs a workload on a simulated device in virtual time: all workers and the device share one
//! clock.

use crate::backend::{BackendWait, SimulatedBackend, SimulationState};
use crate::collector::{IntervalCollector, Observer, later};
use crate::device::Device;
use crate::plan::plan_workers;
use crate::target::TargetBounds;
use crate::verify::Verifier;
use crate::worker::{EngineWorker, Message, NextStep, PhaseTimes};
use assay_integrity::SimulatedContent;
use assay_model::device::DeviceIo;
use assay_model::integrity::{SimulatedLoss, Sweep};
use assay_model::measurement::{BackendKind, ClockKind, Finish, Measurement};
use assay_model::workload::Workload;
use assay_model::{Error, Result};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

/// A device with its own clock: what ran on it before has left its traces, such as an empty credit
/// bucket.
pub struct Simulation {
    device: Option<Box<dyn Device>>,
    now_ns: u64,
    length_bytes: u64,
    stop: Option<Arc<AtomicBool>>,
    /// What the device holds, and who compares it.
    verified: Option<(SimulatedContent, Arc<Verifier>)>,
}

/// Events between two looks at the clocks.
const EVENTS_A_LOOK: u32 = 1 << 20;
/// Virtual time that these events take at least, ns: no storage completes a thousand million I/Os a
/// second, and a device that does would never come to the end of its second.
const LOOK_NS_MIN: u64 = EVENTS_A_LOOK as u64;
/// Events between two looks at the flag.
const EVENTS_BETWEEN_POLLS: u32 = 1 << 12;

/// Whether virtual time gets on, and whether anybody still wants it to.
struct Guard<'a> {
    events: u32,
    looked_ns: u64,
    stop: Option<&'a AtomicBool>,
}

impl Guard<'_> {
    /// Counts an event; whether a person wants no more.
    fn is_stopped(&mut self, now_ns: u64) -> Result<bool> {
        self.events += 1;
        if self.events == EVENTS_A_LOOK {
            if now_ns.saturating_sub(self.looked_ns) < LOOK_NS_MIN {
                return Err(stands_still());
            }
            (self.events, self.looked_ns) = (0, now_ns);
        }
        let is_poll = self.events.is_multiple_of(EVENTS_BETWEEN_POLLS);
        Ok(is_poll && self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)))
    }
}

fn stands_still() -> Error {
    Error::usage(
        "the simulated device completes more than 10^9 IOPS, so its time barely advances",
        "give it a service time, for example sim:servers?count=8&service=200us",
    )
}

/// One worker with when it wants to run next.
struct Seat {
    worker: EngineWorker<SimulatedBackend>,
    wake_ns: Option<u64>,
    finished: bool,
}

impl Simulation {
    /// A device of `length_bytes`, its clock at 0.
    pub fn new(device: Box<dyn Device>, length_bytes: u64) -> Self {
        Self { device: Some(device), now_ns: 0, length_bytes, stop: None, verified: None }
    }

    /// Ends runs, between two intervals, too, as soon as the flag is set.
    pub fn stop_on(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Gives the device a memory of what is written from now on, and compares what is read;
    /// `may_lose` says that the device can fail.
    pub fn verify_by(&mut self, verifier: &Arc<Verifier>, may_lose: bool) {
        self.verified = Some((verifier.simulated_content(may_lose), Arc::clone(verifier)));
    }

    /// Ends that; gives what the device did to its data by its own account.
    pub fn end_verification(&mut self) -> Option<SimulatedLoss> {
        self.verified.take().map(|(content, _)| content.tally())
    }

    /// Reads everything that was written in virtual time, one piece after the other, and compares
    /// it; `show` hears how far it is.
    ///
    /// # Panics
    /// When an earlier run on this device panicked.
    pub fn sweep(&mut self, stop: &AtomicBool, show: &mut dyn FnMut(f64)) -> Sweep {
        let Some((mut content, verifier)) = self.verified.take() else { return Sweep::default() };
        let mut losses = Vec::new();
        let sweep = self.lend(|device, now_ns| {
            let mut now_ns = now_ns;
            let mut read = |offset: u64, buffer: &mut [u8]| {
                let bytes = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
                let io =
                    DeviceIo { number: content.next_number(), ..DeviceIo::read(offset, bytes) };
                now_ns = alone(device, now_ns, io);
                device.losses(&mut losses);
                content.take(&mut losses);
                content.read(&io, buffer);
            };
            (verifier.sweep_simulated(&mut read, stop, show), now_ns)
        });
        self.verified = Some((content, verifier));
        sweep
    }

    /// Virtual time since the device was new.
    pub const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Lets virtual time pass without load.
    pub const fn rest(&mut self, time_ns: u64) {
        self.now_ns = self.now_ns.saturating_add(time_ns);
    }

    /// Lends the device to somebody who drives it without an engine, from the present virtual time
    /// on; gives what came of it. `drive` says with it when nothing was in flight any more.
    ///
    /// # Panics
    /// When an earlier run on this device panicked.
    pub fn lend<T>(&mut self, drive: impl FnOnce(&mut dyn Device, u64) -> (T, u64)) -> T {
        let Some(mut device) = self.device.take() else {
            panic!("the device was lost in an earlier run")
        };
        let (found, now_ns) = drive(device.as_mut(), self.now_ns);
        self.now_ns = self.now_ns.max(now_ns);
        self.device = Some(device);
        found
    }

    /// Runs a workload from the present virtual time on, until nothing is in flight any more.
    ///
    /// # Errors
    /// A usage error when the workload contradicts itself or does not fit the device.
    ///
    /// # Panics
    /// When an earlier run on this device panicked.
    pub fn run(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let bounds: Arc<[TargetBounds]> = [TargetBounds::simulated(self.length_bytes)].into();
        let mut plans = plan_workers(workload, &bounds, None)?;
        let (content, verifier) = self.verified.take().unzip();
        for plan in &mut plans {
            plan.verifier.clone_from(&verifier);
        }
        let block_bytes = verifier.as_ref().map(|verifier| verifier.block_bytes());
        let measure_ns = later(self.now_ns, workload.warm_up.0);
        let end_ns = later(measure_ns, workload.duration.0);
        let times = PhaseTimes {
            start_ns: self.now_ns,
            measure_ns,
            end_ns,
            interval_ns: workload.interval.0,
        };
        let Some(device) = self.device.take() else {
            panic!("the device was lost in an earlier run")
        };
        let world =
            Rc::new(RefCell::new(SimulationState::new(device, content, plans.len(), self.now_ns)));
        let (sender, receiver) = channel();
        let mut collector =
            IntervalCollector::new(workload, vec!["simulated".to_owned()], plans.len(), measure_ns);
        let mut seats: Vec<Seat> = (0u32..)
            .zip(plans)
            .map(|(index, plan)| {
                let backend = SimulatedBackend::new(
                    Rc::clone(&world),
                    index,
                    plan.slots,
                    plan.slot_bytes,
                    block_bytes,
                );
                let worker = EngineWorker::new(backend, plan, times, sender.clone());
                Seat { worker, wake_ns: Some(times.start_ns), finished: false }
            })
            .collect();
        let mut guard = Guard { events: 0, looked_ns: self.now_ns, stop: self.stop.as_deref() };
        let driven =
            drive(&world, &mut seats, times, &receiver, &mut collector, observer, &mut guard);
        drop(seats);
        self.now_ns = world.borrow().now_ns();
        let (device, content) =
            Rc::into_inner(world).map(|world| world.into_inner().into_device()).unzip();
        self.device = device;
        self.verified = content.flatten().zip(verifier);
        driven?;
        let finish = if collector.broken_off() { Finish::Interrupted } else { Finish::Complete };
        let mut measurement = collector.finish(finish, measure_ns);
        measurement.conduct.backend = BackendKind::Simulated;
        measurement.conduct.clock = ClockKind::Virtual;
        // The device has no kernel and no log.
        for remark in &mut measurement.conduct.remarks {
            "measure longer".clone_into(&mut remark.remedy);
        }
        // No processor is waited for in virtual time.
        measurement.conduct.worker_delayed_share_max = None;
        Ok(measurement)
    }
}

/// Lets a device carry out one I/O, and whatever it does meanwhile; gives the time at which it was
/// done.
fn alone(device: &mut dyn Device, mut now_ns: u64, io: DeviceIo) -> u64 {
    let mut done = Vec::new();
    device.submit(now_ns, 0, io);
    while done.is_empty() {
        let Some(next_ns) = device.next_event_ns() else { break };
        now_ns = now_ns.max(next_ns);
        device.advance(now_ns, &mut done);
    }
    now_ns
}

/// Moves from event to event: a completion, an arrival, an interval's edge.
fn drive(
    world: &Rc<RefCell<SimulationState>>,
    seats: &mut [Seat],
    times: PhaseTimes,
    receiver: &Receiver<Message>,
    collector: &mut IntervalCollector<'_>,
    observer: &mut dyn Observer,
    guard: &mut Guard<'_>,
) -> Result<()> {
    let mut due = vec![true; seats.len()];
    let mut edge_ns = times.measure_ns;
    let mut at_edge = true;
    while seats.iter().any(|seat| !seat.finished) {
        for (seat, due) in seats.iter_mut().zip(&mut due) {
            if std::mem::take(due) && !seat.finished {
                seat.turn(collector.broken_off())?;
            }
        }
        // Workers speak when an interval is over: looking for their words at every event would cost
        // more than it.
        if at_edge {
            take_messages(receiver, collector, observer);
        }
        let wakes = seats.iter().filter(|seat| !seat.finished).filter_map(|seat| seat.wake_ns);
        let edge = (edge_ns <= times.end_ns).then_some(edge_ns);
        let limit_ns = wakes.chain(edge).min();
        let Some(next_ns) = world.borrow_mut().advance_until(limit_ns, &mut due) else {
            break;
        };
        if guard.is_stopped(next_ns)? {
            collector.break_off();
        }
        at_edge = next_ns >= edge_ns;
        for (seat, due) in seats.iter().zip(&mut due) {
            *due |= at_edge || seat.wake_ns.is_some_and(|wake_ns| wake_ns <= next_ns);
        }
        if at_edge {
            edge_ns = if edge_ns == times.end_ns {
                u64::MAX
            } else {
                (edge_ns + times.interval_ns).min(times.end_ns)
            };
        }
    }
    take_messages(receiver, collector, observer);
    Ok(())
}

impl Seat {
    /// One turn, and the entry that follows it. In virtual time a worker wakes exactly when it
    /// wants.
    fn turn(&mut self, stopping: bool) -> Result<()> {
        match self.worker.turn(stopping) {
            NextStep::Finished => self.finished = true,
            NextStep::Enter(wait) => {
                crate::backend::IoBackend::enter(self.worker.backend(), wait)?;
                self.wake_ns = match wait {
                    BackendWait::Until(until_ns) => until_ns,
                    BackendWait::No => self.worker.next_start_ns(),
                };
            }
        }
        Ok(())
    }
}

fn take_messages(
    receiver: &Receiver<Message>,
    collector: &mut IntervalCollector<'_>,
    observer: &mut dyn Observer,
) {
    for message in receiver.try_iter() {
        match message {
            Message::Interval(part) => collector.add(&part, observer),
            Message::Ended(ended) => collector.end(*ended),
            _ => {}
        }
    }
}
