//! I/O by the server's own counters: requests by what counts them, by purpose, by process and on
//! what.

use super::delta::PostgresDelta;
use super::redo::log_rows;
use super::snapshot::{IoKey, IoRow};
use assay_live::{HostContext, OwnIo, mean_s, page_cache_share};
use assay_model::number::{rate, real};
use assay_model::profile::{
    Figure, FunctionIo, IoClass, IoPurpose, RateKind, ReadLevels, RelationIo, RequestRate,
};
use std::collections::BTreeMap;

/// Where counts of blocks come from in this version.
fn blocks_source(delta: &PostgresDelta<'_>) -> &'static str {
    if delta.after.version.has_io() { "pg_stat_io" } else { "pg_stat_database" }
}

/// I/O on data, all processes.
fn data(delta: &PostgresDelta<'_>) -> IoRow {
    if let Some(io) = delta.io() {
        let rows = io.iter().filter(|(key, _)| key.object != "wal");
        return rows.fold(IoRow::default(), |sum, (_, row)| sum.plus(row));
    }
    let block = delta.after.settings.block_bytes;
    let reads = delta.sum(|database| database.blocks_read);
    let writes = written_blocks(delta);
    IoRow {
        reads,
        read_bytes: reads * block,
        read_time_s: delta.time_s(|database| database.read_time_s),
        writes,
        write_bytes: writes * block,
        write_time_s: delta.time_s(|database| database.write_time_s),
        hits: delta.sum(|database| database.blocks_hit),
        ..IoRow::default()
    }
}

/// Before 16: blocks written by checkpointer, background writer and sessions.
fn written_blocks(delta: &PostgresDelta<'_>) -> u64 {
    let pair = delta.before.background.as_ref().zip(delta.after.background.as_ref());
    pair.map_or(0, |(before, after)| {
        let count = |later: u64, earlier: u64| later.saturating_sub(earlier);
        count(after.checkpoint_blocks, before.checkpoint_blocks)
            + count(after.cleaned_blocks, before.cleaned_blocks)
            + count(after.session_blocks.unwrap_or(0), before.session_blocks.unwrap_or(0))
    })
}

/// Temporary files are written and read again in long runs: the kernel moves them in pieces of this
/// size.
const TEMPORARY_BYTES: u64 = 131_072;

/// Writes of temporary files of sorts and hashes, which `pg_stat_io` does not hold; they are
/// counted when they are closed, and only by their bytes.
fn temporary_files(delta: &PostgresDelta<'_>) -> IoRow {
    let write_bytes = delta.sum(|database| database.temporary_bytes);
    IoRow { writes: write_bytes.div_ceil(TEMPORARY_BYTES), write_bytes, ..IoRow::default() }
}

/// Data, temporary files and the log of all processes.
pub(super) fn own(delta: &PostgresDelta<'_>) -> OwnIo {
    let row = data(delta).plus(&temporary_files(delta));
    let log = log_rows(delta, false);
    let log_bytes = delta.log().map_or(log.write_bytes, |log| log.bytes);
    OwnIo {
        reads: row.reads,
        read_bytes: row.read_bytes,
        writes: row.writes + row.extends + log.writes,
        write_bytes: row.write_bytes + row.extend_bytes + log_bytes,
    }
}

/// Requests and blocks.
pub(super) fn rates(delta: &PostgresDelta<'_>) -> Vec<RequestRate> {
    let row = data(delta);
    let source = blocks_source(delta);
    let block = real(delta.after.settings.block_bytes).max(1.0);
    let per_s = |amount: f64, what: &str| Some(Figure::new(amount / delta.elapsed_s, what));
    let mut rates = vec![RequestRate {
        kind: RateKind::Blocks,
        read_per_s: per_s(real(row.read_bytes) / block, source),
        write_per_s: per_s(real(row.write_bytes + row.extend_bytes) / block, source),
    }];
    if delta.after.version.counts_requests() {
        rates.push(RequestRate {
            kind: RateKind::Database,
            read_per_s: per_s(real(row.reads), "pg_stat_io: reads"),
            write_per_s: per_s(real(row.writes + row.extends), "pg_stat_io: writes and extends"),
        });
    }
    rates
}

/// Reads of the three levels.
pub(super) fn levels(delta: &PostgresDelta<'_>, host: &HostContext) -> ReadLevels {
    let row = data(delta);
    let block = real(delta.after.settings.block_bytes).max(1.0);
    let blocks = real(row.read_bytes) / block;
    let device = host.device.as_ref().map(|device| &device.counters);
    ReadLevels {
        logical_per_s: (real(row.hits) + blocks) / delta.elapsed_s,
        database_per_s: blocks / delta.elapsed_s,
        device_iops: device.map(|device| rate(device.read_ios, delta.elapsed_s)),
        device_bytes_per_s: device.map(|device| rate(device.read_bytes, delta.elapsed_s)),
        page_cache_share: page_cache_share(row.read_bytes, host, delta.elapsed_s),
    }
}

/// I/O by purpose, the sum of all first.
pub(super) fn classes(delta: &PostgresDelta<'_>, host: &HostContext) -> Vec<IoClass> {
    let timed = delta.is_io_timed();
    let io = delta.io();
    let of = |meant: &dyn Fn(&IoKey) -> bool| sum_of(io.as_ref(), meant);
    let source = blocks_source(delta);
    let mut classes = vec![whole(delta, host)];
    if io.is_some() {
        let normal = of(&|key| key.object == "relation" && key.context == "normal");
        let bulk = of(&|key| key.object == "relation" && key.context != "normal");
        classes.push(reads(
            IoPurpose::SingleBlockRead,
            &normal,
            delta,
            timed,
            "pg_stat_io: relation, normal",
        ));
        classes.push(reads(
            IoPurpose::MultiBlockRead,
            &bulk,
            delta,
            timed,
            "pg_stat_io: relation, bulkread, vacuum and others",
        ));
        let dirty = of(&|key| key.object == "relation");
        classes.push(writes(IoPurpose::DataFileWrite, &dirty, delta, timed));
    } else {
        let all = data(delta);
        classes.push(reads(IoPurpose::SingleBlockRead, &all, delta, timed, source));
        classes.push(writes(IoPurpose::DataFileWrite, &all, delta, false));
    }
    let tables = of(&|key| key.object == "temp relation");
    let temporary = tables.plus(&temporary_files(delta));
    let source = "pg_stat_io: temp relation; pg_stat_database: temp_bytes, in blocks of 128 KiB";
    classes.push(both(IoPurpose::Temporary, &temporary, delta, source));
    let log = log_rows(delta, false);
    let mut class = IoClass::new(IoPurpose::LogWrite);
    class.rate_iops = Some(figure_per_s(log.writes, delta, "writes of the log"));
    class.throughput_bytes_per_s =
        delta.log().map(|log| figure_per_s(log.bytes, delta, "pg_stat_wal: wal_bytes"));
    class.read_share = Some(Figure::new(0.0, "the log is only written"));
    class.latency_s = mean_s(log.sync_time_s, log.syncs)
        .filter(|_| delta.is_log_timed())
        .map(|mean| Figure::new(mean, "time of a flush of the log"));
    classes.push(class);
    let is_something =
        |class: &IoClass| class.rate_iops.as_ref().is_some_and(|rate| rate.value > 0.0);
    classes.into_iter().filter(is_something).map(IoClass::complete).collect()
}

fn sum_of(io: Option<&BTreeMap<&IoKey, IoRow>>, meant: &dyn Fn(&IoKey) -> bool) -> IoRow {
    let rows = io.into_iter().flatten().filter(|(key, _)| meant(key));
    rows.fold(IoRow::default(), |sum, (_, row)| sum.plus(row))
}

fn figure_per_s(count: u64, delta: &PostgresDelta<'_>, source: &str) -> Figure {
    Figure::new(rate(count, delta.elapsed_s), source)
}

/// What the server itself asks of storage; the page cache answers some of its reads.
fn whole(delta: &PostgresDelta<'_>, host: &HostContext) -> IoClass {
    let source = format!("{}, pg_stat_wal and temp_bytes", blocks_source(delta));
    assay_live::whole(own(delta), &source, host, delta.elapsed_s)
}

/// A class of reads; its time is what sessions waited, the page cache and other I/O in flight
/// included.
fn reads(
    purpose: IoPurpose,
    row: &IoRow,
    delta: &PostgresDelta<'_>,
    timed: bool,
    source: &str,
) -> IoClass {
    let mut class = IoClass::new(purpose);
    class.rate_iops = Some(figure_per_s(row.reads, delta, source));
    class.throughput_bytes_per_s = Some(figure_per_s(row.read_bytes, delta, source));
    class.read_share = Some(Figure::new(1.0, source));
    class.latency_s = mean_s(row.read_time_s, row.reads)
        .filter(|_| timed)
        .map(|mean| Figure::new(mean, format!("{source}: read wait, not the time of a device")));
    class
}

fn writes(purpose: IoPurpose, row: &IoRow, delta: &PostgresDelta<'_>, timed: bool) -> IoClass {
    let source = if delta.after.version.has_io() {
        "pg_stat_io: relation, writes and extends"
    } else {
        "pg_stat_bgwriter: blocks of checkpoints, background writer and sessions"
    };
    let mut class = IoClass::new(purpose);
    class.rate_iops = Some(figure_per_s(row.writes + row.extends, delta, source));
    class.throughput_bytes_per_s =
        Some(figure_per_s(row.write_bytes + row.extend_bytes, delta, source));
    class.read_share = Some(Figure::new(0.0, source));
    class.latency_s = mean_s(row.write_time_s + row.extend_time_s, row.writes + row.extends)
        .filter(|_| timed)
        .map(|mean| {
            Figure::new(mean, "pg_stat_io: time to hand a write to the kernel, which writes later")
        });
    class
}

fn both(purpose: IoPurpose, row: &IoRow, delta: &PostgresDelta<'_>, source: &str) -> IoClass {
    let ios = row.reads + row.writes + row.extends;
    let mut class = IoClass::new(purpose);
    class.rate_iops = Some(figure_per_s(ios, delta, source));
    let bytes = row.read_bytes + row.write_bytes + row.extend_bytes;
    class.throughput_bytes_per_s = Some(figure_per_s(bytes, delta, source));
    class.read_share = (ios > 0).then(|| Figure::new(real(row.reads) / real(ios), source));
    class
}

/// I/O by process, object and context, most bytes first.
pub(super) fn functions(delta: &PostgresDelta<'_>) -> Vec<FunctionIo> {
    let io = delta.io().unwrap_or_default();
    let mut functions: Vec<FunctionIo> = io
        .iter()
        .filter(|(_, row)| !row.is_idle())
        .map(|(key, row)| function(key, row, delta))
        .collect();
    let bytes = |one: &FunctionIo| one.read_bytes_per_s + one.write_bytes_per_s;
    functions.sort_by(|left, right| bytes(right).total_cmp(&bytes(left)));
    functions
}

fn function(key: &IoKey, row: &IoRow, delta: &PostgresDelta<'_>) -> FunctionIo {
    let timed = if key.object == "wal" { delta.is_log_timed() } else { delta.is_io_timed() };
    let time = |time_s: f64| timed.then_some(time_s);
    FunctionIo {
        process: key.process.clone(),
        object: key.object.clone(),
        context: key.context.clone(),
        read_iops: rate(row.reads, delta.elapsed_s),
        read_bytes_per_s: rate(row.read_bytes, delta.elapsed_s),
        read_time_s: time(row.read_time_s),
        write_iops: rate(row.writes, delta.elapsed_s),
        write_bytes_per_s: rate(row.write_bytes + row.extend_bytes, delta.elapsed_s),
        write_time_s: time(row.write_time_s),
        extend_iops: rate(row.extends, delta.elapsed_s),
        extend_time_s: time(row.extend_time_s),
        sync_iops: rate(row.syncs, delta.elapsed_s),
        sync_time_s: time(row.sync_time_s),
        hits_per_s: Some(rate(row.hits, delta.elapsed_s)),
    }
}

/// Mean time waited for a block, seconds; the server times reads only all together.
fn block_time_s(delta: &PostgresDelta<'_>) -> Option<f64> {
    let row = data(delta);
    let block = real(delta.after.settings.block_bytes).max(1.0);
    let blocks = real(row.read_bytes) / block;
    (delta.is_io_timed() && blocks > 0.0).then(|| row.read_time_s / blocks)
}

/// Tables and indexes that were read, most blocks first.
pub(super) fn relations(delta: &PostgresDelta<'_>) -> Vec<RelationIo> {
    let mean_s = block_time_s(delta);
    let mut relations: Vec<RelationIo> = delta
        .after
        .relations
        .iter()
        .filter_map(|(id, after)| {
            let before = delta.before.relations.get(id);
            let read = after.blocks_read.saturating_sub(before.map_or(0, |one| one.blocks_read));
            let hit = after.blocks_hit.saturating_sub(before.map_or(0, |one| one.blocks_hit));
            (read + hit > 0).then(|| RelationIo {
                relation: after.name.clone(),
                kind: after.kind.clone(),
                tablespace: after.tablespace.clone(),
                read_blocks_per_s: rate(read, delta.elapsed_s),
                hits_per_s: Some(rate(hit, delta.elapsed_s)),
                read_time_s: mean_s.map(|mean_s| real(read) * mean_s),
                size_bytes: after.size_bytes,
            })
        })
        .collect();
    relations.sort_by(|left, right| {
        let key = |one: &RelationIo| (one.read_blocks_per_s, one.hits_per_s);
        key(right).partial_cmp(&key(left)).unwrap_or(std::cmp::Ordering::Equal)
    });
    relations
}
