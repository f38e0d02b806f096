//! A server that never was: two snapshots ten seconds apart whose every difference is a round
//! number.

use super::*;
use assay_live::{HostContext, IntervalEstimator, SessionSample, SessionSamples, Tasks};
use assay_model::counters::TaskCounters;
use assay_model::number::real_len;
use assay_model::profile::{Profile, TimedEvent};
use assay_model::{Estimate, Result};
use std::collections::BTreeMap;

/// Length of the interval, seconds.
pub(super) const ELAPSED_S: f64 = 10.0;
/// The events that occur in the story.
pub(super) const DATA: &str = "wait/io/file/innodb/innodb_data_file";
pub(super) const LOG: &str = "wait/io/file/innodb/innodb_log_file";
pub(super) const BINARY_LOG: &str = "wait/io/file/sql/binlog";

/// Plain arithmetic instead of a book: the value, and an interval of a tenth around it.
pub(super) struct PlainMariadb;

impl IntervalEstimator for PlainMariadb {
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
pub(super) struct MariadbStory {
    pub(super) before: MariadbSnapshot,
    pub(super) after: MariadbSnapshot,
    pub(super) samples: SessionSamples,
    pub(super) host: HostContext,
}

/// In 10 s statements that ended had 38 s, and at the end 3 s more were running, at the beginning 1
/// s: 40 s. Of these 8 s were on a CPU, 16 s in data files (20,000 times), 1 s in files of tables'
/// definitions, 2 s in 500 row locks. A tenth of what was seen was a commit (4 s), a tenth a lock
/// on a table's definition (4 s). 5 s are nowhere.
pub(super) fn story() -> MariadbStory {
    let before = begin();
    let mut after = before.clone();
    after.at_s += ELAPSED_S;
    after.statement_time_s = Some(138.0);
    after.running_time_s = Some(3.0);
    after.own_time_s = 0.5;
    let waits = [(DATA, 20_000, 16.0), ("wait/io/file/sql/FRM", 50, 1.0), ("idle", 9, 90.0)];
    for (event, count, time_s) in waits {
        let wait = after.waits.entry(event.to_owned()).or_default();
        *wait = wait.plus(&EventTally { count, time_s });
    }
    let data = FileCounts {
        reads: 20_000,
        read_time_s: 16.0,
        read_bytes: 20_000 * 8192,
        writes: 4000,
        write_time_s: 0.5,
        write_bytes: 4000 * 8192,
        ..FileCounts::default()
    };
    after.files.insert(DATA.to_owned(), data);
    after.instances.insert((DATA.to_owned(), "/d/shop/items.ibd".to_owned()), data);
    for (name, count) in [
        ("UPTIME", 10),
        ("INNODB_BUFFER_POOL_READ_REQUESTS", 100_000),
        ("INNODB_PAGES_READ", 20_000),
        ("INNODB_PAGES_WRITTEN", 4000),
        ("INNODB_DBLWR_PAGES_WRITTEN", 4000),
        ("INNODB_OS_LOG_WRITTEN", 1_000_000),
        ("INNODB_LOG_WRITES", 1000),
        ("INNODB_ROW_LOCK_TIME", 2000),
        ("INNODB_ROW_LOCK_WAITS", 500),
        ("QUESTIONS", 20_000),
        ("COM_BEGIN", 1000),
        ("COM_COMMIT", 900),
        ("COM_ROLLBACK", 100),
        ("COM_SELECT", 12_000),
        ("COM_UPDATE", 6000),
    ] {
        *after.status.entry(name.to_owned()).or_default() += count;
    }
    MariadbStory { before, after, samples: samples(), host: HostContext::default() }
}

fn begin() -> MariadbSnapshot {
    let settings = MariadbSettings {
        product: assay_model::load::DatabaseProduct::MariaDb,
        version: "10.11.19".to_owned(),
        page_bytes: 8192,
        has_own_threads: true,
        is_direct: true,
        cuts_lock_times: true,
        instruments: Instruments {
            statements: true,
            files: true,
            current_waits: true,
            ..Instruments::default()
        },
        ..MariadbSettings::default()
    };
    let names = ["UPTIME", "INNODB_BUFFER_POOL_READ_REQUESTS", "INNODB_PAGES_READ"];
    let more = ["INNODB_PAGES_WRITTEN", "INNODB_DBLWR_PAGES_WRITTEN", "INNODB_OS_LOG_WRITTEN"];
    let locks = ["INNODB_LOG_WRITES", "INNODB_ROW_LOCK_TIME", "INNODB_ROW_LOCK_WAITS"];
    let work = ["QUESTIONS", "COM_BEGIN", "COM_COMMIT", "COM_ROLLBACK", "COM_SELECT", "COM_UPDATE"];
    let all = names.into_iter().chain(more).chain(locks).chain(work);
    MariadbSnapshot {
        settings,
        at_s: 1000.0,
        status: all.map(|name| (name.to_owned(), 7)).collect(),
        statement_time_s: Some(100.0),
        running_time_s: Some(1.0),
        waits: BTreeMap::from([(DATA.to_owned(), EventTally { count: 3, time_s: 2.0 })]),
        ..MariadbSnapshot::default()
    }
}

/// A hundred looks at ten active sessions each.
fn samples() -> SessionSamples {
    let sessions = [
        (seen(DATA, "Sending data", true), 4),
        (seen("", "Sending data", true), 4),
        (seen("", "Commit", true), 1),
        (seen("", "Waiting for table metadata lock", true), 1),
    ];
    let sample = |number: u32| SessionSample {
        at_s: f64::from(number) / 10.0,
        is_late: false,
        sessions: sessions.iter().cloned().collect(),
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

impl MariadbStory {
    pub(super) fn try_profile(&self) -> Result<Profile> {
        profile(&self.before, &self.after, &self.samples, &self.host, &PlainMariadb)
    }

    pub(super) fn profile(&self) -> Profile {
        self.try_profile().unwrap()
    }

    /// Both snapshots.
    pub(super) fn both(&mut self, change: impl Fn(&mut MariadbSnapshot)) {
        change(&mut self.before);
        change(&mut self.after);
    }
}

/// The event of this name.
pub(super) fn event(profile: &Profile, name: &str) -> Option<TimedEvent> {
    let events = &profile.server.as_ref().unwrap().events;
    events.iter().find(|event| event.event == name).cloned()
}

/// Time in a class, seconds; 0 where there is none.
pub(super) fn class(profile: &Profile, name: &str) -> f64 {
    let wait = profile.time.waits.iter().find(|wait| wait.class == name);
    wait.map_or(0.0, |wait| wait.time_s.value)
}

/// Whether a sentence with these words is in a list.
pub(super) fn says(list: &[String], words: &str) -> bool {
    list.iter().any(|one| one.contains(words))
}

pub(super) fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}
