//! What a report says of reads, to be held against known storage.

use crate::input::{Report, RunReport};
use crate::summary::{Found, Reach};
use assay_model::calibration::{Calibration, MixCalibration};
use assay_model::comparison::Comparison;
use assay_model::load::{Load, PhysicalVerdict};
use assay_model::locality::Locality;
use assay_model::number::rate;
use assay_model::study::StudyResult;

/// Stands next to the numbers of what was measured.
const HERE: &str = "this storage";
/// Numbers of a load stand for times under it.
const UNDER_LOAD: &str = " The times of known storage are those of a single read with no other I/O; here others were outstanding.";

/// The slowest of several places stands for a storage.
const LARGEST: &str = " That is the largest working set; the bar reaches down to the smallest.";

/// The numbers, and how they are to be read.
pub(super) fn found(report: &Report) -> (Vec<Found>, &'static str) {
    if let Some(found) = &report.comparison {
        return (of_comparison(found), UNDER_LOAD);
    }
    if let Some(locality) = &report.locality {
        return (of_locality(locality), LARGEST);
    }
    if let Some(study) = &report.study {
        return (of_study(study), UNDER_LOAD);
    }
    if let Some(calibration) = &report.calibration {
        return (of_calibration(calibration), "");
    }
    if let Some(load) = &report.load {
        return (of_load(load), UNDER_LOAD);
    }
    (report.runs.first().and_then(of_run).into_iter().collect(), UNDER_LOAD)
}

fn here(read_time_ns: Option<Reach>, reads_per_s: Option<Reach>) -> Found {
    Found { name: HERE.to_owned(), read_time_ns, reads_per_s }
}

fn of_calibration(calibration: &Calibration) -> Vec<Found> {
    let reads = calibration.mixes.iter().find(|mix| mix.read_share >= 1.0);
    let found = |mix: &MixCalibration| {
        let most = mix.iops_within_limit.as_ref().unwrap_or(&mix.iops_max);
        here(Some(Reach::of(&mix.base_service_time_ns)), Some(Reach::of(&most.rate)))
    };
    reads.map(found).into_iter().collect()
}

/// Reads of the page cache are none of the storage.
fn of_load(load: &Load) -> Vec<Found> {
    let physical = load.best().filter(|rung| rung.physical.verdict == PhysicalVerdict::Physical);
    let found = physical.map(|rung| {
        here(rung.read_wait_mean_ns().map(Reach::exactly), Some(Reach::exactly(rung.reads_per_s())))
    });
    found.into_iter().collect()
}

fn of_run(run: &RunReport) -> Option<Found> {
    let operations = run.measurement.operations();
    let read = operations.read.as_ref()?;
    let reach = |quantity: &str, value: f64| {
        run.estimate(quantity, None).map_or_else(|| Reach::exactly(value), Reach::of)
    };
    let iops = rate(read.ios, run.measurement.elapsed_s());
    Some(here(
        Some(reach("read.service_time.mean", read.service.mean_ns())),
        Some(reach("read.iops", iops)),
    ))
}

/// The fastest and the slowest place.
fn of_locality(locality: &Locality) -> Vec<Found> {
    let times = locality.points.iter().map(|point| point.service_time_ns.value);
    let (low, high) = times.fold((f64::INFINITY, 0.0), |(low, high), time| {
        (f64::min(low, time), f64::max(high, time))
    });
    if high <= 0.0 {
        return Vec::new();
    }
    vec![here(Some(Reach { value: high, low, high }), None)]
}

/// The cell with the most reads.
fn of_study(study: &StudyResult) -> Vec<Found> {
    let of = |quantity: &'static str| {
        study.cells.iter().filter_map(move |cell| {
            let is_it = |named: &&assay_model::verdict::NamedEstimate| {
                named.quantity == quantity && named.subject.is_none()
            };
            cell.measures.iter().find(is_it).map(|named| named.estimate)
        })
    };
    let least = of("read.service_time.mean").min_by(|one, other| one.value.total_cmp(&other.value));
    let most = of("read.iops").max_by(|one, other| one.value.total_cmp(&other.value));
    vec![here(least.as_ref().map(Reach::of), most.as_ref().map(Reach::of))]
}

/// Both sides of the first pair, by whichever names their reads have.
fn of_comparison(found: &Comparison) -> Vec<Found> {
    let Some(pair) = found.pairs.first() else {
        return Vec::new();
    };
    let measure = |names: [&str; 2]| {
        let is_it = |name: &str, one: &&assay_model::comparison::Measure| {
            one.quantity == name && one.subject.is_none()
        };
        names.into_iter().find_map(|name| pair.measures.iter().find(|one| is_it(name, one)))
    };
    let time = measure(["calibration.read.base_service_time", "read.service_time.mean"]);
    let iops = measure(["calibration.read.iops_within_limit", "read.iops"]);
    let name =
        |place: usize| found.sides.get(place).map_or_else(String::new, |side| side.name.clone());
    let base = Found {
        name: name(0),
        read_time_ns: time.map(|one| Reach::of(&one.base)),
        reads_per_s: iops.map(|one| Reach::of(&one.base)),
    };
    let other = Found {
        name: name(pair.other),
        read_time_ns: time.map(|one| Reach::of(&one.other)),
        reads_per_s: iops.map(|one| Reach::of(&one.other)),
    };
    vec![base, other]
}
