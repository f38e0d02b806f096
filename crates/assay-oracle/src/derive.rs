//! From a report to a profile: what the database asked of its storage, each figure with its source.

mod activity;
mod checks;
mod classes;
mod curves;
mod devices;
mod events;
mod figures;
mod rates;
mod redo;
mod skew;
mod time;
mod verdict;

use crate::report::{FileIo, OracleReport, ReportKind};
use crate::section::OracleSection;
use assay_model::plausibility::judged;
use assay_model::profile::{
    self, IoPath, Profile, ProfileProduct, ProfileSource, StorageMedium, TieringCandidate,
};

use figures::figure;

pub(crate) use events::events_of;

/// What a report says of the demand on storage, when nobody says what the storage is made of.
pub fn profile(report: &OracleReport) -> Profile {
    profile_on(report, None)
}

/// What a report says of the demand on storage made of `medium`. Nothing is assumed: what the
/// report does not have is absent; storage of an unknown medium is judged as disks.
pub fn profile_on(report: &OracleReport, medium: Option<StorageMedium>) -> Profile {
    let time = time::model(report);
    let activity = activity::all(report);
    // What spoils the interval spoils every time in it.
    let devices = if report.invalid.is_some() { Vec::new() } else { devices::all(report, medium) };
    let log = devices.iter().find(|device| device.path == IoPath::RedoWrite);
    let redo = redo::path(report, &time, log);
    judged(Profile {
        format: profile::FORMAT,
        name: name(report),
        source: source(report),
        elapsed_s: report.header.elapsed.as_ref().map(figure),
        sessions: report.header.begin.sessions.as_ref().map(figure),
        block_bytes: rates::block(report),
        rates: rates::all(report),
        classes: classes::all(report),
        work: rates::work(report),
        verdict: verdict::verdict(report, &time, &activity.host, devices, medium),
        time,
        redo,
        outliers: curves::outliers(report),
        tiering: tiering(report),
        report: Some(activity),
        server: None,
        checks: checks::all(report),
        doubts: doubts(report),
        missing: missing(report),
    })
}

fn name(report: &OracleReport) -> String {
    let header = &report.header;
    // A global report names the first of its instances.
    let instance = if report.kind == ReportKind::AwrGlobal { &None } else { &header.instance };
    let parts = [&header.db_name, &header.container, instance];
    let known: Vec<&str> = parts.into_iter().filter_map(|part| part.as_deref()).collect();
    if known.is_empty() { "unnamed".to_owned() } else { known.join("/") }
}

fn source(report: &OracleReport) -> ProfileSource {
    let header = &report.header;
    let kind = match report.kind {
        ReportKind::Statspack => "statspack",
        ReportKind::Awr => "awr",
        ReportKind::AwrPdb => "awr_pdb",
        ReportKind::AwrGlobal => "awr_global",
    };
    let ids = header.begin.id.zip(header.end.id);
    ProfileSource {
        product: ProfileProduct::Oracle,
        kind: kind.to_owned(),
        release: header.release.clone(),
        database_id: header.db_id.clone(),
        instance_number: instance_number(report),
        host: header.host.clone(),
        snapshots: ids.map(|(begin, end)| format!("{}-{}", begin.value, end.value)),
        begin: header.begin.time.clone(),
        begin_clock_s: header.begin.clock_s,
        end: header.end.time.clone(),
        complete: report.complete,
    }
}

/// Of a global report, which names the first of its instances, there is none.
fn instance_number(report: &OracleReport) -> Option<u32> {
    let number = report.header.instance_number.as_ref().map(|number| number.value);
    let number = number.filter(|number| report.kind != ReportKind::AwrGlobal && *number >= 1.0)?;
    u32::try_from(assay_model::number::count(number)).ok()
}

fn tiering(report: &OracleReport) -> Vec<TieringCandidate> {
    let mut candidates: Vec<TieringCandidate> = report
        .tablespaces
        .iter()
        .filter(|row| !is_impossible(report, row))
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

/// Whether the wait events rule the times of this row out: it is listed among the doubts, and not
/// ranked.
fn is_impossible(report: &OracleReport, row: &FileIo) -> bool {
    let line = row.read_time.map(|time| time.line);
    report
        .flags
        .iter()
        .any(|flag| flag.section == OracleSection::Tablespaces && Some(flag.line) == line)
}

fn doubts(report: &OracleReport) -> Vec<String> {
    let flags = report
        .flags
        .iter()
        .map(|flag| format!("{}, line {}: {}", flag.section.title(), flag.line, flag.message));
    let unread = report.unread.iter().map(|unread| {
        let (title, line) = (unread.section.title(), unread.line);
        format!("{title}, line {line}: not read: {}", unread.reason)
    });
    flags.chain(unread).chain(events::coarse_means(report)).collect()
}

const WANTED: &[OracleSection] = &[
    OracleSection::LoadProfile,
    OracleSection::IoProfile,
    OracleSection::TimeModel,
    OracleSection::TopEvents,
    OracleSection::ForegroundEvents,
    OracleSection::BackgroundEvents,
    OracleSection::Histogram,
    OracleSection::Activity,
    OracleSection::Tablespaces,
    OracleSection::Files,
    OracleSection::IoByFunction,
    OracleSection::IoByFileType,
    OracleSection::OperatingSystem,
    OracleSection::SqlByIoTime,
];

fn missing(report: &OracleReport) -> Vec<String> {
    let header = &report.header;
    let facts = [
        ("elapsed time", header.elapsed.is_some()),
        ("CPUs", header.cpus.is_some()),
        ("block size", rates::block(report).is_some()),
    ];
    let facts = facts.into_iter().filter(|(_, is_known)| !is_known).map(|(name, _)| name);
    let sections = WANTED.iter().filter(|section| !report.has(**section));
    facts.chain(sections.map(|section| section.title())).map(str::to_owned).collect()
}
