//! I/O: requests by what counts them, by purpose and by file.

use super::classes::{DATA_FILE, LOG_FILE};
use super::delta::MariadbDelta;
use super::files::{is_temporary, purpose, tablespace};
use super::snapshot::FileCounts;
use assay_live::{HostContext, OwnIo, mean_s, page_cache_share};
use assay_model::number::{rate, real};
use assay_model::profile::{
    Figure, FunctionIo, IoClass, IoPurpose, RateKind, ReadLevels, RelationIo, RequestRate,
    TieringCandidate,
};
use std::collections::BTreeMap;

/// Where I/O on files is counted.
const FILES: &str = "file_summary_by_event_name";

/// Pages that were read and written, and their doubles.
struct PageCounts {
    read: u64,
    written: u64,
    doubled: u64,
}

impl PageCounts {
    fn of(delta: &MariadbDelta<'_>) -> Self {
        let count = |name: &str| delta.status(name).unwrap_or(0);
        Self {
            read: count("INNODB_PAGES_READ"),
            written: count("INNODB_PAGES_WRITTEN"),
            doubled: count("INNODB_DBLWR_PAGES_WRITTEN"),
        }
    }
}

fn page_bytes(delta: &MariadbDelta<'_>) -> u64 {
    delta.after.settings.page_bytes
}

/// Requests and blocks.
pub(super) fn rates(delta: &MariadbDelta<'_>) -> Vec<RequestRate> {
    let pages = PageCounts::of(delta);
    let per_s = |count: u64, source: &str| Some(figure(count, delta, source));
    let mut rates = vec![RequestRate {
        kind: RateKind::Blocks,
        read_per_s: per_s(pages.read, "Innodb_pages_read"),
        write_per_s: per_s(
            pages.written + pages.doubled,
            "Innodb_pages_written and Innodb_dblwr_pages_written",
        ),
    }];
    if delta.instruments().files {
        let data = delta.file(DATA_FILE);
        rates.push(RequestRate {
            kind: RateKind::Database,
            read_per_s: per_s(data.reads, "file_summary_by_event_name: innodb_data_file, reads"),
            write_per_s: per_s(data.writes, "file_summary_by_event_name: innodb_data_file, writes"),
        });
    }
    rates
}

fn figure(count: u64, delta: &MariadbDelta<'_>, source: &str) -> Figure {
    Figure::new(rate(count, delta.elapsed_s), source)
}

/// Reads of the three levels.
pub(super) fn levels(delta: &MariadbDelta<'_>, host: &HostContext) -> ReadLevels {
    let (pages, page) = (PageCounts::of(delta), page_bytes(delta));
    let read_bytes = pages.read.saturating_mul(page);
    let device = host.device.as_ref().map(|device| &device.counters);
    let asked = delta.status("INNODB_BUFFER_POOL_READ_REQUESTS").unwrap_or(0);
    ReadLevels {
        logical_per_s: rate(asked, delta.elapsed_s),
        database_per_s: rate(pages.read, delta.elapsed_s),
        device_iops: device.map(|device| rate(device.read_ios, delta.elapsed_s)),
        device_bytes_per_s: device.map(|device| rate(device.read_bytes, delta.elapsed_s)),
        page_cache_share: page_cache_share(read_bytes, host, delta.elapsed_s),
    }
}

/// I/O by purpose, the sum of all first.
pub(super) fn classes(delta: &MariadbDelta<'_>, host: &HostContext) -> Vec<IoClass> {
    let mut classes = vec![whole(delta, host)];
    if delta.instruments().files {
        let data = delta.file(DATA_FILE);
        classes.push(reads(&data, delta));
        classes.push(writes(&data, delta));
        let temporary = delta.files().filter(|(event, _)| is_temporary(event));
        let temporary = temporary.fold(FileCounts::default(), |sum, (_, one)| sum.plus(&one));
        classes.push(both(&temporary, delta));
    } else {
        classes.extend(pages(delta));
    }
    classes.push(log(delta));
    let is_something =
        |class: &IoClass| class.rate_iops.as_ref().is_some_and(|rate| rate.value > 0.0);
    classes.into_iter().filter(is_something).map(IoClass::complete).collect()
}

/// What the server itself asks of storage.
fn whole(delta: &MariadbDelta<'_>, host: &HostContext) -> IoClass {
    let source = if delta.instruments().files { FILES } else { PAGES };
    assay_live::whole(own(delta), source, host, delta.elapsed_s)
}

/// Where files are not timed: pages are counted all the same.
const PAGES: &str = "Innodb_pages_read and written, Innodb_dblwr_writes, Innodb_log_writes";

/// Data, doublewrite buffer, temporary files and the log; of the log the engine's own counters,
/// because MariaDB from 10.8 on has no instrument for its file.
pub(super) fn own(delta: &MariadbDelta<'_>) -> OwnIo {
    let count = |name: &str| delta.status(name).unwrap_or(0);
    let (log_writes, log_bytes) = (count("INNODB_LOG_WRITES"), count("INNODB_OS_LOG_WRITTEN"));
    if delta.instruments().files {
        let others = delta.files().filter(|(event, _)| *event != LOG_FILE);
        let all = others.fold(FileCounts::default(), |sum, (_, counts)| sum.plus(&counts));
        return OwnIo {
            reads: all.reads,
            read_bytes: all.read_bytes,
            writes: all.writes + log_writes,
            write_bytes: all.write_bytes + log_bytes,
        };
    }
    let (pages, page) = (PageCounts::of(delta), page_bytes(delta));
    OwnIo {
        reads: pages.read,
        read_bytes: pages.read.saturating_mul(page),
        writes: pages.written + count("INNODB_DBLWR_WRITES") + log_writes,
        write_bytes: (pages.written + pages.doubled).saturating_mul(page) + log_bytes,
    }
}

fn class(
    purpose: IoPurpose,
    ios: u64,
    bytes: u64,
    read_share: f64,
    delta: &MariadbDelta<'_>,
    source: &str,
) -> IoClass {
    let mut class = IoClass::new(purpose);
    class.rate_iops = Some(figure(ios, delta, source));
    class.throughput_bytes_per_s = Some(figure(bytes, delta, source));
    class.read_share = Some(Figure::new(read_share, source));
    class
}

/// Reads of single pages; the time is what threads waited, the page cache included where it is
/// used.
fn reads(data: &FileCounts, delta: &MariadbDelta<'_>) -> IoClass {
    let source = "file_summary_by_event_name: innodb_data_file, reads";
    let purpose = IoPurpose::SingleBlockRead;
    let mut class = class(purpose, data.reads, data.read_bytes, 1.0, delta, source);
    class.latency_s = mean_s(data.read_time_s, data.reads).map(|mean| Figure::new(mean, source));
    class
}

/// Writes of data files have no time: threads of the background ask for them and do not wait.
fn writes(data: &FileCounts, delta: &MariadbDelta<'_>) -> IoClass {
    let source = "file_summary_by_event_name: innodb_data_file, writes";
    class(IoPurpose::DataFileWrite, data.writes, data.write_bytes, 0.0, delta, source)
}

fn both(row: &FileCounts, delta: &MariadbDelta<'_>) -> IoClass {
    let ios = row.reads + row.writes;
    let share = real(row.reads) / real(ios.max(1));
    let bytes = row.read_bytes + row.write_bytes;
    let source = "file_summary_by_event_name: temporary files";
    class(IoPurpose::Temporary, ios, bytes, share, delta, source)
}

/// Where nothing is timed, pages are still counted.
fn pages(delta: &MariadbDelta<'_>) -> [IoClass; 2] {
    let (pages, page) = (PageCounts::of(delta), page_bytes(delta));
    let written_bytes = (pages.written + pages.doubled).saturating_mul(page);
    let read_bytes = pages.read.saturating_mul(page);
    [
        class(IoPurpose::SingleBlockRead, pages.read, read_bytes, 1.0, delta, "Innodb_pages_read"),
        class(
            IoPurpose::DataFileWrite,
            pages.written,
            written_bytes,
            0.0,
            delta,
            "Innodb_pages_written, bytes with those of the doublewrite buffer",
        ),
    ]
}

fn log(delta: &MariadbDelta<'_>) -> IoClass {
    let count = |name: &str| delta.status(name).unwrap_or(0);
    let (ios, bytes) = (count("INNODB_LOG_WRITES"), count("INNODB_OS_LOG_WRITTEN"));
    let source = "Innodb_log_writes and Innodb_os_log_written";
    let mut class = class(IoPurpose::LogWrite, ios, bytes, 0.0, delta, source);
    class.latency_s = log_sync_s(delta)
        .map(|mean| Figure::new(mean, "file_summary_by_event_name: innodb_log_file, flushes"));
    class
}

/// Mean time of a flush of the log, seconds; nothing where the release does not time them.
pub(super) fn log_sync_s(delta: &MariadbDelta<'_>) -> Option<f64> {
    let log = delta.file(LOG_FILE);
    mean_s(log.other_time_s, log.others).filter(|_| delta.instruments().log)
}

/// I/O of all threads by what the files are for, most bytes first.
pub(super) fn functions(delta: &MariadbDelta<'_>) -> Vec<FunctionIo> {
    let mut sums: BTreeMap<(&str, &str), FileCounts> = BTreeMap::new();
    for (event, file, counts) in delta.instances() {
        let sum = sums.entry((purpose(event, file), event)).or_default();
        *sum = sum.plus(&counts);
    }
    let active = sums.iter().filter(|(_, counts)| !counts.is_idle());
    let mut functions: Vec<FunctionIo> =
        active.map(|((object, event), counts)| function(object, event, counts, delta)).collect();
    let bytes = |one: &FunctionIo| one.read_bytes_per_s + one.write_bytes_per_s;
    functions.sort_by(|left, right| bytes(right).total_cmp(&bytes(left)));
    functions
}

fn function(
    object: &str,
    event: &str,
    counts: &FileCounts,
    delta: &MariadbDelta<'_>,
) -> FunctionIo {
    // Of data files the engine only asks for writes.
    let is_waited = event != DATA_FILE;
    FunctionIo {
        process: "all threads".to_owned(),
        object: object.to_owned(),
        context: event.rsplit('/').next().unwrap_or(event).to_owned(),
        read_iops: rate(counts.reads, delta.elapsed_s),
        read_bytes_per_s: rate(counts.read_bytes, delta.elapsed_s),
        read_time_s: Some(counts.read_time_s),
        write_iops: rate(counts.writes, delta.elapsed_s),
        write_bytes_per_s: rate(counts.write_bytes, delta.elapsed_s),
        write_time_s: is_waited.then_some(counts.write_time_s),
        sync_iops: rate(counts.others, delta.elapsed_s),
        sync_time_s: Some(counts.other_time_s),
        ..FunctionIo::default()
    }
}

/// Tables that were read, each with the time that was waited for its file, most blocks first.
pub(super) fn relations(delta: &MariadbDelta<'_>) -> Vec<RelationIo> {
    let page = real(page_bytes(delta)).max(1.0);
    let one = |(event, file, counts): (&str, &str, FileCounts)| {
        let tablespace = tablespace(event, file).filter(|_| counts.reads > 0)?;
        Some(RelationIo {
            relation: tablespace.replace('/', "."),
            kind: "table and its indexes".to_owned(),
            read_blocks_per_s: real(counts.read_bytes) / page / delta.elapsed_s,
            hits_per_s: None,
            read_time_s: Some(counts.read_time_s),
            size_bytes: delta.after.sizes.get(&tablespace).copied(),
            tablespace,
        })
    };
    let mut relations: Vec<RelationIo> = delta.instances().filter_map(one).collect();
    relations.sort_by(|left, right| right.read_blocks_per_s.total_cmp(&left.read_blocks_per_s));
    relations
}

/// Candidates for faster storage: each table has a tablespace of its own, whose size the server
/// reports.
pub(super) fn tiering(delta: &MariadbDelta<'_>, relations: &[RelationIo]) -> Vec<TieringCandidate> {
    let mut candidates = assay_live::tiering(relations, delta.elapsed_s);
    for candidate in &mut candidates {
        candidate.capacity_bytes = delta.after.sizes.get(&candidate.tablespace).copied();
    }
    candidates
}
