//! I/Os by their time in the ranges that a source counts them in.

use serde::{Deserialize, Serialize};

/// I/Os whose time lies in one range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyBucket {
    /// Shortest time in it, ns.
    pub low_ns: u64,
    /// Times in it are shorter than this, ns; absent where it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// How many; estimated from a share where the source prints percents.
    pub ios: f64,
}

/// Adjoining ranges in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyCurve {
    /// The ranges.
    pub buckets: Vec<LatencyBucket>,
    /// The source's own names of what is counted, where it has names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Where they were read.
    pub source: String,
}

impl LatencyCurve {
    /// I/Os in all ranges.
    pub fn ios(&self) -> f64 {
        self.buckets.iter().map(|bucket| bucket.ios).sum()
    }

    /// Share of I/Os that took less than `limit_ns`; `None` where the limit is not the end of a
    /// range, or nothing was counted: inside a range the share is not known.
    pub fn share_below(&self, limit_ns: u64) -> Option<f64> {
        let last = self.buckets.iter().position(|bucket| bucket.high_ns == Some(limit_ns))?;
        let below: f64 = self.buckets[..=last].iter().map(|bucket| bucket.ios).sum();
        let all = self.ios();
        (all > 0.0).then(|| below / all)
    }

    /// The range that holds the quantile, its ends in ns; `None` of nothing.
    pub fn quantile_range_ns(&self, quantile: f64) -> Option<(u64, Option<u64>)> {
        let rank = quantile.clamp(0.0, 1.0) * self.ios();
        let mut sum = 0.0;
        let found = self.buckets.iter().filter(|bucket| bucket.ios > 0.0).find(|bucket| {
            sum += bucket.ios;
            sum >= rank * (1.0 - 1e-12)
        });
        found.map(|bucket| (bucket.low_ns, bucket.high_ns))
    }
}
