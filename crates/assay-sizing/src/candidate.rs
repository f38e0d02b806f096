//! What all candidates have in common: what they must carry, how a limit is written down, and why
//! one is rejected.

use crate::plan::SizingPlan;
use assay_catalog::CatalogListing;
use assay_model::catalog::IopsPoint;
use assay_model::sizing::{
    Configuration, DemandLine, DemandQuantity, FailingPart, FailureUse, LimitKind, LimitUse,
    Rejection,
};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// Uses that differ by no more are alike: orders are rounded up to whole units.
const ALIKE: f64 = 1e-3;

/// More devices or arrays than this are not tried.
pub(crate) const PIECES_MAX: u64 = 1_000_000;

/// What has to be carried in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CandidateLoad {
    pub(crate) read_iops: f64,
    pub(crate) write_iops: f64,
    pub(crate) read_bytes_per_s: f64,
    pub(crate) write_bytes_per_s: f64,
}

/// What has to be carried: with headroom, and while a part has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Need {
    /// With headroom.
    pub(crate) normal: CandidateLoad,
    /// The peak alone.
    pub(crate) failed: CandidateLoad,
    pub(crate) capacity_bytes: f64,
    pub(crate) daily_written_bytes: f64,
    pub(crate) transactions_per_s: f64,
}

impl CandidateLoad {
    pub(crate) fn iops(&self) -> f64 {
        self.read_iops + self.write_iops
    }

    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.read_bytes_per_s + self.write_bytes_per_s
    }

    /// Mean bytes of an I/O; 0 of none.
    pub(crate) fn block_size_bytes(&self) -> f64 {
        if self.iops() > 0.0 { self.bytes_per_s() / self.iops() } else { 0.0 }
    }

    /// Share of reads among the I/Os; 1 of none.
    pub(crate) fn read_share(&self) -> f64 {
        if self.iops() > 0.0 { self.read_iops / self.iops() } else { 1.0 }
    }
}

impl Need {
    /// What the lines of a demand come to.
    pub(crate) fn of(lines: &[DemandLine]) -> Self {
        let line = |quantity| lines.iter().find(|line| line.quantity == quantity);
        let need = |quantity| line(quantity).map_or(0.0, |line| line.need_value);
        let peak = |quantity| line(quantity).map_or(0.0, |line| line.peak_value);
        let load = |of: &dyn Fn(DemandQuantity) -> f64| CandidateLoad {
            read_iops: of(DemandQuantity::ReadIops),
            write_iops: of(DemandQuantity::WriteIops),
            read_bytes_per_s: of(DemandQuantity::ReadBytesPerS),
            write_bytes_per_s: of(DemandQuantity::WriteBytesPerS),
        };
        Self {
            normal: load(&need),
            failed: load(&peak),
            capacity_bytes: need(DemandQuantity::CapacityBytes),
            daily_written_bytes: need(DemandQuantity::DailyWrittenBytes),
            transactions_per_s: need(DemandQuantity::TransactionsPerS),
        }
    }
}

/// A limit in the normal state.
pub(crate) fn limit(kind: LimitKind, need: f64, has: f64, formula: impl Into<String>) -> LimitUse {
    let formula = formula.into();
    LimitUse { limit: kind, need_value: need, has_value: has, failed: None, formula }
}

/// The same with what there is while a part has failed.
pub(crate) fn failing(limit: LimitUse, part: FailingPart, need: f64, has: f64) -> LimitUse {
    LimitUse { failed: Some(FailureUse { part, need_value: need, has_value: has }), ..limit }
}

/// The read latency against its limit, where one is required and the latency is known.
pub(crate) fn latency_limit(
    taken_s: Option<f64>,
    plan: &SizingPlan,
    formula: &str,
) -> Option<LimitUse> {
    let required_s = plan.read_latency?.seconds();
    Some(limit(LimitKind::Latency, required_s, taken_s?, formula))
}

/// The read latency, where it is required and not known.
pub(crate) fn undocumented_latency(known: bool, plan: &SizingPlan) -> Option<LimitKind> {
    plan.read_latency.filter(|_| !known).map(|_| LimitKind::Latency)
}

/// The rejection of what is too slow.
pub(crate) fn too_slow(listing: &CatalogListing, least_s: f64, plan: &SizingPlan) -> Rejection {
    let (kind, limit_s) = (LimitKind::Latency, plan.latency_limit_s());
    let [least, required] = [least_s, limit_s].map(|time_s| show_limit(kind, time_s));
    Rejection {
        name: listing.entry.name.clone(),
        reason: format!("{}: {required} required, {least} at best", kind.name()),
        limit: Some(kind),
        short_ratio: Some(least_s / limit_s),
    }
}

/// The limit that more demand would break first: the one that is used most, and of those that are
/// used alike, as all that is ordered is, the first. More demand does not lengthen a promised
/// latency.
pub(crate) fn binding(limits: &[LimitUse]) -> LimitKind {
    let grows = || limits.iter().filter(|limit| limit.limit != LimitKind::Latency);
    let most = grows().map(LimitUse::worst_ratio).fold(0.0, f64::max);
    let worst = grows().find(|limit| limit.worst_ratio() >= most * (1.0 - ALIKE));
    worst.map_or(LimitKind::Capacity, |worst| worst.limit)
}

/// A rejection without a limit.
pub(crate) fn refused(listing: &CatalogListing, reason: impl Into<String>) -> Rejection {
    let name = listing.entry.name.clone();
    Rejection { name, reason: reason.into(), limit: None, short_ratio: None }
}

/// The rejection of what would take more pieces than are tried.
pub(crate) fn too_many(listing: &CatalogListing) -> Rejection {
    refused(listing, "more than a million of them would be needed")
}

/// A rejection by a limit: what is needed and what there is at most.
pub(crate) fn short(
    listing: &CatalogListing,
    kind: LimitKind,
    need: f64,
    has: f64,
    at_most: &str,
) -> Rejection {
    let [needed, there] = [need, has].map(|value| show_limit(kind, value));
    let reason = format!("{}: needs {needed}, has {there}{at_most}", kind.name());
    let short_ratio = (has > 0.0).then(|| need / has);
    Rejection { name: listing.entry.name.clone(), reason, limit: Some(kind), short_ratio }
}

/// An amount of a limit in its unit.
pub(crate) fn show_limit(kind: LimitKind, value: f64) -> String {
    match kind {
        LimitKind::Capacity => show_bytes(value),
        LimitKind::Iops
        | LimitKind::InstanceIops
        | LimitKind::InstanceVolumes
        | LimitKind::Ports => show_count(value),
        LimitKind::Throughput | LimitKind::InstanceThroughput => show_throughput(value),
        LimitKind::Latency => show_time_ns(value * 1e9),
        LimitKind::Endurance => format!("{} per day", show_bytes(value)),
    }
}

/// The least latency that any point has, s.
pub(crate) fn least_latency_s(points: &[IopsPoint]) -> f64 {
    points.iter().map(IopsPoint::latency_s).fold(f64::INFINITY, f64::min)
}

/// A configuration without cost; what binds it follows from its limits.
pub(crate) fn configuration(
    listing: &CatalogListing,
    units: u64,
    layout: String,
    limits: Vec<LimitUse>,
) -> Configuration {
    let entry = &listing.entry;
    Configuration {
        name: entry.name.clone(),
        title: entry.title.clone(),
        units,
        spares: 0,
        layout,
        order: None,
        undocumented: Vec::new(),
        binding: binding(&limits),
        limits,
        cost: None,
        source: format!("{}, {}", entry.as_of, entry.source),
        doubts: entry.notes.clone(),
    }
}

/// What came of an entry.
pub(crate) type CandidateOutcome = Result<Configuration, Box<Rejection>>;
