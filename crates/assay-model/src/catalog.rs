//! What can be bought or rented, with its limits, its price and the day of each: the document
//! `*.catalog.toml`.

use crate::calendar::Day;
use crate::units::{Bytes, Nanos, Rate, Share};
use serde::{Deserialize, Serialize};

mod check;
mod price;
mod volume;

pub use check::parse_catalog;
pub use price::{Price, PriceBasis, PriceList, PriceTier, ThroughputPrice};
pub use volume::{Burst, IopsRule, SizeRange, ThroughputRule, Volume, VolumeOrder};

/// Offers in one currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// Version of the document format: 1.
    pub format: u32,
    /// Day on which the whole was last looked through.
    pub as_of: Day,
    /// Currency of all prices, for example `USD`.
    pub currency: String,
    /// The offers.
    #[serde(rename = "entry")]
    pub entries: Vec<CatalogEntry>,
}

/// One offer: exactly one of device, array, volume, instance and port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// Name on the command line.
    pub name: String,
    /// What it is, as its maker calls it.
    pub title: String,
    /// Where its limits were published, or which run measured them.
    pub source: String,
    /// Day of that publication.
    pub as_of: Day,
    /// What a reader should know of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// A published model that nobody sells: considered only if it is named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// A disk or a drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceOffer>,
    /// A whole array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayOffer>,
    /// A volume of a cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Volume>,
    /// A virtual machine, by what it lets through to its volumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceOffer>,
    /// A port of a host or an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<PortOffer>,
    /// What it costs; unknown where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceList>,
}

/// The one offer of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offer<'a> {
    /// A disk or a drive.
    Device(&'a DeviceOffer),
    /// A whole array.
    Array(&'a ArrayOffer),
    /// A volume of a cloud.
    Volume(&'a Volume),
    /// A virtual machine.
    Instance(&'a InstanceOffer),
    /// A port.
    Port(&'a PortOffer),
}

/// A disk or a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceOffer {
    /// Bytes of one.
    pub capacity: Bytes,
    /// IOPS that one gives, each with the latency that belongs to it.
    pub iops: Vec<IopsPoint>,
    /// Bytes a second that one reads.
    pub read_per_s: Bytes,
    /// Bytes a second that one writes.
    pub write_per_s: Bytes,
    /// The use of the outer tracks alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_stroke: Option<ShortStroke>,
    /// How often its capacity may be written a day; disks have no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_writes_ratio: Option<f64>,
}

/// A disk of which only the outer tracks are used, so that its heads move less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShortStroke {
    /// Share of the capacity in use.
    pub stroke: Share,
    /// Latency of the device's IOPS then.
    pub latency: Nanos,
}

/// A whole array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArrayOffer {
    /// Bytes that can be used.
    pub capacity: Bytes,
    /// Active controllers; one that fails takes its share of the IOPS with it.
    pub controllers: u32,
    /// IOPS that it gives, each with the latency that belongs to it; none where only its price is
    /// known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iops: Vec<IopsPoint>,
    /// Bytes a second that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_per_s: Option<Bytes>,
    /// Bytes a second that it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_per_s: Option<Bytes>,
    /// The simulated array whose calibration the numbers are, where they are none of a data sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// IOPS at a latency. A figure without a latency says nothing: more outstanding I/Os give more of
/// them, and later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IopsPoint {
    /// Share of reads among the I/Os.
    pub read_share: Share,
    /// I/Os per second.
    pub rate: Rate,
    /// Bytes of one.
    #[serde(alias = "transfer")]
    pub block_size: Bytes,
    /// Mean time of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Nanos>,
    /// How many were outstanding, where the latency is not published: it follows by Little's law.
    #[serde(alias = "outstanding", default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
}

/// What a virtual machine lets through to all its volumes together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InstanceOffer {
    /// The cloud: a volume of another one cannot be attached.
    pub provider: String,
    /// I/Os per second that it sustains.
    pub iops: Rate,
    /// Bytes a second that it sustains.
    pub throughput_per_s: Bytes,
    /// Volumes that can be attached.
    pub volumes_max: u32,
}

/// A port of a host or an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PortOffer {
    /// Bytes of payload a second and direction.
    pub payload_per_s: Bytes,
}

impl CatalogEntry {
    /// What is offered; `None` where the entry was not checked and has none.
    pub fn offer(&self) -> Option<Offer<'_>> {
        let device = self.device.as_ref().map(Offer::Device);
        let array = self.array.as_ref().map(Offer::Array);
        let volume = self.volume.as_ref().map(Offer::Volume);
        let instance = self.instance.as_ref().map(Offer::Instance);
        let port = self.port.as_ref().map(Offer::Port);
        device.or(array).or(volume).or(instance).or(port)
    }

    /// What kind of thing it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self.offer() {
            Some(Offer::Device(device)) if device.daily_writes_ratio.is_some() => "drive",
            Some(Offer::Device(_)) => "disk",
            Some(Offer::Array(_)) => "array",
            Some(Offer::Volume(_)) => "volume",
            Some(Offer::Instance(_)) => "instance",
            Some(Offer::Port(_)) => "port",
            None => "nothing",
        }
    }
}

impl IopsPoint {
    /// Mean time of an I/O at these IOPS, s: as published, or outstanding I/Os over IOPS (Little's
    /// law).
    pub fn latency_s(&self) -> f64 {
        let by_little = || self.queue_depth.map(|queue_depth| f64::from(queue_depth) / self.rate.0);
        self.latency.map(Nanos::seconds).or_else(by_little).unwrap_or(f64::INFINITY)
    }
}
