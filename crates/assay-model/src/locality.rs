//! How a target serves working sets of growing size: which caches and tiers it has, how large and
//! how fast, and how long they take to follow a hot spot that moves.

use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// A locality curve and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Locality {
    /// Version of the document format: 1.
    pub format: u32,
    /// Bytes of one read.
    #[serde(alias = "transfer_bytes")]
    pub block_size_bytes: u64,
    /// Mean read times, by working set.
    pub points: Vec<LocalityPoint>,
    /// The places behind them, the fastest first; none where they cannot be determined.
    pub tiers: Vec<LocalityTier>,
    /// Why the places cannot be determined, where they cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Root mean square of the relative distance between points and places.
    pub misfit: f64,
    /// How a moving hot spot is followed; absent where there is only one place, or it was not
    /// asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub following: Option<Adaptation>,
}

/// One point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LocalityPoint {
    /// Bytes that random reads go to, all equally often.
    pub working_set_bytes: u64,
    /// Mean service time, ns.
    pub service_time_ns: Estimate,
}

/// A cache or tier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LocalityTier {
    /// Bytes that it and the faster ones hold; absent for the last one, which holds everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_bytes: Option<f64>,
    /// Its mean service time, ns.
    pub service_time_ns: f64,
    /// The interval of what it and the faster ones hold, bytes; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_interval_bytes: Option<Estimate>,
    /// The interval of its mean service time, ns; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<Estimate>,
}

/// How a moving hot spot is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Adaptation {
    /// Bytes of the hot spot.
    pub hot_bytes: f64,
    /// Time between its jumps, s.
    pub period_s: f64,
    /// Time after each jump until half of what it cost was over, s.
    pub half_s: Vec<f64>,
    /// Until 90% were, s.
    pub most_s: Vec<f64>,
    /// The mean time until half was over, over the jumps, s; absent with fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_mean_s: Option<Estimate>,
    /// The mean time until 90% were, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_mean_s: Option<Estimate>,
}
