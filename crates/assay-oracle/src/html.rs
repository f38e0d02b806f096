//! HTML reports: a tolerant reader of tables; what is not well-formed is passed by, never an error.

use crate::letters;
use crate::section::OracleSection;
use crate::split::ReportPart;
use crate::table::{OracleTable, ROWS_MAX, ReportRow};
use memchr::{memchr, memchr_iter, memmem};
use std::borrow::Cow;

/// Reads an HTML report and hands each table under a known title over as soon as it is complete.
pub(crate) fn read<'a>(part: &ReportPart<'a>, sink: &mut dyn FnMut(&OracleTable<'a>)) {
    let (bytes, first_line) = (part.bytes, part.line);
    let mut page =
        HtmlPage { bytes, at: 0, counted: 0, line: first_line, titles: Titles::default() };
    while let Some(tag) = page.next_table() {
        if let Some(table) = page.table(tag) {
            sink(&table);
        }
    }
    if let Some(table) = titled(part.before, first_line) {
        sink(&table);
    }
}

/// The title of the page names database and instance even where the header was blanked. It stands
/// before the heading, so it is looked for before the report.
fn titled(before: &[u8], line: u32) -> Option<OracleTable<'_>> {
    let start = memmem::rfind(before, b"Report for DB: ")?;
    let text = before[start..].split(|byte| *byte == b'<' || *byte == b'\n').next()?;
    let mut table = OracleTable::new(OracleSection::Header, b"");
    table.heads.push(crate::table::PAGE_TITLE.to_owned());
    table.rows.push(ReportRow { line, cells: vec![Cow::Borrowed(text)] });
    Some(table)
}

/// What could be the title of the next table.
#[derive(Default)]
struct Titles<'a> {
    heading: &'a [u8],
    loose: &'a [u8],
    /// Whether text belongs to a link or a list of notes.
    quiet: bool,
}

struct HtmlPage<'a> {
    bytes: &'a [u8],
    at: usize,
    counted: usize,
    line: u32,
    titles: Titles<'a>,
}

impl<'a> HtmlPage<'a> {
    /// The line of a place; places must be asked for in order, so that the report is gone over
    /// once.
    fn line_at(&mut self, at: usize) -> u32 {
        let at = at.clamp(self.counted, self.bytes.len());
        let more = memchr_iter(b'\n', &self.bytes[self.counted..at]).count();
        self.counted = at;
        self.line = self.line.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        self.line
    }

    /// Goes on to the next table and gives the inside of its tag; `None` at the end.
    fn next_table(&mut self) -> Option<&'a [u8]> {
        loop {
            let open = self.at + memchr(b'<', self.bytes.get(self.at..)?)?;
            self.titles.text(&self.bytes[self.at..open]);
            let close = open + tag_end(&self.bytes[open..])?;
            let tag = &self.bytes[open + 1..close];
            self.at = close + 1;
            if is(tag, b"table") {
                return Some(tag);
            }
            self.between(tag);
        }
    }

    /// Any tag but a table.
    fn between(&mut self, tag: &'a [u8]) {
        match tag {
            [b'h' | b'H', b'1'..=b'4', ..] => {
                let end = self.skip_to(b"</h");
                self.titles.open_heading(&self.bytes[self.at..end]);
                self.at = end;
            }
            _ if is(tag, b"style") => self.at = self.skip_to(b"</style"),
            _ if is(tag, b"script") => self.at = self.skip_to(b"</script"),
            _ if is(tag, b"a") || is(tag, b"ul") => self.titles.quiet = true,
            _ if is(tag, b"/a") || is(tag, b"/ul") || is(tag, b"p") => self.titles.quiet = false,
            _ => {}
        }
    }

    fn skip_to(&self, tag: &[u8]) -> usize {
        let upper = tag.to_ascii_uppercase();
        let rest = &self.bytes[self.at..];
        let found = memmem::find(rest, tag).or_else(|| memmem::find(rest, &upper));
        self.at + found.unwrap_or(rest.len())
    }

    fn table(&mut self, tag: &'a [u8]) -> Option<OracleTable<'a>> {
        let titles = std::mem::take(&mut self.titles);
        let (start, end) = (self.at, self.skip_to(b"</table"));
        self.at = end;
        let (section, title) = titles.section(attribute(tag, b"summary"))?;
        let mut table = OracleTable::new(section, &plain(title));
        self.rows(start, end, &mut table);
        Some(table)
    }

    /// Complete rows only: one without its end may be cut in the middle of a number.
    fn rows(&mut self, start: usize, end: usize, table: &mut OracleTable<'a>) {
        let mut at = start;
        while table.rows.len() < ROWS_MAX
            && let Some(row) = find_row(&self.bytes[at..end])
        {
            let line = self.line_at(at + row.start);
            let cells = cells(&self.bytes[at + row.start..at + row.end]);
            at += row.end;
            if table.rows.is_empty() && is_heading(&cells) {
                stack(&mut table.heads, &cells);
            } else {
                let cells = cells.into_iter().map(|cell| cell.content).collect();
                table.rows.push(ReportRow { line, cells });
            }
        }
    }
}

impl<'a> Titles<'a> {
    fn text(&mut self, text: &'a [u8]) {
        let text = text.trim_ascii();
        if !self.quiet && !text.is_empty() {
            self.loose = text;
        }
    }

    fn open_heading(&mut self, content: &'a [u8]) {
        // An anchor inside a heading stands before its text.
        let text = content.rsplit(|byte| *byte == b'>').find(|part| !part.trim_ascii().is_empty());
        let text = text.unwrap_or_default();
        *self = Self {
            heading: text.split(|byte| *byte == b'<').next().unwrap_or_default(),
            ..Self::default()
        };
    }

    /// The section and the words that named it: loose text is nearest, then the heading, then the
    /// summary.
    fn section(&self, summary: &'a [u8]) -> Option<(OracleSection, &'a [u8])> {
        let known =
            |words: &'a [u8]| OracleSection::of(&plain(words)).map(|section| (section, words));
        known(self.loose).or_else(|| known(self.heading)).or_else(|| known(summary)).or_else(|| {
            // Before 11.2 the tables of the first page have neither heading nor summary.
            let first_page = self.heading.is_empty() || self.heading == b"Report Summary";
            (first_page && summary.is_empty()).then_some((OracleSection::Header, summary))
        })
    }
}

fn is(tag: &[u8], name: &[u8]) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    tag.len() >= name.len()
        && tag[..name.len()].eq_ignore_ascii_case(name)
        && tag.get(name.len()).is_none_or(ends)
}

fn attribute<'a>(tag: &'a [u8], name: &[u8]) -> &'a [u8] {
    let Some(at) = memmem::find(tag, name) else {
        return &[];
    };
    let rest = &tag[at + name.len()..];
    let Some([quote @ (b'"' | b'\''), rest @ ..]) = rest.strip_prefix(b"=") else {
        return &[];
    };
    // A page that went through a CSV file has its quotes doubled.
    let doubled = rest.strip_prefix(&[*quote]).filter(|rest| !starts_next(rest));
    let rest = doubled.unwrap_or(rest);
    memchr(*quote, rest).map_or(&[], |end| &rest[..end])
}

/// Whether an attribute is over: it was empty, and not in doubled quotes.
fn starts_next(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

/// How far away a tag's end may be; what is longer is not a tag but a stray mark.
const TAG_BYTES_MAX: usize = 4096;

/// Where a tag ends: at the first `>` outside quotes. Attributes saved by a browser can hold one
/// (`headers="%ofTotalWaits >=512us"`); where quotes do not pair, the first one ends it.
fn tag_end(bytes: &[u8]) -> Option<usize> {
    let first = memchr(b'>', bytes)?;
    let is_paired = |mark| memchr_iter(mark, &bytes[..first]).count().is_multiple_of(2);
    if is_paired(b'"') && is_paired(b'\'') {
        return Some(first);
    }
    let mut quote = None;
    for (at, byte) in bytes.iter().enumerate().take(TAG_BYTES_MAX) {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) if at > 0 && opens(bytes, at) => quote = Some(*byte),
            (byte, Some(open)) if *byte == open => quote = None,
            (b'\n', Some(_)) => return Some(first),
            _ => {}
        }
    }
    Some(first)
}

/// Whether a quotation mark opens a value: it follows the sign of equality.
fn opens(bytes: &[u8], at: usize) -> bool {
    bytes.get(at - 1) == Some(&b'=')
}

/// The inside of the next complete row.
fn find_row(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let open = memmem::find(bytes, b"<tr").or_else(|| memmem::find(bytes, b"<TR"))?;
    let start = open + tag_end(&bytes[open..])? + 1;
    let rest = &bytes[start..];
    let close = memmem::find(rest, b"</tr").or_else(|| memmem::find(rest, b"</TR"))?;
    Some(start..start + close)
}

struct HtmlCell<'a> {
    is_head: bool,
    span: usize,
    content: Cow<'a, [u8]>,
}

fn cells(row: &[u8]) -> Vec<HtmlCell<'_>> {
    let mut cells: Vec<HtmlCell> = Vec::with_capacity(8);
    let mut starts = memchr_iter(b'<', row).filter(|at| {
        let tag = &row[at + 1..];
        matches!(tag, [b't' | b'T', b'd' | b'h' | b'D' | b'H', end, ..] if *end == b'>' || end.is_ascii_whitespace())
    });
    let mut next = starts.next();
    while let Some(start) = next {
        next = starts.next();
        cells.extend(cell(&row[start + 1..next.unwrap_or(row.len())]));
    }
    cells
}

fn cell(bytes: &[u8]) -> Option<HtmlCell<'_>> {
    let close = tag_end(bytes)?;
    let tag = &bytes[..close];
    let span = std::str::from_utf8(attribute(tag, b"colspan")).ok();
    let content = &bytes[close + 1..];
    let end = memmem::find(content, b"</t").or_else(|| memmem::find(content, b"</T"));
    Some(HtmlCell {
        is_head: matches!(tag.get(1), Some(b'h' | b'H')),
        span: span.and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, 64),
        content: whole(plain(&content[..end.unwrap_or(content.len())])),
    })
}

/// A cell that a redaction cut in its own end mark (`/td>`) says nothing.
fn whole(content: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if content.starts_with(b"/t") && content.ends_with(b">") { Cow::Borrowed(b"") } else { content }
}

/// A row of heading cells; data cells among them are blank corners.
fn is_heading(cells: &[HtmlCell]) -> bool {
    let some = cells.iter().any(|cell| cell.is_head);
    some && cells.iter().all(|cell| cell.is_head || cell.content.is_empty())
}

/// Puts a row of headings under the ones above it.
fn stack(heads: &mut Vec<String>, cells: &[HtmlCell]) {
    let spread = cells.iter().flat_map(|cell| {
        let words = crate::section::folded(&cell.content);
        std::iter::repeat_n(words, cell.span)
    });
    for (column, words) in spread.enumerate() {
        if column >= heads.len() {
            heads.push(words);
        } else if !words.is_empty() {
            let separator = if heads[column].is_empty() { "" } else { " " };
            heads[column] = format!("{}{separator}{words}", heads[column]);
        }
    }
}

/// Without tags and with entities resolved.
fn plain(content: &[u8]) -> Cow<'_, [u8]> {
    let content = content.trim_ascii();
    if !content.iter().any(|byte| matches!(byte, b'<' | b'&')) {
        return Cow::Borrowed(content);
    }
    let mut plain = Vec::with_capacity(content.len());
    let mut rest = content;
    while let [first, tail @ ..] = rest {
        rest = match first {
            b'<' => memchr(b'>', tail).map_or(&[], |end| &tail[end + 1..]),
            b'&' => letters::resolve(tail, &mut plain),
            byte => {
                plain.push(*byte);
                tail
            }
        };
    }
    Cow::Owned(plain.trim_ascii().to_vec())
}
