//! What the reader of a calibration must know of its answers.

use super::full_load::{FullLoad, FullLoadDrift};
use super::rung::CalibrationRung;
use super::stalls::Stalls;
use assay_model::Estimate;
use assay_model::calibration::LatencyLimit;
use assay_model::measurement::Remark;
use assay_model::number::real;
use assay_model::units::{show_bytes, show_count, show_time_ns};

/// For how long the highest rate was held at once, as far as it kept its level: a reserve that
/// lasts longer does not show.
pub(super) fn held(mix: &str, full_load: &FullLoad, block_size_bytes: u64) -> Remark {
    let ios = full_load.longest_ios;
    Remark {
        what: format!(
            "{mix}: the highest rate was steady for {:.0} s without a pause ({} I/Os, {})",
            full_load.longest_s,
            show_count(ios),
            show_bytes(ios * real(block_size_bytes))
        ),
        why: "a cache or burst credits that last longer are not detected".to_owned(),
        remedy: "if the storage may have them, run full load for as long as it must be sustained"
            .to_owned(),
    }
}

/// The highest rate did not keep its level; `began_s` is when the calibration began on the clock of
/// the drift.
pub(super) fn drifted(mix: &str, drift: &FullLoadDrift, most_iops: f64, began_s: f64) -> Remark {
    let verb = if drift.end_of_begin < 1.0 { "fell" } else { "rose" };
    let end = drift.end_of_mean * most_iops;
    let what = match drift.step_s {
        // A rate of which only a lower bound of nothing is known has no levels to name.
        Some(at_s) if end >= 1.0 => format!(
            "{mix}: the rate at full load {verb} from {} to {} IOPS {:.0} s after the start, too \
             late to measure the new level",
            show_count(end / drift.end_of_begin),
            show_count(end),
            at_s - began_s
        ),
        _ => format!(
            "{mix}: the rate at full load {verb} by {:.0}% from the beginning to the end",
            100.0 * (drift.end_of_begin - 1.0).abs()
        ),
    };
    Remark {
        what,
        why: "the sustained rate may differ; the interval extends to the final rate".to_owned(),
        remedy: "calibrate for longer, or run full load for as long as it must be sustained"
            .to_owned(),
    }
}

pub(super) fn impossible(mix: &str, first: &CalibrationRung, limit: &LatencyLimit) -> Remark {
    let limited_ns = &first.estimates.limited_ns;
    if limited_ns.low <= limit.service_time_ns {
        return Remark {
            what: format!(
                "{mix}: {} at queue depth 1 is {}, but its interval begins at {}, within the limit",
                limit.quantile,
                show_time_ns(limited_ns.value),
                show_time_ns(limited_ns.low)
            ),
            why: "it is open whether any load meets the limit".to_owned(),
            remedy: "calibrate for longer, or while nothing else runs".to_owned(),
        };
    }
    Remark {
        what: format!(
            "{mix}: {} is {} even at queue depth 1, above the limit of {}",
            limit.quantile,
            show_time_ns(limited_ns.value),
            show_time_ns(limit.service_time_ns)
        ),
        why: "no load meets the limit".to_owned(),
        remedy: "use a higher --max-latency, or faster storage".to_owned(),
    }
}

pub(super) fn stood_still(mix: &str, stalls: &Stalls) -> Remark {
    Remark {
        what: format!(
            "{mix}: the storage stalled for {} every {}",
            show_time_ns(stalls.length_s * 1e9),
            show_time_ns(stalls.period_s() * 1e9)
        ),
        why: "rates and mean times include the stalls in proportion to their duration".to_owned(),
        remedy: "look for cache flushes or garbage collection with this period; they show in high \
                 quantiles of latency"
            .to_owned(),
    }
}

pub(super) fn unsure(mix: &str, rate: &Estimate) -> Remark {
    let ends = if rate.is_at_least() {
        format!("they are at least {}", show_count(rate.low))
    } else {
        format!("they lie between {} and {}", show_count(rate.low), show_count(rate.high))
    };
    Remark {
        what: format!("{mix}: the IOPS within the limit are uncertain: {ends}"),
        why: "near the limit the quantile changes little with the load, or there were too few I/Os"
            .to_owned(),
        remedy: "increase --time or choose another --max-latency".to_owned(),
    }
}

pub(super) fn varied(mix: &str, rung: &CalibrationRung, hosts: u32) -> Remark {
    let known = match rung.imprecision() {
        within if within < 1.0 => format!("its mean is known only within {:.0}%", within * 100.0),
        _ => "its mean may be more than twice as large".to_owned(),
    };
    Remark {
        what: format!(
            "{mix}: the rate at queue depth {} varied: {known}",
            rung.queue_depth * hosts
        ),
        why: "something else uses the storage or the host, or the storage itself is unsteady"
            .to_owned(),
        remedy: "calibrate while nothing else runs, or increase --time".to_owned(),
    }
}

pub(super) fn still_rising(mix: &str, last: &CalibrationRung, hosts: u32) -> Remark {
    Remark {
        what: format!(
            "{mix}: IOPS still rose at queue depth {}, the maximum tested",
            last.queue_depth * hosts
        ),
        why: "the storage may deliver more than the highest rate here".to_owned(),
        remedy: "raise --queue-depth-max".to_owned(),
    }
}

pub(super) fn unknown_throughput(mix: &str) -> Remark {
    Remark {
        what: format!("{mix}: the sustained throughput of large I/Os is unknown"),
        why: "time ran out, or a cache or burst credits were still in use at the end".to_owned(),
        remedy: "increase --time".to_owned(),
    }
}

/// What a load of several hosts is.
pub(super) fn several_hosts(hosts: u32) -> Remark {
    Remark {
        what: format!(
            "all loads are totals of {hosts} hosts: queue depth 1 and one stream mean one on each \
             host"
        ),
        why: "hosts can only share a load equally".to_owned(),
        remedy: "calibrate one host alone for the service time of a single I/O".to_owned(),
    }
}

pub(super) fn host_bound(mix: &str) -> Remark {
    Remark {
        what: format!("{mix}: a load-generating host had no idle CPU at the highest rate"),
        why: "the rate is a limit of that host; the storage may deliver more".to_owned(),
        remedy: "measure from a host with faster CPUs, or from several with --hosts".to_owned(),
    }
}
