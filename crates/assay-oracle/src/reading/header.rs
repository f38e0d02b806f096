//! Header tables: mapped by heading, because their columns moved at 12.2 and differ between the
//! kinds.

use super::ReportReading;
use crate::number::Decimal;
use crate::quantity::{OracleQuantity, OracleUnit};
use crate::report::{ReportForm, ReportKind, ReportSnapshot};
use crate::section::{OracleSection, folded};
use crate::table::{OracleTable, PAGE_TITLE, ReportRow, text};
use crate::time;
use std::borrow::Cow;

impl ReportReading {
    pub(super) fn header(&mut self, table: &OracleTable) {
        if table.section == OracleSection::CacheSizes {
            table.rows.iter().for_each(|row| self.block_size(row));
            return;
        }
        if table.head(0) == PAGE_TITLE {
            table.rows.iter().for_each(|row| self.page_title(&row.text(0)));
            return;
        }
        for row in &table.rows {
            if !self.snapshot_line(table, row) {
                self.facts(table, row);
            }
        }
    }

    /// Facts of one row; what an earlier table said stands, for two tables share a summary from
    /// 12.2 on.
    fn facts(&mut self, table: &OracleTable, row: &ReportRow) {
        if row.cells.len() == 7 && table.column(|head| head.contains("platform")).is_some() {
            return self.statspack_host(row);
        }
        if table.named(&["i#"]).is_some() {
            return self.instance_row(table, row);
        }
        let summary = table.column(|head| head.ends_with("block size")).is_some();
        if summary {
            self.database_summary(table, row);
        }
        self.names(table, row);
        self.machine(table, row);
    }

    /// `Report for DB: SHOP, Inst: shop1, Snaps: 10-11` or `SHOP/shop1`, for what the header left
    /// blank.
    fn page_title(&mut self, title: &str) {
        let of = |word: &str| {
            let rest = title.split_once(word)?.1.split(',').next()?.trim();
            (!rest.is_empty()).then(|| rest.to_owned())
        };
        let (name, instance) = match title.split_once('/') {
            Some((name, instance)) if !title.contains(": ") => {
                (Some(name.to_owned()), Some(instance.to_owned()))
            }
            _ => (of("DB: "), of("Inst: ")),
        };
        let header = &mut self.report.header;
        fill(&mut header.db_name, name.filter(|name| !name.is_empty()));
        fill(&mut header.instance, instance.filter(|name| !name.is_empty()));
    }

    fn names(&mut self, table: &OracleTable, row: &ReportRow) {
        let of = |names: &[&str]| row.some_text(table.named(names));
        let flag = |names: &[&str]| of(names).map(|word| word.eq_ignore_ascii_case("yes"));
        let header = &mut self.report.header;
        fill(&mut header.db_name, of(&["db name", "database", "database name"]));
        fill(&mut header.db_id, of(&["db id", "database id"]));
        fill(&mut header.unique_name, of(&["unique name", "database unique name"]));
        fill(&mut header.role, of(&["db role", "role", "database role"]));
        fill(&mut header.edition, of(&["edition", "database edition"]));
        fill(&mut header.release, of(&["release"]));
        fill(&mut header.cluster, flag(&["rac", "cluster", "database rac"]));
        fill(&mut header.container_database, flag(&["cdb", "database cdb"]));
        fill(&mut header.instance, of(&["instance"]));
        if self.report.kind == ReportKind::AwrPdb {
            fill(&mut self.report.header.container, of(&["container name"]));
        }
        if let Some(startup) = of(&["startup time"]) {
            self.startup(startup);
        }
    }

    /// Up to 12.2 the HTML report prints the month where the minutes belong.
    fn startup(&mut self, startup: String) {
        let release = self.report.header.release.as_deref().unwrap_or_default();
        let major = release.split('.').next().and_then(|major| major.parse().ok());
        let exact =
            self.report.form == ReportForm::Text || major.is_some_and(|major: u32| major >= 18);
        let header = &mut self.report.header;
        if header.startup.is_none() {
            header.startup_is_exact = exact;
            header.startup = Some(startup);
        }
    }

    fn machine(&mut self, table: &OracleTable, row: &ReportRow) {
        let count = |names: &[&str]| table.named(names);
        let cpus = self.number(table, row, count(&["cpus"]), OracleUnit::Count);
        let cores = self.number(table, row, count(&["cores"]), OracleUnit::Count);
        let sockets = self.number(table, row, count(&["sockets"]), OracleUnit::Count);
        let number = self.number(table, row, count(&["inst num"]), OracleUnit::Count);
        let memory = table.column(|head| head.starts_with("memory"));
        let memory = memory.and_then(|column| self.memory(row, column));
        let header = &mut self.report.header;
        fill(&mut header.host, row.some_text(table.named(&["host name", "host"])));
        fill(&mut header.platform, row.some_text(table.named(&["platform"])));
        fill(&mut header.cpus, cpus);
        fill(&mut header.cores, cores);
        fill(&mut header.sockets, sockets);
        fill(&mut header.instance_number, number);
        fill(&mut header.memory, memory);
    }

    /// Statspack's headings of the host wrap over two lines at 80 columns: only the order is
    /// certain.
    fn statspack_host(&mut self, row: &ReportRow) {
        let mut count =
            |column| self.scaled(OracleSection::Header, row, column, OracleUnit::Count, None);
        let (cpus, cores, sockets) = (count(3), count(4), count(5));
        let memory = self.memory(row, 6);
        let header = &mut self.report.header;
        fill(&mut header.host, row.some_text(Some(1)));
        fill(&mut header.platform, row.some_text(Some(2)));
        fill(&mut header.cpus, cpus);
        fill(&mut header.cores, cores);
        fill(&mut header.sockets, sockets);
        fill(&mut header.memory, memory);
    }

    /// Memory of the host. It stands above the first number that shows the decimal mark, and has
    /// two decimals itself.
    fn memory(&mut self, row: &ReportRow, column: usize) -> Option<OracleQuantity> {
        let own = Decimal::of_two_decimals(row.cell(column)).unwrap_or(self.decimal);
        let known = std::mem::replace(&mut self.decimal, own);
        let memory = self.scaled(OracleSection::Header, row, column, OracleUnit::Labelled, None);
        self.decimal = known;
        memory.map(gibibytes)
    }

    /// The one row of a global report's summary.
    fn database_summary(&mut self, table: &OracleTable, row: &ReportRow) {
        let ends = |end: &'static str| table.column(move |head| head.ends_with(end));
        if let Some(decimal) =
            ends("elapsed time").and_then(|at| Decimal::of_two_decimals(row.cell(at)))
        {
            self.decimal = decimal;
        }
        let minutes = Some(60.0);
        let mut scaled = |column: Option<usize>, unit, scale| {
            self.scaled(OracleSection::Header, row, column?, unit, scale)
        };
        let block = scaled(ends("block size"), OracleUnit::Bytes, None);
        let elapsed = scaled(ends("elapsed time"), OracleUnit::Seconds, minutes);
        let db_time = scaled(ends("db time"), OracleUnit::Seconds, minutes);
        let covered = scaled(ends("in report"), OracleUnit::Count, None);
        let begin = scaled(ends("begin"), OracleUnit::Count, None);
        let end = scaled(ends("end"), OracleUnit::Count, None);
        let header = &mut self.report.header;
        let of = |name: &str| row.some_text(table.named(&[name]));
        fill(&mut header.db_id, of("database id"));
        fill(&mut header.db_name, of("database name"));
        fill(&mut header.block, block.filter(|block| block.value > 0.0));
        fill(&mut header.elapsed, elapsed);
        fill(&mut header.db_time, db_time);
        fill(&mut header.instances_covered, covered);
        fill(&mut header.begin.id, begin);
        fill(&mut header.end.id, end);
    }

    /// A row of `Database Instances Included In Report`.
    fn instance_row(&mut self, table: &OracleTable, row: &ReportRow) {
        let of = |name: &str| row.some_text(table.named(&[name]));
        let header = &mut self.report.header;
        fill(&mut header.instance, of("instance"));
        fill(&mut header.host, of("host"));
        fill(&mut header.release, of("release"));
        fill(&mut header.platform, of("platform"));
        fill(&mut header.begin.time, of("begin snap time"));
        fill(&mut header.end.time, of("end snap time"));
        header.begin.clock_s = header.begin.time.as_deref().and_then(time::clock_s);
        header.end.clock_s = header.end.time.as_deref().and_then(time::clock_s);
        self.instance_facts(table, row);
    }

    /// Name and DB time of one instance of a cluster.
    fn instance_facts(&mut self, table: &OracleTable, row: &ReportRow) {
        let of = |name: &str| row.some_text(table.named(&[name]));
        let Some(number) = of("i#").and_then(|number| number.parse().ok()) else {
            return;
        };
        let minutes = table.column(|head| head.starts_with("db time") && head.contains("min"));
        let db_time = minutes.and_then(|column| {
            self.scaled(OracleSection::Header, row, column, OracleUnit::Seconds, Some(60.0))
        });
        let instance = self.instance_of(number);
        instance.name = of("instance");
        instance.db_time = db_time;
    }

    /// Lines of the snapshot block, which is laid out alike in all kinds; false for any other row.
    fn snapshot_line(&mut self, table: &OracleTable, row: &ReportRow) -> bool {
        let line = row.cells.join(&b' ');
        let words: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        match folded(&line).as_str() {
            text if text.starts_with("begin snap:") => {
                self.report.header.begin = self.snapshot(table, row, &words[2..]);
            }
            text if text.starts_with("end snap:") => {
                self.report.header.end = self.snapshot(table, row, &words[2..]);
            }
            text if text.starts_with("elapsed:") => self.elapsed(row, words.get(1)),
            text if text.starts_with("db time:") => self.db_time(row, &words),
            _ => return false,
        }
        true
    }

    fn elapsed(&mut self, row: &ReportRow, minutes: Option<&&[u8]>) {
        if let Some(decimal) = minutes.and_then(|text| Decimal::of_two_decimals(text)) {
            self.decimal = decimal;
        }
        self.report.header.elapsed = self.word(row, minutes, OracleUnit::Seconds, Some(60.0));
    }

    fn db_time(&mut self, row: &ReportRow, words: &[&[u8]]) {
        self.report.header.db_time = self.word(row, words.get(2), OracleUnit::Seconds, Some(60.0));
        // Statspack goes on with `(mins) DB CPU: 15.64 (mins)`.
        let cpu = words.iter().position(|word| word.eq_ignore_ascii_case(b"CPU:"));
        let cpu = cpu.and_then(|at| words.get(at + 1));
        self.report.header.db_cpu = self.word(row, cpu, OracleUnit::Seconds, Some(60.0));
    }

    /// Number, date and time, sessions, cursors, and in a cluster the instances that ran. Months of
    /// some languages hold blanks (`23-4月 -14`): the time ends with the first word that has a
    /// colon.
    fn snapshot(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        words: &[&[u8]],
    ) -> ReportSnapshot {
        let clock = words.iter().skip(1).position(|word| word.contains(&b':')).map(|at| at + 1);
        let clock = clock.filter(|clock| *clock <= 5);
        let time = clock.map(|clock| text(&words[1..=clock].join(&b' ')));
        let rest = clock.map_or(words.len(), |clock| clock + 1);
        let of_cluster = table.named(&["instances"]).is_some();
        ReportSnapshot {
            id: self.word(row, words.first(), OracleUnit::Count, None),
            clock_s: time.as_deref().and_then(time::clock_s),
            time,
            sessions: self.word(row, words.get(rest), OracleUnit::Count, None),
            instances: of_cluster
                .then(|| self.word(row, words.get(rest + 2), OracleUnit::Count, None))
                .flatten(),
        }
    }

    fn word(
        &mut self,
        row: &ReportRow,
        word: Option<&&[u8]>,
        unit: OracleUnit,
        scale: Option<f64>,
    ) -> Option<OracleQuantity> {
        let row = ReportRow { line: row.line, cells: vec![Cow::Borrowed(*word?)] };
        self.scaled(OracleSection::Header, &row, 0, unit, scale)
    }

    /// `Std Block Size: 8K`; the number can be missing (`K`), which is not a block size.
    fn block_size(&mut self, row: &ReportRow) {
        let label = row.cells.iter().position(|cell| cell.starts_with(b"Std Block Size"));
        let Some(column) = label.map(|label| label + 1) else {
            return;
        };
        let block = self.scaled(OracleSection::CacheSizes, row, column, OracleUnit::Bytes, None);
        let block = block.filter(|block| block.value >= 512.0);
        fill(&mut self.report.header.block, block);
    }
}

/// Memory is printed in GB of 1024 cubed.
fn gibibytes(memory: OracleQuantity) -> OracleQuantity {
    memory.scaled(1024.0_f64.powi(3), OracleUnit::Bytes)
}

fn fill<T>(field: &mut Option<T>, found: Option<T>) {
    if field.is_none() {
        *field = found;
    }
}
