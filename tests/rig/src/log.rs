//! What happened to every operation, and what it adds up to.

use crate::errno::Errno;
use crate::fault::Applied;
use crate::operation::Operation;
use assay_model::number::share;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::sync::Arc;

/// The checksum of the log: CRC-32 as in gzip and Ethernet (IEEE 802.3).
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Which operations are kept as entries; the statistics count all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Reads, writes and syncs.
    #[default]
    All,
    /// Writes and syncs.
    Writes,
    /// None.
    Nothing,
}

impl Keep {
    fn wants(self, operation: Operation) -> bool {
        match self {
            Self::All => true,
            Self::Writes => operation != Operation::Read,
            Self::Nothing => false,
        }
    }
}

/// A shared name as plain text in JSON.
mod shared_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Arc::from)
    }
}

/// One operation from its arrival at the rig to its answer. Stamps are ns of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Order of arrival, from 0; reads, writes and syncs of all files share it.
    pub sequence: u64,
    /// Order of acknowledgement, from 0.
    pub acknowledged: u64,
    /// Path of the file below the mount.
    #[serde(with = "shared_text")]
    pub file: Arc<str>,
    /// What was asked.
    pub operation: Operation,
    /// First byte asked for; 0 for a sync.
    pub offset: u64,
    /// Bytes asked for; 0 for a sync.
    pub length: u64,
    /// When the rig took the request from the kernel.
    pub arrival_ns: u64,
    /// When the script wanted it answered.
    pub due_ns: u64,
    /// Just before the answer was handed to the kernel.
    pub completion_ns: u64,
    /// The error it was answered with.
    pub errno: Option<Errno>,
    /// The fault that happened to it.
    pub fault: Option<Applied>,
    /// [`checksum`] of the bytes that a write brought (not of what a fault made of them) or that a
    /// read returned; none for a sync and after an error of a read.
    pub checksum: Option<u32>,
}

impl Entry {
    /// Arrival to completion at the rig: the truth that a client's service time must not be below.
    pub fn service_time_ns(&self) -> u64 {
        self.completion_ns.saturating_sub(self.arrival_ns)
    }
}

/// Counts of one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Operations answered, errors included.
    pub ios: u64,
    /// Bytes asked for by those answered without an error.
    pub bytes: u64,
    /// Answered with an error.
    pub errors: u64,
    /// Operations that a fault happened to.
    pub faults: u64,
    /// Sum of their service times at the rig.
    pub service_time_sum_ns: u64,
}

impl Counts {
    /// Mean service time at the rig in ns; 0 of nothing.
    pub fn service_time_mean_ns(&self) -> f64 {
        share(self.service_time_sum_ns, self.ios)
    }

    fn add(&mut self, entry: &Entry) {
        self.ios += 1;
        self.bytes += if entry.errno.is_none() { entry.length } else { 0 };
        self.errors += u64::from(entry.errno.is_some());
        self.faults += u64::from(entry.fault.is_some());
        self.service_time_sum_ns += entry.service_time_ns();
    }
}

/// Counts since the mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Of reads.
    pub read: Counts,
    /// Of writes.
    pub write: Counts,
    /// Of syncs.
    pub sync: Counts,
    /// Operations that arrived and are not answered yet.
    pub queue_depth: u64,
    /// The most that ever were.
    pub queue_depth_max: u64,
}

impl Statistics {
    /// The counts of one kind of operation.
    pub fn of(&self, operation: Operation) -> &Counts {
        match operation {
            Operation::Read => &self.read,
            Operation::Write => &self.write,
            Operation::Sync => &self.sync,
        }
    }

    fn of_mut(&mut self, operation: Operation) -> &mut Counts {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Sync => &mut self.sync,
        }
    }
}

/// Entries in order of acknowledgement.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// What was kept.
    pub entries: Vec<Entry>,
}

impl Log {
    /// Entries of one kind of operation.
    pub fn of(&self, operation: Operation) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.operation == operation)
    }

    /// Writes and syncs: what a device was asked to keep, in the order in which it acknowledged
    /// them.
    pub fn writes(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.operation != Operation::Read)
    }

    /// Entries that a fault happened to.
    pub fn faulty(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.fault.is_some())
    }

    /// Service times of one kind of operation at the rig in ns, sorted.
    pub fn service_times_ns(&self, operation: Operation) -> Vec<u64> {
        let mut times: Vec<u64> = self.of(operation).map(Entry::service_time_ns).collect();
        times.sort_unstable();
        times
    }

    /// Reads back what [`Log::write_jsonl`] wrote; lines of another kind are left out.
    pub fn parse_jsonl(text: &str) -> Self {
        let entries = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        Self { entries: entries.collect() }
    }

    /// One JSON object a line, in order of acknowledgement.
    pub fn write_jsonl(&self, mut to: impl Write) -> io::Result<()> {
        for entry in &self.entries {
            serde_json::to_writer(&mut to, entry)?;
            to.write_all(b"\n")?;
        }
        to.flush()
    }
}

/// The log while the rig runs.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    keep: Keep,
    arrived: u64,
    answered: u64,
    log: Log,
    statistics: Statistics,
}

impl Recorder {
    pub(crate) fn new(keep: Keep) -> Self {
        Self { keep, ..Self::default() }
    }

    /// The sequence number of an operation that has just arrived.
    pub(crate) fn arrive(&mut self) -> u64 {
        self.arrived += 1;
        let queue_depth = self.arrived - self.answered;
        self.statistics.queue_depth_max = self.statistics.queue_depth_max.max(queue_depth);
        self.arrived - 1
    }

    /// Keeps an answered operation and numbers its acknowledgement.
    pub(crate) fn answer(&mut self, mut entry: Entry) {
        entry.acknowledged = self.answered;
        self.answered += 1;
        self.statistics.of_mut(entry.operation).add(&entry);
        if self.keep.wants(entry.operation) {
            self.log.entries.push(entry);
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics { queue_depth: self.arrived - self.answered, ..self.statistics }
    }

    pub(crate) fn log(&self) -> Log {
        self.log.clone()
    }

    /// Hands over the entries kept so far; the statistics go on.
    pub(crate) fn take(&mut self) -> Log {
        std::mem::take(&mut self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(operation: Operation, time_ns: u64, errno: Option<Errno>) -> Entry {
        Entry {
            sequence: 0,
            acknowledged: 0,
            file: "data".into(),
            operation,
            offset: 0,
            length: 4096,
            arrival_ns: 1_000,
            due_ns: 1_000,
            completion_ns: 1_000 + time_ns,
            errno,
            fault: None,
            checksum: None,
        }
    }

    #[test]
    fn statistics_count_what_the_log_does_not_keep() {
        let mut recorder = Recorder::new(Keep::Writes);
        (0..3).for_each(|sequence| assert_eq!(recorder.arrive(), sequence));
        recorder.answer(entry(Operation::Read, 10, None));
        recorder.answer(entry(Operation::Write, 30, Some(Errno::EIO)));
        let statistics = recorder.statistics();
        assert_eq!((statistics.queue_depth, statistics.queue_depth_max), (1, 3));
        assert_eq!((statistics.read.ios, statistics.read.bytes), (1, 4096));
        assert_eq!((statistics.write.errors, statistics.write.bytes), (1, 0));
        assert!((statistics.write.service_time_mean_ns() - 30.0).abs() < 1e-9);
        let log = recorder.take();
        assert_eq!(log.entries.len(), 1);
        assert_eq!(log.entries[0].acknowledged, 1);
        assert!(recorder.log().entries.is_empty());
    }

    #[test]
    fn lines_are_json_with_names_for_errors_and_effects() {
        use crate::fault::{Applied, Effect};
        use assay_model::units::Bytes;
        let fault = Some(Applied { index: 2, effect: Effect::Torn(Bytes(512)) });
        let entry = Entry { fault, ..entry(Operation::Write, 5, Some(Errno::ENOSPC)) };
        let mut lines = Vec::new();
        let log = Log { entries: vec![entry] };
        log.write_jsonl(&mut lines).unwrap();
        let text = String::from_utf8(lines).unwrap();
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["operation"], "write");
        assert_eq!(line["errno"], "ENOSPC");
        assert_eq!(line["fault"]["index"], 2);
        assert_eq!(line["fault"]["effect"]["torn"], "512B");
        assert_eq!(line["completion_ns"], 1005);
        assert_eq!(Log::parse_jsonl(&text).entries, log.entries);
    }

    #[test]
    fn the_checksum_is_crc_32() {
        // Check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
