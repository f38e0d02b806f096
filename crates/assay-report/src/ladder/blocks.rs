//! The ladder of a load that reads and changes blocks, in words, columns and figures, and whether
//! storage gave what was read.

use super::columns::{
    ColumnFill, LadderColumns, busy, device, elapsed, of_device, sessions, uncertainty, unknown,
    waits, workload,
};
use super::load_view::LoadView;
use super::session_time::time_of_sessions;
use super::words::{end_words, goal_words, rate_of_repeats, several};
use crate::chart::histogram::histogram;
use crate::chart::ladder::{LadderChart, LadderCurve, ladder};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::format::Formatter;
use crate::view::Chart;
use assay_model::load::{Load, PhysicalVerdict, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{rate, real};
use assay_model::units::{show_bytes, show_count, show_time_ns};
use assay_model::verdict::Unit;

pub(super) static VIEW: LoadView = LoadView { tables, sentences, flaw, charts };

/// Cells of one operation: a column is a plain function, so that the operation must stand in it.
macro_rules! cells {
    ($operation:expr) => {
        [
            |rung| quantile(rung, $operation, 0.5),
            |rung| quantile(rung, $operation, 0.95),
            |rung| quantile(rung, $operation, 0.99),
            |rung| quantile(rung, $operation, 0.999),
            |rung| quantile(rung, $operation, 1.0),
        ]
    };
}

/// All tables of such a ladder; changes have a table of their own where there were any.
fn tables(load: &Load) -> Vec<LadderColumns> {
    let changed = load.rungs.iter().any(|rung| !rung.times(Operation::Write).is_empty());
    let mut tables =
        vec![throughput(), times("Times of reading statements", cells!(Operation::Read))];
    if changed {
        tables.push(times("Latency of updates, commit included", cells!(Operation::Write)));
    }
    tables.extend([workload(), waits(), device()]);
    tables
}

fn throughput() -> LadderColumns {
    LadderColumns {
        title: "The ladder",
        columns: vec![
            ("sessions", sessions),
            ("elapsed", elapsed),
            ("SQL/s", |rung| show_count(rung.statements_per_s())),
            ("±", uncertainty),
            ("DB reads/s", |rung| show_count(rung.reads_per_s())),
            ("device r/s", |rung| of_device(rung, |device| device.read_ios)),
            ("from cache", |rung| {
                let cached = rung.physical.cached_share;
                cached.map_or_else(unknown, |cached| format!("{:.2}%", 100.0 * cached))
            }),
            ("reads are", |rung| rung.physical.verdict.name().to_owned()),
            ("CPU busy", busy),
        ],
    }
}

fn times(title: &'static str, quantiles: [ColumnFill; 5]) -> LadderColumns {
    let names = ["p50", "p95", "p99", "p99.9", "longest"];
    LadderColumns::side_by_side(title, "sessions", names, quantiles)
}

fn quantile(rung: &Rung, operation: Operation, quantile: f64) -> String {
    let times = rung.times(operation);
    if times.is_empty() {
        return unknown();
    }
    show_time_ns(real(times.quantile_ns(quantile)))
}

/// What the load came to, in sentences.
fn sentences(load: &Load) -> Vec<String> {
    let mut said = vec![];
    said.extend(load.best().map(|rung| best(load, rung)));
    said.extend(load.best().and_then(physical));
    said.extend(load.knee_sessions.map(|sessions| {
        format!(
            "The knee is at {sessions} sessions: beyond it, waiting grows faster than throughput."
        )
    }));
    let limited = ["its reading statements", "reading statements"];
    said.extend(load.goal.map(|goal| goal_words(&goal, "session", limited)));
    said.extend(end_words(load));
    said
}

fn best(load: &Load, rung: &Rung) -> String {
    let sessions = several(rung.sessions, "session");
    let reads = show_count(rung.reads_per_s());
    let statements = rate_of_repeats(load, rung, Rung::statements_per_s, "statements/s");
    if rung.reads_per_s() < 1.0 {
        return format!(
            "{statements} with {sessions}, and less than one read per second: the data fit into \
             the server's cache. Raise --scale to measure the storage."
        );
    }
    if rung.physical.verdict == PhysicalVerdict::Cached {
        return format!(
            "The database read {reads} blocks/s with {sessions}, but from the page cache, not \
             from the storage; {statements}."
        );
    }
    let wait = rung
        .read_wait_mean_ns()
        .map_or_else(String::new, |wait| format!(", mean wait {}", show_time_ns(wait)));
    let kind = match rung.physical.verdict {
        PhysicalVerdict::Physical => "physical reads/s",
        _ => "reads/s",
    };
    format!("{reads} {kind} with {sessions}{wait}; {statements}.")
}

/// Database reads, page cache hits and device reads in one line.
fn physical(rung: &Rung) -> Option<String> {
    let physical = &rung.physical;
    let cached = physical.cached_share?;
    let database = real(physical.database_bytes);
    let device = physical
        .device_bytes
        .map_or_else(|| "an unknown amount".to_owned(), |bytes| show_bytes(real(bytes)));
    Some(format!(
        "Of {} that the database read, {} came from the page cache ({:.2}%), and the device \
         delivered {device}: the reads are {}.",
        show_bytes(database),
        show_bytes(database * cached),
        100.0 * cached,
        physical.verdict.name()
    ))
}

/// What spoils the result as a measurement of storage; nothing where the reads were physical.
fn flaw(load: &Load) -> Option<String> {
    let cached = load.rungs.iter().filter(|rung| rung.physical.verdict == PhysicalVerdict::Cached);
    let worst = cached.filter_map(|rung| rung.physical.cached_share).reduce(f64::max)?;
    Some(format!(
        "Up to {:.1}% of the database's reads came from the page cache: this measures memory, not \
         the storage.",
        100.0 * worst
    ))
}

/// Reads and their times by sessions, time of sessions, and the distribution of the best step.
fn charts(load: &Load, format: Formatter) -> Vec<Chart<'_>> {
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let chart = LadderChart {
            title: "Reads by sessions",
            who: "sessions",
            name: "reads per second",
            unit: Unit::IosPerS,
            curves: &RATES,
        };
        ladder(&chart, &rungs, &format, size)
    };
    let mut charts = vec![Chart::new(
        "reads-by-sessions",
        SceneSize::Half,
        "Bytes read by the database and by the device, by sessions: if the lines coincide, every \
         read came from the storage.",
        draw,
    )];
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| {
        let chart = LadderChart {
            title: "Times by sessions",
            who: "sessions",
            name: "time",
            unit: Unit::Ns,
            curves: &TIMES,
        };
        ladder(&chart, &rungs, &format, size)
    };
    charts.push(Chart::new(
        "times-by-sessions",
        SceneSize::Half,
        "Statement latency by number of sessions: p50, p99 and p99.9.",
        draw,
    ));
    charts.push(time_of_sessions(
        load,
        format,
        "sessions",
        "Session time: each column is a step, each part the mean number of sessions in a state. \
         Kernel CPU for a read counts as read.",
    ));
    if let Some(rung) = load.best().filter(|rung| !rung.times(Operation::Read).is_empty()) {
        let times = rung.times(Operation::Read);
        let caption = format!(
            "Times of all reading statements with {}, as sessions saw them.",
            several(rung.sessions, "session")
        );
        let draw =
            move |size| histogram(Operation::Read, &times, "time", "statements", &format, size);
        charts.push(Chart::new("histogram-statements", SceneSize::Half, caption, draw));
    }
    charts
}

/// Lines of the first figure.
const RATES: [LadderCurve; 2] = [
    LadderCurve {
        name: "database",
        ink: Ink::Read,
        stroke: Stroke::Solid,
        value: |rung| Some(rung.reads_per_s()),
    },
    LadderCurve {
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
const TIMES: [LadderCurve; 3] = [
    LadderCurve { name: "p50", ink: Ink::Read, stroke: Stroke::Solid, value: |rung| at(rung, 0.5) },
    LadderCurve {
        name: "p99",
        ink: Ink::Read,
        stroke: Stroke::Dashed,
        value: |rung| at(rung, 0.99),
    },
    LadderCurve {
        name: "p99.9",
        ink: Ink::Read,
        stroke: Stroke::Dotted,
        value: |rung| at(rung, 0.999),
    },
];

fn at(rung: &Rung, quantile: f64) -> Option<f64> {
    let times = rung.times(Operation::Read);
    (!times.is_empty()).then(|| real(times.quantile_ns(quantile)))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung};
    use crate::{ReportOptions, html, text};

    #[test]
    fn a_ladder_is_told_in_tables_and_sentences() {
        let report = report(vec![rung(1, 0), rung(2, 0)]);
        let text = text(&report, ReportOptions::default(), false);
        for words in [
            "The ladder",
            "50,000",
            "physical",
            "200 µs",
            "Up to 2 sessions meet p99",
            // Of 2.0 s of DB time 1.8 s were reads: the CPU time beyond the rest was inside them.
            "0.10",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let page = html(&report, ReportOptions::default());
        assert!(page.contains("Database load") && page.contains("2 CPUs"));
    }

    #[test]
    fn reads_of_the_page_cache_spoil_the_answer() {
        let text = text(&report(vec![rung(1, 81_920_000)]), ReportOptions::default(), false);
        assert!(text.starts_with("Up to 10.0%"), "{text}");
        assert!(text.contains("10.0%") && text.contains("CACHED"), "{text}");
    }
}
