//! Blocking reads and writes by a thread for each outstanding I/O: where `io_uring` is denied.
#![allow(
    unsafe_code,
    reason = "threads share the slots' buffers by address; the slots' protocol keeps them apart"
)]

use super::null::buffers;
use super::{BackendIo, BackendWait, Completion, IoBackend, TICK_NS};
use crate::sys::{self, Buffers, monotonic_ns};
use crate::target::OpenFile;
use assay_model::measurement::Operation;
use assay_model::{Error, Result};
use std::mem::ManuallyDrop;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// An I/O with the address of its buffer.
struct PosixJob {
    io: BackendIo,
    address: usize,
}

/// A pool of threads behind a queue.
pub struct PosixBackend {
    jobs: Option<Sender<PosixJob>>,
    done: Receiver<Completion>,
    arrived: Vec<Completion>,
    buffers: ManuallyDrop<Buffers>,
    threads: Vec<JoinHandle<()>>,
    queued: Vec<BackendIo>,
    in_flight: usize,
    enters: u64,
}

impl PosixBackend {
    /// A pool for `slots` outstanding I/Os of up to `slot_bytes`.
    ///
    /// # Errors
    /// When memory or threads are short.
    pub fn new(targets: &Arc<[OpenFile]>, slots: usize, slot_bytes: usize) -> Result<Self> {
        let (jobs, queue) = channel::<PosixJob>();
        let (report, done) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let start = |index: usize| {
            let (queue, report, targets) =
                (Arc::clone(&queue), report.clone(), Arc::clone(targets));
            let builder =
                std::thread::Builder::new().name(format!("io-{index}")).stack_size(64 << 10);
            builder.spawn(move || serve(&queue, &report, &targets)).map_err(|error| {
                Error::environment(
                    format!("starting thread {index} of {slots}: {error}"),
                    "use fewer outstanding I/Os",
                )
            })
        };
        let threads = (0..slots).map(start).collect::<Result<Vec<_>>>()?;
        let buffers = ManuallyDrop::new(buffers(slots, slot_bytes)?);
        Ok(Self {
            jobs: Some(jobs),
            done,
            arrived: Vec::new(),
            buffers,
            threads,
            queued: Vec::new(),
            in_flight: 0,
            enters: 0,
        })
    }
}

/// Works off jobs until the queue is closed.
fn serve(queue: &Mutex<Receiver<PosixJob>>, report: &Sender<Completion>, targets: &[OpenFile]) {
    loop {
        let job = queue.lock().map(|queue| queue.recv());
        let Ok(Ok(job)) = job else { return };
        let start_ns = monotonic_ns();
        let result = perform(&job, &targets[job.io.target as usize]);
        let stamps_ns = Some((start_ns, monotonic_ns()));
        if report.send(Completion { slot: job.io.slot, result, stamps_ns }).is_err() {
            return;
        }
    }
}

fn perform(job: &PosixJob, target: &OpenFile) -> i32 {
    let PosixJob { io, address } = job;
    if io.operation == Operation::Sync {
        return sys::sync(&target.file);
    }
    let flags = if io.durable { libc::RWF_DSYNC } else { 0 };
    let offset = i64::try_from(io.offset).unwrap_or(i64::MAX);
    let write = io.operation == Operation::Write;
    let address = std::ptr::with_exposed_provenance_mut(*address);
    // SAFETY: the slot's buffer is this job's alone until its completion is reported, and outlives
    // the pool.
    unsafe { sys::transfer(&target.file, write, address, io.bytes as usize, offset, flags) }
}

impl IoBackend for PosixBackend {
    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot as usize)
    }

    fn push(&mut self, io: &BackendIo) {
        self.queued.push(*io);
    }

    fn enter(&mut self, wait: BackendWait) -> Result<()> {
        self.enters += 1;
        for io in self.queued.drain(..) {
            let address = self.buffers.address(io.slot as usize).expose_provenance();
            self.in_flight += 1;
            let gone = || {
                Error::environment(
                    "the I/O threads ended".to_owned(),
                    "see the error before this one",
                )
            };
            let jobs = self.jobs.as_ref().ok_or_else(gone)?;
            jobs.send(PosixJob { io, address }).map_err(|_| gone())?;
        }
        let sleep_ns = match wait {
            BackendWait::No => 0,
            BackendWait::Until(until_ns) => until_ns
                .map_or(TICK_NS, |until_ns| until_ns.saturating_sub(monotonic_ns()).min(TICK_NS)),
        };
        if let Ok(first) = self.done.recv_timeout(Duration::from_nanos(sleep_ns)) {
            self.arrived.push(first);
        }
        Ok(())
    }

    fn reap(&mut self, completed: &mut Vec<Completion>) {
        self.arrived.extend(self.done.try_iter());
        self.in_flight -= self.arrived.len();
        completed.append(&mut self.arrived);
    }

    fn enters(&self) -> u64 {
        self.enters
    }

    fn features(&self) -> Vec<String> {
        vec![format!("{} threads of blocking calls", self.threads.len())]
    }
}

impl Drop for PosixBackend {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if self.in_flight > 0 {
            // A call has not returned: its thread and the buffers stay until the process ends.
            return;
        }
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
        // SAFETY: all threads have ended, and the buffers are not used again.
        unsafe { ManuallyDrop::drop(&mut self.buffers) };
    }
}
