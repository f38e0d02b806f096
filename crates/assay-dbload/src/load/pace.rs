//! Open arrivals: steps begin when they are due, whether sessions are free or not.
//!
//! A step's response time counts from the moment at which it was due, so that a server which falls
//! behind cannot hide the waiting (coordinated omission).

use assay_model::load::Spacing;
use assay_model::number::{nanoseconds, real};
use assay_stats::random::Random;
use std::sync::{Mutex, PoisonError};

/// Open arrivals of a step, all sessions together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepPace {
    /// Steps a second.
    pub rate_per_s: f64,
    /// How they are spaced.
    pub spacing: Spacing,
    /// Seed of the gaps.
    pub seed: u64,
}

/// Arrivals that are dealt out to whichever session is free.
pub(super) struct StepArrivals {
    gap_ns: f64,
    spacing: Spacing,
    next: Mutex<(Random, f64)>,
}

impl StepArrivals {
    pub(super) fn of(pace: StepPace) -> Self {
        Self {
            gap_ns: 1e9 / pace.rate_per_s.max(1e-6),
            spacing: pace.spacing,
            next: Mutex::new((Random::part(pace.seed, 0x0a55), 0.0)),
        }
    }

    /// When the next step is due, ns after the step's begin.
    pub(super) fn next_ns(&self) -> u64 {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let due_ns = next.1;
        let gap = match self.spacing {
            Spacing::Constant => 1.0,
            Spacing::Poisson => next.0.exponential(),
        };
        next.1 += gap * self.gap_ns;
        nanoseconds(due_ns / 1e9)
    }

    /// Starts over at a moment: what was due before has been dealt with or is left out.
    pub(super) fn restart(&self, at_ns: u64) {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).1 = real(at_ns);
    }

    /// Steps that are due until a moment and were not dealt out: the backlog.
    pub(super) fn backlog(&self, at_ns: u64) -> u64 {
        let due_ns = self.next.lock().unwrap_or_else(PoisonError::into_inner).1;
        assay_model::number::count(((real(at_ns) - due_ns) / self.gap_ns).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(spacing: Spacing) -> StepArrivals {
        StepArrivals::of(StepPace { rate_per_s: 1000.0, spacing, seed: 3 })
    }

    #[test]
    fn constant_arrivals_are_a_gap_apart_and_what_is_late_is_counted() {
        let arrivals = arrivals(Spacing::Constant);
        let due: Vec<u64> = (0..3).map(|_| arrivals.next_ns()).collect();
        assert_eq!(due, [0, 1_000_000, 2_000_000]);
        assert_eq!((arrivals.backlog(2_500_000), arrivals.backlog(13_000_000)), (0, 10));
        arrivals.restart(50_000_000);
        assert_eq!(arrivals.next_ns(), 50_000_000);
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_spread_of_exponential_gaps() {
        let arrivals = arrivals(Spacing::Poisson);
        let due: Vec<f64> = (0..20_001).map(|_| real(arrivals.next_ns())).collect();
        let gaps: Vec<f64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / 20_000.0;
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((mean / 1e6 - 1.0).abs() < 0.03, "{mean}");
        assert!((square.sqrt() / mean - 1.0).abs() < 0.05, "{square}");
    }
}
