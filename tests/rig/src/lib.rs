//! Storage that misbehaves exactly as scripted, and the other rigs that Assay's tests stand on.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cache;
mod clock;
mod confine;
mod cut_filesystem;
mod device;
pub mod direct;
mod errno;
mod fault;
mod filesystem;
mod hangup;
mod kill;
mod latency;
mod log;
mod loop_device;
mod memory_directory;
mod mounts;
mod nbd;
mod operation;
mod program;
mod random;
mod rig;
mod schedule;
mod scratch;
mod script;
mod skip;
mod small_filesystem;
mod store;
mod throttle;
mod timer;
mod translate;
mod tree;
mod watchdog;

pub use cache::{Cache, Lie};
pub use clock::monotonic_ns;
pub use confine::{deny_io_uring, spawn_without_io_uring, without_io_uring};
pub use cut_filesystem::CutFileSystem;
pub use errno::Errno;
pub use fault::{Applied, Effect, Fault, Select};
pub use hangup::ending_signals;
pub use kill::{Killed, Reaped, kill_at_random};
pub use latency::{Latencies, Latency, Stall};
pub use log::{Counts, Entry, Keep, Log, Statistics, checksum};
pub use loop_device::LoopDevice;
pub use memory_directory::memory_directory;
pub use nbd::{DiskCounts, NbdDisk};
pub use operation::Operation;
pub use random::Random;
pub use rig::{Report, Rig};
pub use scratch::Scratch;
pub use script::{FileSpec, Mode, Script};
pub use skip::Skip;
pub use small_filesystem::SmallFileSystem;
pub use store::{BLOCK_BYTES, Content};
pub use throttle::{Limits, Throttle};
