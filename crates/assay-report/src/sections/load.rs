//! What a database got of the storage: the ladder as figures and tables, how it was loaded, and what failed.

use super::session_time::time_of_sessions;
use super::transaction_charts;
use crate::chart::histogram::histogram;
use crate::chart::ladder::{Curve, ladder};
use crate::chart::scene::{Ink, Size, Stroke};
use crate::chart::waits::{Stretch, waits};
use crate::demand::{LOAD_TABLE, server_tables};
use crate::format::Formatter;
use crate::input::Report;
use crate::ladder::{Kind, beside, databases, facts, several, tables, time_of_databases};
use crate::view::{Block, Chart, Level, Table};
use assay_model::load::{Load, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{rate, real};
use assay_model::profile::Profile;
use assay_model::verdict::Unit;

/// Tables that are unfolded at first: the ladder and what comes next to it.
const TABLES_OPEN: usize = 2;
/// Tables of the server that a terminal shows as well.
const IN_BRIEF: [&str; 2] = ["Top timed events of sessions", "How long reads of a block took"];

/// The whole section; nothing without a load, and in relative reports, because every column is absolute.
pub(super) fn blocks<'a>(report: &'a Report, format: Formatter) -> Vec<Block<'a>> {
    let known = |load: &&'a Load| !format.is_relative() && !load.rungs.is_empty();
    let Some(load) = report.load.as_ref().filter(known) else {
        return Vec::new();
    };
    let mut blocks = vec![
        Block::captioned(Level::Part, beside(report)),
        Block::SideBySide(charts(load, format).into_iter().map(Block::Chart).collect()),
    ];
    blocks.extend(super::load_over_time::throughput(load, format).map(Block::Chart));
    blocks.extend(over_time(load, format).map(Block::Chart));
    let tables = tables(load).into_iter().map(|columns| columns.table(&load.rungs));
    let mut tables = tables.map(|table| Block::captioned(Level::Part, table));
    blocks.extend(tables.by_ref().take(1));
    blocks.push(Block::captioned(Level::Part, databases(load)));
    blocks.push(Block::captioned(Level::Part, time_of_databases(load)));
    blocks.extend(tables.by_ref().take(TABLES_OPEN - 1));
    blocks.push(Block::folded("All other figures, step by step", tables.collect()));
    let activity = activity(load);
    blocks.push(Block::folded("What the server counted", activity));
    blocks.push(Block::part("How it was loaded", vec![Block::facts(facts(load))]));
    blocks.push(Block::captioned(Level::Part, errors(load)));
    blocks
}

/// What the server itself reported of the best rung; each server, where there are several.
fn activity<'a>(load: &Load) -> Vec<Block<'a>> {
    let Some(rung) = load.best() else { return Vec::new() };
    let title = |server: &str, sessions: u32| {
        format!("What {server} counted and was seen doing with {}", several(sessions, "session"))
    };
    let only = rung.profile.as_ref().map(|only| (title("the server", rung.sessions), only));
    let each = rung.databases.iter().filter_map(|one| {
        let title = title(&format!("the server of {}", one.target), one.sessions);
        Some((title, one.profile.as_ref()?))
    });
    only.into_iter().chain(each).map(|(title, profile)| activity_of(title, profile)).collect()
}

fn activity_of<'a>(title: String, profile: &Profile) -> Block<'a> {
    // Rates of the same seconds stand in the ladder's own columns, from the same place for all rungs.
    let told = server_tables(profile).into_iter().filter(|table| table.caption != LOAD_TABLE);
    let block = |table: Table| {
        let is_brief = IN_BRIEF.contains(&table.caption.as_str());
        let block = Block::captioned(Level::Detail, table);
        if is_brief { block } else { Block::OnPage(vec![block]) }
    };
    Block::part(title, told.map(block).collect())
}

/// What failed, by kind.
fn errors(load: &Load) -> Table {
    let mut table = Table::new("Statements that failed").numbers("sessions").numbers("times");
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

fn charts(load: &Load, format: Formatter) -> Vec<Chart<'_>> {
    match Kind::of(load) {
        Kind::Blocks => of_blocks(load, format),
        Kind::Orders => transaction_charts::charts(&transaction_charts::ORDERS, load, format),
        Kind::Brokerage => transaction_charts::charts(&transaction_charts::BROKERAGE, load, format),
    }
}

fn of_blocks(load: &Load, format: Formatter) -> Vec<Chart<'_>> {
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let title = ("Reads by sessions", "sessions");
        ladder(title, "reads per second", Unit::IosPerS, &rungs, &RATES, &format, size)
    };
    let mut charts = vec![Chart::new(
        "reads-by-sessions",
        Size::Half,
        "What the database reads, and what the device gave, by sessions: where both lines are one, every read was one of the storage.",
        draw,
    )];
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let title = ("Times by sessions", "sessions");
        ladder(title, "time", Unit::Ns, &rungs, &TIMES, &format, size)
    };
    charts.push(Chart::new("times-by-sessions", Size::Half, "Times of reading statements by sessions: the middle, and the slowest of a hundred and of a thousand.", draw));
    charts.push(time_of_sessions(load, format, "sessions", "Where the time of the sessions went: each column is a rung, each part the sessions that were in a state on average. The kernel’s work for a read belongs to the read."));
    if let Some(rung) = load.best().filter(|rung| !rung.times(Operation::Read).is_empty()) {
        let times = rung.times(Operation::Read);
        let caption = format!(
            "Times of all reading statements with {}, as sessions saw them.",
            several(rung.sessions, "session")
        );
        let draw =
            move |size| histogram(Operation::Read, &times, ("time", "statements"), &format, size);
        charts.push(Chart::new("histogram-statements", Size::Half, caption, draw));
    }
    charts
}

/// What sessions did, rung after rung.
fn over_time(load: &Load, format: Formatter) -> Option<Chart<'_>> {
    let stretches: Vec<Stretch<'_>> = load
        .rungs
        .iter()
        .filter_map(|rung| {
            let series = rung.profile.as_ref()?.server.as_ref()?.over_time.as_ref()?;
            Some(Stretch { name: rung.sessions.to_string(), series })
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
        Size::Full,
        "What active sessions did, second by second and rung after rung (the numbers are sessions), sampled ten times per second. Class CPU is without a wait: on a processor, or ready for one; above the line of the CPUs they queue.",
        draw,
    ))
}

/// Lines of the first figure.
const RATES: [Curve; 2] = [
    Curve {
        name: "database",
        ink: Ink::Read,
        stroke: Stroke::Solid,
        value: |rung| Some(rung.reads_per_s()),
    },
    Curve {
        name: "device",
        ink: Ink::Mix,
        stroke: Stroke::Dashed,
        value: |rung| {
            let device = rung.device.as_ref()?;
            Some(rate(device.counters.read_ios, rung.elapsed_s()))
        },
    },
];

/// Lines of the second figure.
const TIMES: [Curve; 3] = [
    Curve { name: "p50", ink: Ink::Read, stroke: Stroke::Solid, value: |rung| at(rung, 0.5) },
    Curve { name: "p99", ink: Ink::Read, stroke: Stroke::Dashed, value: |rung| at(rung, 0.99) },
    Curve { name: "p99.9", ink: Ink::Read, stroke: Stroke::Dotted, value: |rung| at(rung, 0.999) },
];

fn at(rung: &Rung, quantile: f64) -> Option<f64> {
    let times = rung.times(Operation::Read);
    (!times.is_empty()).then(|| real(times.quantile_ns(quantile)))
}
