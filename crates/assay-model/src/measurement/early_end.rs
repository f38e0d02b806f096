//! Early end of a load whose outcome is certain.

use crate::number::real;
use crate::units::{show_bytes, show_count};
use crate::verdict::{Limit, Outcome};
use serde::{Deserialize, Serialize};

/// With a 2.5% probability, no burst occurs in this many mean gaps between bursts: -ln 0.025.
const GAPS_SEEN: f64 = 3.7;

/// Statistic compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EarlyNumber {
    /// Mean of one-second values, in the unit of the limit.
    Mean,
    /// The quantity as defined by a calibration.
    Quantity,
    /// Share of I/Os slower than the limit, 0..=1.
    ShareBeyond,
}

/// Values of one criterion at the deciding check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EarlyDecision {
    /// Quantity of the criterion.
    pub quantity: String,
    /// Stream or target; absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Limit of the criterion, in base units.
    pub limit: Limit,
    /// Statistic of `value`, `low` and `high`.
    pub number: EarlyNumber,
    /// Value over the seconds up to the decision.
    pub value: f64,
    /// Lower bound of the values not excluded by this check, including its margin.
    pub low: f64,
    /// Upper bound; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Reason and time of an early end; totals if several loads share it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EarlyEnd {
    /// Certain outcome: PASS or FAIL.
    pub outcome: Outcome,
    /// Duration of the load at the deciding check, s.
    pub look_s: f64,
    /// Planned duration of the load, s.
    pub planned_s: f64,
    /// I/Os completed up to the decision.
    pub ios: u64,
    /// Bytes transferred up to the decision.
    pub bytes: u64,
    /// Deciding criteria: one that failed, or all that passed.
    pub decisions: Vec<EarlyDecision>,
}

impl EarlyEnd {
    /// Sentence with the time of the end and the data measured up to then.
    pub fn headline(&self) -> String {
        let Self { outcome, look_s, planned_s, ios, bytes, .. } = self;
        let (ios, bytes) = (show_count(real(*ios)), show_bytes(real(*bytes)));
        let name = outcome.name();
        format!(
            "decided after {look_s:.0} s of {planned_s:.0} s: {name} for the first {look_s:.0} s, \
             {ios} I/Os, {bytes}"
        )
    }

    /// Sentence on the limits of the data.
    pub fn not_excluded(&self) -> String {
        if self.outcome == Outcome::Fail {
            return "a start that stays slow for longer is not excluded".to_owned();
        }
        let reserve = "a reserve that lasts longer is not excluded";
        if self.decisions.iter().all(|one| one.number == EarlyNumber::Mean) {
            return reserve.to_owned();
        }
        let gap_s = self.look_s / GAPS_SEEN;
        format!("{reserve}; bursts more than {gap_s:.0} s apart are not excluded")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(outcome: Outcome, number: EarlyNumber) -> EarlyEnd {
        let decision = EarlyDecision {
            quantity: "read.response_time.q0.99".to_owned(),
            subject: None,
            limit: Limit::AtMost(1e6),
            number,
            value: 0.001,
            low: 0.0005,
            high: Some(0.002),
        };
        let decisions = vec![decision];
        let (look_s, planned_s) = (40.0, 60.0);
        EarlyEnd { outcome, look_s, planned_s, ios: 3_100_000, bytes: 25 << 30, decisions }
    }

    #[test]
    fn a_pass_names_what_it_does_not_exclude() {
        let early = end(Outcome::Pass, EarlyNumber::ShareBeyond);
        assert_eq!(
            early.headline(),
            "decided after 40 s of 60 s: PASS for the first 40 s, 3,100,000 I/Os, 25.0 GiB"
        );
        assert_eq!(
            early.not_excluded(),
            "a reserve that lasts longer is not excluded; bursts more than 11 s apart are not \
             excluded"
        );
        let of_rate = end(Outcome::Pass, EarlyNumber::Mean);
        assert_eq!(of_rate.not_excluded(), "a reserve that lasts longer is not excluded");
        assert!(end(Outcome::Fail, EarlyNumber::Mean).not_excluded().contains("slow for longer"));
    }
}
