//! What every page has: a head that lets nothing in, contents, and a footer.

use super::markup::{Markup, constant, tag, text};
use crate::view::View;

/// Stands in the head of every page.
pub(super) const STYLE: &str = include_str!("style.css");
/// Stands at the end of every page.
const SCRIPT: &str = concat!(include_str!("script.js"), include_str!("charts.js"));
/// SHA-256 of the script in base64: browsers run this one and no other. A test computes it again.
pub(super) const SCRIPT_HASH: &str = "VT8Vu4i8oeanxuMH7DignEocN903526hGvlJj6pOSNI=";

/// A part of the page that has content.
pub(super) struct PagePart<'a> {
    /// The name that links use.
    pub(super) id: &'static str,
    /// The heading.
    pub(super) title: &'a str,
    /// The content.
    pub(super) body: Markup,
}

/// The page as a file; parts without content are left out.
pub(super) fn page(
    view: &View<'_>,
    header: Markup,
    answer: Markup,
    mut parts: Vec<PagePart<'_>>,
) -> String {
    parts.retain(|part| !part.body.is_empty());
    let contents = contents(&parts);
    let parts = parts.into_iter().map(PagePart::markup).collect();
    let body = tag("body").all([
        header,
        tag("main").all([answer, contents, parts]),
        footer(&view.program),
        tag("script").body(constant(SCRIPT)),
    ]);
    let page = tag("html").attribute("lang", "en").body(head(&view.title, &view.program).and(body));
    format!("<!DOCTYPE html>\n{}\n", page.into_string())
}

/// Parts that are looked up rather than read: folded at first, so that a page is not longer than
/// its evidence.
const FOLDED: [&str; 4] = ["conduct", "environment", "method", "repeat"];

impl PagePart<'_> {
    /// The part with its heading.
    fn markup(self) -> Markup {
        let title = tag("h2").text(self.title);
        let section = tag("section").attribute("id", self.id);
        if FOLDED.contains(&self.id) {
            let folded = tag("details").class("part");
            return section.body(folded.body(tag("summary").body(title).and(self.body)));
        }
        section.body(title.and(self.body))
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
fn contents(parts: &[PagePart<'_>]) -> Markup {
    let entry = |part: &PagePart<'_>| {
        let link = tag("a").attribute("href", &format!("#{}", part.id)).text(part.title);
        tag("li").body(link)
    };
    let list = tag("ul").all(parts.iter().map(entry));
    tag("nav").attribute("aria-label", "Contents").body(list)
}

/// Who made the page, and what can be done with it.
fn footer(program: &str) -> Markup {
    let words = "A self-contained file: save, mail or print it.";
    tag("footer").body(text(&format!("{program}. {words}")))
}
