//! The busiest minute of a live server's profile, and its rates second by second.

use super::demand::PlannedDemand;
use assay_model::number::{index, real_len};
use assay_model::profile::{IoPurpose, IoSample, Profile};
use assay_model::units::Nanos;

/// Seconds that are replayed at most.
const SECONDS_MAX: f64 = 60.0;
/// Fewer seconds have no busiest ones.
const SECONDS_MIN: usize = 5;
/// Counts that vary by less than chance alone would make them vary, times this, come at an even
/// rate.
const DISPERSION_MIN: f64 = 2.0;
/// The same of their standard deviation over their mean.
const VARIATION_MIN: f64 = 0.1;

/// The stretch of a profile that is replayed.
pub(super) struct Busiest<'a> {
    seconds: &'a [IoSample],
    all: &'a [IoSample],
}

impl<'a> Busiest<'a> {
    /// The busiest stretch as long as the workload, of a minute at most; nothing of a profile
    /// without seconds.
    pub(super) fn new(profile: &'a Profile, duration: Nanos) -> Option<Self> {
        let all = profile.server.as_ref()?.io_by_second.as_slice();
        let length = index(duration.seconds().clamp(1.0, SECONDS_MAX));
        (all.len() >= SECONDS_MIN).then(|| Self { seconds: IoSample::busiest(all, length), all })
    }

    /// What is replayed, for a reader.
    pub(super) fn note(&self) -> String {
        let first_s = self.seconds.first().map_or(0.0, |second| (second.at_s - 1.0).max(0.0));
        format!(
            "Rates are from the busiest {} s, starting at second {:.0} of {}, second by second.",
            self.seconds.len(),
            first_s,
            self.all.len()
        )
    }

    /// A demand at its rate of these seconds.
    pub(super) fn of(&self, demand: &PlannedDemand) -> PlannedDemand {
        let number = number_of(demand);
        let (here, mean) = (IoSample::mean(self.seconds, number), IoSample::mean(self.all, number));
        let mut demand = demand.clone();
        if mean <= 0.0 || here <= 0.0 {
            return demand;
        }
        demand.rate.value *= here / mean;
        demand.pattern = pattern(self.seconds, number, here);
        demand
    }
}

/// The counter that moves with a demand.
fn number_of(demand: &PlannedDemand) -> fn(&IoSample) -> f64 {
    match demand.purpose {
        IoPurpose::LogWrite => |second| second.log_iops,
        IoPurpose::DataFileWrite | IoPurpose::DirectWrite | IoPurpose::Temporary => {
            |second| second.write_iops
        }
        IoPurpose::SingleBlockRead | IoPurpose::MultiBlockRead | IoPurpose::DirectRead => {
            |second| second.read_iops
        }
        IoPurpose::All | IoPurpose::Backup => IoSample::iops,
    }
}

/// Rates relative to their mean, where they vary by more than chance.
fn pattern(seconds: &[IoSample], number: fn(&IoSample) -> f64, mean: f64) -> Vec<f64> {
    let squares = seconds.iter().map(|second| (number(second) - mean).powi(2)).sum::<f64>();
    let variance = squares / real_len(seconds.len());
    let varies = variance > DISPERSION_MIN * mean && variance.sqrt() > VARIATION_MIN * mean;
    if !varies {
        return Vec::new();
    }
    seconds.iter().map(|second| (number(second) / mean * 1e3).round() / 1e3).collect()
}
