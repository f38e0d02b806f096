//! The page: one file that needs nothing else, for a reader who never saw this program. First the answer, then the
//! evidence, then how it was made and how to do it again.

mod capacity;
mod card;
mod conduct;
mod environment;
pub(crate) mod figure;
pub(crate) mod frame;
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
mod top;
mod watch;
mod zoom;

use crate::input::{Options, Report};
use crate::show::Show;
use figure::Figures;
use frame::{Frame, Section};
pub(crate) use numbers::kind;

/// The whole page.
pub fn html(report: &Report, options: Options) -> String {
    let show = Show::new(report, options);
    let outcome = report
        .verdict
        .as_ref()
        .map_or_else(String::new, |verdict| format!("{}: ", verdict.outcome.name()));
    Frame {
        title: format!("{outcome}{} of {} – Assay", report.title, report.target),
        program: report.program.clone(),
        header: top::header(report),
        answer: top::answer(report, &show),
        sections: sections(report, &show),
    }
    .html()
}

/// The parts that have something to show.
fn sections(report: &Report, show: &Show) -> Vec<Section> {
    let mut figures = Figures::default();
    let all = [
        Section {
            id: "capacity",
            title: "What the storage gives",
            body: capacity::body(report, show, &mut figures),
        },
        Section {
            id: "load",
            title: "What a database gets of it",
            body: load::body(report, show, &mut figures),
        },
        Section {
            id: "runs",
            title: "What happened under load",
            body: run::body(report, show, &mut figures),
        },
        Section {
            id: "watch",
            title: "The machine meanwhile",
            body: watch::body(report, show, &mut figures),
        },
        Section { id: "conduct", title: "How the tool behaved", body: conduct::body(report, show) },
        Section {
            id: "environment",
            title: "Where it was measured",
            body: environment::body(report),
        },
        Section {
            id: "method",
            title: "How the numbers were made",
            body: method::body(report, show),
        },
        Section { id: "repeat", title: "How to do it again", body: repeat::body(report, show) },
    ];
    let panels = crate::panel::panels(report, show);
    let panels = panels.iter().map(|one| panel::section(one, show, &mut figures));
    let panels: Vec<Section> = panels.collect();
    panels.into_iter().chain(all).collect()
}
