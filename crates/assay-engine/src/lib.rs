//! The kernel's I/O manual: runs a workload on storage, or on a simulated device in virtual time.
//!
//! A worker owns one backend and turns: it reaps what completed, records it, starts what is due and
//! says how long it may sleep. Threads drive workers over real backends ([`run`]); a [`Simulation`]
//! drives the same workers over a [`device`] on a virtual clock. The collector joins what the
//! workers saw into intervals, notifies an [`Observer`], and ends with a measurement.

mod access;
mod after_cut;
mod arrivals;
mod backend;
mod cache_line;
mod collector;
pub mod device;
mod errno;
mod flush_probe;
mod nvme;
mod passthrough;
mod payload;
mod plan;
mod probe;
mod recorder;
mod run;
mod simulation;
mod space;
mod stamp_clock;
mod sys;
mod target;
mod verify;
mod worker;

pub use after_cut::{TargetAfterCut, judge_after_cut};
pub use backend::{TaskRun, UringOptions, uring_denied};
pub use collector::{Ignore, Observer};
pub use flush_probe::FlushProbe;
pub use passthrough::{NamespaceFacts, Passthrough};
pub use run::{BackendChoice, EngineJob, Started, Starter, run, run_from, run_verified};
pub use simulation::Simulation;
pub use stamp_clock::StampClock;
pub use sys::monotonic_ns;
pub use target::{OpenFile, TargetBounds};
pub use verify::Verifier;
