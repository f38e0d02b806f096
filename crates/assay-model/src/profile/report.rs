//! What only a report prints: its top events, the load at that time, who read what, and how much of
//! the whole it covers.

use super::figure::{Figure, RateKind};
use serde::{Deserialize, Serialize};

/// What of a database a report covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportScope {
    /// All of it.
    #[default]
    Database,
    /// One instance of several: the others use the same storage.
    Instance,
    /// One pluggable database of a container: the others use the same storage.
    PluggableDatabase,
}

/// What the shares of a list of events are parts of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShareOf {
    /// Time of sessions in database calls.
    #[default]
    DbTime,
    /// Time of background processes.
    BackgroundTime,
    /// Time in calls, waits of background processes among it (Statspack).
    CallTime,
}

/// One event of a list, as printed; what is not printed is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct WaitEvent {
    /// Its name, or `DB CPU`; text reports cut names.
    pub event: String,
    /// Its wait class: the report's own word, else by Oracle's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How often it was waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
    /// Time in all, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Mean time of a wait as printed, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_s: Option<f64>,
    /// Share of what the list says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Section and line.
    pub source: String,
}

/// The first events of a list, in the report's order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TopEvents {
    /// What the shares are parts of.
    pub share_of: ShareOf,
    /// The events, most time first.
    pub events: Vec<WaitEvent>,
}

/// The machine under a database, by the operating system's counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HostActivity {
    /// Cores; with several hardware threads each they are fewer than CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<Figure>,
    /// Sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<Figure>,
    /// Memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<Figure>,
    /// Share of CPU time that was not idle, of all that ran on the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<Figure>,
    /// Share of CPU time idle while I/O was outstanding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_wait_share: Option<Figure>,
    /// Processes running or ready when the interval began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_begin: Option<Figure>,
    /// The same when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_end: Option<Figure>,
}

/// Bytes per second, reads and writes apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ByteRate {
    /// What is counted.
    pub kind: RateKind,
    /// Bytes read per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<Figure>,
    /// Bytes written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<Figure>,
}

/// Read requests that a flash cache answered, of the database's server or of its cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FlashHits {
    /// Requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<Figure>,
    /// Share of the database's read requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_share: Option<Figure>,
}

/// Redo as the log writer sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LogWriter {
    /// Writes per second, by the counter of the instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redo_writes_per_s: Option<Figure>,
    /// Commits a write: how many sessions one write serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_per_write_ratio: Option<Figure>,
}

/// A statement's wait for I/O; its text is never kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReportStatement {
    /// The statement's identifier.
    pub sql_id: String,
    /// Time waited for user I/O, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_time_s: Option<f64>,
    /// Elapsed time, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
    /// Executions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// Section and line.
    pub source: String,
}

/// What the reads of a segment are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SegmentReads {
    /// Requests.
    Requests,
    /// Blocks: one request can move many.
    #[default]
    Blocks,
}

/// Reads of a table, an index or a part of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SegmentIo {
    /// The owner.
    pub owner: String,
    /// The table or index.
    pub object: String,
    /// Its partition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// `TABLE`, `INDEX`, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The tablespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tablespace: Option<String>,
    /// What is counted.
    pub counted: SegmentReads,
    /// How many.
    pub reads: u64,
    /// Share of all reads of the instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Section and line.
    pub source: String,
}

/// I/O of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FileActivity {
    /// The tablespace; in a container with its database in front.
    pub tablespace: String,
    /// The file.
    pub file: String,
    /// Read requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<f64>,
    /// Mean time of a read, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time_s: Option<f64>,
    /// Write requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<f64>,
    /// Section and line.
    pub source: String,
}

/// How unevenly reads are spread over files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadSkew {
    /// Share of all reads that the hot files have, 0..=1.
    pub read_share: f64,
    /// Files with more reads than the mean.
    pub hot_files: usize,
    /// All files.
    pub files: usize,
    /// Section and lines.
    pub source: String,
}

/// What the server expects of a buffer cache of another size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BufferPoolAdvice {
    /// The pool: `D` default, `K` keep, `R` recycle.
    pub pool: String,
    /// Size over the present size; 1 is the present one.
    pub size_ratio: f64,
    /// Size, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<f64>,
    /// Physical reads over those of the present size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ratio: Option<f64>,
    /// Section and line.
    pub source: String,
}

/// What one instance of a cluster did of the whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct InstanceShare {
    /// Number of the instance.
    pub number: u32,
    /// Its name, where it is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Sessions connected when the interval began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<f64>,
    /// Time of its sessions in database calls, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_time_s: Option<f64>,
    /// Read requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<f64>,
    /// Write requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<f64>,
    /// Blocks read per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_blocks_per_s: Option<f64>,
    /// Blocks written per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_blocks_per_s: Option<f64>,
    /// Redo, bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redo_bytes_per_s: Option<f64>,
}

/// What only a report prints. What it does not print is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReportActivity {
    /// What of the database it covers.
    pub scope: ReportScope,
    /// Notes of the report that spoils it: `Snapshots chosen span an instance shutdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Sessions and background processes ranked together, where the report does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<TopEvents>,
    /// Events of sessions.
    pub foreground: TopEvents,
    /// Events of background processes.
    pub background: TopEvents,
    /// The machine.
    pub host: HostActivity,
    /// Bytes per second, one for each way of counting.
    pub bytes: Vec<ByteRate>,
    /// Reads answered by flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashHits>,
    /// The log writer.
    pub log_writer: LogWriter,
    /// Statements by time waited for I/O, most first.
    pub statements: Vec<ReportStatement>,
    /// Segments by physical reads, most first.
    pub segments: Vec<SegmentIo>,
    /// Files by time waited for their reads, most first.
    pub files: Vec<FileActivity>,
    /// How reads are spread over all files, where they are not spread evenly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<ReadSkew>,
    /// The buffer cache at other sizes.
    pub buffer_pool: Vec<BufferPoolAdvice>,
    /// Instances of a cluster.
    pub instances: Vec<InstanceShare>,
}

impl ReportActivity {
    /// The report's own top list: of sessions and background together where it ranks them so, else
    /// of sessions.
    pub fn top(&self) -> &TopEvents {
        self.together.as_ref().filter(|top| !top.events.is_empty()).unwrap_or(&self.foreground)
    }

    /// The event that was waited for most: CPU is not a wait, and neither are idle events.
    pub fn top_wait(&self) -> Option<&WaitEvent> {
        let lists = [&self.foreground, self.top()];
        let waits = lists.into_iter().flat_map(|list| &list.events);
        waits.into_iter().find(|event| event.is_wait())
    }
}

impl WaitEvent {
    /// Whether something was waited for: neither CPU nor idleness.
    pub fn is_wait(&self) -> bool {
        let cpu = matches!(self.event.as_str(), "DB CPU" | "CPU time");
        !cpu && self.class.as_deref() != Some("Idle")
    }
}
