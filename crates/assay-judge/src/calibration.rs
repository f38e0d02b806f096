//! Evidence in a calibration: what each mix of reads and writes can have.

use crate::doubts;
use crate::facts::Facts;
use crate::found::{FoundNumber, KnownNumber, Missing};
use crate::quantity::{CapacityOf, QuantityMix};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, CurvePoint, LatencyLimit, MixCalibration};
use assay_model::number::{count, real};
use assay_model::spelling::LimitStatistic;
use assay_model::units::show_time_ns;
use assay_model::verdict::Doubt;
use assay_stats::moment_bound::quantile_at_most;
use assay_stats::quantile::FEWEST_CLUSTERS;

/// What is known of a capacity, for every mix of the kind.
pub(crate) fn find(mix: QuantityMix, what: CapacityOf, facts: &Facts<'_>) -> Vec<FoundNumber> {
    let Some(calibration) = facts.calibration else {
        return vec![FoundNumber::absent("nothing was calibrated")];
    };
    let mixes: Vec<&MixCalibration> =
        calibration.mixes.iter().filter(|found| mix.holds(found.read_share)).collect();
    if mixes.is_empty() {
        let whose = match mix {
            QuantityMix::Read => "reads",
            QuantityMix::Write => "writes",
            QuantityMix::Mixed => "mixes of reads and writes",
        };
        return vec![FoundNumber::absent(format!("{whose} were not calibrated"))];
    }
    let found = mixes.into_iter().map(|found| FoundNumber {
        subject: (mix == QuantityMix::Mixed).then(|| found.name.clone()),
        known: known(found, what, calibration, &facts.content_doubts(mix != QuantityMix::Write)),
    });
    found.collect()
}

/// Large transfers come last: they are missing where the calibration was stopped.
fn unmeasured() -> Missing {
    Missing::Untold("the calibration ended before large I/Os".to_owned())
}

/// The limit in words: `with p99 ≤ 1 ms`.
fn limit_words(limit: &LatencyLimit) -> String {
    let shown = show_time_ns(limit.service_time_ns);
    // A person chose it, and not to three digits.
    let (number, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
    let number = match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.'),
        None => number,
    };
    format!("with {} ≤ {number} {unit}", limit.quantile)
}

/// The step with this number of outstanding I/Os.
pub(crate) fn point(mix: &MixCalibration, queue_depth: u32) -> Option<&CurvePoint> {
    mix.curve.iter().find(|point| point.queue_depth == queue_depth)
}

/// Where even queue depth 1 breaks the limit, the rate within it is known: there is none.
/// Unless the limit lies inside the interval of the quantile: then there may be as much as one
/// outstanding I/O gives.
fn none_within(mix: &MixCalibration, limit: &LatencyLimit) -> Estimate {
    let one = point(mix, 1).filter(|_| !mix.certainly_exceeds(limit));
    let most = one.map_or(0.0, |one| one.iops.high);
    Estimate { value: 0.0, low: 0.0, high: most, confidence: 0.95, n: 1 }
}

/// The quantile that was limited is the one whose interval is known.
fn base_quantile(
    mix: &MixCalibration,
    quantile: f64,
    limit: &LatencyLimit,
) -> Result<Estimate, Missing> {
    let known = limit.quantile;
    if !matches!(known, LimitStatistic::Quantile(known) if (quantile - known).abs() < 1e-9) {
        return Err(Missing::Untold(format!("the calibration has only the {known}")));
    }
    let one = point(mix, 1)
        .ok_or_else(|| Missing::Untold("queue depth 1 was not measured".to_owned()))?;
    Ok(one.limited_quantile_ns)
}

/// A quantile of a step, without its upper end where too few independent I/Os lie beyond it to tell
/// one. And how many these are.
pub(crate) fn trusted(estimate: Estimate, quantile: f64) -> (Estimate, u64) {
    let clusters = real(estimate.n) * (1.0 - quantile);
    let high = if clusters < FEWEST_CLUSTERS { f64::INFINITY } else { estimate.high };
    (Estimate { high, ..estimate }, count(clusters))
}

/// The number of one mix with the doubts about it, or why there is none.
fn known(
    mix: &MixCalibration,
    what: CapacityOf,
    calibration: &Calibration,
    doubts: &[Doubt],
) -> Result<KnownNumber, Missing> {
    let plain =
        |estimate: Estimate| KnownNumber::new(estimate, calibration.elapsed_s, doubts.to_vec());
    let capacity = |capacity: &Capacity| {
        let mut known = plain(capacity.rate);
        known.evidence.doubts.extend(doubts::of_capacity(capacity));
        known.evidence.doubts.extend(doubts::of_point(point(mix, capacity.queue_depth)));
        known
    };
    let base = |estimate: Estimate| {
        let mut known = plain(estimate);
        "at queue depth 1".clone_into(&mut known.at);
        known.evidence.doubts.extend(doubts::of_point(point(mix, 1)));
        known
    };
    match what {
        CapacityOf::IopsWithinLimit => Ok(KnownNumber {
            at: limit_words(&calibration.limit),
            ..mix
                .iops_within_limit
                .as_ref()
                .map_or_else(|| base(none_within(mix, &calibration.limit)), capacity)
        }),
        CapacityOf::IopsMax => Ok(capacity(&mix.iops_max)),
        CapacityOf::ThroughputMax => {
            mix.throughput_max_bytes_per_s.as_ref().map(capacity).ok_or_else(unmeasured)
        }
        CapacityOf::SingleStreamThroughput => {
            mix.single_stream_bytes_per_s.map(plain).ok_or_else(unmeasured)
        }
        CapacityOf::BaseServiceTime => Ok(base(mix.base_service_time_ns)),
        CapacityOf::BaseQuantile(quantile) => {
            let (found, clusters) =
                trusted(base_quantile(mix, quantile, &calibration.limit)?, quantile);
            let doubt = doubts::few_clusters(&found, Some(clusters));
            let mean = mix.base_service_time_ns;
            let highest_ns = (mean.has_interval() && !mean.is_at_least())
                .then(|| quantile_at_most(mean.high, 1, quantile));
            Ok(base(found).with(Some(clusters), None).with_tail(doubt, highest_ns))
        }
        CapacityOf::KneeIops => mix
            .knee
            .as_ref()
            .map(|knee| plain(Estimate::exact(knee.iops, 1)))
            .ok_or_else(|| Missing::Absent("the curve shows no knee".to_owned())),
    }
}
