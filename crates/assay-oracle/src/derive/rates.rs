//! Requests per second as each section counts them, and the size of a block.

use super::figures::{elapsed_s, figure, named};
use crate::quantity::OracleQuantity;
use crate::report::{FileIo, IoStat, OracleReport};
use crate::section::OracleSection;
use assay_model::profile::{Figure, RateKind, RequestRate, Work};

pub(super) fn all(report: &OracleReport) -> Vec<RequestRate> {
    let rates =
        [database(report), total(report), file_type(report), tablespace(report), blocks(report)];
    let known = |rate: &RequestRate| rate.read_per_s.is_some() || rate.write_per_s.is_some();
    rates.into_iter().filter(known).collect()
}

/// A counter of the instance, then the rows of the first page that say the same.
fn counted(
    report: &OracleReport,
    statistic: &str,
    first_page: Option<OracleQuantity>,
) -> Option<Figure> {
    let counter = report.rate(statistic).map(|rate| named(&rate, statistic));
    counter.or_else(|| first_page.as_ref().map(figure))
}

fn database(report: &OracleReport) -> RequestRate {
    let load = |name: &str| report.load(&[name]).and_then(|row| row.per_second);
    RequestRate {
        kind: RateKind::Database,
        read_per_s: counted(report, "physical read IO requests", load("Read IO requests")),
        write_per_s: counted(report, "physical write IO requests", load("Write IO requests")),
    }
}

fn total(report: &OracleReport) -> RequestRate {
    let row = report.io("Total Requests");
    RequestRate {
        kind: RateKind::Total,
        read_per_s: counted(
            report,
            "physical read total IO requests",
            row.and_then(|row| row.read),
        ),
        write_per_s: counted(
            report,
            "physical write total IO requests",
            row.and_then(|row| row.write),
        ),
    }
}

/// What the database did: counters of the instance, else the rows of the first page.
pub(super) fn work(report: &OracleReport) -> Work {
    let load = |names: &[&str]| report.load(names).and_then(|row| row.per_second);
    Work {
        executions_per_s: counted(report, "execute count", load(&["Executes (SQL)", "Executes"])),
        logical_reads_per_s: counted(
            report,
            "session logical reads",
            load(&["Logical read (blocks)", "Logical reads"]),
        ),
        physical_reads_per_s: counted(
            report,
            "physical reads",
            load(&["Physical read (blocks)", "Physical reads"]),
        ),
        block_changes_per_s: counted(report, "db block changes", load(&["Block changes"])),
        transactions_per_s: load(&["Transactions"]).as_ref().map(figure).or_else(|| sum(report)),
        commits_per_s: counted(report, "user commits", None),
        // Oracle does not tell writes of sessions to data files from those of the database writers.
        foreground_writes_per_s: None,
        user_calls_per_s: counted(report, "user calls", load(&["User calls"])),
        parses_per_s: counted(report, "parse count (total)", load(&["Parses", "Parses (SQL)"])),
        hard_parses_per_s: counted(
            report,
            "parse count (hard)",
            load(&["Hard parses", "Hard parses (SQL)"]),
        ),
    }
}

/// Transactions as the Load Profile counts them.
fn sum(report: &OracleReport) -> Option<Figure> {
    let (commits, rollbacks) = (report.rate("user commits")?, report.rate("user rollbacks")?);
    let source = format!("{}: user commits + user rollbacks", commits.place());
    Some(Figure::new(commits.value + rollbacks.value, source))
}

/// The sum over types of file of the whole cluster.
pub(super) fn file_type(report: &OracleReport) -> RequestRate {
    let sum = |of: fn(&IoStat) -> Option<OracleQuantity>| {
        let rows = report.io_by_file_type.iter().filter(|row| row.instance.is_none());
        let numbers: Vec<Option<OracleQuantity>> = rows.map(of).collect();
        let first = numbers.iter().flatten().next()?;
        let place = format!("sum of {} from line {}", first.section.title(), first.line);
        let values = numbers.iter().map(|number| number.map(|number| number.value));
        Some(Figure::new(whole_sum(report, OracleSection::IoByFileType, values)?, place))
    };
    RequestRate {
        kind: RateKind::FileType,
        read_per_s: sum(|row| row.reads),
        write_per_s: sum(|row| row.writes),
    }
}

/// A sum over rows of a section. A blank is none; a number that could not be read makes the sum
/// unknown.
pub(super) fn whole_sum(
    report: &OracleReport,
    section: OracleSection,
    numbers: impl Iterator<Item = Option<f64>>,
) -> Option<f64> {
    let numbers: Vec<Option<f64>> = numbers.collect();
    let is_whole = numbers.iter().all(Option::is_some) || !report.has_unread(section);
    let is_known = is_whole && numbers.iter().any(Option::is_some);
    is_known.then(|| numbers.into_iter().flatten().sum())
}

fn tablespace(report: &OracleReport) -> RequestRate {
    let sum = |of: fn(&OracleReport, &FileIo) -> Option<f64>| {
        let rows = report.tablespaces.iter().map(|row| of(report, row));
        let sum = whole_sum(report, OracleSection::Tablespaces, rows)?;
        Some(Figure::new(sum, "sum of Tablespace IO Stats"))
    };
    RequestRate {
        kind: RateKind::Tablespace,
        read_per_s: sum(reads_per_s),
        write_per_s: sum(writes_per_s),
    }
}

fn blocks(report: &OracleReport) -> RequestRate {
    let load = |names: &[&str]| report.load(names).and_then(|row| row.per_second);
    RequestRate {
        kind: RateKind::Blocks,
        read_per_s: load(&["Physical reads", "Physical read (blocks)"]).as_ref().map(figure),
        write_per_s: load(&["Physical writes", "Physical write (blocks)"]).as_ref().map(figure),
    }
}

/// Reads of a tablespace per second: counted over elapsed time, else as printed, which is a whole
/// number.
pub(super) fn reads_per_s(report: &OracleReport, row: &FileIo) -> Option<f64> {
    per_s(report, row.reads_per_second, row.reads)
}

pub(super) fn writes_per_s(report: &OracleReport, row: &FileIo) -> Option<f64> {
    per_s(report, row.writes_per_second, row.writes)
}

fn per_s(
    report: &OracleReport,
    printed: Option<OracleQuantity>,
    count: Option<OracleQuantity>,
) -> Option<f64> {
    let counted = count.zip(elapsed_s(report)).map(|(count, elapsed)| count.value / elapsed);
    counted.or(printed.map(|rate| rate.value))
}

/// The block: from the header, else bytes read over blocks read; never assumed.
pub(super) fn block(report: &OracleReport) -> Option<Figure> {
    let printed = report.header.block.as_ref().map(figure);
    printed.or_else(|| {
        let total = |name: &str| report.statistic(name).and_then(|row| row.total);
        let (bytes, blocks) = (total("physical read bytes")?, total("physical reads")?);
        let size = bytes.value / blocks.value;
        // Blocks are powers of two from 2 to 32 KiB; anything else is a mix of sizes.
        let known = [2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0];
        let exact = known.into_iter().find(|known| (size / known - 1.0).abs() < 1e-3)?;
        let source = format!("{}: physical read bytes / physical reads", bytes.place());
        (blocks.value >= 1.0).then(|| Figure::new(exact, source))
    })
}
