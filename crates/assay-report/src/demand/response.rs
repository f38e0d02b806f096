//! Load against processors, and what a call, a transaction and a commit cost.

use super::facts::{percent, significant};
use crate::view::{CellLook, ViewTable};
use assay_model::profile::{Figure, Profile};
use assay_model::units::{show_bytes, show_count, show_time_ns};

/// What follows the top events: load against processors, response time, commits; none of a live
/// server.
pub(super) fn tables(profile: &Profile) -> Vec<ViewTable> {
    if profile.report.is_none() {
        return Vec::new();
    }
    vec![load(profile), split(profile), commits(profile)]
}

/// A table of numbers, each with a word on it.
fn with_notes(title: &str) -> ViewTable {
    ViewTable::new(title).look(CellLook::Dense).words("").numbers("number").words("note")
}

fn row(name: &str, value: String, note: impl Into<String>) -> Vec<String> {
    vec![name.to_owned(), value, note.into()]
}

fn value(figure: Option<&Figure>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

/// Sessions that were active on average, and the processors that they had.
fn load(profile: &Profile) -> ViewTable {
    let mut rows = with_notes("Active sessions and CPUs");
    let time = &profile.time;
    let active = value(time.average_active_sessions.as_ref());
    let on_cpu = value(time.db_cpu_s.as_ref()).zip(value(profile.elapsed_s.as_ref()));
    let on_cpu = on_cpu.filter(|(_, elapsed_s)| *elapsed_s > 0.0);
    if let Some(active) = active {
        rows.push(row(
            "active sessions",
            significant(active),
            "on average: DB time over elapsed time",
        ));
    }
    if let Some((cpu_s, elapsed_s)) = on_cpu {
        rows.push(row(
            "of them on a CPU",
            significant(cpu_s / elapsed_s),
            "DB CPU over elapsed time",
        ));
    }
    rows.extend(processors(profile, active));
    rows.extend(host(profile));
    rows
}

/// Processors, with what active sessions over them mean.
fn processors(profile: &Profile, active: Option<f64>) -> Option<Vec<String>> {
    let cpus = value(profile.time.cpus.as_ref())?;
    let host = profile.report.as_ref().map(|report| &report.host);
    let cores = value(host.and_then(|host| host.cores.as_ref()));
    let cores = cores.map_or_else(String::new, |cores| format!("{} cores", show_count(cores)));
    let each = active.filter(|_| cpus > 0.0).map(|active| active / cpus);
    let each = each.map(|each| format!("{} active sessions per CPU", significant(each)));
    let note: Vec<String> =
        [Some(cores).filter(|cores| !cores.is_empty()), each].into_iter().flatten().collect();
    Some(row("CPUs", show_count(cpus), note.join("; ")))
}

/// What the operating system saw, of everything that ran on the machine.
fn host(profile: &Profile) -> Vec<Vec<String>> {
    let Some(host) = profile.report.as_ref().map(|report| &report.host) else {
        return Vec::new();
    };
    let busy = value(host.busy_share.as_ref())
        .map(|busy| row("host busy", percent(busy), "of all CPU time, by any program"));
    let waiting = value(host.io_wait_share.as_ref())
        .map(|share| row("host idle with outstanding I/O", percent(share), "iowait"));
    let load = value(host.load_begin.as_ref()).zip(value(host.load_end.as_ref()));
    let load = load.map(|(begin, end)| {
        let ends = format!("{} → {}", significant(begin), significant(end));
        row("host load", ends, "processes running or ready, begin → end")
    });
    let memory = value(host.memory_bytes.as_ref())
        .map(|bytes| row("memory", show_bytes(bytes), "of the machine"));
    [busy, waiting, load, memory].into_iter().flatten().collect()
}

/// What one call and one transaction took, and of what.
fn split(profile: &Profile) -> ViewTable {
    let title = "Response time, call by call";
    let work = &profile.work;
    let (Some(elapsed_s), Some(db_time_s)) =
        (value(profile.elapsed_s.as_ref()), value(profile.time.db_time_s.as_ref()))
    else {
        return ViewTable::new(title);
    };
    let units: Vec<(&str, f64)> = [
        ("per user call", value(work.user_calls_per_s.as_ref())),
        ("a transaction", value(work.transactions_per_s.as_ref())),
        ("a SQL execution", value(work.executions_per_s.as_ref())),
    ]
    .into_iter()
    .filter_map(|(name, per_s)| Some((name, per_s.filter(|per_s| *per_s > 0.0)?)))
    .collect();
    if units.is_empty() || elapsed_s <= 0.0 {
        return ViewTable::new(title);
    }
    let names: Vec<&str> = std::iter::once("").chain(units.iter().map(|(name, _)| *name)).collect();
    let mut rows = ViewTable::of_numbers(title, &names);
    let mut add = |name: &str, time_s: f64| {
        let each = |(_, per_s): &(&str, f64)| show_time_ns(time_s / elapsed_s / per_s * 1e9);
        rows.push(std::iter::once(name.to_owned()).chain(units.iter().map(each)).collect());
    };
    add("DB time", db_time_s);
    if let Some(cpu_s) = value(profile.time.db_cpu_s.as_ref()) {
        add("CPU", cpu_s);
    }
    for wait in &profile.time.waits {
        // A class of less than a hundredth explains nothing.
        if wait.time_s.value >= 0.01 * db_time_s {
            add(&wait.class, wait.time_s.value);
        }
    }
    rows.extend(logical_read(profile, elapsed_s, units.len()));
    rows
}

/// CPU time of a logical read: what a query costs that storage has no part in.
fn logical_read(profile: &Profile, elapsed_s: f64, columns: usize) -> Option<Vec<String>> {
    let per_s = value(profile.work.logical_reads_per_s.as_ref()).filter(|per_s| *per_s > 0.0)?;
    let cpu_s = value(profile.time.db_cpu_s.as_ref())?;
    let mut row = vec!["CPU of a logical read".to_owned()];
    row.push(show_time_ns(cpu_s / elapsed_s / per_s * 1e9));
    row.resize(columns + 1, String::new());
    Some(row)
}

/// Commits, what a write of the log carries, and how busy the log writer is.
fn commits(profile: &Profile) -> ViewTable {
    let mut rows = with_notes("Commits and redo");
    let log = profile.report.as_ref().map(|report| &report.log_writer);
    let redo = &profile.redo;
    let mut add = |name: &str, shown: Option<String>, note: &str| {
        rows.extend(shown.map(|shown| row(name, shown, note)));
    };
    let per_s =
        |figure: Option<&Figure>| value(figure).map(|per_s| format!("{}/s", significant(per_s)));
    let time = |figure: &Option<Figure>| value(figure.as_ref()).map(super::facts::show_seconds);
    add("commits", per_s(profile.work.commits_per_s.as_ref()), "");
    add("redo writes", per_s(log.and_then(|log| log.redo_writes_per_s.as_ref())), "");
    let group = value(log.and_then(|log| log.commits_per_write_ratio.as_ref()));
    add("commits per write", group.map(significant), "sessions per write");
    add("redo", value(redo.redo_bytes_per_s.as_ref()).map(assay_model::units::show_throughput), "");
    add("log file sync", time(&redo.sync_latency_s), "of a session");
    add("log file parallel write", time(&redo.write_latency_s), "of the log writer");
    add("log writer busy", redo.writer_busy_share.map(percent), "above 70%, commits queue");
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::profile::WaitClassTime;

    fn figure(value: f64) -> Figure {
        Figure::new(value, "made up")
    }

    fn profile() -> Profile {
        let mut profile =
            Profile { elapsed_s: Some(figure(100.0)), ..crate::demand::fixture::profile() };
        profile.time.db_time_s = Some(figure(200.0));
        profile.time.db_cpu_s = Some(figure(50.0));
        profile.time.cpus = Some(figure(8.0));
        profile.time.average_active_sessions = Some(figure(2.0));
        let wait = |class: &str, time_s| WaitClassTime {
            class: class.to_owned(),
            time_s: Figure::new(time_s, "made up"),
        };
        profile.time.waits = vec![wait("User I/O", 120.0), wait("Network", 1.0)];
        profile.work.transactions_per_s = Some(figure(100.0));
        profile.work.logical_reads_per_s = Some(figure(5000.0));
        profile
    }

    #[test]
    fn a_transaction_is_split_into_what_it_waited_for() {
        let rows = split(&profile()).plain();
        assert_eq!(rows[0], ["", "a transaction"]);
        // 200 s in 100 s at 100 transactions per second: 20 ms each, 5 ms of them CPU, 12 ms user
        // I/O.
        assert_eq!(rows[1], ["DB time", "20.0 ms"]);
        assert_eq!(rows[2], ["CPU", "5.00 ms"]);
        assert_eq!(rows[3], ["User I/O", "12.0 ms"]);
        assert_eq!(rows[4], ["CPU of a logical read", "100 µs"]);
        assert_eq!(rows.len(), 5, "a class below a hundredth is left out");
    }

    #[test]
    fn active_sessions_stand_against_processors() {
        let rows = load(&profile()).plain();
        assert_eq!(rows[1][1], "2.00");
        assert_eq!(rows[2][1], "0.5000");
        assert_eq!(rows[3][..2], ["CPUs", "8"]);
        assert_eq!(rows[3][2], "0.2500 active sessions per CPU");
    }
}
