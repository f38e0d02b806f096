//! What a database asked of its storage and what it waited for, with the place of every number.

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

/// The version of the document that this program writes and reads.
pub const FORMAT: u32 = 1;

/// A server with fewer active sessions on average than this rests, as it does by Assay's verdict.
const RESTING_SESSIONS: f64 = 0.05;
/// What a server at rest still writes per second: statistics, its checkpoints, late pages.
const RESTING_IOPS: f64 = 10.0;

/// What a database demanded of its storage in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Database and instance, for people.
    pub name: String,
    /// What was read.
    pub source: ProfileSource,
    /// Length of the interval, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<Figure>,
    /// Sessions connected when the interval began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Figure>,
    /// The database's block, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<Figure>,
    /// Requests per second as each part of the source counts them; they differ by what they
    /// include.
    #[serde(default)]
    pub rates: Vec<RequestRate>,
    /// I/O by purpose; the first one is all of it, never to be added to the others.
    #[serde(default)]
    pub classes: Vec<IoClass>,
    /// What the database did meanwhile, by which two profiles are shown to be of the same work.
    #[serde(default, skip_serializing_if = "Work::is_unknown")]
    pub work: Work,
    /// Where time went.
    #[serde(default)]
    pub time: TimeModel,
    /// Whether faster storage would help.
    pub verdict: TimeVerdict,
    /// The commit path, judged apart.
    pub redo: RedoPath,
    /// Slow I/Os by wall clock, slowest last.
    #[serde(default)]
    pub outliers: Vec<Outlier>,
    /// Tablespaces by time waited for their reads, most first.
    #[serde(default)]
    pub tiering: Vec<TieringCandidate>,
    /// What only a report prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportActivity>,
    /// What only a live server shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerActivity>,
    /// Sections compared with each other.
    #[serde(default)]
    pub checks: Vec<CrossCheck>,
    /// What the source contradicts itself in, or could not be read, with its place.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// Sections that the source does not have.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// What a database did in the interval, per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Work {
    /// SQL statements executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions_per_s: Option<Figure>,
    /// Blocks looked at in memory or on storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_reads_per_s: Option<Figure>,
    /// Blocks read from storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_reads_per_s: Option<Figure>,
    /// Changes of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_changes_per_s: Option<Figure>,
    /// Transactions, ended by a commit or a rollback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions_per_s: Option<Figure>,
    /// Commits of users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_per_s: Option<Figure>,
    /// Writes of data files that sessions made and waited for themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreground_writes_per_s: Option<Figure>,
    /// Calls of users: logons, parses, fetches, executions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_calls_per_s: Option<Figure>,
    /// Statements parsed, hard and soft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parses_per_s: Option<Figure>,
    /// Statements that had to be optimized and compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_parses_per_s: Option<Figure>,
}

impl Work {
    /// Whether the source says nothing of it.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// What a profile was read from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProfileSource {
    /// The database product.
    pub product: ProfileProduct,
    /// The kind of report: `statspack`, `awr`, `awr_pdb`, `awr_global`.
    pub kind: String,
    /// Release of the database.
    pub release: Option<String>,
    /// Identifier of the database: all instances of a cluster have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_id: Option<String>,
    /// Number of the instance in its cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_number: Option<u32>,
    /// Host of the (first) instance.
    pub host: Option<String>,
    /// First and last snapshot, `160-161`.
    pub snapshots: Option<String>,
    /// Begin of the interval as printed.
    pub begin: Option<String>,
    /// The same as seconds since 1970 in the server's zone, where date and month could be read.
    pub begin_clock_s: Option<i64>,
    /// End of the interval as printed.
    pub end: Option<String>,
    /// Whether the source was there to its end; otherwise sums cover what was there.
    pub complete: bool,
}

/// One way of counting requests, reads and writes apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestRate {
    /// What is counted.
    pub kind: RateKind,
    /// Reads per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_per_s: Option<Figure>,
    /// Writes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_per_s: Option<Figure>,
}

/// Why an I/O was made, in database terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IoPurpose {
    /// All I/O together.
    All,
    /// One block into the buffer cache; a session waits for it.
    SingleBlockRead,
    /// Several blocks into the buffer cache.
    MultiBlockRead,
    /// Large reads past the buffer cache.
    DirectRead,
    /// Writes past the buffer cache.
    DirectWrite,
    /// Writes of dirty blocks in the background.
    DataFileWrite,
    /// Redo; synchronous, on the commit path.
    LogWrite,
    /// Sorts and hashes that do not fit into memory.
    Temporary,
    /// Backup and archiving.
    Backup,
}

/// The I/O of one purpose. What the source does not tell is absent, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IoClass {
    /// What it is for.
    pub purpose: IoPurpose,
    /// I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<Figure>,
    /// Mean bytes an I/O.
    #[serde(alias = "transfer_bytes", default, skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<Figure>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Figure>,
    /// Share of reads among the I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_share: Option<Figure>,
    /// Mean time of an I/O as the database waited for it, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<Figure>,
    /// Mean number of I/Os outstanding, by Little's law: rate times latency.
    #[serde(alias = "outstanding", default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<Figure>,
    /// I/Os by their time, where the source has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyCurve>,
}

impl IoClass {
    /// A class of which nothing is known yet.
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

    /// Fills what follows from the rest: bytes an I/O or bytes per second, and I/Os outstanding.
    pub fn complete(mut self) -> Self {
        let block_size = quotient(self.throughput_bytes_per_s.as_ref(), self.rate_iops.as_ref());
        self.block_size_bytes = self.block_size_bytes.or(block_size);
        let throughput = product(self.rate_iops.as_ref(), self.block_size_bytes.as_ref());
        self.throughput_bytes_per_s = self.throughput_bytes_per_s.or(throughput);
        let queue_depth = product(self.rate_iops.as_ref(), self.latency_s.as_ref());
        self.queue_depth = self.queue_depth.or(queue_depth);
        self
    }

    /// Whether anything is known of it.
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

/// I/Os of one range of times, by wall clock: a mean hides them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outlier {
    /// What was waited for.
    pub event: String,
    /// Shortest time in the range, ns.
    pub low_ns: u64,
    /// End of the range, ns; open where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// How many of them a second, averaged over the interval.
    pub rate_per_s: f64,
}

/// How much a tablespace would gain from faster storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TieringCandidate {
    /// The tablespace; in a container with its database in front.
    pub tablespace: String,
    /// Seconds waited for its reads in every second: reads per second times mean read time.
    pub read_wait_ratio: f64,
    /// Share of all that waiting in this and the candidates before it.
    pub cumulative_share: f64,
    /// Its size, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
}

impl TieringCandidate {
    /// Seconds waited a second and byte: what a byte of fast storage saves; `None` without a size.
    pub fn density_ratio(&self) -> Option<f64> {
        let capacity = self.capacity_bytes.filter(|bytes| *bytes > 0)?;
        Some(self.read_wait_ratio / crate::number::real(capacity))
    }
}

/// How two sections compare that should say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// They agree within their rounding and the tolerance.
    Agrees,
    /// They do not.
    Contradicts,
    /// One of them is not in the source.
    NotPossible,
}

/// Two sections that should say the same, and whether they do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrossCheck {
    /// What is compared.
    pub what: String,
    /// The first number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Figure>,
    /// The second number, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Figure>,
    /// How they compare.
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
