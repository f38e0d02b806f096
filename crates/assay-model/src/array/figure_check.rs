//! A published figure next to what came of its experiment.

use super::experiment::{ExperimentFigure, ExperimentMeasure, Role};
use crate::units::{show_bytes, show_count, show_time_ns};
use serde::{Deserialize, Serialize};

/// A fitted figure further away than this means that the model misses it.
const FITTED_WITHIN: f64 = 0.05;

/// What a figure that no parameter was chosen by should stay within.
const HELD_BACK_AIM: f64 = 0.15;

/// A figure with the value of a model or of other storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FigureCheck {
    /// Name of the array that it was published of.
    pub array: String,
    /// The published figure.
    pub figure: ExperimentFigure,
    /// The value in the same unit; none where it was not measured.
    pub measured_value: Option<f64>,
    /// Whether the model of that array was measured, and not other storage.
    pub is_simulated: bool,
}

impl FigureCheck {
    /// Measured over published, less one; 0 beyond a bound.
    pub fn error(&self) -> Option<f64> {
        let error = self.measured_value? / self.figure.published_value - 1.0;
        Some(if self.figure.at_least { error.min(0.0) } else { error })
    }

    /// Whether the model misses a figure that it was fitted to.
    pub fn misses_fit(&self) -> bool {
        let is_near = |error: f64| error.abs() <= FITTED_WITHIN;
        self.figure.role == Role::Fitted && !self.error().is_some_and(is_near)
    }

    /// The use of the figure, and whether the model misses it.
    pub fn remark(&self) -> &'static str {
        match (self.figure.role, self.error()) {
            _ if !self.is_simulated => "other storage",
            (_, None) if self.figure.experiment.is_none() => "not published",
            (_, None) => "not measured",
            (Role::Fitted, Some(_)) if self.misses_fit() => "fitted, MISSES",
            (Role::Fitted, Some(_)) => "fitted",
            (role, Some(error)) => {
                let [within, misses] = match role {
                    Role::Seen => ["seen", "seen, MISSES"],
                    Role::Implied => ["implied", "implied, MISSES"],
                    Role::Fitted | Role::HeldBack => ["held back", "held back, MISSES"],
                };
                if error.abs() > HELD_BACK_AIM { misses } else { within }
            }
        }
    }

    /// Published and measured value, and the difference, in words.
    pub fn shown(&self) -> [String; 3] {
        let none = || "-".to_owned();
        let show = |value| self.figure.show(value);
        [
            show(self.figure.published_value),
            self.measured_value.map_or_else(none, show),
            self.error().map_or_else(none, |error| format!("{:+.1}%", 100.0 * error)),
        ]
    }
}

impl ExperimentFigure {
    /// The unit of its values.
    pub const fn unit_name(&self) -> &'static str {
        match self.measure {
            _ if self.over.is_some() => "ratio",
            ExperimentMeasure::LastToFirst | ExperimentMeasure::Ratio => "ratio",
            ExperimentMeasure::ReadLatencyS
            | ExperimentMeasure::WriteLatencyS
            | ExperimentMeasure::LogWriteS
            | ExperimentMeasure::LogSyncS
            | ExperimentMeasure::FallS
            | ExperimentMeasure::SettledS => "s",
            ExperimentMeasure::BytesPerS | ExperimentMeasure::RedoBytesPerS => "bytes/s",
            ExperimentMeasure::ReadsBelow1ms | ExperimentMeasure::ReadsBelow2ms => "share",
            ExperimentMeasure::DbCpus => "CPUs",
            ExperimentMeasure::Iops
            | ExperimentMeasure::ReadIops
            | ExperimentMeasure::WriteIops
            | ExperimentMeasure::LogWritesPerS
            | ExperimentMeasure::ExecutionsPerS
            | ExperimentMeasure::FirstReadIops => "1/s",
        }
    }

    /// A value in the unit of its measure.
    pub fn show(&self, value: f64) -> String {
        match self.measure {
            _ if self.over.is_some() => format!("{value:.3}"),
            ExperimentMeasure::LastToFirst | ExperimentMeasure::Ratio => format!("{value:.3}"),
            ExperimentMeasure::ReadLatencyS
            | ExperimentMeasure::WriteLatencyS
            | ExperimentMeasure::LogWriteS
            | ExperimentMeasure::LogSyncS => show_time_ns(value * 1e9),
            ExperimentMeasure::FallS | ExperimentMeasure::SettledS => format!("{value:.0} s"),
            ExperimentMeasure::BytesPerS | ExperimentMeasure::RedoBytesPerS => {
                format!("{}/s", show_bytes(value))
            }
            ExperimentMeasure::ReadsBelow1ms | ExperimentMeasure::ReadsBelow2ms => {
                format!("{:.1}%", 100.0 * value)
            }
            ExperimentMeasure::DbCpus => format!("{value:.1} CPUs"),
            _ => format!("{}/s", show_count(value)),
        }
    }
}
