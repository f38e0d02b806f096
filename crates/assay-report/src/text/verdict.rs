//! Every criterion as text: outcome, number, limit and reason.

use super::layout::Text;
use crate::answer::{criterion, limit, reason};
use crate::input::Report;
use crate::show::Show;
use assay_model::verdict::Judgement;

/// The verdict's lines; none without a verdict.
pub(super) fn verdict(text: &mut Text, report: &Report, show: &Show) {
    let Some(verdict) = &report.verdict else {
        return;
    };
    text.heading(&format!("Verdict by “{}”", verdict.criteria));
    for judgement in &verdict.judgements {
        text.marked(judgement.outcome, &stated(judgement, show));
        text.below_mark(&measured(judgement, show));
        let reason = reason(judgement, show);
        if !reason.is_empty() {
            text.below_mark(&reason);
        }
    }
    for left_out in &verdict.left_out {
        let missing = show.sentence(&left_out.missing);
        text.item(&format!("Not judged: {} ({missing}).", left_out.label));
    }
}

/// What is asked, of whom.
fn stated(judgement: &Judgement, show: &Show) -> String {
    let label = criterion(judgement, show);
    let subject = judgement.subject.as_ref();
    subject.map_or_else(|| label.clone(), |subject| format!("{label}, {subject}"))
}

/// What was measured, and the limit.
fn measured(judgement: &Judgement, show: &Show) -> String {
    let limit = limit(judgement, show);
    let Some(estimate) = &judgement.evidence.estimate else {
        return format!("limit: {limit}");
    };
    if show.is_relative() {
        return "measured; figures hidden".to_owned();
    }
    let value = show.value(judgement.unit, estimate.value);
    let interval = show.interval(judgement.unit, estimate);
    let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
    format!("{value}{interval}; limit: {limit}")
}
