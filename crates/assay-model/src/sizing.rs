//! Sizing of storage for a demand, the document `*.sizing.json`: demand, sufficient configurations
//! with their cost, and rejected configurations with the reason.

use crate::calendar::Day;
use crate::catalog::VolumeOrder;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the document format that this program writes.
pub const FORMAT: u32 = 1;

/// Result of a sizing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sizing {
    /// Version of the document format: 1.
    pub format: u32,
    /// Reference date of the prices.
    pub day: Day,
    /// Required capacity and performance, with their derivation.
    pub demand: Vec<DemandLine>,
    /// Maximum acceptable mean read latency, seconds; absent if none is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_s: Option<f64>,
    /// Components of which one may fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survives: Vec<FailingPart>,
    /// Sufficient configurations by ascending cost; those without a price are last.
    pub configurations: Vec<Configuration>,
    /// Configurations that meet all documented limits but lack other limits, by ascending cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Configuration>,
    /// Rejected configurations, closest to the demand first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<Rejection>,
    /// Caveats of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// Quantity of a storage demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DemandQuantity {
    /// Reads per second.
    ReadIops,
    /// Writes per second.
    WriteIops,
    /// Bytes read per second.
    ReadBytesPerS,
    /// Bytes written per second.
    WriteBytesPerS,
    /// Storage capacity, bytes.
    CapacityBytes,
    /// Mean bytes written per day.
    DailyWrittenBytes,
    /// Transactions per second, for the cost per transaction.
    TransactionsPerS,
}

/// Derivation of one required quantity from its source value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DemandLine {
    /// Required quantity.
    pub quantity: DemandQuantity,
    /// Source value before any factor.
    pub seen_value: f64,
    /// Source profile, or origin of a value without a profile.
    pub source: String,
    /// Factors, in order of multiplication.
    pub factors: Vec<DemandFactor>,
    /// Requirement without headroom, which applies during a component failure.
    pub peak_value: f64,
    /// Requirement with headroom, which applies in normal operation.
    pub need_value: f64,
}

/// Factor of a demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DemandFactor {
    /// Purpose of the factor.
    pub name: String,
    /// Value of the factor.
    pub factor: f64,
}

/// Component of which one may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailingPart {
    /// Controller of an array.
    Controller,
    /// Port between host and array.
    Port,
    /// Disk or drive of a RAID group.
    #[value(help = "A disk or a drive")]
    Device,
}

/// Type of a capacity or performance limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Storage capacity, bytes.
    Capacity,
    /// I/Os per second at the required latency.
    Iops,
    /// Bytes per second, reads plus writes.
    Throughput,
    /// Mean read latency: required maximum and available minimum.
    Latency,
    /// I/Os per second of the virtual machine.
    InstanceIops,
    /// Bytes per second of the virtual machine.
    InstanceThroughput,
    /// Number of volumes of the virtual machine.
    InstanceVolumes,
    /// Ports of the fabric.
    Ports,
    /// Maximum bytes written per day.
    Endurance,
}

/// Utilization of one limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitUse {
    /// Type of the limit.
    pub limit: LimitKind,
    /// Required value.
    pub need_value: f64,
    /// Available value.
    pub has_value: f64,
    /// Utilization during a component failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailureUse>,
    /// Formula of both values.
    pub formula: String,
}

/// Utilization of a limit during a component failure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FailureUse {
    /// Failed component.
    pub part: FailingPart,
    /// Required value during the failure: the peak without headroom.
    pub need_value: f64,
    /// Available value during the failure.
    pub has_value: f64,
}

/// Sufficient configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name of the catalog entry.
    pub name: String,
    /// Title of the catalog entry.
    pub title: String,
    /// Number of devices, arrays or volumes.
    pub units: u64,
    /// Number of spare units.
    #[serde(default)]
    pub spares: u64,
    /// Layout of the units, for example `RAID 10` or `stripe of 4`.
    pub layout: String,
    /// Order parameters of each volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<VolumeOrder>,
    /// Utilization of all limits.
    pub limits: Vec<LimitUse>,
    /// Required limits without documentation, which are not evaluated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undocumented: Vec<LimitKind>,
    /// Limit with the highest utilization.
    pub binding: LimitKind,
    /// Cost; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Source of the values: a data sheet with its date, or a measurement.
    pub source: String,
    /// Caveats of the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// Cost of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Currency of all amounts.
    pub currency: String,
    /// Cost components.
    pub lines: Vec<CostLine>,
    /// Total one-time cost.
    pub once_total: f64,
    /// Total monthly cost.
    pub monthly_total: f64,
    /// Total cost per month, with one-time costs spread over the years of use.
    pub month_total: f64,
    /// Cost per terabyte (10^12 bytes) of available capacity: per month, or once if there is no
    /// monthly cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terabyte_value: Option<f64>,
    /// Cost per tebibyte of available capacity: per month, or once if there is no monthly cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tebibyte_value: Option<f64>,
    /// Cost per month and 1,000 IOPS at the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousand_iops_value: Option<f64>,
    /// Cost per month and transaction per second of the demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_value: Option<f64>,
    /// Date on which the prices were valid.
    pub as_of: Day,
    /// Source of the prices.
    pub source: String,
}

/// Component of a cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CostLine {
    /// Purpose of the cost.
    pub what: String,
    /// Whether the cost is monthly.
    pub is_monthly: bool,
    /// Amount in the currency of the cost.
    pub amount_value: f64,
}

/// Reason for the rejection of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// Name of the catalog entry.
    pub name: String,
    /// Reason in a sentence.
    pub reason: String,
    /// Violated limit; absent if the reason is not a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitKind>,
    /// Ratio of the required to the available value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_ratio: Option<f64>,
}

impl Sizing {
    /// One line of the demand.
    pub fn line(&self, quantity: DemandQuantity) -> Option<&DemandLine> {
        self.demand.iter().find(|line| line.quantity == quantity)
    }
}

impl LimitUse {
    /// Need over has, in the normal state; of a latency, which must not be longer, the inverse.
    pub fn use_ratio(&self) -> f64 {
        match self.limit {
            LimitKind::Latency => over(self.has_value, self.need_value),
            _ => over(self.need_value, self.has_value),
        }
    }

    /// Need over has in the worse of both states.
    pub fn worst_ratio(&self) -> f64 {
        self.failed.map_or(0.0, |failed| failed.use_ratio()).max(self.use_ratio())
    }
}

impl FailureUse {
    /// Need over has.
    pub fn use_ratio(&self) -> f64 {
        over(self.need_value, self.has_value)
    }
}

/// Nothing of nothing is not used at all.
fn over(need: f64, has: f64) -> f64 {
    if need > 0.0 { need / has } else { 0.0 }
}

impl Configuration {
    /// One of its limits.
    pub fn limit(&self, limit: LimitKind) -> Option<&LimitUse> {
        self.limits.iter().find(|one| one.limit == limit)
    }
}

impl DemandQuantity {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadIops => "reads/s",
            Self::WriteIops => "writes/s",
            Self::ReadBytesPerS => "bytes read per second",
            Self::WriteBytesPerS => "bytes written per second",
            Self::CapacityBytes => "capacity",
            Self::DailyWrittenBytes => "bytes written on a mean day",
            Self::TransactionsPerS => "transactions/s",
        }
    }
}

impl LimitKind {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Iops => "IOPS",
            Self::Throughput => "throughput",
            Self::Latency => "read latency",
            Self::InstanceIops => "IOPS of the instance",
            Self::InstanceThroughput => "throughput of the instance",
            Self::InstanceVolumes => "volumes of the instance",
            Self::Ports => "ports",
            Self::Endurance => "endurance",
        }
    }
}

impl FailingPart {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Port => "port",
            Self::Device => "device",
        }
    }
}

impl fmt::Display for FailingPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
