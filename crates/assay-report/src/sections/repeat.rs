//! The command and the documents with which anybody can do the same again.

use crate::format::Formatter;
use crate::input::Report;
use crate::view::Block;

/// The whole section; relative reports leave it out, because commands and documents carry absolute
/// figures.
pub(super) fn blocks<'a>(report: &Report, format: Formatter) -> Vec<Block<'a>> {
    if format.is_relative() {
        let note = "Commands and documents are omitted because they contain absolute figures.";
        return vec![Block::OnPage(vec![Block::Note(note.to_owned())])];
    }
    let verbatim = |text: &String| vec![Block::Verbatim(text.clone())];
    let command =
        (!report.command.is_empty()).then(|| Block::part("Command", verbatim(&report.command)));
    let documents = report
        .documents
        .iter()
        .map(|document| Block::Folded(document.name.clone(), true, verbatim(&document.text)));
    vec![Block::OnPage(command.into_iter().chain(documents).collect())]
}
