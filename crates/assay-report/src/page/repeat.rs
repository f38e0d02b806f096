//! The command and the documents with which anybody can do the same again.

use crate::format::Formatter;
use crate::input::Report;
use crate::markup::{Markup, tag};

/// The whole section; relative reports leave it out, because commands and documents carry absolute figures.
pub(crate) fn body(report: &Report, format: &Formatter) -> Markup {
    if format.is_relative() {
        return tag("p")
            .class("note")
            .text("Commands and documents are left out, because they carry absolute figures.");
    }
    let command =
        if report.command.is_empty() { Markup::new() } else { block("Command", &report.command) };
    let documents = report.documents.iter().map(|document| {
        let title = tag("summary").text(&document.name);
        tag("details")
            .attribute("open", "open")
            .body(title.and(tag("pre").attribute("tabindex", "0").text(&document.text)))
    });
    command.and(documents.collect())
}

/// A text to be copied.
fn block(title: &str, content: &str) -> Markup {
    tag("h3").text(title).and(tag("pre").attribute("tabindex", "0").text(content))
}
