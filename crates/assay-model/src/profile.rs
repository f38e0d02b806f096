//! Storage demand and waits of a database, with the location of every value in the source.

use crate::Result;
use crate::document::parse_json;
use crate::error::Error;
use serde::{Deserialize, Serialize};

mod figure;
mod latency;
mod own_io;
mod product;
mod read_times;
mod report;
mod server;
mod time;

pub use figure::{Figure, RateKind};
pub use latency::{LatencyBucket, LatencyCurve};
pub use own_io::{IoSample, ProcessIo, ProfileDeviceIo};
pub use product::ProfileProduct;
pub use read_times::{ReadObserver, ReadTimes};
pub use report::{
    BufferPoolAdvice, ByteRate, FileActivity, FlashHits, HostActivity, InstanceShare, LogWriter,
    ReadSkew, ReportActivity, ReportScope, ReportStatement, SegmentIo, SegmentReads, ShareOf,
    TopEvents, WaitEvent,
};
pub use server::{
    Checkpoints, ClassSeries, FunctionIo, LoadLine, ReadLevels, RelationIo, Sampling,
    ServerActivity, StatementIo, TablespaceIo, TimeSource, TimedEvent, WaitSeries, WalActivity,
};
pub use time::{
    Bottleneck, DeviceFinding, DeviceGrade, IoPath, RedoFinding, RedoPath, StorageMedium,
    TimeModel, TimeVerdict, WaitClassTime,
};

/// Version of the document format that this program reads and writes.
pub const FORMAT: u32 = 1;

/// A server with fewer mean active sessions is idle, as in Assay's verdict.
const RESTING_SESSIONS: f64 = 0.05;
/// Writes per second of an idle server: statistics, checkpoints and late pages.
const RESTING_IOPS: f64 = 10.0;

/// Storage demand of a database in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the document format: 1.
    pub format: u32,
    /// Display name: database and instance.
    pub name: String,
    /// Source of the profile.
    pub source: ProfileSource,
    /// Length of the interval, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<Figure>,
    /// Connected sessions at the start of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Figure>,
    /// Block size of the database, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<Figure>,
    /// Requests per second by each counter of the source; the counters cover different requests.
    #[serde(default)]
    pub rates: Vec<RequestRate>,
    /// I/O by purpose; the first entry is the total, not to be added to the others.
    #[serde(default)]
    pub classes: Vec<IoClass>,
    /// Database work in the interval, used to check that two profiles have the same workload.
    #[serde(default, skip_serializing_if = "Work::is_unknown")]
    pub work: Work,
    /// Time components.
    #[serde(default)]
    pub time: TimeModel,
    /// Verdict on the benefit of faster storage.
    pub verdict: TimeVerdict,
    /// Commit path, judged separately.
    pub redo: RedoPath,
    /// Slow I/Os in wall-clock time, slowest last.
    #[serde(default)]
    pub outliers: Vec<Outlier>,
    /// Tablespaces by read wait time, in descending order.
    #[serde(default)]
    pub tiering: Vec<TieringCandidate>,
    /// Values available only in reports; absent for live servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportActivity>,
    /// Values available only from live servers; absent for reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerActivity>,
    /// Cross-checks between sections.
    #[serde(default)]
    pub checks: Vec<CrossCheck>,
    /// Contradictory or unreadable parts of the source, with their locations.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// Sections missing from the source.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// Database work in the interval, per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Work {
    /// SQL statements executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions_per_s: Option<Figure>,
    /// Logical reads: blocks accessed in memory or on storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_reads_per_s: Option<Figure>,
    /// Blocks read from storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_reads_per_s: Option<Figure>,
    /// Block changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_changes_per_s: Option<Figure>,
    /// Transactions, ended by a commit or rollback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions_per_s: Option<Figure>,
    /// User commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_per_s: Option<Figure>,
    /// Data file writes that sessions made and waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreground_writes_per_s: Option<Figure>,
    /// User calls: logons, parses, fetches and executions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_calls_per_s: Option<Figure>,
    /// Parses, hard and soft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parses_per_s: Option<Figure>,
    /// Hard parses: statements optimized and compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_parses_per_s: Option<Figure>,
}

impl Work {
    /// Whether the source has none of these values.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// Source of a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProfileSource {
    /// Database product.
    pub product: ProfileProduct,
    /// Report type: `statspack`, `awr`, `awr_pdb`, `awr_global`.
    pub kind: String,
    /// Database release.
    pub release: Option<String>,
    /// Database identifier, shared by all instances of a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_id: Option<String>,
    /// Instance number in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_number: Option<u32>,
    /// Host of the (first) instance.
    pub host: Option<String>,
    /// First and last snapshot, for example `160-161`.
    pub snapshots: Option<String>,
    /// Start of the interval as printed in the source.
    pub begin: Option<String>,
    /// Start of the interval, s since 1970-01-01 in the server's time zone; absent if date or month
    /// is unreadable.
    pub begin_clock_s: Option<i64>,
    /// End of the interval as printed in the source.
    pub end: Option<String>,
    /// Whether the source is complete; if not, sums cover only the available part.
    pub complete: bool,
}

/// Requests per second by one counter, reads and writes separate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestRate {
    /// Type of counter.
    pub kind: RateKind,
    /// Reads per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_per_s: Option<Figure>,
    /// Writes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_per_s: Option<Figure>,
}

/// Purpose of an I/O in database terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IoPurpose {
    /// Total of all purposes.
    All,
    /// Read of one block into the buffer cache; a session waits for it.
    SingleBlockRead,
    /// Read of several blocks into the buffer cache.
    MultiBlockRead,
    /// Large read that bypasses the buffer cache.
    DirectRead,
    /// Write that bypasses the buffer cache.
    DirectWrite,
    /// Background write of dirty blocks.
    DataFileWrite,
    /// Redo write; synchronous, on the commit path.
    LogWrite,
    /// Sort or hash that exceeds memory.
    Temporary,
    /// Backup or archiving.
    Backup,
}

/// I/O of one purpose. Values missing from the source are absent, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IoClass {
    /// Purpose of the I/O.
    pub purpose: IoPurpose,
    /// I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<Figure>,
    /// Mean bytes per I/O.
    #[serde(alias = "transfer_bytes", default, skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<Figure>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Figure>,
    /// Share of reads among the I/Os, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_share: Option<Figure>,
    /// Mean I/O latency seen by the database, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<Figure>,
    /// Mean queue depth by Little's law: rate × latency.
    #[serde(alias = "outstanding", default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<Figure>,
    /// Latency distribution; absent if the source has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyCurve>,
}

impl IoClass {
    /// Creates a class without values.
    pub const fn new(purpose: IoPurpose) -> Self {
        Self {
            purpose,
            rate_iops: None,
            block_size_bytes: None,
            throughput_bytes_per_s: None,
            read_share: None,
            latency_s: None,
            queue_depth: None,
            latency: None,
        }
    }

    /// Computes derived values: bytes per I/O or per second, and queue depth.
    pub fn complete(mut self) -> Self {
        let block_size = quotient(self.throughput_bytes_per_s.as_ref(), self.rate_iops.as_ref());
        self.block_size_bytes = self.block_size_bytes.or(block_size);
        let throughput = product(self.rate_iops.as_ref(), self.block_size_bytes.as_ref());
        self.throughput_bytes_per_s = self.throughput_bytes_per_s.or(throughput);
        let queue_depth = product(self.rate_iops.as_ref(), self.latency_s.as_ref());
        self.queue_depth = self.queue_depth.or(queue_depth);
        self
    }

    /// Whether any value is known.
    pub fn is_known(&self) -> bool {
        self.rate_iops.is_some() || self.throughput_bytes_per_s.is_some()
    }
}

fn quotient(left: Option<&Figure>, right: Option<&Figure>) -> Option<Figure> {
    let (left, right) = left.zip(right)?;
    let source = format!("({}) / ({})", left.source, right.source);
    (right.value > 0.0).then(|| Figure::new(left.value / right.value, source))
}

fn product(left: Option<&Figure>, right: Option<&Figure>) -> Option<Figure> {
    let (left, right) = left.zip(right)?;
    let source = format!("({}) x ({})", left.source, right.source);
    Some(Figure::new(left.value * right.value, source))
}

/// I/Os in one latency range, in wall-clock time; a mean hides them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outlier {
    /// Wait event.
    pub event: String,
    /// Lower bound of the range, ns.
    pub low_ns: u64,
    /// Upper bound of the range, ns; absent if open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// I/Os per second, mean over the interval.
    pub rate_per_s: f64,
}

/// Benefit of faster storage for one tablespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TieringCandidate {
    /// Tablespace name; in a container database, preceded by the database name.
    pub tablespace: String,
    /// Read wait time per second: reads per second × mean read time.
    pub read_wait_ratio: f64,
    /// Cumulative share of the read wait time, including this candidate, 0..=1.
    pub cumulative_share: f64,
    /// Size of the tablespace, bytes; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
}

impl TieringCandidate {
    /// Read wait time per second and byte: the benefit of a byte of fast storage; `None` without a
    /// size.
    pub fn density_ratio(&self) -> Option<f64> {
        let capacity = self.capacity_bytes.filter(|bytes| *bytes > 0)?;
        Some(self.read_wait_ratio / crate::number::real(capacity))
    }
}

/// Outcome of a cross-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// Values agree within rounding and tolerance.
    Agrees,
    /// Values differ by more than rounding and tolerance.
    Contradicts,
    /// A value is missing from the source.
    NotPossible,
}

/// Cross-check of two sections that should agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrossCheck {
    /// Compared quantity.
    pub what: String,
    /// First value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Figure>,
    /// Second value, in the unit of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Figure>,
    /// Outcome of the cross-check.
    pub outcome: CheckOutcome,
}

/// Reads a profile document.
///
/// # Errors
/// A usage error where it is not JSON, has unknown keys, or a format other than 1.
pub fn parse_profile(text: &str) -> Result<Profile> {
    let profile: Profile = parse_json(text, "profile")?;
    if profile.format == FORMAT {
        return Ok(profile);
    }
    Err(Error::usage(
        format!("profile: format {} is not known", profile.format),
        format!("this version reads format {FORMAT}: create the profile again from its report"),
    ))
}

impl Profile {
    /// The class of a purpose.
    pub fn class(&self, purpose: IoPurpose) -> Option<&IoClass> {
        self.classes.iter().find(|class| class.purpose == purpose)
    }

    /// One way of counting requests.
    pub fn rate(&self, kind: RateKind) -> Option<&RequestRate> {
        self.rates.iter().find(|rate| rate.kind == kind)
    }

    /// I/Os per second of all purposes together.
    pub fn iops(&self) -> Option<f64> {
        self.class(IoPurpose::All)?.rate_iops.as_ref().map(|rate| rate.value)
    }

    /// Refuses the profile of a live server that asked next to nothing of its storage: nothing can
    /// be planned or sized by it.
    ///
    /// # Errors
    /// A usage error with what was seen.
    pub fn check_demand(&self) -> Result<()> {
        let iops = self.iops().unwrap_or(0.0);
        let active = self.time.average_active_sessions.as_ref().map(|active| active.value);
        let is_at_rest = active.is_none_or(|active| active < RESTING_SESSIONS);
        let least_iops = if is_at_rest { RESTING_IOPS } else { 1.0 };
        if self.server.is_none() || iops >= least_iops {
            return Ok(());
        }
        let seen = active.map_or_else(String::new, |active| {
            format!(", and {active:.2} sessions were active on average")
        });
        let what = if is_at_rest { "is idle" } else { "works without I/O" };
        Err(Error::usage(
            format!(
                "{}: the database {what}: it issued {iops:.1} I/Os per second{seen}",
                self.name
            ),
            "profile it while it is busy, or specify a report or a profile of a busy hour",
        ))
    }

    /// Puts sizes to the tiering candidates and sorts them by what a byte of fast storage saves;
    /// those without a size come last.
    pub fn with_capacities(mut self, capacity_bytes: impl Fn(&str) -> Option<u64>) -> Self {
        for candidate in &mut self.tiering {
            candidate.capacity_bytes = capacity_bytes(&candidate.tablespace);
        }
        let density = |candidate: &TieringCandidate| candidate.density_ratio().unwrap_or(-1.0);
        self.tiering.sort_by(|left, right| density(right).total_cmp(&density(left)));
        accumulate(&mut self.tiering);
        self
    }
}

/// Fills the cumulative shares in the order the candidates stand in.
pub fn accumulate(candidates: &mut [TieringCandidate]) {
    let total: f64 = candidates.iter().map(|candidate| candidate.read_wait_ratio).sum();
    let mut sum = 0.0;
    for candidate in candidates {
        sum += candidate.read_wait_ratio;
        candidate.cumulative_share = if total > 0.0 { sum / total } else { 0.0 };
    }
}

#[cfg(test)]
mod tests;
