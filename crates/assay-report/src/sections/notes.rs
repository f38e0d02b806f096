//! What to know before relying on the numbers: how runs ended, what contradicts what, and what the
//! tool remarked.

use crate::format::Formatter;
use crate::input::GivenReport;
use crate::phrases::{self, capital_words, ended};
use crate::view::ViewFinding;
use assay_model::measurement::Remark;

pub(super) fn notes(report: &GivenReport, format: &Formatter) -> Vec<ViewFinding> {
    let ends = report.runs.iter().filter_map(|run| {
        let end = phrases::finish(&run.measurement.finish)?;
        Some(format!("Run “{}”: {}", run.measurement.workload, format.prose(&end)))
    });
    let mixes = report.calibration.iter().flat_map(|calibration| &calibration.mixes);
    let of_mixes = mixes.flat_map(|mix| {
        let said = |one| format!("{}: {}.", mix.name, phrases::contradiction(one));
        mix.contradictions.iter().copied().map(said)
    });
    let contradictions = report.contradictions().into_iter().map(|doubt| {
        let (what, remedy) = (capital_words(&doubt.what), doubt.remedy);
        format.prose(&format!("{what}: {remedy}."))
    });
    let sentences = ends.chain(contradictions).chain(of_mixes);
    let remarks = report.remarks().map(|found| remark(found, format));
    let causes = report.causes().into_iter().map(|cause| ViewFinding {
        what: ended(&capital_words(&format.prose(&cause.what))),
        remedy: ended(&capital_words(&format.prose(&cause.remedy))),
        ..ViewFinding::default()
    });
    let of_ledger = report.durability().and_then(super::durability::unkept);
    causes.chain(of_ledger).chain(sentences.map(ViewFinding::sentence)).chain(remarks).collect()
}

/// A remark of the tool.
pub(super) fn remark(remark: &Remark, format: &Formatter) -> ViewFinding {
    ViewFinding {
        severity: None,
        what: format.prose(&remark.what),
        why: format.prose(&remark.why),
        remedy: format.prose(&remark.remedy),
    }
}
