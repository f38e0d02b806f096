//! What a manager reads of a report before its details.

mod asked;
mod found;
mod meaning;
mod next;

use crate::format::Formatter;
use crate::input::Report;
use crate::summary::Summary;

/// The summary of a report; nothing of a relative one, because it is made of absolute figures.
pub(super) fn summary(report: &Report, format: &Formatter) -> Summary {
    if format.is_relative() {
        return Summary::default();
    }
    let (found, reading) = found::found(report);
    Summary {
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
    use crate::Options;
    use assay_model::verdict::{Outcome, Verdict};

    #[test]
    fn every_question_has_a_next_step() {
        for outcome in [Outcome::Pass, Outcome::Fail, Outcome::Inconclusive] {
            let (criteria, judgements) = ("orders".to_owned(), Vec::new());
            let verdict =
                Verdict { format: 1, criteria, outcome, judgements, left_out: Vec::new() };
            let report = Report {
                target: "/data of mine".to_owned(),
                verdict: Some(verdict),
                ..Report::default()
            };
            let made = summary(&report, &Formatter::default());
            assert!(made.asked.ends_with('?') && !made.meaning.is_empty(), "{made:?}");
            assert!(made.next.iter().any(|(_, command)| command.contains("'/data of mine'")));
        }
    }

    #[test]
    fn a_relative_report_has_none() {
        let report = Report { target: "/data".to_owned(), ..Report::default() };
        let relative = Formatter::new(&report, Options { relative: true });
        assert!(summary(&report, &relative).asked.is_empty());
    }
}
