//! The ladder of a load in words and columns, for the page and for the terminal.

use crate::clock::show_length;
use crate::input::Report;
use crate::{brokerage, orders};
use assay_model::calibration::MixCalibration;
use assay_model::load::{Load, PhysicalVerdict, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{rate, real, share};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// A table: its heading, and for each column a name and how a rung fills it.
pub(crate) struct Columns {
    /// What it shows.
    pub(crate) title: &'static str,
    /// Name and content.
    pub(crate) columns: Vec<(&'static str, Fill)>,
}

/// How a rung fills a column.
pub(crate) type Fill = fn(&Rung) -> String;

/// Stands where nothing is known.
const UNKNOWN: &str = "–";

/// All tables of a ladder; changes have a table of their own where there were any.
pub(crate) fn tables(load: &Load) -> Vec<Columns> {
    if brokerage::is_brokerage(load) {
        return brokerage::tables();
    }
    if orders::is_transactions(load) {
        return orders::tables(load);
    }
    let changed = load.rungs.iter().any(|rung| !rung.times(Operation::Write).is_empty());
    let mut tables = vec![throughput(), times("Times of reading statements", quantile_of_reads())];
    if changed {
        tables.push(times("Times of changing statements, commit included", quantile_of_writes()));
    }
    tables.extend([workload(), waits(), device()]);
    tables
}

fn throughput() -> Columns {
    Columns {
        title: "The ladder",
        columns: vec![
            ("sessions", sessions),
            ("elapsed", |rung| show_length(rung.elapsed_s())),
            ("SQL/s", |rung| show_count(rung.statements_per_s())),
            ("±", |rung| {
                rung.statements.map_or_else(unknown, |estimate| {
                    format!("{:.1} %", 100.0 * estimate.relative_half_width())
                })
            }),
            ("DB reads/s", |rung| show_count(rung.reads_per_s())),
            ("device r/s", |rung| of_device(rung, |device| device.read_ios)),
            ("from cache", |rung| {
                let cached = rung.physical.cached_share;
                cached.map_or_else(unknown, |cached| format!("{:.2} %", 100.0 * cached))
            }),
            ("reads are", |rung| rung.physical.verdict.name().to_owned()),
            ("CPU busy", |rung| rung.host_busy_share.map_or_else(unknown, percent)),
        ],
    }
}

/// The columns that DBAs know from AWR: what was done a second.
pub(crate) fn workload() -> Columns {
    Columns {
        title: "Load profile, a second",
        columns: vec![
            ("sessions", sessions),
            ("DB time", |rung| a_second(rung, Some(rung.time.database_ns))),
            ("DB CPU", |rung| a_second(rung, rung.time.cpu_ns)),
            ("executes", |rung| show_count(rung.statements_per_s())),
            ("commits", |rung| counted(rung, rung.database.commits)),
            ("blocks", |rung| counted(rung, rung.database.logical_reads)),
            ("reads", |rung| counted(rung, rung.database.reads)),
            ("read", |rung| moved(rung, rung.database.read_bytes)),
            ("writes", |rung| counted(rung, rung.database.writes)),
            ("written", |rung| moved(rung, rung.database.write_bytes)),
            ("redo", |rung| moved(rung, rung.database.log_bytes)),
        ],
    }
}

/// Sessions that were on average in each state: time a second.
pub(crate) fn waits() -> Columns {
    Columns {
        title: "Where the time of the sessions went, s a second",
        columns: vec![
            ("sessions", sessions),
            ("DB time", |rung| a_second(rung, Some(rung.time.database_ns))),
            ("CPU", |rung| a_second(rung, rung.time.cpu_ns)),
            ("read", |rung| a_second(rung, rung.time.read_ns)),
            ("write", |rung| a_second(rung, rung.time.write_ns)),
            ("log sync", |rung| a_second(rung, rung.time.commit_ns)),
            ("unaccounted", |rung| {
                let rest = rung.time.rest_ns();
                rest.map_or_else(unknown, |rest| {
                    format!("{:.2}", rest / 1e9 / rung.elapsed_s().max(1e-9))
                })
            }),
            ("(CPU queue)", |rung| a_second(rung, rung.time.cpu_queue_ns)),
            ("top wait", |rung| {
                rung.time.top_wait().map_or_else(unknown, |(name, _)| name.to_owned())
            }),
        ],
    }
}

/// The database's view of an I/O beside the device's, and what it costs.
pub(crate) fn device() -> Columns {
    Columns {
        title: "An I/O seen by database and device, and its CPU time by 1,000 I/Os",
        columns: vec![
            ("sessions", sessions),
            ("DB read wait", |rung| mean(rung.read_wait_mean_ns())),
            ("log sync wait", |rung| {
                let syncs = rung.database.log_syncs.filter(|syncs| *syncs > 0);
                mean(
                    rung.database
                        .log_sync_wait_ns
                        .zip(syncs)
                        .map(|(waited, syncs)| share(waited, syncs)),
                )
            }),
            ("device read", |rung| {
                mean(rung.device.as_ref().and_then(|device| device.counters.read_time_mean_ns()))
            }),
            ("device write", |rung| {
                mean(rung.device.as_ref().and_then(|device| device.counters.write_time_mean_ns()))
            }),
            ("w/s", |rung| of_device(rung, |device| device.write_ios)),
            ("server/1,000", |rung| cpu(rung, rung.server_cpu_s)),
            ("client/1,000", |rung| cpu(rung, Some(rung.client_cpu_s))),
        ],
    }
}

fn times(title: &'static str, quantiles: [Fill; 5]) -> Columns {
    let names = ["p50", "p95", "p99", "p99.9", "longest"];
    let mut columns: Vec<(&'static str, Fill)> = vec![("sessions", sessions)];
    columns.extend(names.into_iter().zip(quantiles));
    Columns { title, columns }
}

fn quantile_of_reads() -> [Fill; 5] {
    const OF: Operation = Operation::Read;
    [
        |rung| quantile(rung, OF, 0.5),
        |rung| quantile(rung, OF, 0.95),
        |rung| quantile(rung, OF, 0.99),
        |rung| quantile(rung, OF, 0.999),
        |rung| quantile(rung, OF, 1.0),
    ]
}

fn quantile_of_writes() -> [Fill; 5] {
    const OF: Operation = Operation::Write;
    [
        |rung| quantile(rung, OF, 0.5),
        |rung| quantile(rung, OF, 0.95),
        |rung| quantile(rung, OF, 0.99),
        |rung| quantile(rung, OF, 0.999),
        |rung| quantile(rung, OF, 1.0),
    ]
}

fn quantile(rung: &Rung, operation: Operation, quantile: f64) -> String {
    let times = rung.times(operation);
    if times.is_empty() {
        return unknown();
    }
    show_time_ns(real(times.quantile_ns(quantile)))
}

pub(crate) fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// Sessions, with the repeat where there are several.
pub(crate) fn sessions(rung: &Rung) -> String {
    match rung.repeat {
        1 => rung.sessions.to_string(),
        repeat => format!("{} ({repeat})", rung.sessions),
    }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Time a second of elapsed time: the sessions that were in a state on average.
fn a_second(rung: &Rung, time_ns: Option<u64>) -> String {
    let elapsed_s = rung.elapsed_s().max(1e-9);
    time_ns.map_or_else(unknown, |time_ns| format!("{:.2}", real(time_ns) / 1e9 / elapsed_s))
}

pub(crate) fn counted(rung: &Rung, count: u64) -> String {
    show_count(rate(count, rung.elapsed_s()))
}

pub(crate) fn moved(rung: &Rung, bytes: u64) -> String {
    show_throughput(rate(bytes, rung.elapsed_s()))
}

pub(crate) fn of_device(
    rung: &Rung,
    count: fn(&assay_model::counters::DeviceCounters) -> u64,
) -> String {
    let device = rung.device.as_ref();
    device.map_or_else(unknown, |device| counted(rung, count(&device.counters)))
}

fn mean(time_ns: Option<f64>) -> String {
    time_ns.map_or_else(unknown, show_time_ns)
}

fn cpu(rung: &Rung, cpu_s: Option<f64>) -> String {
    let each = cpu_s.and_then(|cpu_s| rung.cpu_s_per_thousand(cpu_s));
    each.map_or_else(unknown, |cpu_s| show_time_ns(cpu_s * 1e9))
}

/// What the load came to, in sentences.
pub(crate) fn sentences(load: &Load) -> Vec<String> {
    if load.rungs.is_empty() {
        return vec![format!("What a database gets was not measured: {}.", load.end)];
    }
    if brokerage::is_brokerage(load) {
        return brokerage::sentences(load);
    }
    if orders::is_transactions(load) {
        return orders::sentences(load);
    }
    let mut said = vec![];
    said.extend(load.best().map(best));
    said.extend(load.best().and_then(physical));
    said.extend(load.knee_sessions.map(|sessions| format!("The knee lies at {sessions} sessions: beyond it waiting grows more than the work that is done.")));
    said.extend(load.goal.map(|goal| goal_words(&goal)));
    if !load.end.is_empty() {
        said.push(format!("The ladder ended because {}.", load.end));
    }
    said
}

fn best(rung: &Rung) -> String {
    let sessions = if rung.sessions == 1 {
        "1 session".to_owned()
    } else {
        format!("{} sessions", rung.sessions)
    };
    let reads = show_count(rung.reads_per_s());
    let wait = rung
        .read_wait_mean_ns()
        .map_or_else(String::new, |wait| format!(", each waited for {}", show_time_ns(wait)));
    format!(
        "The database reads {reads} times a second from its storage with {sessions}{wait}; {} statements/s.",
        show_count(rung.statements_per_s())
    )
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
        "Of {} that the database read, {} came from the page cache ({:.2} %), and the device gave {device}: the reads are {}.",
        show_bytes(database),
        show_bytes(database * cached),
        100.0 * cached,
        physical.verdict.name()
    ))
}

fn goal_words(goal: &assay_model::load::Goal) -> String {
    let limit = show_time_ns(goal.limit_ns);
    let quantile = crate::words::nines(goal.quantile);
    match goal.sessions {
        None => format!(
            "Not even one session keeps p{quantile} of its reading statements within {limit}."
        ),
        Some(sessions) if goal.is_bounded => {
            format!(
                "{sessions} sessions are the most that keep p{quantile} of reading statements within {limit}."
            )
        }
        Some(sessions) => format!(
            "{sessions} sessions keep p{quantile} of reading statements within {limit}; more were not measured."
        ),
    }
}

/// How the data came to be there, and how it was read.
pub(crate) fn facts(load: &Load) -> Vec<(String, String)> {
    let server = &load.server;
    let own = match (server.is_own, server.ready_s) {
        (true, Some(ready_s)) => format!("made for this run in {}", show_length(ready_s)),
        (true, None) => "ours, kept by an earlier run".to_owned(),
        (false, _) => "given".to_owned(),
    };
    let way = match server.direct_io {
        Some(true) => "past the page cache",
        Some(false) => "through the page cache",
        None => "unknown",
    };
    let mut facts = vec![
        ("Server".to_owned(), format!("{} {}, {own}", server.product, server.version)),
        ("Data files".to_owned(), way.to_owned()),
        ("Reading".to_owned(), load.access.clone()),
    ];
    facts.extend(load.filled.map(|filled| {
        let per_s = show_throughput(real(filled.table_bytes) / filled.elapsed_s.max(1e-9));
        let bytes = show_bytes(real(filled.table_bytes));
        (
            "Loaded".to_owned(),
            format!(
                "{bytes} in {} ({per_s}), {} rows{}",
                show_length(filled.elapsed_s),
                show_count(real(filled.rows)),
                if orders::is_transactions(load) { "" } else { ", one a block" }
            ),
        )
    }));
    facts.extend(
        load.plan
            .iter()
            .chain(&server.settings)
            .map(|setting| (setting.name.clone(), setting.value.clone())),
    );
    facts
}

/// The storage alone beside the database on it: what it is, raw, with the database, and their ratio. Nothing without
/// both, or with blocks of different sizes.
pub(crate) fn beside(report: &Report) -> Vec<Vec<String>> {
    let Some((load, calibration)) = report.load.as_ref().zip(report.calibration.as_ref()) else {
        return Vec::new();
    };
    let block_bytes = load.server.block_bytes;
    let reads = |mix: &&MixCalibration| mix.read_share >= 1.0 && mix.transfer_bytes == block_bytes;
    let best =
        load.rungs.iter().max_by(|one, other| one.reads_per_s().total_cmp(&other.reads_per_s()));
    let Some((mix, best)) = calibration.mixes.iter().find(reads).zip(best) else {
        return Vec::new();
    };
    let row = |name: &str, raw: f64, database: f64, show: fn(f64) -> String| {
        let ratio = format!("{:.0} %", 100.0 * database / raw.max(1e-9));
        vec![name.to_owned(), show(raw), show(database), ratio]
    };
    let head = ["reads of a block", "raw", "database", "ratio"].map(str::to_owned).to_vec();
    let mut rows =
        vec![head, row("most, a second", mix.iops_max.rate.value, best.reads_per_s(), show_count)];
    let first = load.rungs.iter().find(|rung| rung.sessions == 1);
    if let Some(wait_ns) = first.and_then(Rung::read_wait_mean_ns) {
        rows.push(row(
            "mean time, one at a time",
            mix.base_service_time_ns.value,
            wait_ns,
            show_time_ns,
        ));
    }
    rows
}

/// What spoils the result as a measurement of storage; nothing where the reads were physical.
pub(crate) fn flaw(load: &Load) -> Option<String> {
    if orders::is_transactions(load) {
        return orders::flaw(load);
    }
    let cached = load.rungs.iter().filter(|rung| rung.physical.verdict == PhysicalVerdict::Cached);
    let worst = cached.filter_map(|rung| rung.physical.cached_share).reduce(f64::max)?;
    Some(format!(
        "Up to {:.1} % of the database's reads were given by the page cache: this measures memory, not the storage.",
        100.0 * worst
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Options, html, text};
    use assay_model::load::{DatabaseCounts, Goal, Physical, ServerFacts, TimeSplit};
    use assay_model::measurement::{
        Conduct, Finish, Measurement, NamedResult, OperationResult, PerOperation,
    };
    use assay_model::{Histogram, Precision};

    pub(crate) fn rung(sessions: u32, cached_bytes: u64) -> Rung {
        let mut service = Histogram::new(Precision::Fine);
        service.record_many(2_000_000, 1000 * u64::from(sessions));
        let read = OperationResult {
            ios: service.ios(),
            bytes: service.ios() * 8192,
            service,
            ..OperationResult::default()
        };
        let operations = PerOperation { read: Some(read), ..PerOperation::default() };
        Rung {
            sessions,
            repeat: 1,
            measurement: Measurement {
                format: 1,
                workload: "slob".to_owned(),
                started_unix_ns: 0,
                elapsed_ns: 2_000_000_000,
                finish: Finish::Complete,
                streams: vec![NamedResult { name: "read".to_owned(), operations }],
                targets: Vec::new(),
                errors: Vec::new(),
                conduct: Conduct::default(),
            },
            statements: None,
            retries: Vec::new(),
            backlog: None,
            database: DatabaseCounts {
                reads: 100_000,
                read_bytes: 819_200_000,
                read_wait_ns: Some(20_000_000_000),
                ..DatabaseCounts::default()
            },
            time: TimeSplit {
                database_ns: 2_000_000_000,
                cpu_ns: Some(500_000_000),
                cpu_queue_ns: Some(0),
                read_ns: Some(1_800_000_000),
                write_ns: Some(0),
                commit_ns: None,
            },
            device: None,
            client_cpu_s: 0.1,
            server_cpu_s: Some(1.0),
            host_busy_share: Some(0.5),
            physical: Physical::of(819_200_000, Some(819_200_000 - cached_bytes), None),
            profile: None,
        }
    }

    pub(crate) fn report(rungs: Vec<Rung>) -> Report {
        Report {
            load: Some(Load {
                format: 1,
                method: "slob".to_owned(),
                server: ServerFacts::default(),
                plan: Vec::new(),
                filled: None,
                access: "sequential read".to_owned(),
                rungs,
                processors: 2,
                end: "all that was asked for was measured".to_owned(),
                knee_sessions: Some(2),
                goal: Some(Goal {
                    quantile: 0.99,
                    limit_ns: 1e6,
                    sessions: Some(2),
                    is_bounded: true,
                }),
                checks: Vec::new(),
                commits: Vec::new(),
                remarks: Vec::new(),
            }),
            ..Report::default()
        }
    }

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
            // 2.0 s of DB time less 0.5 and 1.8 s over 2 s.
            "-0.15",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let page = html(&report, Options::default());
        assert!(page.contains("What a database gets of it") && page.contains("2 processors"));
    }

    #[test]
    fn reads_of_the_page_cache_spoil_the_answer() {
        let text = text(&report(vec![rung(1, 81_920_000)]), Options::default(), false);
        assert!(text.starts_with("INCONCLUSIVE"), "{text}");
        assert!(text.contains("10.0 %") && text.contains("CACHED"), "{text}");
    }

    #[test]
    fn relative_reports_hide_the_ladder_and_a_skipped_one_says_why() {
        let relative = Options { relative: true };
        let whole = report(vec![rung(1, 0)]);
        assert!(!text(&whole, relative, false).contains("50,000"));
        assert!(!html(&whole, relative).contains("50,000"));
        let skipped = text(&report(Vec::new()), Options::default(), false);
        assert!(skipped.contains("was not measured: all that was asked"), "{skipped}");
    }
}
