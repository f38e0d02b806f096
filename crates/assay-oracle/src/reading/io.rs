//! Tables of I/O: by tablespace, by file, by function and by type of file.

use super::ReportReading;
use crate::number::{self, NumberCell};
use crate::quantity::{Flag, OracleQuantity, OracleUnit};
use crate::report::{FileIo, IoStat};
use crate::section::OracleSection;
use crate::table::{OracleTable, ReportRow};
use std::cmp::Ordering;

const MEGABYTE: f64 = 1_048_576.0;

/// The columns of a table by tablespace or file.
#[derive(Clone, Copy)]
struct IoColumns {
    container: Option<usize>,
    file: Option<usize>,
    reads: Option<usize>,
    read_rate: Option<usize>,
    read_time: Option<usize>,
    blocks: Option<usize>,
    single_rate: Option<usize>,
    single_time: Option<usize>,
    writes: Option<usize>,
    write_rate: Option<usize>,
}

impl IoColumns {
    fn of(table: &OracleTable) -> Self {
        let condensed: Vec<String> = table.heads.iter().map(|head| head.replace(' ', "")).collect();
        let at = |names: &[&str]| condensed.iter().position(|head| names.contains(&head.as_str()));
        Self {
            container: at(&["pdbname"]),
            file: at(&["filename"]),
            reads: at(&["reads"]),
            read_rate: at(&["avreads/s", "avrds/s"]),
            read_time: at(&["avrd(ms)"]),
            blocks: at(&["avblks/rd"]),
            single_rate: at(&["1-bkrds/s"]),
            single_time: at(&["av1-bkrd(ms)"]),
            writes: at(&["writes"]),
            write_rate: at(&["avwrites/s", "writesavg/s"]),
        }
    }

    /// The tablespace table of 11.2.0.4 prints three values one column off their headings.
    const fn shifted(self) -> Self {
        Self {
            single_rate: self.single_time,
            single_time: self.writes,
            writes: self.single_rate,
            ..self
        }
    }
}

impl ReportReading {
    pub(super) fn file_io(&mut self, table: &OracleTable) {
        let columns = IoColumns::of(table);
        if columns.reads.is_none() || columns.writes.is_none() {
            return self.unreadable(table);
        }
        let columns = self.in_step(table, columns);
        let mut tablespace = String::new();
        for row in &table.rows {
            // In the table of files a blank tablespace is the one above.
            let name = row.text(0);
            if !name.is_empty() {
                tablespace = name;
            }
            let io = self.file_row(table, row, &columns, &tablespace);
            if table.section == OracleSection::Files {
                self.report.files.push(io);
            } else {
                self.report.tablespaces.push(io);
            }
        }
    }

    fn file_row(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        columns: &IoColumns,
        tablespace: &str,
    ) -> FileIo {
        let mut count = |column| self.number(table, row, column, OracleUnit::Count);
        let (reads, writes) = (count(columns.reads), count(columns.writes));
        let mut rate = |column| self.number(table, row, column, OracleUnit::PerSecond);
        let reads_per_second = rate(columns.read_rate);
        let single_reads_per_second = rate(columns.single_rate);
        let writes_per_second = rate(columns.write_rate);
        let blocks_per_read = self.number(table, row, columns.blocks, OracleUnit::Labelled);
        let read_time = self.milliseconds(table, row, columns.read_time);
        FileIo {
            container: row.some_text(columns.container),
            tablespace: tablespace.to_owned(),
            file: row.some_text(columns.file),
            reads,
            reads_per_second,
            read_time,
            blocks_per_read,
            single_reads_per_second,
            single_read_time: self.milliseconds(table, row, columns.single_time),
            writes,
            writes_per_second,
        }
    }

    fn milliseconds(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        column: Option<usize>,
    ) -> Option<OracleQuantity> {
        self.scaled(table.section, row, column?, OracleUnit::Seconds, Some(1e-3))
    }

    /// Which columns the values really stand in: where writes over elapsed time is the printed
    /// write rate.
    fn in_step(&mut self, table: &OracleTable, printed: IoColumns) -> IoColumns {
        if printed.single_rate.is_none() || table.section == OracleSection::Files {
            return printed;
        }
        let shifted = printed.shifted();
        let as_printed = self.matching(table, &printed);
        let as_shifted = self.matching(table, &shifted);
        let release = self.report.header.release.clone().unwrap_or_default();
        if as_printed.max(as_shifted) == 0 && release.is_empty() {
            self.unreadable(table);
            return IoColumns { single_rate: None, single_time: None, writes: None, ..printed };
        }
        let use_shifted = match as_shifted.cmp(&as_printed) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => release.starts_with("11.2.0.4"),
        };
        if as_printed.max(as_shifted) * 2 < table.rows.len() && self.report.header.elapsed.is_some()
        {
            self.report.flags.push(Flag {
                section: table.section,
                line: table.rows.first().map_or(0, |row| row.line),
                message: "writes over elapsed time is not the printed write rate in most rows"
                    .to_owned(),
            });
        }
        if use_shifted { shifted } else { printed }
    }

    /// Rows whose writes over elapsed time round to the printed write rate.
    fn matching(&self, table: &OracleTable, columns: &IoColumns) -> usize {
        let number = |row: &ReportRow, column: Option<usize>| match number::parse(
            row.cell(column?),
            self.decimal,
        ) {
            NumberCell::Number(printed) => Some(printed),
            _ => None,
        };
        let Some(elapsed) = self.report.header.elapsed else {
            return 0;
        };
        let matches = |row: &&ReportRow| {
            let (writes, rate) = (number(row, columns.writes), number(row, columns.write_rate));
            writes.zip(rate).is_some_and(|(writes, rate)| {
                let expected = writes.value / elapsed.value;
                let slack = rate.rounding_width + expected * elapsed.rounding_width / elapsed.value;
                // Rates of tablespaces are cut, not rounded, in some releases.
                (expected - rate.value).abs() <= slack * 2.0
            })
        };
        table.rows.iter().filter(matches).count()
    }

    pub(super) fn io_stat(&mut self, table: &OracleTable) {
        if table.column(|head| head.starts_with("reads mb/sec")).is_some() {
            self.io_stat_by_columns(table);
        } else if table.named(&["i#"]).is_some() {
            self.io_stat_of_all(table);
        } else if table.heads.len() == 9
            && table.head(2).contains("req")
            && table.head(5).contains("req")
        {
            self.io_stat_of_one(table);
        } else {
            self.unreadable(table);
        }
    }

    fn keep_io(&mut self, section: OracleSection, io: IoStat) {
        if io.name.is_empty() || io.name.to_lowercase().starts_with("total") {
            return;
        }
        if section == OracleSection::IoByFunction {
            self.report.io_by_function.push(io);
        } else {
            self.report.io_by_file_type.push(io);
        }
    }

    /// One instance: nine columns in one order in all releases and in Statspack.
    fn io_stat_of_one(&mut self, table: &OracleTable) {
        let by_function = table.section == OracleSection::IoByFunction;
        for row in &table.rows {
            let mut throughput = |column| {
                self.scaled(table.section, row, column, OracleUnit::BytesPerSecond, Some(MEGABYTE))
            };
            let (read_throughput, write_throughput) = (throughput(3), throughput(6));
            let (small, large) = if by_function { (8, None) } else { (7, Some(8)) };
            let io = IoStat {
                instance: None,
                name: row.text(0),
                reads: self.number(table, row, Some(2), OracleUnit::PerSecond),
                read_throughput,
                writes: self.number(table, row, Some(5), OracleUnit::PerSecond),
                write_throughput,
                small_time: self.io_time(table, row, small),
                large_time: large.and_then(|column| self.io_time(table, row, column)),
            };
            self.keep_io(table.section, io);
        }
    }

    /// Milliseconds up to 12.1, from 12.2 on the unit stands in the cell.
    fn io_time(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        column: usize,
    ) -> Option<OracleQuantity> {
        let release = self.report.header.release.as_deref().unwrap_or_default();
        let mut parts = release.split('.').map_while(|part| part.parse::<u32>().ok());
        let release = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        let in_ms = table.head(column).contains("(ms)") || (release > (0, 0) && release < (12, 2));
        self.scaled(table.section, row, column, OracleUnit::Seconds, in_ms.then_some(1e-3))
    }

    /// All instances, 12.2 and later: a row by instance and function, `*` is the cluster.
    fn io_stat_of_all(&mut self, table: &OracleTable) {
        let ends = |end: &'static str| table.column(move |head| head.ends_with(end));
        let name = table.column(|head| head.ends_with("name"));
        let (Some(name), Some(column)) = (name, table.named(&["i#"])) else {
            return;
        };
        let small = ends("small read").or_else(|| ends("avg time"));
        let mut instance = String::new();
        for row in &table.rows {
            let mark = row.text(column);
            if !mark.is_empty() {
                instance = mark;
            }
            let number: Option<u32> = instance.parse().ok();
            if number.is_none() && instance != "*" {
                continue;
            }
            let mut rate = |column| self.number(table, row, column, OracleUnit::PerSecond);
            let (reads, writes) = (rate(ends("reads/s")), rate(ends("writes/s")));
            let mut throughput = |column: Option<usize>| {
                self.scaled(table.section, row, column?, OracleUnit::BytesPerSecond, Some(MEGABYTE))
            };
            let io = IoStat {
                instance: number,
                name: row.text(name),
                reads,
                read_throughput: throughput(ends("read mb/s")),
                writes,
                write_throughput: throughput(ends("write mb/s")),
                small_time: small.and_then(|column| self.io_time(table, row, column)),
                large_time: ends("large read").and_then(|column| self.io_time(table, row, column)),
            };
            self.keep_io(table.section, io);
        }
    }

    /// All instances, up to 12.1: a row by instance, the functions are columns in four groups.
    fn io_stat_by_columns(&mut self, table: &OracleTable) {
        const GROUPS: [&str; 4] =
            ["reads mb/sec ", "writes mb/sec ", "reads requests/sec ", "writes requests/sec "];
        let Some(instance) = table.named(&["i#"]) else {
            return;
        };
        let mut names: Vec<&str> = table
            .heads
            .iter()
            .filter_map(|head| GROUPS.iter().find_map(|group| head.strip_prefix(group)))
            .collect();
        names.sort_unstable();
        names.dedup();
        let is_single = table.rows.len() == 1;
        for row in &table.rows {
            let number: Option<u32> = row.text(instance).parse().ok();
            if number.is_none() && row.cell(instance) != b"Sum" {
                continue;
            }
            for name in &names {
                let column = |group: usize| {
                    let group = GROUPS.get(group).copied().unwrap_or_default();
                    table.column(|head| head.strip_prefix(group) == Some(name))
                };
                let mut throughput = |at: Option<usize>| {
                    self.scaled(table.section, row, at?, OracleUnit::BytesPerSecond, Some(MEGABYTE))
                };
                let (read_throughput, write_throughput) =
                    (throughput(column(0)), throughput(column(1)));
                let io = IoStat {
                    instance: number.filter(|_| !is_single),
                    name: (*name).to_owned(),
                    reads: self.number(table, row, column(2), OracleUnit::PerSecond),
                    read_throughput,
                    writes: self.number(table, row, column(3), OracleUnit::PerSecond),
                    write_throughput,
                    small_time: None,
                    large_time: None,
                };
                self.keep_io(table.section, io);
            }
        }
    }
}
