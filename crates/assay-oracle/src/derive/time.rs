//! The time model: DB time by CPU and class of waits.

use super::events::{is_cpu, is_idle, name_of_class, of_sessions};
use super::figures::{elapsed_s, figure, named};
use crate::quantity::{OracleQuantity, OracleUnit};
use crate::report::{OracleReport, ReportEvent, ShareOf};
use assay_model::profile::{Figure, TimeModel, WaitClassTime};

pub(super) fn model(report: &OracleReport) -> TimeModel {
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
        host_busy_share: super::activity::host(report).busy_share,
        cpu_queue_s: None,
        unaccounted_s: unaccounted(db_time.as_ref(), db_cpu.as_ref(), &waits),
        db_time_s: db_time,
        db_cpu_s: db_cpu,
        cpus,
        waits,
    }
}

/// The time model prints seconds, the header minutes, the Load Profile seconds a second. What a
/// lone list of top events is a share of follows from its largest share.
fn db_time(report: &OracleReport) -> Option<Figure> {
    let seconds = report.time("DB time").map(|time| named(&time, "DB time"));
    seconds
        .or_else(|| report.header.db_time.as_ref().map(figure))
        .or_else(|| per_second(report, &["DB Time(s)"]))
        .or_else(|| of_largest_share(report))
}

fn db_cpu(report: &OracleReport) -> Option<Figure> {
    let seconds = report.time("DB CPU").map(|time| named(&time, "DB CPU"));
    let of = |rows: &[ReportEvent]| {
        let row = rows.iter().find(|event| event.name == "DB CPU" || event.name == "CPU time");
        row.and_then(|row| row.time).map(|time| named(&time, "DB CPU"))
    };
    seconds
        .or_else(|| of(&report.wait_classes))
        .or_else(|| of(&report.top_events))
        .or_else(|| report.header.db_cpu.as_ref().map(figure))
        .or_else(|| per_second(report, &["DB CPU(s)"]))
}

/// A time of the Load Profile over the whole interval; of an excerpt without its interval, over one
/// second, as shares and means need no more.
fn per_second(report: &OracleReport, names: &[&str]) -> Option<Figure> {
    let rate = report.load(names)?.per_second?;
    match elapsed_s(report) {
        Some(elapsed_s) => {
            let source = format!("{}: {} x elapsed", rate.place(), names[0]);
            Some(Figure::new(rate.value * elapsed_s, source))
        }
        // The times of top events are of the whole interval.
        None if !report.top_events.is_empty() => None,
        None => Some(named(&rate, &format!("{}, of one second", names[0]))),
    }
}

/// The smallest share from which its whole can be derived.
const TELLING_SHARE: f64 = 0.05;

fn of_largest_share(report: &OracleReport) -> Option<Figure> {
    let shares = report.top_events.iter().filter(|event| event.share_of == ShareOf::DbTime);
    let known = shares.filter_map(|event| Some((event, event.time?, event.share?)));
    let (event, time, share) = known
        .filter(|(_, _, share)| share.value >= TELLING_SHARE)
        .max_by(|left, right| left.2.value.total_cmp(&right.2.value))?;
    let source = format!("{}: time of {} / its share", time.place(), event.name);
    Some(Figure::new(time.value / share.value, source))
}

/// Waits by class: as printed, else summed from the events of sessions by what is known of them.
fn waits(report: &OracleReport, db_time: Option<&Figure>) -> Vec<WaitClassTime> {
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
fn classed(report: &OracleReport, db_time: Option<&Figure>) -> Vec<WaitClassTime> {
    let mut waits: Vec<WaitClassTime> = Vec::new();
    for event in of_sessions(report).iter() {
        let time = finer(event.time, of_share(event, db_time));
        let Some(time) = time.filter(|_| !is_cpu(event) && !is_idle(event)) else {
            continue;
        };
        let class = name_of_class(event);
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
fn finer(time: Option<OracleQuantity>, of_share: Option<OracleQuantity>) -> Option<OracleQuantity> {
    match (time, of_share) {
        (Some(time), Some(share)) if share.rounding_width < time.rounding_width => Some(share),
        (time, share) => time.or(share),
    }
}

/// A time that could not be read follows from its share of DB time.
fn of_share(event: &ReportEvent, db_time: Option<&Figure>) -> Option<OracleQuantity> {
    let of_db_time = event.share.filter(|_| event.share_of == ShareOf::DbTime);
    let (share, db_time) = of_db_time.zip(db_time)?;
    Some(share.scaled(db_time.value, OracleUnit::Seconds))
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
