//! The report for a terminal: the page's order, answer first, never wider than a hundred columns.

mod capacity;
mod environment;
pub(crate) mod layout;
mod load;
mod runs;
mod verdict;
mod watch;

use crate::answer::answer;
use crate::contradictions::contradictions;
use crate::format::Formatter;
use crate::input::{Options, Report};
use crate::phrases::{self, capital};
use assay_model::environment::Environment;
use assay_model::measurement::Remark;
use layout::Text;

/// What relative figures are, said once.
const RELATIVE: &str = "Absolute figures are hidden: rates are shares of the best, times multiples of the shortest mean.";

/// The report as text; `colour` dresses it with ANSI sequences, to be off where `NO_COLOR` is set or nobody looks.
pub fn text(report: &Report, options: Options, colour: bool) -> String {
    let format = Formatter::new(report, options);
    let mut text = Text::new(colour);
    headline(&mut text, report, &format);
    notes(&mut text, report, &format);
    verdict::verdict(&mut text, report, &format);
    panels(&mut text, report, &format);
    capacity::capacity(&mut text, report, &format);
    load::load(&mut text, report, &format);
    runs::runs(&mut text, report, &format);
    watch::watch(&mut text, report, &format);
    if let Some(environment) = &report.environment {
        environment::grave_findings(&mut text, environment);
    }
    text.finish()
}

/// Results that are tables.
fn panels(text: &mut Text, report: &Report, format: &Formatter) {
    for panel in crate::panel::panels(report, format) {
        text.heading(panel.title);
        for sentence in &panel.lead {
            text.item(sentence);
        }
        for grid in &panel.tables {
            let rows: Vec<Vec<String>> =
                [&grid.head].into_iter().chain(&grid.rows).cloned().collect();
            text.heading(grid.caption);
            text.table(&rows);
        }
        if !panel.facts.pairs.is_empty() {
            text.heading(panel.facts.caption);
            text.pairs(&panel.facts.pairs);
        }
    }
}

/// The verdict alone as text: the answer and every criterion.
pub fn verdict_text(report: &Report, options: Options, colour: bool) -> String {
    let format = Formatter::new(report, options);
    let mut text = Text::new(colour);
    headline(&mut text, report, &format);
    verdict::verdict(&mut text, report, &format);
    text.finish()
}

/// The host, the storage under each target and all findings as text.
pub fn environment_text(environment: &Environment, colour: bool) -> String {
    let mut text = Text::new(colour);
    environment::environment(&mut text, environment);
    text.finish()
}

/// The answer, and what the storage gives in short.
fn headline(text: &mut Text, report: &Report, format: &Formatter) {
    let answer = answer(report, format);
    match answer.outcome {
        Some(outcome) => text.marked(outcome, &answer.headline),
        None => text.paragraph(&answer.headline),
    }
    for sentence in &answer.details {
        text.item(sentence);
    }
    if format.is_relative() {
        text.item(RELATIVE);
    }
}

/// What a reader has to know before relying on the numbers.
fn notes(text: &mut Text, report: &Report, format: &Formatter) {
    let ends = report.runs.iter().filter_map(|run| {
        let end = phrases::finish(&run.measurement.finish)?;
        Some(format!("Run “{}”: {end}", run.measurement.workload))
    });
    let ends = ends.chain(contradictions(report));
    let remarks = report.remarks().map(remark);
    let notes: Vec<String> = ends.chain(remarks).collect();
    if notes.is_empty() {
        return;
    }
    text.heading("Before you rely on it");
    for note in notes {
        text.item(&format.sentence(&note));
    }
}

/// A remark as one sentence after the other.
fn remark(remark: &Remark) -> String {
    format!("{}: {}. {}.", capital(&remark.what), remark.why, capital(&remark.remedy))
}
