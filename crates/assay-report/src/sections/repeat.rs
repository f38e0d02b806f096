//! The command and the documents with which anybody can do the same again.

use crate::format::Formatter;
use crate::input::GivenReport;
use crate::view::ViewBlock;

/// The whole section; relative reports leave it out, because commands and documents carry absolute
/// figures.
pub(super) fn blocks<'a>(report: &GivenReport, format: Formatter) -> Vec<ViewBlock<'a>> {
    if format.is_relative() {
        let note = "Commands and documents are omitted because they contain absolute figures.";
        return vec![ViewBlock::OnPage(vec![ViewBlock::Note(note.to_owned())])];
    }
    let verbatim = |text: &String| vec![ViewBlock::Verbatim(text.clone())];
    let command =
        (!report.command.is_empty()).then(|| ViewBlock::part("Command", verbatim(&report.command)));
    let documents = report
        .documents
        .iter()
        .map(|document| ViewBlock::Folded(document.name.clone(), true, verbatim(&document.text)));
    vec![ViewBlock::OnPage(command.into_iter().chain(documents).collect())]
}
