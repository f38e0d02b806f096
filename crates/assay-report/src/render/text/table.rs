//! Tables of a terminal: columns under one another. What does not fit is broken into lines and
//! never cut.

use super::layout::{one_line, pieces, wrap};
use crate::view::{Estimated, Terminal, ViewCell, ViewColumn, ViewTable};

/// Letters between two columns.
const GAP: usize = 2;
/// A column of words is never narrower, letters.
const WORDS_MIN: usize = 14;
/// Words up to this length stay whole while other columns have room to give, letters.
const WHOLE_MAX: usize = 24;

/// A column as it is laid out.
#[derive(Clone)]
struct Laid {
    head: String,
    cells: Vec<String>,
    is_right: bool,
    width: usize,
}

impl Laid {
    fn new(head: &str, cells: Vec<String>, is_right: bool) -> Self {
        let letters = |text: &String| text.chars().count();
        let head = one_line(head);
        let width = cells.iter().chain([&head]).map(letters).max().unwrap_or(0);
        Self { head, cells, is_right, width }
    }

    /// The least width: numbers are never broken, their names are.
    fn least(&self) -> usize {
        let letters = |text: &str| text.chars().count();
        if self.is_right {
            let words = self.head.split_whitespace().map(letters);
            let cells = self.cells.iter().map(|cell| letters(cell));
            return words.chain(cells).max().unwrap_or(0);
        }
        WORDS_MIN.min(self.width)
    }

    /// The least width at which no word is broken.
    fn least_whole(&self) -> usize {
        if self.is_right {
            return self.least();
        }
        let texts = self.cells.iter().chain([&self.head]);
        let longest = texts
            .flat_map(|text| text.split_whitespace())
            .map(|word| word.chars().count())
            .max()
            .unwrap_or(0);
        longest.min(WHOLE_MAX)
    }

    /// A text in lines of the column's width.
    fn broken(&self, text: &str) -> Vec<String> {
        if text.chars().count() <= self.width {
            return vec![text.to_owned()];
        }
        if self.is_right { wrap(text, self.width) } else { broken(text, self.width) }
    }

    /// The longest line of any of its texts.
    fn longest_line(&self) -> usize {
        let texts = self.cells.iter().chain([&self.head]);
        let lines = texts.flat_map(|text| self.broken(text));
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    }

    fn aligned(&self, line: &str) -> String {
        let width = self.width;
        if self.is_right { format!("{line:>width$}") } else { format!("{line:<width$}") }
    }
}

/// The lines of a table no wider than `width`, its head first, and below it the intervals that
/// stand apart.
pub(super) fn lines(table: &ViewTable, width: usize) -> Vec<String> {
    let mut lines = written(columns(table), width);
    lines.extend(intervals(table, width));
    lines
}

/// Rows that are shown.
pub(super) fn rows_max(table: &ViewTable) -> usize {
    table.terminal_rows_max.unwrap_or(usize::MAX)
}

/// The columns that a terminal shows; those without any content are left out.
fn columns(table: &ViewTable) -> Vec<Laid> {
    let shown = table.columns.iter().enumerate();
    let shown = shown.filter(|(_, column)| column.terminal != Terminal::Hidden);
    let laid = shown.map(|(place, column)| {
        let cells = table.rows.iter().take(rows_max(table)).map(|row| row.get(place));
        let cells = cells.map(|cell| cell.map_or_else(String::new, |cell| words(cell, column)));
        Laid::new(&column.name, cells.collect(), column.is_number && place > 0)
    });
    laid.filter(|laid| laid.width > 0).collect()
}

/// A cell in words.
pub(super) fn words(cell: &ViewCell, column: &ViewColumn) -> String {
    let words = match cell {
        ViewCell::Words(words) | ViewCell::Number(words) | ViewCell::Link(words, _) => {
            words.clone()
        }
        ViewCell::Estimate(Estimated { value, doubt, .. })
            if column.terminal == Terminal::Shown =>
        {
            format!("{value} {doubt}")
        }
        ViewCell::Estimate(Estimated { value, .. }) => value.clone(),
        ViewCell::Name(name) => match &name.subject {
            Some(subject) => format!("{}, {subject}", name.words),
            None => name.words.clone(),
        },
        ViewCell::Outcome(outcome) => outcome.name().to_owned(),
        ViewCell::Range(..) => String::new(),
        ViewCell::Unknown => "–".to_owned(),
        ViewCell::Hidden => "hidden".to_owned(),
    };
    one_line(&words).trim_end().to_owned()
}

/// The intervals of the columns that show theirs below; nothing where none is known.
fn intervals(table: &ViewTable, width: usize) -> Vec<String> {
    let is_apart = |(_, column): &(usize, &ViewColumn)| column.terminal == Terminal::IntervalsBelow;
    let interval = |row: &Vec<ViewCell>, place: usize| match row.get(place) {
        Some(ViewCell::Estimate(estimated)) => estimated.interval.clone(),
        _ => String::new(),
    };
    let apart: Vec<(usize, &ViewColumn)> =
        table.columns.iter().enumerate().filter(is_apart).collect();
    let is_known =
        |row: &&Vec<ViewCell>| apart.iter().any(|(place, _)| !interval(row, *place).is_empty());
    let rows: Vec<&Vec<ViewCell>> = table.rows.iter().filter(is_known).collect();
    let Some(first) = table.columns.first().filter(|_| !rows.is_empty()) else {
        return Vec::new();
    };
    let names = rows.iter().filter_map(|row| row.first()).map(|cell| words(cell, first));
    let mut laid = vec![Laid::new("95% intervals", names.collect(), false)];
    laid.extend(apart.iter().map(|(place, column)| {
        let cells = rows.iter().map(|row| interval(row, *place)).collect();
        Laid::new(&column.name, cells, true)
    }));
    written(laid, width)
}

/// The head and the rows, no wider than there is room; columns for which there is none follow below
/// with their names.
fn written(mut columns: Vec<Laid>, width: usize) -> Vec<String> {
    let whole = columns.clone();
    narrow(&mut columns, width);
    let fitting = fitting(&columns, width);
    if fitting < columns.len() {
        let names = &whole[..1];
        let above = written(whole[..fitting].to_vec(), width);
        return [above, written([names, &whole[fitting..]].concat(), width)].concat();
    }
    let heads: Vec<Vec<String>> =
        columns.iter().map(|column| column.broken(&column.head)).collect();
    let height = heads.iter().map(Vec::len).max().unwrap_or(0);
    // The last line of every name stands next to its numbers.
    let heads: Vec<Vec<String>> = heads
        .into_iter()
        .map(|lines| [vec![String::new(); height - lines.len()], lines].concat())
        .collect();
    let mut written = stacked(&columns, &heads);
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        let cells: Vec<Vec<String>> = columns
            .iter()
            .map(|column| column.broken(column.cells.get(row).map_or("", String::as_str)))
            .collect();
        written.extend(stacked(&columns, &cells));
    }
    written
}

/// Columns that fit next to each other; the first, which has the names, and one more are always
/// together.
fn fitting(columns: &[Laid], width: usize) -> usize {
    let mut used = 0;
    let fits = columns.iter().take_while(|column| {
        used += column.width + GAP;
        used <= width + GAP
    });
    fits.count().max(2)
}

/// Cells of several lines next to each other.
fn stacked(columns: &[Laid], cells: &[Vec<String>]) -> Vec<String> {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let parts = columns
            .iter()
            .zip(cells)
            .map(|(column, lines)| column.aligned(lines.get(number).map_or("", String::as_str)));
        parts.collect::<Vec<_>>().join(&" ".repeat(GAP))
    };
    (0..height).map(line).collect()
}

/// Takes letters from the widest column that can give some until all have room: first what breaks
/// no word.
fn narrow(columns: &mut [Laid], width: usize) {
    take(columns, width, Laid::least_whole);
    for column in &mut *columns {
        column.width = column.longest_line();
    }
    take(columns, width, Laid::least);
    for column in columns {
        column.width = column.longest_line();
    }
}

fn take(columns: &mut [Laid], width: usize, least: fn(&Laid) -> usize) {
    let gaps = GAP * columns.len().saturating_sub(1);
    while columns.iter().map(|column| column.width).sum::<usize>() + gaps > width {
        let can_give = columns.iter_mut().filter(|column| column.width > least(column));
        let Some(widest) = can_give.max_by_key(|column| (!column.is_right, column.width)) else {
            break;
        };
        widest.width -= 1;
    }
}

/// Breaks a name into lines of at most `width` letters, behind its separators where it has some.
fn broken(name: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts(name).iter().flat_map(|part| pieces(part, width)) {
        let letters = |text: &str| text.trim_end().chars().count();
        match lines.last_mut() {
            Some(line) if letters(&format!("{line}{part}")) <= width => line.push_str(&part),
            _ => lines.push(part),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// A name in parts that end with a separator; one of separators alone, like the first of a path,
/// belongs to the next.
fn parts(name: &str) -> Vec<String> {
    let separators: &[char] = if name.contains('/') { &[' ', '/'] } else { &[' ', '.', '_', ':'] };
    let mut parts: Vec<String> = Vec::new();
    for part in name.split_inclusive(separators) {
        match parts.last_mut() {
            Some(last) if last.trim_matches(separators).is_empty() => last.push_str(part),
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn columns_stand_under_one_another() {
        let table = ViewTable::of_numbers("", &["", "IOPS", "p99"]);
        let table = table.with([row(&["reads", "41,200/s", "1 ms"])]);
        assert_eq!(lines(&table, 98), ["           IOPS   p99", "reads  41,200/s  1 ms"]);
    }

    #[test]
    fn a_name_too_long_is_broken_behind_its_separators() {
        assert_eq!(broken("/data/very/long/name.dbf", 12), ["/data/very/", "long/", "name.dbf"]);
        assert_eq!(broken("read.service_time.q0.99", 14), ["read.service_", "time.q0.99"]);
        assert_eq!(broken("array:competitor-afa", 14), ["array:", "competitor-afa"]);
    }

    #[test]
    fn a_name_stays_whole_while_words_beside_it_can_give_way() {
        let table = ViewTable::new("").words("target").words("asked by").numbers("work/s");
        let cells = ["array:competitor-afa", "126.5 sessions, no think time", "661"];
        let table = table.with([row(&cells)]);
        let found = lines(&table, 45);
        assert!(found.iter().any(|line| line.starts_with("array:competitor-afa ")), "{found:#?}");
        assert!(found.iter().all(|line| line.chars().count() <= 45), "{found:#?}");
    }

    #[test]
    fn intervals_stand_below_the_numbers() {
        let mut table = ViewTable::new("").words("").numbers_as("IOPS", Terminal::IntervalsBelow);
        let estimated = Estimated {
            value: "5/s".to_owned(),
            doubt: "±2%".to_owned(),
            interval: "4 – 6/s".to_owned(),
        };
        table.row(vec![ViewCell::Words("reads".to_owned()), ViewCell::Estimate(estimated)]);
        table.row(vec![ViewCell::Words("syncs".to_owned()), ViewCell::Unknown]);
        let expected = [
            "       IOPS",
            "reads   5/s",
            "syncs     –",
            "95% intervals     IOPS",
            "reads          4 – 6/s",
        ];
        assert_eq!(lines(&table, 98), expected);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_letter_is_lost(name in "[a-z./_]{1,300}", number in "[0-9]{1,20}") {
            let head = "a name of a column that has many words and is much wider than its numbers are";
            let table = ViewTable::of_numbers("", &["", head, head]);
            let lines = lines(&table.with([vec![name.clone(), number.clone(), number.clone()]]), 78);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= 78), "{:?}", lines);
            let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count();
            let whole = letters(&name) + 2 * number.len() + 2 * letters(head);
            prop_assert_eq!(lines.iter().map(|line| letters(line)).sum::<usize>(), whole);
        }
    }
}
