//! The page: one file that needs nothing else, for a reader who never saw this program. First the answer, then the
//! evidence, then how it was made and how to do it again.

mod capacity;
mod card;
mod conduct;
mod environment;
mod figure;
mod kernel;
mod load;
mod method;
mod numbers;
mod over_time;
mod repeat;
mod run;
mod steps;
mod table;
mod top;
mod zoom;

use crate::input::{Options, Report};
use crate::markup::{Markup, constant, tag, text};
use crate::show::Show;
use figure::Figures;
pub(crate) use numbers::kind;

/// Stands in the head of every page.
const STYLE: &str = include_str!("style.css");
/// Stands at the end of every page.
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of the script in base64: browsers run this one and no other. A test computes it anew.
const SCRIPT_HASH: &str = "2ZpWAMGMNVTgdkvPiALLwGIb+AGo3fQ8oArsSauGreo=";

/// A part of the page with a heading.
pub(crate) struct Section {
    /// The name that links use.
    id: &'static str,
    /// The heading.
    title: &'static str,
    /// The content; a part without any is left out.
    body: Markup,
}

/// The whole page.
pub fn html(report: &Report, options: Options) -> String {
    let show = Show::new(report, options);
    let sections = sections(report, &show);
    let body = tag("body").all([
        top::header(report),
        tag("main").all([
            top::answer(report, &show),
            contents(&sections),
            sections.into_iter().map(Section::markup).collect(),
        ]),
        footer(report),
        tag("script").body(constant(SCRIPT)),
    ]);
    let page = tag("html")
        .attribute("lang", "en")
        .body(head(report).and(body));
    format!("<!DOCTYPE html>\n{}\n", page.into_string())
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
            id: "conduct",
            title: "How the tool behaved",
            body: conduct::body(report, show),
        },
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
        Section {
            id: "repeat",
            title: "How to do it again",
            body: repeat::body(report, show),
        },
    ];
    all.into_iter()
        .filter(|section| !section.body.is_empty())
        .collect()
}

impl Section {
    /// The part with its heading.
    fn markup(self) -> Markup {
        let title = tag("h2").text(self.title);
        tag("section")
            .attribute("id", self.id)
            .body(title.and(self.body))
    }
}

/// What the browser has to know before it shows anything.
fn head(report: &Report) -> Markup {
    let outcome = report.verdict.as_ref().map_or_else(String::new, |verdict| {
        format!("{}: ", verdict.outcome.name())
    });
    let title = format!("{outcome}{} of {} – Assay", report.title, report.target);
    let meta = |name: &'static str, content: &str| {
        tag("meta")
            .attribute("name", name)
            .attribute("content", content)
            .empty()
    };
    tag("head").all([
        tag("meta").attribute("charset", "utf-8").empty(),
        tag("meta")
            .attribute("http-equiv", "Content-Security-Policy")
            .attribute("content", &policy())
            .empty(),
        meta("viewport", "width=device-width, initial-scale=1"),
        meta("color-scheme", "light dark"),
        meta("generator", &report.program),
        tag("title").text(&title),
        tag("style").body(constant(STYLE)),
    ])
}

/// Nothing is loaded from anywhere, and no script runs but ours, whatever the documents contain.
fn policy() -> String {
    let rest = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    format!("{rest}; script-src 'sha256-{SCRIPT_HASH}'")
}

/// Links to the parts.
fn contents(sections: &[Section]) -> Markup {
    let entry = |section: &Section| {
        let link = tag("a")
            .attribute("href", &format!("#{}", section.id))
            .text(section.title);
        tag("li").body(link)
    };
    let list = tag("ul").all(sections.iter().map(entry));
    tag("nav").attribute("aria-label", "Contents").body(list)
}

/// Who made the page, and what can be done with it.
fn footer(report: &Report) -> Markup {
    let words = "One file without anything to load: keep it, mail it, print it.";
    tag("footer").body(text(&format!("{}. {words}", report.program)))
}
