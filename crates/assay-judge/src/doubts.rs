//! What about the conduct of a measurement could have carried a result to where it is, and into
//! which direction.

use crate::quantity::{Amount, CriterionQuantity, CriterionTimeKind, LoadAmount, Scope};
use assay_model::Estimate;
use assay_model::calibration::{Capacity, CapacityBound, CurvePoint};
use assay_model::cause::{Cause, HostLoad, cached_reads, unseen};
use assay_model::load::{PhysicalVerdict, Rung};
use assay_model::measurement::{ClockKind, Conduct, Finish, Measurement, Operation, Submission};
use assay_model::number::{real, share};
use assay_model::plausibility::littles_law;
use assay_model::target::TargetFacts;
use assay_model::verdict::{Bias, Doubt, Unit, times_as_long};

/// Share of its own ceiling beyond which the tool may be what is measured.
const CEILING_SHARE_MAX: f64 = 0.8;
/// Share of I/Os that may fail or be missed before the histograms, which hold neither, are in
/// doubt.
const LOST_SHARE_MAX: f64 = 0.001;
/// Share of a target that may be empty or compressed away before reads are in doubt.
const EMPTY_SHARE_MAX: f64 = 0.02;
/// Independent times that I/Os took longer than a quantile, below which its upper end is not given.
const CLUSTERS_NEEDED: f64 = 10.0;
/// How many times as long a run of a few bursts should be.
const LONGER_FOR_MEAN: f64 = 6.0;
/// The share of open arrivals that must start in time, and how late these may start.
const START_QUANTILE: f64 = 0.99;
const START_ERROR_MAX_NS: u64 = 1_000_000;

fn doubt(what: impl Into<String>, bias: Bias, remedy: &str) -> Doubt {
    Doubt { what: what.into(), bias, remedy: remedy.to_owned() }
}

/// Doubts about one quantity of a measurement. Counts and the host's own load are what they are.
pub(crate) fn of_measurement(
    quantity: &CriterionQuantity,
    measurement: &Measurement,
) -> Vec<Doubt> {
    let conduct = &measurement.conduct;
    let CriterionQuantity::Measured { amount, .. } = quantity else {
        return early_end(measurement).into_iter().collect();
    };
    if matches!(amount, Amount::Errors(_)) {
        return early_end(measurement).into_iter().collect();
    }
    let mut doubts: Vec<Doubt> = [
        early_end(measurement),
        busy_host(measurement),
        ceiling(measurement),
        not_from_storage(amount.operation(), measurement),
        submission(conduct),
        littles_law(measurement),
        failures(measurement),
    ]
    .into_iter()
    .flatten()
    .collect();
    if matches!(amount, Amount::Time { kind: CriterionTimeKind::Response, .. }) {
        doubts.extend(arrivals(measurement));
    }
    doubts
}

/// A run that did not run its length may have ended because of what it would have shown.
fn early_end(measurement: &Measurement) -> Option<Doubt> {
    let why = match &measurement.finish {
        Finish::Complete | Finish::Interrupted => return None,
        Finish::Failed { reason } => format!("the run could not continue: {reason}"),
        Finish::Unfinished => "the program ended before the run did".to_owned(),
    };
    Some(doubt(why, Bias::Unknown, "remove the cause and run again"))
}

const IDLE_HOST: &str = "measure on a host with idle CPUs";

/// A host or a load generator that had no time for the I/Os.
fn busy_host(measurement: &Measurement) -> Option<Doubt> {
    let what = HostLoad::from_measurement(measurement)?.busy()?;
    Some(doubt(what, Bias::Unflattering, IDLE_HOST))
}

/// Reads or writes that a cache took in place of the storage.
fn not_from_storage(operation: Option<Operation>, measurement: &Measurement) -> Option<Doubt> {
    // A flush moves no data of its own.
    if operation == Some(Operation::Sync) {
        return None;
    }
    let cached = cached_reads(measurement).filter(|_| operation != Some(Operation::Write));
    let found = cached.or_else(|| unseen(operation.unwrap_or(Operation::Read), measurement));
    found.as_ref().and_then(Cause::doubt)
}

/// A step of a calibration on a host that had no processor to spare.
pub(crate) fn of_point(point: Option<&CurvePoint>) -> Option<Doubt> {
    let point = point?;
    let load = HostLoad {
        busy_share: point.host_busy_share.unwrap_or(0.0),
        worker_busy_share: point.worker_busy_share,
        ..HostLoad::default()
    };
    Some(doubt(load.busy()?, Bias::Unflattering, IDLE_HOST))
}

/// A step of a load on a host that had no processor to spare, or whose reads nobody saw reach a
/// device.
pub(crate) fn of_rung(rung: &Rung, what: LoadAmount) -> Option<Doubt> {
    if what == LoadAmount::Errors {
        return None;
    }
    if what == LoadAmount::PhysicalReads && rung.physical.verdict == PhysicalVerdict::Unknown {
        let remedy =
            "run the load on the host of the server, where the kernel's counters can be read";
        let what = "it is unknown whether the reads reached a device";
        return Some(doubt(what, Bias::Flattering, remedy));
    }
    let what = HostLoad::from_rung(rung)?.busy()?;
    Some(doubt(what, Bias::Unflattering, IDLE_HOST))
}

/// A load on a host that had no processor to spare.
pub(crate) fn of_busy_host(host_busy_share: f64) -> Option<Doubt> {
    let load = HostLoad { busy_share: host_busy_share, ..HostLoad::default() };
    Some(doubt(load.busy()?, Bias::Unflattering, IDLE_HOST))
}

/// A host that was not as the criteria ask it to be: whatever failed on it may have failed because
/// of it.
pub(crate) fn of_host(quantity: &CriterionQuantity, value: f64, limit: f64) -> Doubt {
    let (value, limit) = (Unit::Share.show(value), Unit::Share.show(limit));
    let (what, remedy) = match quantity {
        CriterionQuantity::HostTcpRetransmits => (
            format!(
                "the host's network lost too many packets to judge the storage: {value} of its \
                 TCP segments were retransmitted; limit: {limit}"
            ),
            "find the cause of the packet loss",
        ),
        _ => (
            format!(
                "the host was too busy to judge the storage: its CPUs were busy {value} of the \
                 time; limit: {limit}"
            ),
            IDLE_HOST,
        ),
    };
    doubt(what, Bias::Unflattering, remedy)
}

/// Near its own ceiling the tool adds time of its own, and cannot offer more.
fn ceiling(measurement: &Measurement) -> Option<Doubt> {
    let ceiling_iops = measurement.conduct.ceiling_iops?;
    let reached = measurement.iops() / ceiling_iops;
    if !(reached > CEILING_SHARE_MAX && reached.is_finite()) {
        return None;
    }
    let what = format!("the tool itself reaches only {:.1} times this rate", 1.0 / reached);
    Some(doubt(what, Bias::Unflattering, "measure on a host with faster CPUs"))
}

/// What the kernel did with the I/Os when it was handed them.
fn submission(conduct: &Conduct) -> Option<Doubt> {
    match conduct.submission {
        Submission::Punted => Some(doubt(
            "the kernel handed I/Os to its worker threads, which limits the rate and adds time",
            Bias::Unflattering,
            "use a block device or a file system with asynchronous direct I/O",
        )),
        Submission::Blocking => Some(doubt(
            "submission blocked, so the stated queue depth was not reached",
            Bias::Unknown,
            "use a target with asynchronous submission, such as a block device",
        )),
        Submission::Unknown | Submission::Asynchronous | Submission::Inline => None,
    }
}

/// I/Os that failed have no time: a storage that refuses the slow ones looks fast.
fn failures(measurement: &Measurement) -> Option<Doubt> {
    let operations = measurement.operations();
    let failed = operations.errors();
    let all = failed + operations.iter().map(|(_, result)| result.ios).sum::<u64>();
    let lost = share(failed, all);
    if lost <= LOST_SHARE_MAX {
        return None;
    }
    let what =
        format!("{:.1}% of the I/Os failed and are excluded from times and rates", lost * 100.0);
    Some(doubt(what, Bias::Flattering, "resolve the failed I/Os first"))
}

/// Open arrivals that never started, or started late through the fault of the tool.
fn arrivals(measurement: &Measurement) -> Vec<Doubt> {
    let conduct = &measurement.conduct;
    let mut doubts = Vec::new();
    let due = real(conduct.missed_arrivals + measurement.operations().ios());
    if real(conduct.missed_arrivals) > LOST_SHARE_MAX * due {
        let what = format!("{} arrivals were due but never started", conduct.missed_arrivals);
        doubts.push(doubt(
            what,
            Bias::Flattering,
            "reduce the rate, or allow a higher queue depth",
        ));
    }
    // In virtual time only the device can be late.
    let error = conduct.start_error.as_ref().filter(|_| conduct.clock != ClockKind::Virtual);
    if error.map_or(0, |error| error.quantile_ns(START_QUANTILE)) > START_ERROR_MAX_NS {
        let what = "1% of the arrivals started more than 1 ms late because of the tool itself";
        doubts.push(doubt(what, Bias::Unflattering, IDLE_HOST));
    }
    doubts
}

/// A capacity that something other than the storage ended is at least what was seen.
pub(crate) fn of_capacity(capacity: &Capacity) -> Option<Doubt> {
    let (what, remedy) = match capacity.bound {
        CapacityBound::Saturated | CapacityBound::LatencyLimit | CapacityBound::Unsteady => {
            return None;
        }
        CapacityBound::Host => (
            "the host's CPU was the limit; the storage may deliver more",
            "use a host with faster CPUs",
        ),
        CapacityBound::StillRising => (
            "the rate was still rising at the highest load; the storage may deliver more",
            "raise --queue-depth-max",
        ),
        CapacityBound::TimeBudget => ("time ran out before the limit was found", "raise --time"),
        CapacityBound::Contradicted => {
            let what = "other parts of the calibration contradict the rate";
            return Some(doubt(what, Bias::Unknown, "calibrate again for longer"));
        }
    };
    Some(doubt(what, Bias::Unflattering, remedy))
}

/// A quantile without an upper end: so few times was anything beyond it that a longer tail may only
/// not have been seen.
pub(crate) fn few_clusters(estimate: &Estimate, clusters: Option<u64>) -> Option<Doubt> {
    let clusters = clusters.filter(|_| estimate.is_at_least())?;
    if real(clusters) >= CLUSTERS_NEEDED {
        let remedy = format!("measure {}", times_as_long(2.0));
        let what = "the upper end of the interval is more than twice the value";
        return Some(doubt(what, Bias::Flattering, &remedy));
    }
    let times = match clusters {
        1 => "once".to_owned(),
        several => format!("at {several} separate times"),
    };
    let what = format!(
        "values beyond the quantile occurred only {times}; an upper bound needs {CLUSTERS_NEEDED}"
    );
    let longer = CLUSTERS_NEEDED / real(clusters.max(1));
    let remedy = format!("measure {}", times_as_long(longer.max(2.0)));
    Some(doubt(what, Bias::Flattering, &remedy))
}

/// A mean time without an upper end: a few bursts made it, and a longer one may only not have been
/// seen.
pub(crate) fn few_bursts(estimate: &Estimate, clusters: Option<u64>) -> Option<Doubt> {
    let is_mean = clusters.is_none() && estimate.is_at_least();
    let what = "the mean depends on a few bursts; an upper limit needs more of them";
    let remedy = format!("measure {}", times_as_long(LONGER_FOR_MEAN));
    is_mean.then(|| doubt(what, Bias::Flattering, &remedy))
}

/// One number of another program does not say how another run of it would differ.
pub(crate) fn no_interval() -> Doubt {
    let what = "the result has no interval for it";
    doubt(what, Bias::Unknown, "repeat the test and import every result of it")
}

/// Several streams whose targets are not told apart: one slow target may hide behind the others.
pub(crate) fn of_unnamed_targets(scope: Scope, measurement: &Measurement) -> Option<Doubt> {
    let is_hidden =
        scope == Scope::Target && measurement.targets.is_empty() && measurement.streams.len() > 1;
    let what = "the result does not say which target each I/O went to";
    let remedy = "measure each target separately";
    is_hidden.then(|| doubt(what, Bias::Flattering, remedy))
}

/// A target that the storage need not read in full makes reads look fast.
pub(crate) fn of_target(target: &TargetFacts) -> Option<Doubt> {
    let (content, path) = (&target.content, &target.path);
    let unwritten = content.written_share.map_or(0.0, |written| 1.0 - written);
    let zeros = content.zero_share.unwrap_or(0.0);
    let on_the_fly = content.file_system_compresses == Some(true);
    let ratio = content.compressed_ratio.filter(|_| on_the_fly).unwrap_or(1.0);
    let what = match (unwritten, zeros, ratio) {
        (empty, _, _) if empty > EMPTY_SHARE_MAX => {
            format!(
                "{:.0}% of {path} was never written, so reading it does not reach the storage",
                empty * 100.0
            )
        }
        (_, zeros, _) if zeros > EMPTY_SHARE_MAX => {
            format!("{:.0}% of {path} is zeros, which storage may not store", zeros * 100.0)
        }
        (_, _, ratio) if ratio < 1.0 - EMPTY_SHARE_MAX => {
            format!(
                "{path} is compressed: the file system reads only {:.0}% of its bytes",
                ratio * 100.0
            )
        }
        _ => return None,
    };
    Some(doubt(what, Bias::Flattering, "use a target filled with incompressible data"))
}
