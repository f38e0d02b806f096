//! What `sar` and `sadf -d` print: tables of one activity each, whose rows of the same time belong
//! together.

use super::super::parse::{self, DeviceRow, FoundSample, SampleRow};
use super::super::stamp::{SampleStamp, clock_of};
use super::samples::{Trace, host_day};
use assay_model::number::count;
use assay_model::watch::RunQueue;
use std::collections::BTreeMap;

const DAY_S: u64 = 86_400;
/// Swap is counted in pages of this size.
const PAGE_KIB: f64 = 4.0;

/// The rows of all activities by their time, s.
#[derive(Default)]
struct SarRows {
    at: BTreeMap<u64, FoundSample>,
    is_utc: bool,
}

impl SarRows {
    /// Intervals do not overlap, whatever length they claim.
    fn into_samples(self, trace: &mut Trace) {
        let mut before_s = 0;
        for (at_unix_s, mut found) in self.at {
            found.covered_s = found.covered_s.map(|length_s| length_s.min(at_unix_s - before_s));
            before_s = at_unix_s;
            trace.add(Some(SampleStamp { at_unix_s, is_utc: self.is_utc }), found);
        }
    }

    /// Adds a row of a known activity, with the length of its interval, s.
    fn add(&mut self, at_unix_s: u64, length_s: Option<u64>, row: &SampleRow<'_>) {
        if let Some(add) = activity(row.head) {
            let found = self.at.entry(at_unix_s).or_default();
            found.covered_s = found.covered_s.or(length_s);
            add(row, found);
        }
    }
}

type Add = fn(&SampleRow<'_>, &mut FoundSample);

/// What becomes of the rows below a heading.
fn activity(head: &[&str]) -> Option<Add> {
    let has = |name: &str| head.contains(&name);
    if has("CPU") && has("%idle") {
        Some(processors)
    } else if has("DEV") && has("tps") {
        Some(device)
    } else if has("runq-sz") && has("blocked") {
        Some(queue)
    } else if has("pswpin/s") {
        Some(swap)
    } else {
        None
    }
}

fn processors(row: &SampleRow<'_>, found: &mut FoundSample) {
    match row.text("CPU") {
        Some("all" | "-1") => found.cpu_share = parse::cpu(row).or(found.cpu_share),
        Some(number) => {
            let count = number.parse::<u64>().map_or(0, |last| last.saturating_add(1));
            found.processors = found.processors.max((count > 0).then_some(count));
        }
        None => {}
    }
}

fn device(row: &SampleRow<'_>, found: &mut FoundSample) {
    if let Some(device) = row.text("DEV").and_then(|name| DeviceRow::joint(name, row)) {
        found.has_joint_counts = true;
        found.devices.push(device);
    }
}

fn queue(row: &SampleRow<'_>, found: &mut FoundSample) {
    let number = |name: &str| row.number(&[name]).map(count);
    let queue = number("runq-sz").zip(number("blocked"));
    found.run_queue = queue.map(|(running, blocked)| RunQueue { running, blocked });
}

fn swap(row: &SampleRow<'_>, found: &mut FoundSample) {
    let kib_per_s = |name: &str| Some(row.number(&[name])? * PAGE_KIB);
    found.swap_kib_per_s = kib_per_s("pswpin/s").zip(kib_per_s("pswpout/s"));
}

/// Where the rows below one heading are in time: they go on past midnight.
#[derive(Clone, Copy, Default)]
struct SarCourse {
    days: u64,
    last_s: u64,
}

impl SarCourse {
    fn step(&mut self, clock_s: u64) -> u64 {
        self.days += u64::from(clock_s < self.last_s);
        self.last_s = clock_s;
        self.days * DAY_S + clock_s
    }
}

/// The interval that rows describe: it begins at the time of the heading or of the rows before, and
/// not before the host started again.
#[derive(Clone, Copy, Default)]
struct SarInterval {
    begun_s: u64,
    end_s: u64,
}

impl SarInterval {
    fn of_heading(at_s: u64) -> Self {
        Self { begun_s: at_s, end_s: at_s }
    }

    /// Its length, s, with rows at a time; 0 for the time since the host started, which has the
    /// time of its heading.
    fn length_s(&mut self, at_s: u64) -> u64 {
        if at_s != self.end_s {
            (self.begun_s, self.end_s) = (self.end_s, at_s);
        }
        self.end_s.saturating_sub(self.begun_s)
    }
}

/// Reads the text of `sar` and of `mpstat`.
pub(super) fn read_text(lines: &[&str], trace: &mut Trace) {
    let mut rows = SarRows::default();
    let mut courses: BTreeMap<Vec<&str>, SarCourse> = BTreeMap::new();
    let mut head: Vec<&str> = Vec::new();
    let mut interval = SarInterval::default();
    let mut day_unix_s = 0;
    for line in lines {
        if line.starts_with("Linux ") {
            day_unix_s = host_day(line).unwrap_or(day_unix_s);
            courses.clear();
            head.clear();
        }
        let Some((clock_s, cells)) = clock_of(line) else { continue };
        let is_remark = cells.contains(&"RESTART") || cells.first() == Some(&"COM");
        let is_head = cells.iter().all(|cell| parse::number(cell).is_none());
        if is_head && !is_remark {
            if activity(&cells).is_none() {
                trace.left_out(&cells);
            }
            head = cells;
            interval =
                SarInterval::of_heading(courses.entry(head.clone()).or_default().step(clock_s));
        } else if !is_remark && cells.len() == head.len() {
            let at_s = courses.entry(head.clone()).or_default().step(clock_s);
            let length_s = interval.length_s(at_s);
            if length_s > 0 {
                rows.add(day_unix_s + at_s, Some(length_s), &SampleRow { head: &head, cells });
            } else if activity(&head).is_some() {
                trace.leave_first_out();
            }
        }
    }
    rows.into_samples(trace);
}

/// Whether a line names the columns of a table of `sadf -d`.
pub(super) fn is_table_head(line: &str) -> bool {
    line.starts_with("# hostname;interval;timestamp")
}

/// Reads the tables of `sadf -d`.
pub(super) fn read_table(lines: &[&str], trace: &mut Trace) {
    let mut rows = SarRows::default();
    let mut head: Vec<&str> = Vec::new();
    for line in lines {
        if is_table_head(line) {
            head = line.trim_start_matches("# ").split(';').collect();
            if activity(&head).is_none() {
                trace.left_out(head.get(3..).unwrap_or_default());
            }
            continue;
        }
        let cells: Vec<&str> = line.split(';').collect();
        if cells.len() != head.len() {
            continue;
        }
        let row = SampleRow { head: &head, cells };
        let Some(stamp) = row.text("timestamp").and_then(time) else { continue };
        rows.is_utc |= stamp.is_utc;
        let length_s = row.number(&["interval"]).map(count).filter(|length_s| *length_s > 0);
        rows.add(stamp.at_unix_s, length_s, &row);
    }
    rows.into_samples(trace);
}

/// Whether a line is one of `sadf -p`: a host, an interval, a time, a device, a name and a value
/// between tabs.
pub(super) fn is_listed_value(line: &str) -> bool {
    let cells: Vec<&str> = line.split('\t').collect();
    cells.len() >= 6 && cells[1].parse::<i64>().is_ok() && time(cells[2]).is_some()
}

/// A date and a time, or seconds since 1970.
fn time(cell: &str) -> Option<SampleStamp> {
    let seconds = cell.parse().ok().map(|at_unix_s| SampleStamp { at_unix_s, is_utc: true });
    seconds.or_else(|| SampleStamp::of_line(cell, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_goes_on_past_midnight() {
        let mut course = SarCourse::default();
        let steps = [86_390, 0, 10].map(|clock_s| course.step(clock_s));
        assert_eq!(steps, [86_390, 86_400, 86_410]);
    }
}
