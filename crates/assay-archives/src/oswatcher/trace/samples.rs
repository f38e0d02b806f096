//! The samples of a trace while it is read, and what they do not say.

use super::super::archive::ArchiveSample;
use super::super::collector::ArchiveCollector;
use super::super::parse::FoundSample;
use super::super::stamp::{SampleStamp, day_and_clock};
use super::super::{
    Imported, JOINT_COUNTS_NOTE, Parsed, ZONE_NOTE, difference_of_tcp, impossible_queue_note,
    joint_await_note, merged, untimed_note,
};
use assay_model::number::count_of;
use assay_model::{Error, Result};

/// The samples of a trace, and what they do not say.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is what the lines so far have shown")]
pub(super) struct Trace {
    samples: Vec<ArchiveSample>,
    /// Processors by the line of the host; 0 where there is none.
    processors: u64,
    /// The date of the line of the host, s since 1970.
    pub(super) day_unix_s: Option<u64>,
    /// When the report that is left out was printed, s: the next one lasts from then on.
    begun_s: Option<u64>,
    is_utc: bool,
    is_untimed: bool,
    /// Whether the next report is the mean since the host started.
    awaits_first: bool,
    /// Whether such a report is left out.
    has_first_report: bool,
    /// Whether rows of devices are cut or wrapped.
    pub(super) has_broken_rows: bool,
    /// A form of output that is not read.
    pub(super) unread_form: Option<&'static str>,
    /// Headings of tables that are not read.
    left_out: Vec<String>,
}

impl Trace {
    /// `Linux 6.1.0 (db1)  01/15/26  _x86_64_  (2 CPU)`
    pub(super) fn host(&mut self, line: &str) {
        if !line.starts_with("Linux ") {
            return;
        }
        let count = line.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(" CPU)"));
        self.processors = count.and_then(|count| count.parse().ok()).unwrap_or(self.processors);
        self.day_unix_s = host_day(line).or(self.day_unix_s);
    }

    /// A tool begins: its first report is the mean since the host started.
    pub(super) fn await_first(&mut self) {
        (self.awaits_first, self.begun_s) = (true, None);
    }

    /// Leaves out a report that covers the time since the host started.
    pub(super) fn leave_first_out(&mut self) {
        (self.awaits_first, self.has_first_report) = (false, true);
    }

    /// Adds a sample; one without a time follows the sample before it.
    pub(super) fn add(&mut self, stamp: Option<SampleStamp>, mut found: FoundSample) {
        self.is_untimed |= stamp.is_none();
        self.is_utc |= stamp.is_some_and(|stamp| stamp.is_utc);
        if self.awaits_first {
            self.begun_s = stamp.map(|stamp| stamp.at_unix_s);
            return self.leave_first_out();
        }
        let untimed_s = self.day_unix_s.unwrap_or(0) + count_of(self.samples.len());
        let at_unix_s = stamp.map_or(untimed_s, |stamp| stamp.at_unix_s);
        if let Some(begun_s) = self.begun_s.take() {
            found.covered_s = Some(at_unix_s.saturating_sub(begun_s).max(1));
        }
        self.samples.push(ArchiveSample { collector: ArchiveCollector::Iostat, at_unix_s, found });
    }

    pub(super) fn imported(mut self) -> Result<Imported> {
        if self.samples.is_empty() {
            return Err(self.nothing());
        }
        let mut notes = self.notes();
        self.samples.sort_by_key(|sample| sample.at_unix_s);
        let parsed = Parsed::of(&mut self.samples, ArchiveCollector::Iostat);
        let mut moments = merged(&parsed, std::slice::from_ref(&parsed), self.processors);
        difference_of_tcp(&mut moments);
        notes.extend(untimed_note(&moments));
        Ok(Imported { moments, notes })
    }

    fn nothing(&self) -> Error {
        if self.has_first_report {
            return Error::usage(
                "the trace has only one report, the mean since the host started",
                "record intervals, for example with `iostat -xt 10` or `sar -u -d 10 6`",
            );
        }
        let what = match (self.unread_form, self.left_out.first()) {
            (Some(form), _) => format!("{form} is not supported"),
            (None, Some(head)) => {
                format!("the table “{head}” is not supported, and there is no other")
            }
            (None, None) => "no report of iostat -x, vmstat, mpstat or sar in it".to_owned(),
        };
        Error::usage(
            what,
            "specify an archive of OSWatcher, or the output of `iostat -xt`, `vmstat -t`, \
             `mpstat`, `sar -u -d` or `sadf -d`",
        )
    }

    /// What a reader of the samples has to know.
    fn notes(&self) -> Vec<String> {
        let founds = || self.samples.iter().map(|sample| &sample.found);
        let mut notes = Vec::new();
        if self.has_first_report {
            // Without the line of the host, `-y` or a cut may have removed that report.
            let is = if self.day_unix_s.is_some() { "is" } else { "may be" };
            notes.push(format!(
                "the first report {is} the mean since the host started and is left out"
            ));
        }
        notes.extend(joint_await_note(founds().any(|found| found.joint_await)));
        notes.extend(impossible_queue_note(founds().any(|found| found.impossible_queue)));
        if self.has_broken_rows {
            notes.push("rows of devices do not match their heading and are left out".to_owned());
        }
        if founds().any(|found| found.has_joint_counts) {
            notes.push(JOINT_COUNTS_NOTE.to_owned());
        }
        if self.processors == 0 && founds().all(|found| found.processors.is_none()) {
            notes.push(
                "the trace does not state the number of CPUs: shares refer to all of them"
                    .to_owned(),
            );
        }
        if self.is_untimed {
            notes.push(
                "reports have no times: each counts as one second, so lengths and times of day \
                 are unknown"
                    .to_owned(),
            );
        } else if !self.is_utc {
            notes.push(ZONE_NOTE.to_owned());
        }
        if !self.left_out.is_empty() {
            notes.push(self.left_out_note());
        }
        notes
    }

    /// The headings of which nothing is read, as many as a person reads.
    fn left_out_note(&self) -> String {
        const SHOWN_MAX: usize = 8;
        let shown = self.left_out.iter().take(SHOWN_MAX).map(String::as_str);
        let shown = shown.collect::<Vec<_>>().join("; ");
        let more = match self.left_out.len().saturating_sub(SHOWN_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("left out, because it is not used: {shown}{more}")
    }

    /// Notes a heading of which nothing is read, once.
    pub(super) fn left_out(&mut self, head: &[&str]) {
        /// No version of sar has more.
        const HEADINGS_MAX: usize = 200;
        let shown = head.iter().take(4).copied().collect::<Vec<_>>().join(" ");
        if self.left_out.len() < HEADINGS_MAX && !self.left_out.contains(&shown) {
            self.left_out.push(shown);
        }
    }
}

/// The date of the line of the host; the version of its kernel before its name may look like one.
pub(super) fn host_day(line: &str) -> Option<u64> {
    day_and_clock(line.split_once(')')?.1).0
}
