//! Where the time of sessions went: what is counted comes first, what is sampled fills in the rest
//! with its doubt.

use super::classes::{class_of, is_data_io, is_log_io};
use super::delta::PostgresDelta;
use super::snapshot::{IoKey, IoRow};
use assay_live::classes::{COMMIT, SCHEDULER, USER_IO};
use assay_live::{EventSampler, SessionState, counted, on_cpu, ordered};
use assay_model::Estimate;
use assay_model::profile::{TimeSource, TimedEvent};

const READY: &str = "ready, waiting for a CPU";
/// The kind of process that serves a client.
pub(super) const CLIENT: &str = "client backend";

/// All events of client sessions, most time first; shares are of DB time.
pub(super) fn events(delta: &PostgresDelta<'_>, sampler: EventSampler<'_>) -> Vec<TimedEvent> {
    let mut events = processor(sampler);
    events.extend(data_io(delta));
    events.extend(log_io(delta));
    events.extend(sampled(delta, sampler));
    ordered(events, sampler.db_time_s)
}

/// Time on a CPU by the scheduler's count, and ready for one: what sessions were seen without a
/// wait beyond it.
///
/// The scheduler counts time in its queue as well, but most of that is the end of a wait, which the
/// wait's own time holds, or comes before a statement begins. Adding it would count it twice: with
/// four sessions of pgbench on two processors that had no time to spare the parts came to 230%
/// (release 18) and 220% (release 15) of DB time so, and to 109% and 108% in this way. What is
/// beyond 100% there is the log's: counted flushes next to sampled waits for them.
fn processor(sampler: EventSampler<'_>) -> Vec<TimedEvent> {
    if sampler.samples.tasks.is_none() {
        return Vec::new();
    }
    let on_cpu = on_cpu(sampler.samples);
    let on_cpu_s = on_cpu.as_ref().map_or(0.0, |event| event.time_s.value);
    let beyond = |time_s: f64| (time_s - on_cpu_s).max(0.0);
    let seen = sampler.of_share(&SessionState::is_no_wait);
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
fn data_io(delta: &PostgresDelta<'_>) -> Vec<TimedEvent> {
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
fn old_data_io(delta: &PostgresDelta<'_>) -> Vec<TimedEvent> {
    let reads = delta.sum(|database| database.blocks_read);
    let read_s = delta.time_s(|database| database.read_time_s);
    let write_s = delta.time_s(|database| database.write_time_s);
    let read = counted("IO:DataFileRead (all processes)", USER_IO, read_s, Some(reads));
    let write = counted("IO:DataFileWrite (all processes)", USER_IO, write_s, None);
    read.into_iter().chain(write).collect()
}

/// Time in writes and flushes of the log; up to 17 those of all processes.
fn log_io(delta: &PostgresDelta<'_>) -> Vec<TimedEvent> {
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

/// Events that nobody adds up.
fn sampled(delta: &PostgresDelta<'_>, sampler: EventSampler<'_>) -> Vec<TimedEvent> {
    let is_left = |seen: &SessionState| {
        let counted = (delta.is_io_timed() && is_data_io(seen))
            || (delta.is_log_timed() && is_log_io(seen))
            || (sampler.samples.tasks.is_some() && seen.is_no_wait());
        !counted
    };
    sampler.events(&is_left, &|seen| (name(seen), class_of(seen)))
}

fn name(seen: &SessionState) -> String {
    if seen.is_no_wait() {
        return "running, or waiting for a CPU".to_owned();
    }
    format!("{}:{}", seen.kind, seen.event)
}
