//! Where database time went, and what that says about its storage.

use super::figure::Figure;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A lead of less than this share of DB time does not count.
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
    /// Time that sessions were ready to run while their CPU ran something else, seconds. Oracle
    /// has no such line. It is not part of the sum: most of it is the end of a wait, or comes
    /// before a statement begins.
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
    /// Busy share of the host's CPUs, of all that ran on it, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<Figure>,
    /// Waits of sessions by class, without idle ones.
    pub waits: Vec<WaitClassTime>,
    /// DB time that is neither CPU nor a wait, mostly waiting for a CPU where that is not a wait
    /// event, seconds; can be negative where both were counted twice.
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
    /// Sessions waiting until their commits are in the log: whether its device is slow says
    /// [`RedoFinding`].
    Commit,
    /// Sessions waiting for each other: faster storage cannot help much.
    Contention,
    /// Something else that has a name: network, a resource plan, a single event; storage cannot
    /// help.
    Other,
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
    /// Share of DB time that sessions waited because dirty blocks or redo could not be written
    /// fast enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_behind_share: Option<f64>,
    /// Share of DB time that sessions waited for their commits (class Commit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_share: Option<f64>,
    /// Share of DB time on a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Share of DB time that sessions waited for a CPU: in no event, while the machine had none to
    /// spare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_queue_share: Option<f64>,
    /// Share of DB time that sessions waited for each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention_share: Option<f64>,
    /// Share of DB time in waits of no other part: network, resource plans, the class Other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_share: Option<f64>,
    /// Share of DB time that is neither CPU nor a wait; negative where something was counted
    /// twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unaccounted_share: Option<f64>,
    /// Amdahl's bound for reads: DB time now over DB time with user I/O that takes no time. What
    /// is left is at least the time on a CPU and in other waits, also where shares overlap and
    /// add up to more than DB time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup_limit: Option<f64>,
    /// The same with commits, writes that sessions waited for and what hangs on them: all that
    /// storage can bring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_speedup_limit: Option<f64>,
    /// The event or class that leads, where one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What may be behind the cause, where the source only suggests it: a hypothesis, of which no
    /// bound follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspected_cause: Option<String>,
    /// What the storage is said to be made of; absent where nobody said, and the limits of disks
    /// are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<StorageMedium>,
    /// Storage judged by the time it takes, whatever the shares are; the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceFinding>,
    /// What has to be known with it: what the report covers, what it leaves open, what hangs on
    /// what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why, in a sentence.
    pub reason: String,
}

/// What storage is made of, as far as the times accepted of it differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StorageMedium {
    /// Rotating disks, with or without a cache before them.
    #[value(help = "Hard disks: up to 20 ms is acceptable")]
    Disks,
    /// Solid-state storage.
    #[value(help = "Solid-state storage: up to 2 ms is acceptable")]
    Flash,
}

/// I/O whose time is judged by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IoPath {
    /// Writes of the log writer.
    RedoWrite,
    /// Reads of one block.
    SingleBlockRead,
    /// Writes of control files.
    ControlFileWrite,
}

/// How a time stands to what is accepted of its storage medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceGrade {
    /// As good as is expected of its medium.
    Sound,
    /// Busy: requests wait for it, though each takes no longer than accepted.
    Saturated,
    /// Above what is accepted.
    Slow,
    /// Ten times what is accepted, or more.
    Failing,
}

/// Storage judged by the time it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceFinding {
    /// Which I/O.
    pub path: IoPath,
    /// The event that was waited for.
    pub event: String,
    /// Its mean time, seconds.
    pub latency_s: Figure,
    /// What is accepted, seconds.
    pub limit_s: f64,
    /// Requests outstanding on average: rate times time; one writer that is above 0.7 is busy.
    #[serde(alias = "outstanding", default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<Figure>,
    /// How it stands.
    pub grade: DeviceGrade,
    /// Where the limit is from.
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

/// What makes commits wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RedoFinding {
    /// Sessions barely wait for commits.
    NotWaitedFor,
    /// Most of the commit wait is the write itself, or the write is slow by any measure.
    Device,
    /// The log writer is busy all the time: commits queue for it, and a faster device shortens the
    /// queue.
    Saturated,
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
    /// Commits that sessions waited for, per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syncs_per_s: Option<Figure>,
    /// Mean wait of the log writer for its write, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency_s: Option<Figure>,
    /// Writes of the log writer per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<Figure>,
    /// Redo, bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redo_bytes_per_s: Option<Figure>,
    /// Share of time that the log writer waited for its writes: writes per second times their
    /// time; above 1 with several writers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_busy_share: Option<f64>,
    /// Share of DB time that sessions waited for commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_share: Option<f64>,
    /// What makes commits wait.
    pub finding: RedoFinding,
}
