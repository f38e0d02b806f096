//! Values available only from a live server: load, timed events, and I/O by process and object.

use super::{IoSample, ProcessIo, ProfileDeviceIo, ReadTimes};
use crate::Estimate;
use serde::{Deserialize, Serialize};

/// Server activity in an interval. Unavailable values are absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ServerActivity {
    /// Load profile, one line per quantity.
    pub load: Vec<LoadLine>,
    /// Session time by event, in descending order.
    pub events: Vec<TimedEvent>,
    /// I/O by process type, object and context.
    pub functions: Vec<FunctionIo>,
    /// I/O by table and index of the connected database, in descending order of reads.
    pub relations: Vec<RelationIo>,
    /// I/O by tablespace of the connected database.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tablespaces: Vec<TablespaceIo>,
    /// Active sessions by wait class over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<WaitSeries>,
    /// Statements by I/O wait time, in descending order.
    pub statements: Vec<StatementIo>,
    /// Checkpoint activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// Write-ahead log activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wal: Option<WalActivity>,
    /// Logical, database and device reads; only device reads reach storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReadLevels>,
    /// Storage I/O of the server processes, by the kernel's accounting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_io: Option<ProcessIo>,
    /// I/O of all programs on the data device; never part of the database's demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<ProfileDeviceIo>,
    /// I/O of the server per second of the interval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub io_by_second: Vec<IoSample>,
    /// Single-block read latency, by observer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_times: Vec<ReadTimes>,
    /// Sampling method and overhead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// Load of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadLine {
    /// Quantity with its unit, for example `WAL, bytes`.
    pub name: String,
    /// Amount per second.
    pub amount_per_s: f64,
    /// Amount per transaction; absent if there were no transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_ratio: Option<f64>,
}

/// Source of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeSource {
    /// Sum of all occurrences, by the server or kernel.
    Counted,
    /// Estimate from session samples.
    Sampled,
}

/// Session time of one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimedEvent {
    /// Event name of the server, for example `IO:DataFileRead`.
    pub event: String,
    /// Equivalent Oracle wait class.
    pub class: String,
    /// Source of the time.
    pub known: TimeSource,
    /// Time with its interval, seconds.
    pub time_s: Estimate,
    /// Share of DB time, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_time_share: Option<f64>,
    /// Number of waits; absent if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
    /// Number of samples with the event; absent if not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
}

/// I/O of one process type on one object type in one context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FunctionIo {
    /// Process type, for example `client backend`.
    pub process: String,
    /// `relation`, `temp relation` or `wal`.
    pub object: String,
    /// `normal`, `bulkread`, `bulkwrite`, `vacuum` or `init`.
    pub context: String,
    /// Reads per second.
    pub read_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Read wait time, seconds; absent if the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Writes per second.
    pub write_iops: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Write wait time, seconds; absent if the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_time_s: Option<f64>,
    /// File extensions per second.
    pub extend_iops: f64,
    /// Extension wait time, seconds; absent if the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extend_time_s: Option<f64>,
    /// Flushes per second.
    pub sync_iops: f64,
    /// Flush wait time, seconds; absent if the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_time_s: Option<f64>,
    /// Buffer cache hits, blocks per second; absent if not counted separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<f64>,
}

/// I/O on one table or index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RelationIo {
    /// Schema and relation name.
    pub relation: String,
    /// `table` or `index`.
    pub kind: String,
    /// Tablespace name.
    pub tablespace: String,
    /// Blocks per second read from outside the buffer cache.
    pub read_blocks_per_s: f64,
    /// Buffer cache hits, blocks per second; absent if not counted separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<f64>,
    /// Estimated read wait time, seconds: blocks × mean read time, because the server does not time
    /// reads by relation; absent if the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Size, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// I/O on the tables and indexes of one tablespace in the connected database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TablespaceIo {
    /// Tablespace name.
    pub tablespace: String,
    /// Blocks per second read from outside the buffer cache.
    pub read_blocks_per_s: f64,
    /// Buffer cache hits, blocks per second; absent if not counted separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<f64>,
    /// Estimated read wait time, seconds, computed as for a relation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Total size of the tables and indexes, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// Active sessions by wait class over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WaitSeries {
    /// Duration of a step, seconds.
    pub step_s: f64,
    /// Session samples per step; 0 marks a gap.
    #[serde(alias = "looks")]
    pub samples: Vec<u64>,
    /// One series per class: sessions without a wait first, then classes by descending time.
    pub classes: Vec<ClassSeries>,
}

/// Active sessions in one wait class over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ClassSeries {
    /// Wait class; `CPU` includes running and runnable sessions, which samples cannot distinguish.
    pub class: String,
    /// Mean number of sessions, one value per step.
    pub sessions_mean: Vec<f64>,
}

impl WaitSeries {
    /// Mean number of sessions in all classes at a step.
    pub fn active_mean(&self, step: usize) -> f64 {
        let of = |class: &ClassSeries| class.sessions_mean.get(step).copied().unwrap_or(0.0);
        self.classes.iter().map(of).sum()
    }
}

/// I/O of one statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StatementIo {
    /// Statement identifier of the server.
    pub id: String,
    /// Start of the normalized statement text, with parameters instead of values.
    pub text: String,
    /// Executions completed in the interval.
    pub calls: u64,
    /// Total execution time, seconds.
    pub elapsed_s: f64,
    /// I/O wait time for data and temporary files, seconds; absent if the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_time_s: Option<f64>,
    /// Blocks read from outside the buffer cache.
    pub read_blocks: u64,
    /// Buffer cache hits, blocks.
    pub hit_blocks: u64,
    /// Dirtied blocks.
    pub dirtied_blocks: u64,
    /// Temporary file blocks read and written.
    pub temporary_blocks: u64,
    /// Write-ahead log generated, bytes.
    pub wal_bytes: u64,
}

/// Checkpoints in the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoints {
    /// Checkpoints triggered by the timeout.
    pub timed: u64,
    /// Checkpoints triggered by a request or by log growth.
    pub requested: u64,
    /// Blocks written by checkpoints.
    pub written_blocks: u64,
    /// Write time, seconds.
    pub write_time_s: f64,
    /// Flush time, seconds.
    pub sync_time_s: f64,
}

/// Write-ahead log activity in the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WalActivity {
    /// Number of records.
    pub records: u64,
    /// Full-page images, written at the first change of a page after a checkpoint.
    pub full_pages: u64,
    /// Size of the log generated, bytes.
    pub bytes: u64,
    /// Session writes caused by full log buffers.
    pub full_buffers: u64,
}

/// Reads at three levels: logical, database and device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReadLevels {
    /// Logical reads, blocks per second.
    pub logical_per_s: f64,
    /// Buffer cache misses, blocks per second; the page cache may have served some of them.
    pub database_per_s: f64,
    /// Reads per second on the devices of the data directory, by all programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_iops: Option<f64>,
    /// Bytes per second of these device reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_bytes_per_s: Option<f64>,
    /// Minimum share of database reads served by the page cache, 0..=1: those that the server
    /// processes did not read from storage. All device reads are used if the process accounting is
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache_share: Option<f64>,
}

/// Session sampling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Number of samples.
    #[serde(alias = "looks")]
    pub samples: u64,
    /// Samples delayed because the host had no free CPU; such samples underestimate the CPU load.
    #[serde(alias = "late_looks")]
    pub late_samples: u64,
    /// Mean sampling interval, seconds.
    pub period_s: f64,
    /// Mean number of active sessions from samples, for comparison with the counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_active_sessions: Option<Estimate>,
    /// Active time of Assay's own sessions, seconds; excluded from all other values.
    pub own_time_s: f64,
    /// CPU time of Assay and its sessions, seconds; absent if the server is on another host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_cpu_s: Option<f64>,
}
