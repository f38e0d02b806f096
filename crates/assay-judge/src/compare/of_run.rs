//! A run as one side of a comparison.

use super::overlays;
use super::sides::{BucketCount, SideFacts, SideFigure, WorkRatio};
use crate::estimates::totals;
use crate::names::known;
use crate::series::Series;
use assay_model::Histogram;
use assay_model::comparison::{Side, SideKind};
use assay_model::measurement::{Measurement, PerOperation};
use assay_model::number::real;
use assay_model::quantity_name::{NamedStatistic, NamedTime, QuantityName};
use assay_model::verdict::{NamedEstimate, Unit};

/// What stays without meaning for whether two runs are of the same work.
const FREE: [&str; 7] =
    ["name", "description", "seed", "duration", "warm_up", "interval", "direct"];

/// A run's documents.
pub struct RunFacts<'a> {
    /// Id of the run.
    pub name: String,
    /// What was measured.
    pub target: String,
    /// The totals.
    pub measurement: &'a Measurement,
    /// The numbers with their intervals.
    pub estimates: &'a [NamedEstimate],
    /// How it went over time.
    pub series: &'a Series,
    /// The keys of the workload with their values, as a document has them.
    pub keys: Vec<(String, String)>,
}

/// A run as one side.
pub fn facts_of_run(run: &RunFacts<'_>) -> SideFacts {
    let whole = run.measurement.operations();
    let histograms = whole
        .iter()
        .map(|(operation, result)| (operation.name().to_owned(), counted(result.response())));
    let side = Side {
        name: run.name.clone(),
        kind: SideKind::Run,
        target: run.target.clone(),
        elapsed_s: run.measurement.elapsed_s(),
        repeats: 1,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    };
    SideFacts {
        measures: measures(run, &whole),
        histograms: histograms.collect(),
        work: work(&whole),
        made: run
            .keys
            .iter()
            .filter(|(key, _)| !FREE.contains(&key.as_str()) && !is_stream_name(key))
            .cloned()
            .collect(),
        curves: overlays::of_run(&whole, run.series),
        closed_depth: closed_depth(&run.keys),
        ..SideFacts::new(side)
    }
}

/// Outstanding I/Os of the closed streams, where there are any.
fn closed_depth(keys: &[(String, String)]) -> Option<u32> {
    let closed = keys.iter().filter(|(key, _)| key.ends_with(".arrival.closed.queue_depth"));
    closed.filter_map(|(_, depth)| depth.parse::<u32>().ok()).reduce(u32::saturating_add)
}

/// `stream.N.name`: what a stream is called does not change what it does.
fn is_stream_name(key: &str) -> bool {
    key.strip_prefix("stream.").is_some_and(|rest| rest.split('.').next_back() == Some("name"))
}

/// The estimates with their units, and the totals of what has none: a run whose level fell has no
/// interval, but it has done what it has done.
fn measures(run: &RunFacts<'_>, whole: &PerOperation) -> Vec<SideFigure> {
    let mut measures = estimated(run, whole);
    for named in totals(run.measurement) {
        if !measures.iter().any(|known| known.subject.is_none() && known.quantity == named.quantity)
        {
            let unit = match QuantityName::of(&named.quantity).statistic {
                Some(NamedStatistic::Mean) => Unit::Ns,
                Some(NamedStatistic::Throughput) => Unit::BytesPerS,
                _ => Unit::IosPerS,
            };
            measures.push(SideFigure::new(named.quantity, None, unit, named.estimate));
        }
    }
    measures
}

/// The estimates with their units; response times only where they are not the service times.
fn estimated(run: &RunFacts<'_>, whole: &PerOperation) -> Vec<SideFigure> {
    let units: Vec<(String, Unit)> =
        known().into_iter().map(|quantity| (quantity.to_string(), quantity.unit())).collect();
    let open = whole.iter().any(|(_, result)| result.response.is_some());
    let is_response = |named: &&NamedEstimate| {
        QuantityName::of(&named.quantity).time == Some(NamedTime::Response)
    };
    let shown = run.estimates.iter().filter(|named| open || !is_response(named));
    shown
        .filter_map(|named| {
            let (_, unit) = units.iter().find(|(name, _)| *name == named.quantity)?;
            Some(SideFigure::new(&named.quantity, named.subject.clone(), *unit, named.estimate))
        })
        .collect()
}

/// I/Os by powers of two of a microsecond.
fn counted(times: &Histogram) -> Vec<BucketCount> {
    let mut rows: Vec<BucketCount> = Vec::new();
    for (low_ns, _, ios) in times.buckets() {
        let microseconds = low_ns / 1000;
        let low = if microseconds == 0 { 0 } else { 1 << microseconds.ilog2() };
        let range = (low * 1000, Some((low * 2).max(1) * 1000));
        match rows.last_mut().filter(|row| (row.0, row.1) == range) {
            Some(row) => row.2 += real(ios),
            None => rows.push((range.0, range.1, real(ios))),
        }
    }
    rows
}

/// Reads among all, and bytes of a transfer: within a hundredth they are the same work.
fn work(whole: &PerOperation) -> Vec<WorkRatio> {
    let (ios, reads) = (whole.ios(), whole.read.as_ref().map_or(0, |read| read.ios));
    if ios == 0 {
        return Vec::new();
    }
    let ratio = |what, value| WorkRatio { what, value, limit: 0.01 };
    let mut work = vec![ratio("bytes of an I/O", real(whole.bytes()) / real(ios))];
    if reads > 0 {
        work.push(ratio("reads among all I/Os", real(reads) / real(ios)));
    }
    work
}
