//! Rates and counters: Load Profile, IO Profile, time model, instance activity, operating system.

use super::ReportReading;
use super::events::whole_row;
use crate::quantity::{OracleQuantity, OracleUnit};
use crate::report::{InstanceRates, IoProfileRow, LoadRow, NamedAmount, ReportForm, Statistic};
use crate::section::OracleSection;
use crate::table::{OracleTable, ReportRow};

/// Columns of the machine's load and shares that every release prints.
const HOST_COLUMNS: usize = 4;

impl ReportReading {
    pub(super) fn load_profile(&mut self, table: &OracleTable) {
        let is_page = self.report.form == ReportForm::Html;
        let column = |name: &str, usual: usize| table.named(&[name]).or(is_page.then_some(usual));
        let (per_second, per_transaction) = (column("per second", 1), column("per transaction", 2));
        if per_second.is_none() || per_transaction.is_none() {
            self.unreadable(table);
        }
        for row in table.rows.iter().filter(|row| row.cell(0).ends_with(b":")) {
            let (name, _) = label(row);
            // The line under the block holds two percentages with labels of their own.
            if name.contains('%') {
                continue;
            }
            let per_second = self.number(table, row, per_second, OracleUnit::Labelled);
            let per_transaction = self.number(table, row, per_transaction, OracleUnit::Labelled);
            self.report.load_profile.push(LoadRow { name, per_second, per_transaction });
        }
    }

    pub(super) fn io_profile(&mut self, table: &OracleTable) {
        let column = |opens: &'static str| {
            let is = move |head: &str| {
                head.starts_with(opens) && (opens.contains('+') || !head.contains('+'))
            };
            table.column(is)
        };
        let (both, read, write) = (column("read+write"), column("read"), column("write"));
        for row in &table.rows {
            let (name, is_label) = label(row);
            if name.is_empty() || !(is_label || table.head(0) == "statistic") {
                continue;
            }
            let mut number = |column| self.number(table, row, column, OracleUnit::Labelled);
            let (both, read, write) = (number(both), number(read), number(write));
            self.report.io_profile.push(IoProfileRow { name, both, read, write });
        }
    }

    pub(super) fn time_model(&mut self, table: &OracleTable) {
        if table.named(&["i#"]).is_some() {
            return self.time_model_of_all(table);
        }
        let Some(time) = table.named(&["time (s)"]) else {
            return self.unreadable(table);
        };
        for row in &table.rows {
            let value = self.scaled(table.section, row, time, OracleUnit::Seconds, Some(1.0));
            let name = row.text(0);
            self.report.time_model.push(NamedAmount { name, value });
        }
    }

    fn time_model_of_all(&mut self, table: &OracleTable) {
        const HEADS: &[(&str, &str)] = &[
            ("db time (s)", "DB time"),
            ("db cpu (s)", "DB CPU"),
            ("sql exec ela (s)", "sql execute elapsed time"),
            ("bg time (s)", "background elapsed time"),
            ("bg cpu (s)", "background cpu time"),
        ];
        let Some(row) = whole_row(table) else {
            return;
        };
        for (head, name) in HEADS {
            let column = table.named(&[head]);
            let value = column.and_then(|column| {
                self.scaled(table.section, row, column, OracleUnit::Seconds, Some(1.0))
            });
            let name = (*name).to_owned();
            self.report.time_model.push(NamedAmount { name, value });
        }
    }

    /// Counters with a total and a rate; tables of absolute values have other columns and are
    /// passed by.
    pub(super) fn activity(&mut self, table: &OracleTable) {
        let (Some(total), Some(rate)) = (table.named(&["total"]), table.named(&["per second"]))
        else {
            if table.named(&["begin value", "per hour", "end value"]).is_none() {
                self.unreadable(table);
            }
            return;
        };
        for row in &table.rows {
            let total = self.number(table, row, Some(total), OracleUnit::Labelled);
            let per_second = self.number(table, row, Some(rate), OracleUnit::Labelled);
            let name = row.text(0);
            self.report.activity.push(Statistic { name, total, per_second });
        }
    }

    pub(super) fn instance_rates(&mut self, table: &OracleTable) {
        let Some(instance) = table.named(&["i#"]) else {
            return;
        };
        for row in &table.rows {
            match (row.cell(instance), row.text(instance).parse()) {
                (b"Sum", _) => {
                    let rates = self.rates_of(table, row, 0);
                    self.cluster_rates(&rates);
                }
                (_, Ok(number)) if number > 0 => {
                    let rates = self.rates_of(table, row, number);
                    self.keep_rates(rates);
                }
                // `Avg`, `Std`, and what else is not an instance.
                _ => {}
            }
        }
        if let [only] = self.report.instances.as_slice() {
            let only = only.clone();
            self.cluster_rates(&only);
        }
    }

    fn keep_rates(&mut self, mut rates: InstanceRates) {
        let known = self.instance_of(rates.number);
        rates.name = known.name.take();
        (rates.sessions, rates.db_time) = (known.sessions, known.db_time);
        *known = rates;
    }

    /// What is known of an instance of a cluster, from whatever table.
    pub(super) fn instance_of(&mut self, number: u32) -> &mut InstanceRates {
        let instances = &mut self.report.instances;
        let at = instances.iter().position(|instance| instance.number == number);
        let at = at.unwrap_or_else(|| {
            instances.push(InstanceRates::unknown(number));
            instances.len() - 1
        });
        &mut instances[at]
    }

    /// Sessions at both ends, of each instance and of all.
    pub(super) fn sessions(&mut self, table: &OracleTable) {
        let (Some(instance), Some(begin)) =
            (table.named(&["i#"]), table.named(&["sessions begin"]))
        else {
            return;
        };
        let end = table.named(&["sessions end"]);
        let counts = |row: &&ReportRow| {
            row.cell(instance) == b"Sum" || row.text(instance).parse::<u32>().is_ok()
        };
        for row in table.rows.iter().filter(counts) {
            let at_begin = self.number(table, row, Some(begin), OracleUnit::Count);
            if let Ok(number) = row.text(instance).parse() {
                self.instance_of(number).sessions = at_begin;
            }
            let is_whole = row.cell(instance) == b"Sum" || table.rows.len() == 1;
            let is_first = self.report.header.begin.sessions.is_none();
            if is_whole || (is_first && self.report.instances.len() == 1) {
                self.report.header.begin.sessions = at_begin;
                self.report.header.end.sessions = self.number(table, row, end, OracleUnit::Count);
            }
        }
    }

    /// Load and shares of the machine as the first page prints them.
    pub(super) fn host_cpu(&mut self, table: &OracleTable) {
        let Some(row) = table.rows.first() else { return };
        let column = |word: &str| table.column(|head| head.split(' ').any(|part| part == word));
        let names = [
            ("LOAD", column("begin"), OracleUnit::Labelled),
            ("LOAD_END", column("end"), OracleUnit::Labelled),
            ("WIO", column("%wio").or_else(|| column("wio")), OracleUnit::Share),
            ("IDLE", column("%idle").or_else(|| column("idle")), OracleUnit::Share),
            ("NUM_CPU_CORES", column("cores"), OracleUnit::Count),
            ("NUM_CPU_SOCKETS", column("sockets"), OracleUnit::Count),
        ];
        // AIX has no sockets and its row is out of step; the operating system's own table says the
        // same.
        if row.cells.iter().any(|cell| cell.contains(&b'#')) {
            self.unread(table.section, row.line, b"", "its numbers are not under their headings");
            return;
        }
        if names.iter().take(HOST_COLUMNS).any(|(_, column, _)| column.is_none()) {
            return self.unreadable(table);
        }
        for (name, column, unit) in names {
            let value = self.number(table, row, column, unit);
            self.report.host_cpu.push(NamedAmount { name: name.to_owned(), value });
        }
    }

    fn rates_of(&mut self, table: &OracleTable, row: &ReportRow, number: u32) -> InstanceRates {
        let mut rate =
            |name: &str| self.number(table, row, table.named(&[name]), OracleUnit::Labelled);
        InstanceRates {
            name: None,
            sessions: None,
            db_time: None,
            number,
            read_blocks: rate("physical reads/s"),
            write_blocks: rate("physical writes/s"),
            redo: rate("redo size (k)/s")
                .map(|redo| redo.scaled(1024.0, OracleUnit::BytesPerSecond)),
            logical_reads: rate("logical reads/s"),
            executes: rate("execs/s"),
            block_changes: rate("block changes/s"),
            transactions: rate("txns/s"),
        }
    }

    /// The cluster's rates stand where a single instance has its Load Profile.
    fn cluster_rates(&mut self, rates: &InstanceRates) {
        let rows = [
            ("Physical reads", rates.read_blocks),
            ("Physical writes", rates.write_blocks),
            ("Redo size", rates.redo),
            ("Logical reads", rates.logical_reads),
            ("Executes", rates.executes),
            ("Block changes", rates.block_changes),
            ("Transactions", rates.transactions),
        ];
        for (name, per_second) in rows {
            self.report.load_profile.push(LoadRow {
                name: name.to_owned(),
                per_second,
                per_transaction: None,
            });
        }
    }

    pub(super) fn operating_system(&mut self, table: &OracleTable) {
        if table.named(&["i#"]).is_some() {
            return self.cpus_of_all(table);
        }
        let Some(value) = table.named(&["value", "total"]) else {
            if table.column(|head| head.contains("%busy")).is_none() {
                self.unreadable(table);
            }
            return;
        };
        for row in &table.rows {
            let name = row.text(0);
            // Times are printed in hundredths of a second.
            let is_time = name.ends_with("_TIME");
            let (unit, scale) = if is_time {
                (OracleUnit::Seconds, Some(0.01))
            } else {
                (OracleUnit::Labelled, None)
            };
            let value = self.scaled(table.section, row, value, unit, scale);
            if name == "LOAD" {
                self.load_at_end(table, row);
            }
            self.report.operating_system.push(NamedAmount { name, value });
        }
    }

    fn load_at_end(&mut self, table: &OracleTable, row: &ReportRow) {
        let value = self.number(table, row, table.named(&["end value"]), OracleUnit::Labelled);
        self.report.operating_system.push(NamedAmount { name: "LOAD_END".to_owned(), value });
    }

    /// A row an instance; CPUs, cores and times add up, loads do not.
    fn cpus_of_all(&mut self, table: &OracleTable) {
        let Some(instance) = table.named(&["i#"]) else {
            return;
        };
        let with = |words: &'static [&'static str]| {
            table.column(move |head| words.iter().all(|word| head.contains(word)))
        };
        let cpus = table.named(&["num cpus", "cpu #cpus", "#cpus", "cpus"]);
        let cpus = self.sum_of(table, instance, cpus, OracleUnit::Count);
        let names = [
            (
                "NUM_CPU_CORES",
                table.named(&["cpu #cores", "cpu cores", "cores"]),
                OracleUnit::Count,
            ),
            ("NUM_CPU_SOCKETS", table.named(&["cpu #sckts", "cpu sckts"]), OracleUnit::Count),
            (
                "BUSY_TIME",
                with(&["time", "busy"]).or_else(|| with(&["busy", "time"])),
                OracleUnit::Seconds,
            ),
            (
                "IDLE_TIME",
                with(&["time", "idle"]).or_else(|| with(&["idle", "time"])),
                OracleUnit::Seconds,
            ),
            ("LOAD", with(&["load", "begin"]), OracleUnit::Labelled),
            ("LOAD_END", with(&["load", "end"]), OracleUnit::Labelled),
        ];
        for (name, column, unit) in names {
            let value = self.sum_of(table, instance, column, unit);
            self.report.operating_system.push(NamedAmount { name: name.to_owned(), value });
        }
        self.report.header.cpus = self.report.header.cpus.or(cpus);
    }

    /// The sum over the rows of instances.
    fn sum_of(
        &mut self,
        table: &OracleTable,
        instance: usize,
        column: Option<usize>,
        unit: OracleUnit,
    ) -> Option<OracleQuantity> {
        let mut sum: Option<OracleQuantity> = None;
        for row in table.rows.iter().filter(|row| row.text(instance).parse::<u32>().is_ok()) {
            let one = self.scaled(OracleSection::OperatingSystem, row, column?, unit, Some(1.0))?;
            sum =
                Some(sum.map_or(one, |sum| OracleQuantity { value: sum.value + one.value, ..sum }));
        }
        sum
    }
}

impl InstanceRates {
    /// An instance of which nothing is known yet.
    const fn unknown(number: u32) -> Self {
        Self {
            number,
            name: None,
            sessions: None,
            db_time: None,
            read_blocks: None,
            write_blocks: None,
            redo: None,
            logical_reads: None,
            executes: None,
            block_changes: None,
            transactions: None,
        }
    }
}

/// The label of a row without its colon, and whether it had one.
fn label(row: &ReportRow) -> (String, bool) {
    let text = row.text(0);
    match text.strip_suffix(':') {
        Some(name) => (name.to_owned(), true),
        None => (text, false),
    }
}
