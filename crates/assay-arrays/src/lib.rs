//! A storage architect's book: arrays as discrete-event models in virtual time, and the database
//! host above them.
//!
//! Every part is a [`Device`](assay_model::device::Device) and may be made of devices: a RAID of
//! caches over disks is built as it is described. Nothing here reads a clock or does I/O; equal
//! seeds give equal results.
#![forbid(unsafe_code)]

mod build;
mod cache;
mod catalog;
mod controller;
mod drive;
mod event_queue;
mod exponential;
mod failure;
mod flash;
mod ftl;
mod hdd;
mod host;
mod path;
mod raid;
mod ram;
mod service;
mod stage;
mod tier;
mod verify;

pub use build::ArraySpec;
pub use catalog::{find, names, text};
pub use failure::Failures;
pub use host::{HostEnd, HostInterval, HostRun, HostTimes, profile, run_host, watch_host};
pub use verify::{ExperimentOutcome, session_profile, spec, verify};
