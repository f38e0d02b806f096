//! The commit path: sessions wait for log file sync, the log writer for log file parallel write.

use super::events::events_of;
use super::figures::{elapsed_s, figure, named};
use crate::knowledge::{LOG_SYNC, LOG_WRITE};
use crate::report::{OracleReport, ReportEvent};
use assay_model::profile::{DeviceFinding, DeviceGrade, Figure, RedoFinding, RedoPath, TimeModel};

/// Below this share of DB time commits are not what sessions wait for.
const COMMITS_MATTER: f64 = 0.01;
/// Above this share of the commit wait the write itself is the cause.
const DEVICE_SHARE: f64 = 0.5;

/// The figures of the path and what makes commits wait. Log file sync is never taken for the
/// device's time, nor the other way round.
pub(super) fn path(
    report: &OracleReport,
    time: &TimeModel,
    device: Option<&DeviceFinding>,
) -> RedoPath {
    let sync = events_of(report, LOG_SYNC);
    let synced_s =
        sync.iter().filter_map(|event| event.time).map(|time| time.value).reduce(f64::max);
    let db_time_s = time.db_time_s.as_ref().map(|time| time.value).filter(|time| *time > 0.0);
    let load = report.load(&["Redo size", "Redo size (bytes)"]).and_then(|row| row.per_second);
    let writes = events_of(report, LOG_WRITE).first().and_then(|event| event.waits);
    let mut path = RedoPath {
        sync_latency_s: mean(report, LOG_SYNC),
        syncs_per_s: syncs(report),
        write_latency_s: mean(report, LOG_WRITE),
        write_iops: writes.zip(elapsed_s(report)).map(|(writes, elapsed_s)| {
            let source = format!("{}: log file parallel write / elapsed", writes.place());
            Figure::new(writes.value / elapsed_s, source)
        }),
        writer_busy_share: device
            .and_then(|device| device.queue_depth.as_ref())
            .map(|one| one.value),
        redo_bytes_per_s: load.as_ref().map(figure),
        sync_share: synced_s.zip(db_time_s).map(|(synced, db_time)| synced / db_time),
        finding: RedoFinding::Unknown,
    };
    if report.invalid.is_none() {
        path.finding = finding(&path, device.map(|device| device.grade));
    }
    path
}

/// Commits that sessions waited for: the counter of the instance, else their waits.
fn syncs(report: &OracleReport) -> Option<Figure> {
    if let Some(counted) = report.rate("redo synch writes") {
        return Some(named(&counted, "redo synch writes"));
    }
    let waits = events_of(report, LOG_SYNC).iter().find_map(|event| event.waits)?;
    let source = format!("{}: log file sync / elapsed", waits.place());
    Some(Figure::new(waits.value / elapsed_s(report)?, source))
}

/// The mean of the event of these names that is waited for most.
pub(super) fn mean(report: &OracleReport, names: &[&str]) -> Option<Figure> {
    let waits = |event: &ReportEvent| event.waits.map_or(0.0, |waits| waits.value);
    let events = events_of(report, names);
    let event = events.iter().max_by(|left, right| waits(left).total_cmp(&waits(right)))?;
    let place = event.waits.or(event.time)?;
    Some(Figure::new(event.mean_s()?, format!("{}: {}", place.place(), event.name)))
}

/// A slow device is one whatever the shares are; then what commits wait for, by the write's part of
/// the wait; then whether they queue for a writer that is busy all the time.
fn finding(path: &RedoPath, grade: Option<DeviceGrade>) -> RedoFinding {
    let slow = grade.is_some_and(|grade| grade >= DeviceGrade::Slow);
    let latencies = path.sync_latency_s.as_ref().zip(path.write_latency_s.as_ref());
    match (path.sync_share, latencies) {
        _ if slow => RedoFinding::Device,
        (Some(share), _) if share < COMMITS_MATTER => RedoFinding::NotWaitedFor,
        (_, Some((sync, write))) if write.value >= DEVICE_SHARE * sync.value => RedoFinding::Device,
        (_, Some(_)) if grade == Some(DeviceGrade::Saturated) => RedoFinding::Saturated,
        (_, Some(_)) => RedoFinding::BesideTheDevice,
        _ => RedoFinding::Unknown,
    }
}
