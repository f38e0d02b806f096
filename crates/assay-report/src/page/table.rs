//! Tables: headers that a screen reader can relate to cells, numbers that stand under one another.

use crate::markup::{Markup, constant, tag, text};

/// Rows of a table at most: a page is read by people, and the JSON form has everything.
pub(crate) const ROWS_MAX: usize = 150;

/// A table that is being written.
#[derive(Debug)]
pub(crate) struct Table {
    /// What the table shows, read aloud and not seen.
    caption: &'static str,
    /// Names of the columns, and whether they hold numbers.
    head: Vec<(String, bool)>,
    /// Rows as they were written.
    rows: Vec<Markup>,
    /// How the table is laid out.
    class: &'static str,
}

/// What stands in one place.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(String),
    /// A number, and below it its interval or its doubt.
    Sure(String, String),
    /// Anything.
    Markup(Markup),
}

impl Table {
    /// A table without columns; the caption is for those who cannot see it.
    pub(crate) fn new(caption: &'static str) -> Self {
        Self { caption, head: Vec::new(), rows: Vec::new(), class: "" }
    }

    /// Keeps the table as narrow as its content.
    pub(crate) fn slim(mut self) -> Self {
        self.class = "slim";
        self
    }

    /// Sets columns closer.
    pub(crate) fn dense(mut self) -> Self {
        self.class = "dense";
        self
    }

    /// Lets rows become blocks of lines where the screen is narrow.
    pub(crate) fn stacking(mut self) -> Self {
        self.class = "stack";
        self
    }

    /// Adds a column of words.
    pub(crate) fn words(mut self, name: impl Into<String>) -> Self {
        self.head.push((name.into(), false));
        self
    }

    /// Adds a column of numbers.
    pub(crate) fn numbers(mut self, name: impl Into<String>) -> Self {
        self.head.push((name.into(), true));
        self
    }

    /// Adds a row; its first cell names it.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        let cells = cells.into_iter().zip(&self.head).enumerate();
        let cells = cells.map(|(place, (cell, (name, numeric)))| {
            let cell_tag = if place == 0 { tag("th").attribute("scope", "row") } else { tag("td") };
            let cell_tag = if *numeric { cell_tag.class("n") } else { cell_tag };
            let labelled = if self.class == "stack" {
                cell_tag.attribute("data-name", name)
            } else {
                cell_tag
            };
            labelled.body(content(cell))
        });
        self.rows.push(tag("tr").all(cells));
    }

    /// The table in a box that scrolls by itself when it is wider than the screen.
    pub(crate) fn markup(self) -> Markup {
        let head = self.head.iter().map(|(name, numeric)| {
            let cell = tag("th").attribute("scope", "col");
            if *numeric { cell.class("n").text(name) } else { cell.text(name) }
        });
        let head = tag("thead").body(tag("tr").all(head));
        let more = self.rows.len().saturating_sub(ROWS_MAX);
        let body = tag("tbody").all(self.rows.into_iter().take(ROWS_MAX));
        let caption = tag("caption").text(self.caption);
        let table = tag("table").class(self.class).body(caption.and(head).and(body));
        let more = (more > 0)
            .then(|| format!("and {more} more, which the JSON form of this report holds"));
        let more = more.map(|words| tag("p").class("note").text(&words));
        tag("div")
            .class("scroll")
            .attribute("tabindex", "0")
            .attribute("role", "region")
            .attribute("aria-label", self.caption)
            .body(table.and(more.unwrap_or_default()))
    }
}

/// Rows as a table, the names of the columns first; empty without any other. The first column names the row.
pub(crate) fn of_rows(caption: &'static str, rows: &[Vec<String>]) -> Markup {
    let Some((head, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return Markup::new();
    };
    let mut table = Table::new(caption).dense().words("What");
    for name in head.iter().skip(1) {
        table = table.numbers(name.clone());
    }
    for row in rows {
        let (name, numbers) = (row.first().cloned().unwrap_or_default(), row.iter().skip(1));
        let numbers = numbers.map(|number| Cell::Number(number.clone()));
        table.row(std::iter::once(Cell::Text(name)).chain(numbers).collect());
    }
    table.markup()
}

/// A cell as markup.
fn content(cell: Cell) -> Markup {
    match cell {
        Cell::Text(words) | Cell::Number(words) => text(&words),
        Cell::Sure(value, doubt) if doubt.is_empty() => text(&value),
        Cell::Sure(value, doubt) => {
            text(&value).and(constant("<br>")).and(tag("small").text(&doubt))
        }
        Cell::Markup(markup) => markup,
    }
}

/// A name and its value in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pair {
    /// What it is.
    name: String,
    /// How much it is.
    value: String,
    /// How sure that is; may be empty.
    doubt: String,
    /// What else is to be said; may be empty.
    note: String,
}

impl Pair {
    /// A name with its value.
    pub(crate) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), ..Self::default() }
    }

    /// How sure the value is: `±1.1 %`.
    pub(crate) fn doubt(mut self, doubt: String) -> Self {
        self.doubt = doubt;
        self
    }

    /// What else is to be said of it, on a line of its own.
    pub(crate) fn note(mut self, note: String) -> Self {
        self.note = note;
        self
    }

    /// The pair as markup.
    fn markup(self) -> Markup {
        let doubt = optional("small", &self.doubt);
        let value = tag("dd").body(text(&self.value).and(constant(" ")).and(doubt));
        let note = if self.note.is_empty() {
            Markup::new()
        } else {
            tag("dd").class("line").text(&self.note)
        };
        tag("div").all([tag("dt").text(&self.name), value, note])
    }
}

/// Names and values one below the other.
pub(crate) fn pairs(pairs: impl IntoIterator<Item = Pair>) -> Markup {
    let pairs = pairs.into_iter().map(Pair::markup);
    tag("dl").class("pairs").all(pairs)
}

/// An element with this text, or nothing where there is none.
pub(crate) fn optional(name: &'static str, content: &str) -> Markup {
    if content.is_empty() {
        return Markup::new();
    }
    tag(name).text(content)
}
