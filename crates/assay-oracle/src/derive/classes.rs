//! I/O by purpose: rates and sizes from counters, times from waits.

use super::events::events_of;
use super::figures::{elapsed_s, named};
use super::{curves, rates};
use crate::knowledge::{self, SINGLE_BLOCK};
use crate::quantity::OracleQuantity;
use crate::report::{IoStat, OracleReport, stands_for};
use crate::section::OracleSection;
use assay_model::profile::{Figure, IoClass, IoPurpose, RateKind};

/// A multi-block read moves no more than this; a larger estimate counts reads that nobody waited
/// for.
const MULTI_BLOCK_BYTES_MAX: f64 = 1_048_576.0;

/// All classes of which something is known, the sum of all first.
pub(super) fn all(report: &OracleReport) -> Vec<IoClass> {
    let parts = [
        single_block(report),
        multi_block(report),
        by_function(
            report,
            IoPurpose::DirectRead,
            &["Direct Reads", "Smart Scan"],
            knowledge::DIRECT_READ,
        ),
        by_function(report, IoPurpose::DirectWrite, &["Direct Writes"], knowledge::DIRECT_WRITE),
        by_function(report, IoPurpose::DataFileWrite, &["DBWR"], knowledge::DATA_FILE_WRITE),
        log_write(report),
        temporary(report),
        by_function(report, IoPurpose::Backup, &["RMAN", "ARCH"], &[]),
    ];
    let parts: Vec<IoClass> =
        parts.into_iter().filter(IoClass::is_known).map(IoClass::complete).collect();
    let whole = Some(whole(report, &parts)).filter(IoClass::is_known);
    whole.map(IoClass::complete).into_iter().chain(parts).collect()
}

/// Everything that reaches the storage; where only blocks and tablespaces are printed, what they
/// say.
fn whole(report: &OracleReport, parts: &[IoClass]) -> IoClass {
    let mut class = IoClass::new(IoPurpose::All);
    let rates = rates::all(report);
    let kinds = [RateKind::Total, RateKind::FileType, RateKind::Database, RateKind::Tablespace];
    let rate = kinds.iter().find_map(|kind| {
        let rate = rates.iter().find(|rate| rate.kind == *kind)?;
        rate.read_per_s.clone().zip(rate.write_per_s.clone())
    });
    if let Some((reads, writes)) = rate {
        let sum = reads.value + writes.value;
        let source = format!("{} + {}", reads.source, writes.source);
        class.read_share = (sum > 0.0).then(|| Figure::new(reads.value / sum, source.clone()));
        class.rate_iops = Some(Figure::new(sum, source));
    }
    class.throughput_bytes_per_s = throughput(report);
    timed(report, parts, &mut class);
    class
}

/// The whole has no time of its own: it is the sum over the parts that have one. Where less than
/// half of all I/Os have a time, only what is outstanding is given, as a lower bound.
fn timed(report: &OracleReport, parts: &[IoClass], class: &mut IoClass) {
    // The table by function counts temporary files among direct I/O.
    let direct =
        |part: &IoClass| matches!(part.purpose, IoPurpose::DirectRead | IoPurpose::DirectWrite);
    let counted = parts.iter().any(|part| direct(part) && part.throughput_bytes_per_s.is_some());
    let known = parts.iter().filter_map(|part| {
        let again = counted && part.purpose == IoPurpose::Temporary;
        let iops = if again { 0.0 } else { part.rate_iops.as_ref()?.value };
        Some((iops, part.latency_s.as_ref()?.value, part.queue_depth.as_ref()?.value))
    });
    let known: Vec<(f64, f64, f64)> = known.collect();
    if known.is_empty() {
        class.latency_s = read_latency(report);
        let reads = class.read_share.as_ref().zip(class.rate_iops.as_ref());
        let reads = reads.map(|(share, rate)| share.value * rate.value);
        class.queue_depth = reads.zip(class.latency_s.as_ref()).map(|(reads, latency)| {
            Figure::new(reads * latency.value, format!("reads/s x ({})", latency.source))
        });
        return;
    }
    let iops: f64 = known.iter().map(|part| part.0).sum();
    let queue_depth: f64 = known.iter().map(|part| part.2).sum();
    let whole = class.rate_iops.as_ref().map_or(iops, |rate| rate.value);
    let source = format!(
        "sum over the {} classes that have times: {iops:.1} of {whole:.1} IOPS",
        known.len()
    );
    class.latency_s = (iops >= 0.5 * whole && iops > 0.0)
        .then(|| Figure::new(queue_depth / iops, source.clone()));
    class.queue_depth = Some(Figure::new(queue_depth, source));
}

/// Bytes per second: counters, else blocks times block size.
fn throughput(report: &OracleReport) -> Option<Figure> {
    let reads = report.rate("physical read total bytes");
    let counters = reads.zip(report.rate("physical write total bytes"));
    if let Some((reads, writes)) = counters {
        let source = format!("{}: physical read and write total bytes", reads.place());
        return Some(Figure::new(reads.value + writes.value, source));
    }
    let block = rates::block(report)?;
    let rates = rates::all(report);
    let blocks = rates.iter().find(|rate| rate.kind == RateKind::Blocks)?;
    let (reads, writes) = blocks.read_per_s.as_ref().zip(blocks.write_per_s.as_ref())?;
    let source = format!("({} + {}) x block of {}", reads.source, writes.source, block.source);
    Some(Figure::new((reads.value + writes.value) * block.value, source))
}

/// Mean read time: over tablespaces weighted by their reads, else of single-block reads. Writes
/// have no time of their own in a report that a session would have waited for.
fn read_latency(report: &OracleReport) -> Option<Figure> {
    let rows = report
        .tablespaces
        .iter()
        .filter_map(|row| Some((rates::reads_per_s(report, row)?, row.read_time?)));
    let rows: Vec<(f64, OracleQuantity)> = rows.collect();
    let reads: f64 = rows.iter().map(|(rate, _)| rate).sum();
    let is_flagged = report.flags.iter().any(|flag| flag.section == OracleSection::Tablespaces);
    if reads > 0.0 && !is_flagged && !report.has_unread(OracleSection::Tablespaces) {
        let waited: f64 = rows.iter().map(|(rate, time)| rate * time.value).sum();
        return Some(Figure::new(
            waited / reads,
            "Tablespace IO Stats: read time weighted by reads",
        ));
    }
    waits(report, SINGLE_BLOCK).and_then(|(_, latency)| latency)
}

/// Waits per second of these events and their mean time.
fn waits(report: &OracleReport, names: &[&str]) -> Option<(Figure, Option<Figure>)> {
    let events = events_of(report, names);
    let elapsed_s = elapsed_s(report)?;
    let lists = [
        OracleSection::ForegroundEvents,
        OracleSection::BackgroundEvents,
        OracleSection::AllEvents,
    ];
    let is_unread = lists.into_iter().any(|list| report.has_unread(list));
    if is_unread && events.iter().any(|event| event.waits.is_none()) {
        return None;
    }
    let parts: Vec<(OracleQuantity, Option<f64>)> = events
        .iter()
        .filter_map(|event| Some((event.waits.filter(|waits| waits.value > 0.0)?, event.mean_s())))
        .collect();
    let first = events.iter().find_map(|event| Some(named(&event.waits?, &event.name)))?;
    let count: f64 = parts.iter().map(|(waits, _)| waits.value).sum();
    let time: Option<f64> =
        parts.iter().map(|(waits, mean)| mean.map(|mean| mean * waits.value)).sum();
    let rate = Figure::new(count / elapsed_s, format!("{} / elapsed", first.source));
    let mean = time.filter(|_| count > 0.0).map(|time| Figure::new(time / count, first.source));
    Some((rate, mean))
}

/// A class of which only the waits are known.
fn waited(report: &OracleReport, purpose: IoPurpose, names: &[&str], read_share: f64) -> IoClass {
    let mut class = IoClass::new(purpose);
    if let Some((rate, latency)) = waits(report, names) {
        class.read_share = Some(Figure::new(read_share, rate.source.clone()));
        class.rate_iops = Some(rate);
        class.latency_s = latency;
    }
    class.latency = curves::curve(report, names);
    class
}

fn single_block(report: &OracleReport) -> IoClass {
    let mut class = waited(report, IoPurpose::SingleBlockRead, SINGLE_BLOCK, 1.0);
    class.block_size_bytes = rates::block(report);
    class
}

fn multi_block(report: &OracleReport) -> IoClass {
    let mut class = waited(report, IoPurpose::MultiBlockRead, knowledge::MULTI_BLOCK, 1.0);
    class.block_size_bytes =
        class.rate_iops.as_ref().and_then(|rate| multi_block_bytes(report, rate.value));
    class
}

/// Mean size of a multi-block read, an estimate. Every other read into the buffer cache moves one
/// block, those of a list each by itself: blocks beyond one a request came by multi-block reads,
/// and each of those is one wait.
fn multi_block_bytes(report: &OracleReport, waits_per_s: f64) -> Option<Figure> {
    let blocks = report.rate("physical reads cache")?;
    let functions = report.io_by_function.iter().filter(|row| row.instance.is_none());
    let requests = functions.clone().find(|row| is_function(&row.name, "Buffer Cache Reads"));
    let requests = requests.filter(|_| !is_faulty(report))?.reads?;
    let block = rates::block(report)?;
    let blocks_a_read = (blocks.value - requests.value + waits_per_s) / waits_per_s;
    let bytes = blocks_a_read * block.value;
    (blocks_a_read >= 1.0 && bytes <= MULTI_BLOCK_BYTES_MAX).then(|| {
        let source = format!(
            "estimate: block x (physical reads cache - requests of Buffer Cache Reads + waits) / \
             waits: {}; {}",
            blocks.place(),
            requests.place()
        );
        Figure::new(bytes, source)
    })
}

/// A class that the tables by function count; without them its waits are not I/Os of its own.
fn by_function(
    report: &OracleReport,
    purpose: IoPurpose,
    functions: &[&str],
    events: &[&str],
) -> IoClass {
    let rows = report.io_by_function.iter();
    let rows = rows.filter(|row| row.instance.is_none() && !is_faulty(report));
    let named = rows.filter(|row| functions.iter().any(|name| is_function(&row.name, name)));
    let rows: Vec<&IoStat> = named.collect();
    let mut class = summed(purpose, &rows);
    let read_share = if matches!(purpose, IoPurpose::DirectRead) { 1.0 } else { 0.0 };
    if !class.is_known() && !events.is_empty() {
        // Before 11.2 no table counts by function: waits are what is known.
        return waited(report, purpose, events, read_share);
    }
    if class.is_known() {
        class.latency = curves::curve(report, events);
        by_wait(report, events, &mut class);
    }
    class
}

/// The mean wait, and waits outstanding. One wait can stand for several I/Os that were issued
/// together, so rate times time would say too much: what sessions waited each second is the least
/// that was outstanding.
fn by_wait(report: &OracleReport, events: &[&str], class: &mut IoClass) {
    if let Some((rate, Some(latency))) = waits(report, events) {
        let source = format!("({}) x ({}), the least", rate.source, latency.source);
        class.queue_depth = Some(Figure::new(rate.value * latency.value, source));
        class.latency_s = Some(latency);
    }
}

/// Whether the table by function contradicts the types of file by half or more: its counters can
/// overrun.
fn is_faulty(report: &OracleReport) -> bool {
    let rows = report.io_by_function.iter().filter(|row| row.instance.is_none());
    let functions: f64 = rows.filter_map(|row| row.reads).map(|reads| reads.value).sum();
    let types = rates::file_type(report).read_per_s.map_or(0.0, |reads| reads.value);
    types > 1.0 && functions > 2.0 * types
}

/// Text cuts names of functions at fifteen characters.
fn is_function(printed: &str, full: &str) -> bool {
    stands_for(printed, full) || printed.eq_ignore_ascii_case(full)
}

/// The sum of some rows of I/O statistics; a counter that is out of bounds leaves the class
/// unknown.
fn summed(purpose: IoPurpose, rows: &[&IoStat]) -> IoClass {
    let mut class = IoClass::new(purpose);
    let sum = |of: fn(&IoStat) -> Option<OracleQuantity>| -> Option<f64> {
        rows.iter().map(|row| of(row).map(|number| number.value)).sum()
    };
    let (Some(first), Some(reads), Some(writes)) = (
        rows.iter().find_map(|row| Some(named(&row.reads?, &row.name))),
        sum(|row| row.reads),
        sum(|row| row.writes),
    ) else {
        return class;
    };
    let iops = reads + writes;
    class.read_share = (iops > 0.0).then(|| Figure::new(reads / iops, first.source.clone()));
    class.rate_iops = Some(Figure::new(iops, first.source.clone()));
    let bytes = sum(|row| row.read_throughput).zip(sum(|row| row.write_throughput));
    class.throughput_bytes_per_s =
        bytes.map(|(read, write)| Figure::new(read + write, first.source));
    class
}

fn temporary(report: &OracleReport) -> IoClass {
    let rows = report.io_by_file_type.iter().filter(|row| row.instance.is_none());
    let rows: Vec<&IoStat> =
        rows.filter(|row| row.name.eq_ignore_ascii_case("Temp File")).collect();
    let mut class = summed(IoPurpose::Temporary, &rows);
    if !class.is_known() {
        class = waited(report, IoPurpose::Temporary, knowledge::TEMPORARY, 1.0);
        class.read_share = None;
        return class;
    }
    by_wait(report, knowledge::TEMPORARY, &mut class);
    let small = rows.iter().find_map(|row| Some(named(&row.small_time?, "Temp File, small reads")));
    class.latency_s = class.latency_s.or(small);
    class
}

/// The log writer: its writes, the redo they carry, and its own wait for them.
fn log_write(report: &OracleReport) -> IoClass {
    let mut class = waited(report, IoPurpose::LogWrite, knowledge::LOG_WRITE, 0.0);
    let writes = report.rate("redo writes").map(|rate| named(&rate, "redo writes"));
    class.rate_iops = writes.or(class.rate_iops);
    let load = report.load(&["Redo size", "Redo size (bytes)"]).and_then(|row| row.per_second);
    let redo = report.rate("redo size").or(load);
    class.throughput_bytes_per_s = redo.map(|redo| named(&redo, "redo size"));
    if class.rate_iops.is_some() && class.read_share.is_none() {
        class.read_share = Some(Figure::new(0.0, "the log writer only writes"));
    }
    class
}
