//! Where reports begin in a file and of which kind they are: recognised by words and header tables,
//! never by names.

use crate::section::{OracleSection, words_of_title};
use crate::{columns, letters};
use assay_model::{Error, Result};
use memchr::{memchr, memchr_iter, memmem, memrchr};

/// What made the report and what it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// Statspack: one instance.
    Statspack,
    /// AWR of one instance, which may be one of a cluster.
    Awr,
    /// AWR of one pluggable database.
    AwrPdb,
    /// AWR of all instances of a cluster (also made on single instances).
    AwrGlobal,
}

/// How it was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    /// Text of 80 columns.
    Text,
    /// A page of tables.
    Html,
}

/// One report in a file, not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportPart<'a> {
    pub(crate) kind: ReportKind,
    pub(crate) form: ReportForm,
    pub(crate) bytes: &'a [u8],
    pub(crate) line: u32,
    /// What a mail or a document put before every line of a copy: marks of quotation, blanks.
    pub(crate) margin: &'a [u8],
    /// What stands before the first words: the page's title, a banner.
    pub(crate) before: &'a [u8],
    /// Whether it has titles of sections, but not the first words of a report.
    pub(crate) is_excerpt: bool,
}

const STATSPACK: &[u8] = b"STATSPACK report for";
const AWR: &[u8] = b"WORKLOAD REPOSITORY ";
const COMPARISON: &[u8] = b"WORKLOAD REPOSITORY COMPARE PERIOD";
/// The header table stands this close to the first words.
const HEADER_BYTES: usize = 4096;
/// A page's title and its style sheet stand this close before the first words.
const BEFORE_BYTES: usize = 64 << 10;

#[derive(Clone, Copy)]
enum ReportOpening {
    Report(ReportKind, ReportForm),
    ComparePeriods,
}

/// All reports of a file in their order; one error for a file without any, and one for each that is
/// refused.
pub(crate) fn parts(bytes: &[u8]) -> Vec<Result<ReportPart<'_>>> {
    let openings = openings(bytes);
    if openings.is_empty() {
        return vec![excerpt(bytes).ok_or_else(|| none(bytes))];
    }
    let mut counted = (0, 1_u32);
    let mut parts = Vec::with_capacity(openings.len());
    for (index, (start, opening)) in openings.iter().enumerate() {
        let end = openings.get(index + 1).map_or(bytes.len(), |next| next.0);
        let lines = memchr_iter(b'\n', &bytes[counted.0..*start]).count();
        counted = (*start, counted.1.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)));
        let from = index.checked_sub(1).map_or(0, |last| openings[last].0);
        let before = &bytes[from.max(start.saturating_sub(BEFORE_BYTES))..*start];
        let place = ReportPart {
            kind: ReportKind::Awr,
            form: ReportForm::Text,
            bytes: &bytes[*start..end],
            line: counted.1,
            margin: margin(bytes, *start),
            before,
            is_excerpt: false,
        };
        parts.push(part(*opening, place));
    }
    parts
}

fn part(opening: ReportOpening, place: ReportPart<'_>) -> Result<ReportPart<'_>> {
    match opening {
        ReportOpening::Report(kind, form) => Ok(ReportPart { kind, form, ..place }),
        ReportOpening::ComparePeriods => Err(Error::usage(
            format!(
                "line {}: an AWR compare-period report: its columns contain two periods side by \
                 side",
                place.line
            ),
            "create an AWR report (awrrpt.sql) of each period and read both",
        )),
    }
}

/// How far into a file the first title of an excerpt stands.
const EXCERPT_BYTES: usize = 16 << 10;

/// Sections as papers and mails quote them: a title, and a ruler close below it. Their kind is not
/// known; a list of Statspack says by its headings that it is one.
fn excerpt(bytes: &[u8]) -> Option<ReportPart<'_>> {
    let head = &bytes[..bytes.len().min(EXCERPT_BYTES)];
    if has(head, &[b"<table", b"<TABLE", b"\0"]) || OTHERS.iter().any(|other| other.is_in(bytes)) {
        return None;
    }
    let lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
    let is_ruled = |at: usize| {
        let below = lines.iter().skip(at + 1).take(RULER_LINES);
        below.into_iter().any(|line| {
            line.windows(4).any(|four| four == b"----")
                && !columns::ruler(line.trim_ascii()).is_empty()
        })
    };
    let is_title = |line: &[u8]| OracleSection::of(words_of_title(line)).is_some();
    let starts = (0..lines.len()).any(|at| is_title(lines[at]) && is_ruled(at));
    starts.then_some(ReportPart {
        kind: ReportKind::Awr,
        form: ReportForm::Text,
        bytes,
        line: 1,
        margin: &[],
        before: &[],
        is_excerpt: true,
    })
}

/// Notes and headings between a title and its ruler.
const RULER_LINES: usize = 12;

/// The error for a report of Oracle's of another kind; nothing for any other text.
pub(super) fn other_kind(bytes: &[u8]) -> Option<Error> {
    let other = OTHERS.iter().find(|other| other.is_in(bytes))?;
    Some(Error::usage(format!("{}: {}", other.name, other.good_for), ASK))
}

fn none(bytes: &[u8]) -> Error {
    if let Some(error) = other_kind(bytes) {
        return error;
    }
    let words = memmem::find(bytes, AWR).or_else(|| memmem::find(bytes, STATSPACK));
    let what = if bytes.is_empty() {
        "the file is empty"
    } else if words.is_some() {
        "it has the words of a report but no header table: a copy or an excerpt"
    } else {
        "no AWR or Statspack report in it"
    };
    Error::usage(what, ASK)
}

const ASK: &str = "use the text or HTML file written by awrrpt.sql, awrgrpt.sql or spreport.sql";

/// A report of Oracle's of another kind.
struct Other {
    name: &'static str,
    good_for: &'static str,
    /// Any of these words near the start of the file.
    words: &'static [&'static [u8]],
}

/// How far into a file the name of its kind is looked for: style sheets come first.
const NAME_BYTES: usize = 64 << 10;

const OTHERS: &[Other] = &[
    Other {
        name: "an ASH report",
        good_for: "it samples session waits and does not count I/O; it complements an AWR report \
                   of the same period",
        words: &[
            b"ASH Report For",
            b"ASH Report -",
            b"ASH Report for",
            b"Active Session History Report",
        ],
    },
    Other {
        name: "an ADDM report",
        good_for: "it contains findings and advice, not the underlying counters; create the AWR \
                   report of the same two snapshots",
        words: &[b"ADDM Report for", b"ADDM Report -", b"Findings and Recommendations"],
    },
    Other {
        name: "an AWR report of one SQL statement",
        good_for: "it contains the plans and times of that statement, not the I/O of the database",
        words: &[b"WORKLOAD REPOSITORY SQL Report", b"AWR SQL Report"],
    },
    Other {
        name: "an AWR compare-period report",
        good_for: "its columns contain two periods side by side; create an AWR report (awrrpt.sql) \
                   of each period and read both",
        words: &[
            b"WORKLOAD REPOSITORY COMPARE PERIOD",
            b"AWR Compare Period Report",
            b"AWR Compare Periods Report",
        ],
    },
    Other {
        name: "output of tkprof",
        good_for: "it contains the statements of one trace, not the I/O of the database",
        words: &[b"TKPROF: Release"],
    },
    Other {
        name: "the documentation of Statspack",
        good_for: "it explains how to run spreport.sql; Assay reads the output of that script",
        words: &[b"(STATSPACK) README", b"Statistics Package (STATSPACK)"],
    },
    Other {
        name: "a page by OSPRep",
        good_for: "it contains Statspack tables in another layout; create the standard report of \
                   the same snapshots",
        words: &[b"OSPRep"],
    },
    Other {
        name: "a SQL monitor report",
        good_for: "it follows one execution of a statement, not the I/O of the database",
        words: &[b"SQL Monitoring Report"],
    },
];

impl Other {
    fn is_in(&self, bytes: &[u8]) -> bool {
        let head = &bytes[..bytes.len().min(NAME_BYTES)];
        self.words.iter().any(|words| memmem::find(head, words).is_some())
    }
}

fn openings(bytes: &[u8]) -> Vec<(usize, ReportOpening)> {
    let awr = memmem::find_iter(bytes, AWR);
    let mut places: Vec<usize> = awr.chain(memmem::find_iter(bytes, STATSPACK)).collect();
    places.sort_unstable();
    let known = places.into_iter();
    known.filter_map(|at| Some((at, opening(bytes, at)?))).collect()
}

/// The words must open their line or stand alone in an element, and a header table must follow.
fn opening(bytes: &[u8], at: usize) -> Option<ReportOpening> {
    let before = &bytes[line_start(bytes, at)..at];
    let before = before.strip_prefix(b"\x0c").unwrap_or(before);
    // A mail copy has a mark of quotation there, but no tag.
    let in_element = before.trim_ascii().ends_with(b">") && before.contains(&b'<');
    if !before.iter().all(|byte| is_margin(*byte)) && !in_element {
        return None;
    }
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    let words = bytes[at..end].split(|byte| *byte == b'<').next().unwrap_or_default();
    let words = &letters::resolved(words);
    let head = &bytes[at..bytes.len().min(at + HEADER_BYTES)];
    if words.starts_with(COMPARISON) {
        return has(head, &[b"1st", b"First"]).then_some(ReportOpening::ComparePeriods);
    }
    let kind = kind(words)?;
    let is_table = has(head, &[b"<table", b"<TABLE"]);
    let form = if is_table { ReportForm::Html } else { ReportForm::Text };
    let follows = has(head, &[b"DB Id", b"Database Summary", b"DB ID"]);
    // Who quotes a heading seldom quotes the rule under it.
    let ruled = is_table || has(head, &[b"----", b"~~~~"]);
    (follows && ruled).then_some(ReportOpening::Report(kind, form))
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1)
}

const fn is_margin(byte: u8) -> bool {
    matches!(byte, b'>' | b'|' | b' ' | b'\t' | b'\r')
}

/// What stands before the words of an opening, if it stands before all lines that follow, too;
/// titles are indented.
fn margin(bytes: &[u8], at: usize) -> &[u8] {
    let margin = &bytes[line_start(bytes, at)..at];
    let head = &bytes[at..bytes.len().min(at + HEADER_BYTES)];
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.trim_ascii().is_empty()).collect();
    let short = margin.trim_ascii_end();
    let with = lines.iter().filter(|line| line.starts_with(margin) || **line == short).count();
    let is_everywhere = with * 10 >= lines.len() * 9;
    let is_one = margin.iter().all(|byte| is_margin(*byte));
    if is_one && is_everywhere { margin } else { &[] }
}

/// The kind that the words name.
fn kind(words: &[u8]) -> Option<ReportKind> {
    if words.starts_with(STATSPACK) {
        return Some(ReportKind::Statspack);
    }
    match words.strip_prefix(AWR)? {
        rest if rest.starts_with(b"report for") => Some(ReportKind::Awr),
        rest if rest.starts_with(b"PDB report") => Some(ReportKind::AwrPdb),
        rest if rest.starts_with(b"REPORT (RAC)") => Some(ReportKind::AwrGlobal),
        _ => None,
    }
}

fn has(bytes: &[u8], any: &[&[u8]]) -> bool {
    any.iter().any(|words| memmem::find(bytes, words).is_some())
}
