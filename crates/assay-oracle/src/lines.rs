//! The lines of a text report without what printers and SQL*Plus put between them.

use memchr::memchr;

/// One line: its number in the file from 1, and its bytes without line end and form feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) number: u32,
    pub(crate) bytes: &'a [u8],
}

impl Line<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }
}

/// Iterates over complete lines: a last line without its end may be cut in the middle of a number.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
    /// What a copy put before every line.
    margin: &'a [u8],
}

impl<'a> Lines<'a> {
    pub(crate) fn new(rest: &'a [u8], first: u32, margin: &'a [u8]) -> Self {
        Self { rest, number: first, margin }
    }

    /// A blank line of a copy may have lost the blanks of its margin.
    fn without_margin(&self, line: &'a [u8]) -> &'a [u8] {
        let short = self.margin.trim_ascii_end();
        line.strip_prefix(self.margin).or_else(|| line.strip_prefix(short)).unwrap_or(line)
    }

    fn raw(&mut self) -> Option<Line<'a>> {
        let end = memchr(b'\n', self.rest)?;
        let bytes = self.without_margin(&self.rest[..end]);
        self.rest = &self.rest[end + 1..];
        let number = self.number;
        self.number = number.saturating_add(1);
        Some(Line { number, bytes: bare(bytes) })
    }
}

/// Without a carriage return at the end and form feeds at the start: a page break stands on its title's line.
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

fn is_heading_of_sqlplus(line: Line) -> bool {
    line.bytes.trim_ascii() == b"OUTPUT"
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    /// SQL*Plus with a small page repeats the column heading `OUTPUT` behind a blank line, inside tables too.
    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.raw()?;
            if is_heading_of_sqlplus(line) {
                continue;
            }
            if line.is_blank() {
                let mut ahead = self.clone();
                if ahead.raw().is_some_and(is_heading_of_sqlplus) {
                    *self = ahead;
                    continue;
                }
            }
            return Some(line);
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
        Lines::new(text.as_bytes(), 1, margin.as_bytes())
            .map(|line| (line.number, std::str::from_utf8(line.bytes).unwrap()))
            .collect()
    }

    #[test]
    fn page_breaks_and_headings_of_sqlplus_vanish_and_numbers_stay() {
        assert_eq!(
            of("a\r\n\x0cTitle\n\nOUTPUT\nb\n\nc\n"),
            [(1, "a"), (2, "Title"), (5, "b"), (6, ""), (7, "c")]
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
    fn a_line_without_its_end_is_not_read() {
        assert_eq!(of("a\n12,3"), [(1, "a")]);
    }
}
