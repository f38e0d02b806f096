//! Columns of a text table: the ruler of dashes gives their places, words and numbers are dealt out to them.

use std::borrow::Cow;
use std::ops::Range;

/// The cell of a number that runs into its neighbour: which digits belong to which is not known.
pub(crate) const RUN_TOGETHER: &[u8] = b"####";

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

/// Deals a data line out: the first column is text of its full width, runs of the others go to their columns.
/// A run over several columns is a number that ran together with its neighbour: all of them are unreadable.
pub(crate) fn cells<'a>(columns: &[Range<usize>], line: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
    let Some(first) = columns.first() else {
        return Vec::new();
    };
    let mut cells: Vec<Cow<[u8]>> = vec![Cow::Borrowed(&[]); columns.len()];
    let name_end = name_end(first, line);
    cells[0] = Cow::Borrowed(line[..name_end].trim_ascii());
    for run in runs(&line[name_end..]) {
        let run = run.start + name_end..run.end + name_end;
        deal(columns, &mut cells, line, &run);
    }
    cells
}

/// Where the first column ends: at its ruler, or before a number that is too wide for the second one.
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

fn deal<'a>(
    columns: &[Range<usize>],
    cells: &mut [Cow<'a, [u8]>],
    line: &'a [u8],
    run: &Range<usize>,
) {
    let touched: Vec<usize> =
        (1..columns.len()).filter(|index| overlap(&columns[*index], run) > 0).collect();
    match touched.as_slice() {
        [] => join(cells, nearest(columns, run), line, run),
        [column] => join(cells, *column, line, run),
        several => {
            for column in several {
                cells[*column] = Cow::Borrowed(RUN_TOGETHER);
            }
        }
    }
}

fn nearest(columns: &[Range<usize>], run: &Range<usize>) -> usize {
    let after = columns.iter().skip(1).position(|column| column.start >= run.end);
    after.map_or(columns.len().saturating_sub(1), |index| index + 1)
}

/// Puts a run into its cell; a second run widens the cell to both (`User I/O`, `52.86 s`).
fn join<'a>(cells: &mut [Cow<'a, [u8]>], column: usize, line: &'a [u8], run: &Range<usize>) {
    let Some(cell) = cells.get_mut(column) else {
        return;
    };
    if cell.as_ref() == RUN_TOGETHER {
        return;
    }
    let length = cell.len();
    *cell = if length == 0 {
        Cow::Borrowed(&line[run.clone()])
    } else {
        let mut joined = std::mem::take(cell).into_owned();
        joined.push(b' ');
        joined.extend_from_slice(&line[run.clone()]);
        Cow::Owned(joined)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(rule: &str, line: &str) -> Vec<String> {
        let cells = cells(&ruler(rule.as_bytes()), line.as_bytes());
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
    fn headings_stack_over_their_columns() {
        let lines: Vec<Cow<[u8]>> = vec![
            Cow::Borrowed(b"                  Total Wait   Avg"),
            Cow::Borrowed(b"Event       Waits   Time (s)  (ms)"),
        ];
        let columns = ruler(b"--------- ------- ---------- -----");
        assert_eq!(heads(&columns, &lines), ["event", "waits", "total wait time (s)", "avg (ms)"]);
    }
}
