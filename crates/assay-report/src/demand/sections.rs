//! What is shown of one profile or of many: the answer, the demand, where time went, and how it
//! moved from report to report.

use super::chart::{curves, over_time, shares, tiers};
use super::facts;
use super::histograms::histograms;
use super::named_profile::NamedProfile;
use super::series::REPORTS_MAX;
use super::{report, response, series, server};
use crate::chart::scene::SceneSize;
use crate::format::Formatter;
use crate::view::{Chart, HeadingLevel, View, ViewAnswer, ViewBlock, ViewSection, ViewTable};
use assay_model::profile::Profile;

/// Doubts listed; the document has all.
const DOUBTS_MAX: usize = 100;

/// Everything that is shown of profiles; `program` is the name and version of the program.
pub(super) fn view<'a>(profiles: &[NamedProfile<'a>], program: &str) -> View<'a> {
    let (title, sections) = match profiles {
        [one] => (format!("Profile of {}", one.profile.name), one_report(*one)),
        several => (format!("{} profiles", several.len()), many(several)),
    };
    View {
        title: format!("{title} – Assay"),
        program: program.to_owned(),
        subject: "profile".to_owned(),
        facts: header(profiles),
        answer: answer(profiles),
        sections,
    }
}

fn header(profiles: &[NamedProfile<'_>]) -> Vec<(&'static str, String)> {
    let [one] = profiles else {
        return vec![("from", format!("{} reports", profiles.len()))];
    };
    let interval = facts::interval(one.profile).map(|interval| ("interval", interval));
    let named = [("from", one.file.to_owned()), ("database", one.profile.name.clone())];
    named.into_iter().chain(interval).collect()
}

fn answer<'a>(profiles: &[NamedProfile<'_>]) -> ViewAnswer<'a> {
    let (headline, details) = match profiles {
        [one] => (facts::headline(one.profile), facts::details(one.profile)),
        several => (series::headline(several), series::details(several)),
    };
    let summary = super::summary::summary(profiles);
    ViewAnswer {
        headline,
        details,
        summary: summary.blocks(Formatter::default()),
        asked: summary.asked,
        ..ViewAnswer::default()
    }
}

fn one_report(named: NamedProfile<'_>) -> Vec<ViewSection<'_>> {
    let profile = named.profile;
    let section = |id, title: &str, blocks| ViewSection { id, title: title.to_owned(), blocks };
    let source = || vec![ViewBlock::facts(facts::source(profile))];
    vec![
        section("read", named.file, vec![ViewBlock::InTerminal(source())]),
        section("events", "Wait events", vec![side_by_side(first(profile))]),
        section("demand", "Storage demand", demand(profile)),
        section("time", "DB time", time(profile)),
        section("server", "Sources of demand", who(profile)),
        section("tiering", "Tiering candidates", tiering(profile)),
        section(
            "checks",
            "Notes of the report",
            vec![
                ViewBlock::folded("Contradictions, caveats and missing data", doubts(profile)),
                ViewBlock::OnPage(vec![ViewBlock::folded("Sources of the numbers", source())]),
            ],
        ),
    ]
}

fn many<'a>(profiles: &[NamedProfile<'a>]) -> Vec<ViewSection<'a>> {
    let files: Vec<&str> = profiles.iter().map(|named| named.file).collect();
    let parts = profiles.iter().take(REPORTS_MAX).zip(1..).map(|(named, number)| {
        let sentence = ViewBlock::Paragraph(facts::headline(named.profile));
        let events = report::top_events(named.profile).into_iter().take(1).collect();
        let mut content = vec![sentence, side_by_side(events)];
        content.extend(demand(named.profile));
        content.extend(time(named.profile));
        let folded = ViewBlock::folded(series::short(named.file, &files), content);
        ViewBlock::Article(Some(format!("report-{number}")), vec![folded])
    });
    let section = |id, title: &str, blocks| ViewSection { id, title: title.to_owned(), blocks };
    vec![
        section("series", "From report to report", series::blocks(profiles)),
        section("reports", "Each report", parts.collect()),
    ]
}

/// What is looked at before anything else.
fn first(profile: &Profile) -> Vec<ViewTable> {
    let mut first = report::top_events(profile);
    first.extend(response::tables(profile));
    first.extend(report::load(profile));
    first
}

/// Tables below their titles, two next to each other where there is room.
fn side_by_side<'a>(tables: Vec<ViewTable>) -> ViewBlock<'a> {
    let group = |table| ViewBlock::Group(vec![ViewBlock::captioned(HeadingLevel::Part, table)]);
    ViewBlock::SideBySide(tables.into_iter().map(group).collect())
}

fn who<'a>(profile: &Profile) -> Vec<ViewBlock<'a>> {
    let mut blocks = vec![side_by_side(report::who_asked(profile))];
    let tables = server::tables(profile).into_iter();
    blocks.extend(tables.map(|table| ViewBlock::captioned(HeadingLevel::Part, table)));
    let title = "Files, buffer cache and instances";
    blocks.push(ViewBlock::folded(title, vec![side_by_side(report::looked_up(profile))]));
    blocks
}

fn demand(profile: &Profile) -> Vec<ViewBlock<'_>> {
    let purposes = facts::classes(profile);
    let note = "“All I/O” is the total; the other rows are parts of it. Queue depth is rate times \
                time (Little's law). –: not in the report.";
    let note = (!purposes.is_empty()).then(|| ViewBlock::Note(note.to_owned()));
    let curve = curves(profile).map(|draw| {
        let caption = "I/O latency from the report: share of I/Os up to each latency.";
        ViewBlock::Chart(Chart::new("how-long-ios-took", SceneSize::Half, caption, draw))
    });
    let folded = |table: ViewTable| {
        let title = table.caption.clone();
        ViewBlock::folded(title, vec![ViewBlock::Table(table)])
    };
    let counts = folded(facts::rates(profile));
    let histograms = ViewBlock::OnPage(vec![folded(histograms(profile))]);
    let below = note.into_iter().chain([counts, histograms]).collect();
    let beside = curve.into_iter().chain([ViewBlock::Group(below)]).collect();
    vec![ViewBlock::Table(purposes), ViewBlock::SideBySide(beside)]
}

fn time(profile: &Profile) -> Vec<ViewBlock<'_>> {
    let shares = shares(profile).map(|draw| {
        ViewBlock::Chart(Chart::new(
            "shares-of-db-time",
            SceneSize::Half,
            "Shares of DB time.",
            draw,
        ))
    });
    let table = ViewBlock::Table(facts::time_table(profile));
    let over_time = over_time(profile).map(|draw| {
        let caption = "Activity of sessions, sampled. “CPU” means running or runnable. Above the \
                       line, there are more runnable sessions than CPUs.";
        ViewBlock::Chart(Chart::new("active-sessions", SceneSize::Full, caption, draw))
    });
    let beside = ViewBlock::SideBySide([table].into_iter().chain(shares).collect());
    [beside].into_iter().chain(over_time).collect()
}

fn tiering(profile: &Profile) -> Vec<ViewBlock<'_>> {
    let table = ViewBlock::Table(facts::tiering(&profile.tiering));
    let Some(draw) = tiers(profile) else {
        return vec![table];
    };
    let caption = "Share of the total read wait saved by moving that many tablespaces.";
    let chart = ViewBlock::Chart(Chart::new("tablespaces", SceneSize::Half, caption, draw));
    vec![ViewBlock::SideBySide(vec![table, chart])]
}

fn doubts<'a>(profile: &Profile) -> Vec<ViewBlock<'a>> {
    let list = |title: &str, items: &[String]| {
        let items = items.iter().take(DOUBTS_MAX).cloned().collect();
        ViewBlock::part(title, vec![ViewBlock::List(items)])
    };
    vec![
        ViewBlock::Table(facts::checks(&profile.checks)),
        list("Caveats", &profile.doubts),
        list("Missing data", &profile.missing),
    ]
}
