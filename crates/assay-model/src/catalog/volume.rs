//! What a cloud promises of a volume, and what an order of a size, of IOPS and of a throughput
//! gets.

use crate::number::real;
use crate::units::{Bytes, Nanos, Rate};
use serde::{Deserialize, Serialize};

/// Bytes of a gibibyte.
const GIB: f64 = 1_073_741_824.0;

/// A volume of a cloud.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// The cloud, for example `aws`.
    pub provider: String,
    /// Sizes that can be ordered.
    pub size: SizeRange,
    /// I/Os per second by what is ordered.
    pub iops: IopsRule,
    /// Bytes a second by what is ordered.
    pub throughput: ThroughputRule,
    /// What a larger I/O is counted as several of.
    #[serde(alias = "transfer")]
    pub block_size: Bytes,
    /// Documented mean latency: the upper end of what `promise` says; unknown where it names no
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Nanos>,
    /// The promise in the words of the provider.
    pub promise: String,
    /// More IOPS for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
}

/// Sizes from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// The least.
    pub min: Bytes,
    /// The most.
    pub max: Bytes,
    /// What sizes are multiples of.
    pub step: Bytes,
}

/// How many I/Os per second a volume gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IopsRule {
    /// Whether they are ordered; else they follow from the size.
    pub provisioned: bool,
    /// What every volume has.
    pub included: Rate,
    /// The most.
    pub max: Rate,
    /// For each gibibyte: the most that can be ordered, or what there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_gib: Option<Rate>,
}

/// How many bytes per second a volume gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThroughputRule {
    /// Whether it is ordered; else it follows from the IOPS.
    pub provisioned: bool,
    /// What every volume has.
    pub included_per_s: Bytes,
    /// The most.
    pub max_per_s: Bytes,
    /// For each I/O a second: the most that can be ordered, or what there is.
    pub per_io: Bytes,
}

/// Credits that carry more IOPS for a while; they come back at the rate of the volume, one for an
/// I/O.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// I/Os per second while there are credits.
    pub rate: Rate,
    /// Credits of a full balance, which a new volume has.
    pub credits: u64,
}

/// One volume as it is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VolumeOrder {
    /// Size.
    pub size: Bytes,
    /// I/Os per second, sustained.
    pub iops: Rate,
    /// Bytes per second.
    pub throughput_per_s: Bytes,
}

impl SizeRange {
    /// The least size of at least these bytes that can be ordered; `None` above the most.
    pub fn at_least(&self, bytes: f64) -> Option<Bytes> {
        let step = real(self.step.0.max(1));
        let size = (bytes / step - 1e-9).ceil() * step;
        let size = size.max(real(self.min.0));
        (size <= real(self.max.0)).then(|| Bytes(crate::number::count(size)))
    }
}

impl IopsRule {
    /// The most I/Os per second of a size.
    pub fn most(&self, size: Bytes) -> f64 {
        let by_size = self.per_gib.map_or(f64::INFINITY, |rate| rate.0 * real(size.0) / GIB);
        by_size.min(self.max.0).max(self.included.0)
    }

    /// The least bytes that give these I/Os per second; `None` above the most of any size.
    pub fn bytes_for(&self, iops: f64) -> Option<f64> {
        if iops > self.max.0.max(self.included.0) {
            return None;
        }
        let by_size = |rate: Rate| if iops > self.included.0 { iops / rate.0 * GIB } else { 0.0 };
        Some(self.per_gib.map_or(0.0, by_size))
    }
}

impl ThroughputRule {
    /// The most bytes per second with these I/Os per second.
    pub fn most(&self, iops: f64) -> f64 {
        let by_iops = iops * real(self.per_io.0);
        by_iops.min(real(self.max_per_s.0)).max(real(self.included_per_s.0))
    }

    /// The least I/Os per second with which these bytes per second can be had; `None` above the
    /// most.
    pub fn iops_for(&self, bytes_per_s: f64) -> Option<f64> {
        if bytes_per_s > real(self.max_per_s.0.max(self.included_per_s.0)) {
            return None;
        }
        let by_iops = bytes_per_s / real(self.per_io.0.max(1));
        Some(if bytes_per_s > real(self.included_per_s.0) { by_iops } else { 0.0 })
    }
}

impl Volume {
    /// What a volume of a size has without any other order.
    pub fn of_size(&self, size: Bytes) -> VolumeOrder {
        let iops = if self.iops.provisioned { self.iops.included.0 } else { self.iops.most(size) };
        let most = self.throughput.most(iops);
        let included = real(self.throughput.included_per_s.0);
        let throughput = if self.throughput.provisioned { included } else { most };
        VolumeOrder {
            size,
            iops: Rate(iops),
            throughput_per_s: Bytes(crate::number::count(throughput)),
        }
    }

    /// How long a full balance lasts under more I/Os per second than the volume sustains, s:
    /// balance over what is drawn beyond the refill; `None` where it never ends or there is
    /// none.
    pub fn burst_s(&self, order: &VolumeOrder, iops: f64) -> Option<f64> {
        let burst = self.burst?;
        let drawn = iops.min(burst.rate.0) - order.iops.0;
        (drawn > 0.0).then(|| real(burst.credits) / drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gp2() -> Volume {
        Volume {
            provider: "aws".to_owned(),
            size: SizeRange { min: Bytes(1 << 30), max: Bytes(16 << 40), step: Bytes(1 << 30) },
            iops: IopsRule {
                provisioned: false,
                included: Rate(100.0),
                max: Rate(16e3),
                per_gib: Some(Rate(3.0)),
            },
            throughput: ThroughputRule {
                provisioned: false,
                included_per_s: Bytes(128 << 20),
                max_per_s: Bytes(250 << 20),
                per_io: Bytes(256 << 10),
            },
            block_size: Bytes(256 << 10),
            latency: None,
            promise: "single-digit milliseconds".to_owned(),
            burst: Some(Burst { rate: Rate(3000.0), credits: 5_400_000 }),
        }
    }

    #[test]
    fn a_size_brings_its_iops_and_a_balance_its_time() {
        let gp2 = gp2();
        let small = gp2.of_size(Bytes(1 << 30));
        let middle = gp2.of_size(Bytes(100 << 30));
        let large = gp2.of_size(Bytes(16 << 40));
        assert_eq!([small, middle, large].map(|one| one.iops), [100.0, 300.0, 16_000.0].map(Rate));
        assert_eq!(small.throughput_per_s, Bytes(128 << 20));
        assert_eq!(large.throughput_per_s, Bytes(250 << 20));
        // The provider's own figures: 2,000 s at 300 IOPS of baseline, 5.4 million over 2,700 a
        // second.
        assert_eq!(gp2.burst_s(&middle, 3000.0), Some(2000.0));
        assert_eq!(gp2.burst_s(&middle, 9000.0), Some(2000.0));
        assert_eq!(gp2.burst_s(&large, 3000.0), None);
    }

    #[test]
    fn sizes_are_multiples_and_iops_ask_for_bytes() {
        let gp2 = gp2();
        assert_eq!(gp2.size.at_least(0.0), Some(Bytes(1 << 30)));
        assert_eq!(gp2.size.at_least(GIB * 1.5), Some(Bytes(2 << 30)));
        assert_eq!(gp2.size.at_least(GIB * 2.0), Some(Bytes(2 << 30)));
        assert_eq!(gp2.size.at_least(1e15), None);
        let bytes = gp2.iops.bytes_for(10_000.0).unwrap();
        assert!((bytes / GIB - 10_000.0 / 3.0).abs() < 1e-6);
        assert_eq!((gp2.iops.bytes_for(100.0), gp2.iops.bytes_for(16_001.0)), (Some(0.0), None));
        assert_eq!(gp2.throughput.iops_for(250.0 * 1_048_576.0), Some(1000.0));
        assert_eq!(gp2.throughput.iops_for(251.0 * 1_048_576.0), None);
    }
}
