//! Every criterion as text: outcome, number, limit and reason.

use super::layout::Text;
use crate::answer::{criterion, limit, reason};
use crate::format::Formatter;
use crate::input::Report;
use assay_model::verdict::Judgement;

/// The verdict's lines; none without a verdict.
pub(super) fn verdict(text: &mut Text, report: &Report, format: &Formatter) {
    let Some(verdict) = &report.verdict else {
        return;
    };
    text.heading(&format!("Verdict by “{}”", verdict.criteria));
    for judgement in &verdict.judgements {
        text.marked(judgement.outcome, &stated(judgement, format));
        text.below_mark(&measured(judgement, format));
        let reason = reason(judgement, format);
        if !reason.is_empty() {
            text.below_mark(&reason);
        }
    }
    for left_out in &verdict.left_out {
        let missing = format.sentence(&left_out.missing);
        text.item(&format!("Not judged: {} ({missing}).", left_out.label));
    }
}

/// What is asked, of whom.
fn stated(judgement: &Judgement, format: &Formatter) -> String {
    let label = criterion(judgement, format);
    let subject = judgement.subject.as_ref();
    subject.map_or_else(|| label.clone(), |subject| format!("{label}, {subject}"))
}

/// What was measured, and the limit.
fn measured(judgement: &Judgement, format: &Formatter) -> String {
    let limit = limit(judgement, format);
    let Some(estimate) = &judgement.evidence.estimate else {
        return format!("limit: {limit}");
    };
    if format.is_relative() {
        return "measured; figures hidden".to_owned();
    }
    let value = format.value(judgement.unit, estimate.value);
    let interval = format.interval(judgement.unit, estimate);
    let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
    format!("{value}{interval}; limit: {limit}")
}
