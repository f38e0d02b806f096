//! One table of a report, whatever form it was printed in: headings, and rows of cells with their
//! lines.

use crate::section::{OracleSection, folded};
use std::borrow::Cow;

/// The heading of the one cell that holds a page's title.
pub(crate) const PAGE_TITLE: &str = "page title";

/// The longest table of a report has some thousand rows; what follows this one is not a report's.
pub(crate) const ROWS_MAX: usize = 50_000;

/// One row: its line in the file and one cell a column.
#[derive(Clone, Debug)]
pub(crate) struct ReportRow<'a> {
    pub(crate) line: u32,
    pub(crate) cells: Vec<Cow<'a, [u8]>>,
}

impl ReportRow<'_> {
    /// The bytes of a cell; empty where the row is shorter.
    pub(crate) fn cell(&self, column: usize) -> &[u8] {
        self.cells.get(column).map_or(&[], |cell| cell.as_ref())
    }

    /// The text of a cell with runs of blanks as one; bytes of other encodings become a replacement
    /// mark.
    pub(crate) fn text(&self, column: usize) -> String {
        text(self.cell(column))
    }

    /// The cell, or nothing where it is blank.
    pub(crate) fn some_text(&self, column: Option<usize>) -> Option<String> {
        let text = self.text(column?);
        (!text.is_empty()).then_some(text)
    }
}

/// Bytes as text: blanks squeezed, other encodings replaced, never an error.
pub(crate) fn text(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let mut words = lossy.split_whitespace();
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        text.push(' ');
        text.push_str(word);
    }
    text
}

/// One table under a known title. A section that goes on after a page break is several tables.
#[derive(Clone, Debug)]
pub(crate) struct OracleTable<'a> {
    pub(crate) section: OracleSection,
    /// The title that led to the section, folded; sub-tables of one section differ in it.
    pub(crate) title: String,
    /// Column headings, folded; of two-deep headings the upper one stands before the lower one.
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<ReportRow<'a>>,
    /// Lines of the table that could not be made rows or headings, and why.
    pub(crate) faults: Vec<TableFault>,
}

/// A line that could not be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableFault {
    pub(crate) line: u32,
    pub(crate) reason: &'static str,
}

impl OracleTable<'_> {
    pub(crate) fn new(section: OracleSection, title: &[u8]) -> Self {
        Self {
            section,
            title: folded(title),
            heads: Vec::new(),
            rows: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The first column whose heading `is` accepts.
    pub(crate) fn column(&self, is: impl Fn(&str) -> bool) -> Option<usize> {
        self.heads.iter().position(|head| is(head))
    }

    /// The first column with one of these headings.
    pub(crate) fn named(&self, names: &[&str]) -> Option<usize> {
        self.column(|head| names.contains(&head))
    }

    /// The heading of a column; empty where there is none.
    pub(crate) fn head(&self, column: usize) -> &str {
        self.heads.get(column).map_or("", String::as_str)
    }
}
