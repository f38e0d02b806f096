//! What a database got of the storage: the ladder as figures and tables, how it was loaded, and
//! what failed.

use crate::chart::scene::SceneSize;
use crate::chart::waits::{WaitsStretch, waits};
use crate::demand::{LOAD_TABLE, server_tables};
use crate::format::Formatter;
use crate::input::GivenReport;
use crate::ladder::{beside, databases, facts, several, time_of_databases, view};
use crate::view::{Chart, HeadingLevel, ViewBlock, ViewTable};
use assay_model::load::Load;
use assay_model::profile::Profile;

/// Tables that are unfolded at first: the ladder and what comes next to it.
const TABLES_OPEN: usize = 2;
/// Tables of the server that a terminal shows as well.
const IN_BRIEF: [&str; 2] = ["Top timed events of sessions", "Single-block read latency"];

/// The whole section; nothing without a load, and in relative reports, because every column is
/// absolute.
pub(super) fn blocks<'a>(report: &'a GivenReport, format: Formatter) -> Vec<ViewBlock<'a>> {
    let known = |load: &&'a Load| !format.is_relative() && !load.rungs.is_empty();
    let Some(load) = report.load.as_ref().filter(known) else {
        return Vec::new();
    };
    let mut blocks = vec![
        ViewBlock::captioned(HeadingLevel::Part, beside(report)),
        ViewBlock::SideBySide(
            (view(load).charts)(load, format).into_iter().map(ViewBlock::Chart).collect(),
        ),
    ];
    blocks.extend(super::load_over_time::throughput(load, format).map(ViewBlock::Chart));
    blocks.extend(over_time(load, format).map(ViewBlock::Chart));
    let tables = (view(load).tables)(load).into_iter().map(|columns| columns.table(&load.rungs));
    let mut tables = tables.map(|table| ViewBlock::captioned(HeadingLevel::Part, table));
    blocks.extend(tables.by_ref().take(1));
    blocks.push(ViewBlock::captioned(HeadingLevel::Part, databases(load)));
    blocks.push(ViewBlock::captioned(HeadingLevel::Part, time_of_databases(load)));
    blocks.extend(tables.by_ref().take(TABLES_OPEN - 1));
    blocks.push(ViewBlock::folded("All other figures, step by step", tables.collect()));
    let activity = activity(load);
    blocks.push(ViewBlock::folded("Server counters", activity));
    blocks.push(ViewBlock::part("Load", vec![ViewBlock::facts(facts(load))]));
    blocks.push(ViewBlock::captioned(HeadingLevel::Part, errors(load)));
    blocks
}

/// What the server itself reported of the best step; each server, where there are several.
fn activity<'a>(load: &Load) -> Vec<ViewBlock<'a>> {
    let Some(rung) = load.best() else { return Vec::new() };
    let title = |server: &str, sessions: u32| {
        format!("Activity of {server} with {}", several(sessions, "session"))
    };
    let only = rung.profile.as_ref().map(|only| (title("the server", rung.sessions), only));
    let each = rung.databases.iter().filter_map(|one| {
        let title = title(&format!("the server of {}", one.target), one.sessions);
        Some((title, one.profile.as_ref()?))
    });
    only.into_iter().chain(each).map(|(title, profile)| activity_of(title, profile)).collect()
}

fn activity_of<'a>(title: String, profile: &Profile) -> ViewBlock<'a> {
    // Rates of the same seconds stand in the ladder's own columns, from the same place for all
    // steps.
    let shown = server_tables(profile).into_iter().filter(|table| table.caption != LOAD_TABLE);
    let block = |table: ViewTable| {
        let is_brief = IN_BRIEF.contains(&table.caption.as_str());
        let block = ViewBlock::captioned(HeadingLevel::Detail, table);
        if is_brief { block } else { ViewBlock::OnPage(vec![block]) }
    };
    ViewBlock::part(title, shown.map(block).collect())
}

/// What failed, by kind.
fn errors(load: &Load) -> ViewTable {
    let mut table = ViewTable::new("Failed statements").numbers("sessions").numbers("times");
    table = table.words("operation").words("error");
    for rung in &load.rungs {
        table.extend(rung.measurement.errors.iter().map(|error| {
            let operation = error.operation.name().to_owned();
            let (sessions, times) = (rung.sessions.to_string(), error.ios.to_string());
            vec![sessions, times, operation, error.meaning.clone()]
        }));
    }
    table
}

/// What sessions did, step after step.
fn over_time(load: &Load, format: Formatter) -> Option<Chart<'_>> {
    let stretches: Vec<WaitsStretch<'_>> = load
        .rungs
        .iter()
        .filter_map(|rung| {
            let series = rung.profile.as_ref()?.server.as_ref()?.over_time.as_ref()?;
            Some(WaitsStretch { name: rung.sessions.to_string(), series })
        })
        .collect();
    if stretches.is_empty() {
        return None;
    }
    let cpus = load.rungs.iter().any(|rung| rung.server_cpu_s.is_some());
    let cpus = cpus.then_some(f64::from(load.processors));
    let draw = move |size| waits(&stretches, cpus, &format, size);
    Some(Chart::new(
        "active-sessions",
        SceneSize::Full,
        "Session activity per second, step after step (the numbers are sessions), sampled ten \
         times per second. “CPU” means running or runnable. Above the line, there are more \
         runnable sessions than CPUs.",
        draw,
    ))
}
