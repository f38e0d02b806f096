//! How long a scripted device takes: service times, and stalls in which it does no work at all.

use crate::operation::Operation;
use crate::random::Random;
use assay_model::units::Nanos;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The law that one operation's service time follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    /// Always the same time.
    Fixed(Nanos),
    /// Exponential with this mean, drawn from the script's seed.
    Exponential(Nanos),
}

impl Default for Latency {
    fn default() -> Self {
        Self::Fixed(Nanos(0))
    }
}

/// A duration in whole nanoseconds, saturating after 584 years.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

impl Latency {
    /// Always `duration`.
    pub fn fixed(duration: Duration) -> Self {
        Self::Fixed(nanos(duration))
    }

    /// Exponential with mean `duration`.
    pub fn exponential(duration: Duration) -> Self {
        Self::Exponential(nanos(duration))
    }

    /// One service time in nanoseconds.
    pub(crate) fn sample_ns(self, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(time) => time.0,
            Self::Exponential(mean) => random.exponential(mean.0),
        }
    }
}

/// The service time law of each kind of operation; nothing scripted means none added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Latencies {
    /// Of reads.
    pub read: Latency,
    /// Of writes.
    pub write: Latency,
    /// Of syncs.
    pub sync: Latency,
}

impl Latencies {
    /// The law of one kind of operation.
    pub fn of(&self, operation: Operation) -> Latency {
        match operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            Operation::Sync => self.sync,
        }
    }

    /// Replaces the law of one kind of operation.
    pub fn set(&mut self, operation: Operation, latency: Latency) {
        match operation {
            Operation::Read => self.read = latency,
            Operation::Write => self.write = latency,
            Operation::Sync => self.sync = latency,
        }
    }
}

/// A time in which the device does no work: service under way is suspended and goes on afterwards.
///
/// Times count from the first data operation that reaches the rig. All stalls of a script together
/// must leave some time free, or nothing is ever served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// When the first stall begins; one period after the first operation if only `every` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Nanos>,
    /// The period with which stalls come back; one stall only if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Nanos>,
    /// How long each lasts; shorter than the period.
    pub duration: Nanos,
    /// Which operations are held up.
    #[serde(default = "Operation::all")]
    pub operations: Vec<Operation>,
}

impl Stall {
    /// One stall of `duration`, `at` after the first operation.
    pub fn once(at: Duration, duration: Duration) -> Self {
        Self {
            at: Some(nanos(at)),
            every: None,
            duration: nanos(duration),
            operations: Operation::all(),
        }
    }

    /// A stall of `duration` at every full `period` after the first operation.
    pub fn every(period: Duration, duration: Duration) -> Self {
        Self { at: None, every: Some(nanos(period)), ..Self::once(Duration::ZERO, duration) }
    }

    /// Holds up only these operations.
    pub fn on(mut self, operations: &[Operation]) -> Self {
        self.operations = operations.to_vec();
        self
    }

    fn first_ns(&self) -> u64 {
        self.at.or(self.every).unwrap_or_default().0
    }

    /// Begin and end of the first stall that ends after `since_ns`, all counted from the first
    /// operation.
    pub(crate) fn window_ns(&self, since_ns: u64) -> Option<(u64, u64)> {
        let first_ns = self.first_ns();
        let window = |begin_ns: u64| (begin_ns, begin_ns.saturating_add(self.duration.0));
        let Some(Nanos(period_ns)) = self.every else {
            return Some(window(first_ns)).filter(|(_, end_ns)| *end_ns > since_ns);
        };
        let turns = since_ns.saturating_sub(first_ns) / period_ns;
        let current = window(first_ns + turns * period_ns);
        let next = window(first_ns + (turns + 1) * period_ns);
        Some(if current.1 > since_ns { current } else { next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn one_stall_has_one_window() {
        let stall = Stall::once(Duration::from_millis(10), Duration::from_millis(5));
        assert_eq!(stall.window_ns(0), Some((10 * MS, 15 * MS)));
        assert_eq!(stall.window_ns(15 * MS - 1), Some((10 * MS, 15 * MS)));
        assert_eq!(stall.window_ns(15 * MS), None);
    }

    #[test]
    fn periodic_stalls_begin_after_one_period_and_come_back() {
        let stall = Stall::every(Duration::from_millis(20), Duration::from_millis(5));
        assert_eq!(stall.window_ns(0), Some((20 * MS, 25 * MS)));
        assert_eq!(stall.window_ns(24 * MS), Some((20 * MS, 25 * MS)));
        assert_eq!(stall.window_ns(25 * MS), Some((40 * MS, 45 * MS)));
        assert_eq!(stall.window_ns(203 * MS), Some((200 * MS, 205 * MS)));
    }
}
