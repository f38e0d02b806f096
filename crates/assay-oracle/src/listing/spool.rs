//! SQL*Plus output of a query: headings, a ruler and rows, with repeated headings and wrapped
//! lines.

use crate::columns::{self, ColumnLayout};
use crate::number::{self, Decimal, NumberCell};
use crate::table::ROWS_MAX;
use std::borrow::Cow;
use std::ops::Range;

/// A table with the columns of all of its lines.
#[derive(Debug, Default)]
pub(super) struct SpoolTable {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A row by the names of its columns.
pub(super) struct SpoolRow<'a> {
    heads: &'a [String],
    cells: &'a [String],
}

impl SpoolTable {
    /// Whether each of these names heads a column.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.heads.iter().any(|head| head == name))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = SpoolRow<'_>> {
        self.rows.iter().map(|cells| SpoolRow { heads: &self.heads, cells })
    }
}

impl SpoolRow<'_> {
    /// The text of the first column with one of these names; empty where there is none.
    pub(super) fn text(&self, names: &[&str]) -> &str {
        let column = self.heads.iter().position(|head| names.contains(&head.as_str()));
        column.and_then(|column| self.cells.get(column)).map_or("", String::as_str)
    }

    /// Its number, which is not negative; none where it is blank or cut off.
    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        parsed(self.text(names))
    }
}

/// A number that is not negative.
pub(super) fn parsed(text: &str) -> Option<f64> {
    match number::parse(text.as_bytes(), Decimal::Point) {
        NumberCell::Number(printed) if printed.value >= 0.0 => Some(printed.value),
        _ => None,
    }
}

/// All tables of a text; pages with the same headings are one.
pub(super) fn tables(text: &[u8]) -> Vec<SpoolTable> {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').map(bare).collect();
    let mut reader = SpoolReader::default();
    for (at, line) in lines.iter().enumerate() {
        if is_rule(line) {
            reader.rule(columns::ruler(line), heading(&lines[..at]));
        } else if is_prompt(line) {
            reader.close();
        } else if !line.trim_ascii().is_empty() && !is_heading(&lines[at..]) {
            reader.data(line);
        }
    }
    reader.close();
    reader.tables
}

fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.strip_prefix(b"\x0c").unwrap_or(line)
}

fn is_rule(line: &[u8]) -> bool {
    line.contains(&b'-') && !columns::ruler(line).is_empty()
}

/// What stands between tables: the prompt, and the count of rows.
fn is_prompt(line: &[u8]) -> bool {
    line.starts_with(b"SQL>") || line.ends_with(b"selected.")
}

/// Headings have no more lines than this.
const HEADING_LINES_MAX: usize = 4;

/// The lines of the heading above a ruler: up to a blank line or another ruler.
fn heading<'a, 'l>(above: &'l [&'a [u8]]) -> &'l [&'a [u8]] {
    let is_other = |line: &&[u8]| line.trim_ascii().is_empty() || is_rule(line);
    let from = above.iter().rposition(is_other).map_or(0, |at| at + 1);
    &above[from.max(above.len().saturating_sub(HEADING_LINES_MAX))..]
}

/// Whether a line belongs to the heading of a ruler that follows.
fn is_heading(lines: &[&[u8]]) -> bool {
    let ahead = lines.iter().take(HEADING_LINES_MAX + 1).skip(1);
    ahead.map_while(|line| (!line.trim_ascii().is_empty()).then(|| is_rule(line))).any(|rule| rule)
}

#[derive(Default)]
struct SpoolReader {
    tables: Vec<SpoolTable>,
    /// Columns of each line of a row.
    lines: Vec<Vec<Range<usize>>>,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The cells of the present row so far, and its lines.
    row: Vec<String>,
    line: usize,
}

impl SpoolReader {
    fn rule(&mut self, columns: Vec<Range<usize>>, above: &[&[u8]]) {
        if !self.rows.is_empty() || !self.row.is_empty() {
            self.close();
        }
        let over = above.iter().filter(|line| columns::is_over(&columns, line));
        let over: Vec<Cow<'_, [u8]>> = over.map(|line| Cow::Borrowed(*line)).collect();
        self.heads.extend(columns::heads(&columns, &over));
        self.lines.push(columns);
    }

    fn data(&mut self, line: &[u8]) {
        let Some(columns) = self.lines.get(self.line).filter(|_| self.rows.len() < ROWS_MAX) else {
            return;
        };
        let cells = columns::cells(columns, line, ColumnLayout::Free);
        self.row.extend(cells.iter().map(|cell| crate::table::text(cell)));
        self.line += 1;
        if self.line == self.lines.len() {
            self.rows.push(std::mem::take(&mut self.row));
            self.line = 0;
        }
    }

    fn close(&mut self) {
        let (heads, rows) = (std::mem::take(&mut self.heads), std::mem::take(&mut self.rows));
        match self.tables.iter_mut().find(|table| table.heads == heads) {
            Some(table) => table.rows.extend(rows),
            None if rows.is_empty() => {}
            None => self.tables.push(SpoolTable { heads, rows }),
        }
        self.lines.clear();
        self.row.clear();
        self.line = 0;
    }
}
