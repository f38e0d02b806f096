//! A server that never was: two snapshots ten seconds apart whose every difference is a round
//! number.

use super::*;
use assay_model::counters::TaskCounters;
use assay_model::number::real_len;
use assay_model::profile::{Profile, TimedEvent};
use assay_model::{Estimate, Result};
use std::collections::BTreeMap;

/// Length of the interval, seconds.
pub(super) const ELAPSED_S: f64 = 10.0;
const SHOP: &str = "shop";

/// Plain arithmetic instead of a book: the value, and an interval of a tenth around it.
pub(super) struct PlainPostgres;

impl IntervalEstimator for PlainPostgres {
    fn mean(&self, observations: &[f64]) -> Option<Estimate> {
        let value = observations.iter().sum::<f64>() / real_len(observations.len());
        Some(around(value))
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        Some(around(numerators.iter().sum::<f64>() / denominators.iter().sum::<f64>()))
    }
}

fn around(value: f64) -> Estimate {
    Estimate { value, low: 0.9 * value, high: 1.1 * value, confidence: 0.95, n: 100 }
}

/// A story of a server; tests change it and read what the profile makes of it.
pub(super) struct PostgresStory {
    pub(super) before: PostgresSnapshot,
    pub(super) after: PostgresSnapshot,
    pub(super) samples: SessionSamples,
    pub(super) host: HostContext,
}

/// A key of `pg_stat_io`.
pub(super) fn key(process: &str, object: &str, context: &str) -> IoKey {
    IoKey { process: process.into(), object: object.into(), context: context.into() }
}

/// A release with all timers on: in 10 s sessions were active for 40 s, of which 8 s on a CPU, 16 s
/// in reads, 4 s in flushes of the log; a fifth of what was seen waited for a lock (8 s), and a
/// fifth for nothing (8 s). 4 s are nowhere.
pub(super) fn story(major: u32) -> PostgresStory {
    let mut before = empty(PostgresVersion(major * 10_000 + 3));
    let mut after = before.clone();
    after.at_s += ELAPSED_S;
    let shop = after.databases.get_mut(SHOP).unwrap();
    shop.active_time_s += 40.0;
    shop.commits += 1000;
    shop.blocks_read += 20_000;
    shop.blocks_hit += 80_000;
    shop.read_time_s += 16.0;
    before.log = Some(log(&before, 0));
    after.log = Some(log(&after, 1));
    if after.version.has_io() {
        let rows = after.io.as_mut().unwrap();
        let reads = rows.get_mut(&key("client backend", "relation", "normal")).unwrap();
        reads.reads += 20_000;
        reads.read_bytes += 20_000 * 8192;
        reads.read_time_s += 16.0;
        reads.hits += 80_000;
        if after.version.has_log_io() {
            let log = rows.get_mut(&key("client backend", "wal", "normal")).unwrap();
            log.syncs += 1000;
            log.writes += 1000;
            log.sync_time_s += 4.0;
        }
    }
    PostgresStory { before, after, samples: samples(), host: HostContext::default() }
}

fn empty(version: PostgresVersion) -> PostgresSnapshot {
    let settings = PostgresSettings {
        track_io_timing: true,
        track_wal_io_timing: true,
        track_counts: true,
        track_activities: true,
        block_bytes: 8192,
        sees_all: true,
        ..PostgresSettings::default()
    };
    let io = version.has_io().then(|| {
        let rows =
            [key("client backend", "relation", "normal"), key("client backend", "wal", "normal")];
        rows.into_iter().map(|key| (key, IoRow::default())).collect()
    });
    PostgresSnapshot {
        version,
        settings,
        at_s: 1000.0,
        databases: BTreeMap::from([(SHOP.to_owned(), DatabaseRow::default())]),
        io,
        background: Some(Background::default()),
        ..PostgresSnapshot::default()
    }
}

/// Up to 17 the log has writes and flushes of its own.
fn log(snapshot: &PostgresSnapshot, times: u32) -> LogCounters {
    let own = !snapshot.version.has_log_io();
    let count = u64::from(times) * 1000;
    LogCounters {
        records: 5 * count,
        bytes: 1000 * count,
        writes: own.then_some(count),
        syncs: own.then_some(count),
        write_time_s: own.then_some(0.0),
        sync_time_s: own.then_some(4.0 * f64::from(times)),
        ..LogCounters::default()
    }
}

/// A hundred samples: of four active sessions two read, one waits half of the time for a lock.
fn samples() -> SessionSamples {
    let seen = |kind: &str, event: &str, sessions: u64| (SessionState::new(kind, event), sessions);
    let sample = |number: u32| SessionSample {
        at_s: f64::from(number) / 10.0,
        is_late: false,
        sessions: BTreeMap::from([
            seen("IO", "DataFileRead", 4),
            seen("Lock", "transactionid", 2),
            seen("", "", 2),
            seen("IO", "WalSync", 2),
        ]),
        connected: 12,
    };
    SessionSamples {
        taken: (0..100).map(sample).collect(),
        elapsed_s: ELAPSED_S,
        tasks: Some(Tasks {
            clients: TaskCounters { on_cpu_ns: 8_000_000_000, queued_ns: 9_000_000_000 },
            ..Tasks::default()
        }),
    }
}

impl PostgresStory {
    pub(super) fn try_profile(&self) -> Result<Profile> {
        profile(&self.before, &self.after, &self.samples, &self.host, &PlainPostgres)
    }

    pub(super) fn profile(&self) -> Profile {
        self.try_profile().unwrap()
    }

    /// Both snapshots.
    pub(super) fn both(&mut self, change: impl Fn(&mut PostgresSnapshot)) {
        change(&mut self.before);
        change(&mut self.after);
    }
}

/// The event of this name.
pub(super) fn event(profile: &Profile, name: &str) -> Option<TimedEvent> {
    let events = &profile.server.as_ref().unwrap().events;
    events.iter().find(|event| event.event == name).cloned()
}

/// Whether a sentence with these words is among the doubts.
pub(super) fn doubts(profile: &Profile, words: &str) -> bool {
    profile.doubts.iter().any(|doubt| doubt.contains(words))
}

pub(super) fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}
