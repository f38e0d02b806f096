//! The lines of a text report without what printers and SQL*Plus put between them.

use crate::columns;
use memchr::memchr;

/// One line: its number in the file from 1, and its bytes without line end and form feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportLine<'a> {
    pub(crate) number: u32,
    pub(crate) bytes: &'a [u8],
}

impl ReportLine<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }
}

/// What a copy did to the lines of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopyShape {
    /// Whether a blank line follows each line, as in copies of web pages.
    is_spaced: bool,
    /// Where all lines end at the latest, if that is before their own end.
    pub(crate) edge: Option<usize>,
}

/// Reports print 80 columns, and many of their rulers have all of them.
const PRINTED_COLUMNS: usize = 80;
/// Fewer rulers prove nothing of the length of lines.
const RULERS_MIN: usize = 8;
/// Rulers that end at the edge by chance.
const RULERS_AT_EDGE_MIN: usize = 3;
/// Fewer lines prove nothing of the blank ones between them.
const LINES_MIN: usize = 30;

impl CopyShape {
    pub(crate) fn of(lines: ReportLines) -> Self {
        let (mut written, mut adjoining, mut was_blank) = (0, 0, true);
        let mut rulers = [0_usize; PRINTED_COLUMNS];
        let mut is_whole = false;
        let mut lines = lines;
        while let Some(line) = lines.raw() {
            let is_blank = line.is_blank();
            written += usize::from(!is_blank);
            adjoining += usize::from(!is_blank && !was_blank);
            was_blank = is_blank;
            if columns::ruler(line.bytes).len() > 1 {
                let end = line.bytes.trim_ascii_end().len();
                rulers.get_mut(end).map_or_else(|| is_whole = true, |count| *count += 1);
            }
        }
        let edge = rulers.iter().rposition(|count| *count > 0);
        let is_cut = |edge: &usize| {
            rulers.iter().sum::<usize>() >= RULERS_MIN && rulers[*edge] >= RULERS_AT_EDGE_MIN
        };
        Self {
            is_spaced: written >= LINES_MIN && adjoining * 50 < written,
            edge: edge.filter(|edge| !is_whole && is_cut(edge)),
        }
    }
}

/// Iterates over complete lines: a last line without its end may be cut in the middle of a number.
#[derive(Clone, Debug)]
pub(crate) struct ReportLines<'a> {
    rest: &'a [u8],
    number: u32,
    /// What a copy put before every line.
    margin: &'a [u8],
    is_spaced: bool,
}

impl<'a> ReportLines<'a> {
    pub(crate) fn new(rest: &'a [u8], first: u32, margin: &'a [u8]) -> Self {
        Self { rest, number: first, margin, is_spaced: false }
    }

    /// The same without the blank line that follows each line of such a shape.
    pub(crate) const fn of_shape(self, shape: CopyShape) -> Self {
        Self { is_spaced: shape.is_spaced, ..self }
    }

    fn skip_spacing(&mut self) {
        let mut ahead = self.clone();
        if self.is_spaced && ahead.raw().is_some_and(|line| line.is_blank()) {
            *self = ahead;
        }
    }

    /// A blank line of a copy may have lost the blanks of its margin.
    fn without_margin(&self, line: &'a [u8]) -> &'a [u8] {
        let short = self.margin.trim_ascii_end();
        line.strip_prefix(self.margin).or_else(|| line.strip_prefix(short)).unwrap_or(line)
    }

    fn raw(&mut self) -> Option<ReportLine<'a>> {
        let end = memchr(b'\n', self.rest)?;
        let bytes = self.without_margin(&self.rest[..end]);
        self.rest = &self.rest[end + 1..];
        let number = self.number;
        self.number = number.saturating_add(1);
        Some(ReportLine { number, bytes: bare(bytes) })
    }
}

/// Without a carriage return at the end and form feeds at the start: a page break stands on its
/// title's line.
fn bare(bytes: &[u8]) -> &[u8] {
    let mut bytes = bytes;
    while let [rest @ .., b'\r'] = bytes {
        bytes = rest;
    }
    while let [0x0c, rest @ ..] = bytes {
        bytes = rest;
    }
    bytes
}

fn is_heading_of_sqlplus(line: ReportLine) -> bool {
    line.bytes.trim_ascii() == b"OUTPUT"
}

/// Below its heading SQL*Plus underlines the whole column; rulers of reports have gaps.
fn is_underline_of_sqlplus(line: ReportLine) -> bool {
    let dashes = line.bytes.trim_ascii();
    dashes.len() >= PRINTED_COLUMNS && dashes.iter().all(|byte| *byte == b'-')
}

impl<'a> Iterator for ReportLines<'a> {
    type Item = ReportLine<'a>;

    /// SQL*Plus with a small page repeats the column heading `OUTPUT` behind a blank line, inside
    /// tables too, and underlines it.
    fn next(&mut self) -> Option<ReportLine<'a>> {
        loop {
            let line = self.raw()?;
            self.skip_spacing();
            if is_heading_of_sqlplus(line) || (line.is_blank() && self.skip_page_heading()) {
                self.skip_underline();
                continue;
            }
            return Some(line);
        }
    }
}

/// Blank lines that a copy can have before the heading of a page.
const BLANKS_MAX: usize = 3;

impl ReportLines<'_> {
    /// Goes on behind a heading of SQL*Plus that only blank lines stand before; false where none
    /// follows.
    fn skip_page_heading(&mut self) -> bool {
        let mut ahead = self.clone();
        let mut lines = std::iter::from_fn(|| ahead.raw()).take(BLANKS_MAX + 1);
        if !lines.find(|line| !line.is_blank()).is_some_and(is_heading_of_sqlplus) {
            return false;
        }
        *self = ahead;
        self.skip_spacing();
        true
    }

    fn skip_underline(&mut self) {
        let mut ahead = self.clone();
        if ahead.raw().is_some_and(is_underline_of_sqlplus) {
            *self = ahead;
            self.skip_spacing();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(u32, &str)> {
        with_margin(text, "")
    }

    fn with_margin<'a>(text: &'a str, margin: &'a str) -> Vec<(u32, &'a str)> {
        ReportLines::new(text.as_bytes(), 1, margin.as_bytes())
            .map(|line| (line.number, std::str::from_utf8(line.bytes).unwrap()))
            .collect()
    }

    #[test]
    fn page_breaks_and_headings_of_sqlplus_vanish_and_numbers_stay() {
        assert_eq!(
            of("a\r\n\x0cTitle\n\nOUTPUT\nb\n\nc\n"),
            [(1, "a"), (2, "Title"), (5, "b"), (6, ""), (7, "c")]
        );
        let dashes = "-".repeat(80);
        assert_eq!(
            of(&format!("a\n\nOUTPUT\n{dashes}\nb\nOUTPUT\n{dashes}\n{}\n", &dashes[..64])),
            [(1, "a"), (5, "b"), (8, &dashes[..64])]
        );
    }

    #[test]
    fn the_margin_of_a_copy_vanishes() {
        assert_eq!(
            with_margin("a\n> b\n>\n>  c\n", "> "),
            [(1, "a"), (2, "b"), (3, ""), (4, " c")]
        );
    }

    #[test]
    fn a_blank_line_behind_each_line_vanishes_and_numbers_stay() {
        let lines = (0..40).map(|number| format!("line {number}\n\n\n\n"));
        let text = lines.collect::<Vec<_>>().concat();
        let lines = ReportLines::new(text.as_bytes(), 1, b"");
        let shape = CopyShape::of(lines.clone());
        let read: Vec<u32> = lines.clone().of_shape(shape).map(|line| line.number).collect();
        assert_eq!(read[..4], [1, 3, 5, 7]);
        assert_eq!(CopyShape::of(ReportLines::new(b"a\nb\n", 1, b"")), CopyShape::default());
    }

    #[test]
    fn rulers_that_all_end_early_show_an_edge() {
        let text = |end: usize| {
            let rule = format!("{} {}\n", "-".repeat(20), "-".repeat(59));
            let other = format!("{} {}\n", "-".repeat(30), "-".repeat(20));
            format!("{}\n{other}", &rule[..end]).repeat(5)
        };
        let edge = |text: &str| CopyShape::of(ReportLines::new(text.as_bytes(), 1, b"")).edge;
        assert_eq!(edge(&text(80)), None);
        assert_eq!(edge(&text(76)), Some(76));
    }

    #[test]
    fn a_line_without_its_end_is_not_read() {
        assert_eq!(of("a\n12,3"), [(1, "a")]);
    }
}
