//! What a live server shows beyond what a report prints: load, events with their doubt, I/O by who
//! did it and on what.

use super::{IoSample, ProcessIo, ProfileDeviceIo, ReadTimes};
use crate::Estimate;
use serde::{Deserialize, Serialize};

/// What was seen of a server in an interval. What it cannot tell is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ServerActivity {
    /// The load, a line for each quantity.
    pub load: Vec<LoadLine>,
    /// Where the time of sessions went, most first.
    pub events: Vec<TimedEvent>,
    /// I/O by the kind of process, of object and of access.
    pub functions: Vec<FunctionIo>,
    /// I/O by tables and indexes of the database that was asked, most read first.
    pub relations: Vec<RelationIo>,
    /// The same by tablespace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tablespaces: Vec<TablespaceIo>,
    /// What sessions did, step after step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<WaitSeries>,
    /// Statements by the time that they waited for I/O, most first.
    pub statements: Vec<StatementIo>,
    /// Checkpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Checkpoints>,
    /// The write-ahead log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wal: Option<WalActivity>,
    /// Reads of three levels: only the last one is the storage's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReadLevels>,
    /// What the server's own processes moved from and to storage, by the kernel's account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_io: Option<ProcessIo>,
    /// What all programs together did to the device under the data; never part of the database's
    /// demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<ProfileDeviceIo>,
    /// The server's own I/O, second after second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub io_by_second: Vec<IoSample>,
    /// Single-block read latency, by who saw them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_times: Vec<ReadTimes>,
    /// How it was sampled, and what that cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// One quantity of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadLine {
    /// What is counted, with its unit, for example `WAL, bytes`.
    pub name: String,
    /// How much of it a second.
    pub amount_per_s: f64,
    /// How much of it a transaction; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_ratio: Option<f64>,
}

/// How a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeSource {
    /// The server or the kernel added up each occurrence.
    Counted,
    /// Estimated from how often sessions were seen so.
    Sampled,
}

/// Time of sessions in one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimedEvent {
    /// The server's name of it, for example `IO:DataFileRead`.
    pub event: String,
    /// The wait class that Oracle's readers would look for it in.
    pub class: String,
    /// How the time is known.
    pub known: TimeSource,
    /// The time, seconds, with its interval.
    pub time_s: Estimate,
    /// Share of DB time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_time_share: Option<f64>,
    /// How often it happened, where that is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
    /// How often it was seen, where it was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
}

/// I/O of one kind of process on one kind of object in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FunctionIo {
    /// Kind of process, for example `client backend`.
    pub process: String,
    /// `relation`, `temp relation` or `wal`.
    pub object: String,
    /// `normal`, `bulkread`, `bulkwrite`, `vacuum` or `init`.
    pub context: String,
    /// Reads per second.
    pub read_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Time waited for reads, seconds; absent where the server does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Writes per second.
    pub write_iops: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Time waited for writes, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_time_s: Option<f64>,
    /// Extensions of files per second.
    pub extend_iops: f64,
    /// Time waited for extensions, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extend_time_s: Option<f64>,
    /// Flushes per second.
    pub sync_iops: f64,
    /// Time waited for flushes, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_time_s: Option<f64>,
    /// Blocks found in the buffer cache per second; absent where they are not counted so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<f64>,
}

/// I/O on a table or an index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RelationIo {
    /// Schema and name.
    pub relation: String,
    /// `table` or `index`.
    pub kind: String,
    /// Its tablespace.
    pub tablespace: String,
    /// Blocks read per second, from wherever below the buffer cache.
    pub read_blocks_per_s: f64,
    /// Blocks found in the buffer cache per second; absent where they are not counted so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<f64>,
    /// Estimated time waited for these reads, seconds: the server times reads only all together,
    /// so each block is taken for as slow as the mean; absent where it does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Its size, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// I/O on the tables and indexes of a tablespace, of the database that was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TablespaceIo {
    /// Its name.
    pub tablespace: String,
    /// Blocks read per second, from wherever below the buffer cache.
    pub read_blocks_per_s: f64,
    /// Blocks found in the buffer cache per second; absent where they are not counted so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<f64>,
    /// Estimated time waited for these reads, seconds, as for a relation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Size of these tables and indexes, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// Active sessions by wait class, step after step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WaitSeries {
    /// Length of a step, seconds.
    pub step_s: f64,
    /// Looks at the sessions in each step; one without any is a gap.
    #[serde(alias = "looks")]
    pub samples: Vec<u64>,
    /// One a class, sessions without a wait first, then the one with most.
    pub classes: Vec<ClassSeries>,
}

/// Active sessions in one wait class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ClassSeries {
    /// The class; `CPU` holds sessions on a processor and those that are ready for one, which
    /// samples cannot tell apart.
    pub class: String,
    /// Sessions on average, one a step.
    pub sessions_mean: Vec<f64>,
}

impl WaitSeries {
    /// Sessions in all classes at a step, on average.
    pub fn active_mean(&self, step: usize) -> f64 {
        let of = |class: &ClassSeries| class.sessions_mean.get(step).copied().unwrap_or(0.0);
        self.classes.iter().map(of).sum()
    }
}

/// I/O of a statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StatementIo {
    /// The server's id of it.
    pub id: String,
    /// Its beginning, with parameters instead of values.
    pub text: String,
    /// Executions that ended in the interval.
    pub calls: u64,
    /// Time of these executions, seconds.
    pub elapsed_s: f64,
    /// Time that they waited for I/O on data and temporary files, seconds; absent where the server
    /// does not time I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_time_s: Option<f64>,
    /// Blocks read from below the buffer cache.
    pub read_blocks: u64,
    /// Blocks found in the buffer cache.
    pub hit_blocks: u64,
    /// Blocks made dirty.
    pub dirtied_blocks: u64,
    /// Blocks of temporary files read and written.
    pub temporary_blocks: u64,
    /// Write-ahead log, bytes.
    pub wal_bytes: u64,
}

/// Checkpoints in the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoints {
    /// Because their time had come.
    pub timed: u64,
    /// Because somebody asked, or the log had grown.
    pub requested: u64,
    /// Blocks that they wrote.
    pub written_blocks: u64,
    /// Time in writing, seconds.
    pub write_time_s: f64,
    /// Time in flushing, seconds.
    pub sync_time_s: f64,
}

/// The write-ahead log in the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WalActivity {
    /// Records.
    pub records: u64,
    /// Records with a whole page, made by the first change of a page after a checkpoint.
    pub full_pages: u64,
    /// Bytes.
    pub bytes: u64,
    /// How often a session had to write because the buffers of the log were full.
    pub full_buffers: u64,
}

/// Reads of three levels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReadLevels {
    /// Blocks that statements asked for.
    pub logical_per_s: f64,
    /// Blocks that were not in the buffer cache: the page cache may still have had them.
    pub database_per_s: f64,
    /// Reads that the devices under the data directory served, of this and all other programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_iops: Option<f64>,
    /// Bytes that these reads moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_bytes_per_s: Option<f64>,
    /// Share of the blocks read by the database that its processes did not read from storage: at
    /// least this share came from the page cache. Where the kernel's account of the processes
    /// is not known, all reads of the device stand in for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache_share: Option<f64>,
}

/// How sessions were sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Looks at the sessions.
    #[serde(alias = "looks")]
    pub samples: u64,
    /// Of them so late that the machine had no CPU for them: what keeps it busy is seen too rarely
    /// then.
    #[serde(alias = "late_looks")]
    pub late_samples: u64,
    /// Mean distance of two samples, seconds.
    pub period_s: f64,
    /// Active sessions by these samples, to be held against those by the counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_active_sessions: Option<Estimate>,
    /// Time that our own sessions were active, seconds; it is in none of the other figures.
    pub own_time_s: f64,
    /// CPU time of Assay's own sessions and of this program, seconds; absent where the server is
    /// on another host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_cpu_s: Option<f64>,
}
