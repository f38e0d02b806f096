//! Turns tables into a report: one function a section, numbers only where they are certain.

mod activity;
mod events;
mod header;
mod histogram;
mod idle;
pub(crate) use idle::IDLE;
mod io;
mod ranges;
mod segments;

use crate::number::{self, Decimal, NumberCell, Printed, Suffix, UNKNOWN_HEADINGS};
use crate::quantity::{OracleQuantity, OracleUnit, UnreadableFact};
use crate::report::{Header, OracleReport, ReportForm, ReportKind};
use crate::section::OracleSection;
use crate::split::ReportPart;
use crate::table::{OracleTable, ReportRow};
use crate::{check, html, text};
use assay_model::Error;

/// Of one report at most this many unreadable cells are kept; hostile input must not fill the
/// memory.
const UNREAD_KEPT: usize = 200;

/// Of one report at most this many rows are read.
const REPORT_ROWS_MAX: usize = 200_000;

/// Reads one report.
///
/// # Errors
/// A usage error where neither a name nor an interval can be read: nothing could be said of whom
/// and when.
pub(crate) fn read(part: &ReportPart) -> assay_model::Result<OracleReport> {
    let mut reading = ReportReading::new(part);
    let sink = &mut |table: &OracleTable| reading.take(table);
    match part.form {
        ReportForm::Text => text::read(part, sink),
        ReportForm::Html => html::read(part, sink),
    }
    let report = reading.finish();
    let header = &report.header;
    let is_named = header.db_name.is_some() || header.instance.is_some();
    if is_imitation(part, &report) {
        return Err(Error::usage(
            format!(
                "line {}: a page that looks like an AWR report, without its counters and waits",
                part.line
            ),
            "use the complete file written by awrrpt.sql or awrgrpt.sql",
        ));
    }
    let is_quoted = part.is_excerpt && !report.sections.is_empty();
    if is_quoted || is_named || header.elapsed.is_some() || header.begin.id.is_some() {
        return Ok(report);
    }
    if part.is_excerpt {
        return Err(Error::usage(
            "an excerpt of an AWR or Statspack report without a readable table",
            "include the titles, headings and rulers of its sections, or use the whole report",
        ));
    }
    Err(Error::usage(
        format!(
            "line {}: neither the database nor the snapshots of this report can be read",
            part.line
        ),
        "its header is damaged: use the original file",
    ))
}

/// Whether a page ends as a page does, but not as a report, and holds no counters: a sample, or an
/// excerpt.
fn is_imitation(part: &ReportPart, report: &OracleReport) -> bool {
    let tail = &part.bytes[part.bytes.len().saturating_sub(256)..];
    let closed =
        ["</html", "</HTML"].iter().any(|end| memchr::memmem::find(tail, end.as_bytes()).is_some());
    let counted = [OracleSection::Activity, OracleSection::IoProfile, OracleSection::InstanceRates];
    closed && !report.complete && !counted.iter().any(|section| report.has(*section))
}

pub(crate) struct ReportReading {
    report: OracleReport,
    decimal: Decimal,
    /// Sub-tables of the histograms, not joined yet.
    ranges: ranges::Ranges,
    /// Rows of all tables so far.
    rows: usize,
}

impl ReportReading {
    fn new(part: &ReportPart) -> Self {
        Self {
            report: empty(part),
            decimal: Decimal::default(),
            ranges: ranges::Ranges::default(),
            rows: 0,
        }
    }

    fn take(&mut self, table: &OracleTable) {
        for fault in &table.faults {
            self.unread(table.section, fault.line, b"", fault.reason);
        }
        self.rows += table.rows.len();
        if table.rows.is_empty() || self.rows > REPORT_ROWS_MAX {
            return;
        }
        match table.section {
            OracleSection::Header | OracleSection::CacheSizes => self.header(table),
            OracleSection::LoadProfile => self.load_profile(table),
            OracleSection::IoProfile => self.io_profile(table),
            OracleSection::TimeModel => self.time_model(table),
            OracleSection::WaitClasses => self.wait_classes(table),
            OracleSection::TopEvents
            | OracleSection::TopEventsOfAll
            | OracleSection::TopBackgroundEvents
            | OracleSection::ForegroundEvents
            | OracleSection::BackgroundEvents
            | OracleSection::AllEvents => self.events(table),
            OracleSection::Histogram => self.histogram(table),
            OracleSection::Activity => self.activity(table),
            OracleSection::InstanceRates => self.instance_rates(table),
            OracleSection::Tablespaces | OracleSection::Files => self.file_io(table),
            OracleSection::IoByFunction | OracleSection::IoByFileType => self.io_stat(table),
            OracleSection::OperatingSystem => self.operating_system(table),
            OracleSection::SqlByIoTime => self.sql(table),
            OracleSection::HostCpu => self.host_cpu(table),
            OracleSection::Sessions => self.sessions(table),
            OracleSection::SegmentsByReads | OracleSection::SegmentsByReadRequests => {
                self.segments(table);
            }
            OracleSection::SegmentStatistics => self.segment_statistics(table),
            OracleSection::BufferPoolAdvisory => self.buffer_pool(table),
        }
        if !self.report.has(table.section) && table.section != OracleSection::Header {
            self.report.sections.push(table.section);
        }
    }

    fn finish(mut self) -> OracleReport {
        self.report.histograms = self.ranges.join();
        idle::mark(&mut self.report);
        if self.report.invalid.is_some() {
            // Where the interval is none, a script's own errors stand among the lines of the
            // header.
            self.report.unread.retain(|unread| unread.section != OracleSection::Header);
        }
        check::run(&mut self.report);
        self.report
    }

    /// Reads a cell of a table as a number in `unit`; what cannot be read is noted and absent.
    fn number(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        column: Option<usize>,
        unit: OracleUnit,
    ) -> Option<OracleQuantity> {
        self.scaled(table.section, row, column?, unit, None)
    }

    /// The same, where a heading says how many of the base unit one is (`(ms)`: 0.001); a suffix
    /// wins.
    fn scaled(
        &mut self,
        section: OracleSection,
        row: &ReportRow,
        column: usize,
        unit: OracleUnit,
        scale: Option<f64>,
    ) -> Option<OracleQuantity> {
        let cell = row.cell(column);
        match number::parse(cell, self.decimal) {
            NumberCell::Blank => None,
            NumberCell::Unreadable(reason) => self.unread(section, row.line, cell, reason),
            NumberCell::Number(printed) => match factor(&printed, unit, scale) {
                Ok(factor) => Some(OracleQuantity {
                    value: in_base(printed.value, factor),
                    rounding_width: printed.rounding_width * factor,
                    unit,
                    section,
                    line: row.line,
                }),
                Err(reason) => self.unread(section, row.line, cell, reason),
            },
        }
    }

    /// Notes a table that is not read because its headings say too little.
    fn unreadable(&mut self, table: &OracleTable) {
        let line = table.rows.first().map_or(0, |row| row.line);
        let heads = table.heads.join(", ");
        self.unread(table.section, line, heads.as_bytes(), UNKNOWN_HEADINGS);
    }

    fn unread(
        &mut self,
        section: OracleSection,
        line: u32,
        cell: &[u8],
        reason: &'static str,
    ) -> Option<OracleQuantity> {
        // Of each section at least one is kept, so that what is absent there is known to have been
        // there.
        if self.report.unread.len() < UNREAD_KEPT || !self.report.has_unread(section) {
            let text = crate::table::text(cell).chars().take(40).collect();
            self.report.unread.push(UnreadableFact { section, line, text, reason });
        }
        None
    }
}

/// A number in base units: parts of a unit divide, because a tenth or a thousandth is not a binary
/// number.
fn in_base(value: f64, factor: f64) -> f64 {
    if factor < 1.0 { value / (1.0 / factor).round() } else { value * factor }
}

/// What one printed unit is in base units.
fn factor(printed: &Printed, unit: OracleUnit, scale: Option<f64>) -> Result<f64, &'static str> {
    let power_of = |base: f64, power: i32| base.powi(power);
    match (unit, printed.suffix) {
        (OracleUnit::Seconds, Suffix::Time(power)) => Ok(power_of(10.0, power)),
        (_, Suffix::Time(_)) => Err("an unexpected time"),
        (OracleUnit::Seconds, Suffix::Power(power)) => {
            Ok(scale.ok_or("a time without a unit")? * power_of(1000.0, power))
        }
        (OracleUnit::Seconds, Suffix::None) => scale.ok_or("a time without a unit"),
        (OracleUnit::Bytes | OracleUnit::BytesPerSecond, Suffix::Power(power)) => {
            Ok(power_of(1024.0, power))
        }
        (OracleUnit::Count, Suffix::None)
            if printed.decimals && printed.value.fract().abs() > 0.0 =>
        {
            // Text columns are cut at their right end: `616.4K` becomes `616.4`.
            Err("a count with decimals has lost its suffix")
        }
        (OracleUnit::Share, _) => Ok(0.01),
        (_, Suffix::Power(power)) => Ok(scale.unwrap_or(1.0) * power_of(1000.0, power)),
        (_, Suffix::None) => Ok(scale.unwrap_or(1.0)),
    }
}

fn empty(part: &ReportPart) -> OracleReport {
    let (kind, form): (ReportKind, ReportForm) = (part.kind, part.form);
    let tail = &part.bytes[part.bytes.len().saturating_sub(4096)..];
    OracleReport {
        kind,
        form,
        is_excerpt: part.is_excerpt,
        complete: memchr::memmem::find(tail, b"End of Report").is_some(),
        header: Header::default(),
        load_profile: Vec::new(),
        io_profile: Vec::new(),
        time_model: Vec::new(),
        wait_classes: Vec::new(),
        top_events: Vec::new(),
        foreground_events: Vec::new(),
        background_events: Vec::new(),
        all_events: Vec::new(),
        top_of_all: Vec::new(),
        top_background: Vec::new(),
        invalid: invalid(part),
        host_cpu: Vec::new(),
        segments: Vec::new(),
        buffer_pool: Vec::new(),
        histograms: Vec::new(),
        activity: Vec::new(),
        instances: Vec::new(),
        tablespaces: Vec::new(),
        files: Vec::new(),
        io_by_function: Vec::new(),
        io_by_file_type: Vec::new(),
        operating_system: Vec::new(),
        sql_by_io_time: Vec::new(),
        sections: Vec::new(),
        unread: Vec::new(),
        flags: Vec::new(),
    }
}

/// What a report says of itself that spoils it: `Snapshots chosen span an instance shutdown`. The
/// line stands before the first words, or close behind them.
fn invalid(part: &ReportPart) -> Option<String> {
    const BANNER: &[u8] = b"RESULTS ARE INVALID";
    let near = part.before.len().saturating_sub(1024);
    let places = [&part.before[near..], &part.bytes[..part.bytes.len().min(4096)]];
    let line = places.into_iter().find_map(|bytes| {
        bytes.split(|byte| *byte == b'\n').find(|line| memchr::memmem::find(line, BANNER).is_some())
    })?;
    let words = crate::table::text(line);
    let words = words.trim_start_matches("ERROR:").trim_start_matches("WARNING:").trim();
    Some(words.chars().take(160).collect())
}
