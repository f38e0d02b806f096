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
use crate::input::{Options, Report};
use crate::show::Show;
use crate::words::{self, capital};
use assay_model::environment::Environment;
use assay_model::measurement::Remark;
use layout::Text;

/// What relative figures are, said once.
const RELATIVE: &str = "Absolute figures are hidden: rates are shares of the best, times multiples of the shortest mean.";

/// The report as text; `colour` dresses it with ANSI sequences, to be off where `NO_COLOR` is set or nobody looks.
pub fn text(report: &Report, options: Options, colour: bool) -> String {
    let show = Show::new(report, options);
    let mut text = Text::new(colour);
    headline(&mut text, report, &show);
    notes(&mut text, report, &show);
    verdict::verdict(&mut text, report, &show);
    panels(&mut text, report, &show);
    capacity::capacity(&mut text, report, &show);
    load::load(&mut text, report, &show);
    runs::runs(&mut text, report, &show);
    watch::watch(&mut text, report, &show);
    if let Some(environment) = &report.environment {
        environment::grave_findings(&mut text, environment);
    }
    text.finish()
}

/// Results that are tables.
fn panels(text: &mut Text, report: &Report, show: &Show) {
    for panel in crate::panel::panels(report, show) {
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
    let show = Show::new(report, options);
    let mut text = Text::new(colour);
    headline(&mut text, report, &show);
    verdict::verdict(&mut text, report, &show);
    text.finish()
}

/// The host, the storage under each target and all findings as text.
pub fn environment_text(environment: &Environment, colour: bool) -> String {
    let mut text = Text::new(colour);
    environment::environment(&mut text, environment);
    text.finish()
}

/// The answer, and what the storage gives in short.
fn headline(text: &mut Text, report: &Report, show: &Show) {
    let answer = answer(report, show);
    match answer.outcome {
        Some(outcome) => text.marked(outcome, &answer.headline),
        None => text.paragraph(&answer.headline),
    }
    for sentence in &answer.details {
        text.item(sentence);
    }
    if show.is_relative() {
        text.item(RELATIVE);
    }
}

/// What a reader has to know before relying on the numbers.
fn notes(text: &mut Text, report: &Report, show: &Show) {
    let ends = report.runs.iter().filter_map(|run| {
        let end = words::finish(&run.measurement.finish)?;
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
        text.item(&show.sentence(&note));
    }
}

/// A remark as one sentence after the other.
fn remark(remark: &Remark) -> String {
    format!("{}: {}. {}.", capital(&remark.what), remark.why, capital(&remark.remedy))
}
