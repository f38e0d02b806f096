//! Where the time of sessions went: what is counted comes first, what is sampled fills in the rest with its doubt.

use super::classes::{COMMIT, SCHEDULER, USER_IO, class_of, is_data_io, is_log_io};
use super::delta::Delta;
use super::looks::{Looks, Seen};
use super::profile::Bars;
use super::snapshot::{IoKey, IoRow};
use assay_model::Estimate;
use assay_model::number::{real, seconds};
use assay_model::profile::{TimeSource, TimedEvent};

/// Events that were seen less often say too little by themselves.
const SEEN_MIN: u64 = 10;
const READY: &str = "ready, waiting for a CPU";
/// The kind of process that serves a client.
pub(super) const CLIENT: &str = "client backend";

/// A time that was counted; nothing where nothing happened.
fn counted(
    event: impl Into<String>,
    class: &str,
    time_s: f64,
    waits: Option<u64>,
) -> Option<TimedEvent> {
    (time_s > 0.0).then(|| TimedEvent {
        event: event.into(),
        class: class.to_owned(),
        known: TimeSource::Counted,
        time_s: Estimate::exact(time_s, waits.unwrap_or(1)),
        db_time_share: None,
        waits,
        seen: None,
    })
}

/// All events of client sessions, most time first; shares are of DB time.
pub(super) fn events(
    delta: &Delta<'_>,
    looks: &Looks,
    bars: &dyn Bars,
    db_time_s: f64,
) -> Vec<TimedEvent> {
    let mut events = processor(looks, bars, db_time_s);
    events.extend(data_io(delta));
    events.extend(log_io(delta));
    events.extend(sampled(delta, looks, bars, db_time_s));
    for event in &mut events {
        event.db_time_share = (db_time_s > 0.0).then(|| event.time_s.value / db_time_s);
    }
    events.sort_by(|left, right| right.time_s.value.total_cmp(&left.time_s.value));
    events
}

/// Time on a CPU by the scheduler's count, and ready for one: what sessions were seen without a wait beyond it.
///
/// The scheduler counts time in its queue as well, but most of that is the end of a wait, which the wait's own time
/// holds, or comes before a statement begins. Adding it would count it twice: with four sessions of pgbench on two
/// processors that had no time to spare the parts came to 230 % (release 18) and 220 % (release 15) of DB time so, and to
/// 109 % and 108 % in this way. What is beyond 100 % there is the log's: counted flushes beside sampled waits for them.
fn processor(looks: &Looks, bars: &dyn Bars, db_time_s: f64) -> Vec<TimedEvent> {
    let Some(tasks) = looks.tasks else {
        return Vec::new();
    };
    let on_cpu_s = seconds(tasks.clients.on_cpu_ns);
    let on_cpu = counted("CPU", "CPU", on_cpu_s, None);
    let beyond = |time_s: f64| (time_s - on_cpu_s).max(0.0);
    let seen = of_share(looks, bars, db_time_s, &Seen::is_no_wait);
    let time_s = Estimate {
        value: beyond(seen.value),
        low: beyond(seen.low),
        high: beyond(seen.high),
        ..seen
    };
    let ready = (time_s.value > 0.0).then(|| TimedEvent {
        event: READY.to_owned(),
        class: SCHEDULER.to_owned(),
        known: TimeSource::Sampled,
        time_s,
        db_time_share: None,
        waits: None,
        seen: None,
    });
    on_cpu.into_iter().chain(ready).collect()
}

/// Time in reads, writes and extensions of data files that was added up by the server.
fn data_io(delta: &Delta<'_>) -> Vec<TimedEvent> {
    if !delta.is_io_timed() {
        return Vec::new();
    }
    let Some(io) = delta.io() else {
        return old_data_io(delta);
    };
    let rows = io.iter().filter(|(key, _)| key.process == CLIENT && key.object != "wal");
    rows.flat_map(|(key, row)| of_row(key, row)).collect()
}

/// The events of a row of `pg_stat_io`.
fn of_row(key: &IoKey, row: &IoRow) -> impl Iterator<Item = TimedEvent> + use<> {
    let place = match (key.object.as_str(), key.context.as_str()) {
        ("relation", context) => context.to_owned(),
        (object, context) => format!("{object}, {context}"),
    };
    let event = |name: &str, time_s: f64, waits: u64| {
        counted(format!("IO:{name} ({place})"), USER_IO, time_s, Some(waits))
    };
    [
        event("DataFileRead", row.read_time_s, row.reads),
        event("DataFileExtend", row.extend_time_s, row.extends),
        event("DataFileWrite", row.write_time_s + row.writeback_time_s, row.writes),
        event("DataFileSync", row.sync_time_s, row.syncs),
    ]
    .into_iter()
    .flatten()
}

/// Before 16 all processes of a database are added up together.
fn old_data_io(delta: &Delta<'_>) -> Vec<TimedEvent> {
    let reads = delta.sum(|database| database.blocks_read);
    let read_s = delta.time_s(|database| database.read_time_s);
    let write_s = delta.time_s(|database| database.write_time_s);
    let read = counted("IO:DataFileRead (all processes)", USER_IO, read_s, Some(reads));
    let write = counted("IO:DataFileWrite (all processes)", USER_IO, write_s, None);
    read.into_iter().chain(write).collect()
}

/// Time in writes and flushes of the log; up to 17 those of all processes.
fn log_io(delta: &Delta<'_>) -> Vec<TimedEvent> {
    if !delta.is_log_timed() {
        return Vec::new();
    }
    if delta.after.version.has_log_io() {
        let io = delta.io().unwrap_or_default();
        let rows = io.iter().filter(|(key, _)| key.process == CLIENT && key.object == "wal");
        let log = rows.fold(IoRow::default(), |sum, (_, row)| sum.plus(row));
        let write = counted("IO:WalWrite", COMMIT, log.write_time_s, Some(log.writes));
        let sync = counted("IO:WalSync", COMMIT, log.sync_time_s, Some(log.syncs));
        return write.into_iter().chain(sync).collect();
    }
    let log = delta.log().unwrap_or_default();
    let (write_s, sync_s) = (log.write_time_s.unwrap_or(0.0), log.sync_time_s.unwrap_or(0.0));
    let write = counted("IO:WALWrite (all processes)", COMMIT, write_s, log.writes);
    let sync = counted("IO:WALSync (all processes)", COMMIT, sync_s, log.syncs);
    write.into_iter().chain(sync).collect()
}

/// Events that nobody adds up: DB time times their share of what was seen, with its interval.
fn sampled(delta: &Delta<'_>, looks: &Looks, bars: &dyn Bars, db_time_s: f64) -> Vec<TimedEvent> {
    let is_left = |seen: &Seen| {
        let counted = (delta.is_io_timed() && is_data_io(seen))
            || (delta.is_log_timed() && is_log_io(seen))
            || (looks.tasks.is_some() && seen.is_no_wait());
        !counted
    };
    let totals = looks.totals();
    let left = totals.into_iter().filter(|(seen, _)| is_left(seen));
    let (clear, rare): (Vec<_>, Vec<_>) = left.partition(|(_, count)| *count >= SEEN_MIN);
    let one = |name: String, class: &str, count: u64, meant: &dyn Fn(&Seen) -> bool| TimedEvent {
        event: name,
        class: class.to_owned(),
        known: TimeSource::Sampled,
        time_s: of_share(looks, bars, db_time_s, meant),
        db_time_share: None,
        waits: None,
        seen: Some(count),
    };
    let mut events: Vec<TimedEvent> = clear
        .iter()
        .map(|(seen, count)| one(name(seen), class(seen), *count, &|other| other == *seen))
        .collect();
    let count: u64 = rare.iter().map(|(_, count)| count).sum();
    if count > 0 {
        let meant = |other: &Seen| rare.iter().any(|(seen, _)| *seen == other);
        events.push(one("events seen fewer than 10 times".to_owned(), "Other", count, &meant));
    }
    events
}

fn name(seen: &Seen) -> String {
    if seen.is_no_wait() {
        return "CPU, or waiting for one".to_owned();
    }
    format!("{}:{}", seen.kind, seen.event)
}

fn class(seen: &Seen) -> &'static str {
    if seen.is_no_wait() { "CPU" } else { class_of(seen) }
}

/// DB time times the share of some events in what was seen. Where too little was seen for an interval, the interval
/// is everything.
fn of_share(
    looks: &Looks,
    bars: &dyn Bars,
    db_time_s: f64,
    meant: &dyn Fn(&Seen) -> bool,
) -> Estimate {
    let (part, whole) = (looks.series(meant), looks.active());
    let seen = part.iter().sum::<f64>();
    let estimate = bars.ratio(&part, &whole).unwrap_or_else(|| Estimate {
        value: seen / real(looks.seen()).max(1.0),
        low: 0.0,
        high: 1.0,
        confidence: 0.95,
        n: 1,
    });
    Estimate { low: estimate.low.clamp(0.0, 1.0), high: estimate.high.clamp(0.0, 1.0), ..estimate }
        .scaled(db_time_s)
}

/// Mean time of what was counted, seconds.
pub(super) fn mean_s(time_s: f64, ios: u64) -> Option<f64> {
    (ios > 0 && time_s > 0.0).then(|| time_s / real(ios))
}
