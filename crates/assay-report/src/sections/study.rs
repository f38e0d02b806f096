//! A study as charts and tables: how quantities follow factors, scaling, and every cell.

use super::best_steps;
use super::comparison::scalings;
use super::headline::Headline;
use super::imported;
use super::published;
use super::quantity_names::{factor, quantity, settings};
use super::styles::STYLES;
use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::SceneSize;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::phrases::capital_words;
use crate::view::{CellLook, HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::number::count_of;
use assay_model::study::{
    CellResult, CellState, FactorCurve, StudyPoint, StudyResult, load_figures,
};
use assay_model::verdict::{NamedEstimate, Outcome, Unit};

/// Cells that are drawn over time.
const COURSES_MAX: usize = 8;
/// Lines in a chart.
const LINES_MAX: usize = STYLES.len();
/// Values at least this far apart in ratio are laid out by ratios.
const WIDE: f64 = 30.0;

pub(super) fn headline(study: &StudyResult, format: &Formatter) -> Headline {
    if imported::is_imported(study) {
        return imported::headline(study, range(study, format), format);
    }
    let count =
        |is: fn(&CellState) -> bool| study.cells.iter().filter(|cell| is(&cell.state)).count();
    let measured = count(|state| matches!(state, CellState::Measured));
    let failed = count(|state| matches!(state, CellState::Failed { .. }));
    let left_out = count(|state| matches!(state, CellState::LeftOut { .. }));
    let cells = format!("{measured} of {} cells measured", study.planned);
    let answer = best_steps::words(study, format).or_else(|| range(study, format));
    let mut words = match answer {
        Some(range) => format!("{range}; {cells}"),
        None => format!("Study “{}”: {cells}", study.study),
    };
    for (cells, what) in [(failed, "failed"), (left_out, "left out by stop rules")] {
        if cells > 0 {
            words = format!("{words}, {cells} {what}");
        }
    }
    let one = match study.cells.as_slice() {
        [only] => study.course.as_ref().or(only.course.as_ref()),
        _ => study.course.as_ref(),
    };
    let told = |course| {
        let words = super::soak::headline(course, format).words;
        [words].into_iter().chain(super::soak::story(course, format)).collect::<Vec<_>>().join(" ")
    };
    let course = one.map(told);
    let words = course.map_or_else(|| format!("{words}."), |course| format!("{words}. {course}"));
    let in_doubt = study.cells.iter().find_map(|cell| Some((&cell.cell, cell.doubt.as_ref()?)));
    let Some((cell, doubt)) = in_doubt else { return Headline { outcome: None, words } };
    let words = format!("In cell {} {}. {words}", cell.number, format.prose(doubt));
    Headline { outcome: Some(Outcome::Inconclusive), words }
}

/// Whether the hosts of a cell did not measure together.
pub(super) fn is_in_doubt(study: &StudyResult) -> bool {
    study.cells.iter().any(|cell| cell.doubt.is_some())
}

/// The first quantity from its least to its greatest value, over all cells.
fn range(study: &StudyResult, format: &Formatter) -> Option<String> {
    let of_curves = points_of_curves(study, format);
    let in_curves: u32 = of_curves.as_ref().map_or(0, |found| found.repeats);
    let name = match study.curves.first() {
        Some(curve) => &curve.quantity,
        None => &study.cells.first()?.measures.first()?.quantity,
    };
    // Curves leave out the rows that they have no second point for.
    let rows = imported::values(study, name, format);
    let is_short = imported::is_imported(study) && count_of(rows.len()) > u64::from(in_curves);
    let points = if is_short { rows } else { of_curves?.points };
    let by = |one: &&(f64, String), other: &&(f64, String)| one.0.total_cmp(&other.0);
    let ((_, least), (_, most)) = (points.iter().min_by(by)?, points.iter().max_by(by)?);
    let name = capital_words(&quantity(name));
    (points.len() > 1).then(|| format!("{name} from {least} to {most}"))
}

/// The points of the first quantity by the first factor, with their words.
struct WordedPoints {
    points: Vec<(f64, String)>,
    /// Cells that they stand for.
    repeats: u32,
}

fn points_of_curves(study: &StudyResult, format: &Formatter) -> Option<WordedPoints> {
    let first = study.curves.first()?;
    let is_same =
        |curve: &&FactorCurve| (&curve.factor, &curve.quantity) == (&first.factor, &first.quantity);
    let of_curve = |curve: &'_ FactorCurve| -> Vec<(f64, String)> {
        let at = |point: &StudyPoint| {
            let value = format.value(curve.unit, point.estimate.value);
            let others = if curve.at.is_empty() { "" } else { ", " };
            format!("{value} at {} {}{others}{}", factor(&curve.factor), point.value, curve.at)
        };
        curve.points.iter().map(|point| (point.estimate.value, at(point))).collect()
    };
    let curves = || study.curves.iter().filter(is_same);
    let repeats = curves().flat_map(|curve| &curve.points).map(|point| point.repeats).sum();
    Some(WordedPoints { points: curves().flat_map(of_curve).collect(), repeats })
}

pub(super) fn sections<'a>(study: &StudyResult, format: Formatter) -> Vec<ViewSection<'a>> {
    let mut sections: Vec<_> = published::section(study, &format).into_iter().collect();
    sections.extend(best_steps::section(study, &format));
    sections.extend(super::matrix::section(study, &format));
    sections.push(factors(study, format));
    sections.extend(scalings(&study.scaling, "at the same time", format));
    sections.extend(courses(study, format));
    let tables: Vec<ViewTable> = match loads(study, &format) {
        _ if imported::is_imported(study) => {
            vec![imported::rows(study, &format), imported::numbers(study, &format)]
        }
        Some(loads) => vec![unmeasured(study), in_doubt(study), loads],
        None => [unmeasured(study), in_doubt(study), cells(study, &format)]
            .into_iter()
            .chain(ladder(study, &format))
            .collect(),
    };
    let blocks =
        tables.into_iter().map(|table| ViewBlock::captioned(HeadingLevel::Detail, table)).collect();
    sections.push(ViewSection { id: "cells", title: "Every cell".to_owned(), blocks });
    sections
}

/// Long cells over time: one sentence and the IOPS of each.
fn courses<'a>(study: &StudyResult, format: Formatter) -> Option<ViewSection<'a>> {
    let (mut lead, mut charts) = (Vec::new(), Vec::new());
    if let Some(course) = &study.course {
        lead.push(format!("All cells together: {}", super::soak::headline(course, &format).words));
        charts.extend(course.courses.first().map(super::soak::chart));
        lead.extend(super::soak::story(course, &format));
        lead.extend(super::soak::rests_words(course));
    }
    for result in &study.cells {
        let Some(course) = &result.course else {
            continue;
        };
        let name = format!("cell {}", result.cell.number);
        lead.push(format!(
            "Cell {}: {}",
            result.cell.number,
            super::soak::headline(course, &format).words
        ));
        lead.extend(super::soak::story(course, &format));
        let iops = course.courses.first().filter(|_| charts.len() < COURSES_MAX);
        let titled =
            |chart: ChartLines| ChartLines { title: format!("{name}: {}", chart.title), ..chart };
        charts.extend(iops.map(super::soak::chart).map(titled));
    }
    let is_empty = lead.is_empty();
    let charts =
        charts.into_iter().map(|chart| ViewBlock::Chart(chart.chart(SceneSize::Full, format)));
    (!is_empty).then(|| ViewSection {
        id: "courses",
        title: "Long cells over time".to_owned(),
        blocks: [ViewBlock::Lead(lead)].into_iter().chain(charts).collect(),
    })
}

fn factors<'a>(study: &StudyResult, format: Formatter) -> ViewSection<'a> {
    let common = imported::common(study).filter(|_| imported::is_imported(study));
    let lead = [&study.description].into_iter().chain(&study.notes).cloned().chain(common);
    let lead = ViewBlock::Lead(lead.filter(|words| !words.is_empty()).collect());
    let charts = charts(study).into_iter().chain(latency_by_rate(study));
    let charts = charts.map(|chart| chart.chart(SceneSize::Half, format));
    let charts = [ViewBlock::SideBySide(charts.map(ViewBlock::Chart).collect())];
    let points = points(study, &format);
    let points = ViewBlock::folded(points.caption.clone(), vec![ViewBlock::Table(points)]);
    let title = match (study.curves.is_empty(), imported::is_imported(study)) {
        (false, _) => "Results by factor",
        (true, true) => "Missing data",
        (true, false) => "Conditions",
    };
    let blocks = [lead].into_iter().chain(charts).chain([points]);
    ViewSection { id: "factors", title: title.to_owned(), blocks: blocks.collect() }
}

/// A chart a factor and quantity, in their order.
fn charts(study: &StudyResult) -> Vec<ChartLines> {
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
    charts
}

/// The curves of one quantity over one factor of numbers; words have a table only.
fn chart(curves: &[&FactorCurve]) -> Option<ChartLines> {
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
    let line = |(curve, style): (&&FactorCurve, (_, _))| ChartLine {
        name: curve.at.clone(),
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
    Some(ChartLines {
        title: capital_words(&format!(
            "{} by {}",
            quantity(&first.quantity),
            factor(&first.factor)
        )),
        across: if low > 0.0 && high / low > WIDE { Across::Log } else { Across::Linear },
        across_name: factor(&first.factor),
        name: quantity(&first.quantity),
        unit: first.unit,
        log: false,
        curves: curves.iter().zip(STYLES).take(LINES_MAX).map(line).collect(),
        marks: Vec::new(),
    })
}

/// The load curve of the study: mean time of reads by their rate, a line for each setting of the
/// other factors.
fn latency_by_rate(study: &StudyResult) -> Option<ChartLines> {
    let curves = |quantity: &'static str| {
        study.curves.iter().filter(move |curve| curve.quantity == quantity)
    };
    let line = |(rates, style): (&FactorCurve, (_, _))| {
        let is_same = |times: &&FactorCurve| times.factor == rates.factor && times.at == rates.at;
        let times = curves("read.service_time.mean").find(is_same)?;
        let points = rates.points.iter().filter_map(|rate| {
            let time = times.points.iter().find(|time| time.value == rate.value)?;
            Some((rate.estimate.value, time.estimate))
        });
        let mut points: Vec<_> = points.collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let name = rates.at.clone();
        (points.len() > 1).then_some(ChartLine {
            name,
            ink: style.0,
            stroke: style.1,
            dots: true,
            band: false,
            points,
        })
    };
    let lines: Vec<ChartLine> = curves("iops").zip(STYLES).filter_map(line).collect();
    (!lines.is_empty()).then(|| ChartLines {
        title: "Mean of read latency by IOPS".to_owned(),
        across: Across::Linear,
        across_name: "IOPS".to_owned(),
        name: "mean of read latency".to_owned(),
        unit: Unit::Ns,
        log: true,
        curves: lines,
        marks: Vec::new(),
    })
}

fn points(study: &StudyResult, format: &Formatter) -> ViewTable {
    let rows = study.curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| {
            vec![
                format!("{} by {}", quantity(&curve.quantity), factor(&curve.factor)),
                curve.at.clone(),
                point.value.to_string(),
                format.value(curve.unit, point.estimate.value),
                format.interval(curve.unit, &point.estimate),
                point.repeats.to_string(),
            ]
        })
    });
    let table = ViewTable::new("Curves, repeats combined").look(CellLook::Dense);
    let table = table.words("curve").words("at").numbers("value").numbers("mean");
    table.numbers("95% interval").numbers("repeats").with(rows)
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

/// A cell by its number and its settings.
fn named(result: &CellResult) -> String {
    let number = result.cell.number;
    match settings(result) {
        settings if settings.is_empty() => number.to_string(),
        settings => format!("{number}: {settings}"),
    }
}

/// Every cell as the ladders of the field have it: rates of reads and writes, in I/Os, database
/// blocks and bytes; nothing where reads and writes were not told apart, as in the results of some
/// other programs.
fn ladder(study: &StudyResult, format: &Formatter) -> Option<ViewTable> {
    const RATES: [&str; 4] = ["read.iops", "write.iops", "read.throughput", "write.throughput"];
    let has_rates = |cell: &CellResult| RATES.iter().any(|name| number(cell, name, None).is_some());
    if !study.cells.iter().any(has_rates) {
        return None;
    }
    let row = |result: &CellResult| {
        let value = |quantity: &str, unit: Unit, per: f64| {
            let found = number(result, quantity, None);
            found.map_or_else(|| "–".to_owned(), |value| format.value(unit, value / per))
        };
        let log = number(result, "write.iops", Some("log"));
        vec![
            named(result),
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
    let names = [
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
    ];
    let caption = "The same, by load step, in 8 KiB blocks";
    Some(ViewTable::of_numbers(caption, &names).with(study.cells.iter().map(row)))
}

/// Cells that are loads on a database, by the figures that they have; nothing where there are none.
fn loads(study: &StudyResult, format: &Formatter) -> Option<ViewTable> {
    let has = |name: &str| study.cells.iter().any(|cell| number(cell, name, None).is_some());
    let columns: Vec<_> = load_figures().filter(|(name, ..)| has(name)).collect();
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
    let caption = "Cells in order";
    let table = ViewTable::new(caption).look(CellLook::Dense).words("cell").words("settings");
    let table = table.numbers("repeat");
    let table = columns.iter().fold(table, |table, (.., words)| table.numbers(*words));
    let table = table.numbers("took");
    (!columns.is_empty()).then(|| table.with(study.cells.iter().map(row)))
}

/// How long it took, or that it was not measured.
fn state(result: &CellResult) -> String {
    match &result.state {
        // A result of another program that does not say how long it took.
        CellState::Measured if result.elapsed_s <= 0.0 => "–".to_owned(),
        CellState::Measured => show_length(result.elapsed_s),
        CellState::Failed { .. } => "failed".to_owned(),
        CellState::LeftOut { .. } => "left out".to_owned(),
    }
}

/// The cells that have no numbers, and why; no row where all have.
fn unmeasured(study: &StudyResult) -> ViewTable {
    let row = |result: &CellResult| {
        let (what, reason) = match &result.state {
            CellState::Measured => return None,
            CellState::Failed { reason } => ("failed", reason),
            CellState::LeftOut { reason } => ("left out", reason),
        };
        let number = result.cell.number.to_string();
        Some(vec![number, settings(result), format!("{what}: {reason}")])
    };
    let table = ViewTable::new("Cells without numbers").look(CellLook::Dense);
    let table = table.words("cell").words("settings").words("why");
    table.with(study.cells.iter().filter_map(row))
}

/// The cells whose hosts did not measure together, and what came between; no row where all did.
fn in_doubt(study: &StudyResult) -> ViewTable {
    let row = |result: &CellResult| {
        let number = result.cell.number.to_string();
        Some(vec![number, settings(result), result.doubt.clone()?])
    };
    let table = ViewTable::new("Undecided cells").look(CellLook::Dense);
    let table = table.words("cell").words("settings").words("why");
    table.with(study.cells.iter().filter_map(row))
}

/// Blocks that do not hold what was written to them, where a study verifies.
const FINDINGS: &str = "integrity.findings";

fn is_verified(study: &StudyResult) -> bool {
    let measures = study.cells.iter().flat_map(|result| &result.measures);
    measures.into_iter().any(|named| named.quantity == FINDINGS)
}

fn cells(study: &StudyResult, format: &Formatter) -> ViewTable {
    let row = |result: &CellResult| {
        let number = |quantity: &str, unit: Unit| {
            let found = result
                .measures
                .iter()
                .find(|named| named.quantity == quantity && named.subject.is_none());
            found.map_or_else(|| "–".to_owned(), |named| format.value(unit, named.estimate.value))
        };
        let found = is_verified(study).then(|| number(FINDINGS, Unit::Count));
        let cells = [
            result.cell.number.to_string(),
            settings(result),
            result.cell.repeat.to_string(),
            number("iops", Unit::IosPerS),
            number("throughput", Unit::BytesPerS),
            number("read.service_time.mean", Unit::Ns),
            number("read.service_time.q0.99", Unit::Ns),
            number("write.service_time.mean", Unit::Ns),
        ];
        cells.into_iter().chain(found).chain([state(result)]).collect()
    };
    let numbers = ["repeat", "IOPS", "throughput", "read mean", "read p99", "write mean"];
    let found = is_verified(study).then_some("wrong blocks");
    let table = ViewTable::new("Cells in order").look(CellLook::Dense);
    let table = table.words("cell").words("settings");
    let numbers = numbers.into_iter().chain(found).chain(["measured"]);
    numbers.fold(table, ViewTable::numbers).with(study.cells.iter().map(row))
}
