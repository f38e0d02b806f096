//! fio's histogram logs: counts of I/Os by latency for each interval (fio manual,
//! "`write_hist_log`").

use super::intervals::LogIntervals;
use crate::results::imported::{broken, refused};
use assay_model::Result;
use assay_model::histogram::Precision;
use assay_model::measurement::{OperationResult, PerOperation};
use assay_model::number::index_of;

/// Groups of 64 times each that fio 3 has for nanoseconds, and that earlier versions had for
/// microseconds.
const LAYOUTS: [HistogramLayout; 2] = [
    HistogramLayout { bins: 29 * 64, unit_ns: 1 },
    HistogramLayout { bins: 19 * 64, unit_ns: 1000 },
];
/// How often fio halves the number of times at most.
const COARSENESS_MAX: u32 = 6;
/// Intervals that are read at most.
const INTERVALS_MAX: usize = 100_000;
/// I/Os of one line at most: no device does as many while fio runs. fio 3.7 wrote counts that it
/// had not set.
const LINE_IOS_MAX: u64 = 1 << 40;

#[derive(Clone, Copy)]
struct HistogramLayout {
    bins: usize,
    unit_ns: u64,
}

/// The times that the counts of a line stand for.
#[derive(Clone, Copy)]
struct HistogramBins {
    layout: HistogramLayout,
    stride: usize,
}

impl HistogramBins {
    /// By how many counts a line has.
    fn of_count(count: usize) -> Option<Self> {
        let strides = (0..=COARSENESS_MAX).map(|power| 1_usize << power);
        let mut all = LAYOUTS
            .into_iter()
            .flat_map(|layout| strides.clone().map(move |stride| HistogramBins { layout, stride }));
        all.find(|bins| bins.layout.bins / bins.stride == count)
    }

    /// The middle of the times of a count, ns: below 128 each time has a bin, above a group of 64
    /// is twice as wide as the one before it.
    fn middle_ns(self, place: usize) -> u64 {
        let edge = |bin: usize| -> u64 {
            let bin = assay_model::number::count_of(bin);
            if bin < 128 {
                return bin;
            }
            let shift = (bin >> 6) - 1;
            (64 + (bin & 63)) << shift
        };
        let (from, to) = (edge(place * self.stride), edge((place + 1) * self.stride));
        // A bin of one time is that time.
        (from + (to - from - 1) / 2).saturating_mul(self.layout.unit_ns)
    }
}

/// One line.
struct HistogramLine {
    at_ms: u64,
    direction: u64,
    bytes: u64,
    counts: Vec<u64>,
}

impl HistogramLine {
    fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split(',').map(|field| field.trim().parse::<u64>());
        let mut next = || numbers.next()?.ok();
        let (at_ms, direction, bytes) = (next()?, next()?, next()?);
        let counts = numbers.collect::<std::result::Result<Vec<u64>, _>>().ok()?;
        Some(Self { at_ms, direction, bytes, counts })
    }

    /// I/Os of the line; nothing where they are too many to count.
    fn ios(&self) -> Option<u64> {
        self.counts.iter().try_fold(0_u64, |all, ios| all.checked_add(*ios))
    }
}

/// Reads such a log. Lines of one time are of several operations, or of several jobs.
///
/// # Errors
/// A usage error with the line that has not as many counts as fio writes.
pub fn read(text: &str) -> Result<LogIntervals> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = || broken("fio", &format!("line {number} of the histogram log"));
        let line = HistogramLine::parse(line).ok_or_else(wrong)?;
        let bins = HistogramBins::of_count(line.counts.len()).ok_or_else(wrong)?;
        if line.ios().is_none_or(|ios| ios > LINE_IOS_MAX) {
            let what = format!("line {number} of the histogram log counts more I/Os than possible");
            return Err(refused("fio", &what, "measure again with a later version of fio"));
        }
        lines.push((line, bins));
    }
    let times: Vec<u64> = lines.iter().map(|(line, _)| line.at_ms).collect();
    let (first, last) = (times.iter().min().copied(), times.iter().max().copied());
    let (Some(first_ms), Some(last_ms)) = (first, last) else {
        return Err(refused("fio", "the log is empty", "specify a log with entries"));
    };
    let length_ms =
        times.windows(2).map(|two| two[1].abs_diff(two[0])).filter(|gap| *gap > 0).min();
    let length_ms = length_ms.unwrap_or(first_ms).max(1);
    let count = index_of((last_ms - first_ms) / length_ms).saturating_add(1);
    if count > INTERVALS_MAX {
        return Err(refused(
            "fio",
            "the log has more than 100,000 intervals",
            "specify a shorter log",
        ));
    }
    let mut operations = vec![PerOperation::default(); count];
    for (line, bins) in &lines {
        let place = index_of((line.at_ms - first_ms) / length_ms);
        add(&mut operations[place.min(count - 1)], line, *bins);
    }
    if operations.iter().all(|one| one.ios() == 0) {
        return Err(refused(
            "fio",
            "the log has no reads or writes",
            "specify a log of reads or writes",
        ));
    }
    let is_calendar = first_ms > 100_000_000_000;
    let length_ns = length_ms * 1_000_000;
    let started_ms = if is_calendar { first_ms.saturating_sub(length_ms) } else { 0 };
    Ok(LogIntervals {
        length_ns,
        elapsed_ns: (last_ms - first_ms) * 1_000_000 + length_ns,
        operations,
        started_unix_ns: started_ms * 1_000_000,
    })
}

fn add(operations: &mut PerOperation, line: &HistogramLine, bins: HistogramBins) {
    let slot = match line.direction {
        0 => &mut operations.read,
        1 => &mut operations.write,
        _ => return,
    };
    let result = slot.get_or_insert_with(|| OperationResult::empty(Precision::Fine, false));
    for (place, ios) in line.counts.iter().enumerate().filter(|(_, ios)| **ios > 0) {
        result.service.record_many(bins.middle_ns(place), *ios);
        result.ios += ios;
        result.bytes = result.bytes.saturating_add(line.bytes.saturating_mul(*ios));
    }
    if result.ios == 0 {
        *slot = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at_ms: u64, direction: u64, counts: usize, filled: &[(usize, u64)]) -> String {
        let mut all = vec![0; counts];
        for (place, ios) in filled {
            all[*place] = *ios;
        }
        let words: Vec<String> =
            [at_ms, direction, 4096].into_iter().chain(all).map(|one| one.to_string()).collect();
        words.join(", ") + "\n"
    }

    #[test]
    fn counts_are_ios_of_their_time() {
        // Bin 700 begins at (64 + 60) << 9 ns.
        let text = line(1000, 0, 1856, &[(100, 2), (700, 3)]) + &line(2000, 0, 1856, &[(100, 1)]);
        let log = read(&text).unwrap();
        let first = log.operations[0].read.as_ref().unwrap();
        assert_eq!((first.ios, first.bytes, first.service.min_ns()), (5, 5 * 4096, 100));
        assert_eq!(first.service.max_ns(), (124 << 9) + 255);
        assert_eq!((log.operations.len(), log.elapsed_ns), (2, 2_000_000_000));
        assert!(log.operations[1].write.is_none());
    }

    #[test]
    fn counts_that_no_device_reaches_are_refused() {
        for ios in [u64::MAX, 1 << 41] {
            let text = line(1000, 0, 1856, &[(100, ios), (700, 1)]);
            let error = read(&text).err().unwrap();
            assert!(error.message().ends_with("counts more I/Os than possible"), "{error}");
        }
        assert!(read(&line(1000, 0, 1856, &[(100, 1 << 40)])).is_ok());
    }

    #[test]
    fn coarse_and_old_logs_have_fewer_counts() {
        let middle =
            |counts: usize, place: usize| HistogramBins::of_count(counts).unwrap().middle_ns(place);
        assert_eq!((middle(1856, 5), middle(928, 5), middle(1216, 5)), (5, 10, 5000));
        assert!(HistogramBins::of_count(1000).is_none());
        assert!(read("1, 0, 4096, 5, 6\n").err().unwrap().message().contains("line 1"));
        assert!(read(&line(5, 2, 1856, &[(1, 1)])).err().unwrap().message().contains("no reads"));
    }
}
