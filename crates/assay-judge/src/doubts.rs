//! What about the conduct of a measurement could have carried a result to where it is, and into which direction.

use crate::quantity::{Amount, LoadAmount, Quantity, TimeKind};
use assay_model::Estimate;
use assay_model::calibration::{Bound, Capacity, CurvePoint};
use assay_model::counters::DeviceCounters;
use assay_model::load::{PhysicalVerdict, Rung};
use assay_model::measurement::{ClockKind, Conduct, Finish, Measurement, Operation, Submission};
use assay_model::number::{real, share};
use assay_model::target::TargetFacts;
use assay_model::verdict::{Bias, Doubt, Unit};

/// A worker that is busier than this may have kept I/Os waiting.
const WORKER_BUSY_MAX: f64 = 0.95;
/// A host that is busier than this lets I/Os wait for a processor.
const HOST_BUSY_MAX: f64 = 0.9;
/// Share of its own ceiling beyond which the tool may be what is measured.
const CEILING_SHARE_MAX: f64 = 0.8;
/// Share of the bytes that a device must have moved, by the kernel's counters, and from how many bytes on it is asked.
const SEEN_SHARE_MIN: f64 = 0.9;
const UNSEEN_BYTES_MIN: u64 = 64 << 20;
/// How far Little's law may be off before the bookkeeping is in doubt.
const LITTLES_LAW_SLACK: f64 = 0.05;
/// Share of I/Os that may fail or be missed before the histograms, which hold neither, are in doubt.
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
pub(crate) fn of_measurement(quantity: &Quantity, measurement: &Measurement) -> Vec<Doubt> {
    let conduct = &measurement.conduct;
    let Quantity::Measured { amount, .. } = quantity else {
        return early_end(measurement).into_iter().collect();
    };
    if matches!(amount, Amount::Errors(_)) {
        return early_end(measurement).into_iter().collect();
    }
    let mut doubts: Vec<Doubt> = [
        early_end(measurement),
        busy_host(conduct),
        ceiling(measurement),
        unseen(amount.operation(), measurement),
        cache(measurement),
        submission(conduct),
        littles_law(conduct),
        failures(measurement),
    ]
    .into_iter()
    .flatten()
    .collect();
    if matches!(amount, Amount::Time { kind: TimeKind::Response, .. }) {
        doubts.extend(arrivals(measurement));
    }
    doubts
}

/// A run that did not run its length may have ended because of what it would have shown.
fn early_end(measurement: &Measurement) -> Option<Doubt> {
    let why = match &measurement.finish {
        Finish::Complete | Finish::Interrupted => return None,
        Finish::Failed { reason } => format!("the run could not go on: {reason}"),
        Finish::Unfinished => "the program was ended before the run was".to_owned(),
    };
    Some(doubt(why, Bias::Unknown, "remove the cause and run again"))
}

/// On a virtual clock nothing is ever late, whatever the processors do.
fn busy_host(conduct: &Conduct) -> Option<Doubt> {
    if conduct.clock == ClockKind::Virtual {
        return None;
    }
    let remedy = "use more workers, fewer IOPS, or a host with idle processors";
    let host = conduct.host_busy_share.unwrap_or(0.0);
    busy(conduct.worker_busy_share_max, host).map(|what| doubt(what, Bias::Unflattering, remedy))
}

/// What was too busy to tell the storage's time from its own, if anything was.
fn busy(worker: f64, host: f64) -> Option<String> {
    let hundredths = |share: f64| share * 100.0;
    if host > HOST_BUSY_MAX {
        return Some(format!(
            "the host was too busy to judge the storage: its processors were busy for {:.0} % of the time",
            hundredths(host)
        ));
    }
    (worker > WORKER_BUSY_MAX).then(|| {
        format!(
            "the load generator was too busy to judge the storage: one of its workers was busy for {:.0} % of the time",
            hundredths(worker)
        )
    })
}

/// A rung of a calibration on a host that had no processor to spare.
pub(crate) fn of_point(point: Option<&CurvePoint>) -> Option<Doubt> {
    let point = point?;
    let what = busy(point.worker_busy_share, point.host_busy_share.unwrap_or(0.0))?;
    Some(doubt(what, Bias::Unflattering, "calibrate on a host with idle processors"))
}

/// A rung of a load on a host that had no processor to spare, or whose reads nobody saw reach a device.
pub(crate) fn of_rung(rung: &Rung, what: LoadAmount) -> Option<Doubt> {
    if what == LoadAmount::Errors {
        return None;
    }
    if what == LoadAmount::PhysicalReads && rung.physical.verdict == PhysicalVerdict::Unknown {
        let remedy =
            "run the load on the host of the server, where the kernel's counters can be read";
        let what = "whether the reads reached a device is not known";
        return Some(doubt(what, Bias::Flattering, remedy));
    }
    of_busy_host(rung.host_busy_share.unwrap_or(0.0))
}

/// A load on a host that had no processor to spare.
pub(crate) fn of_busy_host(host_busy_share: f64) -> Option<Doubt> {
    let what = busy(0.0, host_busy_share)?;
    Some(doubt(what, Bias::Unflattering, "use a host with idle processors, or fewer sessions"))
}

/// A host that was not as the criteria ask it to be: whatever failed on it may have failed because of it.
pub(crate) fn of_host(quantity: &Quantity, value: f64, limit: f64) -> Doubt {
    let (value, limit) = (Unit::Share.show(value), Unit::Share.show(limit));
    let (what, remedy) = match quantity {
        Quantity::HostTcpRetransmits => (
            format!(
                "the host's network lost too much to judge the storage: {value} of its TCP segments were sent again; limit: {limit}"
            ),
            "find out where the network loses packets",
        ),
        _ => (
            format!(
                "the host was too busy to judge the storage: its processors were busy for {value} of the time; limit: {limit}"
            ),
            "measure on a host with idle processors",
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
    let what = format!("the tool itself reaches no more than {:.1} times this rate", 1.0 / reached);
    Some(doubt(what, Bias::Unflattering, "use more workers or a stronger host"))
}

/// The kernel's counters are an independent witness: what no device of the stack moved came from a cache above them.
/// Asked only where warm-up and rounding cannot explain the difference.
fn unseen(operation: Option<Operation>, measurement: &Measurement) -> Option<Doubt> {
    let (operation, name, bytes): (_, _, fn(&DeviceCounters) -> u64) = match operation {
        Some(Operation::Sync) => return None,
        Some(Operation::Write) => (Operation::Write, "written", |device| device.write_bytes),
        Some(Operation::Read) | None => (Operation::Read, "read", |device| device.read_bytes),
    };
    let claimed = countable_bytes(operation, measurement)?;
    let seen = share(seen_bytes(measurement, bytes)?, claimed);
    if claimed < UNSEEN_BYTES_MIN || seen >= SEEN_SHARE_MIN {
        return None;
    }
    let hundredths = seen * 100.0;
    let what = format!(
        "only {hundredths:.0} % of the bytes {name} reached a device, by the kernel's counters"
    );
    let remedy = "use direct I/O on a target larger than every cache before the device";
    Some(doubt(what, Bias::Flattering, remedy))
}

/// Bytes that the kernel's counters should show: all but those of targets past the block layer. `None` where there are none.
fn countable_bytes(operation: Operation, measurement: &Measurement) -> Option<u64> {
    let unseen = &measurement.conduct.passthrough;
    if unseen.is_empty() {
        return measurement.operations().get(operation).map(|result| result.bytes);
    }
    let countable = measurement.targets.iter().filter(|target| !unseen.contains(&target.name));
    let results = countable.filter_map(|target| target.operations.get(operation));
    results.map(|result| result.bytes).reduce(|all, bytes| all + bytes)
}

/// Layers of one target pass the same bytes on, so the largest counts; those of several targets add up, which may
/// count layers twice and can only be too kind. `None` where the kernel counts nothing, as on network file systems.
fn seen_bytes(measurement: &Measurement, bytes: fn(&DeviceCounters) -> u64) -> Option<u64> {
    let devices = &measurement.conduct.kernel.as_ref()?.devices;
    let each = devices.iter().map(|device| bytes(&device.counters));
    let all = if measurement.targets.len() > 1 { each.sum() } else { each.max().unwrap_or(0) };
    (!devices.is_empty()).then_some(all)
}

/// A cache answers in place of the storage. How I/Os are taken was seen on the first target; past the block layer nothing caches.
fn cache(measurement: &Measurement) -> Option<Doubt> {
    let conduct = &measurement.conduct;
    let first = measurement.targets.first();
    let is_cached = first.is_none_or(|target| !conduct.passthrough.contains(&target.name));
    if conduct.direct_io == Some(false) {
        let remedy = "use a file system with direct I/O, or the device itself";
        return Some(doubt("the page cache was not bypassed", Bias::Flattering, remedy));
    }
    (conduct.submission == Submission::Inline && is_cached).then(|| {
        let remedy = "use a target that lies on a device, and larger than every cache before it";
        doubt("I/Os completed inside their submission, as from a cache", Bias::Flattering, remedy)
    })
}

/// What the kernel did with the I/Os when it was handed them.
fn submission(conduct: &Conduct) -> Option<Doubt> {
    match conduct.submission {
        Submission::Punted => Some(doubt(
            "the kernel handed I/Os to its worker threads, which limits the rate and adds time",
            Bias::Unflattering,
            "use a block device or a file system whose direct I/O does not wait",
        )),
        Submission::Blocking => Some(doubt(
            "submission waited for the device, so the stated number of outstanding I/Os was not reached",
            Bias::Unknown,
            "use more workers with less depth each, or a target that submits without waiting",
        )),
        Submission::Unknown | Submission::Asynchronous | Submission::Inline => None,
    }
}

/// A ratio of 0 means that it was not computed.
fn littles_law(conduct: &Conduct) -> Option<Doubt> {
    let ratio = conduct.littles_law_ratio;
    if ratio <= 0.0 || (ratio - 1.0).abs() <= LITTLES_LAW_SLACK {
        return None;
    }
    let what = format!(
        "Little's law does not close: rate × service time is {ratio:.2} of the outstanding I/Os"
    );
    Some(doubt(what, Bias::Unknown, "measure longer; if it stays so, do not trust the run"))
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
    let what = format!("{:.1} % of the I/Os failed and are in no time and no rate", lost * 100.0);
    Some(doubt(what, Bias::Flattering, "find out why I/Os fail before anything else"))
}

/// Open arrivals that never started, or started late through the fault of the tool.
fn arrivals(measurement: &Measurement) -> Vec<Doubt> {
    let conduct = &measurement.conduct;
    let mut doubts = Vec::new();
    let due = real(conduct.missed_arrivals + measurement.operations().ios());
    if real(conduct.missed_arrivals) > LOST_SHARE_MAX * due {
        let what = format!("{} arrivals were due and never started", conduct.missed_arrivals);
        doubts.push(doubt(what, Bias::Flattering, "offer less, or allow more outstanding I/Os"));
    }
    let late = conduct.start_error.as_ref().map_or(0, |error| error.quantile_ns(START_QUANTILE));
    if late > START_ERROR_MAX_NS {
        let what = "1 % of the arrivals started more than 1 ms late because of the tool itself";
        doubts.push(doubt(what, Bias::Unflattering, "use more workers or an idle host"));
    }
    doubts
}

/// A capacity that something other than the storage ended is at least what was seen.
pub(crate) fn of_capacity(capacity: &Capacity) -> Option<Doubt> {
    let (what, remedy) = match capacity.bound {
        Bound::Saturated | Bound::LatencyLimit | Bound::Unsteady => return None,
        Bound::Host => {
            ("the host's CPU was the limit; the storage may give more", "use a stronger host")
        }
        Bound::StillRising => (
            "the rate was still rising at the deepest load; the storage may give more",
            "allow more outstanding I/Os",
        ),
        Bound::TimeBudget => ("time ran out before the limit was found", "allow more time"),
        Bound::Contradicted => {
            let what = "other parts of the calibration contradict the rate";
            return Some(doubt(what, Bias::Unknown, "calibrate again for longer"));
        }
    };
    Some(doubt(what, Bias::Unflattering, remedy))
}

/// A quantile without an upper end: so few times was anything beyond it that a longer tail may only not have been seen.
pub(crate) fn few_clusters(
    estimate: &Estimate,
    clusters: Option<u64>,
    elapsed_s: f64,
) -> Option<Doubt> {
    let clusters = clusters.filter(|_| estimate.is_at_least())?;
    if real(clusters) >= CLUSTERS_NEEDED {
        let remedy = format!("measure for about {:.0} s in all", 2.0 * elapsed_s);
        let what = "the upper end of the quantile is beyond twice its value";
        return Some(doubt(what, Bias::Flattering, &remedy));
    }
    let needed_s = elapsed_s * CLUSTERS_NEEDED / real(clusters.max(1));
    let moments = if clusters == 1 { "moment" } else { "separate moments" };
    let what = format!(
        "values beyond the quantile came at only {clusters} {moments}, and an upper end needs {CLUSTERS_NEEDED}"
    );
    let remedy = format!("measure for about {:.0} s in all", needed_s.max(2.0 * elapsed_s));
    Some(doubt(what, Bias::Flattering, &remedy))
}

/// A mean time without an upper end: a few bursts made it, and a longer one may only not have been seen.
pub(crate) fn few_bursts(
    estimate: &Estimate,
    clusters: Option<u64>,
    elapsed_s: f64,
) -> Option<Doubt> {
    let is_mean = clusters.is_none() && estimate.is_at_least();
    let what = "a few bursts made the mean, and more are needed for an upper end";
    let remedy = if elapsed_s > 0.0 {
        format!("measure for about {:.0} s in all", LONGER_FOR_MEAN * elapsed_s)
    } else {
        "measure for longer".to_owned()
    };
    is_mean.then(|| doubt(what, Bias::Flattering, &remedy))
}

/// One number of another program does not say how another run of it would differ.
pub(crate) fn no_interval() -> Doubt {
    let what = "the result has no interval for it";
    doubt(what, Bias::Unknown, "repeat the test and import every result of it")
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
                "{:.0} % of {path} was never written and is read without touching the storage",
                empty * 100.0
            )
        }
        (_, zeros, _) if zeros > EMPTY_SHARE_MAX => {
            format!("{:.0} % of {path} is zeros, which storage may not keep", zeros * 100.0)
        }
        (_, _, ratio) if ratio < 1.0 - EMPTY_SHARE_MAX => {
            format!(
                "the file system reads only {:.0} % of the bytes of {path}, compressed",
                ratio * 100.0
            )
        }
        _ => return None,
    };
    Some(doubt(what, Bias::Flattering, "use a target written through with incompressible data"))
}
