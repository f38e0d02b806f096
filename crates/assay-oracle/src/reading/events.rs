//! Tables of waits: events and wait classes, of one instance or of all.

use super::ReportReading;
use crate::quantity::{OracleQuantity, OracleUnit};
use crate::report::{ReportEvent, ReportForm, ShareOf, SqlIo};
use crate::section::OracleSection;
use crate::table::{OracleTable, ReportRow};
use crate::text::is_sql_id;

/// The columns of a table of waits; units differ between releases under the same heading.
struct EventColumns {
    name: usize,
    class: Option<usize>,
    waits: Option<usize>,
    time: Option<usize>,
    average: Option<usize>,
    share: Option<usize>,
}

impl EventColumns {
    fn of(table: &OracleTable) -> Option<Self> {
        let is_total = |head: &str| head.contains("time") || head.contains("total(s)");
        let in_seconds = |head: &str| {
            ["(s)", "(sec)", "(cs)"].iter().any(|unit| head.contains(unit))
                || head.starts_with("tota ")
        };
        Some(Self {
            name: table
                .column(|head| head == "event" || head.ends_with(" event"))
                .or_else(|| table.named(&["wait class"]))?,
            class: table.column(|head| head.contains("class")),
            waits: table.column(|head| head.ends_with("waits")),
            time: table.column(|head| {
                is_total(head) && in_seconds(head) && !head.contains("avg") && !head.contains('%')
            }),
            average: table.column(|head| head.contains("avg") && !head.contains("active")),
            share: table.column(|head| {
                ["% db", "%db", "% bg", "%bg", "%total", "% total", "% call", "%call", "% ela"]
                    .iter()
                    .any(|part| head.contains(part))
            }),
        })
    }
}

/// The words that a column of a text report can have for a heading. A column with any other word
/// over it, or with one twice, got words of its neighbours or of a note, and what its numbers mean
/// is not known.
const NAME: &[&str] = &["event", "wait", "class"];
const WAITS: &[&str] = &["total", "waits"];
const TIME: &[&str] =
    &["total", "tota", "wait", "time", "(s)", "(sec)", "(cs)", "time(s)", "total(s)"];
const AVERAGE: &[&str] =
    &["avg", "wait", "time", "(ms)", "(s)", "(cs)", "(us)", "avg(ms)", "wait(ms)"];
const SHARE: &[&str] =
    &["%", "of", "%db", "%bg", "%total", "%call", "total", "db", "bg", "call", "ela", "time"];

/// Whether a heading is made of these words, each once. A global report has groups of columns,
/// whose headings are words of the columns, too.
fn is_of(head: &str, words: &[&str], is_global: bool) -> bool {
    let mut seen: Vec<&str> = Vec::with_capacity(4);
    head.split([' ', '_']).all(|word| {
        let is_known = words.contains(&word) || (is_global && word == "event");
        let is_new = is_global || !seen.contains(&word);
        seen.push(word);
        is_known && is_new
    })
}

impl EventColumns {
    /// Those of a text report whose headings have one meaning each; `None` where the name or
    /// everything else has none.
    fn with_one_meaning(self, table: &OracleTable) -> Option<Self> {
        let is_global = table.named(&["i#"]).is_some();
        let only = |column: Option<usize>, words: &[&str]| {
            column.filter(|column| is_of(table.head(*column), words, is_global))
        };
        let columns = Self {
            name: only(Some(self.name), NAME)?,
            class: only(self.class, NAME),
            waits: only(self.waits, WAITS),
            time: only(self.time, TIME),
            average: only(self.average, AVERAGE),
            share: only(self.share, SHARE),
        };
        (columns.time.is_some() || columns.waits.is_some()).then_some(columns)
    }
}

/// Seconds that one printed unit is, by the heading.
fn scale(head: &str) -> Option<f64> {
    if head.contains("(ms)") {
        Some(1e-3)
    } else if head.contains("(cs)") {
        Some(1e-2)
    } else if head.contains("(s)") || head.contains("(sec)") || head.starts_with("tota ") {
        Some(1.0)
    } else {
        None
    }
}

/// What a column of percents is a share of: Statspack prints `% Total Call Time` (9i `% Total Ela
/// Time`), which holds waits of background processes and is not DB time. Statspack for 11g and
/// later still does, under `% Total Call Time`.
fn share_of(table: &OracleTable, column: usize) -> ShareOf {
    let head = table.head(column);
    let is_background = table.section == OracleSection::BackgroundEvents
        || table.section == OracleSection::TopBackgroundEvents
        || head.contains("bg");
    match head {
        _ if head.contains("call") || head.contains("ela") => ShareOf::CallTime,
        _ if is_background => ShareOf::BackgroundTime,
        _ => ShareOf::DbTime,
    }
}

impl ReportReading {
    pub(super) fn events(&mut self, table: &OracleTable) {
        let Some(columns) = self.columns(table) else {
            return;
        };
        let instances = table.named(&["i#"]);
        let mut whole = true;
        for row in &table.rows {
            // Of a global report only the rows of the whole cluster; a blank `I#` goes on with the
            // one above.
            match instances.map(|column| row.text(column)).as_deref() {
                None | Some("") => {}
                Some(instance) => whole = instance == "*",
            }
            if whole {
                let event = self.event(table, row, &columns);
                self.keep(table.section, event);
            }
        }
    }

    /// The columns by their headings; ambiguous ones are noted.
    fn columns(&mut self, table: &OracleTable) -> Option<EventColumns> {
        let columns = EventColumns::of(table);
        if self.report.form == ReportForm::Html {
            return columns;
        }
        let columns = columns.and_then(|columns| columns.with_one_meaning(table));
        if columns.is_none() {
            self.unreadable(table);
        }
        columns
    }

    fn keep(&mut self, section: OracleSection, event: ReportEvent) {
        if event.name.is_empty() {
            return;
        }
        match section {
            OracleSection::ForegroundEvents => self.report.foreground_events.push(event),
            OracleSection::BackgroundEvents => self.report.background_events.push(event),
            OracleSection::AllEvents => self.report.all_events.push(event),
            OracleSection::TopBackgroundEvents => self.report.top_background.push(event),
            OracleSection::TopEventsOfAll => {
                self.report.top_of_all.push(event.clone());
                self.report.all_events.push(event);
            }
            OracleSection::WaitClasses => self.report.wait_classes.push(event),
            _ => self.report.top_events.push(event),
        }
    }

    fn event(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        columns: &EventColumns,
    ) -> ReportEvent {
        let is_class_table = columns.class == Some(columns.name);
        ReportEvent {
            name: row.text(columns.name),
            class: row.some_text(columns.class.filter(|_| !is_class_table)),
            waits: self.number(table, row, columns.waits, OracleUnit::Count),
            time: columns.time.and_then(|column| self.seconds(table, row, column)),
            average: columns.average.and_then(|column| self.seconds(table, row, column)),
            share: self.number(table, row, columns.share, OracleUnit::Share),
            share_of: columns.share.map_or(ShareOf::DbTime, |share| share_of(table, share)),
        }
    }

    fn seconds(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        column: usize,
    ) -> Option<OracleQuantity> {
        let head = table.head(column);
        // 11.2.0.4 text gives the total four characters and cuts what is longer at its right end.
        let cell = row.cell(column);
        if self.report.form == ReportForm::Text && head.starts_with("tota ") && cell.len() >= 4 {
            return self.unread(
                table.section,
                row.line,
                cell,
                "it may be cut: its column is four wide",
            );
        }
        self.scaled(table.section, row, column, OracleUnit::Seconds, scale(head))
    }

    /// Wait classes: rows of classes, or in a global report columns of classes.
    pub(super) fn wait_classes(&mut self, table: &OracleTable) {
        if table.named(&["i#"]).is_none() {
            return self.events(table);
        }
        let Some(row) = whole_row(table) else {
            return;
        };
        for (head, class) in CLASS_HEADS {
            let column = table.column(|found| found.starts_with(head));
            let time = column.and_then(|column| {
                self.scaled(OracleSection::WaitClasses, row, column, OracleUnit::Seconds, Some(1.0))
            });
            if time.is_some() {
                self.report.wait_classes.push(ReportEvent {
                    name: (*class).to_owned(),
                    class: None,
                    waits: None,
                    time,
                    average: None,
                    share: None,
                    share_of: ShareOf::DbTime,
                });
            }
        }
    }

    pub(super) fn sql(&mut self, table: &OracleTable) {
        let id = table.named(&["sql id"]);
        let time = table.named(&["user i/o time (s)", "total iowait (s)"]);
        let executions = table.named(&["executions", "total execs"]);
        let elapsed = table.named(&["elapsed time (s)", "total elapsed (s)"]);
        let (Some(id), Some(time)) = (id, time) else {
            return self.unreadable(table);
        };
        for row in table.rows.iter().filter(|row| is_sql_id(row.cell(id))) {
            let mut seconds = |column: usize| {
                self.scaled(table.section, row, column, OracleUnit::Seconds, Some(1.0))
            };
            let (io_time, elapsed) = (seconds(time), elapsed.and_then(seconds));
            let executions = self.number(table, row, executions, OracleUnit::Count);
            self.report.sql_by_io_time.push(SqlIo {
                sql_id: row.text(id),
                io_time,
                executions,
                elapsed,
            });
        }
    }
}

const CLASS_HEADS: &[(&str, &str)] = &[
    ("user i/o", "User I/O"),
    ("sys i/o", "System I/O"),
    ("other", "Other"),
    ("applic", "Application"),
    ("commit", "Commit"),
    ("network", "Network"),
    ("concurcy", "Concurrency"),
    ("config", "Configuration"),
    ("cluster", "Cluster"),
    ("admin", "Administrative"),
    ("scheduler", "Scheduler"),
    ("db cpu", "DB CPU"),
];

/// The row of a table by instance that stands for the cluster: the sum, or the only instance.
pub(super) fn whole_row<'t, 'a>(table: &'t OracleTable<'a>) -> Option<&'t ReportRow<'a>> {
    let column = table.named(&["i#"])?;
    let sum = table.rows.iter().find(|row| matches!(row.cell(column), b"Sum" | b"*"));
    let single = || match table.rows.as_slice() {
        [row] => Some(row),
        _ => None,
    };
    sum.or_else(single)
}
