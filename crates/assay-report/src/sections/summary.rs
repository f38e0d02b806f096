//! What a manager reads of a report before its details.

mod asked;
mod found;
mod meaning;
mod next;

use crate::format::Formatter;
use crate::input::GivenReport;
use crate::summary::PlainSummary;

/// The summary of a report; nothing of a relative one, because it is made of absolute figures.
pub(super) fn summary(report: &GivenReport, format: &Formatter) -> PlainSummary {
    if format.is_relative() {
        return PlainSummary::default();
    }
    let (found, reading) = found::found(report);
    PlainSummary {
        asked: asked::asked(report, format),
        meaning: meaning::meaning(report, format),
        found,
        reading,
        next: next::next(report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportOptions;
    use assay_model::verdict::{Outcome, Verdict};

    #[test]
    fn every_question_has_a_next_step() {
        for outcome in [Outcome::Pass, Outcome::Fail, Outcome::Inconclusive] {
            let (criteria, judgements) = ("orders".to_owned(), Vec::new());
            let verdict =
                Verdict { format: 1, criteria, outcome, judgements, left_out: Vec::new() };
            let report = GivenReport {
                target: "/data of mine".to_owned(),
                verdict: Some(verdict),
                ..GivenReport::default()
            };
            let made = summary(&report, &Formatter::default());
            assert!(made.asked.ends_with('?') && !made.meaning.is_empty(), "{made:?}");
            assert!(made.next.iter().any(|(_, command)| command.contains("'/data of mine'")));
        }
    }

    #[test]
    fn a_relative_report_has_none() {
        let report = GivenReport { target: "/data".to_owned(), ..GivenReport::default() };
        let relative = Formatter::new(&report, ReportOptions { relative: true });
        assert!(summary(&report, &relative).asked.is_empty());
    }
}
