//! What to buy for a demand: the demand line by line, the configurations that carry it with their
//! cost, and those that do not with the reason: the document `*.sizing.json`.

use crate::calendar::Day;
use crate::catalog::VolumeOrder;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the document that this program writes.
pub const FORMAT: u32 = 1;

/// The answer of a sizing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sizing {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Day on which prices were looked at.
    pub day: Day,
    /// What has to be carried, and how it was built up.
    pub demand: Vec<DemandLine>,
    /// The longest mean time of a read that was accepted, seconds; none was asked for where
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_s: Option<f64>,
    /// Parts of which one may fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survives: Vec<FailingPart>,
    /// What carries the demand, the cheapest first; those without a price follow.
    pub configurations: Vec<Configuration>,
    /// What meets every limit that is documented for it, while others are not; the cheapest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Configuration>,
    /// What does not, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<Rejection>,
    /// What a reader must know before relying on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// What is demanded of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DemandQuantity {
    /// Reads per second.
    ReadIops,
    /// Writes a second.
    WriteIops,
    /// Bytes read a second.
    ReadBytesPerS,
    /// Bytes written a second.
    WriteBytesPerS,
    /// Bytes to be kept.
    CapacityBytes,
    /// Bytes written on a mean day.
    DailyWrittenBytes,
    /// Transactions a second, for the cost of one.
    TransactionsPerS,
}

/// One quantity from what was seen to what has to be carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DemandLine {
    /// What is demanded.
    pub quantity: DemandQuantity,
    /// What was seen or given.
    pub seen_value: f64,
    /// The profile it was seen in, or how it was given.
    pub source: String,
    /// What it is multiplied by, in this order.
    pub factors: Vec<DemandFactor>,
    /// Without the headroom: what has to be carried while a part has failed.
    pub peak_value: f64,
    /// With it: what has to be carried otherwise.
    pub need_value: f64,
}

/// One factor of a demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DemandFactor {
    /// What for.
    pub name: String,
    /// How much.
    pub factor: f64,
}

/// A part of which one may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailingPart {
    /// A controller of an array.
    Controller,
    /// A port between host and array.
    Port,
    /// A disk or a drive of a RAID.
    #[value(help = "A disk or a drive")]
    Device,
}

/// What can be too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Bytes that can be kept.
    Capacity,
    /// I/Os per second at the latency.
    Iops,
    /// Bytes a second in both directions together.
    Throughput,
    /// Mean time of a read: the longest that is accepted, and the least that there is.
    Latency,
    /// I/Os per second of the virtual machine.
    InstanceIops,
    /// Bytes a second of the virtual machine.
    InstanceThroughput,
    /// Volumes of the virtual machine.
    InstanceVolumes,
    /// Ports of the fabric.
    Ports,
    /// Bytes that may be written a day.
    Endurance,
}

/// How far a limit is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitUse {
    /// The limit.
    pub limit: LimitKind,
    /// What is needed.
    pub need_value: f64,
    /// What there is.
    pub has_value: f64,
    /// The same while a part has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailureUse>,
    /// How both were computed.
    pub formula: String,
}

/// How far a limit is used while a part has failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FailureUse {
    /// The part.
    pub part: FailingPart,
    /// What is needed then: the peak without headroom.
    pub need_value: f64,
    /// What there is then.
    pub has_value: f64,
}

/// One way to carry the demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name of the catalog's entry.
    pub name: String,
    /// What it is.
    pub title: String,
    /// How many devices, arrays or volumes.
    pub units: u64,
    /// Further ones that wait for a failure.
    #[serde(default)]
    pub spares: u64,
    /// How they are put together: `RAID 10`, `stripe of 4`.
    pub layout: String,
    /// What each volume is ordered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<VolumeOrder>,
    /// Every limit.
    pub limits: Vec<LimitUse>,
    /// Limits that are required and of which nothing is documented: nothing is decided by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undocumented: Vec<LimitKind>,
    /// The one that is used most.
    pub binding: LimitKind,
    /// What it costs; unknown where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What its numbers were taken from: a data sheet with its day, or a measurement.
    pub source: String,
    /// What a reader must know of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// What a configuration costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Currency of all amounts.
    pub currency: String,
    /// What is added up.
    pub lines: Vec<CostLine>,
    /// Paid once, in all.
    pub once_total: f64,
    /// Paid every month, in all.
    pub monthly_total: f64,
    /// A month, with what is paid once spread over its years of use.
    pub month_total: f64,
    /// One terabyte (10^12 bytes) of what there is: a month, or once where nothing is paid by the
    /// month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terabyte_value: Option<f64>,
    /// The same for one tebibyte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tebibyte_value: Option<f64>,
    /// A month for 1,000 IOPS at the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousand_iops_value: Option<f64>,
    /// A month for one transaction a second of the demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_value: Option<f64>,
    /// Day on which the prices held.
    pub as_of: Day,
    /// Where they stood.
    pub source: String,
}

/// One line of a cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CostLine {
    /// What it is for.
    pub what: String,
    /// Whether it is paid every month.
    pub is_monthly: bool,
    /// The amount.
    pub amount_value: f64,
}

/// Why something was not chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// Name of the catalog's entry.
    pub name: String,
    /// The reason in a sentence.
    pub reason: String,
    /// The limit that it breaks, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitKind>,
    /// How many times more is needed than there is.
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
    /// Its name for people.
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
    /// Its name for people.
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
    /// Its name for people.
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
