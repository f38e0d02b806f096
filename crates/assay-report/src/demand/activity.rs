//! What only a report prints, as tables: top events first, then who read what, the cache at other sizes, the instances.

use super::facts::{Rows, percent, rate, significant};
use super::response;
use assay_model::number::real;
use assay_model::profile::{
    BufferPoolAdvice, FileActivity, InstanceShare, LatencyCurve, Profile, ReportActivity,
    ReportStatement, SegmentIo, SegmentReads, ShareOf, TopEvents, WaitEvent,
};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// Events of sessions that are listed, as reports do.
const EVENTS_MAX: usize = 10;
/// Events of background processes that are listed.
const BACKGROUND_MAX: usize = 5;
/// Statements, segments and files that are listed; the document has all.
const ROWS_MAX: usize = 10;
/// Stands where a report says nothing.
const ABSENT: &str = "–";

/// A table with its title.
pub(crate) type Titled = (&'static str, Rows);

/// What a DBA reads first: events, load against processors, response time.
pub(super) fn first(profile: &Profile) -> Vec<Titled> {
    let Some(report) = &profile.report else {
        return Vec::new();
    };
    known([
        (title(report.top(), "Top events"), events(report.top(), EVENTS_MAX)),
        ("Top background events", events(&report.background, BACKGROUND_MAX)),
        ("Active sessions against processors", response::load(profile)),
        ("Response time, call by call", response::split(profile)),
        ("Commits and redo", response::commits(profile)),
    ])
}

/// Who did the I/O, and what may change it.
pub(super) fn details(profile: &Profile) -> Vec<Titled> {
    let Some(report) = &profile.report else {
        return Vec::new();
    };
    known([
        ("Bytes, read and written apart", bytes(report)),
        ("Statements by time waited for I/O", statements(&report.statements)),
        ("Tables and indexes by physical reads", segments(&report.segments)),
        ("Files by time waited for their reads", files(&report.files)),
        ("The buffer cache at other sizes", buffer_pool(&report.buffer_pool)),
        ("Instances", instances(&report.instances)),
    ])
}

fn known<const N: usize>(tables: [Titled; N]) -> Vec<Titled> {
    tables.into_iter().filter(|(_, rows)| rows.len() > 1).collect()
}

fn title(top: &TopEvents, words: &'static str) -> &'static str {
    match top.share_of {
        ShareOf::DbTime => words,
        ShareOf::BackgroundTime => "Top background events",
        ShareOf::CallTime => "Top events, background processes among them",
    }
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), significant)
}

fn time(time_s: Option<f64>) -> String {
    time_s.map_or_else(|| ABSENT.to_owned(), |time_s| show_time_ns(time_s * 1e9))
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| ABSENT.to_owned(), percent)
}

fn per_second(iops: Option<f64>) -> String {
    iops.map_or_else(|| ABSENT.to_owned(), |iops| format!("{}/s", rate(iops)))
}

fn throughput(bytes_per_s: Option<f64>) -> String {
    bytes_per_s.map_or_else(|| ABSENT.to_owned(), show_throughput)
}

/// The events as the report prints them.
fn events(top: &TopEvents, rows_max: usize) -> Rows {
    let whole = match top.share_of {
        ShareOf::DbTime => "DB time",
        ShareOf::BackgroundTime => "background time",
        ShareOf::CallTime => "call time",
    };
    let mut rows = vec![head(&["", "waits", "time", "average", whole, "class"])];
    let row = |event: &WaitEvent| {
        vec![
            event.event.clone(),
            event.waits.map_or_else(|| ABSENT.to_owned(), show_count),
            time(event.time_s),
            time(event.average_s),
            share(event.share),
            event.class.clone().unwrap_or_default(),
        ]
    };
    rows.extend(top.events.iter().take(rows_max).map(row));
    rows
}

fn bytes(report: &ReportActivity) -> Rows {
    let mut rows = vec![head(&["", "read", "written"])];
    rows.extend(report.bytes.iter().map(|counted| {
        let value = |figure: &Option<assay_model::profile::Figure>| {
            throughput(figure.as_ref().map(|figure| figure.value))
        };
        let name = super::facts::counted(counted.kind).to_owned();
        vec![name, value(&counted.read_bytes_per_s), value(&counted.write_bytes_per_s)]
    }));
    if let Some(flash) = &report.flash {
        let value = |figure: &Option<assay_model::profile::Figure>, show: fn(f64) -> String| {
            figure.as_ref().map_or_else(|| ABSENT.to_owned(), |figure| show(figure.value))
        };
        rows.push(vec![
            "read requests that flash answered".to_owned(),
            format!(
                "{} ({})",
                value(&flash.read_iops, |iops| format!("{}/s", rate(iops))),
                value(&flash.read_share, percent)
            ),
            ABSENT.to_owned(),
        ]);
    }
    rows
}

fn statements(statements: &[ReportStatement]) -> Rows {
    let mut rows =
        vec![head(&["", "I/O time", "elapsed", "share of it", "executions", "I/O time each"])];
    rows.extend(statements.iter().take(ROWS_MAX).map(|one| {
        let of = |other: Option<f64>| one.io_time_s.zip(other.filter(|other| *other > 0.0));
        vec![
            one.sql_id.clone(),
            time(one.io_time_s),
            time(one.elapsed_s),
            share(of(one.elapsed_s).map(|(io_s, elapsed_s)| io_s / elapsed_s)),
            one.executions.map_or_else(|| ABSENT.to_owned(), show_count),
            time(of(one.executions).map(|(io_s, executions)| io_s / executions)),
        ]
    }));
    rows
}

fn segments(segments: &[SegmentIo]) -> Rows {
    let mut rows = vec![head(&["", "kind", "tablespace", "reads", "counted in", "share"])];
    rows.extend(segments.iter().take(ROWS_MAX).map(|one| {
        let partition =
            one.partition.as_ref().map_or_else(String::new, |partition| format!(" ({partition})"));
        let counted = match one.counted {
            SegmentReads::Requests => "requests",
            SegmentReads::Blocks => "blocks",
        };
        vec![
            format!("{}.{}{partition}", one.owner, one.object),
            one.kind.clone().unwrap_or_default(),
            one.tablespace.clone().unwrap_or_default(),
            show_count(one.reads),
            counted.to_owned(),
            share(one.share),
        ]
    }));
    rows
}

fn files(files: &[FileActivity]) -> Rows {
    let mut rows = vec![head(&["", "tablespace", "reads", "read time", "writes"])];
    rows.extend(files.iter().take(ROWS_MAX).map(|one| {
        vec![
            one.file.clone(),
            one.tablespace.clone(),
            per_second(one.read_iops),
            time(one.read_time_s),
            per_second(one.write_iops),
        ]
    }));
    rows
}

fn buffer_pool(advice: &[BufferPoolAdvice]) -> Rows {
    let mut rows = vec![head(&["", "size", "of the present size", "physical reads"])];
    rows.extend(advice.iter().map(|one| {
        let pool = match one.pool.as_str() {
            "D" => "default".to_owned(),
            "K" => "keep".to_owned(),
            "R" => "recycle".to_owned(),
            other => other.to_owned(),
        };
        vec![
            pool,
            one.size_bytes.map_or_else(|| ABSENT.to_owned(), show_bytes),
            format!("{:.2}×", one.size_ratio),
            one.read_ratio.map_or_else(|| ABSENT.to_owned(), |ratio| format!("{ratio:.2}×")),
        ]
    }));
    rows
}

fn instances(instances: &[InstanceShare]) -> Rows {
    let all_s: f64 = instances.iter().filter_map(|one| one.db_time_s).sum();
    let mut rows = vec![head(&["", "sessions", "DB time", "share", "reads", "writes", "redo"])];
    rows.extend(instances.iter().map(|one| {
        let name = one.name.clone().unwrap_or_default();
        vec![
            format!("{} {name}", one.number).trim_end().to_owned(),
            number(one.sessions),
            time(one.db_time_s),
            share(one.db_time_s.filter(|_| all_s > 0.0).map(|time_s| time_s / all_s)),
            per_second(one.read_iops),
            per_second(one.write_iops),
            throughput(one.redo_bytes_per_s),
        ]
    }));
    rows
}

/// Histograms side by side: how many I/Os of each purpose a second took how long; the names of the events stand in the head.
pub(super) fn histograms(profile: &Profile) -> Rows {
    let curves: Vec<(String, &LatencyCurve)> = profile
        .classes
        .iter()
        .filter_map(|class| {
            Some((super::facts::purpose(class.purpose).to_owned(), class.latency.as_ref()?))
        })
        .filter(|(_, curve)| curve.ios() > 0.0)
        .collect();
    let elapsed_s = profile.elapsed_s.as_ref().map_or(0.0, |elapsed| elapsed.value);
    if curves.is_empty() || elapsed_s <= 0.0 {
        return Vec::new();
    }
    let mut rows = vec![
        std::iter::once(String::new())
            .chain(curves.iter().map(|(name, _)| format!("{name}, a second")))
            .collect(),
    ];
    for range in ranges(&curves) {
        let cell = |(_, curve): &(String, &LatencyCurve)| in_range(curve, range, elapsed_s);
        rows.push(std::iter::once(words(range)).chain(curves.iter().map(cell)).collect());
    }
    rows
}

/// Every range that any curve counts, ascending.
fn ranges(curves: &[(String, &LatencyCurve)]) -> Vec<(u64, Option<u64>)> {
    let mut ranges: Vec<(u64, Option<u64>)> = curves
        .iter()
        .flat_map(|(_, curve)| &curve.buckets)
        .filter(|bucket| bucket.ios > 0.0)
        .map(|bucket| (bucket.low_ns, bucket.high_ns))
        .collect();
    ranges.sort_by_key(|(low, high)| (*low, high.unwrap_or(u64::MAX)));
    ranges.dedup();
    ranges
}

fn words((low_ns, high_ns): (u64, Option<u64>)) -> String {
    let low = show_time_ns(real(low_ns));
    match high_ns {
        Some(high_ns) if low_ns == 0 => format!("below {}", show_time_ns(real(high_ns))),
        Some(high_ns) => format!("{low} – {}", show_time_ns(real(high_ns))),
        None => format!("{low} and longer"),
    }
}

/// Rate and share of one range; a dash where the curve has no such range.
fn in_range(curve: &LatencyCurve, range: (u64, Option<u64>), elapsed_s: f64) -> String {
    let found = curve.buckets.iter().find(|bucket| (bucket.low_ns, bucket.high_ns) == range);
    found.filter(|bucket| bucket.ios > 0.0).map_or_else(
        || ABSENT.to_owned(),
        |bucket| {
            format!(
                "{} ({})",
                significant(bucket.ios / elapsed_s),
                percent(bucket.ios / curve.ios())
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::profile::{Figure, IoClass, IoPurpose, LatencyBucket};

    fn bucket(low_ns: u64, high_ns: Option<u64>, ios: f64) -> LatencyBucket {
        LatencyBucket { low_ns, high_ns, ios }
    }

    fn profile() -> Profile {
        let mut reads = IoClass::new(IoPurpose::SingleBlockRead);
        let buckets = vec![
            bucket(0, Some(1_000_000), 900.0),
            bucket(1_000_000, Some(2_000_000), 0.0),
            bucket(32_000_000, None, 100.0),
        ];
        reads.latency = Some(LatencyCurve { buckets, source: String::new() });
        Profile {
            classes: vec![reads],
            elapsed_s: Some(Figure::new(100.0, "made up")),
            ..Profile::default()
        }
    }

    #[test]
    fn a_histogram_has_rates_and_shares_and_no_empty_range() {
        let rows = histograms(&profile());
        assert_eq!(rows[0], ["", "single-block reads, a second"]);
        assert_eq!(rows[1], ["below 1.00 ms", "9.00 (90.0 %)"]);
        assert_eq!(rows[2], ["32.0 ms and longer", "1.00 (10.0 %)"]);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn what_a_report_does_not_print_is_a_dash_and_never_zero() {
        let top = TopEvents {
            share_of: ShareOf::CallTime,
            events: vec![WaitEvent { event: "log file sync".to_owned(), ..WaitEvent::default() }],
        };
        let rows = events(&top, 10);
        assert_eq!(rows[0][4], "call time");
        assert_eq!(rows[1], ["log file sync", "–", "–", "–", "–", ""]);
    }
}
