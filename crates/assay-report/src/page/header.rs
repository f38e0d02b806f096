//! The head of the page: what it is about, the answer in a sentence, and every criterion with its number.

use super::table::{Cell, ROWS_MAX, Table};
use crate::answer::{answer as answered, criterion as judged, limit, reason};
use crate::chart::range::range;
use crate::clock::{show_length, show_utc};
use crate::contradictions::contradictions;
use crate::format::Formatter;
use crate::input::Report;
use crate::markup::{Markup, Tag, constant, path, tag, text};
use crate::phrases::{self, capital};
use assay_model::calibration::Contradiction;
use assay_model::verdict::{Judgement, Outcome, Verdict};

/// What the page is about.
pub(crate) fn header(report: &Report) -> Markup {
    let mut facts = vec![("on", report.target.clone())];
    if let Some(environment) = &report.environment {
        facts.push(("host", environment.host.name.clone()));
    }
    facts.push(("begun", show_utc(report.created_unix_ns)));
    let measured = measured_s(report);
    if measured > 0.0 {
        facts.push(("measured for", show_length(measured)));
    }
    let facts = facts.into_iter().map(|(name, value)| {
        tag("span").body(tag("em").text(name).and(constant(" ")).and(text(&value)))
    });
    let name = tag("p")
        .class("brand")
        .body(tag("b").text("Assay").and(text(&format!(" {}", report.title))));
    tag("header").body(name.and(tag("p").class("facts").all(facts)))
}

/// Measured time of everything on the page, s.
fn measured_s(report: &Report) -> f64 {
    let runs: f64 = report.runs.iter().map(|run| run.measurement.elapsed_s()).sum();
    runs + report.calibration.as_ref().map_or(0.0, |calibration| calibration.elapsed_s)
}

/// The answer: outcome and sentence, every criterion, what the storage gives in short, and what to know before relying
/// on it. The verdict's table comes early, so that it is in sight even on a telephone.
pub(crate) fn answer(report: &Report, format: &Formatter) -> Markup {
    let answer = answered(report, format);
    let outcome = answer.outcome.map(|outcome| badge(outcome, tag("p").class("outcome big")));
    let headline = tag("h1").text(&answer.headline);
    let class = answer.outcome.map_or("answer", answer_class);
    let head = tag("div").class(class).body(outcome.unwrap_or_default().and(headline));
    let verdict = report.verdict.as_ref().map(|verdict| verdict_table(verdict, format));
    let details = answer.details.iter().map(|sentence| tag("li").text(sentence));
    let relative = if format.is_relative() { relative_note(format) } else { Markup::new() };
    tag("section").attribute("id", "answer").all([
        head,
        verdict.unwrap_or_default(),
        tag("ul").class("lead").all(details),
        relative,
        notes(report, format),
    ])
}

/// The look of the answer.
const fn answer_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "answer pass",
        Outcome::Fail => "answer fail",
        Outcome::Inconclusive => "answer open",
    }
}

/// What relative figures are.
fn relative_note(format: &Formatter) -> Markup {
    tag("p").class("note").text(if format.is_of_first_cell() {
        "Absolute figures are hidden: rates are shown as a share of the first cell's, times as multiples of its mean."
    } else {
        "Absolute figures are hidden: rates are shown as a share of the best on this page, times as multiples of the \
         shortest mean."
    })
}

/// An outcome as word, sign and colour; `element` carries it.
fn badge(outcome: Outcome, element: Tag) -> Markup {
    let (class, sign) = match outcome {
        Outcome::Pass => ("mark pass", "✓"),
        Outcome::Fail => ("mark fail", "✗"),
        Outcome::Inconclusive => ("mark open", "?"),
    };
    let sign = tag("span").attribute("aria-hidden", "true").text(sign);
    element.body(tag("span").class(class).body(sign.and(text(outcome.name()))))
}

/// Every criterion, and below what was not judged.
fn verdict_table(verdict: &Verdict, format: &Formatter) -> Markup {
    let table = Table::new("Every criterion with what was measured").stacking();
    let table = table.words("Criterion").words("Outcome").numbers("Measured");
    let mut table = table.words("Interval and limit").words("Limit").words("Remark");
    for judgement in grave_first(verdict) {
        table.row(judgement_row(judgement, format));
    }
    let left_out = verdict.left_out.iter().map(|left_out| {
        tag("li").text(&format!(
            "{}: not judged, {}.",
            left_out.label,
            format.sentence(&left_out.missing)
        ))
    });
    let left_out: Markup = left_out.collect();
    let left_out =
        if left_out.is_empty() { left_out } else { tag("ul").class("left-out").body(left_out) };
    tag("h2").text("Verdict by criterion").and(table.markup()).and(left_out)
}

/// In their order, which gives way only where there are more criteria than a page can hold.
fn grave_first(verdict: &Verdict) -> Vec<&Judgement> {
    let mut judgements: Vec<&Judgement> = verdict.judgements.iter().collect();
    if judgements.len() > ROWS_MAX {
        judgements.sort_by_key(|judgement| match judgement.outcome {
            Outcome::Fail => 0,
            Outcome::Inconclusive => 1,
            Outcome::Pass => 2,
        });
    }
    judgements
}

/// One criterion; relative reports show its outcome only.
fn judgement_row(judgement: &Judgement, format: &Formatter) -> Vec<Cell> {
    let estimate = judgement.evidence.estimate.as_ref();
    let hidden = format.is_relative();
    let measured = estimate.map_or(Cell::Number("–".to_owned()), |estimate| {
        if hidden {
            return Cell::Number("hidden".to_owned());
        }
        Cell::Sure(
            format.value(judgement.unit, estimate.value),
            format.interval(judgement.unit, estimate),
        )
    });
    let strip = estimate.filter(|_| !hidden).map(|estimate| range(judgement.limit, estimate));
    vec![
        Cell::Markup(criterion(judgement, format)),
        Cell::Markup(badge(judgement.outcome, tag("span").class("outcome"))),
        measured,
        Cell::Markup(strip.unwrap_or_default()),
        Cell::Text(limit(judgement, format)),
        Cell::Markup(remark(judgement, format)),
    ]
}

/// What is asked, of whom, and why.
fn criterion(judgement: &Judgement, format: &Formatter) -> Markup {
    let label = judged(judgement, format);
    let subject =
        judgement.subject.as_ref().map(|subject| tag("span").class("subject").body(path(subject)));
    let why = if judgement.why.is_empty() {
        Markup::new()
    } else {
        tag("small").text(&format.sentence(&judgement.why))
    };
    tag("span").text(&label).and(subject.unwrap_or_default()).and(why)
}

/// Why it came out so, and where the limit comes from.
fn remark(judgement: &Judgement, format: &Formatter) -> Markup {
    let reason = reason(judgement, format);
    let reason = if reason.is_empty() { Markup::new() } else { tag("span").text(&reason) };
    if judgement.source.is_empty() {
        return reason;
    }
    reason.and(tag("small").text(&format!("Limit from: {}", format.sentence(&judgement.source))))
}

/// What a reader has to know before relying on the numbers: how runs ended and what the tool remarked.
fn notes(report: &Report, format: &Formatter) -> Markup {
    let ends = report.runs.iter().filter_map(|run| {
        let end = phrases::finish(&run.measurement.finish)?;
        Some(format!("Run “{}”: {end}", run.measurement.workload))
    });
    let ends = ends.chain(contradictions(report));
    let remarks = report.remarks().map(|remark| capital(&remark.what));
    let mixes = report.calibration.iter().flat_map(|calibration| &calibration.mixes);
    let contradictions = mixes.flat_map(|mix| {
        let said = |contradiction: &Contradiction| phrases::contradiction(*contradiction);
        mix.contradictions.iter().map(move |one| format!("{}: {}.", mix.name, said(one)))
    });
    let items: Vec<Markup> = ends
        .chain(contradictions)
        .chain(remarks)
        .map(|note| tag("li").text(&format.sentence(&note)))
        .collect();
    if items.is_empty() {
        return Markup::new();
    }
    let title = tag("h3").text("Before you rely on it");
    tag("aside").class("notes").body(title.and(tag("ul").all(items)))
}
