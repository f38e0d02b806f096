//! What only a report prints, as tables: top events, the load, statements, segments, files,
//! instances.

use super::facts::{percent, significant};
use crate::view::{CellLook, ViewTable};
use assay_model::number::real;
use assay_model::profile::{
    BufferPoolAdvice, FileActivity, InstanceShare, Profile, RateKind, ReportActivity,
    ReportStatement, SegmentIo, SegmentReads, ShareOf, TopEvents, WaitEvent, Work,
};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// Rows of each table but the top events of sessions; the document has all.
const ROWS_MAX: usize = 5;
/// Top events of sessions.
const EVENTS_MAX: usize = 10;
const ABSENT: &str = "–";

/// The top events, before anything else.
pub(super) fn top_events(profile: &Profile) -> Vec<ViewTable> {
    let Some(report) = &profile.report else {
        return Vec::new();
    };
    let together = "Top events of sessions and background processes";
    let together = report.together.as_ref().map(|top| events(together, top, EVENTS_MAX));
    let foreground = events("Top events of sessions", &report.foreground, EVENTS_MAX);
    let background = events("Top events of background processes", &report.background, ROWS_MAX);
    together.into_iter().chain([foreground, background]).collect()
}

/// The load as work and bytes per second; none of a live server.
pub(super) fn load(profile: &Profile) -> Option<ViewTable> {
    profile.report.as_ref().map(|report| rates(&profile.work, report))
}

/// Statements and segments that asked for most; none of a live server.
pub(super) fn who_asked(profile: &Profile) -> Vec<ViewTable> {
    let report = profile.report.iter();
    report.flat_map(|report| [statements(&report.statements), segments(&report.segments)]).collect()
}

/// Tables that are looked up; none of a live server.
pub(super) fn looked_up(profile: &Profile) -> Vec<ViewTable> {
    let report = profile.report.iter();
    let tables = report.flat_map(|report| {
        [files(&report.files), buffer_pool(&report.buffer_pool), instances(&report.instances)]
    });
    tables.collect()
}

fn time(time_s: f64) -> String {
    if time_s > 0.0 { show_time_ns(time_s * 1e9) } else { "0 s".to_owned() }
}

fn optional(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), show)
}

fn events(title: &str, top: &TopEvents, rows_max: usize) -> ViewTable {
    let share = match top.share_of {
        ShareOf::DbTime => "DB time",
        ShareOf::BackgroundTime => "share",
        ShareOf::CallTime => "call time",
    };
    let table =
        ViewTable::new(title).look(CellLook::Dense).words("").words("class").numbers("waits");
    let table = table.numbers("time").numbers("mean").numbers(share);
    table.with(top.events.iter().take(rows_max).map(event))
}

fn event(event: &WaitEvent) -> Vec<String> {
    vec![
        event.event.clone(),
        event.class.clone().unwrap_or_default(),
        optional(event.waits.map(real), show_count),
        optional(event.time_s, time),
        optional(event.average_s, time),
        optional(event.share, percent),
    ]
}

fn rates(work: &Work, report: &ReportActivity) -> ViewTable {
    let mut rows = ViewTable::of_numbers("Load", &["", "per second"]);
    let per_s = [
        ("transactions", &work.transactions_per_s),
        ("user calls", &work.user_calls_per_s),
        ("executions", &work.executions_per_s),
        ("parses", &work.parses_per_s),
        ("hard parses", &work.hard_parses_per_s),
    ];
    let known = per_s.into_iter().filter_map(|(name, figure)| Some((name, figure.as_ref()?)));
    rows.extend(known.map(|(name, figure)| vec![name.to_owned(), significant(figure.value)]));
    for bytes in &report.bytes {
        let what = if bytes.kind == RateKind::Total { "all" } else { "of the database" };
        let both = [("read", &bytes.read_bytes_per_s), ("written", &bytes.write_bytes_per_s)];
        rows.extend(both.into_iter().filter_map(|(way, figure)| {
            Some(vec![format!("bytes {way}, {what}"), show_throughput(figure.as_ref()?.value)])
        }));
    }
    let hits = report.flash.as_ref().and_then(|flash| flash.read_share.as_ref());
    rows.extend(hits.map(|hits| vec!["reads answered by flash".to_owned(), percent(hits.value)]));
    rows
}

fn statements(statements: &[ReportStatement]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Statements by time waited for I/O",
        &["", "waited for I/O", "elapsed", "executions"],
    );
    rows.extend(statements.iter().take(ROWS_MAX).map(|one| {
        vec![
            one.sql_id.clone(),
            optional(one.io_time_s, time),
            optional(one.elapsed_s, time),
            optional(one.executions.map(real), show_count),
        ]
    }));
    rows
}

fn segments(segments: &[SegmentIo]) -> ViewTable {
    let blocks = segments.iter().all(|one| one.counted == SegmentReads::Blocks);
    let counted = if blocks { "blocks" } else { "requests" };
    let table = ViewTable::new("Segments by physical reads").look(CellLook::Dense).words("");
    let table = table.numbers(counted).numbers("of all");
    let mut rows = table.words("kind").words("tablespace");
    rows.extend(segments.iter().take(ROWS_MAX).map(|one| {
        let partition = one.partition.as_ref().map(|name| format!(" ({name})"));
        vec![
            format!("{}.{}{}", one.owner, one.object, partition.unwrap_or_default()),
            show_count(real(one.reads)),
            optional(one.share, percent),
            one.kind.clone().unwrap_or_default(),
            one.tablespace.clone().unwrap_or_default(),
        ]
    }));
    rows
}

fn files(files: &[FileActivity]) -> ViewTable {
    let mut rows = ViewTable::new("Files by read wait time")
        .look(CellLook::Dense)
        .words("")
        .words("tablespace")
        .numbers("reads/s")
        .numbers("time")
        .numbers("writes/s");
    rows.extend(files.iter().take(ROWS_MAX).map(|one| {
        vec![
            one.file.clone(),
            one.tablespace.clone(),
            optional(one.read_iops, significant),
            optional(one.read_time_s, time),
            optional(one.write_iops, significant),
        ]
    }));
    rows
}

/// The present size and its doublings either way are what a person asks for.
fn buffer_pool(advice: &[BufferPoolAdvice]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Buffer cache of other sizes",
        &["", "size", "× current size", "physical reads"],
    );
    let wanted = |one: &&BufferPoolAdvice| {
        [0.5, 1.0, 1.5, 2.0].iter().any(|ratio| (one.size_ratio - ratio).abs() < 0.03)
    };
    rows.extend(advice.iter().filter(wanted).take(ROWS_MAX).map(|one| {
        vec![
            one.pool.clone(),
            optional(one.size_bytes, show_bytes),
            significant(one.size_ratio),
            one.read_ratio.map_or_else(|| ABSENT.to_owned(), |ratio| format!("{ratio:.2} times")),
        ]
    }));
    rows
}

fn instances(instances: &[InstanceShare]) -> ViewTable {
    let mut rows = ViewTable::of_numbers(
        "Instances",
        &["", "sessions", "DB time", "reads/s", "writes/s", "blocks read/s", "redo"],
    );
    rows.extend(instances.iter().map(|one| {
        vec![
            one.name.clone().unwrap_or_else(|| one.number.to_string()),
            optional(one.sessions, show_count),
            optional(one.db_time_s, time),
            optional(one.read_iops, significant),
            optional(one.write_iops, significant),
            optional(one.read_blocks_per_s, significant),
            optional(one.redo_bytes_per_s, show_throughput),
        ]
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_shows_what_is_printed_of_it_and_a_dash_for_the_rest() {
        let cpu = WaitEvent { event: "DB CPU".into(), time_s: Some(90.0), ..WaitEvent::default() };
        assert_eq!(event(&cpu), ["DB CPU", "", "–", "1.50 min", "–", "–"]);
    }

    #[test]
    fn only_sizes_that_are_asked_for_are_shown() {
        let of = |size_ratio| BufferPoolAdvice { size_ratio, ..BufferPoolAdvice::default() };
        let advice: Vec<BufferPoolAdvice> = [0.1, 0.48, 0.9, 1.0, 1.98].map(of).to_vec();
        assert_eq!(buffer_pool(&advice).rows.len(), 3);
    }
}
