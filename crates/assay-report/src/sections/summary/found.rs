//! What a report says of reads, to be held against known storage.

use crate::input::GivenReport;
use crate::summary::{FoundHere, Reach};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, MixCalibration};
use assay_model::comparison::{Comparison, Measure};
use assay_model::locality::Locality;

/// Stands next to the numbers of what was measured.
const HERE: &str = "this storage";
/// The slowest of several places stands for a storage.
const LARGEST: &str = " The value is the largest working set; the bar extends to the smallest.";

/// The numbers, and how they are to be read.
pub(super) fn found(report: &GivenReport) -> (Vec<FoundHere>, &'static str) {
    if let Some(found) = &report.comparison {
        return (of_comparison(found), "");
    }
    if let Some(locality) = &report.locality {
        return (of_locality(locality), LARGEST);
    }
    // Only what was measured alone and up to its limit is held against data sheets: a workload and
    // a database show a demand, and what shaped a measurement besides the storage is none of
    // it.
    let calibration = report.calibration.as_ref().filter(|_| !report.is_disturbed());
    (calibration.map_or_else(Vec::new, of_calibration), "")
}

fn here(read_time_ns: Option<Reach>, reads_per_s: Option<Reach>) -> FoundHere {
    FoundHere { name: HERE.to_owned(), read_time_ns, reads_per_s }
}

fn of_calibration(calibration: &Calibration) -> Vec<FoundHere> {
    let reads = calibration.mixes.iter().find(|mix| mix.read_share >= 1.0);
    let found = |mix: &MixCalibration| {
        let most = mix.iops_within_limit.as_ref().unwrap_or(&mix.iops_max);
        here(Some(Reach::of(&mix.base_service_time_ns)), Some(Reach::of(&most.rate)))
    };
    reads.map(found).into_iter().collect()
}

/// The fastest and the slowest place.
fn of_locality(locality: &Locality) -> Vec<FoundHere> {
    let times = locality.points.iter().map(|point| point.service_time_ns.value);
    let (low, high) = times.fold((f64::INFINITY, 0.0), |(low, high), time| {
        (f64::min(low, time), f64::max(high, time))
    });
    if high <= 0.0 {
        return Vec::new();
    }
    vec![here(Some(Reach { value: high, low, high }), None)]
}

/// Both sides of the first pair, where both were calibrated.
fn of_comparison(found: &Comparison) -> Vec<FoundHere> {
    let Some(pair) = found.pairs.first() else {
        return Vec::new();
    };
    let measure = |name: &str| {
        let is_it = |one: &&Measure| one.quantity == name && one.subject.is_none();
        pair.measures.iter().find(is_it)
    };
    let time = measure("calibration.read.base_service_time");
    let iops = measure("calibration.read.iops_max");
    let side = |place: usize, of: fn(&Measure) -> &Estimate| FoundHere {
        name: found.sides.get(place).map_or_else(String::new, |side| side.name.clone()),
        read_time_ns: time.map(|one| Reach::of(of(one))),
        reads_per_s: iops.map(|one| Reach::of(of(one))),
    };
    vec![side(0, |one| &one.base), side(pair.other, |one| &one.other)]
}
