//! A capacity planner's book: from a demand and a catalog to the configurations that carry it, and
//! what they cost.
//!
//! Documents go in and a document comes out: no clock, no file, no network. Formulas stand in
//! `docs/methods/sizing.md` under the names that they have here.
#![forbid(unsafe_code)]

mod array;
mod candidate;
mod cost;
mod databases;
mod demand;
mod device;
mod doubts;
mod formulas;
mod plan;
mod sample;
mod size;
mod volume;

pub use demand::read_latency_for;
pub use formulas::{
    back_end_iops, device_count, disk_iops, drive_writes_per_day, front_end_iops, iops_at_mix,
    link_iops, port_count, raid_efficiency, write_penalty,
};
pub use plan::{GivenDemand, Peak, SizingPlan};
pub use size::size;
