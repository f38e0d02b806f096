//! The parts of an array with their parameters, as a person writes them.

use crate::units::{Bytes, Nanos, Rate, Share};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One part; those above the media pass I/Os on to the part that follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Cables, ports and protocol between host and array.
    Path(Path),
    /// CPUs of the array.
    Controller(Controller),
    /// Memory in front of slower parts.
    Cache(Cache),
    /// Members that share data and redundancy; each consists of the parts that follow.
    Raid(Raid),
    /// Two storages between which hot pages move; it ends the list, and each branch is its own
    /// list.
    Tier(Tier),
    /// A disk.
    Hdd(Hdd),
    /// Flash under a translation layer.
    Flash(Flash),
    /// Memory that stores.
    Ram(Ram),
}

/// How a service time varies around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Always the mean.
    #[default]
    Constant,
    /// Exponential: standard deviation equal to the mean.
    Exponential,
    /// Half of it constant and half exponential.
    Half,
}

/// Cables, ports and protocol between host and array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Round-trip time of an I/O, without its data.
    #[serde(default)]
    pub latency: Nanos,
    /// Equal links over which data is spread.
    #[serde(default = "one")]
    pub links: u32,
    /// Bytes per second of one link; without it, data transfer takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_per_s: Option<Bytes>,
    /// Volumes into which the space is divided, each with its own queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volumes: Option<u32>,
    /// Maximum queue depth of one volume; further I/Os wait in the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_depth: Option<u32>,
}

/// CPUs of the array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Active controllers, which share the load evenly.
    #[serde(default = "one")]
    pub nodes: u32,
    /// CPUs of one controller.
    #[serde(default = "one")]
    pub cores: u32,
    /// CPU time of a read.
    pub read: Nanos,
    /// CPU time of a write.
    pub write: Nanos,
    /// Additional CPU time per MiB moved.
    #[serde(default)]
    pub per_mib: Nanos,
    /// Distribution of the times.
    #[serde(default)]
    pub spread: Spread,
    /// Serial share of an I/O's work (σ of the Universal Scalability Law); if set, CPUs are not
    /// modelled.
    #[serde(default)]
    pub sigma: f64,
    /// The same share of moving data.
    #[serde(default)]
    pub per_mib_sigma: f64,
    /// Work that each I/O causes for every other one (κ of the same law).
    #[serde(default)]
    pub kappa: f64,
    /// Share by which each further controller lengthens every I/O: the scaling loss.
    #[serde(default)]
    pub scaling_loss_share: f64,
}

/// Choice of the line that a full cache evicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EvictionPolicy {
    /// The least recently used one.
    #[default]
    Lru,
    /// The next one not used since the hand passed it.
    Clock,
}

/// Memory in front of slower parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes it holds.
    pub size: Bytes,
    /// Bytes of one line.
    pub line: Bytes,
    /// Time of a cache hit, and of accepting a write.
    pub hit: Nanos,
    /// Choice of the line to evict.
    #[serde(default)]
    pub eviction: EvictionPolicy,
    /// Whether reads are cached.
    #[serde(default = "yes")]
    pub reads: bool,
    /// Maximum share of dirty lines; 0 means write-through.
    #[serde(default)]
    pub dirty: Share,
    /// Maximum queue depth of destaging.
    #[serde(default = "sixteen")]
    pub destage_depth: u32,
}

/// How members share data and redundancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RaidLevel {
    /// Stripes, no redundancy: a write is one I/O.
    #[value(name = "0", help = "No redundancy")]
    Raid0,
    /// Copies on all members: a write is one I/O on each.
    #[value(skip)]
    Raid1,
    /// Stripes over pairs: a write is two I/Os.
    #[value(name = "10", help = "Mirrored pairs")]
    Raid10,
    /// One parity: a small write is two reads and two writes.
    #[value(name = "5", help = "One parity")]
    Raid5,
    /// Two parities: a small write is three reads and three writes.
    #[value(name = "6", help = "Two parities")]
    Raid6,
}

/// Members that share data and redundancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Raid {
    /// How.
    pub level: RaidLevel,
    /// Number of members, without spares.
    pub members: u32,
    /// Bytes on one member before the next.
    pub stripe: Bytes,
}

/// Two storages between which hot pages move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Bytes moved together.
    pub page: Bytes,
    /// Bytes of the fast storage that hold data.
    pub fast_capacity: Bytes,
    /// Interval between searches for the hottest pages.
    pub every: Nanos,
    /// Maximum pages moved per second in one direction.
    pub moves: Rate,
    /// Parts of the fast storage.
    pub fast: Vec<Part>,
    /// Parts of the slow storage.
    pub slow: Vec<Part>,
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hdd {
    /// Bytes of the whole disk; the part in use determines the seek distance.
    pub capacity: Bytes,
    /// Revolutions per minute.
    pub rotation_per_min: u32,
    /// Seek to the next track.
    pub seek_track: Nanos,
    /// Seek over the whole disk.
    pub seek_full: Nanos,
    /// Bytes per second under the head.
    pub transfer_per_s: Bytes,
    /// Queued commands among which the nearest is served first (NCQ); 1 serves in order.
    #[serde(default = "one")]
    pub queue_depth: u32,
}

/// Choice of the block to collect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectionPolicy {
    /// The one with the fewest valid pages.
    #[default]
    Greedy,
    /// The one with the best benefit for its cost: free share times age, divided by twice the valid
    /// share.
    CostBenefit,
    /// The oldest one, as in a circular log.
    Fifo,
    /// A random one.
    Random,
}

/// Flash under a translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Dies that work in parallel.
    pub dies: u32,
    /// Time to read a page.
    pub read: Nanos,
    /// Time to program a page.
    pub program: Nanos,
    /// Time to erase a block.
    #[serde(default)]
    pub erase: Nanos,
    /// Distribution of the read time.
    #[serde(default)]
    pub spread: Spread,
    /// Bytes of one page.
    pub page: Bytes,
    /// Pages of one block.
    #[serde(default = "pages_per_block")]
    pub pages_per_block: u32,
    /// Maximum bytes of accepted writes that are not programmed yet; 0 means that a write waits
    /// for its program operation.
    #[serde(default)]
    pub buffer: Bytes,
    /// Time of a write into the buffer.
    #[serde(default)]
    pub buffered_write: Nanos,
    /// Flash beyond the capacity, as a share of the capacity; without it, pages are not mapped and
    /// there is no garbage collection.
    #[serde(default)]
    pub over_provisioning: Share,
    /// Choice of the block to collect.
    #[serde(default)]
    pub collection: CollectionPolicy,
    /// Bytes of writes over which garbage collection is spread; at least one block.
    #[serde(default)]
    pub collection_spread: Bytes,
    /// Share of the capacity that holds data before the first I/O; the rest is free at first.
    #[serde(default)]
    pub fill: Share,
    /// Pages per second collected in the background, in addition to collection forced by writes.
    #[serde(default)]
    pub background: Rate,
    /// Mapped pages of the simulation: each represents several real pages, in proportion to the
    /// capacity.
    #[serde(default = "mapped_pages")]
    pub mapped_pages: u32,
}

/// Memory that stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ram {
    /// I/Os served in parallel.
    pub channels: u32,
    /// Time of an I/O.
    pub latency: Nanos,
    /// Distribution of the time.
    #[serde(default)]
    pub spread: Spread,
}

const fn one() -> u32 {
    1
}

const fn sixteen() -> u32 {
    16
}

const fn yes() -> bool {
    true
}

const fn pages_per_block() -> u32 {
    256
}

const fn mapped_pages() -> u32 {
    1 << 18
}
