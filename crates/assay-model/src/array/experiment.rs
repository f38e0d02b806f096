//! Published experiments on an array, and the figures that came out of them.

use crate::units::{Bytes, Nanos, Share};
use serde::{Deserialize, Serialize};

/// A load under which figures were published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name that figures refer to.
    pub name: String,
    /// Bytes in use, instead of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Controllers, instead of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Volumes that the space is divided into, instead of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volumes: Option<u32>,
    /// Factor by which slow processes (filling, collecting, moving pages) are sped up and the
    /// experiment is shortened: 1 is real time.
    #[serde(default = "one")]
    pub hasten_times: u64,
    /// Time before measuring, as simulated.
    #[serde(default)]
    pub warm_up: Nanos,
    /// Measured time, as simulated.
    pub duration: Nanos,
    /// What is done.
    pub load: Load,
}

/// What is done in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// A fixed number of I/Os outstanding.
    Closed(ClosedLoad),
    /// Sessions of a database without think time.
    Sessions(SessionLoad),
}

/// A fixed number of I/Os outstanding, or as many as a limit on the mean latency allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClosedLoad {
    /// Share of reads.
    pub read_share: Share,
    /// Bytes of one I/O.
    pub transfer: Bytes,
    /// I/Os outstanding; at most, where there is a limit on the latency.
    pub outstanding: u32,
    /// Reads and writes each stay below this mean; the most outstanding I/Os that do are looked
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max: Option<Nanos>,
    /// Share of the space that I/Os go to.
    #[serde(default = "whole")]
    pub locality: Share,
    /// Ascending addresses instead of random ones.
    #[serde(default)]
    pub sequential: bool,
}

/// Sessions of a database without think time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionLoad {
    /// Sessions over all hosts.
    pub sessions: u32,
    /// Database hosts.
    #[serde(default = "one_u32")]
    pub hosts: u32,
    /// Processors of one host.
    pub cpus: u32,
    /// Processor time of one physical read with all that comes with it.
    pub cpu_per_read: Nanos,
    /// Wait for another host before a read, mean.
    #[serde(default)]
    pub cluster_wait: Nanos,
    /// Share of the statements that change data and commit.
    pub update_share: Share,
    /// Blocks looked up in the buffer cache by one statement.
    pub logical_reads_mean: f64,
    /// Share of them that the buffer cache holds.
    pub cache_hits: Share,
    /// Blocks changed by one statement that changes data.
    #[serde(default)]
    pub block_changes_mean: f64,
    /// Blocks that a statement that changes data leaves to be written.
    pub dirty_blocks_mean: f64,
    /// Dirty blocks that the buffer cache takes; with more, sessions wait for free buffers.
    #[serde(default = "dirty_max")]
    pub dirty_max: u32,
    /// Writes that the database writers of one host keep outstanding.
    #[serde(default = "writers_depth")]
    pub writer_depth: u32,
    /// Redo of one statement that changes data.
    pub redo: Bytes,
    /// Whether sessions wait for the log writer at commit.
    #[serde(default)]
    pub commit_waits: bool,
    /// Time that the log writer takes from the end of a write to the next one.
    #[serde(default)]
    pub log_pause: Nanos,
    /// Copies of the log, written at the same time.
    #[serde(default = "one_u32")]
    pub log_copies: u32,
    /// Bytes of one block.
    pub block: Bytes,
    /// Bytes of data in use, from the beginning of the space.
    pub active: Bytes,
}

/// What is taken from an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Reads and writes a second.
    Iops,
    /// Reads a second.
    ReadIops,
    /// Writes of data a second.
    WriteIops,
    /// Bytes a second.
    BytesPerS,
    /// Mean read, seconds.
    ReadLatencyS,
    /// Mean write, seconds.
    WriteLatencyS,
    /// Share of reads below 1 ms.
    ReadsBelow1ms,
    /// Share of reads below 2 ms.
    ReadsBelow2ms,
    /// Redo bytes a second.
    RedoBytesPerS,
    /// Mean write of the log writer, seconds.
    LogWriteS,
    /// Mean wait of a session for its commit, seconds.
    LogSyncS,
    /// Writes of the log writer a second.
    LogWritesPerS,
    /// Statements a second.
    ExecutionsPerS,
    /// Processors busy in database calls.
    DbCpus,
    /// Reads a second in the first eighth of the measured time.
    FirstReadIops,
    /// Reads a second in the last eighth over those in the first.
    LastToFirst,
    /// When reads first fall below nine tenths of the first eighth for two 64ths of the time,
    /// seconds of the real pace.
    FallS,
    /// When reads begin to stay within 2% of the last eighth to the end, seconds of the real pace.
    SettledS,
}

/// What a figure is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Parameters were chosen so that it comes out.
    Fitted,
    /// No parameter was chosen by it, but parameters that are called assumed were changed with it
    /// in sight.
    Seen,
    /// It follows from fitted figures and from inputs of the same report: no evidence of its own.
    Implied,
    /// No parameter was chosen by it: it judges the model.
    HeldBack,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is, for people.
    pub name: String,
    /// The experiment it came out of, `MODEL/EXPERIMENT` where it is another model's; without one
    /// the model cannot tell, and `why` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// What is taken from the experiment.
    pub measure: Measure,
    /// Experiment by whose measure it is divided, for figures that are ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The figure as published, in the unit of the measure.
    pub published_value: f64,
    /// Whether the figure is a bound: more than it is not an error.
    #[serde(default, skip_serializing_if = "is_no")]
    pub at_least: bool,
    /// What it is used for.
    pub role: Role,
    /// Where it stands in the source.
    pub place: String,
    /// Why the model misses it or cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
const fn is_no(flag: &bool) -> bool {
    !*flag
}

const fn one() -> u64 {
    1
}

const fn one_u32() -> u32 {
    1
}

const fn whole() -> Share {
    Share(1.0)
}

const fn dirty_max() -> u32 {
    100_000
}

const fn writers_depth() -> u32 {
    64
}
