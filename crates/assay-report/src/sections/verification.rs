//! Predictions compared with measurements, and the errors of all that are kept.

use super::headline::Headline;
use crate::input::VerificationHistory;
use crate::view::{HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::projection::{ErrorSummary, ProjectionAnswer, UnansweredStep, VerificationCase};
use assay_model::units::show_count;

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// The errors of this verification in a sentence.
pub(super) fn headline(found: &VerificationHistory) -> Headline {
    let cases = &found.verification.cases;
    let words = ErrorSummary::of(cases).map_or_else(
        || "No prediction was answered.".to_owned(),
        |own| {
            format!(
                "Of {} predictions, half were within {} and the worst was {} off; {} of the \
                 intervals contain the measurement.",
                own.n,
                percent(own.median_error),
                percent(own.worst_error),
                percent(own.covered_share)
            )
        },
    );
    Headline { outcome: None, words }
}

/// The cases, and the sum of all that the store holds.
pub(super) fn sections<'a>(found: &VerificationHistory) -> Vec<ViewSection<'a>> {
    let blocks = vec![
        ViewBlock::captioned(HeadingLevel::Detail, cases(&found.verification.cases)),
        ViewBlock::List(unanswered(&found.verification.unanswered)),
        ViewBlock::captioned(HeadingLevel::Detail, summary(found)),
    ];
    let title = "Predicted and measured".to_owned();
    vec![ViewSection { id: "verification", title, blocks }]
}

/// A line for each step without an answer, with its reasons.
fn unanswered(steps: &[UnansweredStep]) -> Vec<String> {
    let line = |step: &UnansweredStep| {
        format!("No prediction with {} sessions: {}.", step.sessions, step.reasons.join("; "))
    };
    steps.iter().map(line).collect()
}

fn cases(cases: &[VerificationCase]) -> ViewTable {
    let names = [
        "sessions",
        "predicted/s",
        "95% interval",
        "measured/s",
        "error",
        "covered",
        "reads, predicted",
        "measured",
        "Amdahl",
        "look-up",
        "others busy",
        "CPU queue",
        "counted",
    ];
    let off = |case: &VerificationCase, other_per_s: f64| {
        format!("{:+.1}%", 100.0 * (other_per_s / case.measured_per_s - 1.0))
    };
    let rows = cases.iter().map(|case| {
        let predicted = case.predicted_per_s;
        vec![
            case.sessions.to_string(),
            show_count(predicted.value),
            format!("{} – {}", show_count(predicted.low), show_count(predicted.high)),
            show_count(case.measured_per_s),
            format!("{:+.1}%", 100.0 * case.error()),
            if case.is_covered() { "yes" } else { "no" }.to_owned(),
            percent(case.predicted_read_share),
            percent(case.measured_read_share),
            off(case, case.amdahl_per_s),
            off(case, case.lookup_per_s),
            case.others_busy_share.map_or_else(|| "–".to_owned(), percent),
            case.cpu_queue_share.map_or_else(|| "–".to_owned(), percent),
            counted(case).to_owned(),
        ]
    });
    ViewTable::of_numbers("Each number of sessions", &names).with(rows)
}

/// Whether a case is among the errors, or why not.
fn counted(case: &VerificationCase) -> &'static str {
    match (case.answer, case.is_noisy()) {
        (ProjectionAnswer::Answered, false) => "yes",
        (ProjectionAnswer::Answered, true) => "noisy",
        (ProjectionAnswer::Bounds, _) => "bounds only",
        (ProjectionAnswer::Refused, _) => "refused",
    }
}

/// A row of the table of errors: its name, and what it shows of them.
type ErrorRow = (&'static str, fn(&ErrorSummary) -> String);

const ERROR_ROWS: [ErrorRow; 8] = [
    ("predictions", |errors| errors.n.to_string()),
    ("median error", |errors| percent(errors.median_error)),
    ("worst error", |errors| percent(errors.worst_error)),
    ("within 15%", |errors| percent(errors.within_share)),
    ("reads within 10 points of DB time", |errors| percent(errors.reads_within_share)),
    ("covered", |errors| percent(errors.covered_share)),
    ("closer than Amdahl", |errors| percent(errors.better_than_amdahl_share)),
    ("closer than a look-up", |errors| percent(errors.better_than_lookup_share)),
];

fn summary(found: &VerificationHistory) -> ViewTable {
    let columns = [found.held_out.as_ref(), found.learnt_from.as_ref(), found.noisy.as_ref()];
    let names = ["stored", "held out", "learnt from", "on a busy host"];
    let rows = ERROR_ROWS.iter().map(|(name, of)| {
        let cells = columns.iter().map(|errors| errors.map_or_else(|| "–".to_owned(), of));
        std::iter::once((*name).to_owned()).chain(cells).collect()
    });
    ViewTable::of_numbers("Errors of all verifications of the store", &names).with(rows)
}
