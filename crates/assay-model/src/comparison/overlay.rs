//! One quantity of every side over the same axis, so that curves, distributions and courses can be
//! drawn over each other.

use crate::estimate::Estimate;
use crate::verdict::Unit;
use serde::{Deserialize, Serialize};

/// One quantity over one axis, a line a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// What is drawn, for example `IOPS of read`.
    pub what: String,
    /// What it is drawn over.
    pub over: OverlayAxis,
    /// Unit of the values.
    pub unit: Unit,
    /// The sides that have it, in their order.
    pub lines: Vec<OverlayLine>,
}

/// What an overlay is drawn over; the unit of a point's place follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OverlayAxis {
    /// Outstanding I/Os.
    Outstanding,
    /// Sessions of a load.
    Sessions,
    /// Latency, ns: the values are shares of the I/Os that took no longer.
    LatencyNs,
    /// Measured time since the beginning, s.
    ElapsedS,
}

/// One side of an overlay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OverlayLine {
    /// Index of the side.
    pub side: usize,
    /// The points, ascending by place.
    pub points: Vec<OverlayPoint>,
}

/// One point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OverlayPoint {
    /// Its place on the axis, in the axis' unit.
    pub x: f64,
    /// The value with its interval; low and high are the value itself where there is none.
    pub value: Estimate,
}
