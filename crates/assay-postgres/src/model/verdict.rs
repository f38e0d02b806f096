//! What the time model says about storage, and the path of commits.

use super::classes::{COMMIT, CONTENTION, USER_IO};
use super::delta::Delta;
use super::events::{CLIENT, mean_s};
use super::snapshot::IoRow;
use assay_model::number::{rate, real};
use assay_model::profile::{Figure, RedoPath, TimeModel, TimeVerdict};

fn of_classes(time: &TimeModel, classes: &[&str]) -> f64 {
    let waits = time.waits.iter().filter(|wait| classes.contains(&wait.class.as_str()));
    // Of nothing this is 0, where a sum would be -0.
    waits.map(|wait| wait.time_s.value).fold(0.0, |sum, time_s| sum + time_s)
}

/// Whether faster storage would help. Sessions that write dirty blocks themselves are in User I/O: the server does not
/// tell why they had to.
pub(super) fn verdict(time: &TimeModel) -> TimeVerdict {
    let db_time_s = time.db_time_s.as_ref().map_or(0.0, |time| time.value);
    if db_time_s <= 0.0 {
        return TimeVerdict {
            reason: "no session was active".to_owned(),
            ..TimeVerdict::default()
        };
    }
    TimeVerdict {
        user_io_share: Some(of_classes(time, &[USER_IO]) / db_time_s),
        commit_share: Some(of_classes(time, &[COMMIT]) / db_time_s),
        cpu_share: time.db_cpu_s.as_ref().map(|cpu| cpu.value / db_time_s),
        contention_share: Some(of_classes(time, CONTENTION) / db_time_s),
        ..TimeVerdict::default()
    }
    .concluded()
}

/// The path of commits: what sessions wait for, and what the writes and flushes of the log take.
pub(super) fn redo(delta: &Delta<'_>, time: &TimeModel) -> RedoPath {
    let log = delta.log().unwrap_or_default();
    let source =
        if delta.after.version.has_log_io() { "pg_stat_io, object wal" } else { "pg_stat_wal" };
    let figure =
        |value: Option<f64>, what: &str| Some(Figure::new(value?, format!("{source}: {what}")));
    let (client, all) = (log_rows(delta, true), log_rows(delta, false));
    let timed = delta.is_log_timed();
    let mean = |time_s: f64, ios: u64| mean_s(time_s, ios).filter(|_| timed);
    let db_time_s = time.db_time_s.as_ref().map_or(0.0, |time| time.value);
    RedoPath {
        sync_latency_s: figure(
            mean(client.write_time_s + client.sync_time_s, client.syncs),
            "time in writes and flushes, for each flush",
        ),
        write_latency_s: figure(mean(all.sync_time_s, all.syncs), "time of a flush"),
        write_iops: Some(Figure::new(
            rate(all.writes, delta.elapsed_s),
            format!("{source}: writes / elapsed"),
        )),
        redo_bytes_per_s: Some(Figure::new(
            real(log.bytes) / delta.elapsed_s,
            "pg_stat_wal: wal_bytes / elapsed",
        )),
        sync_share: (db_time_s > 0.0).then(|| of_classes(time, &[COMMIT]) / db_time_s),
        ..RedoPath::default()
    }
    .concluded()
}

/// I/O on the log, of client sessions or of all processes; up to 17 it is only known of all.
pub(super) fn log_rows(delta: &Delta<'_>, clients_only: bool) -> IoRow {
    if delta.after.version.has_log_io() {
        let io = delta.io().unwrap_or_default();
        let rows = io
            .iter()
            .filter(|(key, _)| key.object == "wal" && (!clients_only || key.process == CLIENT));
        return rows.fold(IoRow::default(), |sum, (_, row)| sum.plus(row));
    }
    let log = delta.log().unwrap_or_default();
    IoRow {
        writes: log.writes.unwrap_or(0),
        write_bytes: log.bytes,
        write_time_s: log.write_time_s.unwrap_or(0.0),
        syncs: log.syncs.unwrap_or(0),
        sync_time_s: log.sync_time_s.unwrap_or(0.0),
        ..IoRow::default()
    }
}
