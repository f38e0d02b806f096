//! One measurement on disk: written interval by interval, read whole or piece by piece.

use assay_model::measurement::{Conduct, Finish};
use assay_model::number::narrow;

mod join;
mod line;
mod plan;
mod progress;
mod reader;
mod recover;
mod series;
mod writer;

pub use join::joined;
pub use plan::{CellPlan, LoadedPlan};
pub use reader::CellReader;
pub use writer::CellWriter;

pub(crate) const WORKLOAD: &str = "workload.toml";
pub(crate) const STEP: &str = "step.toml";
pub(crate) const INTERVALS: &str = "intervals.jsonl";
pub(crate) const TAIL: &str = "tail.jsonl";
pub(crate) const MEASUREMENT: &str = "measurement.json";
/// Every file of a cell.
pub(crate) const FILES: [&str; 6] =
    [WORKLOAD, STEP, INTERVALS, TAIL, MEASUREMENT, crate::checksum::FILE_NAME];
/// What a cell was asked for; it has one of them.
pub(crate) const PLANS: [&str; 2] = [WORKLOAD, STEP];

/// Joints that a cell has at most when it runs as long as planned: a day has one every three
/// minutes, and anything up to eight minutes has one a second.
pub const WINDOWS_MAX: u64 = 480;
/// Bytes that all joints of a cell take together when it runs as long as planned, give or take one:
/// where many streams and targets make joints large, they become fewer.
pub const JOINT_BYTES_MAX: u64 = 80 << 20;
/// Bytes of the tail beyond its joint; when there are more, its intervals are joined to one line.
pub const TAIL_BYTES_MAX: u64 = 8 << 20;

/// What is known when the measured time begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellStart {
    /// Begin of the measured time, nanoseconds since 1970 UTC.
    pub started_unix_ns: u64,
    /// Of the tool's behaviour what is known by then: backend, clock, submission. It is what a
    /// result says of a measurement that was never finished.
    pub conduct: Conduct,
    /// How much a power failure may cost.
    pub durability: WriteDurability,
}

/// When what was written must be on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteDurability {
    /// Every interval before the next one; of intervals shorter than a second, as many as make
    /// about one.
    #[default]
    EveryInterval,
    /// Only the finished cell: `kill -9` costs no more than an interval still, a power failure may
    /// cost all. For measurements in simulated time, which would otherwise wait for the disk.
    Finished,
}

/// How far a cell has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellExtent {
    /// Intervals measured; the number of the next one.
    pub intervals: u64,
    /// Measured time, ns.
    pub elapsed_ns: u64,
}

/// Whether a cell has its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellStatus {
    /// It has, and ended like this.
    Finished(Finish),
    /// It is being written, or the program was killed.
    Unfinished,
}

/// Intervals of one joint: the fewest that keep the plan within [`WINDOWS_MAX`] joints and, being
/// as large as the last one, within [`JOINT_BYTES_MAX`].
fn window_intervals(planned: u64, joint_bytes: u64) -> u64 {
    let by_bytes = u128::from(planned) * u128::from(joint_bytes);
    let by_bytes = narrow(by_bytes.div_ceil(u128::from(JOINT_BYTES_MAX)));
    planned.div_ceil(WINDOWS_MAX).max(by_bytes).max(1)
}

/// The file of a cell that has a known name.
pub(crate) fn is_file(name: &str) -> bool {
    FILES.contains(&name)
}

/// Intervals in a joint's extent, for adding up.
const fn end_of(first_interval: u64, intervals: u64) -> u64 {
    first_interval.saturating_add(intervals)
}

#[cfg(test)]
mod tests;
