//! A line of fio's logs, and what the name of a log says of its lines.

use assay_model::measurement::Operation;

/// One line: when it was written, what it says, and of which I/O.
pub(super) struct Line {
    pub(super) at_ms: u64,
    pub(super) value: u64,
    pub(super) operation: Operation,
    /// Size of the I/O; 0 where the line is the mean of many.
    pub(super) bytes: u64,
}

/// Whether a line is one of a log: whole numbers, separated by a comma and a blank.
pub fn is_log(line: &str) -> bool {
    parse_line(line).is_some()
}

pub(super) fn parse_line(line: &str) -> Option<Line> {
    let fields: Vec<&str> = line.split(", ").collect();
    if !(4..=6).contains(&fields.len()) {
        return None;
    }
    let number =
        |index: usize| fields.get(index).and_then(|field| field.trim().parse::<u64>().ok());
    let operation = match number(2)? {
        0 => Operation::Read,
        1 => Operation::Write,
        _ => return None,
    };
    Some(Line { at_ms: number(0)?, value: number(1)?, operation, bytes: number(3)? })
}

/// What the values of a log are; its name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogKind {
    /// KiB a second.
    Throughput,
    /// I/Os a second.
    Iops,
    /// Nanoseconds from submission or before it to completion.
    Latency,
    /// Nanoseconds until the kernel had taken the I/O.
    Submission,
}

impl LogKind {
    /// By the name that fio gives its files.
    pub(super) fn of(name: &str) -> Option<Self> {
        let has = |part: &str| name.contains(&format!("_{part}."));
        [
            ("bw", Self::Throughput),
            ("iops", Self::Iops),
            ("clat", Self::Latency),
            ("lat", Self::Latency),
            ("slat", Self::Submission),
        ]
        .into_iter()
        .find_map(|(part, kind)| has(part).then_some(kind))
    }

    /// Its name as a quantity.
    pub(super) const fn quantity(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Iops => "iops",
            Self::Latency => "response_time.mean",
            Self::Submission => "submission_time.mean",
        }
    }

    /// Base units for one of the log's.
    pub(super) const fn unit(self) -> f64 {
        match self {
            Self::Throughput => 1024.0,
            Self::Iops | Self::Latency | Self::Submission => 1.0,
        }
    }
}
