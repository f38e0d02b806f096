//! Several hosts together: how well they began together, what each gave, who lags behind, who was lost.

use super::headline::Headline;
use super::styles::STYLES;
use crate::chart::lines::{Across, Line, Lines};
use crate::chart::scene::Size;
use crate::format::Formatter;
use crate::phrases::capital;
use crate::view::{Block, Cell, Estimated, Look, Section, Table, Terminal};
use assay_model::Estimate;
use assay_model::cluster::{
    Cluster, ClusterHost, CommonStart, HostLatency, SharedLimit, Sharing, Straggler, StragglerKind,
    Transport,
};
use assay_model::measurement::Operation;
use assay_model::number::{real, real_len, seconds};
use assay_model::verdict::{Outcome, Unit};

/// Hosts that a terminal lists.
const HOSTS_IN_TERMINAL: usize = 16;

/// The answer where the sum over the hosts decides nothing.
pub(super) fn headline(found: &Cluster, format: &Formatter) -> Option<Headline> {
    let doubt = found.doubt()?;
    let words = format!("{}.", capital(&format.prose(&doubt)));
    Some(Headline { outcome: Some(Outcome::Inconclusive), words })
}

pub(super) fn section<'a>(found: &Cluster, format: Formatter) -> Section<'a> {
    let mut blocks = vec![Block::Lead(lead(found, &format)), Block::Table(hosts(found, &format))];
    blocks.extend(over_time(found, format));
    blocks.push(Block::Note(
        "Clocks are compared, not set: each offset is that of the fastest answer, give or take half its way. The interval of the sum is made from intervals of the sum, because hosts that share storage share its stalls."
            .to_owned(),
    ));
    Section { id: "hosts", title: "The hosts together".to_owned(), blocks }
}

/// What there is to say, the most important first.
fn lead(found: &Cluster, format: &Formatter) -> Vec<String> {
    let mut said: Vec<String> = found
        .lost()
        .map(|(host, loss)| {
            let after_s = real(loss.after_ns.unsigned_abs()) / 1e9;
            format!(
                "{} was lost {after_s:.1} s after the start: {}. Only what all hosts had measured by then is in the sums.",
                host.name,
                format.prose(&loss.reason)
            )
        })
        .collect();
    said.extend(sum(found, format));
    said.extend(sharing(found));
    said.extend(found.start.as_ref().map(|start| began(found.hosts.len(), start)));
    said.extend(found.stragglers.iter().map(straggler));
    said.extend(fairness(found));
    said
}

fn sum(found: &Cluster, format: &Formatter) -> Option<String> {
    let iops = found.iops.as_ref()?;
    let Estimated { value, doubt, .. } = format.estimated(Unit::IosPerS, iops);
    let under = found
        .load
        .as_ref()
        .map(|load| format!(" under the load that gave the most, {load} on each"));
    let under = under.unwrap_or_default();
    Some(format!("{} gave {value} together{under} {doubt}.", count(found.hosts.len())))
}

/// Who limits what they give together.
fn sharing(found: &Cluster) -> Option<String> {
    let Sharing { ratio, hosts, limit } = found.sharing.as_ref()?;
    let percent = |share: f64| 100.0 * share;
    let meaning = match (limit, found.transport) {
        (SharedLimit::Hosts, _) => "the hosts are the limit, and what they share may have more",
        (SharedLimit::Shared, Transport::Local) => {
            "what they share is the limit: the storage, or the processors of this machine"
        }
        (SharedLimit::Shared, Transport::Ray) => {
            "what they share is the limit: the storage, or the way to it"
        }
        (SharedLimit::Unclear, _) => "it is open whether the hosts or what they share is the limit",
    };
    Some(format!(
        "{hosts} hosts give together {:.0} % of the sum of what each gives alone ({:.0} to {:.0} %): {meaning}.",
        percent(ratio.value),
        percent(ratio.low),
        percent(ratio.high)
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
        more => format!(", at the {more}. try"),
    };
    let together = if start.is_together() { "" } else { ", which is more than the limit of" };
    let limit =
        if start.is_together() { String::new() } else { format!(" {:.0} ms", ms(start.limit_ns)) };
    format!(
        "All workers of {} began within {skew:.2} ms (± {doubt:.2} ms){together}{limit}{tries}.",
        count(hosts).to_lowercase()
    )
}

fn straggler(found: &Straggler) -> String {
    let percent = 100.0 * found.ratio.value;
    match found.kind {
        StragglerKind::Rate => format!(
            "{} lags behind: {percent:.0} % of the rate of the others; likely place: {}.",
            found.host, found.place
        ),
        StragglerKind::Tail => format!(
            "{} waits longer: its p99 is {:.1} times that of the others; likely place: {}.",
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
        "Jain's index of fairness is {index:.3}; {} did the fewest I/Os, {:.1} % of those of {}.",
        least.name,
        100.0 * assay_model::number::share(least.ios, most.ios),
        most.name
    ))
}

fn hosts(found: &Cluster, format: &Formatter) -> Table {
    let timed = timed(found);
    let mut table =
        Table::new("").look(Look::Slim).words("Host").numbers_as("IOPS", Terminal::ValuesOnly);
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
        let mut row = vec![Cell::Words(host.name.clone()), rate(host, format)];
        row.push(Cell::Number(format.value(Unit::Share, host.share)));
        if is_alone_known {
            row.extend(alone(host, format));
        }
        for operation in &timed {
            let times = host.latencies.iter().find(|times| times.operation == *operation);
            row.extend(latencies(times, format));
        }
        row.push(
            host.host_busy_share
                .map_or(Cell::Unknown, |busy| Cell::Number(format.value(Unit::Share, busy))),
        );
        row.push(host.start_error_ns.map_or(Cell::Unknown, |error_ns| {
            Cell::Number(format!("{:.2} ms", 1e3 * signed_seconds(error_ns)))
        }));
        row.push(Cell::Number(format!("{:.0} µs", 1e6 * seconds(host.clock.uncertainty_ns))));
        row.push(Cell::Words(remark(host)));
        table.row(row);
    }
    Table { terminal_rows_max: Some(HOSTS_IN_TERMINAL), ..table }
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

fn rate(host: &ClusterHost, format: &Formatter) -> Cell {
    match &host.iops {
        Some(iops) => Cell::Estimate(format.estimated(Unit::IosPerS, iops)),
        None if host.rates_iops.is_empty() => Cell::Unknown,
        None => {
            let mean = host.rates_iops.iter().sum::<f64>() / real_len(host.rates_iops.len());
            Cell::Number(format.value(Unit::IosPerS, mean))
        }
    }
}

/// What a host does with all others idle.
fn alone(host: &ClusterHost, format: &Formatter) -> [Cell; 2] {
    let Some(alone) = &host.alone else { return [Cell::Unknown, Cell::Unknown] };
    let rate = alone.iops.map(|iops| Cell::Number(format.value(Unit::IosPerS, iops.value)));
    let time = Cell::Number(format.value(Unit::Ns, alone.base_service_time_ns));
    [rate.unwrap_or(Cell::Unknown), time]
}

fn latencies(times: Option<&HostLatency>, format: &Formatter) -> [Cell; 2] {
    let show = |time_ns: u64| Cell::Number(format.value(Unit::Ns, real(time_ns)));
    times.map_or([Cell::Unknown, Cell::Unknown], |times| [show(times.p50_ns), show(times.p99_ns)])
}

/// What is remarkable about a host.
fn remark(host: &ClusterHost) -> String {
    let mut said = Vec::new();
    said.extend(host.lost.as_ref().map(|_| "lost".to_owned()));
    said.extend(
        host.clock.jump_ns.map(|jump_ns| format!("clock jumped by {:.1} s", seconds(jump_ns))),
    );
    if host.errors > 0 {
        said.push(format!("{} I/Os failed", host.errors));
    }
    said.join("; ")
}

fn signed_seconds(time_ns: i64) -> f64 {
    let size = seconds(time_ns.unsigned_abs());
    if time_ns < 0 { -size } else { size }
}

/// The rate of each host over time, on one scale; of more hosts than there are lines, the slowest ones.
fn over_time<'a>(found: &Cluster, format: Formatter) -> Option<Block<'a>> {
    let longest = found.hosts.iter().map(|host| host.rates_iops.len()).max().unwrap_or(0);
    if longest < 2 {
        return None;
    }
    let mut shown: Vec<&ClusterHost> = found.hosts.iter().collect();
    shown.sort_by_key(|host| host.ios);
    let title = if found.hosts.len() > STYLES.len() {
        format!("The {} slowest hosts over time", STYLES.len())
    } else {
        "The hosts over time".to_owned()
    };
    let part_s = seconds(found.window.elapsed_ns) / real_len(longest);
    let lines = Lines {
        title,
        across: Across::Time,
        across_name: String::new(),
        name: "IOPS of a host".to_owned(),
        unit: Unit::IosPerS,
        log: false,
        curves: shown.iter().zip(STYLES).map(|(host, style)| line(host, style, part_s)).collect(),
        marks: Vec::new(),
    };
    Some(Block::Chart(lines.chart(Size::Full, format)))
}

fn line(
    host: &ClusterHost,
    (ink, stroke): (crate::chart::scene::Ink, crate::chart::scene::Stroke),
    part_s: f64,
) -> Line {
    let middle = |place: usize| (real_len(place) + 0.5) * part_s;
    let points = host.rates_iops.iter().enumerate();
    let points = points.map(|(place, rate)| (middle(place), Estimate::exact(*rate, 1)));
    Line {
        name: host.name.clone(),
        ink,
        stroke,
        dots: false,
        band: false,
        points: points.collect(),
    }
}
