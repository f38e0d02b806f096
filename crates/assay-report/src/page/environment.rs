//! Where it was measured: what was found, the storage from the path to the hardware, the host.

use super::table::{Cell, Pair, Table, pairs};
use crate::facts;
use crate::input::Report;
use crate::markup::{Markup, tag, text};
use crate::phrases::capital;
use assay_model::environment::{Environment, Finding, Storage};

/// The whole section; empty when nothing is known.
pub(crate) fn body(report: &Report) -> Markup {
    let Some(environment) = &report.environment else {
        return Markup::new();
    };
    let host = facts::host(&environment.host).into_iter();
    let host = pairs(host.map(|(name, value)| Pair::new(name, value)));
    let parts = [
        findings(environment),
        environment.storage.iter().map(storage).collect(),
        tag("h3").text("Host"),
        host,
        unreadable(environment),
    ];
    parts.into_iter().collect()
}

/// All findings, the gravest first.
fn findings(environment: &Environment) -> Markup {
    let items: Markup = environment.findings.iter().map(finding).collect();
    if items.is_empty() {
        return tag("p").class("note").text("Nothing was found that needs attention.");
    }
    tag("h3").text("Findings").and(tag("ul").class("findings").body(items))
}

/// One finding with why it matters and the remedy.
fn finding(finding: &Finding) -> Markup {
    let word = facts::severity(finding.severity);
    let severity = tag("span").class(&format!("sev {word}")).text(word);
    let what = text(&format!(" {}: {}", finding.what, finding.value));
    tag("li").all([
        tag("p").class("what").body(severity.and(what)),
        tag("p").class("why").text(&capital(&finding.why)),
        tag("p").class("remedy").text(&capital(&finding.remedy)),
    ])
}

/// The layers under one target.
fn storage(storage: &Storage) -> Markup {
    let title = tag("h3").text(&format!("Storage under {}", storage.stack.path));
    let table = Table::new("From the path to the hardware").words("Layer").words("Kind");
    let mut table = table.numbers("Size").words("Settings").words("Lies on");
    for layer in facts::layers(storage) {
        table.row(vec![
            Cell::Text(layer.name),
            Cell::Text(layer.kind),
            Cell::Number(layer.size),
            Cell::Text(layer.settings),
            Cell::Text(layer.lower),
        ]);
    }
    title.and(table.markup())
}

/// What could not be read, folded away.
fn unreadable(environment: &Environment) -> Markup {
    let items: Markup = facts::unreadable(environment).map(|fact| tag("li").text(&fact)).collect();
    if items.is_empty() {
        return items;
    }
    let title = tag("summary").text("What could not be read");
    tag("details").body(title.and(tag("ul").body(items)))
}
