//! What happened under a workload: its numbers, its errors, how its times spread, and how it went
//! over time.

use super::levels;
use super::numbers::numbers;
use super::over_time::OverTime;
use crate::chart::histogram::histogram;
use crate::chart::scene::SceneSize;
use crate::chart::tail::tail;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::{GivenReport, RunReport};
use crate::phrases::{self, capital, kind_of_time};
use crate::view::{CellLook, Chart, HeadingLevel, ViewBlock, ViewCell, ViewTable};
use assay_model::Histogram;
use assay_model::measurement::{Conduct, Operation, OperationResult, PerOperation};
use assay_model::number::real;
use assay_model::units::show_count;
use assay_model::verdict::Unit;
use std::rc::Rc;

/// All runs; nothing when there is none.
pub(super) fn blocks(report: &GivenReport, format: Formatter) -> Vec<ViewBlock<'_>> {
    let runs = (0..).zip(&report.runs).map(|(number, run)| {
        let several = report.runs.len() > 1;
        let prefix = if several { format!("run-{}-", number + 1) } else { String::new() };
        let over_time = OverTime::new(number, &prefix, run, report.runs.len(), &format);
        one(run, &prefix, &over_time, format)
    });
    runs.collect()
}

/// One run.
fn one<'a>(
    run: &'a RunReport,
    prefix: &str,
    over_time: &OverTime,
    format: Formatter,
) -> ViewBlock<'a> {
    let measurement = &run.measurement;
    let length = show_length(measurement.elapsed_s());
    let title = format!("Workload “{}”, measured for {length}", measurement.workload);
    let whole = measurement.operations();
    let kind = kind_of_time(&whole);
    let level = run.level_change.as_ref();
    let level = level.map(|change| ViewBlock::Paragraph(levels::sentence(change, &format)));
    let content = vec![
        ViewBlock::OnPage(level.into_iter().collect()),
        ViewBlock::Table(numbers(run, &format)),
        ViewBlock::Note(format!("Times: {kind}. {}", intervals(run, &format))),
        ViewBlock::InTerminal(vec![ViewBlock::Paragraph(tool_health(
            &measurement.conduct,
            &format,
        ))]),
        ViewBlock::captioned(HeadingLevel::Detail, errors(run, &format)),
        ViewBlock::SideBySide(distributions(whole, kind, prefix, format)),
        over_time.charts(format),
        over_time.events(&format),
    ];
    ViewBlock::Article(None, vec![ViewBlock::part(title, content)])
}

/// Of fewer independent observations a run shows barely more than one swing of its rate.
const SLOW_OBSERVATIONS: u64 = 3;

/// What the intervals rest on, or why there are none.
fn intervals(run: &RunReport, format: &Formatter) -> String {
    let below = "95% intervals are below the numbers.";
    if let Some(why) = &run.no_interval {
        let others = if run.estimates.is_empty() { String::new() } else { format!(" {below}") };
        return format!("{}.{others}", format.prose(&capital(why)));
    }
    let rate = run.estimate("iops", None);
    let observations = rate.map_or_else(String::new, |rate| {
        let s = if rate.n == 1 { "" } else { "s" };
        format!(" The rate's interval is based on {} independent observation{s}.", rate.n)
    });
    let is_slow = rate.is_some_and(|rate| rate.n < SLOW_OBSERVATIONS);
    let slow = if is_slow { " The rate changed slowly; a longer run may differ." } else { "" };
    format!("{below}{observations}{slow} They describe this run; the next one may differ by more.")
}

/// What failed, by kind; nothing where nothing did.
fn errors(run: &RunReport, format: &Formatter) -> ViewTable {
    let table =
        ViewTable::new("Failed I/Os").look(CellLook::Slim).words("Operation").words("Target");
    let mut table = table.words("Error").numbers("I/Os").numbers("First offset");
    for error in &run.measurement.errors {
        let offset = show_count(real(error.first_offset_bytes));
        table.row(vec![
            ViewCell::Words(error.operation.name().to_owned()),
            ViewCell::Words(error.target.clone()),
            ViewCell::Words(format!("{} ({})", error.meaning, error.errno)),
            ViewCell::Number(format.count(error.ios)),
            ViewCell::Number(format!("{offset} B")),
        ]);
    }
    table
}

/// Tool health, in a sentence.
fn tool_health(conduct: &Conduct, format: &Formatter) -> String {
    let is_imported = phrases::is_imported(conduct);
    let direct = match conduct.direct_io {
        Some(true) => "direct I/O",
        Some(false) => "through the page cache",
        None if is_imported => "with or without direct I/O",
        None => "no page cache",
    };
    if is_imported {
        return format!("Measured by {}, {direct}; its tool health is unknown.", conduct.backend);
    }
    let busy = format.value(Unit::Share, conduct.worker_busy_share_max);
    let reason = conduct.backend_reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "Measured by {}{reason}, {direct}, submission {}; busiest worker {busy}, Little's law \
         {:.3}.",
        conduct.backend,
        phrases::submission(conduct.submission),
        conduct.littles_law_ratio
    )
}

/// How the times of the whole run spread.
fn distributions<'a>(
    whole: PerOperation,
    kind: &'static str,
    prefix: &str,
    format: Formatter,
) -> Vec<ViewBlock<'a>> {
    let whole = Rc::new(whole);
    let operations: Vec<Operation> =
        timed(&whole).iter().map(|(operation, _)| *operation).collect();
    let chart = |operation: Operation| {
        let whole = Rc::clone(&whole);
        let caption = format!("Distribution of the {} of all {}s.", kind, operation.name());
        let draw = move |size| {
            let times = whole.get(operation).map(OperationResult::response);
            times.map_or_else(Default::default, |times| {
                let what = format!("{}s", operation.name());
                histogram(operation, times, kind, &what, &format, size)
            })
        };
        let file = format!("{prefix}histogram-{}", operation.name());
        ViewBlock::Chart(Chart::new(file, SceneSize::Half, caption, draw))
    };
    let mut charts: Vec<ViewBlock<'a>> = operations.into_iter().map(chart).collect();
    charts.extend(tail(&timed(&whole), kind, &format, SceneSize::Half).map(|_| {
        let whole = Rc::clone(&whole);
        let caption = "The tail: share of I/Os that take longer than a given time.";
        let draw = move |size| tail(&timed(&whole), kind, &format, size).unwrap_or_default();
        ViewBlock::Chart(Chart::new(format!("{prefix}tail"), SceneSize::Half, caption, draw))
    }));
    charts
}

/// The operations with the times of theirs that completed.
fn timed(whole: &PerOperation) -> Vec<(Operation, &Histogram)> {
    let timed = whole.iter().map(|(operation, result)| (operation, result.response()));
    timed.filter(|(_, times)| !times.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::BackendKind;

    #[test]
    fn tool_health_of_another_program_is_unknown() {
        let of = |backend: BackendKind, direct_io: Option<bool>| {
            let conduct = Conduct { backend, direct_io, ..Conduct::default() };
            tool_health(&conduct, &Formatter::default())
        };
        assert_eq!(
            of(BackendKind::Fio, None),
            "Measured by fio, with or without direct I/O; its tool health is unknown."
        );
        assert!(of(BackendKind::Fio, Some(true)).starts_with("Measured by fio, direct I/O;"));
        let own = of(BackendKind::Uring, None);
        assert!(own.contains("no page cache") && own.contains("busiest worker"), "{own}");
    }
}
