//! Quantiles that another program printed of the values of a histogram.

use crate::number::count;
use serde::{Deserialize, Serialize};

/// Shares that differ by less are one: 99.9 / 100 is not 0.999.
const SHARE_ROUNDING: f64 = 1e-9;

/// A quantile as the program that measured printed it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReportedQuantile {
    /// The share of the values below, between 0 and 1.
    pub share: f64,
    /// The value, ns.
    pub time_ns: u64,
}

/// Reported quantiles, and the number of values that they are of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReportedQuantiles {
    /// With more or fewer values they are those of another distribution.
    pub ios: u64,
    pub quantiles: Vec<ReportedQuantile>,
}

/// A quantile from buckets, held between the reported ones around it.
pub(super) fn between(reported: &[ReportedQuantile], share: f64, counted_ns: u64) -> u64 {
    let lower = reported.iter().rev().find(|one| one.share <= share + SHARE_ROUNDING);
    let upper = reported.iter().find(|one| one.share >= share - SHARE_ROUNDING);
    let at_least = lower.map_or(counted_ns, |one| counted_ns.max(one.time_ns));
    upper.map_or(at_least, |one| at_least.min(one.time_ns))
}

/// Shares at which both of two histograms are known; none where both are known at all.
pub(super) fn common_shares(one: Option<&[f64]>, other: Option<&[f64]>) -> Option<Box<[f64]>> {
    match (one, other) {
        (Some(one), Some(other)) => {
            Some(one.iter().copied().filter(|share| holds(other, *share)).collect())
        }
        (only, None) | (None, only) => only.map(Box::from),
    }
}

pub(super) fn holds(shares: &[f64], share: f64) -> bool {
    shares.iter().any(|known| (known - share).abs() <= SHARE_ROUNDING)
}

impl ReportedQuantile {
    /// The quantile of a share, 0..1 in at most nine digits, with its value in ns.
    pub fn new(share: f64, time_ns: f64) -> Self {
        Self { share: (share * 1e9).round() / 1e9, time_ns: count(time_ns.round()) }
    }
}
