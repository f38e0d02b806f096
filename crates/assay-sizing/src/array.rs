//! How many arrays carry a demand, also with one controller gone.

use crate::candidate::{
    CandidateLoad, CandidateOutcome, Need, PIECES_MAX, configuration, failing, latency_limit,
    least_latency_s, limit, too_many, too_slow, undocumented_latency,
};
use crate::formulas::{device_count, iops_at_mix};
use crate::plan::SizingPlan;
use assay_catalog::CatalogListing;
use assay_model::catalog::ArrayOffer;
use assay_model::number::real;
use assay_model::sizing::{FailingPart, LimitKind, LimitUse};

/// One array as it is used.
struct ArrayUse<'a> {
    array: &'a ArrayOffer,
    /// I/Os per second for the mix, with their latency; `None` where nothing is known of them.
    found: Option<ArrayIops>,
    used: f64,
}

/// I/Os per second at a latency.
#[derive(Clone, Copy)]
struct ArrayIops {
    iops: f64,
    latency_s: f64,
}

/// The least number of arrays.
pub(crate) fn size_arrays(
    listing: &CatalogListing,
    array: &ArrayOffer,
    need: &Need,
    plan: &SizingPlan,
) -> CandidateOutcome {
    let found = iops_at_mix(&array.iops, need.normal.read_share(), plan.latency_limit_s());
    let found = found.map(|(iops, latency_s)| ArrayIops { iops, latency_s });
    if found.is_none() && !array.iops.is_empty() {
        return Err(too_slow(listing, least_latency_s(&array.iops), plan).into());
    }
    let one = ArrayUse { array, found, used: plan.used.0 };
    let mut arrays = one.least(need);
    let fails = plan.survives(FailingPart::Controller);
    while fails && arrays < PIECES_MAX && !one.survives(arrays, need) {
        arrays += 1;
    }
    if arrays >= PIECES_MAX {
        return Err(too_many(listing).into());
    }
    let layout = if arrays > 1 { "side by side" } else { "one array" };
    let mut found =
        configuration(listing, arrays, layout.to_owned(), one.limits(arrays, need, plan));
    found.undocumented.extend(one.undocumented(need, plan));
    found.doubts.extend(array.model.as_ref().map(|model| {
        format!("measured on the simulated array:{model}, not from a data sheet or a product")
    }));
    if array.read_per_s.is_none() || array.write_per_s.is_none() {
        found.doubts.push("its throughput is unknown and was not checked".to_owned());
    }
    Ok(found)
}

impl ArrayUse<'_> {
    /// Bytes a second of one for the mix; `None` where they are not known.
    fn bytes_per_s(&self, load: &CandidateLoad) -> Option<f64> {
        let (read, write) = (real(self.array.read_per_s?.0), real(self.array.write_per_s?.0));
        let busy = load.read_bytes_per_s / read + load.write_bytes_per_s / write;
        Some(if busy > 0.0 { load.bytes_per_s() / busy } else { read })
    }

    /// What is required and not known of it.
    fn undocumented(&self, need: &Need, plan: &SizingPlan) -> Vec<LimitKind> {
        let is_known = self.found.is_some();
        let iops = (!is_known && need.normal.iops() > 0.0).then_some(LimitKind::Iops);
        iops.into_iter().chain(undocumented_latency(is_known, plan)).collect()
    }

    fn least(&self, need: &Need) -> u64 {
        let count = |one: ArrayIops| device_count(need.normal.iops(), one.iops, self.used);
        let by_iops = self.found.map_or(0, count);
        let of_one = self.bytes_per_s(&need.normal);
        let by_bytes =
            of_one.map_or(0, |of_one| device_count(need.normal.bytes_per_s(), of_one, self.used));
        let by_capacity = device_count(need.capacity_bytes, real(self.array.capacity.0), 1.0);
        by_iops.max(by_bytes).max(by_capacity).max(1)
    }

    /// Arrays that work with one controller gone; a single controller takes its array with it.
    fn working(&self, arrays: u64) -> f64 {
        (real(arrays) - 1.0 / f64::from(self.array.controllers)).max(0.0)
    }

    fn survives(&self, arrays: u64, need: &Need) -> bool {
        let has = self.working(arrays) * self.used;
        let bytes = self.bytes_per_s(&need.failed);
        let carried = |need: f64, of_one: f64| has * of_one >= need * (1.0 - 1e-9);
        self.found.is_none_or(|one| carried(need.failed.iops(), one.iops))
            && bytes.is_none_or(|of_one| carried(need.failed.bytes_per_s(), of_one))
    }

    fn limits(&self, arrays: u64, need: &Need, plan: &SizingPlan) -> Vec<LimitUse> {
        let all = real(arrays) * self.used;
        let fails = plan.survives(FailingPart::Controller);
        let left = self.working(arrays) * self.used;
        let with_failure = |limit: LimitUse, need: f64, of_one: f64| {
            if fails { failing(limit, FailingPart::Controller, need, left * of_one) } else { limit }
        };
        let share = 100.0 * need.normal.read_share();
        let iops = |ArrayIops { iops, .. }: ArrayIops| {
            let formula = format!("arrays x {iops:.0} at {share:.0}% reads");
            let normal = limit(LimitKind::Iops, need.normal.iops(), all * iops, formula);
            with_failure(normal, need.failed.iops(), iops)
        };
        let mut limits: Vec<LimitUse> = self.found.map(iops).into_iter().collect();
        limits.extend(self.bytes_per_s(&need.normal).map(|of_one| {
            let formula = "arrays x throughput of the mix";
            let bytes = need.normal.bytes_per_s();
            let normal = limit(LimitKind::Throughput, bytes, all * of_one, formula);
            let of_one = self.bytes_per_s(&need.failed).unwrap_or(of_one);
            with_failure(normal, need.failed.bytes_per_s(), of_one)
        }));
        let capacity = real(arrays) * real(self.array.capacity.0);
        limits.push(limit(
            LimitKind::Capacity,
            need.capacity_bytes,
            capacity,
            "arrays x usable capacity",
        ));
        limits.extend(latency_limit(
            self.found.map(|one| one.latency_s),
            plan,
            "mean of the array at these IOPS",
        ));
        limits
    }
}
