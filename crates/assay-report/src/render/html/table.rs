//! Tables: headers that a screen reader can relate to cells, numbers that stand under one another.

use super::markup::{Markup, constant, path, tag, text};
use super::range::range;
use super::{badge, optional};
use crate::view::{CellLook, Estimated, Name, ROWS_MAX, ViewCell, ViewColumn, ViewTable};

/// The table in a box that scrolls by itself when it is wider than the screen; nothing without
/// rows.
pub(super) fn table(table: &ViewTable) -> Markup {
    if table.is_empty() {
        return Markup::new();
    }
    let head = tag("thead").body(
        tag("tr").all(table.columns.iter().enumerate().map(|(place, column)| head(place, column))),
    );
    let rows = table.rows.iter().take(ROWS_MAX);
    let body = tag("tbody").all(rows.map(|cells| row(table, cells)));
    let caption = tag("caption").text(&table.caption);
    let written = tag("table").class(class(table.look)).body(caption.and(head).and(body));
    let more = table.rows.len().saturating_sub(ROWS_MAX);
    let more = (more > 0)
        .then(|| format!("and {more} more in the JSON form of this report"))
        .map(|words| tag("p").class("note").text(&words));
    tag("div")
        .class("scroll")
        .attribute("tabindex", "0")
        .attribute("role", "region")
        .attribute("aria-label", &table.caption)
        .body(written.and(more.unwrap_or_default()))
}

const fn class(look: CellLook) -> &'static str {
    match look {
        CellLook::Wide | CellLook::Records => "",
        CellLook::Slim => "slim",
        CellLook::Dense => "dense",
        CellLook::Stacked => "stack",
    }
}

fn head(place: usize, column: &ViewColumn) -> Markup {
    let is_unnamed = place == 0 && column.name.is_empty();
    let name = if is_unnamed { "What" } else { &column.name };
    let cell = tag("th").attribute("scope", "col");
    if column.is_number { cell.class("n").text(name) } else { cell.text(name) }
}

/// A row; its first cell names it.
fn row(table: &ViewTable, cells: &[ViewCell]) -> Markup {
    let cells = cells.iter().zip(&table.columns).enumerate();
    tag("tr").all(cells.map(|(place, (cell, column))| {
        let tag = if place == 0 { tag("th").attribute("scope", "row") } else { tag("td") };
        let tag = if column.is_number { tag.class("n") } else { tag };
        let stacked = table.look == CellLook::Stacked;
        let tag = if stacked { tag.attribute("data-name", &column.name) } else { tag };
        tag.body(content(cell))
    }))
}

fn content(cell: &ViewCell) -> Markup {
    match cell {
        ViewCell::Words(words) | ViewCell::Number(words) => text(words),
        ViewCell::Estimate(Estimated { value, interval, .. }) if interval.is_empty() => text(value),
        ViewCell::Estimate(Estimated { value, interval, .. }) => {
            text(value).and(constant("<br>")).and(tag("small").text(interval))
        }
        ViewCell::Outcome(outcome) => badge(*outcome, tag("span").class("outcome")),
        ViewCell::Range(limit, estimate) => range(*limit, estimate),
        ViewCell::Link(words, to) => tag("a").attribute("href", &format!("#{to}")).text(words),
        ViewCell::Name(found) => name(found),
        ViewCell::Unknown => text("–"),
        ViewCell::Hidden => text("hidden"),
    }
}

fn name(name: &Name) -> Markup {
    let words = match name.sign {
        Some(sign) => tag("span").class(&format!("key {}", sign.name())).text(&name.words),
        None => optional("span", &name.words),
    };
    let subject = name.subject.as_ref();
    let subject = subject.map(|subject| tag("span").class("subject").body(path(subject)));
    words.and(subject.unwrap_or_default()).and(optional("small", &name.remark))
}
