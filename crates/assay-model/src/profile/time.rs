//! Time components of a database, and their verdict on its storage.

use super::figure::Figure;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Minimum lead of a bottleneck, as a share of DB time.
const CLEAR_LEAD: f64 = 0.05;
/// Above this share of the commit wait the write itself is the cause.
const DEVICE_SHARE: f64 = 0.5;
/// Below this share of DB time commits are not what sessions wait for.
const COMMITS_MATTER: f64 = 0.01;

/// Time of one wait class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WaitClassTime {
    /// Wait class name in Oracle's terms.
    pub class: String,
    /// Session wait time, seconds.
    pub time_s: Figure,
}

/// Database time split by CPU and wait class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimeModel {
    /// Session time in database calls, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_time_s: Option<Figure>,
    /// CPU part of DB time, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_cpu_s: Option<Figure>,
    /// CPU time of background processes, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_cpu_s: Option<Figure>,
    /// Time that sessions were runnable but waited for a CPU, seconds. Oracle has no such value. It
    /// is excluded from the sum, because most of it ends a wait or precedes a statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_queue_s: Option<Figure>,
    /// Mean number of active sessions: DB time / elapsed time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_active_sessions: Option<Figure>,
    /// Logical CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Figure>,
    /// DB CPU / (elapsed time × CPUs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_utilization: Option<Figure>,
    /// CPU utilization of the host by all processes, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<Figure>,
    /// Session waits by class, without idle waits.
    pub waits: Vec<WaitClassTime>,
    /// DB time that is neither CPU nor wait, seconds; mostly CPU queue time if that is not a
    /// wait event. Negative if CPU and wait time overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unaccounted_s: Option<Figure>,
}

/// Main component of DB time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// Storage reads and writes: faster storage helps, up to the speedup limit.
    Storage,
    /// CPU: faster storage has little effect.
    Cpu,
    /// Commits: [`RedoFinding`] reports whether the log device is slow.
    Commit,
    /// Contention between sessions: faster storage has little effect.
    Contention,
    /// Other named waits (network, resource plan, single event): storage has no effect.
    Other,
    /// Idle: too few active sessions for a conclusion.
    Idle,
    /// No component has a clear lead.
    Mixed,
    /// Not available in the source.
    #[default]
    Unknown,
}

/// Benefit of faster storage and its upper limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimeVerdict {
    /// Main component of DB time.
    pub bottleneck: Bottleneck,
    /// Share of DB time in session I/O waits (class User I/O).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_io_share: Option<f64>,
    /// Share of DB time in waits for late writes of dirty blocks or redo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_behind_share: Option<f64>,
    /// Share of DB time in commit waits (class Commit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_share: Option<f64>,
    /// Share of DB time on CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Share of DB time in the CPU queue: outside all events while the host had no free CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_queue_share: Option<f64>,
    /// Share of DB time in waits for other sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention_share: Option<f64>,
    /// Share of DB time in all other waits: network, resource plans, class Other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_share: Option<f64>,
    /// Share of DB time that is neither CPU nor wait; negative if components overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unaccounted_share: Option<f64>,
    /// Amdahl's speedup limit for reads: DB time / DB time without user I/O. The remainder is at
    /// least CPU time plus other waits, even if shares overlap and exceed DB time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup_limit: Option<f64>,
    /// Amdahl's speedup limit for all storage I/O: reads, commits, foreground writes and dependent
    /// waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_speedup_limit: Option<f64>,
    /// Leading event or class; absent if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Hypothetical cause suggested by the source; no limit is derived from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspected_cause: Option<String>,
    /// Declared storage medium; if absent, the limits of disks apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<StorageMedium>,
    /// Latency findings by I/O path, independent of the shares; most severe first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceFinding>,
    /// Notes on scope, gaps and dependent components of the report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Reason in a sentence.
    pub reason: String,
}

/// Storage medium, which determines the latency limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StorageMedium {
    /// Rotating disks, with or without a cache.
    #[value(help = "Hard disks: up to 20 ms is acceptable")]
    Disks,
    /// Solid-state storage.
    #[value(help = "Solid-state storage: up to 2 ms is acceptable")]
    Flash,
}

/// I/O path with its own latency limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IoPath {
    /// Log writer write.
    RedoWrite,
    /// Single-block read.
    SingleBlockRead,
    /// Control file write.
    ControlFileWrite,
}

/// Latency grade relative to the limit of the storage medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceGrade {
    /// Within the limit of the medium.
    Sound,
    /// Saturated: requests queue, although each is within the limit.
    Saturated,
    /// Above the limit.
    Slow,
    /// At least ten times the limit.
    Failing,
}

/// Latency finding for one I/O path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceFinding {
    /// I/O path.
    pub path: IoPath,
    /// Wait event.
    pub event: String,
    /// Mean latency, seconds.
    pub latency_s: Figure,
    /// Latency limit, seconds.
    pub limit_s: f64,
    /// Mean queue depth: rate × latency; above 0.7, a single writer is busy.
    #[serde(alias = "outstanding", default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<Figure>,
    /// Latency grade.
    pub grade: DeviceGrade,
    /// Source of the limit.
    pub limit_source: String,
}

impl TimeVerdict {
    /// Amdahl's bound of a share next to others that stay. Shares overlap where a wait uses a CPU:
    /// what is left is at least the others, and no more than all.
    fn bound(share: f64, others: f64) -> Option<f64> {
        let left = (1.0 - share).max(others).min(1.0);
        (share >= 0.0 && left > 0.0).then(|| 1.0 / left)
    }

    /// Share of DB time that no storage shortens: on a CPU or waiting for one, for other sessions,
    /// for anything else.
    fn share_without_storage(&self) -> f64 {
        let parts = [self.cpu_share, self.cpu_queue_share, self.contention_share, self.other_share];
        parts.into_iter().flatten().fold(0.0, |sum, share| sum + share)
    }

    /// The same with what follows from its shares: the bounds, which part leads, and why in a
    /// sentence.
    pub fn concluded(mut self) -> Self {
        let behind = self.write_behind_share.unwrap_or(0.0) + self.commit_share.unwrap_or(0.0);
        let others = self.share_without_storage();
        self.speedup_limit =
            self.user_io_share.and_then(|share| Self::bound(share, others + behind));
        self.storage_speedup_limit =
            self.storage_share().and_then(|share| Self::bound(share, others));
        self.bottleneck = self.leader();
        self.reason = self.sentence();
        self
    }

    /// The same without a conclusion: its evidence contradicts it. Of an idle server nothing was
    /// concluded.
    pub fn undone(self, reason: String) -> Self {
        if matches!(self.bottleneck, Bottleneck::Idle | Bottleneck::Unknown) {
            return self;
        }
        Self {
            bottleneck: Bottleneck::Unknown,
            reason,
            cause: None,
            suspected_cause: None,
            speedup_limit: None,
            storage_speedup_limit: None,
            ..self
        }
    }

    /// Share of DB time that storage has a part in: reads, writes that sessions waited for, and
    /// commits.
    pub fn storage_share(&self) -> Option<f64> {
        let more = [self.write_behind_share, self.commit_share].into_iter().flatten();
        self.user_io_share.map(|user_io| user_io + more.sum::<f64>())
    }

    /// Share of the part that is named; `None` where none is.
    pub fn leading_share(&self) -> Option<f64> {
        let behind = self.write_behind_share.unwrap_or(0.0);
        match self.bottleneck {
            Bottleneck::Storage => self.user_io_share.map(|user_io| user_io + behind),
            Bottleneck::Commit => self.commit_share,
            Bottleneck::Cpu => self.cpu_share.map(|cpu| cpu + self.cpu_queue_share.unwrap_or(0.0)),
            Bottleneck::Contention => self.contention_share,
            Bottleneck::Other => self.other_share,
            Bottleneck::Idle | Bottleneck::Mixed | Bottleneck::Unknown => None,
        }
    }

    /// Nothing leads that is smaller than what nobody accounts for.
    fn leader(&self) -> Bottleneck {
        let (Some(user_io), Some(cpu)) = (self.user_io_share, self.cpu_share) else {
            return Bottleneck::Unknown;
        };
        let mut parts = [
            (user_io + self.write_behind_share.unwrap_or(0.0), Bottleneck::Storage),
            (self.commit_share.unwrap_or(0.0), Bottleneck::Commit),
            (cpu + self.cpu_queue_share.unwrap_or(0.0), Bottleneck::Cpu),
            (self.contention_share.unwrap_or(0.0), Bottleneck::Contention),
            (self.other_share.unwrap_or(0.0), Bottleneck::Other),
        ];
        parts.sort_by(|left, right| right.0.total_cmp(&left.0));
        let (lead, leader) = parts[0];
        if self.unaccounted_share.is_some_and(|share| share >= lead) {
            return Bottleneck::Unknown;
        }
        if lead - parts[1].0 < CLEAR_LEAD { Bottleneck::Mixed } else { leader }
    }

    fn sentence(&self) -> String {
        let parts = [
            (self.user_io_share, "user I/O"),
            (self.write_behind_share, "waits for buffer or log space"),
            (self.commit_share, "waits for commits"),
            (self.cpu_share, "CPU"),
            (self.cpu_queue_share, "waits for a CPU"),
            (self.contention_share, "waits for other sessions"),
            (self.other_share, "other waits"),
            (self.unaccounted_share, "unaccounted"),
        ];
        let is_seen = |share: f64| share.abs() >= 0.0005;
        let shown = parts.iter().filter_map(|(share, what)| match share {
            Some(share) if is_seen(*share) => Some(format!("{:.1}% {what}", share * 100.0)),
            None if *what == "user I/O" => Some(format!("an unknown share of {what}")),
            _ => None,
        });
        format!("DB time was {}", shown.collect::<Vec<_>>().join(", "))
    }
}

impl RedoPath {
    /// The same with what follows from its figures: what makes commits wait.
    pub fn concluded(mut self) -> Self {
        let latencies = self.sync_latency_s.as_ref().zip(self.write_latency_s.as_ref());
        self.finding = match (self.sync_share, latencies) {
            (Some(share), _) if share < COMMITS_MATTER => RedoFinding::NotWaitedFor,
            (_, Some((sync, write))) if write.value >= DEVICE_SHARE * sync.value => {
                RedoFinding::Device
            }
            (_, Some(_)) => RedoFinding::BesideTheDevice,
            _ => RedoFinding::Unknown,
        };
        self
    }
}

/// Cause of commit waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RedoFinding {
    /// Commit waits are negligible.
    NotWaitedFor,
    /// Most of the commit wait is the log write, or the log write exceeds its latency limit.
    Device,
    /// The log writer is saturated: commits queue, and a faster device shortens the queue.
    Saturated,
    /// Most of the commit wait is outside the log write: scheduling or queueing behind the log
    /// writer.
    BesideTheDevice,
    /// Not available in the source.
    #[default]
    Unknown,
}

/// The commit path: sessions wait for log file sync, the log writer for log file parallel write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RedoPath {
    /// Mean commit wait of a session, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_latency_s: Option<Figure>,
    /// Awaited commits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syncs_per_s: Option<Figure>,
    /// Mean write wait of the log writer, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency_s: Option<Figure>,
    /// Log writer writes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<Figure>,
    /// Redo, bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redo_bytes_per_s: Option<Figure>,
    /// Utilization of the log writer: writes per second × write time; may exceed 1 with several
    /// writers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_busy_share: Option<f64>,
    /// Share of DB time in commit waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_share: Option<f64>,
    /// Cause of commit waits.
    pub finding: RedoFinding,
}
