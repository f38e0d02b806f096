//! The one form of a table: columns of words or numbers, and cells that keep apart what a renderer
//! may show apart.

use assay_model::Estimate;
use assay_model::measurement::Operation;
use assay_model::verdict::{Limit, Outcome};

/// Rows that a page shows at most: it is read by people, and the JSON form has everything.
pub(crate) const ROWS_MAX: usize = 150;

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewTable {
    /// What it shows.
    pub(crate) caption: String,
    /// The columns; the first one names the rows.
    pub(crate) columns: Vec<ViewColumn>,
    /// The rows, a cell a column.
    pub(crate) rows: Vec<Vec<ViewCell>>,
    /// How it is laid out.
    pub(crate) look: CellLook,
    /// Rows that a terminal shows at most, where it is not to show all.
    pub(crate) terminal_rows_max: Option<usize>,
}

/// How a table is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CellLook {
    /// As wide as the page.
    #[default]
    Wide,
    /// As narrow as its content.
    Slim,
    /// Columns close together.
    Dense,
    /// Rows are blocks of lines where there is little room.
    Stacked,
    /// As wide as the page; in a terminal rows are blocks of lines.
    Records,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct ViewColumn {
    /// Its name; may be empty for the first one.
    pub(crate) name: String,
    /// Whether it holds numbers, which stand under one another.
    pub(crate) is_number: bool,
    /// How a terminal shows it.
    pub(crate) terminal: Terminal,
}

/// How a terminal shows a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Terminal {
    /// Like a page.
    #[default]
    Shown,
    /// With the intervals of its numbers in a table below.
    IntervalsBelow,
    /// Without the intervals of its numbers.
    ValuesOnly,
    /// Not at all: there is no room.
    Hidden,
}

/// What stands in one place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ViewCell {
    /// Words.
    Words(String),
    /// A number with its unit.
    Number(String),
    /// A number with what is known of its error.
    Estimate(Estimated),
    /// An outcome.
    Outcome(Outcome),
    /// An interval drawn against its limit.
    Range(Limit, Estimate),
    /// Words that lead to another place of the page.
    Link(String, String),
    /// What something is, whose it is, and more about it.
    Name(Name),
    /// Not known.
    Unknown,
    /// Known and not to be shown.
    Hidden,
}

/// A number, shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimated {
    /// The number.
    pub(crate) value: String,
    /// How sure it is, in short: `±1.1%`; may be empty.
    pub(crate) doubt: String,
    /// Its two ends; may be empty.
    pub(crate) interval: String,
}

/// What something is; parts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    /// What it is.
    pub(crate) words: String,
    /// The operation whose sign stands before it.
    pub(crate) sign: Option<Operation>,
    /// Whose it is, often a path.
    pub(crate) subject: Option<String>,
    /// More about it.
    pub(crate) remark: String,
}

impl ViewTable {
    /// A table without columns.
    pub(crate) fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..Self::default() }
    }

    /// A dense table whose first column names the rows and whose others hold numbers.
    pub(crate) fn of_numbers<N: AsRef<str>>(caption: impl Into<String>, names: &[N]) -> Self {
        let column = |(place, name): (usize, &N)| ViewColumn::new(name.as_ref(), place > 0);
        let columns = names.iter().enumerate().map(column).collect();
        Self { caption: caption.into(), columns, look: CellLook::Dense, ..Self::default() }
    }

    /// The same with numbers in the first column too.
    pub(crate) fn all_numbers(mut self) -> Self {
        self.columns.iter_mut().for_each(|column| column.is_number = true);
        self
    }

    /// Lays it out otherwise.
    pub(crate) fn look(self, look: CellLook) -> Self {
        Self { look, ..self }
    }

    /// Adds a column of words.
    pub(crate) fn words(self, name: impl Into<String>) -> Self {
        self.column(ViewColumn::new(name, false))
    }

    /// Adds a column of numbers.
    pub(crate) fn numbers(self, name: impl Into<String>) -> Self {
        self.column(ViewColumn::new(name, true))
    }

    /// Adds a column of numbers that a terminal shows in its own way.
    pub(crate) fn numbers_as(self, name: impl Into<String>, terminal: Terminal) -> Self {
        self.column(ViewColumn { terminal, ..ViewColumn::new(name, true) })
    }

    fn column(mut self, column: ViewColumn) -> Self {
        self.columns.push(column);
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<ViewCell>) {
        self.rows.push(cells);
    }

    /// Adds a row of plain cells, each of the kind of its column.
    pub(crate) fn push(&mut self, cells: Vec<String>) {
        let cells = cells.into_iter().zip(&self.columns);
        let cells = cells.map(|(cell, column)| {
            if column.is_number { ViewCell::Number(cell) } else { ViewCell::Words(cell) }
        });
        self.rows.push(cells.collect());
    }

    /// Whether it has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The same with these rows added.
    pub(crate) fn with(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        self.extend(rows);
        self
    }
}

impl Extend<Vec<String>> for ViewTable {
    fn extend<T: IntoIterator<Item = Vec<String>>>(&mut self, rows: T) {
        for row in rows {
            self.push(row);
        }
    }
}

impl ViewColumn {
    fn new(name: impl Into<String>, is_number: bool) -> Self {
        Self { name: name.into(), is_number, terminal: Terminal::Shown }
    }
}

#[cfg(test)]
impl ViewTable {
    /// The names of the columns and the rows, as words.
    pub(crate) fn plain(&self) -> Vec<Vec<String>> {
        let plain = |cell: &ViewCell| match cell {
            ViewCell::Words(words) | ViewCell::Number(words) | ViewCell::Link(words, _) => {
                words.clone()
            }
            ViewCell::Estimate(estimated) => estimated.value.clone(),
            ViewCell::Name(name) => name.words.clone(),
            ViewCell::Outcome(outcome) => outcome.name().to_owned(),
            ViewCell::Unknown => "–".to_owned(),
            ViewCell::Range(..) | ViewCell::Hidden => String::new(),
        };
        let head = self.columns.iter().map(|column| column.name.clone()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(plain).collect());
        std::iter::once(head).chain(rows).collect()
    }
}
