//! A panel on the page: sentences, charts, tables.

use super::Section;
use super::figure::Figures;
use super::table::{Cell, Pair, Table, pairs};
use crate::chart::bars::bars;
use crate::chart::lines::lines;
use crate::chart::scene::Size;
use crate::format::Formatter;
use crate::markup::{Markup, tag};
use crate::panel::{Facts, Grid, Panel};

/// The panel as a part of the page.
pub(crate) fn section(panel: &Panel, format: &Formatter, figures: &mut Figures) -> Section {
    let lead = panel.lead.iter().map(|sentence| tag("li").text(sentence));
    let lead = tag("ul").class("lead").all(lead);
    let mut charts = Markup::new();
    for chart in &panel.charts {
        let draw = |size| lines(chart, format, size);
        charts.push(figures.figure(Size::Full, &chart.title, draw));
    }
    let mut halves = Markup::new();
    for chart in &panel.halves {
        let draw = |size| lines(chart, format, size);
        halves.push(figures.figure(Size::Half, &chart.title, draw));
    }
    if !panel.halves.is_empty() {
        charts.push(tag("div").class("charts").body(halves));
    }
    for chart in &panel.bars {
        let draw = |size| bars(chart, format, size);
        charts.push(figures.figure(Size::Full, &chart.title, draw));
    }
    let tables: Markup = panel.tables.iter().map(table).collect();
    let body = lead.and(charts).and(tables).and(facts(&panel.facts));
    Section { id: panel.id, title: panel.title, body }
}

fn facts(facts: &Facts) -> Markup {
    if facts.pairs.is_empty() {
        return Markup::new();
    }
    let all = facts.pairs.iter().cloned().map(|(name, value)| Pair::new(name, value));
    tag("h4").text(facts.caption).and(pairs(all))
}

fn table(grid: &Grid) -> Markup {
    let mut names = grid.head.iter();
    let first = names.next().cloned().unwrap_or_default();
    let mut table = Table::new(grid.caption).dense().words(first);
    for name in names {
        table = table.numbers(name);
    }
    for row in &grid.rows {
        let mut cells = row.iter();
        let first = cells.next().cloned().unwrap_or_default();
        let others = cells.cloned().map(Cell::Number);
        table.row([Cell::Text(first)].into_iter().chain(others).collect());
    }
    tag("h4").text(grid.caption).and(table.markup())
}
