//! The time model and what it says: storage, CPU or contention, and the commit path apart.

use super::{elapsed_s, events_of, figure, named};
use crate::knowledge::{self, LOG_SYNC, LOG_WRITE, WRITE_BEHIND};
use crate::quantity::{Quantity, Unit};
use crate::report::{Event, Report};
use assay_model::profile::{Figure, RedoPath, TimeModel, TimeVerdict, WaitClassTime};

pub(super) fn model(report: &Report) -> TimeModel {
    let db_time = db_time(report);
    let db_cpu = db_cpu(report);
    let elapsed_s = elapsed_s(report);
    let waits = waits(report, db_time.as_ref());
    let per_elapsed = |figure: &Option<Figure>, divisor: f64| {
        let (figure, elapsed_s) = figure.as_ref().zip(elapsed_s)?;
        let source = format!("{} / elapsed", figure.source);
        (divisor > 0.0).then(|| Figure::new(figure.value / elapsed_s / divisor, source))
    };
    let cpus = report.header.cpus.as_ref().map(figure);
    let cpu_count = cpus.as_ref().map_or(0.0, |cpus| cpus.value);
    TimeModel {
        average_active_sessions: per_elapsed(&db_time, 1.0),
        cpu_utilization: per_elapsed(&db_cpu, cpu_count),
        background_cpu_s: report.time("background cpu time").as_ref().map(figure),
        cpu_queue_s: None,
        unaccounted_s: unaccounted(db_time.as_ref(), db_cpu.as_ref(), &waits),
        db_time_s: db_time,
        db_cpu_s: db_cpu,
        cpus,
        waits,
    }
}

/// The time model prints seconds, the header minutes: the finer one.
fn db_time(report: &Report) -> Option<Figure> {
    let seconds = report.time("DB time").map(|time| named(&time, "DB time"));
    seconds.or_else(|| report.header.db_time.as_ref().map(figure))
}

fn db_cpu(report: &Report) -> Option<Figure> {
    let seconds = report.time("DB CPU").map(|time| named(&time, "DB CPU"));
    let of = |rows: &[Event]| {
        let row = rows.iter().find(|event| event.name == "DB CPU" || event.name == "CPU time");
        row.and_then(|row| row.time).map(|time| named(&time, "DB CPU"))
    };
    seconds
        .or_else(|| of(&report.wait_classes))
        .or_else(|| of(&report.top_events))
        .or_else(|| report.header.db_cpu.as_ref().map(figure))
}

/// Waits by class: as printed, else summed from the events of sessions by what is known of them.
fn waits(report: &Report, db_time: Option<&Figure>) -> Vec<WaitClassTime> {
    let classes = report.wait_classes.iter().filter(|class| class.name != "DB CPU");
    let mut waits: Vec<WaitClassTime> = classes
        .filter_map(|class| {
            Some(WaitClassTime {
                class: class.name.clone(),
                time_s: named(&class.time?, &class.name),
            })
        })
        .collect();
    if waits.is_empty() {
        waits = classed(report, db_time);
    }
    waits.sort_by(|left, right| right.time_s.value.total_cmp(&left.time_s.value));
    waits
}

/// Events of sessions summed by class; idle ones never count, whatever the report thinks of them.
fn classed(report: &Report, db_time: Option<&Figure>) -> Vec<WaitClassTime> {
    let lists = [&report.foreground_events, &report.top_events];
    let events = lists.into_iter().find(|events| !events.is_empty());
    let mut waits: Vec<WaitClassTime> = Vec::new();
    for event in events.into_iter().flatten() {
        let is_cpu = event.name == "DB CPU" || event.name == "CPU time";
        let time = finer(event.time, of_share(event, db_time));
        let Some(time) = time.filter(|_| !is_cpu && !knowledge::is_idle(&event.name)) else {
            continue;
        };
        let class = class_name(event);
        match waits.iter_mut().find(|wait| wait.class == class) {
            Some(wait) => wait.time_s.value += time.value,
            None => waits.push(WaitClassTime {
                time_s: Figure::new(time.value, format!("events from {}", time.place())),
                class,
            }),
        }
    }
    waits
}

/// Whole seconds are coarser than a share with two decimals where little was waited.
fn finer(time: Option<Quantity>, of_share: Option<Quantity>) -> Option<Quantity> {
    match (time, of_share) {
        (Some(time), Some(share)) if share.rounding_width < time.rounding_width => Some(share),
        (time, share) => time.or(share),
    }
}

/// A time that could not be read follows from its share of DB time.
fn of_share(event: &Event, db_time: Option<&Figure>) -> Option<Quantity> {
    let (share, db_time) = event.share.zip(db_time)?;
    Some(share.scaled(db_time.value, Unit::Seconds))
}

/// The full name of a class: text cuts it at eight or ten characters.
fn class_name(event: &Event) -> String {
    const CLASSES: &[&str] = &[
        "User I/O",
        "System I/O",
        "Commit",
        "Concurrency",
        "Application",
        "Configuration",
        "Administrative",
        "Cluster",
        "Network",
        "Scheduler",
        "Queueing",
        "Other",
    ];
    let printed = event.class.as_deref().unwrap_or_default();
    let known = CLASSES.iter().find(|class| printed.len() >= 5 && class.starts_with(printed));
    known.map_or_else(|| knowledge::class_of(&event.name), |class| *class).to_owned()
}

fn unaccounted(
    db_time: Option<&Figure>,
    db_cpu: Option<&Figure>,
    waits: &[WaitClassTime],
) -> Option<Figure> {
    let (db_time, db_cpu) = db_time.zip(db_cpu)?;
    let waited: f64 = waits.iter().map(|wait| wait.time_s.value).sum();
    (!waits.is_empty()).then(|| {
        Figure::new(db_time.value - db_cpu.value - waited, "DB time - DB CPU - waits of sessions")
    })
}

/// Which part of DB time leads. Shares are of DB time, so what a top list leaves out lowers none of them.
pub(super) fn verdict(report: &Report, time: &TimeModel) -> TimeVerdict {
    let Some(db_time_s) = time.db_time_s.as_ref().map(|time| time.value).filter(|time| *time > 0.0)
    else {
        return TimeVerdict {
            reason: "the report has no DB time".to_owned(),
            ..TimeVerdict::default()
        };
    };
    let of_classes = |classes: &[&str]| {
        let waits = time.waits.iter().filter(|wait| classes.contains(&wait.class.as_str()));
        waits.map(|wait| wait.time_s.value).fold(0.0, |sum, time_s| sum + time_s) / db_time_s
    };
    let is_known = !time.waits.is_empty();
    let behind = write_behind_s(report) / db_time_s;
    let user_io = is_known.then(|| of_classes(&["User I/O"]));
    let contention = is_known.then(|| (of_classes(knowledge::CONTENTION) - behind).max(0.0));
    let cpu = time.db_cpu_s.as_ref().map(|cpu| cpu.value / db_time_s);
    TimeVerdict {
        user_io_share: user_io,
        write_behind_share: is_known.then_some(behind),
        commit_share: is_known.then(|| of_classes(&["Commit"])),
        cpu_share: cpu,
        contention_share: contention,
        ..TimeVerdict::default()
    }
    .concluded()
}

/// Sessions stopped by slow writing.
fn write_behind_s(report: &Report) -> f64 {
    let lists = [&report.foreground_events, &report.top_events];
    let events = lists.into_iter().find(|events| !events.is_empty());
    let behind =
        events.into_iter().flatten().filter(|event| knowledge::is_any(&event.name, WRITE_BEHIND));
    behind
        .filter_map(|event| event.time)
        .map(|time| time.value)
        .fold(0.0, |sum, time_s| sum + time_s)
}

/// The commit path. Log file sync is never taken for the device's time, nor the other way round.
pub(super) fn redo(report: &Report, time: &TimeModel) -> RedoPath {
    let mean = |names: &[&str]| {
        let events = events_of(report, names);
        let event =
            events.iter().max_by(|left, right| waits_of(left).total_cmp(&waits_of(right)))?;
        let place = event.waits.or(event.time)?;
        Some(Figure::new(event.mean_s()?, format!("{}: {}", place.place(), event.name)))
    };
    let sync = events_of(report, LOG_SYNC);
    let synced_s =
        sync.iter().filter_map(|event| event.time).map(|time| time.value).reduce(f64::max);
    let db_time_s = time.db_time_s.as_ref().map(|time| time.value).filter(|time| *time > 0.0);
    let load = report.load(&["Redo size", "Redo size (bytes)"]).and_then(|row| row.per_second);
    let writes = events_of(report, LOG_WRITE).first().and_then(|event| event.waits);
    RedoPath {
        sync_latency_s: mean(LOG_SYNC),
        write_latency_s: mean(LOG_WRITE),
        write_iops: writes.zip(elapsed_s(report)).map(|(writes, elapsed_s)| {
            Figure::new(
                writes.value / elapsed_s,
                format!("{}: log file parallel write / elapsed", writes.place()),
            )
        }),
        redo_bytes_per_s: load.as_ref().map(figure),
        sync_share: synced_s.zip(db_time_s).map(|(synced, db_time)| synced / db_time),
        ..RedoPath::default()
    }
    .concluded()
}

fn waits_of(event: &Event) -> f64 {
    event.waits.map_or(0.0, |waits| waits.value)
}
