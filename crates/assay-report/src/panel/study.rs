//! A study as charts and tables: how quantities follow factors, scaling, and every cell.

use super::comparison::{scaling_chart, scaling_grid, sentence};
use super::{Across, Grid, Headline, Line, Lines, Panel, STYLES, head};
use crate::clock::show_length;
use crate::format::Formatter;
use assay_model::study::{CellResult, CellState, FactorCurve, LOAD_FIGURES, StudyResult};
use assay_model::verdict::{NamedEstimate, Unit};

/// Cells that are drawn over time.
const COURSES_MAX: usize = 8;
/// Lines in a chart.
const LINES_MAX: usize = STYLES.len();
/// Values at least this far apart in ratio are laid out by ratios.
const WIDE: f64 = 30.0;

pub(super) fn headline(study: &StudyResult, target: &str, format: &Formatter) -> Headline {
    let count =
        |is: fn(&CellState) -> bool| study.cells.iter().filter(|cell| is(&cell.state)).count();
    let measured = count(|state| matches!(state, CellState::Measured));
    let failed = count(|state| matches!(state, CellState::Failed { .. }));
    let left_out = count(|state| matches!(state, CellState::LeftOut { .. }));
    let mut words = format!(
        "Study “{}” on {target}: {measured} of {} cells measured",
        study.study, study.planned
    );
    for (cells, what) in [(failed, "failed"), (left_out, "left out by stop rules")] {
        if cells > 0 {
            words = format!("{words}, {cells} {what}");
        }
    }
    let one = match study.cells.as_slice() {
        [only] => study.course.as_ref().or(only.course.as_ref()),
        _ => study.course.as_ref(),
    };
    let course = one.map(|course| super::soak::headline(course, "It", format).words);
    let words = course.map_or_else(|| format!("{words}."), |course| format!("{words}. {course}"));
    Headline { outcome: None, words }
}

pub(super) fn panels(study: &StudyResult, format: &Formatter) -> Vec<Panel> {
    let mut panels = vec![factors(study, format)];
    if let Some(first) = study.scaling.first() {
        panels.push(Panel {
            id: "scaling",
            title: "Scaling",
            lead: study.scaling.iter().map(sentence).collect(),
            charts: vec![scaling_chart(first, "at the same time")],
            tables: vec![scaling_grid(&study.scaling, "at the same time", format)],
            ..Panel::default()
        });
    }
    panels.extend(courses(study, format));
    let mut tables: Vec<Grid> = unmeasured(study).into_iter().collect();
    match loads(study, format) {
        Some(loads) => tables.push(loads),
        None => tables.extend([cells(study, format), ladder(study, format)]),
    }
    panels.push(Panel { id: "cells", title: "Every cell", tables, ..Panel::default() });
    panels
}

/// Long cells over time: one sentence and the IOPS of each.
fn courses(study: &StudyResult, format: &Formatter) -> Option<Panel> {
    let mut panel = Panel { id: "courses", title: "Long cells over time", ..Panel::default() };
    if let Some(course) = &study.course {
        panel.lead.push(super::soak::headline(course, "all cells together", format).words);
        panel.charts.extend(course.courses.first().map(super::soak::chart));
        panel.lead.extend(super::soak::story(course, format));
        panel.lead.extend(super::soak::rests_words(course));
    }
    for result in &study.cells {
        let Some(course) = &result.course else {
            continue;
        };
        let name = format!("cell {}", result.cell.number);
        panel.lead.push(super::soak::headline(course, &name, format).words);
        panel.lead.extend(super::soak::story(course, format));
        if panel.charts.len() < COURSES_MAX {
            let iops = course.courses.first().map(super::soak::chart);
            panel.charts.extend(
                iops.map(|chart| Lines { title: format!("{name}: {}", chart.title), ..chart }),
            );
        }
    }
    (!panel.lead.is_empty()).then_some(panel)
}

fn factors(study: &StudyResult, format: &Formatter) -> Panel {
    let mut charts = Vec::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for curve in &study.curves {
        let key = (curve.factor.as_str(), curve.quantity.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = |other: &&FactorCurve| (other.factor.as_str(), other.quantity.as_str()) == key;
        charts.extend(chart(&study.curves.iter().filter(same).collect::<Vec<_>>()));
    }
    let lead = [&study.description].into_iter().chain(&study.notes).cloned();
    let is_varied = !study.curves.is_empty();
    Panel {
        id: "factors",
        title: if is_varied { "What follows the factors" } else { "What is asked" },
        lead: lead.filter(|words| !words.is_empty()).collect(),
        charts,
        tables: if is_varied { vec![points(study, format)] } else { Vec::new() },
        ..Panel::default()
    }
}

/// The curves of one quantity over one factor of numbers; words have a table only.
fn chart(curves: &[&FactorCurve]) -> Option<Lines> {
    let first = *curves.first()?;
    let numbers = || {
        let points = curves.iter().flat_map(|curve| &curve.points);
        points.map(|point| point.value.number())
    };
    if numbers().any(|number| number.is_none()) {
        return None;
    }
    let (low, high) = numbers().flatten().fold((f64::INFINITY, 0.0), |(low, high), number| {
        (f64::min(low, number), f64::max(high, number))
    });
    let line = |(curve, style): (&&FactorCurve, (_, _))| Line {
        name: if curve.at.is_empty() { "all".to_owned() } else { curve.at.clone() },
        ink: style.0,
        stroke: style.1,
        dots: true,
        band: false,
        points: curve
            .points
            .iter()
            .filter_map(|point| Some((point.value.number()?, point.estimate)))
            .collect(),
    };
    Some(Lines {
        title: format!("{} by {}", first.quantity, first.factor),
        across: if low > 0.0 && high / low > WIDE { Across::Log } else { Across::Linear },
        across_name: first.factor.clone(),
        name: first.quantity.clone(),
        unit: first.unit,
        log: false,
        curves: curves.iter().zip(STYLES).take(LINES_MAX).map(line).collect(),
        marks: Vec::new(),
    })
}

fn points(study: &StudyResult, format: &Formatter) -> Grid {
    let rows = study.curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| {
            vec![
                format!("{} by {}", curve.quantity, curve.factor),
                curve.at.clone(),
                point.value.to_string(),
                format.value(curve.unit, point.estimate.value),
                format.interval(curve.unit, &point.estimate),
                point.repeats.to_string(),
            ]
        })
    });
    Grid {
        caption: "Every curve, repeats joined",
        head: head(&["curve", "at", "value", "mean", "95 % interval", "repeats"]),
        rows: rows.collect(),
    }
}

/// Bytes of a database block, in which ladders count.
const BLOCK_BYTES: f64 = 8192.0;

/// The value of a number of a cell.
fn number(result: &CellResult, quantity: &str, subject: Option<&str>) -> Option<f64> {
    let is_it = |named: &&NamedEstimate| {
        named.quantity.ends_with(quantity) && named.subject.as_deref() == subject
    };
    result.measures.iter().find(is_it).map(|named| named.estimate.value)
}

/// Settings of a cell in words.
fn settings(result: &CellResult) -> String {
    let settings = result.cell.settings.iter();
    let words: Vec<String> =
        settings.map(|setting| format!("{} {}", setting.factor, setting.value)).collect();
    words.join(", ")
}

/// Every cell as the ladders of the field have it: rates of reads and writes, in I/Os, database blocks and bytes.
fn ladder(study: &StudyResult, format: &Formatter) -> Grid {
    let row = |result: &CellResult| {
        let value = |quantity: &str, unit: Unit, per: f64| {
            let found = number(result, quantity, None);
            found.map_or_else(|| "–".to_owned(), |value| format.value(unit, value / per))
        };
        let log = number(result, "write.iops", Some("log"));
        vec![
            result.cell.number.to_string(),
            result
                .host_busy_share
                .map_or_else(|| "–".to_owned(), |busy| format.value(Unit::Share, busy)),
            value("read.iops", Unit::IosPerS, 1.0),
            value("read.throughput", Unit::IosPerS, BLOCK_BYTES),
            value("read.throughput", Unit::BytesPerS, 1.0),
            value("write.iops", Unit::IosPerS, 1.0),
            value("write.throughput", Unit::IosPerS, BLOCK_BYTES),
            value("write.throughput", Unit::BytesPerS, 1.0),
            log.map_or_else(|| "–".to_owned(), |log| format.value(Unit::IosPerS, log)),
            state(result),
        ]
    };
    Grid {
        caption: "The same as a ladder of reads and writes; blocks are of 8 KiB",
        head: head(&[
            "cell",
            "CPU busy",
            "reads/s",
            "blocks read/s",
            "read",
            "writes/s",
            "blocks written/s",
            "written",
            "log writes/s",
            "elapsed",
        ]),
        rows: study.cells.iter().map(row).collect(),
    }
}

/// Cells that are loads on a database, by the figures that they have; nothing where there are none.
fn loads(study: &StudyResult, format: &Formatter) -> Option<Grid> {
    let has = |name: &str| study.cells.iter().any(|cell| number(cell, name, None).is_some());
    let columns: Vec<_> = LOAD_FIGURES.into_iter().filter(|(name, ..)| has(name)).collect();
    let row = |result: &CellResult| {
        let mut row =
            vec![result.cell.number.to_string(), settings(result), result.cell.repeat.to_string()];
        row.extend(columns.iter().map(|(name, unit, _)| {
            let found = number(result, name, None);
            found.map_or_else(|| "–".to_owned(), |value| format.value(*unit, value))
        }));
        row.push(state(result));
        row
    };
    let words = columns.iter().map(|(.., words)| *words);
    let names: Vec<&str> =
        ["cell", "settings", "repeat"].into_iter().chain(words).chain(["took"]).collect();
    (!columns.is_empty()).then(|| Grid {
        caption: "Every cell in its order",
        head: head(&names),
        rows: study.cells.iter().map(row).collect(),
    })
}

/// How long it took, or that it was not measured.
fn state(result: &CellResult) -> String {
    match &result.state {
        CellState::Measured => show_length(result.elapsed_s),
        CellState::Failed { .. } => "failed".to_owned(),
        CellState::LeftOut { .. } => "left out".to_owned(),
    }
}

/// The cells that have no numbers, and why; nothing where all have.
fn unmeasured(study: &StudyResult) -> Option<Grid> {
    let row = |result: &CellResult| {
        let (what, reason) = match &result.state {
            CellState::Measured => return None,
            CellState::Failed { reason } => ("failed", reason),
            CellState::LeftOut { reason } => ("left out", reason),
        };
        let cell = format!("{:>4} {}", result.cell.number, settings(result));
        Some(vec![cell, format!("{what}: {reason}")])
    };
    let rows: Vec<Vec<String>> = study.cells.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Grid {
        caption: "Cells without numbers",
        head: head(&["cell", "why"]),
        rows,
    })
}

fn cells(study: &StudyResult, format: &Formatter) -> Grid {
    let row = |result: &CellResult| {
        let number = |quantity: &str, unit: Unit| {
            let found = result
                .measures
                .iter()
                .find(|named| named.quantity == quantity && named.subject.is_none());
            found.map_or_else(|| "–".to_owned(), |named| format.value(unit, named.estimate.value))
        };
        vec![
            format!("{:>4} {}", result.cell.number, settings(result)),
            result.cell.repeat.to_string(),
            number("iops", Unit::IosPerS),
            number("throughput", Unit::BytesPerS),
            number("read.service_time.mean", Unit::Ns),
            number("read.service_time.q0.99", Unit::Ns),
            number("write.service_time.mean", Unit::Ns),
            state(result),
        ]
    };
    Grid {
        caption: "Every cell in its order",
        head: head(&[
            "cell",
            "repeat",
            "IOPS",
            "throughput",
            "read mean",
            "read p99",
            "write mean",
            "measured",
        ]),
        rows: study.cells.iter().map(row).collect(),
    }
}
