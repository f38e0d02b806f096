//! What can be made to go wrong with an operation, and which operations it happens to.

use crate::errno::Errno;
use crate::latency::nanos;
use crate::operation::Operation;
use crate::random::Random;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::time::Duration;

/// One way to misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The operation fails with this error; a write stores nothing.
    Error(Errno),
    /// A write that would bring the bytes written under this fault above the limit fails with
    /// `ENOSPC` as a whole.
    NoSpaceAfter(Bytes),
    /// The device is gone: this and every later operation fails with this error.
    Vanish(Errno),
    /// The operation is served this much later than scripted, whatever else happens to it.
    Delay(Nanos),
    /// Only the first bytes of a write reach the store; all of it is acknowledged.
    Torn(Bytes),
    /// A write is acknowledged and stored nowhere.
    Lost,
    /// A read returns what each 4 KiB block held before its last write.
    StaleRead,
    /// A write can be read back until the next sync of the file, which drops it: what was there
    /// before comes back wherever nothing newer was written.
    StaleWrite,
    /// A write is stored this many bytes further on (around the end of the file), nowhere else.
    Misdirected(Bytes),
    /// A write is stored with its first bytes as zeros.
    Zeroed(Bytes),
    /// A write is stored with its first bytes replaced by others that nobody wrote.
    Garbled(Bytes),
    /// This bit of the transfer (modulo its length) is inverted: on a read only in the answer, on a
    /// write in the store.
    BitFlip(u64),
}

impl Effect {
    /// The operations that this can happen to.
    fn operations(self) -> &'static [Operation] {
        use Operation::{Read, Write};
        match self {
            Self::Error(_) | Self::Vanish(_) | Self::Delay(_) => &Operation::ALL,
            Self::BitFlip(_) => &[Read, Write],
            Self::StaleRead => &[Read],
            Self::NoSpaceAfter(_)
            | Self::Torn(_)
            | Self::Lost
            | Self::StaleWrite
            | Self::Zeroed(_)
            | Self::Garbled(_)
            | Self::Misdirected(_) => &[Write],
        }
    }
}

/// Which of the operations that pass a fault's filter it happens to. Counting starts at 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// All of them.
    #[default]
    Always,
    /// The n-th only.
    Nth(u64),
    /// Every n-th.
    Every(u64),
    /// The n-th and all later ones.
    From(u64),
    /// Those that arrive this long after the first data operation of the rig, or later.
    After(Nanos),
    /// Each with this probability, drawn from the script's seed.
    Probability(Share),
}

/// An effect, the operations it may happen to, and which of these it picks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What happens.
    pub effect: Effect,
    /// To which kinds of operation; empty: to every kind that the effect can happen to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    /// Only in the file of this name; in every file if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Only where a transfer touches bytes from here …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Bytes>,
    /// … to here, this one excluded. A sync has no bytes and is never in a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Bytes>,
    /// Which of those.
    #[serde(default)]
    pub select: Select,
    /// How often at most; without end if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
}

impl Fault {
    /// The effect on every operation that it can happen to, until narrowed.
    pub fn new(effect: Effect) -> Self {
        Self {
            effect,
            operations: Vec::new(),
            file: None,
            from: None,
            to: None,
            select: Select::Always,
            at_most: None,
        }
    }

    /// Fails reads, writes and syncs with `errno`.
    pub fn error(errno: Errno) -> Self {
        Self::new(Effect::Error(errno))
    }

    /// Only these kinds of operation.
    pub fn on(mut self, operations: &[Operation]) -> Self {
        self.operations = operations.to_vec();
        self
    }

    /// Only the file `name`.
    pub fn file(mut self, name: &str) -> Self {
        self.file = Some(name.to_owned());
        self
    }

    /// Only transfers that touch these bytes.
    pub fn range(mut self, bytes: Range<u64>) -> Self {
        self.from = Some(Bytes(bytes.start));
        self.to = Some(Bytes(bytes.end));
        self
    }

    /// Only the n-th operation that passes the filter; the first is 1.
    pub fn nth(mut self, n: u64) -> Self {
        self.select = Select::Nth(n);
        self
    }

    /// Every n-th operation that passes the filter.
    pub fn every(mut self, n: u64) -> Self {
        self.select = Select::Every(n);
        self
    }

    /// The n-th operation that passes the filter and all later ones.
    pub fn from_nth(mut self, n: u64) -> Self {
        self.select = Select::From(n);
        self
    }

    /// Operations that arrive at least `time` after the rig's first data operation.
    pub fn after(mut self, time: Duration) -> Self {
        self.select = Select::After(nanos(time));
        self
    }

    /// Each operation that passes the filter with this probability in 0..=1.
    pub fn probability(mut self, probability: f64) -> Self {
        self.select = Select::Probability(Share(probability));
        self
    }

    /// No more than `times` in all.
    pub fn at_most(mut self, times: u64) -> Self {
        self.at_most = Some(times);
        self
    }

    /// The kinds of operation that this fault may happen to.
    fn addressed(&self) -> &[Operation] {
        if self.operations.is_empty() { self.effect.operations() } else { &self.operations }
    }

    /// Whether the fault is valid.
    pub(crate) fn check(&self) -> Result<()> {
        let possible = self.effect.operations();
        let refuse = |what: String, hint: String| Err(Error::usage(what, hint));
        if let Some(odd) = self.operations.iter().find(|operation| !possible.contains(operation)) {
            let hint = format!("it can happen to {possible:?}");
            return refuse(format!("{:?} cannot happen to a {odd:?}", self.effect), hint);
        }
        match self.select {
            Select::Nth(0) | Select::Every(0) | Select::From(0) => {
                refuse("a fault selects operation 0".to_owned(), "the first is 1".to_owned())
            }
            Select::Probability(Share(share)) if !(0.0..=1.0).contains(&share) => {
                refuse(format!("probability {share}"), "write a share between 0 and 1".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn touches(&self, offset: u64, length: u64) -> bool {
        let from = self.from.map_or(0, |bytes| bytes.0);
        let to = self.to.map_or(u64::MAX, |bytes| bytes.0);
        offset < to && offset.saturating_add(length) > from
    }

    fn passes(&self, arrival: &Arrival<'_>) -> bool {
        let anywhere = self.from.is_none() && self.to.is_none();
        self.addressed().contains(&arrival.operation)
            && self.file.as_deref().is_none_or(|name| name == arrival.file)
            && (anywhere || self.touches(arrival.offset, arrival.length))
    }
}

/// What a fault may ask about an operation that has just arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) operation: Operation,
    pub(crate) file: &'a str,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Time since the first data operation.
    pub(crate) since_first_ns: u64,
}

/// A fault that happened to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Its position in the script, from 0; faults added to a running rig count on.
    pub index: usize,
    /// What it did.
    pub effect: Effect,
}

/// What the script has in store for one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The first fault that happens to it and is not a mere delay, or else the first delay.
    pub(crate) applied: Option<Applied>,
    /// All delays together.
    pub(crate) delay_ns: u64,
}

/// A fault with its counts.
#[derive(Debug)]
struct Trigger {
    fault: Fault,
    index: usize,
    matched: u64,
    fired: u64,
    written_bytes: u64,
    random: Random,
}

impl Trigger {
    fn selects(&mut self, since_first_ns: u64) -> bool {
        let chance = self.random.unit();
        match self.fault.select {
            Select::Always => true,
            Select::Nth(n) => self.matched == n,
            Select::Every(n) => self.matched.is_multiple_of(n),
            Select::From(n) => self.matched >= n,
            Select::After(time) => since_first_ns >= time.0,
            Select::Probability(share) => chance < share.0,
        }
    }

    fn has_room(&mut self, limit: Bytes, length: u64) -> bool {
        let fits = self.written_bytes.saturating_add(length) <= limit.0;
        if fits {
            self.written_bytes += length;
        }
        fits
    }

    fn fires(&mut self, arrival: &Arrival<'_>) -> bool {
        if !self.fault.passes(arrival) {
            return false;
        }
        self.matched += 1;
        let spent = self.fault.at_most.is_some_and(|times| self.fired >= times);
        if !self.selects(arrival.since_first_ns) || spent {
            return false;
        }
        if let Effect::NoSpaceAfter(limit) = self.fault.effect
            && self.has_room(limit, arrival.length)
        {
            return false;
        }
        self.fired += 1;
        true
    }
}

/// All faults of a rig.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    triggers: Vec<Trigger>,
    added: usize,
    seed: u64,
}

impl Faults {
    pub(crate) fn new(faults: &[Fault], seed: u64) -> Self {
        let mut all = Self { seed, ..Self::default() };
        for fault in faults {
            all.add(fault.clone());
        }
        all
    }

    pub(crate) fn add(&mut self, fault: Fault) {
        let index = self.added;
        self.added += 1;
        let random = Random::stream(self.seed, 1_000 + assay_model::number::count_of(index));
        self.triggers.push(Trigger {
            fault,
            index,
            matched: 0,
            fired: 0,
            written_bytes: 0,
            random,
        });
    }

    pub(crate) fn clear(&mut self) {
        self.triggers.clear();
    }

    /// Lets every fault count the operation, and says what happens to it.
    pub(crate) fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        let mut decision = Decision::default();
        for trigger in &mut self.triggers {
            if trigger.fires(arrival) {
                let applied = Applied { index: trigger.index, effect: trigger.fault.effect };
                decision.meet(applied);
            }
        }
        decision
    }
}

impl Decision {
    fn meet(&mut self, applied: Applied) {
        if let Effect::Delay(time) = applied.effect {
            self.delay_ns = self.delay_ns.saturating_add(time.0);
        }
        let only_delayed = matches!(self.applied, Some(Applied { effect: Effect::Delay(_), .. }));
        let delays = matches!(applied.effect, Effect::Delay(_));
        if self.applied.is_none() || (only_delayed && !delays) {
            self.applied = Some(applied);
        }
    }
}

#[cfg(test)]
mod tests;
