//! Single traces: what `iostat`, `vmstat`, `mpstat` or `sar` printed into one file, and the tables
//! of `sadf -d`.

mod samples;
mod sar;

use super::Imported;
use super::collector::ArchiveCollector;
use super::parse::{self, FoundSample, SampleRow, is_device_head, words};
use super::stamp::{SampleStamp, with_plain_marks};
use assay_model::Result;
use assay_model::line_stamp::{StampedLine, stamped_lines};
use samples::Trace;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reads a trace.
///
/// # Errors
/// A usage error when nothing in it says what devices or processors did in an interval.
pub fn read_trace(text: &str) -> Result<Imported> {
    let mut trace = Trace::default();
    let text = with_plain_marks(text);
    let text = with_stamps_of_reports(&text);
    let lines = bare_lines(&text);
    let has = |is: &dyn Fn(&str) -> bool| lines.iter().any(|line| is(line));
    for line in &lines {
        trace.host(line);
    }
    trace.unread_form = lines.iter().take(FORM_LINES).find_map(|line| unread_form(line));
    if has(&sar::is_table_head) {
        sar::read_table(&lines, &mut trace);
    } else if has(&|line| is_device_head(line) || line.starts_with("avg-cpu")) {
        iostat(&lines, &mut trace);
    } else if has(&is_vmstat_head) {
        vmstat(&lines, &mut trace);
    } else {
        sar::read_text(&lines, &mut trace);
    }
    trace.imported()
}

/// The text without the time stamps of a logger before every line; a report of `iostat` has that of
/// its first line above it, and a row of `vmstat` has its own at its end, as both write them with
/// `-t`.
fn with_stamps_of_reports(text: &str) -> Cow<'_, str> {
    let Some(lines) = stamped_lines(text) else { return Cow::Borrowed(text) };
    let has_processors = lines.iter().any(|line| line.line.starts_with("avg-cpu"));
    let begins =
        |line: &str| line.starts_with("avg-cpu") || !has_processors && is_device_head(line);
    let is_vmstat = lines.iter().any(|line| is_vmstat_head(line.line));
    let mut plain = String::with_capacity(text.len());
    for StampedLine { stamp, line } in lines {
        if begins(line) {
            plain.extend([stamp, "\n"]);
        }
        plain.push_str(line);
        if is_vmstat && line.trim_start().starts_with(|sign: char| sign.is_ascii_digit()) {
            plain.extend([" ", stamp]);
        }
        plain.push('\n');
    }
    Cow::Owned(plain)
}

/// The lines without what a copy put before each of them: blanks, or the name of a host.
fn bare_lines(text: &str) -> Vec<&str> {
    let margin = margin(text);
    // A blank line may have lost the blank at the end of its margin.
    let short = margin.trim_end();
    text.lines()
        .map(|line| line.strip_prefix(margin).or(line.strip_prefix(short)).unwrap_or(line))
        .collect()
}

fn margin(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return "" };
    let end = first.find("Linux ").unwrap_or(first.len() - first.trim_start().len());
    let margin = &first[..end];
    if lines.all(|line| line.starts_with(margin.trim_end())) { margin } else { "" }
}

/// Lines at the beginning in which a trace shows its form.
const FORM_LINES: usize = 40;

/// Output of the same tools that is not read, by a line of it.
fn unread_form(line: &str) -> Option<&'static str> {
    if line.starts_with("<sysstat") {
        Some("the XML of `sadf -x`")
    } else if sar::is_table_head(line) && line.contains("[...]") {
        Some("the joined tables of `sadf -dh`")
    } else if sar::is_listed_value(line) {
        Some("the list of `sadf -p`")
    } else if line.starts_with("disk-") && line.contains("reads") {
        Some("the totals of `vmstat -d`")
    } else if line.ends_with(" total memory") {
        Some("the totals of `vmstat -s`")
    } else if ["SunOS ", "AIX ", "HP-UX "].iter().any(|name| line.starts_with(name))
        || words(line).contains(&"device") && line.contains("r/s")
        || line.starts_with("Disks:")
    {
        Some("a trace of another system than Linux")
    } else {
        None
    }
}

fn is_vmstat_head(line: &str) -> bool {
    words(line).starts_with(&["r", "b"])
}

/// The lines of one report of `iostat`.
#[derive(Default)]
struct TraceReport<'a> {
    stamp: Option<SampleStamp>,
    lines: Vec<&'a str>,
    has_processors: bool,
    has_devices: bool,
    /// The heading of the devices.
    head: &'a str,
    /// The devices so far.
    devices: BTreeSet<&'a str>,
}

impl<'a> TraceReport<'a> {
    /// The name of the device of a row.
    fn device(&self, line: &'a str) -> Option<&'a str> {
        let mut words = line.split_whitespace();
        let is_first = self.head.trim_start().starts_with("Device");
        let name = if is_first { words.next() } else { words.next_back() };
        name.filter(|_| self.has_devices)
    }
}

/// Reports begin with a time, or with the first of their tables.
fn iostat(lines: &[&str], trace: &mut Trace) {
    let mut report = TraceReport::default();
    trace.await_first();
    for line in lines {
        if line.starts_with("Linux ") {
            end(&report, trace);
            report = TraceReport::default();
            trace.host(line);
            trace.await_first();
            continue;
        }
        let stamp = SampleStamp::of_line(line, trace.day_unix_s);
        let (is_processors, is_devices) = (line.starts_with("avg-cpu"), is_device_head(line));
        let begins = stamp.is_some()
            || is_processors && (report.has_processors || report.has_devices)
            || is_devices && report.has_devices;
        let device = report.device(line).filter(|_| !begins);
        let is_again = device.is_some_and(|name| report.devices.contains(name));
        if begins || is_again {
            end(&report, trace);
            // Where a filter left the rows of one device, its heading is that of all.
            let head = if is_again { report.head } else { "" };
            let lines = if is_again { vec![head] } else { Vec::new() };
            report =
                TraceReport { stamp, head, lines, has_devices: is_again, ..TraceReport::default() };
        }
        report.has_processors |= is_processors;
        report.has_devices |= is_devices;
        if is_devices {
            report.head = line;
        }
        report.devices.extend(device);
        report.lines.push(line);
    }
    end(&report, trace);
}

/// Adds what a report says.
fn end(report: &TraceReport<'_>, trace: &mut Trace) {
    let devices = parse::sample(ArchiveCollector::Iostat, &report.lines);
    if devices.is_none() && report.has_devices {
        let head = words(report.lines.iter().find(|line| is_device_head(line)).unwrap_or(&""));
        if head.contains(&"r/s") {
            trace.has_broken_rows = true;
        } else {
            trace.left_out(&head);
        }
    }
    let cpu_share = processors(&report.lines);
    if devices.is_some() || cpu_share.is_some() {
        trace.add(report.stamp, FoundSample { cpu_share, ..devices.unwrap_or_default() });
    }
}

/// The row below `avg-cpu`.
fn processors(lines: &[&str]) -> Option<[f64; 8]> {
    let place = lines.iter().position(|line| line.starts_with("avg-cpu"))?;
    let head = words(lines[place]);
    let cells = words(lines.get(place + 1)?);
    parse::cpu(&SampleRow { head: head.get(1..)?, cells })
}

/// Rows below `r b`; `-t` writes their times at their ends.
fn vmstat(lines: &[&str], trace: &mut Trace) {
    let (mut head, mut is_new) = ("", true);
    for line in lines {
        if is_vmstat_head(line) {
            // It repeats its heading between rows; anything else before it is of another call.
            if is_new {
                trace.await_first();
            }
            (head, is_new) = (line, false);
            if words(line).contains(&"bi") {
                trace.left_out(&["bi bo of vmstat"]);
            }
        } else if let Some(found) = parse::sample(ArchiveCollector::Vmstat, &[head, line]) {
            let stamp = SampleStamp::of_line(line, None);
            let is_utc = words(head).last() == Some(&"UTC");
            trace.add(stamp.map(|stamp| SampleStamp { is_utc, ..stamp }), found);
        } else {
            is_new |= !line.trim_start().starts_with("procs");
        }
    }
}

#[cfg(test)]
mod tests;
