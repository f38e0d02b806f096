//! One line a report: the columns of the papers' scripts, then those of the SLOB kit.

use crate::derive::events_of;
use crate::quantity::OracleQuantity;
use crate::report::{OracleReport, ReportEvent};
use assay_model::profile::{
    Bottleneck, ByteRate, Figure, IoPurpose, Profile, RateKind, RequestRate, TimeVerdict,
};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name, as a key.
    pub name: &'static str,
    /// The unit of its numbers; empty for text.
    pub unit: &'static str,
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableCell {
    /// Not in the report.
    Absent,
    /// A number in the column's unit.
    Number(f64),
    /// Text of the report: never to be printed into a page unescaped.
    Text(String),
}

const fn column(name: &'static str, unit: &'static str) -> TableColumn {
    TableColumn { name, unit }
}

/// The columns of a row, in order. Requests are requests, blocks are blocks: the scripts mix them.
pub const COLUMNS: &[TableColumn] = &[
    column("file", ""),
    column("database", ""),
    column("bound_by", ""),
    column("total_iops", "1/s"),
    column("read_iops", "1/s"),
    column("read_latency", "ms"),
    column("write_iops", "1/s"),
    column("redo", "MiB/s"),
    column("sessions", ""),
    column("elapsed", "s"),
    column("db_cpu", "s/s"),
    column("db_time", "s/s"),
    column("executes", "1/s"),
    column("logical_reads", "blocks/s"),
    column("physical_reads", "blocks/s"),
    column("read_throughput", "MiB/s"),
    column("physical_writes", "blocks/s"),
    column("write_throughput", "MiB/s"),
    column("db_file_sequential_read", "us"),
    column("direct_path_read", "us"),
    column("db_file_parallel_read", "us"),
    column("db_file_parallel_write", "us"),
    column("log_file_parallel_write", "us"),
    column("top_wait", ""),
    column("user_io", "%"),
    column("commit", "%"),
    column("cpu", "%"),
    column("contention", "%"),
    column("other_waits", "%"),
    column("speedup_limit", "x"),
];

const MEBIBYTE: f64 = 1_048_576.0;

/// The row of one report, a cell for each of [`COLUMNS`].
pub fn table_row(file: &str, report: &OracleReport, profile: &Profile) -> Vec<TableCell> {
    let mut row = vec![TableCell::Text(file.to_owned()), TableCell::Text(profile.name.clone())];
    row.push(TableCell::Text(bound_by(profile.verdict.bottleneck).to_owned()));
    row.extend(papers(report, profile));
    row.extend(kit(report, profile));
    row.extend(latencies(report));
    let top = profile.report.as_ref().and_then(|activity| activity.top_wait());
    row.push(top.map_or(TableCell::Absent, |event| TableCell::Text(event.event.clone())));
    row.extend(shares(&profile.verdict));
    row
}

/// The verdict in a word.
const fn bound_by(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::Storage => "storage",
        Bottleneck::Cpu => "cpu",
        Bottleneck::Commit => "commit",
        Bottleneck::Contention => "contention",
        Bottleneck::Other => "other",
        Bottleneck::Idle => "idle",
        Bottleneck::Mixed => "mixed",
        Bottleneck::Unknown => "inconclusive",
    }
}

/// Shares of DB time, and how many times as fast reads without latency would make the database at
/// most.
fn shares(verdict: &TimeVerdict) -> [TableCell; 6] {
    let behind = verdict.write_behind_share.unwrap_or(0.0);
    let user_io = verdict.user_io_share.map(|share| share + behind);
    [
        number(user_io, 100.0),
        number(verdict.commit_share, 100.0),
        number(verdict.cpu_share, 100.0),
        number(verdict.contention_share, 100.0),
        number(verdict.other_share, 100.0),
        number(verdict.speedup_limit, 1.0),
    ]
}

/// The first line of the table of `rac_stats.sh` (EMC 2014, figure 26).
pub const RAC_STATS_HEADER: &str = "FILE|Total IO|Reads|Read Latency|Writes|Redo MB/s|";

/// The line of that table: requests read and blocks written per second, cut to whole numbers before
/// they are added, and the mean of `db file sequential read`. What the report does not print stays
/// blank, and is not added.
pub fn rac_stats_line(file: &str, report: &OracleReport) -> String {
    let counter = |name: &str| {
        let row = report.statistic(name)?;
        row.per_second.or_else(|| report.rate(name)).map(|rate| rate.value)
    };
    let reads = counter("physical read IO requests").map(f64::floor);
    let writes = counter("physical writes").map(f64::floor);
    let redo = counter("redo size").map(|redo| (redo / MEBIBYTE).floor());
    let events = events_of(report, &["db file sequential read"]);
    let read_ms = events.iter().find_map(|event| event.mean_s()).map(|mean_s| mean_s * 1e3);
    let whole = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.0}"));
    let total = reads.zip(writes).map(|(reads, writes)| reads + writes);
    let latency = read_ms.map_or_else(String::new, |mean_ms| format!("{mean_ms:.2}"));
    let (reads, writes) = (whole(reads), whole(writes));
    format!("{file}|{}|{reads}|{latency}|{writes}|{}|", whole(total), whole(redo))
}

/// Requests that reach the storage, as its bytes do, and the latency of reads. Reports without
/// requests count blocks; those are in columns of their own and never stand in for requests.
fn papers(report: &OracleReport, profile: &Profile) -> [TableCell; 5] {
    let rate = counted(profile);
    let reads = rate.and_then(|rate| rate.read_per_s.as_ref()).map(value);
    let writes = rate.and_then(|rate| rate.write_per_s.as_ref()).map(value);
    let class = |purpose| profile.class(purpose).and_then(|class| class.latency_s.as_ref());
    let latency = class(IoPurpose::SingleBlockRead).or_else(|| class(IoPurpose::All));
    let redo = report.rate("redo size").map(|rate| rate.value);
    let redo = redo.or_else(|| profile.redo.redo_bytes_per_s.as_ref().map(value));
    [
        number(reads.zip(writes).map(|(reads, writes)| reads + writes), 1.0),
        number(reads, 1.0),
        number(latency.map(value), 1e3),
        number(writes, 1.0),
        number(redo, 1.0 / MEBIBYTE),
    ]
}

/// The widest way of counting requests that the report has.
fn counted(profile: &Profile) -> Option<&RequestRate> {
    let kinds = [RateKind::Total, RateKind::FileType, RateKind::Database, RateKind::Tablespace];
    kinds.into_iter().find_map(|kind| profile.rate(kind))
}

fn kit(report: &OracleReport, profile: &Profile) -> [TableCell; 10] {
    let elapsed = profile.elapsed_s.as_ref().map(value);
    let per_second = |figure: Option<&Figure>| {
        figure
            .zip(elapsed)
            .filter(|(_, elapsed)| *elapsed > 0.0)
            .map(|(figure, elapsed)| figure.value / elapsed)
    };
    let load = |names: &[&str]| report.load(names).and_then(|row| row.per_second).map(of);
    // Bytes are those of the same requests as the rates.
    let of_database = counted(profile).is_some_and(|rate| rate.kind == RateKind::Database);
    let kind = if of_database { RateKind::Database } else { RateKind::Total };
    let rates =
        profile.report.as_ref().map(|activity| activity.bytes.as_slice()).unwrap_or_default();
    let rate = rates.iter().find(|rate| rate.kind == kind);
    let bytes =
        |of: fn(&ByteRate) -> &Option<Figure>| rate.and_then(|rate| of(rate).as_ref().map(value));
    [
        number(report.header.begin.sessions.map(of), 1.0),
        number(elapsed, 1.0),
        number(per_second(profile.time.db_cpu_s.as_ref()), 1.0),
        number(per_second(profile.time.db_time_s.as_ref()), 1.0),
        number(load(&["Executes", "Executes (SQL)"]), 1.0),
        number(load(&["Logical reads", "Logical read (blocks)"]), 1.0),
        number(load(&["Physical reads", "Physical read (blocks)"]), 1.0),
        number(bytes(|rate| &rate.read_bytes_per_s), 1.0 / MEBIBYTE),
        number(load(&["Physical writes", "Physical write (blocks)"]), 1.0),
        number(bytes(|rate| &rate.write_bytes_per_s), 1.0 / MEBIBYTE),
    ]
}

fn latencies(report: &OracleReport) -> [TableCell; 5] {
    let names = [
        "db file sequential read",
        "direct path read",
        "db file parallel read",
        "db file parallel write",
        "log file parallel write",
    ];
    names.map(|name| {
        let events = events_of(report, &[name]);
        let most = events.iter().max_by(|left, right| waits(left).total_cmp(&waits(right)));
        number(most.and_then(|event| event.mean_s()), 1e6)
    })
}

fn waits(event: &ReportEvent) -> f64 {
    event.waits.map_or(0.0, of)
}

fn value(figure: &Figure) -> f64 {
    figure.value
}

fn of(quantity: OracleQuantity) -> f64 {
    quantity.value
}

fn number(value: Option<f64>, factor: f64) -> TableCell {
    value.map_or(TableCell::Absent, |value| TableCell::Number(value * factor))
}
