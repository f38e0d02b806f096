//! Whether a calibration fails so clearly that the rest of it changes nothing.

use crate::facts::Facts;
use crate::quantity::CriterionQuantity;
use crate::rules::CriteriaRules;
use assay_model::Estimate;
use assay_model::calibration::Calibration;
use assay_model::environment::Environment;
use assay_model::measurement::{EarlyDecision, EarlyNumber};
use assay_model::verdict::{Judgement, Limit, Outcome};
use assay_stats::sequential::{LOOKS, widening};

/// A mix whose time is shorter than a look by less than this has had its look, s.
const LOOK_SLACK_S: f64 = 1.0;

/// The first criterion of a calibration that certainly fails; `load_s` is the time of the last of
/// its mixes.
///
/// It must fail by the verdict, by the margin of the last look that its time reached, and by its
/// interval widened to the level of that look. Cold starts, falls and drifts are found by the
/// calibration itself.
pub fn certain_failure(
    rules: &CriteriaRules,
    calibration: &Calibration,
    environment: Option<&Environment>,
    load_s: f64,
) -> Option<EarlyDecision> {
    let reached = |time_s: usize| assay_model::number::real_len(time_s) <= load_s + LOOK_SLACK_S;
    let look = LOOKS.iter().rfind(|look| reached(look.time_s))?;
    let calibrated = rules
        .rules()
        .iter()
        .filter(|rule| matches!(rule.quantity, CriterionQuantity::Calibrated { .. }));
    let widening = widening(calibrated.count());
    let verdict = rules.judge(&Facts {
        calibration: Some(calibration),
        run: None,
        load: None,
        dss: None,
        integrity: None,
        given: &[],
        environment,
        doubts: &[],
    });
    let mut failed =
        verdict.judgements.iter().filter(|judgement| judgement.outcome == Outcome::Fail);
    failed.find_map(|judgement| {
        let estimate = judgement.evidence.estimate?;
        let reach = FailureReach::new(&estimate, judgement.limit);
        let is_far =
            reach.distance > look.rate_margin_share && reach.distance > widening * reach.half;
        is_far.then(|| decision(judgement, &estimate))
    })
}

/// How far a number lies on the bad side of its limit, and its interval reaches back to it, both
/// on the scale of logarithms.
struct FailureReach {
    distance: f64,
    half: f64,
}

impl FailureReach {
    fn new(estimate: &Estimate, limit: Limit) -> Self {
        let Estimate { value, low, high, .. } = *estimate;
        match limit {
            // Of a rate that may be nothing at all only its upper end is known.
            Limit::AtLeast(least) if value <= 0.0 => {
                Self { distance: (least / high).ln(), half: 0.0 }
            }
            Limit::AtLeast(least) => {
                Self { distance: (least / value).ln(), half: (high / value).ln() }
            }
            Limit::AtMost(most) => Self { distance: (value / most).ln(), half: (value / low).ln() },
        }
    }
}

fn decision(judgement: &Judgement, estimate: &Estimate) -> EarlyDecision {
    EarlyDecision {
        quantity: judgement.quantity.clone(),
        subject: judgement.subject.clone(),
        limit: judgement.limit,
        number: EarlyNumber::Quantity,
        value: estimate.value,
        low: estimate.low,
        high: Some(estimate.high).filter(|high| high.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { low, high, ..Estimate::exact(value, 30) }
    }

    #[test]
    fn the_distance_is_that_of_the_value_and_the_reach_that_towards_the_limit() {
        let rate = FailureReach::new(&estimate(1000.0, 1500.0, 1600.0), Limit::AtLeast(3000.0));
        assert!((rate.distance - 2.0f64.ln()).abs() < 1e-12);
        assert!((rate.half - (16.0f64 / 15.0).ln()).abs() < 1e-12);
        let time = FailureReach::new(&estimate(3e6, 4e6, f64::INFINITY), Limit::AtMost(1e6));
        assert!((time.distance - 4.0f64.ln()).abs() < 1e-12);
        assert!((time.half - (4.0f64 / 3.0).ln()).abs() < 1e-12);
        let none = FailureReach::new(&estimate(0.0, 0.0, 300.0), Limit::AtLeast(3000.0));
        assert!((none.distance - 10.0f64.ln()).abs() < 1e-12);
        let never = FailureReach::new(&estimate(0.0, 0.0, 0.0), Limit::AtLeast(3000.0));
        assert!(never.distance.is_infinite() && never.half < 1e-12);
    }
}
