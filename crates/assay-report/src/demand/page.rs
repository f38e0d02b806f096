//! The page of one profile or of many: the answer, the demand, where time went, and how it moved from report to report.

use super::NamedProfile;
use super::chart::{curves, over_time, shares, tiers};
use super::facts;
use super::series;
use super::{histograms, report, response, server};
use crate::chart::scene::Size;
use crate::markup::{Markup, constant, tag, text};
use crate::page::figure::Figures;
use crate::page::frame::{Frame, Section};
use crate::page::table::{Pair, of_rows, pairs};
use assay_model::profile::Profile;

/// Reports that get a part of their own; the JSON form has all.
pub(super) const REPORTS_MAX: usize = 24;

/// The page; `program` is the name and version of the program.
pub fn profiles_html(profiles: &[NamedProfile<'_>], program: &str) -> String {
    let mut figures = Figures::default();
    let title = match profiles {
        [one] => format!("Profile of {} – Assay", one.profile.name),
        several => format!("{} profiles – Assay", several.len()),
    };
    let sections = match profiles {
        [one] => one_report(one.profile, &mut figures),
        several => many(several, &mut figures),
    };
    Frame {
        title,
        program: program.to_owned(),
        header: header(profiles),
        answer: answer(profiles),
        sections,
    }
    .html()
}

fn header(profiles: &[NamedProfile<'_>]) -> Markup {
    let facts = match profiles {
        [one] => {
            let interval = facts::interval(one.profile);
            let named =
                [("from", one.file.to_owned()), ("database", one.profile.name.clone())].into_iter();
            named.chain(interval.map(|interval| ("interval", interval))).collect()
        }
        several => vec![("from", format!("{} reports", several.len()))],
    };
    let facts = facts.into_iter().map(|(name, value): (&str, String)| {
        tag("span").body(tag("em").text(name).and(constant(" ")).and(text(&value)))
    });
    let name = tag("p").class("brand").body(tag("b").text("Assay").and(text(" profile")));
    tag("header").body(name.and(tag("p").class("facts").all(facts)))
}

fn answer(profiles: &[NamedProfile<'_>]) -> Markup {
    let (headline, details) = match profiles {
        [one] => (facts::headline(&one.profile.verdict), facts::details(one.profile)),
        several => (series::headline(several), series::details(several)),
    };
    let head = tag("div").class("answer").body(tag("h1").text(&headline));
    let details = details.iter().map(|sentence| tag("li").text(sentence));
    let lead = tag("ul").class("lead").all(details);
    tag("section").attribute("id", "answer").body(head.and(lead))
}

fn one_report(profile: &Profile, figures: &mut Figures) -> Vec<Section> {
    let mut first = report::top_events(profile);
    first.extend(response::tables(profile));
    first.extend(report::load(profile));
    vec![
        Section { id: "events", title: "What sessions waited for", body: titled(&first) },
        Section {
            id: "demand",
            title: "What was asked of storage",
            body: demand(profile, figures),
        },
        Section { id: "time", title: "Where DB time went", body: time(profile, figures) },
        Section {
            id: "server",
            title: "Who asked",
            body: titled(&report::who_asked(profile)).and(wide(&server::tables(profile))).and(
                folded("Files, buffer cache and instances", titled(&report::looked_up(profile))),
            ),
        },
        Section {
            id: "tiering",
            title: "What gains most from faster storage",
            body: tiering(profile, figures),
        },
        Section {
            id: "checks",
            title: "What the report says of itself",
            body: folded(
                "Sections that should agree, doubts, and what is missing",
                doubts(profile),
            )
            .and(folded("Where the numbers come from", source(profile))),
        },
    ]
}

/// Tables below their titles, two beside each other where there is room.
fn titled(tables: &[response::Titled]) -> Markup {
    let one = |(title, rows): &response::Titled| {
        tag("div").body(tag("h3").text(title).and(of_rows(title, rows)))
    };
    beside(tables.iter().map(one))
}

/// Parts beside each other where there is room; nothing of none.
fn beside(parts: impl Iterator<Item = Markup>) -> Markup {
    let parts: Vec<Markup> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Markup::new();
    }
    tag("div").class("charts").all(parts)
}

/// Tables of many columns below their titles.
fn wide(tables: &[response::Titled]) -> Markup {
    let one = |(title, rows): &response::Titled| tag("h3").text(title).and(of_rows(title, rows));
    tables.iter().map(one).collect()
}

/// What is read when it is wanted.
fn folded(title: &str, body: Markup) -> Markup {
    if body.is_empty() {
        return body;
    }
    tag("details").body(tag("summary").text(title).and(body))
}

fn many(profiles: &[NamedProfile<'_>], figures: &mut Figures) -> Vec<Section> {
    let parts = profiles.iter().take(REPORTS_MAX).zip(1..).map(|(named, number)| {
        let sentence = facts::headline(&named.profile.verdict);
        let body = tag("h3").text(named.file).and(tag("p").text(&sentence));
        let events = report::top_events(named.profile);
        let body = body.and(titled(&events[..events.len().min(1)]));
        tag("article")
            .attribute("id", &format!("report-{number}"))
            .class("run")
            .body(body.and(demand(named.profile, figures)).and(time(named.profile, figures)))
    });
    let parts: Markup = parts.collect();
    vec![
        Section {
            id: "series",
            title: "From report to report",
            body: series::body(profiles, figures),
        },
        Section { id: "reports", title: "Each report", body: parts },
    ]
}

fn demand(profile: &Profile, figures: &mut Figures) -> Markup {
    let purposes = of_rows("I/O by purpose", &facts::classes(profile));
    let curve = curves(profile).map_or_else(Markup::new, |draw| {
        let caption =
            "How long I/Os took, as the report counts them: what share of them took no longer.";
        figures.figure(Size::Half, caption, draw)
    });
    let below = beside([curve, to_demand(profile, !purposes.is_empty())].into_iter());
    purposes.and(below)
}

/// How the table of purposes is read, and the counts behind it.
fn to_demand(profile: &Profile, purposes: bool) -> Markup {
    let note = "All I/O is the whole; the other rows are parts of it and overlap with nothing that is counted apart. \
                Outstanding is rate times time (Little's law). A dash is not in the report.";
    let note = if purposes { tag("p").class("note").text(note) } else { Markup::new() };
    let counts = "Requests as each section counts them";
    let histograms = "I/Os by the time they took, by event";
    let parts = note
        .and(folded(counts, of_rows(counts, &facts::rates(profile))))
        .and(folded(histograms, of_rows(histograms, &histograms::histograms(profile))));
    if parts.is_empty() { parts } else { tag("div").body(parts) }
}

fn time(profile: &Profile, figures: &mut Figures) -> Markup {
    let table = of_rows("Where DB time went", &facts::time_rows(profile));
    let chart = shares(profile)
        .map_or_else(Markup::new, |draw| figures.figure(Size::Half, "Shares of DB time.", draw));
    let mut body = beside([table, chart].into_iter());
    if let Some(draw) = over_time(profile) {
        let caption = "What active sessions did, by looks at them. Class CPU is without a wait: on a processor, or ready for one; above the line of the CPUs they queue.";
        body.push(figures.figure(Size::Full, caption, draw));
    }
    body
}

fn tiering(profile: &Profile, figures: &mut Figures) -> Markup {
    let rows =
        of_rows("Tablespaces by time waited for their reads", &facts::tiering(&profile.tiering));
    match tiers(profile) {
        Some(draw) => {
            let caption =
                "Share of all waiting for reads that is gone when so many tablespaces are moved.";
            beside([rows, figures.figure(Size::Half, caption, draw)].into_iter())
        }
        None => rows,
    }
}

fn doubts(profile: &Profile) -> Markup {
    let checks = of_rows("Sections that should agree", &facts::checks(&profile.checks));
    let items = |title: &str, items: &[String]| {
        if items.is_empty() {
            return Markup::new();
        }
        let list = items.iter().take(100).map(|item| tag("li").text(item));
        tag("h3").text(title).and(tag("ul").all(list))
    };
    checks
        .and(items("To be doubted", &profile.doubts))
        .and(items("Not in this report", &profile.missing))
}

fn source(profile: &Profile) -> Markup {
    pairs(facts::source(profile).into_iter().map(|(name, value)| Pair::new(name, value)))
}
