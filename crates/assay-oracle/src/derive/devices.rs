//! Storage judged by the time it takes, whatever the shares of DB time are.

use super::events::events_of;
use super::figures::elapsed_s;
use super::redo;
use crate::knowledge::{CONTROL_FILE_WRITE, LOG_WRITE, SINGLE_BLOCK};
use crate::report::OracleReport;
use assay_model::profile::{DeviceFinding, DeviceGrade, Figure, IoPath, StorageMedium};

/// This many times what is accepted is a defect, not load.
const FAILING: f64 = 10.0;
/// A writer with more of its time in writes than this is busy: what comes meanwhile waits.
const BUSY: f64 = 0.7;
/// Fewer waits than this prove nothing.
const WAITS_MIN: f64 = 10.0;

/// What is accepted of an I/O.
struct DeviceLimit {
    accepted_s: f64,
    source: &'static str,
}

const OF_DISKS: DeviceLimit =
    DeviceLimit { accepted_s: 0.020, source: "20 ms, generally accepted for disks (Dell 2013)" };
const OF_REDO: DeviceLimit = DeviceLimit {
    accepted_s: 0.020,
    source: "20 ms, above which log writes are slow according to Oracle Support (1376916.1)",
};
/// Loaded flash gave 1.07 ms for reads and 1.13 ms for the log (EMC 2014), and 0.46 to 0.65 ms for
/// reads (`SanDisk` 2014).
const OF_FLASH: DeviceLimit = DeviceLimit {
    accepted_s: 0.002,
    source: "2 ms, twice the latency of a loaded flash array (EMC 2014)",
};

/// What is accepted of a path; of storage that nobody named, what is accepted of disks.
const fn limit(path: IoPath, medium: Option<StorageMedium>) -> &'static DeviceLimit {
    match (path, medium) {
        (_, Some(StorageMedium::Flash)) => &OF_FLASH,
        (IoPath::RedoWrite, _) => &OF_REDO,
        (IoPath::SingleBlockRead | IoPath::ControlFileWrite, _) => &OF_DISKS,
    }
}

/// Redo, single-block reads and control files, the worst first.
pub(super) fn all(report: &OracleReport, medium: Option<StorageMedium>) -> Vec<DeviceFinding> {
    let paths = [
        (IoPath::RedoWrite, LOG_WRITE),
        (IoPath::SingleBlockRead, SINGLE_BLOCK),
        (IoPath::ControlFileWrite, CONTROL_FILE_WRITE),
    ];
    let found = paths.into_iter();
    let mut found: Vec<DeviceFinding> = found
        .filter_map(|(path, names)| device(report, path, names, limit(path, medium)))
        .collect();
    found.sort_by_key(|device| std::cmp::Reverse(device.grade));
    found
}

fn device(
    report: &OracleReport,
    path: IoPath,
    names: &[&str],
    limit: &DeviceLimit,
) -> Option<DeviceFinding> {
    let latency_s = redo::mean(report, names)?;
    let events = events_of(report, names);
    let waits: f64 = events.iter().filter_map(|event| event.waits).map(|waits| waits.value).sum();
    // Each instance of a cluster has a log writer of its own.
    let writers = if path == IoPath::RedoWrite { report.log_writers() } else { 1.0 };
    let queue_depth = elapsed_s(report).map(|elapsed_s| {
        let each = if writers > 1.0 { format!(" / {writers} log writers") } else { String::new() };
        let source = format!("waits / elapsed x ({}){each}", latency_s.source);
        Figure::new(waits / elapsed_s * latency_s.value / writers, source)
    });
    let busy = queue_depth.as_ref().is_some_and(|queue_depth| queue_depth.value >= BUSY);
    let ratio = latency_s.value / limit.accepted_s;
    let grade = grade(ratio, busy && path == IoPath::RedoWrite);
    (waits >= WAITS_MIN).then(|| DeviceFinding {
        path,
        event: events.first().map_or_else(String::new, |event| event.name.clone()),
        latency_s,
        limit_s: limit.accepted_s,
        queue_depth,
        grade,
        limit_source: limit.source.to_owned(),
    })
}

/// How a time stands to what is accepted, as a multiple of it.
fn grade(ratio: f64, busy: bool) -> DeviceGrade {
    match ratio {
        failing if failing >= FAILING => DeviceGrade::Failing,
        slow if slow > 1.0 => DeviceGrade::Slow,
        _ if busy => DeviceGrade::Saturated,
        _ => DeviceGrade::Sound,
    }
}

/// What would be slow if the storage were flash, in a sentence; `None` where somebody said what it
/// is, or nothing would.
pub(super) fn were_it_flash(
    devices: &[DeviceFinding],
    medium: Option<StorageMedium>,
) -> Option<String> {
    let is_slow = |device: &&DeviceFinding| {
        device.grade < DeviceGrade::Slow && device.latency_s.value > OF_FLASH.accepted_s
    };
    let slow: Vec<String> = devices
        .iter()
        .filter(is_slow)
        .map(|device| format!("{} {:.1} ms", device.event, device.latency_s.value * 1e3))
        .collect();
    (medium.is_none() && !slow.is_empty()).then(|| {
        format!(
            "Reports do not state the type of storage; it is judged as hard disks (20 ms). For \
             flash (2 ms) these would be slow: {}.",
            slow.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_judged_before_a_queue() {
        assert_eq!(grade(0.494 / 0.020, true), DeviceGrade::Failing);
        assert_eq!(grade(0.021 / 0.020, true), DeviceGrade::Slow);
        assert_eq!(grade(0.0022 / 0.020, true), DeviceGrade::Saturated);
        assert_eq!(grade(1.0, false), DeviceGrade::Sound);
    }

    #[test]
    fn flash_has_a_limit_of_its_own_on_every_path() {
        let paths = [IoPath::RedoWrite, IoPath::SingleBlockRead, IoPath::ControlFileWrite];
        for path in paths {
            assert!(limit(path, Some(StorageMedium::Flash)).accepted_s < 0.005);
            let disks = limit(path, Some(StorageMedium::Disks));
            assert!(std::ptr::eq(limit(path, None), disks));
            assert!((disks.accepted_s - 0.020).abs() < 1e-12);
        }
    }
}
