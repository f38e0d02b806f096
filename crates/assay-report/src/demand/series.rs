//! Many profiles side by side: over time where their clocks are known, and over load.

use super::named_profile::NamedProfile;
use super::unusual::unusual;
use crate::chart::axis::{Axis, base_line, horizontal, legend, name_below, vertical};
use crate::chart::scale::AxisScale;
use crate::chart::scene::{Ink, Scene, ScenePoint, SceneSize, Stroke, TextAnchor};
use crate::format::{Formatter, tick};
use crate::view::{CellLook, Chart, ViewBlock, ViewCell, ViewTable};
use assay_model::number::real_len;
use assay_model::profile::{Bottleneck, IoPurpose, Profile};
use assay_model::units::{show_count, show_time_ns};
use assay_model::verdict::Unit;
use std::rc::Rc;

/// Reports that get a part of their own; the JSON form has all.
pub(super) const REPORTS_MAX: usize = 24;

/// One report as a point of every chart.
struct SeriesPoint<'a> {
    /// Place among the reports as they were given.
    number: usize,
    file: &'a str,
    database: &'a str,
    active_sessions: Option<f64>,
    begin: Option<String>,
    clock_s: Option<i64>,
    sessions: Option<f64>,
    read_iops: Option<f64>,
    write_iops: Option<f64>,
    read_latency_ns: Option<f64>,
    verdict: Bottleneck,
}

/// What is on one horizontal axis.
#[derive(Clone, Copy)]
enum Along {
    /// Reports in the order of their clocks, else as given.
    Reports,
    /// Sessions connected.
    Sessions,
    /// All I/Os per second.
    Iops,
}

pub(super) fn headline(profiles: &[NamedProfile<'_>]) -> String {
    let counted = BOUNDS.iter().filter_map(|(bottleneck, words)| {
        let is = |named: &&NamedProfile<'_>| named.profile.verdict.bottleneck == *bottleneck;
        let count = profiles.iter().filter(is).count();
        (count > 0).then(|| format!("{count} {words}"))
    });
    let whole = match databases(&stops(profiles)).len() {
        1 => format!("{} reports", profiles.len()),
        several => format!("{} reports of {several} databases", profiles.len()),
    };
    format!("{whole}: {}.", counted.collect::<Vec<_>>().join(", "))
}

/// The answers in the order in which storage has a part in them.
const BOUNDS: [(Bottleneck, &str); 8] = [
    (Bottleneck::Storage, "storage-bound"),
    (Bottleneck::Commit, "commit-bound"),
    (Bottleneck::Cpu, "CPU-bound"),
    (Bottleneck::Contention, "contention-bound"),
    (Bottleneck::Other, "bound by other waits"),
    (Bottleneck::Mixed, "without a single cause"),
    (Bottleneck::Idle, "idle"),
    (Bottleneck::Unknown, "unknown"),
];

/// The databases in the order in which they come.
fn databases<'a>(stops: &[SeriesPoint<'a>]) -> Vec<&'a str> {
    let mut databases: Vec<&str> = Vec::new();
    for stop in stops {
        if !databases.contains(&stop.database) {
            databases.push(stop.database);
        }
    }
    databases
}

pub(super) fn details(profiles: &[NamedProfile<'_>]) -> Vec<String> {
    let stops = stops(profiles);
    let peak = largest(&stops, SeriesPoint::iops).map(|(iops, stop)| {
        format!("The I/O peak is in {}: {} per second.", stop.file, show_count(iops))
    });
    let slow = largest(&stops, |stop| stop.read_latency_ns).map(|(time_ns, stop)| {
        format!("Reads took longest in {}: {} on average.", stop.file, show_time_ns(time_ns))
    });
    peak.into_iter().chain(slow).collect()
}

/// The report in which a number is largest.
fn largest<'s, 'a>(
    stops: &'s [SeriesPoint<'a>],
    of: impl Fn(&SeriesPoint<'a>) -> Option<f64>,
) -> Option<(f64, &'s SeriesPoint<'a>)> {
    let known = stops.iter().filter_map(|stop| Some((of(stop)?, stop)));
    known.max_by(|one, other| one.0.total_cmp(&other.0))
}

/// The tables and the charts.
pub(super) fn blocks<'a>(profiles: &[NamedProfile<'a>]) -> Vec<ViewBlock<'a>> {
    let stops: Rc<[SeriesPoint<'a>]> = stops(profiles).into();
    let names = databases(&stops);
    // Databases with a report or two each fill pages of short tables; together they can be
    // compared.
    let is_many = names.len() > 1 && stops.len() < REPORTS_EACH * names.len();
    let mut blocks: Vec<ViewBlock<'a>> = if is_many {
        vec![ViewBlock::Table(of_databases(&stops, &names))]
    } else {
        names.into_iter().map(|name| of_database(&stops, name)).collect()
    };
    let all = [
        (Along::Reports, "reads-and-writes", "Reads and writes per second, report by report."),
        (Along::Sessions, "by-sessions", "Reads and writes per second by sessions connected."),
    ];
    for (along, file, caption) in all {
        let drawn = Rc::clone(&stops);
        let draw = move |size| rates(&drawn, along, size);
        let chart = Chart::new(file, SceneSize::Full, caption, draw);
        blocks.extend(is_spread(&stops, along).then_some(ViewBlock::Chart(chart)));
    }
    if is_spread(&stops, Along::Iops) {
        let caption = "Mean read time by I/Os per second.";
        let draw = move |size| latencies(&stops, size);
        blocks.push(ViewBlock::Chart(Chart::new(
            "read-time-by-load",
            SceneSize::Full,
            caption,
            draw,
        )));
    }
    blocks
}

/// Reports of a database from which on it has a table of its own.
const REPORTS_EACH: usize = 3;

/// The reports of all databases in one table, those of one database next to each other.
fn of_databases(stops: &[SeriesPoint<'_>], names: &[&str]) -> ViewTable {
    let table = columns(
        ViewTable::new("Every report").look(CellLook::Dense).words("report").words("database"),
    );
    names.iter().fold(table, |mut table, name| {
        let mine: Vec<&SeriesPoint<'_>> =
            stops.iter().filter(|stop| stop.database == *name).collect();
        table.rows.extend(mine.iter().zip(remarks(&mine)).map(|(stop, remark)| {
            let mut cells = cells(stop, remark);
            cells.insert(1, ViewCell::Words((*name).to_owned()));
            cells
        }));
        table
    })
}

/// What is shown of every report.
fn columns(table: ViewTable) -> ViewTable {
    // Phones show the first columns, so the answer comes before its numbers.
    let table = table.words("bound by").words("begin").numbers("active sessions");
    let table = table.numbers("reads/s").numbers("writes/s").numbers("read time");
    table.words("unusual")
}

/// The reports of one database, each a link to its part.
fn of_database<'a>(stops: &[SeriesPoint<'_>], name: &str) -> ViewBlock<'a> {
    let mine: Vec<&SeriesPoint<'_>> = stops.iter().filter(|stop| stop.database == name).collect();
    let table =
        ViewTable::new("Every report of the database").look(CellLook::Dense).words("report");
    let mut table = columns(table);
    let rows = mine.iter().zip(remarks(&mine));
    table.rows.extend(rows.map(|(stop, remark)| cells(stop, remark)));
    ViewBlock::part(name, vec![ViewBlock::Table(table)])
}

fn cells(stop: &SeriesPoint<'_>, remark: String) -> Vec<ViewCell> {
    let number = |value: Option<f64>| ViewCell::Number(value.map_or("–".to_owned(), show_count));
    let file = if stop.number < REPORTS_MAX {
        ViewCell::Link(stop.file.to_owned(), format!("report-{}", stop.number + 1))
    } else {
        ViewCell::Words(stop.file.to_owned())
    };
    vec![
        file,
        ViewCell::Words(bound(stop.verdict).to_owned()),
        ViewCell::Words(stop.begin.clone().unwrap_or_default()),
        ViewCell::Number(stop.active_sessions.map_or("–".to_owned(), super::facts::significant)),
        number(stop.read_iops),
        number(stop.write_iops),
        ViewCell::Number(stop.read_latency_ns.map_or("–".to_owned(), show_time_ns)),
        ViewCell::Words(remark),
    ]
}

/// What is unusual in each report compared with the others of its database.
fn remarks(mine: &[&SeriesPoint<'_>]) -> Vec<String> {
    let figures: [(&str, Of); 4] = [
        ("active sessions", |stop| stop.active_sessions),
        ("reads", |stop| stop.read_iops),
        ("writes", |stop| stop.write_iops),
        ("read time", |stop| stop.read_latency_ns),
    ];
    let mut remarks = vec![Vec::new(); mine.len()];
    for (name, of) in figures {
        let values: Vec<Option<f64>> = mine.iter().map(|stop| of(stop)).collect();
        for (remark, ratio) in remarks.iter_mut().zip(unusual(&values)) {
            remark.extend(ratio.map(|ratio| format!("{name} {ratio:.1}× the median")));
        }
    }
    remarks.into_iter().map(|parts| parts.join(", ")).collect()
}

/// The part of a path in which it differs from the others: without the folders that all of them lie
/// in.
pub(super) fn short<'a>(file: &'a str, files: &[&str]) -> &'a str {
    let folder = |file: &str| file.rfind('/').map_or(0, |slash| slash + 1);
    let is_shared = |length: usize| {
        files.iter().all(|other| other.as_bytes().get(..length) == file.as_bytes().get(..length))
    };
    let mut ends = file[..folder(file)].match_indices('/').map(|(slash, _)| slash + 1);
    let shared = ends.rfind(|length| is_shared(*length)).unwrap_or(0);
    &file[shared..]
}

fn stops<'a>(profiles: &[NamedProfile<'a>]) -> Vec<SeriesPoint<'a>> {
    let files: Vec<&str> = profiles.iter().map(|named| named.file).collect();
    let mut stops: Vec<SeriesPoint<'a>> = profiles
        .iter()
        .enumerate()
        .map(|(number, named)| stop(number, short(named.file, &files), named.profile))
        .collect();
    if stops.iter().all(|stop| stop.clock_s.is_some()) {
        stops.sort_by_key(|stop| stop.clock_s);
    }
    stops
}

fn stop<'a>(number: usize, file: &'a str, profile: &'a Profile) -> SeriesPoint<'a> {
    let whole = profile.class(IoPurpose::All);
    let iops = whole.and_then(|class| class.rate_iops.as_ref());
    let share = whole.and_then(|class| class.read_share.as_ref());
    let reads = iops.zip(share).map(|(iops, share)| iops.value * share.value);
    let single =
        profile.class(IoPurpose::SingleBlockRead).and_then(|class| class.latency_s.as_ref());
    let latency = single.or_else(|| whole.and_then(|class| class.latency_s.as_ref()));
    SeriesPoint {
        number,
        file,
        database: &profile.name,
        active_sessions: profile.time.average_active_sessions.as_ref().map(|active| active.value),
        begin: profile.source.begin.clone(),
        clock_s: profile.source.begin_clock_s,
        sessions: profile.sessions.as_ref().map(|sessions| sessions.value),
        read_iops: reads,
        write_iops: iops.zip(reads).map(|(iops, reads)| iops.value - reads),
        read_latency_ns: latency.map(|latency| latency.value * 1e9),
        verdict: profile.verdict.bottleneck,
    }
}

impl SeriesPoint<'_> {
    fn iops(&self) -> Option<f64> {
        Some(self.read_iops? + self.write_iops?)
    }

    fn along(&self, along: Along) -> Option<f64> {
        match along {
            Along::Reports => None,
            Along::Sessions => self.sessions,
            Along::Iops => self.iops(),
        }
    }
}

const fn bound(verdict: Bottleneck) -> &'static str {
    match verdict {
        Bottleneck::Storage => "storage",
        Bottleneck::Commit => "commits",
        Bottleneck::Cpu => "CPU",
        Bottleneck::Contention => "contention",
        Bottleneck::Other => "other waits",
        Bottleneck::Idle => "idle",
        Bottleneck::Mixed => "no single one",
        Bottleneck::Unknown => "–",
    }
}

/// Whether there are at least two different places on the axis.
fn is_spread(stops: &[SeriesPoint<'_>], along: Along) -> bool {
    let known = stops.iter().filter(|stop| stop.iops().is_some());
    let places: Vec<f64> = known.clone().filter_map(|stop| stop.along(along)).collect();
    match along {
        Along::Reports => known.count() > 1,
        Along::Sessions | Along::Iops => places.iter().any(|place| (place - places[0]).abs() > 0.5),
    }
}

/// Reads and writes per second.
fn rates(stops: &[SeriesPoint<'_>], along: Along, size: SceneSize) -> Scene {
    let mut scene = Scene::new(size, 260.0, "I/Os per second");
    let most = most(stops);
    let y = upright(&mut scene, most);
    let places = across(&mut scene, stops, along);
    for (_, ink, stroke, of) in KINDS {
        let line = line(stops, &places, |stop| Some(y.place(of(stop)?)));
        // Reports of different databases do not form a course of anything.
        for name in databases(stops) {
            let mine = line.iter().filter(|(_, stop)| stop.database == name);
            scene.line(mine.map(|(place, _)| *place).collect(), ink, stroke);
        }
        for (place, stop) in line {
            let iops = show_count(of(stop).unwrap_or(0.0));
            scene.dot(place, ink, format!("{}: {iops}/s", stop.file));
        }
    }
    legend(&mut scene, &KINDS.map(|(name, ink, stroke, _)| (name.to_owned(), ink, stroke)));
    scene.description = describe(stops.len(), most);
    scene
}

fn describe(reports: usize, most: f64) -> String {
    format!("{reports} reports, with up to {} reads or writes per second.", show_count(most))
}

/// The highest rate of any kind.
fn most(stops: &[SeriesPoint<'_>]) -> f64 {
    let rates = stops.iter().flat_map(|stop| [stop.read_iops, stop.write_iops]);
    rates.flatten().fold(0.0, f64::max)
}

/// Draws the axis of rates and gives it.
fn upright(scene: &mut Scene, most: f64) -> AxisScale {
    let (format, plot) = (Formatter::default(), scene.plot);
    let y = AxisScale::from_zero(most, 4).onto(plot.bottom(), plot.top);
    vertical(scene, &format, &Axis::new(&format, "IOPS", Unit::IosPerS, y, 4));
    y
}

/// The points that are known, from left to right.
fn line<'s, 'a>(
    stops: &'s [SeriesPoint<'a>],
    places: &[Option<f64>],
    height: impl Fn(&SeriesPoint<'a>) -> Option<f64>,
) -> Vec<(ScenePoint, &'s SeriesPoint<'a>)> {
    let known = stops.iter().zip(places);
    let known = known.filter_map(|(stop, x)| Some((((*x)?, height(stop)?), stop)));
    let mut line: Vec<_> = known.collect();
    line.sort_by(|one, other| one.0.0.total_cmp(&other.0.0));
    line
}

/// A rate of a report.
type Of = for<'a, 'b> fn(&'a SeriesPoint<'b>) -> Option<f64>;

/// What is drawn, with its looks.
const KINDS: [(&str, Ink, Stroke, Of); 2] = [
    ("reads", Ink::Read, Stroke::Solid, |stop| stop.read_iops),
    ("writes", Ink::Write, Stroke::Dashed, |stop| stop.write_iops),
];

/// Draws the horizontal axis and gives the place of every report.
fn across(scene: &mut Scene, stops: &[SeriesPoint<'_>], along: Along) -> Vec<Option<f64>> {
    let plot = scene.plot;
    base_line(scene);
    if matches!(along, Along::Reports) {
        name_below(scene, "reports, oldest first");
        let x = AxisScale::linear(0.0, real_len(stops.len() - 1))
            .onto(plot.left + 12.0, plot.right() - 12.0);
        return (0..stops.len()).map(|number| Some(x.place(real_len(number)))).collect();
    }
    name_below(scene, "sessions connected");
    let known = || stops.iter().filter_map(|stop| stop.along(along));
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    let x = AxisScale::linear(low, high).onto(plot.left + 12.0, plot.right() - 12.0);
    for found in x.ticks(6) {
        let at = (x.place(found.value), plot.bottom() + 17.0);
        scene.text(
            at,
            TextAnchor::Middle,
            Ink::Axis,
            tick(&Formatter::default(), Unit::Count, found.value),
        );
    }
    stops.iter().map(|stop| Some(x.place(stop.along(along)?))).collect()
}

/// Time of reads by load.
fn latencies(stops: &[SeriesPoint<'_>], size: SceneSize) -> Scene {
    let mut scene = Scene::new(size, 280.0, "Time of reads by load");
    let known =
        stops.iter().filter_map(|stop| Some((stop.iops()?, stop.read_latency_ns?, stop.file)));
    let points: Vec<(f64, f64, &str)> = known.collect();
    let (x, y) = load_axes(&mut scene, &points);
    for (iops, time_ns, file) in points {
        let says = format!("{file}: {} at {}/s", show_time_ns(time_ns), show_count(iops));
        scene.dot((x.place(iops), y.place(time_ns)), Ink::Read, says);
    }
    "Each report is a point.".clone_into(&mut scene.description);
    scene
}

fn load_axes(scene: &mut Scene, points: &[(f64, f64, &str)]) -> (AxisScale, AxisScale) {
    let (format, plot) = (Formatter::default(), scene.plot);
    let most = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let times = || points.iter().map(|point| point.1);
    let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let x = AxisScale::from_zero(most, 6).onto(plot.left, plot.right());
    let y = AxisScale::log(low, high).onto(plot.bottom(), plot.top);
    vertical(scene, &format, &Axis::new(&format, "mean time of reads", Unit::Ns, y, 5));
    horizontal(scene, &format, &Axis::new(&format, "I/Os per second", Unit::IosPerS, x, 6));
    (x, y)
}
