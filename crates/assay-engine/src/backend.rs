//! The seam between a worker and whatever carries out its I/Os: push, enter, reap, and a clock.

use assay_model::Result;
use assay_model::measurement::Operation;

mod null;
mod passthrough;
mod posix;
mod ring;
mod simulated;
mod uring;

pub use null::NullBackend;
pub use passthrough::PassthroughBackend;
pub use posix::PosixBackend;
pub use ring::{TaskRun, UringOptions, denied as uring_denied};
pub use simulated::{SimulatedBackend, SimulationState};
pub use uring::UringBackend;

/// One I/O as a backend sees it; its data lies in the buffer of its slot.
#[derive(Clone, Copy, Debug)]
pub struct BackendIo {
    /// Which of the worker's outstanding I/Os this is.
    pub slot: u32,
    /// What it does.
    pub operation: Operation,
    /// Index of the target.
    pub target: u32,
    /// Offset in the target, bytes; 0 for a sync.
    pub offset: u64,
    /// Bytes to move; 0 for a sync.
    pub bytes: u32,
    /// Whether a write must be durable when it completes.
    pub durable: bool,
}

/// An I/O that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The slot of the I/O.
    pub slot: u32,
    /// Bytes moved, or the negative error number; a drive's answers have numbers, too.
    pub result: i32,
    /// Start and end as the backend itself saw them, where it knows better than the worker.
    pub stamps_ns: Option<(u64, u64)>,
}

/// How long an entry into the kernel may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendWait {
    /// Hand over what is queued and return.
    No,
    /// Return when something completed, when the time has come, or after a tick of 50 ms at the
    /// latest.
    Until(Option<u64>),
}

/// How long a worker sleeps at most before it looks at the clock and the stop flag again.
pub const TICK_NS: u64 = 50_000_000;

/// Carries out I/Os.
pub trait IoBackend {
    /// The clock of all stamps, ns.
    fn now_ns(&self) -> u64;

    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Queues an I/O; never more than the slots that were agreed on.
    fn push(&mut self, io: &BackendIo);

    /// Hands queued I/Os over and waits.
    ///
    /// # Errors
    /// An environment error when the kernel refuses to go on.
    fn enter(&mut self, wait: BackendWait) -> Result<()>;

    /// Appends what has completed.
    fn reap(&mut self, completed: &mut Vec<Completion>);

    /// Whether written data is kept anywhere; where it is not, making it for every write would be
    /// for nothing.
    fn keeps_data(&self) -> bool {
        true
    }

    /// Calls into the kernel so far.
    fn enters(&self) -> u64 {
        0
    }

    /// Settings in force that a result depends on.
    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}
