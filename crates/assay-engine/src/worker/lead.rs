//! How long before an arrival a sleeping worker has to wake: learned from how late its wake-ups
//! came.

use assay_model::number::{count, real};

/// Timers of virtual machines wake about 40 µs late, those of bare machines 2 to 5 µs.
const FIRST_NS: f64 = 60_000.0;
const LEAST_NS: f64 = 2_000.0;
/// A wake-up that is later than this was not the timer's fault, and watching the clock longer would
/// cost a core.
const MOST_NS: f64 = 60_000.0;
/// Share of the wake-ups that are to come in time.
const IN_TIME: f64 = 0.85;
/// How far one wake-up moves the lead, ns.
const STEP_NS: f64 = 500.0;

/// The lead of one worker: a running quantile of lateness, moved up by every wake-up that came too
/// late for it and down by every other, so that it comes to rest where the wanted share is in time
/// (Robbins and Monro 1951).
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    lead_ns: f64,
    asleep_until_ns: Option<u64>,
}

impl Default for Lead {
    fn default() -> Self {
        Self { lead_ns: FIRST_NS, asleep_until_ns: None }
    }
}

impl Lead {
    /// The present lead, ns: before an arrival the worker sleeps up to this much earlier, then
    /// watches the clock.
    pub(super) fn ns(&self) -> u64 {
        count(self.lead_ns)
    }

    /// Notes that the worker goes to sleep; `None` when no clock is to wake it.
    pub(super) const fn sleeps(&mut self, until_ns: Option<u64>) {
        self.asleep_until_ns = until_ns;
    }

    /// Notes that it is awake. One that a completion woke before its time says nothing about
    /// timers.
    pub(super) fn wakes(&mut self, now_ns: u64) {
        let Some(until_ns) = self.asleep_until_ns.take().filter(|until| *until <= now_ns) else {
            return;
        };
        let step_ns = if real(now_ns - until_ns) > self.lead_ns {
            STEP_NS * IN_TIME
        } else {
            STEP_NS * (IN_TIME - 1.0)
        };
        self.lead_ns = (self.lead_ns + step_ns).clamp(LEAST_NS, MOST_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    /// The lead after many wake-ups with an even lateness between two bounds.
    fn learned_ns(least_ns: u64, most_ns: u64) -> f64 {
        let (mut lead, mut random) = (Lead::default(), Random::new(1));
        let (mut now_ns, mut sum_ns) = (0, 0.0);
        for round in 0..40_000 {
            lead.sleeps(Some(now_ns));
            now_ns += least_ns + random.below(most_ns - least_ns);
            lead.wakes(now_ns);
            sum_ns += if round < 20_000 { 0.0 } else { lead.lead_ns };
        }
        sum_ns / 20_000.0
    }

    #[test]
    fn the_lead_is_the_wanted_quantile_of_lateness() {
        for (least_ns, most_ns) in [(3_000, 5_000), (20_000, 50_000)] {
            let quantile_ns = real(least_ns) + IN_TIME * real(most_ns - least_ns);
            let learned = learned_ns(least_ns, most_ns);
            assert!((learned - quantile_ns).abs() < 1_000.0, "{learned}");
        }
    }

    #[test]
    fn it_stays_within_its_bounds() {
        assert!((learned_ns(0, 1) - LEAST_NS).abs() < 1.0);
        assert!((learned_ns(1_000_000, 2_000_000) - MOST_NS).abs() < 1.0);
    }

    #[test]
    fn a_completion_before_the_time_teaches_nothing() {
        let mut lead = Lead::default();
        lead.sleeps(Some(1000));
        lead.wakes(900);
        lead.wakes(500_000);
        assert_eq!(lead.ns(), count(FIRST_NS));
    }
}
