//! From what a database asked of its storage to a workload that asks the same of any other storage.

mod busiest;
mod classes;
mod demand;
mod options;
mod sick;
mod skew;
mod written;

use assay_model::profile::{Figure, Profile, ReportScope};
use assay_model::units::{Bytes, Nanos, Rate, Share, show_count, show_time_ns};
use assay_model::verdict::{Bound, Criterion};
use assay_model::workload::{
    Access, Arrival, BlockSizeMix, BlockSizePart, Process, Span, Stream, SyncPolicy,
};
use assay_model::{Error, Result, Workload};
pub use classes::ClassDemand;
pub use options::PlanOptions;

use busiest::Busiest;
use demand::{PlannedDemand, demands};

/// Sizes that every device and file system takes with direct I/O.
const GRAIN_BYTES: f64 = 4096.0;
/// Transfers of fewer blocks than this are mixed of one block and several, so that their mean is
/// exact.
const MIXED_BLOCKS: f64 = 4.0;
/// Reads of this size or more are scans.
const SCAN_BYTES: f64 = 65_536.0;
/// The redo log has the last part of the storage for itself.
const LOG_FROM: f64 = 0.98;
/// From this share of reads on the places of a stream are those of reads.
const READS: f64 = 0.5;
/// A stream with fewer I/Os than this says nothing about its rate: chance alone moves it by more
/// than a hundredth.
const IOS_TOLD: f64 = 10_000.0;

/// A workload, and where each of its numbers came from.
#[derive(Clone, Debug, PartialEq)]
pub struct DemandPlan {
    /// What to issue, and what is asked of it.
    pub workload: Workload,
    /// What holds for all of it, a line each.
    pub notes: Vec<String>,
    /// The same for every stream, in their order.
    pub stream_notes: Vec<Vec<String>>,
    /// What each stream stands for, in their order.
    pub classes: Vec<ClassDemand>,
}

/// Makes a workload that asks of storage what the profile says a database asked.
///
/// # Errors
/// A usage error when the profile has no rate or no size of I/Os, or no queue depth where one is
/// wanted.
pub fn plan(profile: &Profile, options: &PlanOptions) -> Result<DemandPlan> {
    options.check()?;
    profile.check_demand()?;
    let (demands, mut notes) = demands(profile)?;
    let busiest = Busiest::new(profile, options.duration);
    notes.extend(busiest.as_ref().map(Busiest::note));
    notes.extend(cached(profile));
    let demands: Vec<PlannedDemand> = demands
        .into_iter()
        .map(|demand| busiest.as_ref().map_or(demand.clone(), |busiest| busiest.of(&demand)))
        .collect();
    let (access, placed) = skew::access(profile);
    notes.splice(0..0, placed);
    notes.splice(0..0, part_of_a_whole(profile));
    let streams: Result<Vec<Stream>> =
        demands.iter().map(|demand| stream(demand, access, options)).collect();
    notes.splice(0..0, scaling(options));
    let workload = Workload {
        description: format!("I/O demand of {}, to test replacement storage.", profile.name),
        warm_up: options.warm_up,
        interval: interval(options.duration),
        criteria: criteria(&demands, options),
        streams: streams?,
        name: profile.name.clone(),
        duration: options.duration,
        ..Workload::default()
    };
    workload.check()?;
    Ok(DemandPlan {
        classes: classes::planned(profile, &demands),
        stream_notes: demands.iter().map(|demand| demand.notes(options)).collect(),
        workload,
        notes,
    })
}

/// A report of one instance or one pluggable database is not all that the storage carries.
fn part_of_a_whole(profile: &Profile) -> Option<String> {
    let what = match profile.report.as_ref()?.scope {
        ReportScope::Database => return None,
        ReportScope::Instance => "one instance of a cluster",
        ReportScope::PluggableDatabase => "one pluggable database",
    };
    Some(format!(
        "The report covers {what}: only a part of the storage's load. Plan the others as well, or \
         use --growth."
    ))
}

/// Reads of the database that never reach its storage.
fn cached(profile: &Profile) -> Option<String> {
    let reads = profile.server.as_ref()?.reads.as_ref()?;
    let share = reads.page_cache_share.filter(|share| *share >= 0.01)?;
    Some(format!(
        "The page cache of the server's host answered at least {} of these reads; with the same \
         memory, fewer will reach the storage.",
        percent(Share((share * 1e4).round() / 1e4))
    ))
}

/// As many intervals as estimates want, none longer than a second.
fn interval(duration: Nanos) -> Nanos {
    Nanos((duration.0 / 60).clamp(10_000_000, 1_000_000_000))
}

fn scaling(options: &PlanOptions) -> Vec<String> {
    let factor = options.factor();
    if (factor - 1.0).abs() < 1e-12 {
        return vec!["Rates are those of the profile.".to_owned()];
    }
    vec![format!(
        "Rates are those of the profile times {factor:.4}: growth {} and headroom {}.",
        options.growth,
        percent(options.headroom)
    )]
}

/// One demand as a stream. Where I/Os go is in no report: places are even, which helps no cache.
fn stream(demand: &PlannedDemand, access: Access, options: &PlanOptions) -> Result<Stream> {
    let mut stream = Stream::closed(demand.name, Share(demand.read_share), Bytes(4096), 1);
    stream.block_size = block_size(demand.block_size.value, demand.block_bytes);
    stream.arrival = arrival(demand, options)?;
    if !options.closed {
        stream.pattern.clone_from(&demand.pattern);
    }
    if demand.is_log {
        stream.access = Access::Sequential { streams: 1 };
        stream.sync = SyncPolicy::ODsync;
        stream.span = Span { from: Share(LOG_FROM), to: Share(1.0) };
        return Ok(stream);
    }
    if demand.block_size.value >= SCAN_BYTES {
        stream.access = Access::Sequential { streams: 4 };
    } else if demand.read_share >= READS {
        stream.access = access;
    }
    stream.span.to = Share(LOG_FROM);
    Ok(stream)
}

fn arrival(demand: &PlannedDemand, options: &PlanOptions) -> Result<Arrival> {
    // A thousandth of an I/O a second is finer than any report.
    let rate = Rate((demand.rate.value * options.factor() * 1e3).round() / 1e3);
    if !options.closed {
        return Ok(Arrival::Open {
            rate,
            process: Process::Poisson,
            burst: 1,
            queue_depth_max: 256,
            group_commit: None,
        });
    }
    let Some(latency) = &demand.latency else {
        return Err(Error::usage(
            format!("the profile has no latency of {}, so the queue depth is unknown", demand.name),
            "omit --closed: open arrivals need only rates",
        ));
    };
    // Little's law: outstanding = rate x time (Little 1961).
    let queue_depth = (rate.0 * latency.value).ceil().clamp(1.0, 32_768.0);
    Ok(Arrival::Closed {
        queue_depth: u32::try_from(assay_model::number::count(queue_depth)).unwrap_or(1),
        think_time: Nanos(0),
    })
}

/// Sizes whose mean is the one wanted: exact for a few blocks, to the next 4 KiB for more.
fn block_size(mean_bytes: f64, block_bytes: Option<f64>) -> BlockSizeMix {
    let block = block_bytes.filter(|block| *block >= GRAIN_BYTES && *block <= mean_bytes);
    let small = block.unwrap_or(GRAIN_BYTES);
    let bytes = |value: f64| Bytes(assay_model::number::count(value));
    let blocks = mean_bytes / small;
    if blocks >= MIXED_BLOCKS || blocks <= 1.0 + 1e-3 {
        let grains = (mean_bytes / GRAIN_BYTES).round().max(1.0);
        return BlockSizeMix::single(bytes(grains * GRAIN_BYTES));
    }
    let large = blocks.ceil();
    let share = (blocks - 1.0) / (large - 1.0);
    if share > 0.999 {
        return BlockSizeMix::single(bytes(small * large));
    }
    let part = |size: f64, share: f64| BlockSizePart {
        size: bytes(size),
        share: Share((share * 1e6).round() / 1e6),
    };
    BlockSizeMix { parts: vec![part(small, 1.0 - share), part(small * large, share)] }
}

/// What carrying the load means: the rate is reached, nothing takes longer than it did, nothing
/// fails.
fn criteria(demands: &[PlannedDemand], options: &PlanOptions) -> Vec<Criterion> {
    let whole = demands.iter().map(|demand| demand.rate.value).sum::<f64>() * options.factor();
    let mut criteria = vec![rate_criterion("iops", None, whole, options)];
    for demand in demands {
        let rate = demand.rate.value * options.factor();
        if demands.len() > 1 && rate * options.duration.seconds() >= IOS_TOLD {
            criteria.push(rate_criterion("stream.iops", Some(demand.name), rate, options));
        }
        criteria.extend(time_criterion(demand, options));
    }
    criteria.push(Criterion {
        quantity: "errors".to_owned(),
        at_most: Some(Bound("0".to_owned())),
        why: "An I/O that fails is an outage, not a latency.".to_owned(),
        ..Criterion::default()
    });
    criteria
}

fn rate_criterion(
    quantity: &str,
    only: Option<&str>,
    rate: f64,
    options: &PlanOptions,
) -> Criterion {
    let least = rate * (1.0 - options.parity.0);
    Criterion {
        quantity: quantity.to_owned(),
        only: only.map(str::to_owned),
        at_least: Some(Bound(Rate((least * 10.0).round() / 10.0).to_string())),
        why: format!(
            "{} I/Os per second are required; {} less still counts as equal.",
            if rate < 100.0 { format!("{rate:.1}") } else { show_count(rate) },
            percent(options.parity)
        ),
        ..Criterion::default()
    }
}

/// The time that the database was used to, where the profile has one and it is one of a single
/// operation.
fn time_criterion(demand: &PlannedDemand, options: &PlanOptions) -> Option<Criterion> {
    let latency = demand.latency.as_ref()?;
    let operation = if demand.read_share > 0.0 { "read" } else { "write" };
    let given = options.latency_limit.filter(|_| operation == "read").map(Nanos::seconds);
    let accepted = demand.accepted.as_ref().filter(|_| given.is_none());
    // An accepted time is a limit; a measured one is met within the parity.
    let most = accepted.map_or_else(
        || given.unwrap_or(latency.value) * (1.0 + options.parity.0),
        |accepted| accepted.value,
    );
    let most = Nanos::from_seconds(most);
    // Closed arrivals have no intended start: their response time is the service time.
    Some(Criterion {
        quantity: format!("stream.{operation}.response_time.mean"),
        only: Some(demand.name.to_owned()),
        at_most: Some(Bound(format!("{}ns", most.0))),
        why: why(latency, accepted, options),
        source: accepted.unwrap_or(latency).source.clone(),
        ..Criterion::default()
    })
}

fn why(latency: &Figure, accepted: Option<&Figure>, options: &PlanOptions) -> String {
    let waited = show_time_ns(latency.value * 1e9);
    accepted.map_or_else(
        || {
            let parity = percent(options.parity);
            format!("The database waited {waited} on average; {parity} more still counts as equal.")
        },
        |accepted| {
            let accepted = show_time_ns(accepted.value * 1e9);
            format!(
                "The database waited {waited} on average, which is too slow: the limit is \
                 {accepted}."
            )
        },
    )
}

fn percent(share: Share) -> String {
    format!("{}%", (share.0 * 1e4).round() / 1e2)
}

#[cfg(test)]
mod tests;
