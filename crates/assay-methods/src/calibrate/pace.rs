//! How a time budget is spent: every parameter of the method that is a duration or a share of one.

use assay_model::number::real_len;
use assay_model::units::Nanos;

/// Steps are known well enough when the interval of IOPS is within this share to each side.
pub(super) const PRECISION: f64 = 0.02;

/// Share of the budget for which a load is kept after a suspected fall: noise of seconds comes back
/// up meanwhile.
pub(super) const CONFIRMED_AFTER: f64 = 1.0 / 6.0;

/// Share of the budget for which a quiet full load is kept on: a reserve that lasts as long ends
/// meanwhile.
pub(super) const HELD: f64 = 0.25;

/// Buffers of large transfers are kept below 256 MiB.
pub(super) const LARGE_QUEUE_DEPTH_MAX: u32 = 256;

/// Rounds of measuring again after the rate fell; after more falls than that there is no regime any
/// more.
pub(super) const ROUNDS_MAX: u32 = 6;

/// Intervals of the shortest slice.
pub(super) const INTERVALS_OF_SLICE: usize = 20;

/// On the way up this half-width is enough for a first look; a step is measured longer where that
/// does not decide.
pub(super) const FIRST_PRECISION: f64 = 0.15;

/// Shares of a mix's time budget by which each part of the method has to end; what one part leaves,
/// the next may use.
pub(super) mod end {
    /// The ladder of small transfers.
    pub const LADDER: f64 = 0.2;
    /// The search for the latency limit.
    pub const LIMIT: f64 = 0.22;
    /// The same with a series of limits.
    pub const LIMIT_SERIES: f64 = 0.5;
    /// Keeping the highest load of small transfers.
    pub const KEPT: f64 = 0.35;
    /// The ladder of large transfers.
    pub const LARGE: f64 = 0.42;
    /// A first look at the single stream.
    pub const SINGLE_STREAM: f64 = 0.45;
    /// Rounds over everything.
    pub const ROUNDS: f64 = 1.0;
    /// Confirming a fall of small transfers: large ones and the single stream are still to come.
    pub const CONFIRMED: f64 = 0.8;
    /// Confirming a fall of large ones.
    pub const CONFIRMED_LARGE: f64 = 0.9;
}

/// Where the rate fell, one thing after the other, so that a reserve that is used up stays so: the
/// shares of the time left then by which each has to end.
pub(super) mod late {
    /// The ladder, and watching full load.
    pub const SUSTAINED: f64 = 0.25;
    /// The limit.
    pub const LIMIT: f64 = 0.45;
    /// The ladder of large transfers.
    pub const LARGE: f64 = 0.86;
    /// The single stream; what is left is for queue depth 1.
    pub const SINGLE_STREAM: f64 = 0.94;
}

/// How well a step is to be known, and for how long it may be measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaceGoal {
    /// Half the width of the interval of IOPS over its value.
    pub(super) precision: f64,
    /// Measured time at least, s: to stop at the first narrow interval would be to choose those
    /// that are too narrow.
    pub(super) least_s: f64,
    /// Measured time at most, s.
    pub(super) most_s: f64,
}

/// Durations that follow from the time budget of a mix.
#[derive(Clone, Copy, Debug)]
pub(super) struct MixPace {
    /// Time budget of the mix, s.
    pub(super) budget_s: f64,
    /// The shortest slice, s.
    pub(super) slice_s: f64,
    /// Length of an interval: at least 20 make a slice, as batch means need them.
    pub(super) interval: Nanos,
}

impl MixPace {
    /// Slices of a 120th of the budget, 0.2 s to 10 s, in intervals of a 20th of that, at least 10
    /// ms.
    pub(super) fn of(budget: Nanos) -> Self {
        let budget_s = budget.seconds();
        let slice_s = (budget_s / 120.0).clamp(0.2, 10.0);
        let interval_ms = (slice_s * 1000.0 / real_len(INTERVALS_OF_SLICE)).round().max(10.0);
        Self { budget_s, slice_s, interval: Nanos::from_seconds(interval_ms / 1000.0) }
    }

    /// The usual goal of a step.
    pub(super) fn goal(&self, most_s: f64) -> PaceGoal {
        PaceGoal { precision: PRECISION, least_s: 2.0 * self.slice_s, most_s }
    }

    /// Enough to see whether the rate still rises.
    pub(super) fn first_look(&self) -> PaceGoal {
        PaceGoal { precision: FIRST_PRECISION, least_s: self.slice_s, most_s: 2.0 * self.slice_s }
    }

    /// The most that one step of a ladder may take, s.
    pub(super) fn rung_s(&self) -> f64 {
        self.budget_s / 24.0
    }

    /// The most that the step of queue depth 1 may take, s: the base service time is an
    /// answer of its own.
    pub(super) fn base_s(&self) -> f64 {
        self.budget_s / 6.0
    }

    /// How long the full load of small transfers is kept after the ladder, s; that of large ones
    /// half as long.
    pub(super) fn watch_s(&self) -> f64 {
        self.budget_s / 5.0
    }

    /// Warm-up before a slice, s: three times the service time to be expected, so that every I/O of
    /// the start has left the queue, and at least a tenth of what is measured, up to that of a
    /// slice.
    pub(super) fn warm_up_s(&self, service_time_s: f64, duration_s: f64) -> f64 {
        let least_s = duration_s.min(self.slice_s) / 10.0;
        (3.0 * service_time_s).clamp(least_s, self.slice_s * 6.0)
    }

    /// A duration as a whole number of intervals, at least those of a batch.
    pub(super) fn whole(&self, duration_s: f64) -> Nanos {
        let interval_s = self.interval.seconds();
        let whole = (duration_s / interval_s).round().max(5.0);
        Nanos::from_seconds(whole * interval_s)
    }
}
