//! Published experiments on an array, and the figures that came out of them.

use crate::units::{Bytes, Nanos, Share};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A load under which figures were published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name that figures refer to.
    pub name: String,
    /// Bytes in use; by default those of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Controllers; by default those of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Volumes into which the space is divided; by default those of the model.
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
    /// The studies that repeat it.
    #[serde(default, rename = "study", skip_serializing_if = "Vec::is_empty")]
    pub studies: Vec<StudyCells>,
    /// The experiment.
    pub load: ExperimentLoad,
}

/// Where a study repeats an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StudyCells {
    /// Name of the study.
    pub name: String,
    /// Settings of its cells, by factor, as the study writes them. Of several cells the fastest
    /// within the experiment's latency limit counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cell: BTreeMap<String, String>,
}

impl Experiment {
    /// Where a study of this name repeats it.
    pub fn in_study(&self, name: &str) -> Option<&StudyCells> {
        self.studies.iter().find(|cells| cells.name == name)
    }

    /// Limit on the mean latency of reads and of writes.
    pub const fn latency_max(&self) -> Option<Nanos> {
        match &self.load {
            ExperimentLoad::Closed(load) => load.latency_max,
            ExperimentLoad::Sessions(_) => None,
        }
    }
}

/// The kind of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExperimentLoad {
    /// A fixed queue depth.
    Closed(ClosedLoad),
    /// Sessions of a database without think time.
    Sessions(SessionLoad),
}

/// A fixed queue depth, or the highest one within a limit on the mean latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClosedLoad {
    /// Share of reads.
    pub read_share: Share,
    /// Bytes of one I/O.
    #[serde(alias = "transfer")]
    pub block_size: Bytes,
    /// Queue depth; with a latency limit, its maximum.
    #[serde(alias = "outstanding")]
    pub queue_depth: u32,
    /// Limit on the mean latency of reads and of writes; the highest queue depth within it is
    /// searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max: Option<Nanos>,
    /// Share of the space that receives I/Os.
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
    /// CPUs of one host.
    pub cpus: u32,
    /// CPU time of one physical read, including its processing.
    pub cpu_per_read: Nanos,
    /// Mean wait for another host before a read.
    #[serde(default)]
    pub cluster_wait: Nanos,
    /// Share of the statements that change data and commit.
    pub update_share: Share,
    /// Blocks looked up in the buffer cache by one statement.
    pub logical_reads_mean: f64,
    /// Share of them found in the buffer cache.
    pub cache_hits: Share,
    /// Blocks changed by one statement that changes data.
    #[serde(default)]
    pub block_changes_mean: f64,
    /// Blocks that a statement that changes data leaves to be written.
    pub dirty_blocks_mean: f64,
    /// Maximum dirty blocks in the buffer cache; beyond it, sessions wait for free buffers.
    #[serde(default = "dirty_max")]
    pub dirty_max: u32,
    /// Queue depth of the database writers of one host.
    #[serde(default = "writers_depth")]
    pub writer_depth: u32,
    /// Redo of one statement that changes data.
    pub redo: Bytes,
    /// Whether sessions wait for the log writer at commit.
    #[serde(default)]
    pub commit_waits: bool,
    /// Time between the end of a log write and the next one.
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

/// The measured quantity of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExperimentMeasure {
    /// Reads and writes per second.
    Iops,
    /// Reads per second.
    ReadIops,
    /// Writes of data per second.
    WriteIops,
    /// Bytes per second.
    BytesPerS,
    /// Mean read latency, seconds.
    ReadLatencyS,
    /// Mean write latency, seconds.
    WriteLatencyS,
    /// Share of reads below 1 ms.
    ReadsBelow1ms,
    /// Share of reads below 2 ms.
    ReadsBelow2ms,
    /// Redo bytes per second.
    RedoBytesPerS,
    /// Mean write of the log writer, seconds.
    LogWriteS,
    /// Mean wait of a session for its commit, seconds.
    LogSyncS,
    /// Writes of the log writer per second.
    LogWritesPerS,
    /// Statements per second.
    ExecutionsPerS,
    /// CPUs busy in database calls.
    DbCpus,
    /// Reads per second in the first eighth of the measured time.
    FirstReadIops,
    /// Reads per second in the last eighth, divided by those in the first.
    LastToFirst,
    /// Time in real seconds at which reads first fall below 90% of the first eighth, for two 64ths
    /// of the time.
    FallS,
    /// Time in real seconds from which reads stay within 2% of the last eighth.
    SettledS,
    /// A published ratio of which the conditions are not known.
    Ratio,
}

/// Use of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Parameters were chosen to reproduce it.
    Fitted,
    /// No parameter was fitted to it, but assumed parameters were changed with knowledge of it.
    Seen,
    /// It follows from fitted figures and inputs of the same report, so it is not independent
    /// evidence.
    Implied,
    /// No parameter was chosen by it: it tests the model.
    HeldBack,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExperimentFigure {
    /// Description.
    pub name: String,
    /// The experiment behind the figure, `MODEL/EXPERIMENT` for another model; without one, the
    /// model cannot reproduce it, and `why` gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The measured quantity.
    pub measure: ExperimentMeasure,
    /// Experiment used as the divisor, for figures that are ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The figure as published, in the unit of the measure.
    pub published_value: f64,
    /// Whether the figure is a lower bound: a higher value is not an error.
    #[serde(default, skip_serializing_if = "is_no")]
    pub at_least: bool,
    /// Use of the figure.
    pub role: Role,
    /// Page, table or figure in the source.
    pub place: String,
    /// Reason why the model misses or cannot reproduce it.
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
