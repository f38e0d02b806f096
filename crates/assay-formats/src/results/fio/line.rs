//! The lines of fio's logs, and the kind that a log's name states (fio manual, "Log File Formats").

use crate::results::imported::{Lack, broken, refused};
use assay_model::Result;
use assay_model::measurement::Operation;

/// Fields of a line: time, value, perhaps a second value, direction and size, and up to three more.
const FIELDS: std::ops::RangeInclusive<usize> = 4..=8;
/// Times above are milliseconds since 1970, not since the start: 1973.
const EPOCH_MS_MIN: u64 = 100_000_000_000;
/// Longest time of a log: a week.
const LONGEST_MS: u64 = 7 * 86_400_000;

/// One line: when it was written, what it says, and of which I/O.
pub struct LogLine {
    /// Milliseconds since the start of the log.
    pub at_ms: u64,
    /// The value.
    pub value: u64,
    /// The operation.
    pub operation: Operation,
    /// Size of the I/O; 0 where the line is the mean of many.
    pub bytes: u64,
}

/// A log, read.
pub struct LogLines {
    /// Its lines, but those of trims.
    pub lines: Vec<LogLine>,
    /// When it began, where the log says it.
    pub started_unix_ns: u64,
    /// What it lacks.
    pub lacks: Vec<Lack>,
}

/// Whether a line is one of a log: whole numbers, separated by commas.
pub fn is_log(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).take(9).collect();
    let is_number = |field: &&str| field.parse::<u64>().is_ok();
    let is_histogram = fields.len() > *FIELDS.end();
    let is_direction =
        |place: usize| fields.get(place).is_some_and(|field| ["0", "1", "2"].contains(field));
    fields.len() >= *FIELDS.start()
        && fields.iter().take(4).all(is_number)
        && (is_direction(2) || is_direction(3) || is_histogram)
}

/// Reads the lines of a log whose values stand one or two a line.
///
/// # Errors
/// A usage error with the line that is none, and where nothing but trims is left.
pub fn read_lines(text: &str) -> Result<LogLines> {
    let rows = || (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let with_direction =
        |place: usize| rows().filter(|(_, line)| has_direction(line, place)).count();
    let direction = if with_direction(3) > with_direction(2) { 3 } else { 2 };
    let lines = Vec::with_capacity(rows().count());
    let mut found = LogLines { lines, started_unix_ns: 0, lacks: Vec::new() };
    let mut trims: u64 = 0;
    for (number, line) in rows() {
        let wrong = || broken("fio", &format!("line {number} of the log"));
        let line = LineFields::parse(line, direction).ok_or_else(wrong)?;
        match line.operation() {
            Some(operation) => found.lines.push(line.of(operation)),
            None => trims += 1,
        }
    }
    if trims > 0 {
        found.lacks.push(Lack::OperationsLeftOut(vec![format!("trims ({trims} lines)")]));
    }
    if found.lines.is_empty() {
        let what = if trims > 0 { "the log has only trims" } else { "the log is empty" };
        return Err(refused("fio", what, "specify a log of reads or writes"));
    }
    found.count_from_start()?;
    Ok(found)
}

/// The direction stands third, or fourth where the largest value of a window follows its mean.
fn has_direction(line: &str, place: usize) -> bool {
    let field = line.split(',').nth(place).map(str::trim);
    field.is_some_and(|field| ["0", "1", "2"].contains(&field))
}

struct LineFields {
    at_ms: u64,
    value: u64,
    direction: u64,
    bytes: u64,
}

impl LineFields {
    fn parse(line: &str, direction: usize) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if !FIELDS.contains(&fields.len()) || !has_direction(line, direction) {
            return None;
        }
        let number = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
        Some(Self {
            at_ms: number(0)?,
            value: number(1)?,
            direction: number(direction)?,
            bytes: number(direction + 1)?,
        })
    }

    const fn operation(&self) -> Option<Operation> {
        match self.direction {
            0 => Some(Operation::Read),
            1 => Some(Operation::Write),
            _ => None,
        }
    }

    const fn of(&self, operation: Operation) -> LogLine {
        LogLine { at_ms: self.at_ms, value: self.value, operation, bytes: self.bytes }
    }
}

impl LogLines {
    /// Makes times of the calendar times since the first, and checks that no line lies far behind
    /// it.
    fn count_from_start(&mut self) -> Result<()> {
        let first_ms = self.lines.iter().map(|line| line.at_ms).min().unwrap_or(0);
        if first_ms >= EPOCH_MS_MIN {
            self.started_unix_ns = first_ms.saturating_mul(1_000_000);
            self.lines.iter_mut().for_each(|line| line.at_ms -= first_ms);
        }
        if self.last_ms() > LONGEST_MS {
            let what = "its entries span more than a week";
            return Err(refused("fio", what, "specify the log of one run"));
        }
        Ok(())
    }

    /// When the last line was written.
    pub fn last_ms(&self) -> u64 {
        self.lines.iter().map(|line| line.at_ms).max().unwrap_or(0)
    }
}

/// What the values of a log are; its name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// KiB a second.
    Throughput,
    /// I/Os per second.
    Iops,
    /// Nanoseconds from submission to completion.
    Completion,
    /// Nanoseconds from before submission to completion.
    Total,
    /// Nanoseconds until the kernel had taken the I/O.
    Submission,
    /// Counts of I/Os by their time.
    Histogram,
}

impl LogKind {
    /// By the name that fio gives its files.
    ///
    /// # Errors
    /// A usage error where the name says nothing.
    pub fn from_name(name: &str) -> Result<Self> {
        let has = |part: &str| name.contains(&format!("_{part}."));
        let kinds = [
            ("clat_hist", Self::Histogram),
            ("bw", Self::Throughput),
            ("iops", Self::Iops),
            ("clat", Self::Completion),
            ("lat", Self::Total),
            ("slat", Self::Submission),
        ];
        let kind = kinds.into_iter().find_map(|(part, kind)| has(part).then_some(kind));
        kind.ok_or_else(|| {
            refused(
                "fio",
                "the name of the log must say what it contains: _bw, _iops, _lat, _clat, _slat or \
                 _clat_hist before a dot",
                "use fio's own name for the log, for example x_clat.1.log",
            )
        })
    }

    /// Whether lines of single I/Os are all that is needed for a distribution.
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::Completion | Self::Total)
    }

    /// Its name as a quantity.
    pub const fn quantity(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Iops => "iops",
            Self::Completion | Self::Total | Self::Histogram => "service_time.mean",
            Self::Submission => "submission_time.mean",
        }
    }

    /// Base units for one of the log's.
    pub const fn unit(self) -> f64 {
        if matches!(self, Self::Throughput) { 1024.0 } else { 1.0 }
    }

    /// What a log of this kind lacks by itself: fio 2 wrote microseconds where fio 3 writes
    /// nanoseconds, in the same form. The number of counts in a histogram says which.
    pub fn lacks(self) -> Vec<Lack> {
        let mut lacks = vec![Lack::Load, Lack::Environment];
        if !matches!(self, Self::Throughput | Self::Iops | Self::Histogram) {
            lacks.push(Lack::TimeUnit);
        }
        if self == Self::Completion || self == Self::Histogram {
            lacks.push(Lack::Submission);
        }
        lacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_line_is_known() {
        for line in [
            "5, 7, 0, 4096",
            "5, 7, 1, 4096, 0",
            "5, 7, 2, 4096, 0",
            "5,7,0,0,0",
            "5, 7, 9, 0, 0, 0",
            "5, 7, 0, 4096, 8192, 0x0000",
            "5, 7, 0, 4096, 8192, 0, 123456",
            "5, 7, 9, 0, 0, 1, 0, 77",
        ] {
            assert!(is_log(line), "{line}");
        }
        for line in ["5, 7, 3", "a, 7, 0, 4096", "5 7 0 4096", "5, 7, 9, 8, 7"] {
            assert!(!is_log(line), "{line}");
        }
    }

    #[test]
    fn times_of_the_calendar_begin_with_the_first_and_trims_are_left_out() {
        let text = "1700000000500, 9, 0, 4096, 0\n1700000001500, 8, 2, 4096, 0\n1700000002000, 7, \
                    1, 512, 0\n";
        let found = read_lines(text).unwrap();
        let times: Vec<u64> = found.lines.iter().map(|line| line.at_ms).collect();
        assert_eq!((times, found.started_unix_ns), (vec![0, 1500], 1_700_000_000_500_000_000));
        assert_eq!(found.lacks, [Lack::OperationsLeftOut(vec!["trims (1 lines)".to_owned()])]);
        assert!(read_lines("5, 7, 2, 4096, 0\n").err().unwrap().message().contains("only trims"));
    }

    #[test]
    fn of_two_values_a_line_the_mean_counts() {
        let found = read_lines("500, 1000, 2, 0, 0, 0\n1000, 3000, 9000, 0, 0, 0\n").unwrap();
        let values: Vec<u64> = found.lines.iter().map(|line| line.value).collect();
        assert_eq!(values, [1000, 3000]);
    }

    #[test]
    fn lines_that_are_none_are_refused_with_their_number() {
        for (text, why) in [
            ("100, 5000, 0, 4096, 0\n100, 50", "line 2"),
            ("99999999999, 5000, 0, 4096, 0\n", "week"),
            ("", "empty"),
        ] {
            assert!(read_lines(text).err().unwrap().message().contains(why), "{text}");
        }
        assert!(
            LogKind::from_name("x.log")
                .unwrap_err()
                .message()
                .contains("must say what it contains")
        );
    }
}
