//! What only a report prints, in addition to the demand that all sources have.

use super::figures::{figure, named};
use super::{events, rates, skew};
use crate::quantity::OracleQuantity;
use crate::report::{FileIo, OracleReport, ReportKind, SegmentRow};
use assay_model::number::count;
use assay_model::profile::{
    BufferPoolAdvice, ByteRate, Figure, FileActivity, FlashHits, HostActivity, InstanceShare,
    LogWriter, RateKind, ReportActivity, ReportScope, ReportStatement, SegmentIo, SegmentReads,
};

/// Rows kept of each list.
const ROWS: usize = 20;

pub(super) fn all(report: &OracleReport) -> ReportActivity {
    ReportActivity {
        scope: scope(report),
        invalid: report.invalid.clone(),
        together: events::together(report),
        foreground: events::foreground(report),
        background: events::background(report),
        host: host(report),
        bytes: bytes(report),
        flash: flash(report),
        log_writer: log_writer(report),
        statements: statements(report),
        segments: segments(report),
        files: files(report),
        skew: skew::of_files(report),
        buffer_pool: buffer_pool(report),
        instances: instances(report),
    }
}

/// One instance of a cluster and one pluggable database share their storage with others that are
/// not in the report.
pub(super) fn scope(report: &OracleReport) -> ReportScope {
    let header = &report.header;
    let alone = header.begin.instances.is_some_and(|instances| instances.value <= 1.0);
    match report.kind {
        ReportKind::AwrPdb => ReportScope::PluggableDatabase,
        ReportKind::Awr | ReportKind::Statspack if header.cluster == Some(true) && !alone => {
            ReportScope::Instance
        }
        _ => ReportScope::Database,
    }
}

fn value(quantity: Option<OracleQuantity>) -> Option<f64> {
    quantity.map(|quantity| quantity.value)
}

/// The operating system's counters, else what the first page rounds of them.
pub(super) fn host(report: &OracleReport) -> HostActivity {
    let counter = |name: &str| {
        let row = report.operating_system.iter().find(|row| row.name == name)?;
        row.value.map(|value| named(&value, name))
    };
    let page = |name: &str| {
        let row = report.host_cpu.iter().find(|row| row.name == name)?;
        row.value.map(|value| figure(&value))
    };
    let either = |name: &str| counter(name).or_else(|| page(name));
    // 10.1 counts in ticks, which a share does not mind.
    let busy = counter("BUSY_TIME").or_else(|| counter("BUSY_TICKS"));
    let idle = counter("IDLE_TIME").or_else(|| counter("IDLE_TICKS"));
    let total_s = busy.as_ref().zip(idle).map(|(busy, idle)| busy.value + idle.value);
    let share = |part: Option<Figure>| {
        let (part, total_s) = part.zip(total_s.filter(|total_s| *total_s > 0.0))?;
        Some(Figure::new(part.value / total_s, format!("{} / (busy + idle)", part.source)))
    };
    let header = &report.header;
    let not_idle = page("IDLE").map(|idle| Figure::new(1.0 - idle.value, idle.source));
    HostActivity {
        cores: header.cores.as_ref().map(figure).or_else(|| either("NUM_CPU_CORES")),
        sockets: header.sockets.as_ref().map(figure).or_else(|| either("NUM_CPU_SOCKETS")),
        memory_bytes: header
            .memory
            .filter(|memory| memory.value > 0.0)
            .as_ref()
            .map(figure)
            .or_else(|| counter("PHYSICAL_MEMORY_BYTES")),
        busy_share: share(busy.clone()).or(not_idle),
        io_wait_share: share(counter("IOWAIT_TIME")).or_else(|| page("WIO")),
        load_begin: either("LOAD"),
        load_end: either("LOAD_END"),
    }
}

fn bytes(report: &OracleReport) -> Vec<ByteRate> {
    let rate = |name: &str| report.rate(name).map(|rate| named(&rate, name));
    let megabytes = |row: &str, of: fn(&crate::report::IoProfileRow) -> Option<OracleQuantity>| {
        let number = of(report.io(row)?)?;
        Some(Figure::new(number.value * 1_048_576.0, format!("{}: {row}", number.place())))
    };
    let kinds = [
        (RateKind::Total, "physical read total bytes", "physical write total bytes", "Total (MB)"),
        (RateKind::Database, "physical read bytes", "physical write bytes", "Database (MB)"),
    ];
    let rates = kinds.map(|(kind, reads, writes, row)| ByteRate {
        kind,
        read_bytes_per_s: rate(reads).or_else(|| megabytes(row, |row| row.read)),
        write_bytes_per_s: rate(writes).or_else(|| megabytes(row, |row| row.write)),
    });
    let known =
        |rate: &ByteRate| rate.read_bytes_per_s.is_some() || rate.write_bytes_per_s.is_some();
    rates.into_iter().filter(known).collect()
}

/// Optimized requests: a flash cache answered them. Where none was, there is none.
fn flash(report: &OracleReport) -> Option<FlashHits> {
    let name = "physical read requests optimized";
    let counter = report.rate(name).map(|rate| named(&rate, name));
    let row = ["Optimized", "Optimized Requests"].into_iter().find_map(|row| report.io(row));
    let read_iops = counter.or_else(|| row?.read.as_ref().map(figure))?;
    if read_iops.value <= 0.0 {
        return None;
    }
    let all = rates::all(report).into_iter().find(|rate| rate.kind == RateKind::Total)?.read_per_s;
    let read_share = all.filter(|all| all.value > 0.0).map(|all| {
        let source = format!("({}) / ({})", read_iops.source, all.source);
        Figure::new((read_iops.value / all.value).min(1.0), source)
    });
    Some(FlashHits { read_iops: Some(read_iops), read_share })
}

fn log_writer(report: &OracleReport) -> LogWriter {
    let writes = report.rate("redo writes");
    let commits = report.rate("user commits");
    let ratio = commits.zip(writes.filter(|writes| writes.value > 0.0));
    LogWriter {
        redo_writes_per_s: writes.map(|writes| named(&writes, "redo writes")),
        commits_per_write_ratio: ratio.map(|(commits, writes)| {
            let source = format!("{}: user commits / redo writes", commits.place());
            Figure::new(commits.value / writes.value, source)
        }),
    }
}

fn statements(report: &OracleReport) -> Vec<ReportStatement> {
    let rows = report.sql_by_io_time.iter().take(ROWS);
    let statements = rows.map(|row| ReportStatement {
        sql_id: row.sql_id.clone(),
        io_time_s: value(row.io_time),
        elapsed_s: value(row.elapsed),
        executions: value(row.executions).map(count),
        source: row.io_time.map_or_else(String::new, |time| time.place()),
    });
    statements.collect()
}

/// By requests where the report has them: blocks weigh large reads by their size.
fn segments(report: &OracleReport) -> Vec<SegmentIo> {
    let any = report.segments.iter().any(|row| row.is_requests);
    let rows = report.segments.iter().filter(|row| row.is_requests == any).take(ROWS);
    rows.map(segment).collect()
}

fn segment(row: &SegmentRow) -> SegmentIo {
    SegmentIo {
        owner: row.owner.clone(),
        object: row.object.clone(),
        partition: row.partition.clone(),
        kind: row.kind.clone(),
        tablespace: row.tablespace.clone(),
        counted: if row.is_requests { SegmentReads::Requests } else { SegmentReads::Blocks },
        reads: count(row.reads.value),
        share: value(row.share),
        source: row.reads.place(),
    }
}

fn files(report: &OracleReport) -> Vec<FileActivity> {
    let waited =
        |file: &FileActivity| file.read_iops.unwrap_or(0.0) * file.read_time_s.unwrap_or(0.0);
    let mut files: Vec<FileActivity> =
        report.files.iter().filter_map(|row| file(report, row)).collect();
    files.sort_by(|left, right| waited(right).total_cmp(&waited(left)));
    files.truncate(ROWS);
    files
}

fn file(report: &OracleReport, row: &FileIo) -> Option<FileActivity> {
    let container = row.container.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
    Some(FileActivity {
        tablespace: format!("{container}{}", row.tablespace),
        file: row.file.clone()?,
        read_iops: rates::reads_per_s(report, row),
        read_time_s: value(row.read_time),
        write_iops: rates::writes_per_s(report, row),
        source: row.reads.or(row.writes)?.place(),
    })
}

fn buffer_pool(report: &OracleReport) -> Vec<BufferPoolAdvice> {
    let rows = report.buffer_pool.iter().take(3 * ROWS);
    let advice = rows.filter_map(|row| {
        let factor = row.factor?;
        Some(BufferPoolAdvice {
            pool: row.pool.clone(),
            size_ratio: factor.value,
            size_bytes: value(row.size),
            read_ratio: value(row.read_factor),
            source: factor.place(),
        })
    });
    advice.collect()
}

fn instances(report: &OracleReport) -> Vec<InstanceShare> {
    let rows = report.instances.iter();
    let of_types = |number: u32, of: fn(&crate::report::IoStat) -> Option<OracleQuantity>| {
        let rows = report.io_by_file_type.iter().filter(|row| row.instance == Some(number));
        rows.filter_map(of).map(|rate| rate.value).reduce(|sum, rate| sum + rate)
    };
    let shares = rows.map(|row| InstanceShare {
        number: row.number,
        name: row.name.clone(),
        sessions: value(row.sessions),
        db_time_s: value(row.db_time),
        read_iops: of_types(row.number, |row| row.reads),
        write_iops: of_types(row.number, |row| row.writes),
        read_blocks_per_s: value(row.read_blocks),
        write_blocks_per_s: value(row.write_blocks),
        redo_bytes_per_s: value(row.redo),
    });
    shares.collect()
}
