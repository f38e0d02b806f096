//! What a calibration says of itself while it is under way.

use assay_model::calibration::MixCalibration;
use assay_model::measurement::Interval;

/// The part of the method that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationPhase {
    /// Doubling the load of small transfers.
    Ladder,
    /// Keeping the full load, to see whether it can be sustained.
    Sustained,
    /// Searching the load that just keeps the limit.
    Limit,
    /// Visiting again and again what the answers rest on.
    Rounds,
    /// Measuring the loads below the highest rate more precisely.
    Curve,
    /// Doubling the load of large transfers.
    Large,
    /// Reading or writing one sequential stream.
    SingleStream,
}

impl CalibrationPhase {
    /// In words that follow `while`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ladder => "doubling the load",
            Self::Sustained => "holding the full load",
            Self::Limit => "searching for the latency limit",
            Self::Rounds => "repeating the loads of the results",
            Self::Curve => "measuring the curve more precisely",
            Self::Large => "doubling the load of large I/Os",
            Self::SingleStream => "measuring a single stream",
        }
    }
}

/// What is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CalibrationUpdate<'a> {
    /// A slice was measured.
    Slice(&'a CalibrationProgress),
    /// A mix is answered.
    Mix(&'a MixCalibration),
}

/// Reported after every slice.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationProgress {
    /// Name of the mix.
    pub mix: String,
    /// The part of the method.
    pub doing: CalibrationPhase,
    /// Outstanding I/Os of the slice.
    pub queue_depth: u32,
    /// Its reads and writes per second.
    pub iops: f64,
    /// The slice as one interval of the calibration.
    pub slice: Interval,
    /// Time since the calibration began, s.
    pub elapsed_s: f64,
    /// Time budget of all mixes, s; less may be needed.
    pub budget_s: f64,
}
