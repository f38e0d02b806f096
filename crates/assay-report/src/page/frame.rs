//! What every page has: a head that lets nothing in, contents, and a footer.

use crate::markup::{Markup, constant, tag, text};

/// Stands in the head of every page.
const STYLE: &str = include_str!("style.css");
/// Stands at the end of every page.
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of the script in base64: browsers run this one and no other. A test computes it again.
const SCRIPT_HASH: &str = "2ZpWAMGMNVTgdkvPiALLwGIb+AGo3fQ8oArsSauGreo=";

/// A part of the page with a heading.
pub(crate) struct Section {
    /// The name that links use.
    pub(crate) id: &'static str,
    /// The heading.
    pub(crate) title: &'static str,
    /// The content; a part without any is left out.
    pub(crate) body: Markup,
}

/// A page before it is written.
pub(crate) struct Frame {
    /// The name of the window.
    pub(crate) title: String,
    /// Name and version of the program.
    pub(crate) program: String,
    /// What the page is about.
    pub(crate) header: Markup,
    /// The answer.
    pub(crate) answer: Markup,
    /// The evidence; parts without a body are left out.
    pub(crate) sections: Vec<Section>,
}

impl Frame {
    /// The page as a file.
    pub(crate) fn html(mut self) -> String {
        self.sections.retain(|section| !section.body.is_empty());
        let contents = contents(&self.sections);
        let sections = self.sections.into_iter().map(Section::markup).collect();
        let body = tag("body").all([
            self.header,
            tag("main").all([self.answer, contents, sections]),
            footer(&self.program),
            tag("script").body(constant(SCRIPT)),
        ]);
        let page =
            tag("html").attribute("lang", "en").body(head(&self.title, &self.program).and(body));
        format!("<!DOCTYPE html>\n{}\n", page.into_string())
    }
}

impl Section {
    /// The part with its heading.
    fn markup(self) -> Markup {
        let title = tag("h2").text(self.title);
        tag("section").attribute("id", self.id).body(title.and(self.body))
    }
}

/// What the browser has to know before it shows anything.
fn head(page_title: &str, program: &str) -> Markup {
    let meta = |name: &'static str, content: &str| {
        tag("meta").attribute("name", name).attribute("content", content).empty()
    };
    tag("head").all([
        tag("meta").attribute("charset", "utf-8").empty(),
        tag("meta")
            .attribute("http-equiv", "Content-Security-Policy")
            .attribute("content", &policy())
            .empty(),
        meta("viewport", "width=device-width, initial-scale=1"),
        meta("color-scheme", "light dark"),
        meta("generator", program),
        tag("title").text(page_title),
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
        let link = tag("a").attribute("href", &format!("#{}", section.id)).text(section.title);
        tag("li").body(link)
    };
    let list = tag("ul").all(sections.iter().map(entry));
    tag("nav").attribute("aria-label", "Contents").body(list)
}

/// Who made the page, and what can be done with it.
fn footer(program: &str) -> Markup {
    let words = "One file without anything to load: keep it, mail it, print it.";
    tag("footer").body(text(&format!("{program}. {words}")))
}
