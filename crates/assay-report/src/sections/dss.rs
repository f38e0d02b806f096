//! A load of decision support: bars and times of every query, the runs next to each other, and what
//! they asked of the storage.

use super::headline::Headline;
use super::styles::STYLES;
use crate::chart::bars::{Bar, BarKind, Bars};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::ladder::several;
use crate::view::{HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::dss::{Dss, DssKind, DssOutcome, DssQuery, DssRun, middle_and_range};
use assay_model::load::Setting;
use assay_model::number::{rate, real};
use assay_model::units::{show_bytes, show_count, show_throughput};
use assay_model::verdict::{Outcome, Unit};

/// Stands where nothing is known.
const UNKNOWN: &str = "–";
/// How numbers of the tables are made.
const MEANING: &str = "Queries/h × scale of a power run is 3,600 s × scale ÷ geometric mean of \
                       its times; of a throughput run, queries × scale ÷ its time. Repeats: \
                       median, shortest and longest. ≥ marks a query that was cancelled at its \
                       limit. CPU and read include parallel processes, DB time does not.";
/// Kinds of runs that bars can tell apart.
const KINDS_MAX: usize = 4;

pub(super) fn headline(dss: &Dss, format: &Formatter) -> Headline {
    let outcome = (!dss.runs.is_empty()).then(|| dss.outcome());
    let over: usize = dss.runs.iter().map(DssRun::over_limit).sum();
    let failed: usize = dss.runs.iter().map(DssRun::failed).sum();
    let words = match (outcome, best_power(dss)) {
        (None, _) => format!("No query was measured: {}.", dss.end),
        (Some(Outcome::Fail), _) => format!(
            "{} took longer than their limit and {failed} failed: means and rates with them are \
             bounds.",
            if over == 1 { "1 query".to_owned() } else { format!("{over} queries") }
        ),
        (Some(Outcome::Inconclusive), _) => flaw(dss, format),
        (Some(Outcome::Pass), Some(run)) => power_words(run, dss, format),
        (Some(Outcome::Pass), None) => "All queries of all streams finished.".to_owned(),
    };
    // Nothing was asked that could be met: what failed is a failure all the same.
    Headline { outcome: outcome.filter(|outcome| *outcome == Outcome::Fail), words }
}

/// The power run of the least geometric mean.
fn best_power(dss: &Dss) -> Option<&DssRun> {
    let powers = dss.runs.iter().filter(|run| run.kind == DssKind::Power);
    let timed = powers.filter_map(|run| Some((run, run.geometric_mean_s()?)));
    timed.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(run, _)| run)
}

fn power_words(run: &DssRun, dss: &Dss, format: &Formatter) -> String {
    let mean = run.geometric_mean_s().map_or_else(unknown, |mean_s| time(mean_s, format));
    let sum: f64 =
        run.queries.iter().filter(|query| query.is_query()).map(DssQuery::elapsed_s).sum();
    let words = format!(
        "The 22 queries of scale {} took {} in sequence; their geometric mean is {mean}.",
        dss.scale,
        show_length(sum)
    );
    if format.is_relative() {
        format!("The geometric mean of the 22 queries is {mean}.")
    } else {
        words
    }
}

fn flaw(dss: &Dss, format: &Formatter) -> String {
    let worst = dss.runs.iter().filter_map(|run| run.physical.cached_share).fold(0.0, f64::max);
    format.prose(&format!(
        "Up to {:.1}% of the database's reads came from the page cache: times do not describe the \
         storage.",
        100.0 * worst
    ))
}

pub(super) fn section<'a>(dss: &Dss, format: Formatter) -> ViewSection<'a> {
    let groups = groups(dss);
    let charts = bars(dss, &groups).map(|bars| bars.chart("queries", SceneSize::Full, format));
    let tables = [runs_table(dss, &format), queries_table(dss, &groups, &format)];
    let tables = tables.into_iter().chain((!format.is_relative()).then(|| storage_table(dss)));
    let mut blocks = vec![ViewBlock::Lead(lead(dss, &format))];
    blocks.extend(charts.map(ViewBlock::Chart));
    blocks.push(ViewBlock::Note(MEANING.to_owned()));
    blocks.extend(tables.map(|table| ViewBlock::captioned(HeadingLevel::Detail, table)));
    if !format.is_relative() {
        blocks.push(ViewBlock::detail("Load and queries", vec![ViewBlock::facts(facts(dss))]));
    }
    ViewSection { id: "queries", title: "Decision-support queries".to_owned(), blocks }
}

fn lead(dss: &Dss, format: &Formatter) -> Vec<String> {
    let mut lead = vec![dss.notice.clone()];
    lead.extend(best_power(dss).map(|run| power_words(run, dss, format)));
    let physical = dss.runs.iter().max_by_key(|run| run.physical.database_bytes);
    if !format.is_relative() {
        lead.extend(physical.and_then(physical_words));
    }
    if !dss.end.is_empty() {
        lead.push(format.prose(&format!("It ended early: {}.", dss.end)));
    }
    lead
}

/// Database reads, page cache hits and device reads in one line.
fn physical_words(run: &DssRun) -> Option<String> {
    let physical = &run.physical;
    let (cached, database) = (physical.cached_share?, real(physical.database_bytes));
    let device = physical
        .device_bytes
        .map_or_else(|| "an unknown amount".to_owned(), |bytes| show_bytes(real(bytes)));
    Some(format!(
        "Of {} database reads in the run with the most reads, {} came from the page cache \
         ({:.2}%) and {device} from the device: the reads are {}.",
        show_bytes(database),
        show_bytes(database * cached),
        100.0 * cached,
        physical.verdict.name()
    ))
}

/// Runs of one kind: repeats of the same, in the order in which they came first.
type QueryRunGroup = (String, Vec<usize>);

fn groups(dss: &Dss) -> Vec<QueryRunGroup> {
    let mut groups: Vec<QueryRunGroup> = Vec::new();
    for (place, run) in dss.runs.iter().enumerate() {
        let name = name(run);
        match groups.iter_mut().find(|(found, _)| *found == name) {
            Some((_, places)) => places.push(place),
            None => groups.push((name, vec![place])),
        }
    }
    groups
}

/// `power, parallel 2`, `4 streams, parallel 2`.
fn name(run: &DssRun) -> String {
    let one = DssRun::begun(run.kind, run.streams, run.parallel, 1);
    format!("{}, parallel {}", repeated(&one), run.parallel)
}

/// `Q1` to `Q22`, `RF1`, `RF2`, as far as they were begun.
fn names(dss: &Dss) -> Vec<String> {
    let all = (1..=22).map(|number| format!("Q{number}"));
    let all = all.chain(["RF1".to_owned(), "RF2".to_owned()]);
    let is_there = |name: &String| {
        dss.runs.iter().flat_map(|run| &run.queries).any(|query| query.name == *name)
    };
    all.filter(is_there).collect()
}

/// The times of a query in a group, ns, and whether one of them was cut off.
fn times(dss: &Dss, places: &[usize], name: &str) -> Option<Bar> {
    let runs = places.iter().filter_map(|place| dss.runs.get(*place));
    let (complete, others): (Vec<&DssQuery>, Vec<&DssQuery>) = runs
        .flat_map(|run| &run.queries)
        .filter(|query| query.name == name)
        .partition(|query| query.is_complete());
    // A query that never came to its end is drawn up to its limit, and marked.
    let is_cut = complete.is_empty();
    let over = others.into_iter().filter(|query| query.outcome == DssOutcome::OverLimit);
    let found: Vec<&DssQuery> = if is_cut { over.collect() } else { complete };
    let of = found.iter().map(|query| real(query.elapsed_ns)).collect();
    let (value, low, high) = middle_and_range(of)?;
    Some(Bar { value, low, high, is_cut, n: found.len() })
}

fn bars(dss: &Dss, groups: &[QueryRunGroup]) -> Option<Bars> {
    let names = names(dss);
    let kind = |((name, places), (ink, _)): (&QueryRunGroup, (Ink, Stroke))| BarKind {
        name: name.clone(),
        ink,
        bars: names.iter().map(|query| times(dss, places, query)).collect(),
    };
    let kinds: Vec<BarKind> = groups.iter().take(KINDS_MAX).zip(STYLES).map(kind).collect();
    (!kinds.is_empty()).then(|| Bars {
        title: "Time of every query, one bar per type of run; for repeats, the median with the \
                shortest and the longest"
            .to_owned(),
        name: "time".to_owned(),
        across_name: "query".to_owned(),
        unit: Unit::Ns,
        names: names.iter().map(|name| name.replacen('Q', "", 1)).collect(),
        kinds,
    })
}

fn runs_table(dss: &Dss, format: &Formatter) -> ViewTable {
    let most = |value: fn(&DssRun, f64) -> Option<f64>| {
        dss.runs.iter().filter_map(|run| value(run, dss.scale)).fold(0.0, f64::max)
    };
    let (power, throughput) = (most(DssRun::power_per_h), most(DssRun::throughput_per_h));
    let row = |run: &DssRun| {
        let per_h = run.power_per_h(dss.scale).map(|value| hourly(value, power, format));
        let per_h = per_h.or_else(|| {
            run.throughput_per_h(dss.scale).map(|value| hourly(value, throughput, format))
        });
        vec![
            repeated(run),
            run.parallel.to_string(),
            if format.is_relative() { "hidden".to_owned() } else { show_length(run.elapsed_s()) },
            run.geometric_mean_s().map_or_else(unknown, |mean| time(mean, format)),
            per_h.unwrap_or_else(unknown),
            format!("{} / {}", run.over_limit(), run.failed()),
            run.physical
                .cached_share
                .map_or_else(unknown, |cached| format!("{:.1}%", 100.0 * cached)),
            run.host_busy_share.map_or_else(unknown, |busy| format!("{:.0}%", 100.0 * busy)),
        ]
    };
    let names = [
        "run",
        "parallel",
        "elapsed",
        "geometric mean",
        "queries/h × scale",
        "over / failed",
        "from cache",
        "CPU busy",
    ];
    ViewTable::of_numbers("The runs", &names).with(dss.runs.iter().map(row))
}

/// `power`, `2 streams`, with the repeat where there are several.
fn repeated(run: &DssRun) -> String {
    let name = match (run.kind, run.streams) {
        (DssKind::Power, _) => "power".to_owned(),
        (DssKind::Throughput, 1) => "1 stream".to_owned(),
        (DssKind::Throughput, streams) => format!("{streams} streams"),
    };
    if run.repeat == 1 { name } else { format!("{name} ({})", run.repeat) }
}

fn hourly(value: f64, most: f64, format: &Formatter) -> String {
    if format.is_relative() {
        return format!("{:.1}%", 100.0 * value / most.max(f64::MIN_POSITIVE));
    }
    format!("{}/h", show_count(value))
}

fn queries_table(dss: &Dss, groups: &[QueryRunGroup], format: &Formatter) -> ViewTable {
    let cell = |(_, places): &QueryRunGroup, query: &str| {
        let Some(bar) = times(dss, places, query) else {
            return unknown();
        };
        let value = format.value(Unit::Ns, bar.value);
        match (bar.is_cut, bar.n) {
            (true, _) => format!("≥ {value}"),
            (false, 1) => value,
            (false, n) => format!(
                "{value} ({} – {}, n {n})",
                format.value(Unit::Ns, bar.low),
                format.value(Unit::Ns, bar.high)
            ),
        }
    };
    let row = |query: &String| {
        let cells = groups.iter().map(|group| cell(group, query));
        [query.clone()].into_iter().chain(cells).collect()
    };
    let names: Vec<&str> =
        ["query"].into_iter().chain(groups.iter().map(|group| group.0.as_str())).collect();
    ViewTable::of_numbers("Query times", &names).with(self::names(dss).iter().map(row))
}

/// What the runs asked of the storage, and where their time went: time a second.
fn storage_table(dss: &Dss) -> ViewTable {
    let row = |run: &DssRun| {
        let elapsed_s = run.elapsed_s();
        let a_second = |time_ns: Option<u64>| {
            time_ns.map_or_else(unknown, |time_ns| {
                format!("{:.2}", real(time_ns) / 1e9 / elapsed_s.max(1e-9))
            })
        };
        let moved = |bytes: u64| show_throughput(rate(bytes, elapsed_s));
        let device = run.device.as_ref().map(|device| device.counters);
        vec![
            repeated(run),
            run.parallel.to_string(),
            a_second(Some(run.time.database_ns)),
            a_second(run.time.cpu_ns),
            a_second(run.time.cpu_queue_ns),
            a_second(run.time.read_ns),
            moved(run.database.read_bytes),
            device.map_or_else(unknown, |device| moved(device.read_bytes)),
            device.map_or_else(unknown, |device| moved(device.write_bytes)),
        ]
    };
    let names = [
        "run",
        "parallel",
        "DB time",
        "CPU",
        "CPU queue",
        "read",
        "DB reads",
        "device reads",
        "device writes",
    ];
    let caption = "Session time, s/s, and reads";
    ViewTable::of_numbers(caption, &names).with(dss.runs.iter().map(row))
}

/// The server, the tables and the parameters.
fn facts(dss: &Dss) -> Vec<(String, String)> {
    let server = &dss.server;
    let own = if server.is_own { "made for this run" } else { "given" };
    let loaded = dss.data.loading.map_or_else(
        || "by an earlier run".to_owned(),
        |loading| {
            format!(
                "in {} by {}",
                show_length(loading.elapsed_s),
                several(loading.loaders, "session")
            )
        },
    );
    let tables = format!(
        "{} rows, {} and {} of indexes, loaded {loaded}",
        show_count(real(dss.data.rows)),
        show_bytes(real(dss.data.table_bytes)),
        show_bytes(real(dss.data.index_bytes))
    );
    let mut pairs = vec![
        ("server".to_owned(), format!("{} {}, {own}", server.product, server.version)),
        ("tables".to_owned(), tables),
    ];
    pairs.extend(server.encryption.as_ref().map(crate::ladder::encryption));
    let settings = dss.plan.iter().chain(&server.settings);
    pairs.extend(settings.map(|Setting { name, value }| (name.clone(), value.clone())));
    pairs
}

fn time(seconds: f64, format: &Formatter) -> String {
    format.value(Unit::Ns, seconds * 1e9)
}

fn unknown() -> String {
    UNKNOWN.to_owned()
}
