//! Every criterion with its number, its limit and its outcome, and what was not judged.

use super::answer::{criterion, limit, reason};
use crate::format::Formatter;
use crate::view::{CellLook, HeadingLevel, Name, ROWS_MAX, ViewBlock, ViewCell, ViewTable};
use assay_model::verdict::{Judgement, Outcome, Verdict};

pub(super) fn blocks<'a>(verdict: &Verdict, format: &Formatter) -> Vec<ViewBlock<'a>> {
    let table = ViewTable::new("Criteria and measurements").look(CellLook::Stacked);
    let table = table.words("Criterion").words("Outcome").numbers("Measured");
    let mut table = table.words("Interval and limit").words("Limit").words("Remark");
    let mut above = String::new();
    for judgement in grave_first(verdict) {
        let why = reason(judgement, format);
        let is_repeated = !why.is_empty() && why == above;
        let shown = if is_repeated { "As above.".to_owned() } else { why.clone() };
        table.row(row(judgement, shown, format));
        above = why;
    }
    let left_out = verdict.left_out.iter().map(|left_out| {
        format!("Not judged: {} ({}).", left_out.label, format.prose(&left_out.missing))
    });
    let left_out = ViewBlock::Omissions(left_out.collect());
    let title = "Verdict by criterion".to_owned();
    vec![ViewBlock::Titled(HeadingLevel::Section, title, vec![ViewBlock::Table(table), left_out])]
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
fn row(judgement: &Judgement, why: String, format: &Formatter) -> Vec<ViewCell> {
    let estimate = judgement.evidence.estimate.as_ref();
    let (measured, strip) = match estimate {
        None => (ViewCell::Unknown, ViewCell::Words(String::new())),
        Some(_) if format.is_relative() => (ViewCell::Hidden, ViewCell::Words(String::new())),
        Some(estimate) => {
            let estimated = format.estimated(judgement.unit, estimate);
            (ViewCell::Estimate(estimated), ViewCell::Range(judgement.limit, *estimate))
        }
    };
    let limit = limit(judgement, format).map_or(ViewCell::Hidden, ViewCell::Words);
    let of_what = Name {
        words: criterion(judgement, format),
        subject: judgement.subject.clone(),
        remark: format.prose(&judgement.why),
        ..Name::default()
    };
    let source = &judgement.source;
    let source = if source.is_empty() {
        String::new()
    } else {
        format!("Limit from: {}", format.prose(source))
    };
    let remark = Name { words: why, remark: source, ..Name::default() };
    let outcome = ViewCell::Outcome(judgement.outcome);
    vec![ViewCell::Name(of_what), outcome, measured, strip, limit, ViewCell::Name(remark)]
}
