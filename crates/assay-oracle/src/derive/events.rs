//! Which list of waits answers a question: releases print sessions and background apart, together,
//! or only the top ones.

use crate::knowledge;
use crate::quantity::{OracleQuantity, OracleUnit};
use crate::reading::IDLE;
use crate::report::{MeanWait, OracleReport, ReportEvent, ReportKind, ShareOf};
use assay_model::number::count;
use assay_model::profile::{TopEvents, WaitEvent};
use std::borrow::Cow;

/// A number that is known to no better than this share of itself.
const COARSE: f64 = 0.01;
/// A mean that is rounded by more than this share of itself is an estimate.
const COARSE_MEAN: f64 = 0.05;
/// The same of one that is unknown.
const UNKNOWN_MEAN: f64 = 0.3;
/// Events that are named in a sentence.
const NAMED: usize = 4;
/// Events of a list that are kept.
const TOP: usize = 10;

/// Events of these names in foreground and background together, each counted once.
pub(crate) fn events_of<'r>(report: &'r OracleReport, names: &[&str]) -> Vec<&'r ReportEvent> {
    let matching = |event: &&ReportEvent| knowledge::is_any(&event.name, names);
    // 9i and 10g print one list of both, and that of the background once more.
    if report.foreground_events.is_empty() && !is_of_tops(report) {
        let together: Vec<&ReportEvent> = report.all_events.iter().filter(matching).collect();
        if !together.is_empty() {
            return together;
        }
    }
    let apart = || report.foreground_events.iter().chain(&report.background_events);
    let found: Vec<&ReportEvent> = apart().filter(matching).collect();
    if !found.is_empty() {
        return found;
    }
    // An 11.2 global report and an excerpt have the top ones only.
    let together: Vec<&ReportEvent> = report.all_events.iter().filter(matching).collect();
    if !together.is_empty() {
        return together;
    }
    report.top_events.iter().filter(matching).collect()
}

/// Whether the list of both is only a top list.
fn is_of_tops(report: &OracleReport) -> bool {
    report.kind == ReportKind::AwrGlobal
}

/// Waits of sessions: their own list, else the one of both less that of the background, else the
/// top list.
pub(super) fn of_sessions(report: &OracleReport) -> Cow<'_, [ReportEvent]> {
    if !report.foreground_events.is_empty() {
        return Cow::Borrowed(&report.foreground_events);
    }
    if !report.all_events.is_empty() && !is_of_tops(report) {
        let mut rest: Vec<ReportEvent> =
            report.all_events.iter().map(|event| without_background(report, event)).collect();
        let time = |event: &ReportEvent| event.time.map_or(0.0, |time| time.value);
        rest.sort_by(|left, right| {
            is_idle(left).cmp(&is_idle(right)).then(time(right).total_cmp(&time(left)))
        });
        return Cow::Owned(rest);
    }
    Cow::Borrowed(&report.top_events)
}

/// The sessions' part of an event of both; the mean and the share are of both, so they are not
/// kept.
fn without_background(report: &OracleReport, event: &ReportEvent) -> ReportEvent {
    let of_background = report.background_events.iter().find(|other| other.name == event.name);
    let Some(other) = of_background else {
        return event.clone();
    };
    let less = |all: Option<OracleQuantity>, part: Option<OracleQuantity>| {
        let all = all?;
        let value = (all.value - part.map_or(0.0, |part| part.value)).max(0.0);
        Some(OracleQuantity { value, ..all })
    };
    ReportEvent {
        waits: less(event.waits, other.waits),
        time: less(event.time, other.time),
        average: None,
        share: None,
        ..event.clone()
    }
}

pub(super) fn is_cpu(event: &ReportEvent) -> bool {
    matches!(event.name.as_str(), "DB CPU" | "CPU time" | "background cpu time")
}

/// Idle by the report's own word, else by what is known of the event.
pub(crate) fn is_idle(event: &ReportEvent) -> bool {
    match event.class.as_deref() {
        Some(class) => class == IDLE,
        None => knowledge::is_idle(&event.name),
    }
}

/// The full name of a class: text cuts it at eight or ten characters.
pub(crate) fn name_of_class(event: &ReportEvent) -> String {
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
        IDLE,
    ];
    let printed = event.class.as_deref().unwrap_or_default();
    let known = CLASSES.iter().find(|class| printed.len() >= 4 && class.starts_with(printed));
    let named = known.map_or_else(|| knowledge::class_of(&event.name), |class| *class);
    let idle = event.class.is_none() && knowledge::is_idle(&event.name);
    if idle { IDLE.to_owned() } else { named.to_owned() }
}

/// Sessions and background ranked together, where the report does so.
pub(super) fn together(report: &OracleReport) -> Option<TopEvents> {
    if !report.top_of_all.is_empty() {
        return Some(top(report, &report.top_of_all));
    }
    let of_calls = report.top_events.iter().any(|event| event.share_of == ShareOf::CallTime);
    of_calls.then(|| top(report, &report.top_events))
}

/// The first events of sessions: as printed, else the first of their list.
pub(super) fn foreground(report: &OracleReport) -> TopEvents {
    let printed = report.top_events.iter().all(|event| event.share_of != ShareOf::CallTime);
    if printed && !report.top_events.is_empty() {
        return top(report, &report.top_events);
    }
    let sessions = of_sessions(report);
    let busy: Vec<ReportEvent> = sessions.iter().filter(|event| !is_idle(event)).cloned().collect();
    top(report, &busy)
}

/// The first events of background processes.
pub(super) fn background(report: &OracleReport) -> TopEvents {
    let list = if report.top_background.is_empty() {
        &report.background_events
    } else {
        &report.top_background
    };
    let busy: Vec<ReportEvent> = list.iter().filter(|event| !is_idle(event)).cloned().collect();
    TopEvents { share_of: ShareOf::BackgroundTime, ..top(report, &busy) }
}

fn top(report: &OracleReport, events: &[ReportEvent]) -> TopEvents {
    let share_of = events.first().map_or(ShareOf::DbTime, |event| event.share_of);
    let events = events.iter().take(TOP).map(|event| wait_event(report, event)).collect();
    TopEvents { share_of, events }
}

/// An event as its list prints it; what the list cut follows from the list in full.
fn wait_event(report: &OracleReport, event: &ReportEvent) -> WaitEvent {
    let full = detail(report, event);
    let number = |of: fn(&ReportEvent) -> Option<OracleQuantity>| {
        let printed = of(event).filter(|number| !is_coarse(number));
        printed.or_else(|| full.and_then(of)).or_else(|| of(event))
    };
    let (waits, time) = (number(|event| event.waits), number(|event| event.time));
    let average = number(|event| event.average);
    let mean = ReportEvent { waits, time, average, ..event.clone() };
    let place = event.time.or(event.waits).or(event.share);
    let class = if event.class.is_some() { event } else { full.unwrap_or(event) };
    WaitEvent {
        event: event.name.clone(),
        class: (!is_cpu(event)).then(|| name_of_class(class)),
        waits: waits.map(|waits| count(waits.value)),
        time_s: time.map(|time| time.value),
        average_s: known_mean_s(&mean),
        share: event.share.map(|share| share.value),
        source: place.map_or_else(String::new, |place| place.place()),
    }
}

/// The mean of a wait; unknown where the rounding of its time leaves no digit of it.
fn known_mean_s(event: &ReportEvent) -> Option<f64> {
    let mean = event.mean_wait().filter(|mean| mean.rounding_share() <= UNKNOWN_MEAN)?;
    Some(mean.value_s)
}

/// That means are estimates: they are of times that were printed in few digits.
pub(super) fn coarse_means(report: &OracleReport) -> Option<String> {
    let sessions = of_sessions(report);
    let both = || sessions.iter().chain(&report.background_events);
    words_of_coarse(both().filter(|event| !is_idle(event)))
}

fn words_of_coarse<'r>(events: impl Iterator<Item = &'r ReportEvent>) -> Option<String> {
    let (mut names, mut worst) = (Vec::new(), 0.0_f64);
    for event in events {
        let share = event.mean_wait().map_or(0.0, MeanWait::rounding_share);
        if share > COARSE_MEAN && !names.contains(&event.name.as_str()) {
            names.push(event.name.as_str());
        }
        worst = worst.max(if share <= UNKNOWN_MEAN { share } else { 0.0 });
    }
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| {
        format!(
            "mean times of {}{more} are estimates from rounded times, up to {:.0}% off, or \
             unknown",
            names[..names.len().min(NAMED)].join(", "),
            100.0 * worst
        )
    })
}

/// Two digits, as in `1.1E+08`, are not used as a count where the full list has all digits.
fn is_coarse(number: &OracleQuantity) -> bool {
    number.unit == OracleUnit::Count
        && number.rounding_width > COARSE * number.value.abs()
        && number.value >= 1000.0
}

/// The same event in the list in full.
fn detail<'r>(report: &'r OracleReport, event: &ReportEvent) -> Option<&'r ReportEvent> {
    let of_background = event.share_of == ShareOf::BackgroundTime;
    let lists = if of_background {
        [&report.background_events, &report.all_events]
    } else {
        [&report.foreground_events, &report.all_events]
    };
    let mut rows = lists.into_iter().flatten();
    rows.find(|row| crate::report::stands_for(&row.name, &event.name) && !std::ptr::eq(*row, event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::OracleSection;

    /// An event of a list that prints times in whole seconds.
    fn of_seconds(waits: f64, time_s: f64) -> ReportEvent {
        let number = |value, rounding_width, unit| OracleQuantity {
            value,
            rounding_width,
            unit,
            section: OracleSection::ForegroundEvents,
            line: 1,
        };
        ReportEvent {
            name: "db file sequential read".to_owned(),
            class: None,
            waits: Some(number(waits, 0.0, OracleUnit::Count)),
            time: Some(number(time_s, 0.5, OracleUnit::Seconds)),
            average: None,
            share: None,
            share_of: ShareOf::DbTime,
        }
    }

    #[test]
    fn a_mean_of_a_rounded_time_is_an_estimate_or_unknown() {
        let of = |time_s| known_mean_s(&of_seconds(1000.0, time_s));
        // 0 s and 1 s are up to 0.5 s and 0.5 to 1.5 s.
        assert_eq!([0.0, 1.0].map(of), [None, None]);
        assert_eq!([4.0, 400.0].map(of), [Some(0.004), Some(0.4)]);
        let said = |time_s| words_of_coarse([of_seconds(1000.0, time_s)].iter());
        let words = said(4.0).unwrap();
        assert!(words.contains("of db file sequential read are estimates"), "{words}");
        assert!(words.contains("up to 12% off"), "{words}");
        assert_eq!(said(400.0), None);
    }
}
