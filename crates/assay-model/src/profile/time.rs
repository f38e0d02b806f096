//! Where database time went, and what that says about its storage.

use super::Figure;
use serde::{Deserialize, Serialize};

/// A lead of less than this share of DB time is no lead.
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
    /// Oracle's name of the class.
    pub class: String,
    /// Time waited by sessions, seconds.
    pub time_s: Figure,
}

/// Database time split by CPU and wait class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimeModel {
    /// Time sessions spent in database calls, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_time_s: Option<Figure>,
    /// Of it on a CPU, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_cpu_s: Option<Figure>,
    /// CPU time of background processes, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_cpu_s: Option<Figure>,
    /// Time that sessions were ready to run while their CPU ran something else, seconds. Oracle has no such line. It is
    /// no part of the sum: most of it is the end of a wait, or comes before a statement begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_queue_s: Option<Figure>,
    /// DB time over elapsed time: sessions active on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_active_sessions: Option<Figure>,
    /// Logical CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Figure>,
    /// DB CPU over elapsed time and CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_utilization: Option<Figure>,
    /// Waits of sessions by class, without idle ones.
    pub waits: Vec<WaitClassTime>,
    /// DB time that is neither CPU nor a wait, mostly waiting for a CPU where that is no wait of its own, seconds; can be negative where both
    /// were counted twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unaccounted_s: Option<Figure>,
}

/// What most of database time went to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// Reads and writes of storage: faster storage helps, at most by the bound.
    Storage,
    /// Work on the CPU: faster storage cannot help much.
    Cpu,
    /// Sessions waiting until their commits are in the log: whether its device is slow says [`RedoFinding`].
    Commit,
    /// Sessions waiting for each other: faster storage cannot help much.
    Contention,
    /// Hardly any session was active: nothing follows from the little there was.
    Idle,
    /// No single one leads clearly.
    Mixed,
    /// The source does not say.
    #[default]
    Unknown,
}

/// Whether faster storage would help, and how much at best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimeVerdict {
    /// What most of database time went to.
    pub bottleneck: Bottleneck,
    /// Share of DB time that sessions waited for their I/O (class User I/O).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_io_share: Option<f64>,
    /// Share of DB time that sessions waited because dirty blocks or redo could not be written fast enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_behind_share: Option<f64>,
    /// Share of DB time that sessions waited for their commits (class Commit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_share: Option<f64>,
    /// Share of DB time on a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Share of DB time that sessions waited for each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention_share: Option<f64>,
    /// Amdahl's bound: DB time now over DB time with storage that takes no time, 1/(1 - user I/O share).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup_limit: Option<f64>,
    /// Why, in a sentence.
    pub reason: String,
}

impl TimeVerdict {
    /// Amdahl's bound of a share: `None` where the share is the whole or no share at all.
    pub fn amdahl(share: f64) -> Option<f64> {
        (0.0..1.0).contains(&share).then(|| 1.0 / (1.0 - share))
    }

    /// The same with what follows from its shares: the bound, which part leads, and why in a sentence.
    pub fn concluded(mut self) -> Self {
        self.speedup_limit = self.user_io_share.and_then(Self::amdahl);
        self.bottleneck = self.leader();
        self.reason = self.sentence();
        self
    }

    fn leader(&self) -> Bottleneck {
        let (Some(user_io), Some(cpu)) = (self.user_io_share, self.cpu_share) else {
            return Bottleneck::Unknown;
        };
        let storage = user_io + self.write_behind_share.unwrap_or(0.0);
        let contention = self.contention_share.unwrap_or(0.0);
        let mut parts = [
            (storage, Bottleneck::Storage),
            (self.commit_share.unwrap_or(0.0), Bottleneck::Commit),
            (cpu, Bottleneck::Cpu),
            (contention, Bottleneck::Contention),
        ];
        parts.sort_by(|left, right| right.0.total_cmp(&left.0));
        if parts[0].0 - parts[1].0 < CLEAR_LEAD { Bottleneck::Mixed } else { parts[0].1 }
    }

    fn sentence(&self) -> String {
        let percent = |share: Option<f64>| {
            share.map_or("unknown".to_owned(), |share| format!("{:.1} %", share * 100.0))
        };
        format!(
            "of DB time {} was user I/O, {} waiting for writes to catch up, {} waiting for commits, {} on a CPU, {} sessions waiting for each other",
            percent(self.user_io_share),
            percent(self.write_behind_share),
            percent(self.commit_share),
            percent(self.cpu_share),
            percent(self.contention_share),
        )
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

/// What makes commits wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RedoFinding {
    /// Sessions hardly wait for commits.
    NotWaitedFor,
    /// Most of the commit wait is the write itself.
    Device,
    /// Most of it is not: scheduling, or commits queueing behind the log writer.
    BesideTheDevice,
    /// The source does not say.
    #[default]
    Unknown,
}

/// The commit path: sessions wait for log file sync, the log writer for log file parallel write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RedoPath {
    /// Mean wait of a session for its commit, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_latency_s: Option<Figure>,
    /// Mean wait of the log writer for its write, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency_s: Option<Figure>,
    /// Writes of the log writer per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<Figure>,
    /// Redo, bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redo_bytes_per_s: Option<Figure>,
    /// Share of DB time that sessions waited for commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_share: Option<f64>,
    /// What makes commits wait.
    pub finding: RedoFinding,
}
