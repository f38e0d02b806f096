//! What only a live server reports, as tables: events with their doubt, load, I/O by who did it and
//! on what, statements.

use super::facts::significant;
use crate::view::{CellLook, ViewTable};
use assay_model::number::real;
use assay_model::profile::{
    FunctionIo, LoadLine, ProcessIo, Profile, ReadLevels, ReadTimes, RelationIo, Sampling,
    ServerActivity, StatementIo, TablespaceIo, TimeSource, TimedEvent,
};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// Rows of each table; the document has all.
const ROWS_MAX: usize = 12;
/// Title of the table of rates.
pub(crate) const LOAD_TABLE: &str = "Load";
/// Letters of a statement that are shown.
const LETTERS_MAX: usize = 48;

/// All tables; none of a report.
pub(crate) fn tables(profile: &Profile) -> Vec<ViewTable> {
    let Some(server) = &profile.server else {
        return Vec::new();
    };
    let tables = [
        events(server),
        load(&server.load),
        levels(server.reads.as_ref(), server.process_io.as_ref()),
        read_times(&server.read_times),
        functions(&server.functions),
        tablespaces(&server.tablespaces),
        relations(&server.relations),
        statements(&server.statements),
        log(server),
        sampling(server.sampling.as_ref()),
    ];
    tables.into_iter().filter(|table| !table.is_empty()).collect()
}

fn time(time_s: f64) -> String {
    show_time_ns(time_s * 1e9)
}

fn optional(time_s: Option<f64>) -> String {
    time_s.map_or("–".to_owned(), time)
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn events(server: &ServerActivity) -> ViewTable {
    let table = ViewTable::new("Top timed events of sessions").look(CellLook::Dense).words("");
    let table = table.words("class").words("known").numbers("time");
    let mut rows = table.numbers("interval").numbers("DB time");
    rows.extend(server.events.iter().take(ROWS_MAX).map(event));
    rows
}

fn event(event: &TimedEvent) -> Vec<String> {
    let known = match event.known {
        TimeSource::Counted => "counted",
        TimeSource::Sampled => "sampled",
    };
    let (low, high) = (event.time_s.low, event.time_s.high);
    let interval =
        if low < high { format!("{} – {}", time(low), time(high)) } else { String::new() };
    vec![
        event.event.clone(),
        event.class.clone(),
        known.to_owned(),
        time(event.time_s.value),
        interval,
        event.db_time_share.map_or("–".to_owned(), percent),
    ]
}

fn load(lines: &[LoadLine]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(LOAD_TABLE, &["", "per second", "per transaction"]);
    rows.extend(lines.iter().map(|line| {
        let ratio = line.transaction_ratio.map_or("–".to_owned(), significant);
        vec![line.name.clone(), significant(line.amount_per_s), ratio]
    }));
    rows
}

fn levels(levels: Option<&ReadLevels>, process_io: Option<&ProcessIo>) -> ViewTable {
    let mut rows = ViewTable::of_numbers("Reads by level", &["", "per second"]);
    let Some(levels) = levels else {
        return rows;
    };
    rows.push(vec!["blocks requested".to_owned(), significant(levels.logical_per_s)]);
    rows.push(vec![
        "blocks not in the buffer cache".to_owned(),
        significant(levels.database_per_s),
    ]);
    let device = levels
        .device_iops
        .map(|iops| vec!["reads of the device, all programs".to_owned(), significant(iops)]);
    rows.extend(device);
    let cached = levels.page_cache_share.map(|share| {
        vec!["of the blocks read, not read from storage, at least".to_owned(), percent(share)]
    });
    rows.extend(cached);
    let moved = process_io.into_iter().flat_map(|io| {
        let row =
            |name: &str, bytes_per_s: f64| vec![name.to_owned(), show_throughput(bytes_per_s)];
        let written = if io.storage_write_bytes_per_s().is_some() {
            "bytes written to storage by the server's control group"
        } else {
            "bytes that the server's processes dirtied in the page cache or wrote directly"
        };
        [
            row("bytes read from storage by the server's processes", io.read_bytes_per_s),
            row(written, io.write_bytes_per_s),
        ]
    });
    rows.extend(moved);
    rows
}

/// Times of reads by who saw them, each labelled by what it is.
fn read_times(times: &[ReadTimes]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Single-block read latency",
        &["", "of", "reads", "p50", "p95", "p99", "p99.9", "longest"],
    );
    rows.extend(times.iter().map(|one| {
        let at = |quantile: f64| show_time_ns(real(one.service.quantile_ns(quantile)));
        vec![
            one.seen_by.name().to_owned(),
            one.subject.clone(),
            show_count(real(one.service.ios())),
            at(0.5),
            at(0.95),
            at(0.99),
            at(0.999),
            at(1.0),
        ]
    }));
    rows
}

fn functions(functions: &[FunctionIo]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "I/O by process, object and context",
        &["", "reads/s", "read", "waited", "writes/s", "written", "waited", "syncs/s"],
    );
    rows.extend(functions.iter().take(ROWS_MAX).map(|one| {
        vec![
            format!("{}, {}, {}", one.process, one.object, one.context),
            significant(one.read_iops),
            show_throughput(one.read_bytes_per_s),
            optional(one.read_time_s),
            significant(one.write_iops + one.extend_iops),
            show_throughput(one.write_bytes_per_s),
            optional(one.write_time_s),
            significant(one.sync_iops),
        ]
    }));
    rows
}

fn relations(relations: &[RelationIo]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Tables and indexes",
        &["", "kind", "tablespace", "blocks read/s", "waited, est.", "found/s", "size"],
    );
    rows.extend(relations.iter().take(ROWS_MAX).map(|one| {
        let mut row = vec![one.relation.clone(), one.kind.clone(), one.tablespace.clone()];
        row.extend([significant(one.read_blocks_per_s), optional(one.read_time_s)]);
        row.extend(found(one.hits_per_s, one.size_bytes));
        row
    }));
    rows
}

fn tablespaces(tablespaces: &[TablespaceIo]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Tablespaces",
        &["", "blocks read/s", "waited, est.", "found/s", "size"],
    );
    rows.extend(tablespaces.iter().take(ROWS_MAX).map(|one| {
        let mut row = vec![one.tablespace.clone(), significant(one.read_blocks_per_s)];
        row.push(optional(one.read_time_s));
        row.extend(found(one.hits_per_s, one.size_bytes));
        row
    }));
    rows
}

/// Blocks that were found in the cache, and the size; where they are known.
fn found(hits_per_s: Option<f64>, size_bytes: Option<u64>) -> [String; 2] {
    let unknown = || "–".to_owned();
    let size = size_bytes.map_or_else(unknown, |bytes| show_bytes(real(bytes)));
    [hits_per_s.map_or_else(unknown, significant), size]
}

fn statements(statements: &[StatementIo]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Statements by time waited for I/O",
        &["", "calls", "time", "for I/O", "blocks read", "dirtied", "WAL"],
    );
    rows.extend(statements.iter().take(ROWS_MAX).map(|one| {
        let letters: String = one.text.chars().take(LETTERS_MAX).collect();
        vec![
            letters,
            show_count(real(one.calls)),
            time(one.elapsed_s),
            optional(one.io_time_s),
            show_count(real(one.read_blocks)),
            show_count(real(one.dirtied_blocks)),
            show_bytes(real(one.wal_bytes)),
        ]
    }));
    rows
}

fn log(server: &ServerActivity) -> ViewTable {
    let mut rows = ViewTable::of_numbers("Write-ahead log and checkpoints", &["", "number"]);
    let mut add = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    if let Some(wal) = &server.wal {
        add("records", show_count(real(wal.records)));
        add("of these, full pages", show_count(real(wal.full_pages)));
        add("written", show_bytes(real(wal.bytes)));
        add("buffers were full", show_count(real(wal.full_buffers)));
    }
    if let Some(one) = &server.checkpoints {
        add("checkpoints, timed and requested", format!("{} and {}", one.timed, one.requested));
        add("blocks written by them", show_count(real(one.written_blocks)));
        add(
            "time in writing and flushing",
            format!("{} and {}", time(one.write_time_s), time(one.sync_time_s)),
        );
    }
    rows
}

fn sampling(sampling: Option<&Sampling>) -> ViewTable {
    let mut rows = ViewTable::of_numbers("Sampling", &["", "number"]);
    if let Some(one) = sampling {
        let mut add = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
        add(
            "samples of the sessions",
            format!("{}, {} late, {} apart", one.samples, one.late_samples, time(one.period_s)),
        );
        add("time of this program's sessions, left out", time(one.own_time_s));
        add("CPU time of watching", optional(one.own_cpu_s));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;

    #[test]
    fn dirtied_pages_are_not_called_bytes_to_storage() {
        let rows = |source: &str| {
            let io = ProcessIo { source: source.to_owned(), ..ProcessIo::default() };
            let table = levels(Some(&ReadLevels::default()), Some(&io));
            format!("{table:?}")
        };
        let of_processes = rows("/proc/PID/io of the server's processes");
        assert!(of_processes.contains("dirtied in the page cache"), "{of_processes}");
        assert!(!of_processes.contains("written to storage"), "{of_processes}");
        assert!(rows("io.stat of the server's control group").contains("written to storage"));
    }

    #[test]
    fn a_time_shows_its_interval_and_what_was_counted_exactly_none() {
        let one = |known, seen, low, high| TimedEvent {
            event: "IO:DataFileRead".to_owned(),
            class: "User I/O".to_owned(),
            known,
            time_s: Estimate { value: 2.0, low, high, confidence: 0.95, n: 9 },
            db_time_share: Some(0.25),
            waits: None,
            seen,
        };
        let sampled = event(&one(TimeSource::Sampled, Some(40), 1.0, 3.0));
        assert_eq!(sampled[2..], ["sampled", "2.00 s", "1.00 s – 3.00 s", "25.0%"]);
        let counted = |low, high| event(&one(TimeSource::Counted, None, low, high))[4].clone();
        assert_eq!(counted(2.0, 2.0), "");
        // Whole milliseconds of each wait.
        assert_eq!(counted(2.0, 2.5), "2.00 s – 2.50 s");
        assert_eq!(optional(None), "–");
    }
}
