//! What all ladders have in common: how a table is made of steps, cells of any kind of load, and
//! the tables that every load has.

use super::split::SessionSplit;
use crate::clock::show_length;
use crate::format::{Formatter, even_half};
use crate::view::ViewTable;
use assay_model::Estimate;
use assay_model::counters::DeviceCounters;
use assay_model::load::Rung;
use assay_model::number::{rate, real, share};
use assay_model::units::{show_count, show_throughput, show_time_ns};
use assay_model::verdict::Unit;

/// What a table is made by: its heading, and for each column a name and how a step fills it.
pub(crate) struct LadderColumns {
    /// What it shows.
    pub(crate) title: &'static str,
    /// Name and content.
    pub(crate) columns: Vec<(&'static str, ColumnFill)>,
}

/// How a step fills a column.
pub(crate) type ColumnFill = fn(&Rung) -> String;

/// Stands where nothing is known.
const UNKNOWN: &str = "–";

impl LadderColumns {
    /// The table with a row a step.
    pub(crate) fn table(&self, rungs: &[Rung]) -> ViewTable {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let row = |rung: &Rung| self.columns.iter().map(|(_, fill)| fill(rung)).collect();
        ViewTable::of_numbers(self.title, &names).all_numbers().with(rungs.iter().map(row))
    }

    /// Cells of one sort side by side, behind the sessions, which are called `sessions_name`.
    pub(super) fn side_by_side<const N: usize>(
        title: &'static str,
        sessions_name: &'static str,
        names: [&'static str; N],
        fills: [ColumnFill; N],
    ) -> Self {
        let mut columns: Vec<(&'static str, ColumnFill)> = vec![(sessions_name, sessions)];
        columns.extend(names.into_iter().zip(fills));
        Self { title, columns }
    }
}

/// The columns that DBAs know from AWR: what was done a second.
pub(super) fn workload() -> LadderColumns {
    LadderColumns {
        title: "Load profile per second",
        columns: vec![
            ("sessions", sessions),
            ("DB time", |rung| part(Some(SessionSplit::of(rung).database))),
            ("DB CPU", |rung| part(SessionSplit::of(rung).cpu)),
            ("executes", |rung| show_count(rung.statements_per_s())),
            ("commits", |rung| counted(rung, rung.database.commits)),
            ("blocks", |rung| counted(rung, rung.database.logical_reads)),
            ("reads", |rung| counted(rung, rung.database.reads)),
            ("read", |rung| moved(rung, rung.database.read_bytes)),
            ("writes", |rung| counted(rung, rung.database.writes)),
            ("written", |rung| moved(rung, rung.database.write_bytes)),
            ("redo", |rung| moved(rung, rung.database.log_bytes)),
        ],
    }
}

/// Sessions that were on average in each state: time a second.
pub(super) fn waits() -> LadderColumns {
    LadderColumns {
        title: "DB time (s per s, i.e. average active sessions)",
        columns: vec![
            ("sessions", sessions),
            ("DB time", |rung| part(Some(SessionSplit::of(rung).database))),
            ("CPU", |rung| part(SessionSplit::of(rung).cpu)),
            ("data I/O", |rung| part(SessionSplit::of(rung).data_io)),
            ("commit", |rung| part(SessionSplit::of(rung).commit)),
            ("locks", |rung| part(SessionSplit::of(rung).locks)),
            ("other", |rung| part(SessionSplit::of(rung).other)),
            ("unaccounted", |rung| part(SessionSplit::of(rung).rest)),
            ("(CPU queue)", |rung| a_second(rung, rung.time.cpu_queue_ns)),
            ("top wait", |rung| SessionSplit::of(rung).top_wait.unwrap_or_else(unknown)),
        ],
    }
}

/// The database's view of an I/O next to the device's, and what it costs.
pub(super) fn device() -> LadderColumns {
    LadderColumns {
        title: "I/O latency: database and device, and CPU time per 1,000 I/Os",
        columns: vec![
            ("sessions", sessions),
            ("DB read wait", |rung| mean(rung.read_wait_mean_ns())),
            ("log sync wait", |rung| {
                let syncs = rung.database.log_syncs.filter(|syncs| *syncs > 0);
                mean(
                    rung.database
                        .log_sync_wait_ns
                        .zip(syncs)
                        .map(|(waited, syncs)| share(waited, syncs)),
                )
            }),
            ("device read", |rung| {
                mean(rung.device.as_ref().and_then(|device| device.counters.read_time_mean_ns()))
            }),
            ("device write", |rung| {
                mean(rung.device.as_ref().and_then(|device| device.counters.write_time_mean_ns()))
            }),
            ("w/s", |rung| of_device(rung, |device| device.write_ios)),
            ("server/1,000", |rung| cpu(rung, rung.server_cpu_s)),
            ("client/1,000", |rung| cpu(rung, Some(rung.client_cpu_s))),
        ],
    }
}

pub(super) fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// Sessions, with the repeat where there are several.
pub(super) fn sessions(rung: &Rung) -> String {
    match rung.repeat {
        1 => rung.sessions.to_string(),
        repeat => format!("{} ({repeat})", rung.sessions),
    }
}

pub(super) fn elapsed(rung: &Rung) -> String {
    show_length(rung.elapsed_s())
}

/// Half the width of the interval around the rate of statements, as a share of it.
pub(super) fn uncertainty(rung: &Rung) -> String {
    doubt(rung.statements)
}

/// The same of any rate; where the interval reaches further to one side, both its ends as shares of
/// the rate.
pub(super) fn doubt(rate: Option<Estimate>) -> String {
    let ends = |estimate: Estimate| {
        let share = |end: f64| 100.0 * (end / estimate.value - 1.0);
        if estimate.is_at_least() {
            return format!("from {:+.0}%", share(estimate.low.max(0.0)));
        }
        format!("{:+.0} … {:+.0}%", share(estimate.low.max(0.0)), share(estimate.high))
    };
    rate.filter(|estimate| estimate.value > 0.0).map_or_else(unknown, |estimate| {
        match even_half(Unit::Count, &estimate) {
            Some(half) => Formatter::half_width(half),
            None => ends(estimate),
        }
    })
}

/// How busy the machine's processors were.
pub(super) fn busy(rung: &Rung) -> String {
    rung.host_busy_share.map_or_else(unknown, |share| format!("{:.0}%", 100.0 * share))
}

/// Sessions on average; less than nothing is what rounding leaves of it.
pub(super) fn part(sessions: Option<f64>) -> String {
    let shown = sessions.map(|sessions| if sessions.abs() < 0.005 { 0.0 } else { sessions });
    shown.map_or_else(unknown, |sessions| format!("{sessions:.2}"))
}

/// Time a second of elapsed time: the sessions that were in a state on average.
fn a_second(rung: &Rung, time_ns: Option<u64>) -> String {
    let elapsed_s = rung.elapsed_s().max(1e-9);
    time_ns.map_or_else(unknown, |time_ns| format!("{:.2}", real(time_ns) / 1e9 / elapsed_s))
}

pub(super) fn counted(rung: &Rung, count: u64) -> String {
    show_count(rate(count, rung.elapsed_s()))
}

pub(super) fn moved(rung: &Rung, bytes: u64) -> String {
    show_throughput(rate(bytes, rung.elapsed_s()))
}

pub(super) fn of_device(rung: &Rung, count: fn(&DeviceCounters) -> u64) -> String {
    let device = rung.device.as_ref();
    device.map_or_else(unknown, |device| counted(rung, count(&device.counters)))
}

fn mean(time_ns: Option<f64>) -> String {
    time_ns.map_or_else(unknown, show_time_ns)
}

fn cpu(rung: &Rung, cpu_s: Option<f64>) -> String {
    let each = cpu_s.and_then(|cpu_s| rung.cpu_s_per_thousand(cpu_s));
    each.map_or_else(unknown, |cpu_s| show_time_ns(cpu_s * 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::made_up::rung;
    use assay_model::load::TimeSplit;

    /// What a table shows of a step, by the names of its columns.
    fn shown(columns: &LadderColumns, rung: &Rung) -> Vec<(&'static str, String)> {
        columns.columns.iter().map(|(name, fill)| (*name, fill(rung))).collect()
    }

    fn cell(cells: &[(&'static str, String)], name: &str) -> String {
        cells.iter().find(|(other, _)| *other == name).unwrap().1.clone()
    }

    #[test]
    fn two_tables_show_one_reading_and_cpu_never_exceeds_db_time() {
        let mut rung = rung(2, 0);
        let elapsed_ns = assay_model::number::count(rung.elapsed_s() * 1e9);
        rung.time = TimeSplit {
            database_ns: 2 * elapsed_ns,
            cpu_ns: Some(3 * elapsed_ns),
            cpu_queue_ns: Some(elapsed_ns),
            read_ns: Some(elapsed_ns),
            write_ns: None,
            commit_ns: None,
        };
        let (profile, waits) = (shown(&workload(), &rung), shown(&waits(), &rung));
        assert_eq!(cell(&profile, "DB time"), cell(&waits, "DB time"));
        assert_eq!(cell(&profile, "DB CPU"), cell(&waits, "CPU"));
        assert_eq!(cell(&waits, "CPU"), "2.00");
        rung.time.read_ns = None;
        let waits = shown(&super::waits(), &rung);
        assert_eq!(cell(&waits, "data I/O"), unknown(), "what is not timed is not 0");
        assert_eq!(cell(&waits, "locks"), unknown());
    }
}
