//! A prediction compared with what was measured after the move, and the errors of many of them.

use super::ProjectionAnswer;
use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// All predictions for the load of one run, each from another run before it: the document
/// `verification.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verifications {
    /// Version of the document format: 1.
    pub format: u32,
    /// One a run before and calibration.
    pub pairs: Vec<Verification>,
}

/// Predictions for a load compared with measurements of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// The run before.
    pub before: String,
    /// The run after.
    pub after: String,
    /// The calibration that the prediction was made with.
    pub calibration: String,
    /// The product.
    pub product: String,
    /// Whether nothing is learnt from it: it tests what others taught.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
    /// The model's own error that the intervals hold, as a standard deviation of the logarithm of
    /// throughput.
    pub model_deviation: f64,
    /// One a number of sessions that both runs have.
    pub cases: Vec<VerificationCase>,
    /// Numbers of sessions without an answer, and why there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<UnansweredStep>,
}

/// A step of the run after that could not be compared with a prediction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnansweredStep {
    /// Sessions of the step.
    pub sessions: u32,
    /// Why it has no answer, one finding a sentence.
    pub reasons: Vec<String>,
}

/// One prediction and its measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerificationCase {
    /// Sessions.
    pub sessions: u32,
    /// How far it was answered.
    pub answer: ProjectionAnswer,
    /// Units of work a second, predicted.
    pub predicted_per_s: Estimate,
    /// The same, measured.
    pub measured_per_s: f64,
    /// Share of DB time in reads, predicted.
    pub predicted_read_share: f64,
    /// The same, measured.
    pub measured_read_share: f64,
    /// What scaling the read wait by the latency of one read would have said, units of work a
    /// second.
    pub amdahl_per_s: f64,
    /// What the curve at the number of sessions would have said, units of work a second.
    pub lookup_per_s: f64,
    /// Share of the host's processors that others kept busy meanwhile, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_busy_share: Option<f64>,
    /// Share of the sessions' time in which the server was ready and waited for a processor, where
    /// it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_queue_share: Option<f64>,
}

/// Above this share of their time sessions that wait for a processor are disturbed, by whomever.
const CPU_QUEUE_MAX: f64 = 0.05;
/// Where that is not known, others disturb above this share of the host's processors: a tenth of
/// one of two.
const OTHERS_MAX: f64 = 0.05;

impl VerificationCase {
    /// Whether other programs disturbed the measurement: it is shown, and not counted. What counts
    /// is whether sessions had to wait for them: programs of low priority may keep every
    /// processor busy and disturb nobody.
    pub fn is_noisy(&self) -> bool {
        let others = self.others_busy_share.is_some_and(|busy| busy > OTHERS_MAX);
        self.cpu_queue_share.map_or(others, |queue| queue > CPU_QUEUE_MAX)
    }

    /// Logarithm of measured over predicted, and the standard deviation that the inputs alone gave
    /// the prediction, where the interval holds a model's error of `model_deviation`.
    pub fn residual(&self, model_deviation: f64) -> (f64, f64) {
        let predicted = &self.predicted_per_s;
        let whole = (predicted.high / predicted.low).ln() / (2.0 * 1.96);
        let inputs = (whole.powi(2) - model_deviation.powi(2)).max(0.0).sqrt();
        ((self.measured_per_s / predicted.value).ln(), inputs)
    }

    /// Predicted over measured, less 1.
    pub fn error(&self) -> f64 {
        self.predicted_per_s.value / self.measured_per_s - 1.0
    }

    /// Whether the interval holds what was measured.
    pub fn is_covered(&self) -> bool {
        self.predicted_per_s.covers(self.measured_per_s)
    }

    /// Whether it was answered and can be counted.
    pub fn is_answered(&self) -> bool {
        self.answer == ProjectionAnswer::Answered && self.measured_per_s > 0.0
    }
}

/// The errors of many predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ErrorSummary {
    /// Predictions that were answered.
    pub n: usize,
    /// Median of the errors' sizes.
    pub median_error: f64,
    /// The largest size of an error.
    pub worst_error: f64,
    /// Share of errors of at most 15%.
    pub within_share: f64,
    /// Share of predictions whose share of reads in DB time is within 10 points of the measured
    /// one.
    pub reads_within_share: f64,
    /// Share of intervals that hold what was measured.
    pub covered_share: f64,
    /// Share of predictions that are closer than scaling the read wait.
    pub better_than_amdahl_share: f64,
    /// Share of predictions that are closer than a look-up in the curve.
    pub better_than_lookup_share: f64,
}

impl ErrorSummary {
    /// Of all answered ones; `None` of none.
    pub fn of<'a>(cases: impl IntoIterator<Item = &'a VerificationCase>) -> Option<Self> {
        let cases: Vec<&VerificationCase> =
            cases.into_iter().filter(|case| case.is_answered()).collect();
        let mut errors: Vec<f64> = cases.iter().map(|case| case.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        let middle = errors.len() / 2;
        let median_error = match errors.len() {
            0 => return None,
            n if n % 2 == 1 => errors[middle],
            _ => f64::midpoint(errors[middle - 1], errors[middle]),
        };
        let share = |holds: &dyn Fn(&VerificationCase) -> bool| {
            let held = cases.iter().filter(|case| holds(case)).count();
            crate::number::real_len(held) / crate::number::real_len(cases.len())
        };
        let closer = |case: &VerificationCase, other_per_s: f64| {
            case.error().abs() <= (other_per_s / case.measured_per_s - 1.0).abs()
        };
        Some(Self {
            n: cases.len(),
            median_error,
            worst_error: errors[errors.len() - 1],
            within_share: share(&|case| case.error().abs() <= 0.15),
            reads_within_share: share(&|case| {
                (case.predicted_read_share - case.measured_read_share).abs() <= 0.10
            }),
            covered_share: share(&VerificationCase::is_covered),
            better_than_amdahl_share: share(&|case| closer(case, case.amdahl_per_s)),
            better_than_lookup_share: share(&|case| closer(case, case.lookup_per_s)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(predicted: f64, measured: f64) -> VerificationCase {
        VerificationCase {
            sessions: 8,
            answer: ProjectionAnswer::Answered,
            predicted_per_s: Estimate {
                value: predicted,
                low: 0.9 * predicted,
                high: 1.1 * predicted,
                confidence: 0.95,
                n: 1,
            },
            measured_per_s: measured,
            predicted_read_share: 0.5,
            measured_read_share: 0.5,
            amdahl_per_s: 1.5 * measured,
            lookup_per_s: measured,
            others_busy_share: None,
            cpu_queue_share: None,
        }
    }

    #[test]
    fn errors_are_summed_over_what_was_answered() {
        let refused = VerificationCase { answer: ProjectionAnswer::Refused, ..case(1.0, 100.0) };
        let cases = [case(100.0, 100.0), case(105.0, 100.0), case(120.0, 100.0), refused];
        let found = ErrorSummary::of(&cases).unwrap();
        assert_eq!(found.n, 3);
        assert!((found.median_error - 0.05).abs() < 1e-12);
        assert!((found.worst_error - 0.2).abs() < 1e-12);
        assert!((found.within_share - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.covered_share - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.better_than_amdahl_share - 1.0).abs() < 1e-12);
        assert!((found.better_than_lookup_share - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(ErrorSummary::of([]), None);
    }
}
