//! The page: one file that needs nothing else, for a reader who never saw this program. First the answer, then the
//! evidence, then how it was made and how to do it again.

mod capacity;
mod card;
mod conduct;
mod environment;
pub(crate) mod figure;
pub(crate) mod frame;
mod header;
mod kernel;
mod load;
mod method;
mod numbers;
mod orders;
mod over_time;
mod panel;
mod repeat;
mod run;
mod steps;
pub(crate) mod table;
mod watch;
mod zoom;

use crate::format::Formatter;
use crate::input::{Options, Report};
use figure::Figures;
use frame::{Frame, Section};
pub(crate) use numbers::kind;

/// The whole page.
pub fn html(report: &Report, options: Options) -> String {
    let format = Formatter::new(report, options);
    let outcome = report
        .verdict
        .as_ref()
        .map_or_else(String::new, |verdict| format!("{}: ", verdict.outcome.name()));
    Frame {
        title: format!("{outcome}{} of {} – Assay", report.title, report.target),
        program: report.program.clone(),
        header: header::header(report),
        answer: header::answer(report, &format),
        sections: sections(report, &format),
    }
    .html()
}

/// The parts that have something to format.
fn sections(report: &Report, format: &Formatter) -> Vec<Section> {
    let mut figures = Figures::default();
    let all = [
        Section {
            id: "capacity",
            title: "What the storage gives",
            body: capacity::body(report, format, &mut figures),
        },
        Section {
            id: "load",
            title: "What a database gets of it",
            body: load::body(report, format, &mut figures),
        },
        Section {
            id: "runs",
            title: "What happened under load",
            body: run::body(report, format, &mut figures),
        },
        Section {
            id: "watch",
            title: "The machine meanwhile",
            body: watch::body(report, format, &mut figures),
        },
        Section {
            id: "conduct",
            title: "How the tool behaved",
            body: conduct::body(report, format),
        },
        Section {
            id: "environment",
            title: "Where it was measured",
            body: environment::body(report),
        },
        Section {
            id: "method",
            title: "How the numbers were made",
            body: method::body(report, format),
        },
        Section { id: "repeat", title: "How to do it again", body: repeat::body(report, format) },
    ];
    let panels = crate::panel::panels(report, format);
    let panels = panels.iter().map(|one| panel::section(one, format, &mut figures));
    let panels: Vec<Section> = panels.collect();
    panels.into_iter().chain(all).collect()
}
