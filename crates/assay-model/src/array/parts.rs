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
    /// Processors of the array.
    Controller(Controller),
    /// Memory in front of slower parts.
    Cache(Cache),
    /// Members that share data and redundancy; each is made of the parts that follow.
    Raid(Raid),
    /// Two storages between which hot pages move; it ends the list, its branches are lists of their
    /// own.
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
    /// Time of an I/O on the way there and back, without its data.
    #[serde(default)]
    pub latency: Nanos,
    /// Equal links that data is spread over.
    #[serde(default = "one")]
    pub links: u32,
    /// Bytes a second of one link; without it data costs no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_per_s: Option<Bytes>,
    /// Volumes that the space is divided into, each with a queue of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volumes: Option<u32>,
    /// Outstanding I/Os of one volume at most; more wait in the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_depth: Option<u32>,
}

/// Processors of the array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Active controllers that share the load evenly.
    #[serde(default = "one")]
    pub nodes: u32,
    /// Processors of one controller.
    #[serde(default = "one")]
    pub cores: u32,
    /// Processor time of a read.
    pub read: Nanos,
    /// Processor time of a write.
    pub write: Nanos,
    /// Processor time of moving a mebibyte, on top.
    #[serde(default)]
    pub per_mib: Nanos,
    /// How the times vary.
    #[serde(default)]
    pub spread: Spread,
    /// Share of an I/O's work that is done one after the other (σ of the Universal Scalability
    /// Law); with it the processors are not counted.
    #[serde(default)]
    pub sigma: f64,
    /// The same share of moving data.
    #[serde(default)]
    pub per_mib_sigma: f64,
    /// Work that each I/O makes for each other one (κ of the same law).
    #[serde(default)]
    pub kappa: f64,
    /// Share by which each further controller lengthens every I/O: what scaling out loses.
    #[serde(default)]
    pub scaling_loss_share: f64,
}

/// Which line leaves a full cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EvictionPolicy {
    /// The one that was not used for the longest time.
    #[default]
    Lru,
    /// The next one that was not used since the hand passed.
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
    /// Time of a hit, and of taking a write.
    pub hit: Nanos,
    /// Which line leaves.
    #[serde(default)]
    pub eviction: EvictionPolicy,
    /// Whether reads are kept.
    #[serde(default = "yes")]
    pub reads: bool,
    /// Share of the lines that may hold writes not yet written through; none means write-through.
    #[serde(default)]
    pub dirty: Share,
    /// Writes that destaging keeps outstanding at most.
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
    /// How many members take part; spares do not.
    pub members: u32,
    /// Bytes on one member before the next one follows.
    pub stripe: Bytes,
}

/// Two storages between which hot pages move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Bytes that move together.
    pub page: Bytes,
    /// Bytes of the fast storage that hold data.
    pub fast_capacity: Bytes,
    /// How often the hottest pages are looked for.
    pub every: Nanos,
    /// Pages that move in one direction a second at most.
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
    /// Bytes of the whole disk; what is used of it decides how far its head travels.
    pub capacity: Bytes,
    /// Revolutions a minute.
    pub rotation_per_min: u32,
    /// Seek to the next track.
    pub seek_track: Nanos,
    /// Seek over the whole disk.
    pub seek_full: Nanos,
    /// Bytes a second under the head.
    pub transfer_per_s: Bytes,
    /// Commands among which the nearest is served first (NCQ); 1 serves in order.
    #[serde(default = "one")]
    pub queue_depth: u32,
}

/// Which block is collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectionPolicy {
    /// The one with the fewest valid pages.
    #[default]
    Greedy,
    /// The one with the best benefit for its cost: free share times age over twice the valid share.
    CostBenefit,
    /// The oldest one, as a log that wraps around.
    Fifo,
    /// Any, whatever it holds.
    Random,
}

/// Flash under a translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Dies that work at the same time.
    pub dies: u32,
    /// Time that a die works on reading a page.
    pub read: Nanos,
    /// Time that a die works on programming a page.
    pub program: Nanos,
    /// Time that a die works on erasing a block.
    #[serde(default)]
    pub erase: Nanos,
    /// How the read time varies.
    #[serde(default)]
    pub spread: Spread,
    /// Bytes of one page.
    pub page: Bytes,
    /// Pages of one block.
    #[serde(default = "pages_per_block")]
    pub pages_per_block: u32,
    /// Bytes that programming is behind taking writes at most; none means that a write waits for
    /// its program.
    #[serde(default)]
    pub buffer: Bytes,
    /// Time of a write that the buffer takes.
    #[serde(default)]
    pub buffered_write: Nanos,
    /// Flash beyond the capacity, as a share of the capacity; without it pages are not mapped and
    /// nothing is collected.
    #[serde(default)]
    pub over_provisioning: Share,
    /// Which block is collected.
    #[serde(default)]
    pub collection: CollectionPolicy,
    /// Bytes of writes that the work of collecting is put off and spread over; at least a block.
    #[serde(default)]
    pub collection_spread: Bytes,
    /// Share of the capacity that holds data before the first I/O; the rest is free at first.
    #[serde(default)]
    pub fill: Share,
    /// Pages a second that are collected besides what writes force, whether there is load or not.
    #[serde(default)]
    pub background: Rate,
    /// Mapped pages of the simulation: each stands for as many real ones as the capacity is
    /// larger.
    #[serde(default = "mapped_pages")]
    pub mapped_pages: u32,
}

/// Memory that stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ram {
    /// I/Os that are served at the same time.
    pub channels: u32,
    /// Time of an I/O.
    pub latency: Nanos,
    /// How the time varies.
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
