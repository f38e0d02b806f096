//! Evidence in a calibration: what each mix of reads and writes can have.

use crate::doubts;
use crate::facts::Facts;
use crate::found::{Found, Known, Missing};
use crate::quantity::{CapacityOf, Mix};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, MixCalibration};
use assay_model::verdict::Doubt;

/// What is known of a capacity, for every mix of the kind.
pub(crate) fn find(mix: Mix, what: CapacityOf, facts: &Facts<'_>) -> Vec<Found> {
    let Some(calibration) = facts.calibration else {
        return vec![Found::absent("nothing was calibrated")];
    };
    let mixes: Vec<&MixCalibration> =
        calibration.mixes.iter().filter(|found| mix.holds(found.read_share)).collect();
    if mixes.is_empty() {
        let whose = match mix {
            Mix::Read => "reads",
            Mix::Write => "writes",
            Mix::Mixed => "a mix of reads and writes",
        };
        return vec![Found::absent(format!("{whose} were not calibrated"))];
    }
    let found = mixes.into_iter().map(|found| Found {
        subject: (mix == Mix::Mixed).then(|| found.name.clone()),
        known: known(found, what, calibration, &facts.outer_doubts(mix != Mix::Write)),
    });
    found.collect()
}

/// Large transfers come last: they are missing where the calibration was stopped.
fn unmeasured() -> Missing {
    Missing::Absent("the calibration ended before large transfers".to_owned())
}

/// The number of one mix with the doubts about it, or why there is none.
fn known(
    mix: &MixCalibration,
    what: CapacityOf,
    calibration: &Calibration,
    doubts: &[Doubt],
) -> Result<Known, Missing> {
    let plain = |estimate: Estimate| Known::new(estimate, calibration.elapsed_s, doubts.to_vec());
    let capacity = |capacity: &Capacity| {
        let mut known = plain(capacity.rate);
        known.evidence.doubts.extend(doubts::of_capacity(capacity));
        known
    };
    match what {
        // Where even one outstanding I/O breaks the limit, the rate within it is known: there is none.
        CapacityOf::IopsWithinLimit => Ok(mix
            .iops_within_limit
            .as_ref()
            .map_or_else(|| plain(Estimate::exact(0.0, 1)), capacity)),
        CapacityOf::IopsMax => Ok(capacity(&mix.iops_max)),
        CapacityOf::ThroughputMax => {
            mix.throughput_max_bytes_per_s.as_ref().map(capacity).ok_or_else(unmeasured)
        }
        CapacityOf::SingleStreamThroughput => {
            mix.single_stream_bytes_per_s.map(plain).ok_or_else(unmeasured)
        }
        CapacityOf::BaseServiceTime => Ok(plain(mix.base_service_time_ns)),
        CapacityOf::KneeIops => mix
            .knee
            .as_ref()
            .map(|knee| plain(Estimate::exact(knee.iops, 1)))
            .ok_or_else(|| Missing::Absent("the curve shows no knee".to_owned())),
    }
}
