//! From a report to a profile: what the database asked of its storage, each figure with its source.

mod checks;
mod classes;
mod curves;
mod rates;
mod time;

use crate::check;
use crate::quantity::Quantity;
use crate::report::{Event, Kind, Report};
use crate::section::Section;
use assay_model::profile::{
    self, Figure, Profile, ProfileSource, TieringCandidate, TimeModel, TimeVerdict,
};

/// What a report says of the demand on storage. Nothing is assumed: what the report does not have is absent.
pub fn profile(report: &Report) -> Profile {
    let time = time::model(report);
    let redo = time::redo(report, &time);
    Profile {
        format: profile::FORMAT,
        name: name(report),
        source: source(report),
        elapsed_s: report.header.elapsed.as_ref().map(figure),
        sessions: report.header.begin.sessions.as_ref().map(figure),
        block_bytes: rates::block(report),
        rates: rates::all(report),
        classes: classes::all(report),
        work: rates::work(report),
        verdict: verdict(report, &time),
        time,
        redo,
        outliers: curves::outliers(report),
        tiering: tiering(report),
        server: None,
        checks: checks::all(report),
        doubts: doubts(report),
        missing: missing(report),
    }
}

/// What leads, unless the numbers themselves are in doubt.
fn verdict(report: &Report, time: &TimeModel) -> TimeVerdict {
    match check::contradicted(report) {
        None => time::verdict(report, time),
        Some((wrong, all)) => TimeVerdict {
            reason: format!(
                "{wrong} of {all} counters contradict their own rates, so its numbers cannot be trusted"
            ),
            ..TimeVerdict::default()
        },
    }
}

/// A number of the report as a figure of the profile.
fn figure(quantity: &Quantity) -> Figure {
    Figure::new(quantity.value, quantity.place())
}

/// A figure that also names its row.
fn named(quantity: &Quantity, row: &str) -> Figure {
    Figure::new(quantity.value, format!("{}: {row}", quantity.place()))
}

fn elapsed_s(report: &Report) -> Option<f64> {
    let elapsed = report.header.elapsed.map(|elapsed| elapsed.value);
    elapsed.filter(|elapsed| *elapsed > 0.0)
}

fn name(report: &Report) -> String {
    let header = &report.header;
    let parts = [&header.db_name, &header.container, &header.instance];
    let known: Vec<&str> = parts.into_iter().filter_map(|part| part.as_deref()).collect();
    if known.is_empty() { "unnamed".to_owned() } else { known.join("/") }
}

fn source(report: &Report) -> ProfileSource {
    let header = &report.header;
    let kind = match report.kind {
        Kind::Statspack => "statspack",
        Kind::Awr => "awr",
        Kind::AwrPdb => "awr_pdb",
        Kind::AwrGlobal => "awr_global",
    };
    let ids = header.begin.id.zip(header.end.id);
    ProfileSource {
        product: "oracle".to_owned(),
        kind: kind.to_owned(),
        release: header.release.clone(),
        host: header.host.clone(),
        snapshots: ids.map(|(begin, end)| format!("{}-{}", begin.value, end.value)),
        begin: header.begin.time.clone(),
        begin_clock_s: header.begin.clock_s,
        end: header.end.time.clone(),
        complete: report.complete,
    }
}

/// Events of these names in foreground and background together, each counted once.
pub(crate) fn events_of<'r>(report: &'r Report, names: &[&str]) -> Vec<&'r Event> {
    let apart = || report.foreground_events.iter().chain(&report.background_events);
    let matching = |event: &&Event| crate::knowledge::is_any(&event.name, names);
    let found: Vec<&Event> = apart().filter(matching).collect();
    if !found.is_empty() {
        return found;
    }
    // 9i and 10g print both together; an 11.2 global report and an excerpt have the top ones only.
    let together: Vec<&Event> = report.all_events.iter().filter(matching).collect();
    if !together.is_empty() {
        return together;
    }
    report.top_events.iter().filter(matching).collect()
}

fn tiering(report: &Report) -> Vec<TieringCandidate> {
    let mut candidates: Vec<TieringCandidate> = report
        .tablespaces
        .iter()
        .filter_map(|row| {
            let rate = rates::reads_per_s(report, row)?;
            let container = row.container.as_ref().map(|name| format!("{name}/"));
            Some(TieringCandidate {
                tablespace: format!("{}{}", container.unwrap_or_default(), row.tablespace),
                read_wait_ratio: rate * row.read_time.map_or(0.0, |time| time.value),
                cumulative_share: 0.0,
                capacity_bytes: None,
            })
        })
        .collect();
    candidates.sort_by(|left, right| right.read_wait_ratio.total_cmp(&left.read_wait_ratio));
    profile::accumulate(&mut candidates);
    candidates
}

fn doubts(report: &Report) -> Vec<String> {
    let flags = report
        .flags
        .iter()
        .map(|flag| format!("{}, line {}: {}", flag.section.title(), flag.line, flag.message));
    let unread = report.unread.iter().map(|unread| {
        let (title, line) = (unread.section.title(), unread.line);
        format!("{title}, line {line}: not read: {}", unread.reason)
    });
    flags.chain(unread).collect()
}

const WANTED: &[Section] = &[
    Section::LoadProfile,
    Section::IoProfile,
    Section::TimeModel,
    Section::ForegroundEvents,
    Section::BackgroundEvents,
    Section::Histogram,
    Section::Activity,
    Section::Tablespaces,
    Section::Files,
    Section::IoByFunction,
    Section::IoByFileType,
    Section::OperatingSystem,
    Section::SqlByIoTime,
];

fn missing(report: &Report) -> Vec<String> {
    let absent = WANTED.iter().filter(|section| !report.has(**section));
    absent.map(|section| section.title().to_owned()).collect()
}
