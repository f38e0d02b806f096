//! Several hosts together: how well they began together, what each gave, who lags behind, who was
//! lost.

use super::headline::Headline;
use crate::chart::hosts::{
    AloneAndTogether, HostLine, HostLines, alone as alone_chart, map, multiples, starts,
};
use crate::chart::scene::SceneSize;
use crate::format::Formatter;
use crate::phrases::capital;
use crate::view::{
    CellLook, Chart, Estimated, Terminal, ViewBlock, ViewCell, ViewSection, ViewTable,
};
use assay_model::cluster::{
    Cluster, ClusterHost, CommonStart, HostLatency, SharedLimit, Sharing, Straggler, StragglerKind,
    Transport,
};
use assay_model::measurement::Operation;
use assay_model::number::{real, real_len, seconds};
use assay_model::units::show_time_ns;
use assay_model::verdict::{Outcome, Unit};

/// Hosts that the head of a page names.
const NAMES_SHOWN: usize = 4;
/// Hosts that a terminal lists.
const HOSTS_IN_TERMINAL: usize = 16;
/// Hosts that have a panel, a row of a map, or a row of starts of their own.
const PANELS_MAX: usize = 24;
const ROWS_MAX: usize = 64;
const STARTS_MAX: usize = 24;

/// The answer where the sum over the hosts decides nothing.
pub(super) fn headline(found: &Cluster, format: &Formatter) -> Option<Headline> {
    let doubt = found.doubt()?;
    let words = format!("{}.", capital(&format.prose(&doubt)));
    Some(Headline { outcome: Some(Outcome::Inconclusive), words })
}

/// Names of several hosts, of many the first ones; nothing where there is one.
pub(super) fn names(found: &Cluster) -> Option<String> {
    let names: Vec<&str> = found.hosts.iter().map(|host| host.name.as_str()).collect();
    let shown = names.iter().take(NAMES_SHOWN).copied().collect::<Vec<&str>>().join(", ");
    match names.len() {
        0 | 1 => None,
        few if few <= NAMES_SHOWN => Some(shown),
        many => Some(format!("{shown} and {} more", many - NAMES_SHOWN)),
    }
}

pub(super) fn section<'a>(found: &Cluster, is_on_each: bool, format: Formatter) -> ViewSection<'a> {
    let lead = lead(found, is_on_each, &format);
    let mut blocks = vec![ViewBlock::Lead(lead), ViewBlock::Table(hosts(found, &format))];
    blocks.extend(pictures(found, format));
    // Pictures say more of many hosts than the first rows of a long table.
    if found.hosts.len() > HOSTS_IN_TERMINAL {
        let table = blocks.remove(1);
        blocks.push(table);
    }
    blocks.push(ViewBlock::Note(
        "Clock offsets are measured, not corrected; each is accurate to ± half the round-trip \
         time of the fastest reply. The interval of the sum comes from intervals of the sum, \
         because hosts that share storage share its stalls."
            .to_owned(),
    ));
    ViewSection { id: "hosts", title: "The hosts together".to_owned(), blocks }
}

/// What there is to say, the most important first.
fn lead(found: &Cluster, is_on_each: bool, format: &Formatter) -> Vec<String> {
    let mut said: Vec<String> = found
        .lost()
        .map(|(host, loss)| {
            let after_s = real(loss.after_ns.unsigned_abs()) / 1e9;
            format!(
                "{} was lost {after_s:.1} s after the start: {}. The sums cover only the time \
                 that all hosts measured.",
                host.name,
                format.prose(&loss.reason)
            )
        })
        .collect();
    said.extend(sum(found, is_on_each, format));
    said.extend(sharing(found));
    said.extend(found.start.as_ref().map(|start| began(found.hosts.len(), start)));
    said.extend(found.stragglers.iter().map(straggler));
    said.extend(fairness(found));
    said
}

fn sum(found: &Cluster, is_on_each: bool, format: &Formatter) -> Option<String> {
    let iops = found.iops.as_ref()?;
    let Estimated { value, doubt, .. } = format.estimated(Unit::IosPerS, iops);
    let each = if is_on_each { " on each" } else { "" };
    let under = found.load.as_ref().map(|load| format!(" under the fastest load, {load}{each}"));
    let under = under.unwrap_or_default();
    Some(format!("{} together delivered {value}{under} {doubt}.", count(found.hosts.len())))
}

/// Who limits what they give together.
fn sharing(found: &Cluster) -> Option<String> {
    let Sharing { ratio, hosts, limit } = found.sharing.as_ref()?;
    let percent = |share: f64| 100.0 * share;
    let meaning = match (limit, found.transport) {
        (SharedLimit::Hosts, _) => "the hosts are the limit; the storage may be faster",
        (SharedLimit::Shared, Transport::Local) => {
            "a shared resource is the limit: the storage, or the CPUs of this machine"
        }
        (SharedLimit::Shared, Transport::Ray | Transport::Ssh) => {
            "a shared resource is the limit: the storage, or the path to it"
        }
        (SharedLimit::Unclear, _) => "the limit may be the hosts or a shared resource",
    };
    let interval = if ratio.has_interval() {
        format!("{:.0} to {:.0}%", percent(ratio.low), percent(ratio.high))
    } else {
        "too short for an interval".to_owned()
    };
    Some(format!(
        "{hosts} hosts together deliver {:.0}% of the sum of each alone ({interval}): {meaning}.",
        percent(ratio.value)
    ))
}

fn count(hosts: usize) -> String {
    if hosts == 1 { "One host".to_owned() } else { format!("{hosts} hosts") }
}

fn began(hosts: usize, start: &CommonStart) -> String {
    let ms = |time_ns: u64| seconds(time_ns) * 1e3;
    let (skew, doubt) = (ms(start.skew_ns), ms(start.uncertainty_ns));
    let tries = match start.attempts {
        0 | 1 => String::new(),
        more => format!(", at attempt {more}"),
    };
    let limit_ms = ms(start.limit_ns);
    let together = match (start.is_together(), start.is_apart()) {
        (true, _) => String::new(),
        (_, true) => format!(", which is more than the limit of {limit_ms:.0} ms"),
        _ => format!(", which may exceed the limit of {limit_ms:.0} ms"),
    };
    format!(
        "All workers of {} started within {skew:.2} ms (± {doubt:.2} ms){together}{tries}.",
        count(hosts).to_lowercase()
    )
}

fn straggler(found: &Straggler) -> String {
    let percent = 100.0 * found.ratio.value;
    match found.kind {
        StragglerKind::Rate => format!(
            "{} lags behind: {percent:.0}% of the rate of the others; likely cause: {}.",
            found.host, found.place
        ),
        StragglerKind::Tail => format!(
            "{} waits longer: its p99 is {:.1} times that of the others; likely cause: {}.",
            found.host, found.ratio.value, found.place
        ),
    }
}

/// The slowest against the fastest: the index alone is nearly blind to one slow host.
fn fairness(found: &Cluster) -> Option<String> {
    let index = found.fairness_coefficient.filter(|_| found.hosts.len() > 1)?;
    let by_ios = |one: &&ClusterHost, other: &&ClusterHost| one.ios.cmp(&other.ios);
    let (least, most) = (found.hosts.iter().min_by(by_ios)?, found.hosts.iter().max_by(by_ios)?);
    Some(format!(
        "Jain's fairness index is {index:.3}; {} did the least work, {:.1}% of that of {}.",
        least.name,
        100.0 * assay_model::number::share(least.ios, most.ios),
        most.name
    ))
}

fn hosts(found: &Cluster, format: &Formatter) -> ViewTable {
    let timed = timed(found);
    let mut table = ViewTable::new("")
        .look(CellLook::Slim)
        .words("Host")
        .numbers_as("Rate", Terminal::ValuesOnly);
    table = table.numbers("Share");
    let is_alone_known = found.hosts.iter().any(|host| host.alone.is_some());
    if is_alone_known {
        table = table.numbers("Alone").numbers("One I/O alone");
    }
    for operation in &timed {
        let name = operation.name();
        table = table.numbers(format!("{name} p50")).numbers(format!("{name} p99"));
    }
    table = table.numbers("Host busy").numbers("Began after").numbers("Clock ±").words("Remark");
    for host in &found.hosts {
        let mut row = vec![ViewCell::Words(host.name.clone()), rate(host, format)];
        row.push(ViewCell::Number(format.value(Unit::Share, host.share)));
        if is_alone_known {
            row.extend(alone(host, format));
        }
        for operation in &timed {
            let times = host.latencies.iter().find(|times| times.operation == *operation);
            row.extend(latencies(times, format));
        }
        row.push(
            host.host_busy_share.map_or(ViewCell::Unknown, |busy| {
                ViewCell::Number(format.value(Unit::Share, busy))
            }),
        );
        row.push(
            host.start_error_ns
                .map_or(ViewCell::Unknown, |error_ns| ViewCell::Number(milliseconds(error_ns))),
        );
        row.push(ViewCell::Number(format!("{:.0} µs", 1e6 * seconds(host.clock.uncertainty_ns))));
        row.push(ViewCell::Words(remark(host)));
        table.row(row);
    }
    ViewTable { terminal_rows_max: Some(HOSTS_IN_TERMINAL), ..table }
}

/// Reads and writes that any host timed.
fn timed(found: &Cluster) -> Vec<Operation> {
    let has = |operation: &Operation| {
        found
            .hosts
            .iter()
            .any(|host| host.latencies.iter().any(|times| times.operation == *operation))
    };
    [Operation::Read, Operation::Write].into_iter().filter(has).collect()
}

fn rate(host: &ClusterHost, format: &Formatter) -> ViewCell {
    match &host.iops {
        Some(iops) => ViewCell::Estimate(format.estimated(Unit::IosPerS, iops)),
        None if host.rates_iops.is_empty() => ViewCell::Unknown,
        None => {
            let mean = host.rates_iops.iter().sum::<f64>() / real_len(host.rates_iops.len());
            ViewCell::Number(format.value(Unit::IosPerS, mean))
        }
    }
}

/// What a host does with all others idle.
fn alone(host: &ClusterHost, format: &Formatter) -> [ViewCell; 2] {
    let Some(alone) = &host.alone else { return [ViewCell::Unknown, ViewCell::Unknown] };
    let rate = alone.iops.map(|iops| ViewCell::Number(format.value(Unit::IosPerS, iops.value)));
    let time = ViewCell::Number(format.value(Unit::Ns, alone.base_service_time_ns));
    [rate.unwrap_or(ViewCell::Unknown), time]
}

fn latencies(times: Option<&HostLatency>, format: &Formatter) -> [ViewCell; 2] {
    let show = |time_ns: u64| ViewCell::Number(format.value(Unit::Ns, real(time_ns)));
    times.map_or([ViewCell::Unknown, ViewCell::Unknown], |times| {
        [show(times.p50_ns), show(times.p99_ns)]
    })
}

/// What is remarkable about a host.
fn remark(host: &ClusterHost) -> String {
    let mut said = Vec::new();
    said.extend(host.lost.as_ref().map(|_| "lost".to_owned()));
    said.extend(
        host.clock.jump_ns.map(|jump_ns| format!("clock jumped by {:.1} s", seconds(jump_ns))),
    );
    said.extend(
        host.stood_still_ns.map(|still_ns| format!("did not run for {:.1} s", seconds(still_ns))),
    );
    if host.errors > 0 {
        said.push(format!("{} I/Os failed", host.errors));
    }
    said.join("; ")
}

/// Of what rounds to nothing the sign says nothing.
fn milliseconds(time_ns: i64) -> String {
    const LEAST_NS: u64 = 5_000;
    let shown_ns = if time_ns.unsigned_abs() < LEAST_NS { 0 } else { time_ns };
    format!("{:.2} ms", 1e3 * signed_seconds(shown_ns))
}

fn signed_seconds(time_ns: i64) -> f64 {
    let size = seconds(time_ns.unsigned_abs());
    if time_ns < 0 { -size } else { size }
}

/// The hosts in pictures: each over time, all of them as a map, when each began, and each alone.
fn pictures<'a>(found: &Cluster, format: Formatter) -> Vec<ViewBlock<'a>> {
    let longest = found.hosts.iter().map(|host| host.rates_iops.len()).max().unwrap_or(0);
    let mut charts = Vec::new();
    if longest > 1 && found.hosts.len() > 1 {
        let of = lines(found);
        let length = show_time_ns(real(found.window.elapsed_ns));
        let shown = slowest(&of, PANELS_MAX);
        let which = match found.hosts.len() {
            all if all > shown.hosts.len() => format!("The {PANELS_MAX} slowest of {all} hosts"),
            _ => "Each host".to_owned(),
        };
        let caption = format!("{which} over {length}; dotted: the median of all that are shown.");
        charts.push(Chart::new("hosts-over-time", SceneSize::Full, caption, move |size| {
            multiples(&shown, &format, size)
        }));
        let rows = slowest(&of, ROWS_MAX);
        let caption = "One row per host; a deeper colour means a higher rate. A vertical stripe \
                       is a stall of a shared resource; a horizontal one is specific to that host.";
        charts.push(Chart::new("hosts-and-time", SceneSize::Full, caption, move |size| {
            map(&rows, &format, size)
        }));
    }
    charts.extend(begins(found));
    charts.extend(each_alone(found, format));
    charts.into_iter().map(ViewBlock::Chart).collect()
}

/// Start time of each host; nothing where fewer than two said so.
fn begins<'a>(found: &Cluster) -> Option<Chart<'a>> {
    let mut of = lines(found);
    of.hosts.retain(|host| host.start_ns.is_some());
    if of.hosts.len() < 2 {
        return None;
    }
    of.hosts.sort_by_key(|host| host.start_ns);
    // The first and the last ones say how far apart all of them are.
    if of.hosts.len() > STARTS_MAX {
        of.hosts.drain(STARTS_MAX / 2..of.hosts.len() - STARTS_MAX / 2);
    }
    let caption = "Start of the first worker of each host, and the uncertainty of its clock.";
    let draw = move |size| starts(&of, size).unwrap_or_default();
    Some(Chart::new("hosts-began", SceneSize::Full, caption, draw))
}

/// What each host gives alone against what it gives while all others do the same.
fn each_alone<'a>(found: &Cluster, format: Formatter) -> Option<Chart<'a>> {
    let both = |host: &ClusterHost| {
        let (name, together) = (host.name.clone(), host.iops);
        Some(AloneAndTogether { name, alone: host.alone.as_ref()?.iops?, together })
    };
    let known: Vec<AloneAndTogether> =
        found.hosts.iter().filter_map(both).take(STARTS_MAX).collect();
    if known.len() < 2 {
        return None;
    }
    let caption = "Rate of each host alone and with all others.";
    Some(Chart::new("hosts-alone", SceneSize::Full, caption, move |size| {
        alone_chart(&known, &format, size)
    }))
}

/// The hosts as they are drawn.
fn lines(found: &Cluster) -> HostLines {
    let host = |host: &ClusterHost| HostLine {
        name: host.name.clone(),
        remark: match &host.lost {
            Some(_) => "lost",
            None if found.stragglers.iter().any(|one| one.host == host.name) => "lags behind",
            None => "",
        },
        rates_iops: host.rates_iops.clone(),
        start_ns: host.start_error_ns.map(|error_ns| (error_ns, host.clock.uncertainty_ns)),
    };
    HostLines {
        hosts: found.hosts.iter().map(host).collect(),
        elapsed_s: seconds(found.window.elapsed_ns),
        limit_ns: found.start.as_ref().map(|start| start.limit_ns),
    }
}

/// At most `most` hosts, the slowest ones, in the order in which they were named.
fn slowest(of: &HostLines, most: usize) -> HostLines {
    let mean = |place: &usize| {
        let rates = &of.hosts[*place].rates_iops;
        rates.iter().sum::<f64>() / real_len(rates.len().max(1))
    };
    let mut places: Vec<usize> = (0..of.hosts.len()).collect();
    places.sort_by(|one, other| mean(one).total_cmp(&mean(other)));
    places.truncate(most);
    places.sort_unstable();
    HostLines { hosts: places.iter().map(|place| of.hosts[*place].clone()).collect(), ..of.clone() }
}
