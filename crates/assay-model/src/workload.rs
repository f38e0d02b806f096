//! What to issue: streams of I/O with their sizes, addresses, arrivals and flushes, as a person
//! writes them in TOML.

use crate::units::{Bytes, Nanos, Rate, Share};
use crate::verdict::{Criteria, Criterion};
use serde::{Deserialize, Serialize};

mod block_size;
mod check;

pub use block_size::{BlockSizeMix, BlockSizePart};
pub use check::parse_workload;

/// One experiment on one target: all streams run simultaneously.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Version of the document format: 1.
    pub format: u32,
    /// Short name, printed everywhere.
    pub name: String,
    /// Description, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Seed of every random choice: equal seeds give equal addresses.
    #[serde(default = "one_u64")]
    pub seed: u64,
    /// Measured time.
    pub duration: Nanos,
    /// Time before measuring, under the same load and not part of the result.
    #[serde(default)]
    pub warm_up: Nanos,
    /// Length of an interval.
    #[serde(default = "one_second")]
    pub interval: Nanos,
    /// Size of the data on all targets: of the test files, or of the part of larger targets in
    /// use; by default the target's size, or the default size of a test file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Layout of several targets in one address space.
    #[serde(default)]
    pub layout: Layout,
    /// Bypass the page cache (`O_DIRECT`); the result names file systems that refuse it.
    #[serde(default = "yes")]
    pub direct: bool,
    /// The streams, at least one.
    #[serde(rename = "stream")]
    pub streams: Vec<Stream>,
    /// Criteria for storage under this workload; by default those of the command line or the
    /// built-in ones.
    #[serde(rename = "criterion", default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
}

/// Layout of several targets in one address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Layout {
    /// One after the other.
    #[default]
    Concat,
    /// Striped in units, as in ASM and RAID 0; the smallest target limits all.
    Stripe {
        /// Bytes on one target before the next one follows.
        unit: Bytes,
    },
}

/// One kind of I/O with a purpose of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Name, unique in the workload.
    pub name: String,
    /// Share of reads among reads and writes.
    #[serde(default = "whole")]
    pub read_share: Share,
    /// Bytes moved by one I/O.
    #[serde(alias = "transfer")]
    pub block_size: BlockSizeMix,
    /// Address of the next I/O.
    #[serde(default)]
    pub access: Access,
    /// When the next I/O starts.
    pub arrival: Arrival,
    /// Relative rates of open arrivals, one per second, repeated from the start; the mean rate
    /// stays that of the arrivals. Without it, the rate is constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<f64>,
    /// Threads, which share the stream's load evenly.
    #[serde(default = "one")]
    pub workers: u32,
    /// When written data must be durable.
    #[serde(default)]
    pub sync: SyncPolicy,
    /// The part of the address space in use.
    #[serde(default)]
    pub span: Span,
    /// Indices of the targets in use, from 0; an empty list means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<usize>,
    /// What is written.
    #[serde(default)]
    pub content: Content,
}

/// Address of the next I/O, in units of the smallest block size of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Access {
    /// Every address equally likely, independent of earlier ones.
    #[default]
    Uniform,
    /// Every address once before any repeats, in random order.
    Permutation,
    /// The k-th most popular address has weight k^-theta; popular addresses are scattered over the
    /// span.
    Zipf {
        /// Skew, above 0; 0.5 to 1.5 is typical of databases.
        theta: f64,
    },
    /// A share of the I/Os goes to one contiguous band, the rest everywhere else.
    HotBand {
        /// Share of the I/Os that goes to the band.
        share: Share,
        /// Size of the band as a share of the span.
        band: Share,
        /// Where the band begins as a share of the span.
        #[serde(default)]
        start: Share,
    },
    /// A hot band that jumps by its own size every `every`, wrapping at the end.
    MovingHotBand {
        /// Share of the I/Os that goes to the band.
        share: Share,
        /// Size of the band as a share of the span.
        band: Share,
        /// How long the band stays in one place.
        every: Nanos,
    },
    /// Ascending addresses, in `streams` equally spaced runs, each wrapping around in its own part.
    Sequential {
        /// Number of runs a worker keeps.
        #[serde(default = "one")]
        streams: u32,
    },
    /// Ascending addresses at a constant distance, wrapping around until all addresses are used.
    Stride {
        /// Distance from one start to the next.
        step: Bytes,
    },
}

/// When the next I/O starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrival {
    /// A new I/O when one completes, at a fixed queue depth.
    Closed {
        /// Outstanding I/Os of the whole stream.
        #[serde(alias = "outstanding")]
        queue_depth: u32,
        /// Pause between a completion and the I/O that follows it.
        #[serde(default)]
        think_time: Nanos,
    },
    /// At a given rate whatever completes; response times count from the intended start.
    Open {
        /// I/Os per second of the whole stream.
        rate: Rate,
        /// How the times between starts are distributed.
        #[serde(default)]
        process: Process,
        /// I/Os that start together, as a database writer does; the rate stays the same.
        #[serde(default = "one")]
        burst: u32,
        /// I/Os in flight at most; later arrivals wait, and their wait is response time.
        #[serde(alias = "outstanding_max", default = "queue_depth_max")]
        queue_depth_max: u32,
        /// Arrivals that wait join into one I/O of up to this size: a log writer's group commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group_commit: Option<Bytes>,
    },
}

/// How the times between open arrivals are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// Exponential times between arrivals.
    #[default]
    Poisson,
    /// Equal times between arrivals.
    Constant,
}

/// When written data must be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SyncPolicy {
    /// When the device chooses.
    #[default]
    None,
    /// `fdatasync` after every n writes of a worker, timed as a separate operation.
    Fdatasync {
        /// Writes from one flush to the next.
        every: u32,
    },
    /// Files opened with `O_DSYNC`: a write completes when it is durable.
    ODsync,
    /// Each write carries `RWF_DSYNC`, which becomes force-unit-access where the device has it.
    Fua,
}

/// A part of the address space, as shares of its length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Start.
    #[serde(default)]
    pub from: Share,
    /// End.
    #[serde(default = "whole")]
    pub to: Share,
}

impl Default for Span {
    fn default() -> Self {
        Self { from: Share(0.0), to: Share(1.0) }
    }
}

/// Content of writes: by default it cannot be compressed or deduplicated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Share of zeros in every 4 KiB, which compression removes.
    #[serde(default)]
    pub compressible: Share,
    /// Share of the I/Os with repeated content, which deduplication removes.
    #[serde(default)]
    pub duplicate: Share,
}

impl Default for Workload {
    /// Every optional choice at its default, and neither name nor streams yet.
    fn default() -> Self {
        Self {
            format: 1,
            name: String::new(),
            description: String::new(),
            seed: 1,
            duration: Nanos(0),
            warm_up: Nanos(0),
            interval: one_second(),
            capacity: None,
            layout: Layout::Concat,
            direct: true,
            streams: Vec::new(),
            criteria: Vec::new(),
        }
    }
}

impl Workload {
    /// A workload of one stream with every optional choice at its default.
    pub fn of(name: &str, duration: Nanos, stream: Stream) -> Self {
        Self { name: name.to_owned(), duration, streams: vec![stream], ..Self::default() }
    }

    /// What the workload asks of its storage, where it asks anything.
    pub fn criteria(&self) -> Option<Criteria> {
        (!self.criteria.is_empty()).then(|| Criteria {
            format: 1,
            name: self.name.clone(),
            description: self.description.clone(),
            criteria: self.criteria.clone(),
        })
    }

    /// Whether any stream writes.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(Stream::writes)
    }

    /// Whether the load itself changes from second to second.
    pub fn has_pattern(&self) -> bool {
        self.streams.iter().any(|stream| !stream.pattern.is_empty())
    }

    /// I/Os that may be outstanding at once over all streams.
    pub fn queue_depth(&self) -> u32 {
        self.streams.iter().map(|stream| stream.arrival.queue_depth()).sum()
    }
}

impl Stream {
    /// Random reads and writes over the whole target with a fixed number outstanding.
    pub fn closed(name: &str, read_share: Share, block_size: Bytes, queue_depth: u32) -> Self {
        Self {
            name: name.to_owned(),
            read_share,
            block_size: BlockSizeMix::single(block_size),
            access: Access::Uniform,
            arrival: Arrival::Closed { queue_depth, think_time: Nanos(0) },
            pattern: Vec::new(),
            workers: 1,
            sync: SyncPolicy::None,
            span: Span::default(),
            targets: Vec::new(),
            content: Content::default(),
        }
    }

    /// Whether the stream writes.
    pub fn writes(&self) -> bool {
        self.read_share.0 < 1.0
    }
}

impl Arrival {
    /// I/Os that may be outstanding at once.
    pub const fn queue_depth(&self) -> u32 {
        match self {
            Self::Closed { queue_depth, .. } => *queue_depth,
            Self::Open { queue_depth_max, .. } => *queue_depth_max,
        }
    }
}

const fn one() -> u32 {
    1
}

const fn one_u64() -> u64 {
    1
}

const fn queue_depth_max() -> u32 {
    256
}

const fn one_second() -> Nanos {
    Nanos(1_000_000_000)
}

const fn whole() -> Share {
    Share(1.0)
}

const fn yes() -> bool {
    true
}
