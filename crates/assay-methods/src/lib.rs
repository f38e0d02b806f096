//! Questions put to storage: how a method measures, when it has measured enough, and what it may
//! then say.
//!
//! A method runs on a [`bench::Bench`], so that the same code answers for a disk in real time and
//! for a simulated device in virtual time, whose true answers are known.
#![forbid(unsafe_code)]

pub mod bench;
pub mod calibrate;
pub mod durability;
pub mod files;
pub mod flush_timing;
pub mod locality;
pub mod page_protection;
pub mod patterns;
pub mod plan;
pub mod presets;
pub mod sessions;
pub mod shipped_studies;
pub mod soak;
pub mod study;
pub mod target;

pub use bench::{Bench, SimulatedBench, StorageBench, transfer_max};
pub use calibrate::{
    CalibrationMix, CalibrationPhase, CalibrationPlan, CalibrationProgress, CalibrationUpdate,
    LogPlan, calibrate, calibrate_log, calibrate_until,
};
pub use plan::{ClassDemand, DemandPlan, PlanOptions, plan};
