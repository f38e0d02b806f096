//! Every number of a report under a name of its own, and what became of them in another reading.

use assay_model::profile::{Bottleneck, Profile};
use assay_oracle::profile;
use assay_oracle::report::{FileIo, IoStat, OracleQuantity, OracleReport, ReportEvent};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers by name; a name that stands in several rows has several.
#[derive(Default)]
pub struct Numbers {
    by_name: BTreeMap<String, Vec<OracleQuantity>>,
}

impl Numbers {
    pub fn from_report(report: &OracleReport) -> Self {
        let mut numbers = Self::default();
        numbers.header(report);
        numbers.rates(report);
        numbers.events(report);
        numbers.io(report);
        numbers
    }

    pub fn count(&self) -> usize {
        self.by_name.values().map(Vec::len).sum()
    }

    /// The numbers of that name, or of one of which it is the beginning: a copy may cut names.
    fn under(&self, name: &str) -> Vec<OracleQuantity> {
        let (start, column) = name.rsplit_once(':').unwrap();
        let is_cut = |known: &&String| known.starts_with(start) && known.ends_with(column);
        let names = self.by_name.get_key_value(name).map(|(name, _)| name);
        let names: Vec<&String> =
            names.map_or_else(|| self.by_name.keys().filter(is_cut).collect(), |name| vec![name]);
        names.into_iter().flat_map(|name| self.by_name[name].clone()).collect()
    }

    fn keep(&mut self, list: &str, row: &str, column: &str, number: Option<OracleQuantity>) {
        if let Some(number) = number {
            let name = format!("{list}: {row}: {column}");
            self.by_name.entry(name).or_default().push(number);
        }
    }

    fn header(&mut self, report: &OracleReport) {
        let header = &report.header;
        let numbers = [
            ("elapsed", header.elapsed),
            ("DB time", header.db_time),
            ("DB CPU", header.db_cpu),
            ("block", header.block),
            ("CPUs", header.cpus),
            ("cores", header.cores),
            ("sockets", header.sockets),
            ("memory", header.memory),
            ("instance", header.instance_number),
            ("covered", header.instances_covered),
            ("begin", header.begin.id),
            ("end", header.end.id),
            ("sessions at begin", header.begin.sessions),
            ("sessions at end", header.end.sessions),
        ];
        for (name, number) in numbers {
            self.keep("header", name, "", number);
        }
    }

    fn rates(&mut self, report: &OracleReport) {
        for row in &report.load_profile {
            self.keep("load", &row.name, "per second", row.per_second);
            self.keep("load", &row.name, "per transaction", row.per_transaction);
        }
        for row in &report.io_profile {
            self.keep("I/O profile", &row.name, "both", row.both);
            self.keep("I/O profile", &row.name, "read", row.read);
            self.keep("I/O profile", &row.name, "write", row.write);
        }
        for row in &report.time_model {
            self.keep("time model", &row.name, "s", row.value);
        }
        for row in &report.operating_system {
            self.keep("OS", &row.name, "", row.value);
        }
        for row in &report.host_cpu {
            self.keep("host", &row.name, "", row.value);
        }
        for row in &report.activity {
            self.keep("activity", &row.name, "total", row.total);
            self.keep("activity", &row.name, "per second", row.per_second);
        }
        for row in &report.instances {
            let name = row.number.to_string();
            self.keep("instance", &name, "reads", row.read_blocks);
            self.keep("instance", &name, "writes", row.write_blocks);
            self.keep("instance", &name, "redo", row.redo);
            self.keep("instance", &name, "sessions", row.sessions);
            self.keep("instance", &name, "DB time", row.db_time);
        }
    }

    fn events(&mut self, report: &OracleReport) {
        let lists: [(&str, &[ReportEvent]); 6] = [
            ("classes", &report.wait_classes),
            ("top", &report.top_events),
            ("foreground", &report.foreground_events),
            ("background", &report.background_events),
            ("together", &report.all_events),
            ("top background", &report.top_background),
        ];
        for (list, events) in lists {
            for event in events {
                self.keep(list, &event.name, "waits", event.waits);
                self.keep(list, &event.name, "time", event.time);
                self.keep(list, &event.name, "average", event.average);
                self.keep(list, &event.name, "share", event.share);
            }
        }
        for curve in &report.histograms {
            self.keep("histogram", &curve.event, "waits", curve.waits);
        }
        for row in &report.sql_by_io_time {
            self.keep("SQL", &row.sql_id, "I/O", row.io_time);
            self.keep("SQL", &row.sql_id, "executions", row.executions);
            self.keep("SQL", &row.sql_id, "elapsed", row.elapsed);
        }
    }

    fn io(&mut self, report: &OracleReport) {
        for row in &report.tablespaces {
            self.file("tablespace", row);
        }
        for row in &report.files {
            self.file("file", row);
        }
        for row in &report.io_by_function {
            self.purpose("function", row);
        }
        for row in &report.io_by_file_type {
            self.purpose("file type", row);
        }
        for row in &report.segments {
            self.keep("segment", &row.object, "reads", Some(row.reads));
            self.keep("segment", &row.object, "share", row.share);
        }
        for row in &report.buffer_pool {
            self.keep("pool", &row.pool, "size", row.size);
            self.keep("pool", &row.pool, "factor", row.factor);
            self.keep("pool", &row.pool, "reads", row.read_factor);
        }
    }

    fn file(&mut self, list: &str, row: &FileIo) {
        let file = row.file.as_deref().unwrap_or_default();
        let name = format!("{} {file}", row.tablespace);
        let numbers = [
            ("reads", row.reads),
            ("reads/s", row.reads_per_second),
            ("read time", row.read_time),
            ("blocks a read", row.blocks_per_read),
            ("single reads/s", row.single_reads_per_second),
            ("single read time", row.single_read_time),
            ("writes", row.writes),
            ("writes/s", row.writes_per_second),
        ];
        for (column, number) in numbers {
            self.keep(list, &name, column, number);
        }
    }

    fn purpose(&mut self, list: &str, row: &IoStat) {
        let name = format!("{:?} {}", row.instance, row.name);
        let numbers = [
            ("reads", row.reads),
            ("read bytes", row.read_throughput),
            ("writes", row.writes),
            ("written bytes", row.write_throughput),
            ("small time", row.small_time),
            ("large time", row.large_time),
        ];
        for (column, number) in numbers {
            self.keep(list, &name, column, number);
        }
    }
}

/// What became of the numbers of a report in the reading of a mutated copy.
#[derive(Clone, Default)]
pub struct Outcome {
    pub equal: usize,
    pub absent: usize,
    /// Numbers that the report does not have, absences of which nothing is said, and a verdict
    /// turned round.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Compares a copy with the report itself.
    pub fn of(whole: &OracleReport, copy: Option<&OracleReport>) -> Self {
        let known = Numbers::from_report(whole);
        let Some(copy) = copy else {
            // The file is refused, which says that all of it is absent.
            return Self { absent: known.count(), ..Self::default() };
        };
        let read = Numbers::from_report(copy);
        let mut outcome = Self::default();
        for (name, numbers) in &read.by_name {
            outcome.compare(name, &known.under(name), numbers);
        }
        outcome.absent = known.count().saturating_sub(outcome.equal);
        let said = said(copy);
        let silent = known.by_name.iter().filter(|(name, numbers)| {
            let left = read.by_name.get(*name).map_or(0, Vec::len);
            left < numbers.len() && !said.contains(numbers[0].section.title()) && !is_known(name)
        });
        outcome
            .wrong
            .extend(silent.map(|(name, _)| format!("{name}: absent, and nothing says so")));
        outcome.wrong.extend(turned(&profile(whole), &profile(copy)));
        outcome
    }

    fn compare(&mut self, name: &str, known: &[OracleQuantity], read: &[OracleQuantity]) {
        for number in read {
            let near = |other: &OracleQuantity| {
                (other.value - number.value).abs() <= 1e-9 * other.value.abs()
            };
            if known.iter().any(near) {
                self.equal += 1;
            } else {
                let known: Vec<f64> = known.iter().map(|one| one.value).collect();
                self.wrong.push(format!(
                    "{name}: {} instead of {known:?}, line {}",
                    number.value, number.line
                ));
            }
        }
    }
}

/// Facts of the header of which the page shows that they are unknown.
fn is_known(name: &str) -> bool {
    let facts =
        ["cores", "sockets", "instance", "begin", "end", "sessions at begin", "sessions at end"];
    facts.iter().any(|fact| name.starts_with(&format!("header: {fact}:")))
}

/// Titles of the sections of which a copy says that something was not read.
fn said(copy: &OracleReport) -> BTreeSet<&'static str> {
    let mut said: BTreeSet<&'static str> =
        copy.unread.iter().map(|unread| unread.section.title()).collect();
    let missing = profile(copy).missing;
    let sections = assay_oracle::report::OracleSection::ALL.iter().map(|section| section.title());
    said.extend(sections.filter(|title| missing.iter().any(|missing| missing == title)));
    let facts = ["elapsed time", "CPUs", "block size"];
    if missing.iter().any(|missing| facts.contains(&missing.as_str())) {
        said.extend(["header", "Cache Sizes"]);
    }
    // It follows from other numbers.
    said.extend(profile(copy).block_bytes.map(|_| "Cache Sizes"));
    said
}

/// A verdict may become unknown, but not another one.
fn turned(whole: &Profile, copy: &Profile) -> Option<String> {
    let (before, after) = (whole.verdict.bottleneck, copy.verdict.bottleneck);
    let is_turned = before != after && after != Bottleneck::Unknown;
    is_turned
        .then(|| format!("the verdict was {before:?} and is {after:?}: {}", copy.verdict.reason))
}
