//! What happened under a workload: its numbers, its errors, how its times spread, and how it went over time.

use super::figure::Figures;
use super::numbers::{kind, numbers};
use super::over_time::OverTime;
use super::table::{Cell, Table};
use crate::chart::histogram::histogram;
use crate::chart::scene::Size;
use crate::chart::tail::tail;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::{Report, RunReport};
use crate::levels;
use crate::markup::{Markup, tag};
use crate::phrases::capital;
use assay_model::Histogram;
use assay_model::measurement::{ErrorCount, Operation};
use assay_model::number::real;
use assay_model::units::show_count;

/// All runs; empty when there is none.
pub(crate) fn body(report: &Report, format: &Formatter, figures: &mut Figures) -> Markup {
    let runs = (0..).zip(&report.runs).map(|(number, run)| {
        let over_time = OverTime::new(number, run, report.runs.len(), format);
        one(run, &over_time, format, figures)
    });
    runs.collect()
}

/// One run.
fn one(run: &RunReport, over_time: &OverTime, format: &Formatter, figures: &mut Figures) -> Markup {
    let measurement = &run.measurement;
    let length = show_length(measurement.elapsed_s());
    let title = format!("Workload “{}”, measured for {length}", measurement.workload);
    tag("article").class("run").all([
        tag("h3").text(&title),
        level(run, format),
        numbers(run, format),
        errors(&measurement.errors, format),
        tag("div").class("charts").body(distributions(run, format, figures)),
        over_time.charts(format, figures),
        over_time.events(format),
    ])
}

/// That the level was left; nothing where it was kept.
fn level(run: &RunReport, format: &Formatter) -> Markup {
    let change = run.level_change.as_ref();
    change.map_or_else(Markup::new, |change| tag("p").text(&levels::sentence(change, format)))
}

/// What failed, by kind; nothing where nothing did.
fn errors(errors: &[ErrorCount], format: &Formatter) -> Markup {
    if errors.is_empty() {
        return Markup::new();
    }
    let table = Table::new("I/Os that failed").slim().words("Operation").words("Target");
    let mut table = table.words("Error").numbers("I/Os").numbers("First offset");
    for error in errors {
        let offset = show_count(real(error.first_offset_bytes));
        table.row(vec![
            Cell::Text(error.operation.name().to_owned()),
            Cell::Text(error.target.clone()),
            Cell::Text(format!("{} ({})", error.meaning, error.errno)),
            Cell::Number(format.count(error.ios)),
            Cell::Number(format!("{offset} B")),
        ]);
    }
    tag("h4").text("I/Os that failed").and(table.markup())
}

/// How the times of the whole run spread.
fn distributions(run: &RunReport, format: &Formatter, figures: &mut Figures) -> Markup {
    let operations = run.measurement.operations();
    let kind = kind(&operations);
    let timed = operations.iter().map(|(operation, result)| (operation, result.response()));
    let timed: Vec<(Operation, &Histogram)> =
        timed.filter(|(_, times)| !times.is_empty()).collect();
    let mut charts = Markup::new();
    for (operation, times) in &timed {
        let caption =
            format!("{} of all {}s: how many took how long.", capital(kind), operation.name());
        let draw = |size| histogram(*operation, times, kind, format, size);
        charts.push(figures.figure(Size::Half, &caption, draw));
    }
    if tail(&timed, kind, format, Size::Half).is_some() {
        let caption = "The tail: what share of the I/Os takes longer than a given time; the rarest stand lowest.";
        let draw = |size| tail(&timed, kind, format, size).unwrap_or_default();
        charts.push(figures.figure(Size::Half, caption, draw));
    }
    charts
}
