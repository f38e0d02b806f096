//! The path of commits.

use super::delta::PostgresDelta;
use super::events::CLIENT;
use super::snapshot::IoRow;
use assay_live::classes::COMMIT;
use assay_live::{mean_s, share_of_classes};
use assay_model::number::{rate, real};
use assay_model::profile::{Figure, RedoPath, TimeModel};

/// The path of commits: what sessions wait for, and what the writes and flushes of the log take.
pub(super) fn redo(delta: &PostgresDelta<'_>, time: &TimeModel) -> RedoPath {
    let log = delta.log().unwrap_or_default();
    let source =
        if delta.after.version.has_log_io() { "pg_stat_io, object wal" } else { "pg_stat_wal" };
    let figure =
        |value: Option<f64>, what: &str| Some(Figure::new(value?, format!("{source}: {what}")));
    let (client, all) = (log_rows(delta, true), log_rows(delta, false));
    let timed = delta.is_log_timed();
    let mean = |time_s: f64, ios: u64| mean_s(time_s, ios).filter(|_| timed);
    RedoPath {
        sync_latency_s: figure(
            mean(client.write_time_s + client.sync_time_s, client.syncs),
            "time of writes and flushes, per flush",
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
        sync_share: share_of_classes(time, &[COMMIT]).filter(|_| delta.after.settings.sees_all),
        ..RedoPath::default()
    }
    .concluded()
}

/// I/O on the log, of client sessions or of all processes; up to 17 it is only known of all.
pub(super) fn log_rows(delta: &PostgresDelta<'_>, clients_only: bool) -> IoRow {
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
