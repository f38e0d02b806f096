//! A ring shared with the kernel, whatever its entries ask for: registered files and buffers, one
//! entry into the kernel for a whole batch.
#![allow(
    unsafe_code,
    reason = "submission entries carry addresses; the slots' protocol keeps them alive"
)]

use super::null::buffers;
use super::{BackendWait, Completion, TICK_NS};
use crate::stamp_clock::StampClock;
use crate::sys::Buffers;
use crate::target::OpenFile;
use assay_model::{Error, Result};
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use std::sync::Arc;

/// The user data of the timer that wakes a sleeping worker.
const TICK: u64 = u64::MAX;

/// When the kernel works off completions of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskRun {
    /// Whenever the worker is in the kernel anyway (`COOP_TASKRUN`): measured best on disk.
    #[default]
    Cooperative,
    /// Only when the worker waits for them (`DEFER_TASKRUN`, `SINGLE_ISSUER`).
    Deferred,
    /// A kernel thread submits as well (`SQPOLL`); it costs a whole core.
    KernelThread,
}

/// Settings of a ring; the defaults are those that measured best over page cache, disk and loop
/// devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UringOptions {
    /// When completions are worked off.
    pub task_run: TaskRun,
    /// Poll the device for completions (`IOPOLL`); few devices can.
    pub polled: bool,
    /// I/Os handed over in one entry at most; `None` leaves it to what the kernel and the device
    /// show.
    pub submit_batch: Option<u32>,
}

/// A worker's ring with its buffers and targets.
pub struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    /// Dropped by hand: never while the kernel may still write into the buffers.
    queues: ManuallyDrop<IoUring<S, C>>,
    buffers: ManuallyDrop<Buffers>,
    targets: Arc<[OpenFile]>,
    clock: StampClock,
    tick: Timespec,
    tick_armed: bool,
    fixed_buffers: bool,
    timed_wait: bool,
    options: UringOptions,
    in_flight: usize,
    queued: usize,
    enters: u64,
}

/// Why `io_uring` cannot be used here, if it cannot: a likely cause and what to do.
pub fn denied() -> Option<String> {
    let error = IoUring::new(4).err()?;
    Some(match error.raw_os_error() {
        Some(libc::EPERM) => {
            "io_uring is denied (seccomp filter or sysctl kernel.io_uring_disabled)".to_owned()
        }
        Some(libc::ENOSYS) => "this kernel does not have io_uring, or a filter hides it".to_owned(),
        Some(libc::ENOMEM) => "io_uring cannot lock memory (raise RLIMIT_MEMLOCK)".to_owned(),
        _ => format!("io_uring cannot be set up: {error}"),
    })
}

/// Entries of a ring for this many I/Os and the timer.
pub fn entries(slots: usize) -> u32 {
    u32::try_from(slots + 1).unwrap_or(u32::MAX).next_power_of_two().max(8)
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// Registers the files, one a target, and buffers for `slots` I/Os of up to `slot_bytes` with a
    /// ring.
    ///
    /// # Errors
    /// When memory is short.
    pub fn new(
        ring: IoUring<S, C>,
        targets: Arc<[OpenFile]>,
        files: &[RawFd],
        slots: usize,
        slot_bytes: usize,
        options: UringOptions,
    ) -> Result<Self> {
        ring.submitter().register_files(files).map_err(|error| {
            Error::environment(
                format!("registering files with the ring: {error}"),
                "try --backend posix",
            )
        })?;
        let buffers = buffers(slots, slot_bytes)?;
        // SAFETY: the region outlives the registration: both are dropped together, or leaked
        // together.
        let fixed_buffers =
            unsafe { ring.submitter().register_buffers(&[buffers.whole()]) }.is_ok();
        Ok(Self {
            timed_wait: ring.params().is_feature_ext_arg(),
            queues: ManuallyDrop::new(ring),
            buffers: ManuallyDrop::new(buffers),
            targets,
            clock: StampClock::new(),
            tick: Timespec::new().nsec(50_000_000),
            tick_armed: false,
            fixed_buffers,
            options,
            in_flight: 0,
            queued: 0,
            enters: 0,
        })
    }

    /// What its files belong to.
    pub fn targets(&self) -> &[OpenFile] {
        &self.targets
    }

    /// Whether its buffers are registered.
    pub const fn has_fixed_buffers(&self) -> bool {
        self.fixed_buffers
    }

    /// The address of a slot's buffer, for an entry.
    pub fn address(&self, slot: u32) -> *mut u8 {
        self.buffers.address(slot as usize)
    }

    /// The buffer of a slot that is not in flight.
    pub fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot as usize)
    }

    /// The clock of all stamps, ns.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Calls into the kernel so far.
    pub const fn enters(&self) -> u64 {
        self.enters
    }

    /// Queues the entry of an I/O; its user data is the slot.
    #[inline]
    pub fn push(&mut self, entry: &S) {
        self.put(entry);
        self.in_flight += 1;
    }

    #[inline]
    fn put(&mut self, entry: &S) {
        // SAFETY: buffers and timer live as long as the ring; the slot protocol leaves a buffer
        // alone in flight.
        let pushed = unsafe { self.queues.submission().push(entry) };
        assert!(pushed.is_ok(), "the submission queue holds every slot and the timer");
        self.queued += 1;
    }

    /// One timer at a time wakes the worker, so that a silent device cannot keep it from the clock.
    fn arm_tick(&mut self) {
        if !self.tick_armed {
            let entry = opcode::Timeout::new(&raw const self.tick).build().user_data(TICK);
            self.tick_armed = true;
            self.put(&entry.into());
        }
    }

    fn call(&mut self, wait: BackendWait) -> io::Result<usize> {
        self.enters += 1;
        match wait {
            // A polled ring sleeps for nobody: it looks once, or until something completes or the
            // processor is wanted.
            BackendWait::No | BackendWait::Until(Some(_)) if self.options.polled => {
                self.queues.submit()
            }
            BackendWait::Until(Some(until_ns)) if self.timed_wait => {
                let sleep_ns = until_ns.saturating_sub(self.now_ns()).min(TICK_NS);
                let time = Timespec::new().nsec(u32::try_from(sleep_ns).unwrap_or(u32::MAX));
                self.queues.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
            BackendWait::No | BackendWait::Until(Some(_)) => self.queues.submit(),
            BackendWait::Until(None) => self.queues.submit_and_wait(1),
        }
    }

    /// Whether completions lie in the ring, or wait in the kernel for this thread to fetch them.
    fn has_news(&mut self) -> bool {
        let waiting = self.queues.submission().taskrun();
        waiting || !self.queues.completion().is_empty()
    }

    /// Hands queued I/Os over and waits.
    ///
    /// # Errors
    /// An environment error when the kernel refuses to go on.
    pub fn enter(&mut self, wait: BackendWait) -> Result<()> {
        let polled = self.options.polled;
        if wait == BackendWait::No && self.queued == 0 && !polled && !self.has_news() {
            return Ok(());
        }
        // A polled ring takes no timers: their refusal would be there at once, and nothing would be
        // polled for.
        if wait == BackendWait::Until(None) && !polled {
            self.arm_tick();
        }
        let called = self.call(wait);
        self.queued = 0;
        match called.map_err(|error| error.raw_os_error()) {
            Ok(_) | Err(Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(errno) => Err(Error::environment(
                format!("entering the ring: {}", crate::errno::meaning(errno.unwrap_or(libc::EIO))),
                "check the kernel log, or use --backend posix",
            )),
        }
    }

    /// Appends what has completed.
    #[inline]
    pub fn reap(&mut self, completed: &mut Vec<Completion>) {
        let before = completed.len();
        let mut ticked = false;
        completed.extend(self.queues.completion().filter_map(|entry| {
            let entry: cqueue::Entry = entry.into();
            let slot = u32::try_from(entry.user_data()).ok();
            ticked |= slot.is_none();
            slot.map(|slot| Completion { slot, result: entry.result(), stamps_ns: None })
        }));
        self.tick_armed &= !ticked;
        self.in_flight -= completed.len() - before;
    }

    /// Settings in force that a result depends on; `fixed_buffers` is whether I/Os make use of
    /// registered ones.
    pub fn features(&self, fixed_buffers: bool) -> Vec<String> {
        let buffers = match (fixed_buffers, self.fixed_buffers) {
            (true, _) => "registered buffers",
            (false, true) => "plain buffers",
            (false, false) => "plain buffers (locked memory is limited)",
        };
        let run = match self.options.task_run {
            TaskRun::Cooperative => "cooperative completions",
            TaskRun::Deferred => "deferred completions",
            TaskRun::KernelThread => "kernel submission thread",
        };
        let mut features = vec!["registered files".to_owned(), buffers.to_owned(), run.to_owned()];
        if self.options.polled {
            features.push("polled completions".to_owned());
        }
        features.extend(self.clock.feature());
        features
    }
}

/// A ring as the options ask for it.
///
/// # Errors
/// What the kernel answered.
pub fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    entries: u32,
    options: UringOptions,
) -> io::Result<IoUring<S, C>> {
    let mut builder = IoUring::<S, C>::builder();
    builder.dontfork();
    match options.task_run {
        TaskRun::Cooperative => builder.setup_coop_taskrun().setup_taskrun_flag(),
        // The flag shows a worker that does not wait when there is something to fetch.
        TaskRun::Deferred => {
            builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag()
        }
        TaskRun::KernelThread => builder.setup_sqpoll(1000),
    };
    if options.polled {
        builder.setup_iopoll();
    }
    // Kernels before 5.19 know no cooperative task running: a plain ring does the same at more
    // interrupts.
    builder.build(entries).or_else(|error| match error.raw_os_error() {
        Some(libc::EINVAL) if options.task_run == TaskRun::Cooperative && !options.polled => {
            IoUring::<S, C>::builder().build(entries)
        }
        _ => Err(error),
    })
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Drop for Ring<S, C> {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still write into the buffers: both stay until the process ends.
            return;
        }
        // SAFETY: nothing is in flight, and neither is used again.
        unsafe {
            ManuallyDrop::drop(&mut self.queues);
            ManuallyDrop::drop(&mut self.buffers);
        }
    }
}
