//! The ladder of a load in words and columns, for the page and for the terminal.

use crate::clock::show_length;
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
type Fill = fn(&Rung) -> String;

/// Stands where nothing is known.
const UNKNOWN: &str = "–";

/// All tables of a ladder; changes have a table of their own where there were any.
pub(crate) fn tables(load: &Load) -> Vec<Columns> {
    let changed = load
        .rungs
        .iter()
        .any(|rung| !rung.times(Operation::Write).is_empty());
    let mut tables = vec![
        throughput(),
        times("Times of reading statements", quantile_of_reads()),
    ];
    if changed {
        tables.push(times(
            "Times of changing statements, commit included",
            quantile_of_writes(),
        ));
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
            ("device r/s", |rung| {
                of_device(rung, |device| device.read_ios)
            }),
            ("from cache", |rung| {
                let cached = rung.physical.cached_share;
                cached.map_or_else(unknown, |cached| format!("{:.2} %", 100.0 * cached))
            }),
            ("reads are", |rung| rung.physical.verdict.name().to_owned()),
            ("CPU busy", |rung| {
                rung.host_busy_share.map_or_else(unknown, percent)
            }),
        ],
    }
}

/// The columns that DBAs know from AWR: what was done a second.
fn workload() -> Columns {
    Columns {
        title: "Load profile, a second",
        columns: vec![
            ("sessions", sessions),
            ("DB time", |rung| {
                a_second(rung, Some(rung.time.database_ns))
            }),
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
fn waits() -> Columns {
    Columns {
        title: "Where the time of the sessions went, s a second",
        columns: vec![
            ("sessions", sessions),
            ("DB time", |rung| {
                a_second(rung, Some(rung.time.database_ns))
            }),
            ("CPU", |rung| a_second(rung, rung.time.cpu_ns)),
            ("CPU queue", |rung| a_second(rung, rung.time.cpu_queue_ns)),
            ("read", |rung| a_second(rung, rung.time.read_ns)),
            ("write", |rung| a_second(rung, rung.time.write_ns)),
            ("log sync", |rung| a_second(rung, rung.time.commit_ns)),
            ("unaccounted", |rung| {
                let rest = rung.time.rest_ns();
                rest.map_or_else(unknown, |rest| {
                    format!("{:.2}", rest / 1e9 / rung.elapsed_s().max(1e-9))
                })
            }),
            ("top wait", |rung| {
                rung.time
                    .top_wait()
                    .map_or_else(unknown, |(name, _)| name.to_owned())
            }),
        ],
    }
}

/// The database's view of an I/O beside the device's, and what it costs.
fn device() -> Columns {
    Columns {
        title: "An I/O seen by database and device, and its CPU time",
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
                mean(
                    rung.device
                        .as_ref()
                        .and_then(|device| device.counters.read_time_mean_ns()),
                )
            }),
            ("device write", |rung| {
                mean(
                    rung.device
                        .as_ref()
                        .and_then(|device| device.counters.write_time_mean_ns()),
                )
            }),
            ("w/s", |rung| of_device(rung, |device| device.write_ios)),
            ("server CPU/1,000", |rung| cpu(rung, rung.server_cpu_s)),
            ("client CPU/1,000", |rung| {
                cpu(rung, Some(rung.client_cpu_s))
            }),
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

fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// Sessions, with the repeat where there are several.
fn sessions(rung: &Rung) -> String {
    match rung.repeat {
        1 => rung.sessions.to_string(),
        repeat => format!("{} ({repeat})", rung.sessions),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Time a second of elapsed time: the sessions that were in a state on average.
fn a_second(rung: &Rung, time_ns: Option<u64>) -> String {
    let elapsed_s = rung.elapsed_s().max(1e-9);
    time_ns.map_or_else(unknown, |time_ns| {
        format!("{:.2}", real(time_ns) / 1e9 / elapsed_s)
    })
}

fn counted(rung: &Rung, count: u64) -> String {
    show_count(rate(count, rung.elapsed_s()))
}

fn moved(rung: &Rung, bytes: u64) -> String {
    show_throughput(rate(bytes, rung.elapsed_s()))
}

fn of_device(rung: &Rung, count: fn(&assay_model::counters::DeviceCounters) -> u64) -> String {
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
    let wait = rung.read_wait_mean_ns().map_or_else(String::new, |wait| {
        format!(", each waited for {}", show_time_ns(wait))
    });
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
    let device = physical.device_bytes.map_or_else(
        || "an unknown amount".to_owned(),
        |bytes| show_bytes(real(bytes)),
    );
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
    let own = if server.is_own {
        "made for this run"
    } else {
        "given"
    };
    let way = match server.direct_io {
        Some(true) => "past the page cache",
        Some(false) => "through the page cache",
        None => "unknown",
    };
    let mut facts = vec![
        (
            "Server".to_owned(),
            format!("{} {}, {own}", server.product, server.version),
        ),
        ("Data files".to_owned(), way.to_owned()),
        ("Reading".to_owned(), load.access.clone()),
    ];
    facts.extend(load.filled.map(|filled| {
        let per_s = show_throughput(real(filled.table_bytes) / filled.elapsed_s.max(1e-9));
        let bytes = show_bytes(real(filled.table_bytes));
        (
            "Loaded".to_owned(),
            format!(
                "{bytes} in {} ({per_s}), {} rows, one a block",
                show_length(filled.elapsed_s),
                show_count(real(filled.rows))
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

/// What spoils the result as a measurement of storage; nothing where the reads were physical.
pub(crate) fn flaw(load: &Load) -> Option<String> {
    let cached = load
        .rungs
        .iter()
        .filter(|rung| rung.physical.verdict == PhysicalVerdict::Cached);
    let worst = cached
        .filter_map(|rung| rung.physical.cached_share)
        .reduce(f64::max)?;
    Some(format!(
        "Up to {:.1} % of the database's reads were given by the page cache: this measures memory, not the storage.",
        100.0 * worst
    ))
}
