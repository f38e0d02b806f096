//! What a database got of the storage: the ladder as figures and tables, and how it was loaded.

use super::figure::Figures;
use super::orders;
use super::table::{Cell, Pair, Table, of_rows, pairs};
use crate::chart::histogram::histogram;
use crate::chart::ladder::{Curve, ladder};
use crate::chart::scene::{Ink, Size, Stroke};
use crate::chart::stack::stack;
use crate::chart::waits::{Stretch, waits};
use crate::demand::{LOAD_TABLE, server_tables};
use crate::format::Formatter;
use crate::input::Report;
use crate::ladder::{Columns, Kind, beside, facts, tables};
use crate::markup::{Markup, tag};
use assay_model::load::{Load, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{rate, real};
use assay_model::verdict::Unit;

/// The whole section; empty without a load, and in relative reports, because every column is absolute.
pub(crate) fn body(report: &Report, format: &Formatter, figures: &mut Figures) -> Markup {
    let known = |load: &&Load| !format.is_relative() && !load.rungs.is_empty();
    let Some(load) = report.load.as_ref().filter(known) else {
        return Markup::new();
    };
    let tables = tables(load).into_iter().map(|columns| one(load, &columns));
    let parts = [
        side_by_side(report),
        tag("div").class("charts").body(charts(load, format, figures)),
        over_time(load, format, figures),
        tables.collect(),
        activity(load),
        tag("h3").text("How it was loaded"),
        pairs(facts(load).into_iter().map(|(name, value)| Pair::new(name, value))),
    ];
    parts.into_iter().collect()
}

/// What the server itself told of the best rung.
fn activity(load: &Load) -> Markup {
    let Some((rung, profile)) = load.best().and_then(|rung| Some((rung, rung.profile.as_ref()?)))
    else {
        return Markup::new();
    };
    let title =
        format!("What the server counted and was seen doing with {} sessions", rung.sessions);
    // Rates of the same seconds stand in the ladder's own columns, from the same place for all rungs.
    let tables = server_tables(profile);
    let told = tables.iter().filter(|(title, _)| *title != LOAD_TABLE);
    let tables = told.map(|(title, rows)| tag("h4").text(title).and(of_rows(title, rows)));
    tag("h3").text(&title).and(tables.collect())
}

/// The storage alone beside the database on it.
fn side_by_side(report: &Report) -> Markup {
    let rows = beside(report);
    let Some((head, rows)) = rows.split_first() else {
        return Markup::new();
    };
    let title = "The storage alone, and the database on it";
    let mut table = Table::new(title).slim();
    for (column, name) in head.iter().enumerate() {
        table = if column == 0 { table.words(name.as_str()) } else { table.numbers(name.as_str()) };
    }
    for row in rows {
        table.row(row.iter().map(|cell| Cell::Number(cell.clone())).collect());
    }
    tag("h3").text(title).and(table.markup())
}

/// A table of the ladder.
fn one(load: &Load, columns: &Columns) -> Markup {
    let mut table = Table::new(columns.title).dense();
    for (name, _) in &columns.columns {
        table = table.numbers(*name);
    }
    for rung in &load.rungs {
        table.row(columns.columns.iter().map(|(_, fill)| Cell::Number(fill(rung))).collect());
    }
    tag("h3").text(columns.title).and(table.markup())
}

fn charts(load: &Load, format: &Formatter, figures: &mut Figures) -> Markup {
    match Kind::of(load) {
        Kind::Blocks => of_blocks(load, format, figures),
        Kind::Orders => orders::charts(&orders::ORDERS, load, format, figures),
        Kind::Brokerage => orders::charts(&orders::BROKERAGE, load, format, figures),
    }
}

fn of_blocks(load: &Load, format: &Formatter, figures: &mut Figures) -> Markup {
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let mut charts = Markup::new();
    let draw = |size| {
        ladder("Reads by sessions", "reads a second", Unit::IosPerS, &rungs, &RATES, format, size)
    };
    charts.push(figures.figure(Size::Half, "What the database reads, and what the device gave, by sessions: where both lines are one, every read was one of the storage.", draw));
    let draw = |size| ladder("Times by sessions", "time", Unit::Ns, &rungs, &TIMES, format, size);
    charts.push(figures.figure(Size::Half, "Times of reading statements by sessions: the middle, and the slowest of a hundred and of a thousand.", draw));
    let draw = |size| stack(&rungs, load.processors, format, size);
    charts.push(figures.figure(Size::Half, "Where the time of the sessions went: each column is a rung, each part the sessions that were in a state on average. The kernel’s work for a read belongs to the read.", draw));
    if let Some(rung) = load.best().filter(|rung| !rung.times(Operation::Read).is_empty()) {
        let times = rung.times(Operation::Read);
        let caption = format!(
            "Times of all reading statements with {} sessions, as the sessions saw them.",
            rung.sessions
        );
        let draw = |size| histogram(Operation::Read, &times, "time of statements", format, size);
        charts.push(figures.figure(Size::Half, &caption, draw));
    }
    charts
}

/// What sessions did, rung after rung.
fn over_time(load: &Load, format: &Formatter, figures: &mut Figures) -> Markup {
    let stretches: Vec<Stretch<'_>> = load
        .rungs
        .iter()
        .filter_map(|rung| {
            let series = rung.profile.as_ref()?.server.as_ref()?.over_time.as_ref()?;
            Some(Stretch { name: rung.sessions.to_string(), series })
        })
        .collect();
    if stretches.is_empty() {
        return Markup::new();
    }
    let cpus = load.rungs.iter().any(|rung| rung.server_cpu_s.is_some());
    let cpus = cpus.then_some(f64::from(load.processors));
    let draw = |size| waits(&stretches, cpus, format, size);
    figures.figure(Size::Full, "What active sessions did, second by second and rung after rung (the numbers are sessions), by ten looks a second. Class CPU is without a wait: on a processor, or ready for one; above the line of the CPUs they queue.", draw)
}

/// Lines of the first figure.
const RATES: [Curve; 2] = [
    Curve {
        name: "database",
        ink: Ink::Read,
        stroke: Stroke::Solid,
        value: |rung| Some(rung.reads_per_s()),
    },
    Curve {
        name: "device",
        ink: Ink::Mix,
        stroke: Stroke::Dashed,
        value: |rung| {
            let device = rung.device.as_ref()?;
            Some(rate(device.counters.read_ios, rung.elapsed_s()))
        },
    },
];

/// Lines of the second figure.
const TIMES: [Curve; 3] = [
    Curve { name: "p50", ink: Ink::Read, stroke: Stroke::Solid, value: |rung| at(rung, 0.5) },
    Curve { name: "p99", ink: Ink::Read, stroke: Stroke::Dashed, value: |rung| at(rung, 0.99) },
    Curve { name: "p99.9", ink: Ink::Read, stroke: Stroke::Dotted, value: |rung| at(rung, 0.999) },
];

fn at(rung: &Rung, quantile: f64) -> Option<f64> {
    let times = rung.times(Operation::Read);
    (!times.is_empty()).then(|| real(times.quantile_ns(quantile)))
}
