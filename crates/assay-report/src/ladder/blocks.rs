//! The ladder of a load that reads and changes blocks: what its statements took, and whether storage gave what they read.

use super::columns::{
    Columns, Fill, busy, device, elapsed, of_device, sessions, uncertainty, unknown, waits,
    workload,
};
use super::words::{end_words, goal_words, rate_of_repeats, several};
use assay_model::load::{Load, PhysicalVerdict, Rung};
use assay_model::measurement::Operation;
use assay_model::number::real;
use assay_model::units::{show_bytes, show_count, show_time_ns};

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
pub(super) fn tables(load: &Load) -> Vec<Columns> {
    let changed = load.rungs.iter().any(|rung| !rung.times(Operation::Write).is_empty());
    let mut tables =
        vec![throughput(), times("Times of reading statements", cells!(Operation::Read))];
    if changed {
        tables.push(times("Latency of updates, commit included", cells!(Operation::Write)));
    }
    tables.extend([workload(), waits(), device()]);
    tables
}

fn throughput() -> Columns {
    Columns {
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
                cached.map_or_else(unknown, |cached| format!("{:.2} %", 100.0 * cached))
            }),
            ("reads are", |rung| rung.physical.verdict.name().to_owned()),
            ("CPU busy", busy),
        ],
    }
}

fn times(title: &'static str, quantiles: [Fill; 5]) -> Columns {
    let names = ["p50", "p95", "p99", "p99.9", "longest"];
    Columns::side_by_side(title, "sessions", names, quantiles)
}

fn quantile(rung: &Rung, operation: Operation, quantile: f64) -> String {
    let times = rung.times(operation);
    if times.is_empty() {
        return unknown();
    }
    show_time_ns(real(times.quantile_ns(quantile)))
}

/// What the load came to, in sentences.
pub(super) fn sentences(load: &Load) -> Vec<String> {
    let mut said = vec![];
    said.extend(load.best().map(|rung| best(load, rung)));
    said.extend(load.best().and_then(physical));
    said.extend(load.knee_sessions.map(|sessions| format!("The knee lies at {sessions} sessions: beyond it waiting grows more than the work that is done.")));
    let limited = ["its reading statements", "reading statements"];
    said.extend(load.goal.map(|goal| goal_words(&goal, "session", limited)));
    said.extend(end_words(load));
    said
}

fn best(load: &Load, rung: &Rung) -> String {
    let sessions = several(rung.sessions, "session");
    let reads = show_count(rung.reads_per_s());
    let statements = rate_of_repeats(load, rung, Rung::statements_per_s, "statements/s");
    if rung.physical.verdict == PhysicalVerdict::Cached {
        return format!(
            "The database read {reads} blocks/s with {sessions}, but from the page cache, not from the storage; {statements}."
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
        "Of {} that the database read, {} came from the page cache ({:.2} %), and the device delivered {device}: the reads are {}.",
        show_bytes(database),
        show_bytes(database * cached),
        100.0 * cached,
        physical.verdict.name()
    ))
}

/// What spoils the result as a measurement of storage; nothing where the reads were physical.
pub(super) fn flaw(load: &Load) -> Option<String> {
    let cached = load.rungs.iter().filter(|rung| rung.physical.verdict == PhysicalVerdict::Cached);
    let worst = cached.filter_map(|rung| rung.physical.cached_share).reduce(f64::max)?;
    Some(format!(
        "Up to {:.1} % of the database's reads came from the page cache: this measures memory, not the storage.",
        100.0 * worst
    ))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{report, rung};
    use crate::{Options, html, text};

    #[test]
    fn a_ladder_is_told_in_tables_and_sentences() {
        let report = report(vec![rung(1, 0), rung(2, 0)]);
        let text = text(&report, Options::default(), false);
        for words in [
            "The ladder",
            "50,000",
            "physical",
            "200 µs",
            "2 sessions are the most that keep p99",
            // Of 2.0 s of DB time 1.8 s were reads: the CPU time beyond the rest was inside them.
            "0.10",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let page = html(&report, Options::default());
        assert!(page.contains("What a database gets out of it") && page.contains("2 CPUs"));
    }

    #[test]
    fn reads_of_the_page_cache_spoil_the_answer() {
        let text = text(&report(vec![rung(1, 81_920_000)]), Options::default(), false);
        assert!(text.starts_with("Up to 10.0 %"), "{text}");
        assert!(text.contains("10.0 %") && text.contains("CACHED"), "{text}");
    }
}
