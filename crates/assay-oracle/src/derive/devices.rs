//! Storage judged by the time it takes, whatever the shares of DB time are.

use super::{elapsed_s, events_of, redo};
use crate::knowledge::{CONTROL_FILE_WRITE, LOG_WRITE, SINGLE_BLOCK};
use crate::report::Report;
use assay_model::profile::{DeviceFinding, DeviceGrade, Figure, IoPath};

/// What is accepted of disks, reads and writes each by itself, seconds.
const ACCEPTED_S: f64 = 0.020;
/// So many times what is accepted is a defect, no load.
const FAILING: f64 = 10.0;
/// A writer with more of its time in writes than this is busy: what comes meanwhile waits.
const BUSY: f64 = 0.7;
/// Fewer waits than this prove nothing.
const WAITS_MIN: f64 = 10.0;

const OF_DISKS: &str = "20 ms, generally accepted for disks, reads and writes apart (Dell, Sizing and Best Practices for OLTP with Oracle 11g R2 on PS Series, 2013)";
const OF_REDO: &str = "20 ms, above which Oracle's support calls the I/O of the log slow (Troubleshooting: 'Log file sync' Waits, 1376916.1)";

/// Redo, single-block reads and control files, the worst first.
pub(super) fn all(report: &Report) -> Vec<DeviceFinding> {
    let paths = [
        (IoPath::RedoWrite, LOG_WRITE, OF_REDO),
        (IoPath::SingleBlockRead, SINGLE_BLOCK, OF_DISKS),
        (IoPath::ControlFileWrite, CONTROL_FILE_WRITE, OF_DISKS),
    ];
    let found = paths.into_iter();
    let mut found: Vec<DeviceFinding> =
        found.filter_map(|(path, names, source)| device(report, path, names, source)).collect();
    found.sort_by_key(|device| std::cmp::Reverse(device.grade));
    found
}

fn device(
    report: &Report,
    path: IoPath,
    names: &[&str],
    limit_source: &str,
) -> Option<DeviceFinding> {
    let latency_s = redo::mean(report, names)?;
    let events = events_of(report, names);
    let waits: f64 = events.iter().filter_map(|event| event.waits).map(|waits| waits.value).sum();
    let outstanding = elapsed_s(report).map(|elapsed_s| {
        let source = format!("waits / elapsed x ({})", latency_s.source);
        Figure::new(waits / elapsed_s * latency_s.value, source)
    });
    let busy = outstanding.as_ref().is_some_and(|outstanding| outstanding.value >= BUSY);
    let grade = grade(latency_s.value, busy && path == IoPath::RedoWrite);
    (waits >= WAITS_MIN).then(|| DeviceFinding {
        path,
        event: events.first().map_or_else(String::new, |event| event.name.clone()),
        latency_s,
        limit_s: ACCEPTED_S,
        outstanding,
        grade,
        limit_source: limit_source.to_owned(),
    })
}

/// How a time stands to what is accepted.
fn grade(latency_s: f64, busy: bool) -> DeviceGrade {
    match latency_s {
        failing if failing >= FAILING * ACCEPTED_S => DeviceGrade::Failing,
        slow if slow > ACCEPTED_S => DeviceGrade::Slow,
        _ if busy => DeviceGrade::Saturated,
        _ => DeviceGrade::Sound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_judged_before_a_queue() {
        assert_eq!(grade(0.494, true), DeviceGrade::Failing);
        assert_eq!(grade(0.021, true), DeviceGrade::Slow);
        assert_eq!(grade(0.0022, true), DeviceGrade::Saturated);
        assert_eq!(grade(0.020, false), DeviceGrade::Sound);
    }
}
