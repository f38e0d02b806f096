//! Columns of a text table: the ruler of dashes gives their places, words and numbers are dealt out
//! to them.

use std::borrow::Cow;
use std::ops::Range;

/// The cell of a number that runs into its neighbour: which digits belong to which is not known.
pub(crate) const RUN_TOGETHER: &[u8] = b"####";
/// The cell of a number that does not end where its column ends.
pub(crate) const MISPLACED: &[u8] = b"#<>#";
/// The cell of a number that reaches the edge at which lines were cut.
pub(crate) const EDGE: &[u8] = b"#|";
/// Reports print numbers to the right end of their column, Statspack one place off where a suffix
/// is missing.
const SLACK: usize = 1;

/// How the cells of a line are dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnLayout {
    /// Columns of text and numbers, to either side, as in the header.
    Free,
    /// A name, then numbers that end with their columns.
    Named,
    /// Numbers alone.
    Numbers,
}

/// The columns of a ruler line; empty when the line is not one.
pub(crate) fn ruler(line: &[u8]) -> Vec<Range<usize>> {
    let rules = |byte: &u8| matches!(byte, b'-' | b'~' | b' ');
    if !line.iter().all(rules) {
        return Vec::new();
    }
    runs(line)
}

/// The places of all runs without a blank.
pub(crate) fn runs(line: &[u8]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, byte) in line.iter().enumerate() {
        match (byte.is_ascii_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                runs.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    runs.extend(start.map(|from| from..line.len()));
    runs
}

fn overlap(left: &Range<usize>, right: &Range<usize>) -> usize {
    let end = left.end.min(right.end);
    end.saturating_sub(left.start.max(right.start))
}

/// The column that a word of a heading stands over: the one it overlaps most, else the nearest.
fn over(columns: &[Range<usize>], word: &Range<usize>) -> usize {
    let distance = |column: &Range<usize>| {
        let before = column.start.saturating_sub(word.end);
        before.max(word.start.saturating_sub(column.end))
    };
    let best = columns
        .iter()
        .enumerate()
        .max_by_key(|(_, column)| (overlap(column, word), std::cmp::Reverse(distance(column))));
    best.map_or(0, |(index, _)| index)
}

/// Whether dashes of a line join the columns of groups.
pub(crate) fn is_group_line(line: &[u8]) -> bool {
    line.windows(3).any(|three| three == b"---")
}

/// Whether a line can be a heading of these columns: each of its words stands over one of them. A
/// line with dashes names groups of columns.
pub(crate) fn is_over(columns: &[Range<usize>], line: &[u8]) -> bool {
    let inside = |word: &Range<usize>| {
        columns.iter().any(|column| column.start <= word.start && word.end <= column.end)
    };
    is_group_line(line) || runs(line).iter().all(inside)
}

/// Headings of all columns from the lines above the ruler, folded.
pub(crate) fn heads(columns: &[Range<usize>], lines: &[Cow<'_, [u8]>]) -> Vec<String> {
    let mut heads = vec![String::new(); columns.len()];
    for line in lines {
        for word in runs(line) {
            let Some(head) = heads.get_mut(over(columns, &word)) else {
                continue;
            };
            if !head.is_empty() {
                head.push(' ');
            }
            *head += &crate::section::folded(&line[word]);
        }
    }
    heads
}

/// Whether these columns can be groups of those: none of those lies partly under one.
pub(crate) fn are_groups(groups: &[Range<usize>], columns: &[Range<usize>]) -> bool {
    let is_within = |column: &Range<usize>| {
        groups
            .iter()
            .filter(|group| overlap(group, column) > 0)
            .all(|group| group.start <= column.start && column.end <= group.end)
    };
    columns.len() > groups.len() && columns.iter().all(is_within)
}

/// A line that says the heading of each group over all columns that stand under it.
pub(crate) fn spread(
    groups: &[Range<usize>],
    heads: &[String],
    columns: &[Range<usize>],
) -> Vec<u8> {
    let length = columns.last().map_or(0, |column| column.end);
    let mut line = vec![b' '; length];
    for column in columns {
        let group = over(groups, column);
        // A word without blanks, so that all of it goes to the one column below.
        let words = heads.get(group).map(|head| head.replace(' ', "_")).unwrap_or_default();
        let width = column.len().min(words.len());
        line[column.start..column.start + width].copy_from_slice(&words.as_bytes()[..width]);
    }
    line
}

/// Deals a data line out: the first column is text of its full width, runs of the others go to
/// their columns. A run over several columns is a number that ran together with its neighbour: all
/// of them are unreadable.
pub(crate) fn cells<'a>(
    columns: &[Range<usize>],
    line: &'a [u8],
    layout: ColumnLayout,
) -> Vec<Cow<'a, [u8]>> {
    let Some(first) = columns.first() else {
        return Vec::new();
    };
    let mut dealer =
        Dealer { columns, line, layout, cells: vec![Cow::Borrowed(&[]); columns.len()] };
    let mut name_end = 0;
    if layout != ColumnLayout::Numbers {
        name_end = self::name_end(first, line);
        dealer.cells[0] = Cow::Borrowed(line[..name_end].trim_ascii());
    }
    for run in runs(&line[name_end..]) {
        dealer.deal(&(run.start + name_end..run.end + name_end));
    }
    dealer.cells
}

/// Where the first column ends: at its ruler, or before a number that is too wide for the second
/// one.
fn name_end(first: &Range<usize>, line: &[u8]) -> usize {
    let end = first.end.min(line.len());
    let straddles = line.get(end).is_some_and(|byte| !byte.is_ascii_whitespace()) && end > 0;
    if !straddles {
        return end;
    }
    let from = line[..end].iter().rposition(u8::is_ascii_whitespace);
    let from = from.map_or(0, |blank| blank + 1);
    let number =
        line[from..end].iter().all(|byte| matches!(byte, b'0'..=b'9' | b',' | b'.' | b'-'));
    if number && from > 0 { from } else { end }
}

/// One line on its way into its cells.
struct Dealer<'a, 'c> {
    columns: &'c [Range<usize>],
    line: &'a [u8],
    layout: ColumnLayout,
    cells: Vec<Cow<'a, [u8]>>,
}

impl Dealer<'_, '_> {
    fn deal(&mut self, run: &Range<usize>) {
        let from = usize::from(self.layout != ColumnLayout::Numbers);
        let mut touched =
            (from..self.columns.len()).filter(|index| overlap(&self.columns[*index], run) > 0);
        match (touched.next(), touched.next_back()) {
            (None, _) => self.join(self.nearest(run), run),
            (Some(column), None) => self.join(column, run),
            (Some(first), Some(last)) => {
                self.cells[first..=last].fill(Cow::Borrowed(RUN_TOGETHER));
            }
        }
    }

    fn nearest(&self, run: &Range<usize>) -> usize {
        let after = self.columns.iter().skip(1).position(|column| column.start >= run.end);
        after.map_or(self.columns.len().saturating_sub(1), |index| index + 1)
    }

    /// Puts a run into its cell; a second run widens the cell to both (`User I/O`, `52.86 s`).
    fn join(&mut self, column: usize, run: &Range<usize>) {
        let is_beside = self.is_beside(column, run);
        let (line, Some(cell)) = (self.line, self.cells.get_mut(column)) else {
            return;
        };
        if cell.as_ref() == RUN_TOGETHER || cell.as_ref() == MISPLACED {
            return;
        }
        *cell = if is_beside {
            Cow::Borrowed(MISPLACED)
        } else if cell.is_empty() {
            Cow::Borrowed(&line[run.clone()])
        } else {
            Cow::Owned([cell, b" ".as_slice(), &line[run.clone()]].concat())
        };
    }

    /// Whether a number does not end with its column; the unit behind a blank belongs to it.
    /// Releases of the header are text, and begin with theirs.
    fn is_beside(&self, column: usize, run: &Range<usize>) -> bool {
        let number = &self.line[run.clone()];
        if self.layout == ColumnLayout::Free && run.start == self.columns[column].start {
            return false;
        }
        let unit = &self.line[run.end..];
        let unit =
            unit.strip_prefix(b" s").filter(|rest| rest.first().is_none_or(|byte| *byte == b' '));
        let end = run.end + if unit.is_some() { 2 } else { 0 };
        is_number(number) && end.abs_diff(self.columns[column].end) > SLACK
    }
}

/// Whether a run is a number with or without a suffix.
pub(crate) fn is_number(run: &[u8]) -> bool {
    let digits =
        run.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b',' | b'\'' | b'-'));
    let (digits, suffix) = run.split_at(digits.unwrap_or(run.len()));
    let suffix =
        suffix.strip_prefix(b"E+").or_else(|| suffix.strip_prefix(b"E-")).unwrap_or(suffix);
    digits.iter().any(u8::is_ascii_digit)
        && (suffix.len() <= 2 || suffix.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(rule: &str, line: &str) -> Vec<String> {
        let cells = cells(&ruler(rule.as_bytes()), line.as_bytes(), ColumnLayout::Named);
        cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    #[test]
    fn blank_cells_stay_blank_whatever_follows() {
        assert_eq!(dealt("---- ---- ----", "DB        12.5"), ["DB", "", "12.5"]);
        assert_eq!(dealt("---- ------- -----", "a    52.86 s  98.9"), ["a", "52.86 s", "98.9"]);
    }

    #[test]
    fn a_number_too_wide_spills_left_into_blanks_and_the_name_column() {
        assert_eq!(dealt("--------    ----", "redo    123,456"), ["redo", "123,456"]);
        assert_eq!(dealt("-------- ----", "redo 123,456"), ["redo", "123,456"]);
    }

    #[test]
    fn numbers_that_run_together_are_unreadable() {
        assert_eq!(dealt("---- ---- ----", "a    123456789"), ["a", "####", "####"]);
    }

    #[test]
    fn a_number_that_does_not_end_with_its_column_is_unreadable() {
        assert_eq!(dealt("---- ------ -----", "a       123   4.5"), ["a", "123", "4.5"]);
        assert_eq!(dealt("---- ------ -----", "a   123       4.5"), ["a", "#<>#", "4.5"]);
        assert_eq!(dealt("---- --------", "a   52.86 s"), ["a", "#<>#"]);
        let numbers = cells(&ruler(b"----- -----"), b"1,234 5.6", ColumnLayout::Numbers);
        assert_eq!(numbers, [b"1,234".as_slice(), b"#<>#"]);
    }

    #[test]
    fn headings_stack_over_their_columns() {
        let lines: Vec<Cow<[u8]>> = vec![
            Cow::Borrowed(b"                  Total Wait   Avg"),
            Cow::Borrowed(b"Event       Waits   Time (s)  (ms)"),
        ];
        let columns = ruler(b"--------- ------- ---------- -----");
        assert_eq!(heads(&columns, &lines), ["event", "waits", "total wait time (s)", "avg (ms)"]);
    }
}
