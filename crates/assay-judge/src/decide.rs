//! The rule: from a limit and the evidence to an outcome and its reason.

use crate::found::{KnownNumber, ShortRun};
use assay_model::Estimate;
use assay_model::verdict::{Bias, Evidence, Limit, Outcome, Reason};

/// Beyond this many times the measured time, measuring longer is not worth advising.
const LONGER_MAX: f64 = 1000.0;

/// On which side of the limit an interval lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecidedSide {
    Good,
    Bad,
    Both,
}

/// Judges one quantity that was measured.
pub(crate) fn decide(limit: Limit, estimate: &Estimate, evidence: &Evidence) -> (Outcome, Reason) {
    let doubtful = |bias: Bias| {
        let against = |found: Bias| found == bias || found == Bias::Unknown;
        evidence.doubts.iter().any(|doubt| against(doubt.bias))
    };
    match side(limit, estimate) {
        DecidedSide::Good if doubtful(Bias::Flattering) => {
            (Outcome::Inconclusive, Reason::Doubtful)
        }
        DecidedSide::Bad if doubtful(Bias::Unflattering) => {
            (Outcome::Inconclusive, Reason::Doubtful)
        }
        // What has no upper end says by its doubt why not; no distance to the limit says how much
        // longer to measure.
        DecidedSide::Both if estimate.is_at_least() => (Outcome::Inconclusive, Reason::Doubtful),
        DecidedSide::Good => (Outcome::Pass, Reason::Clear),
        DecidedSide::Bad => (Outcome::Fail, Reason::Clear),
        DecidedSide::Both => {
            let enough_s = enough_s(limit.value(), estimate, evidence.elapsed_s);
            (Outcome::Inconclusive, Reason::Straddles { enough_s })
        }
    }
}

/// Judges a number that was measured: a quantile without an upper end passes where the mean of all
/// times bounds it below the limit, and is doubtful elsewhere.
pub(crate) fn decide_known(limit: Limit, known: &mut KnownNumber) -> (Outcome, Reason) {
    if let Some(tail) = known.tail.take() {
        let bounded =
            Estimate { high: tail.highest_ns.max(known.estimate.value), ..known.estimate };
        if let (Outcome::Pass, _) = decide(limit, &bounded, &known.evidence) {
            return (Outcome::Pass, Reason::BoundedByMean { highest_value: bounded.high });
        }
        known.evidence.doubts.push(tail.doubt);
    }
    decide(limit, &known.estimate, &known.evidence)
}

/// Judges what was measured for too short a time for an interval: only a limit that is far from all
/// of it decides.
pub(crate) fn decide_short(limit: Limit, seen: &ShortRun) -> Option<(Outcome, Reason)> {
    let (low, high) = seen.bounds;
    let bounds = Estimate { low, high, ..seen.known.estimate };
    if side(limit, &bounds) == DecidedSide::Both {
        return None;
    }
    let far =
        Reason::FarFromLimit { lowest_value: seen.lowest_value, highest_value: seen.highest_value };
    match decide(limit, &bounds, &seen.known.evidence) {
        (outcome, Reason::Clear) => Some((outcome, far)),
        doubtful => Some(doubtful),
    }
}

/// Whether a number without an interval lies on the bad side of a limit.
pub(crate) fn is_broken(limit: Limit, value: f64) -> bool {
    side(limit, &Estimate::exact(value, 1)) == DecidedSide::Bad
}

/// The limit itself belongs to the good side.
fn side(limit: Limit, estimate: &Estimate) -> DecidedSide {
    let (good, bad) = match limit {
        Limit::AtMost(most) => (estimate.high <= most, estimate.low > most),
        Limit::AtLeast(least) => (estimate.low >= least, estimate.high < least),
    };
    match (good, bad) {
        (true, _) => DecidedSide::Good,
        (_, true) => DecidedSide::Bad,
        (false, false) => DecidedSide::Both,
    }
}

/// Measured time in all after which the interval no longer reaches the limit, s: widths shrink with
/// the square root of time, so the time needed grows with the square of how far the interval
/// reaches beyond the limit.
fn enough_s(limit: f64, estimate: &Estimate, elapsed_s: f64) -> Option<f64> {
    let distance = (limit - estimate.value).abs();
    let reach = if limit > estimate.value {
        estimate.high - estimate.value
    } else {
        estimate.value - estimate.low
    };
    let longer = (reach / distance).powi(2);
    (elapsed_s > 0.0 && longer <= LONGER_MAX).then_some(elapsed_s * longer.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::verdict::Doubt;
    use proptest::prelude::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, confidence: 0.95, n: 30 }
    }

    fn evidence(biases: &[Bias]) -> Evidence {
        let doubt = |bias: &Bias| Doubt { what: String::new(), bias: *bias, remedy: String::new() };
        let doubts = biases.iter().map(doubt).collect();
        Evidence { elapsed_s: 60.0, doubts, ..Evidence::default() }
    }

    fn outcome(limit: Limit, (low, high): (f64, f64), biases: &[Bias]) -> Outcome {
        let middle = f64::midpoint(low, high);
        decide(limit, &estimate(low, middle, high), &evidence(biases)).0
    }

    #[test]
    fn the_whole_interval_decides() {
        let (most, least) = (Limit::AtMost(20.0), Limit::AtLeast(20.0));
        let table = [
            ((10.0, 19.0), Outcome::Pass, Outcome::Fail),
            ((10.0, 20.0), Outcome::Pass, Outcome::Inconclusive),
            ((20.0, 30.0), Outcome::Inconclusive, Outcome::Pass),
            ((20.5, 30.0), Outcome::Fail, Outcome::Pass),
            ((19.0, 21.0), Outcome::Inconclusive, Outcome::Inconclusive),
            ((20.0, 20.0), Outcome::Pass, Outcome::Pass),
        ];
        for (interval, at_most, at_least) in table {
            assert_eq!(outcome(most, interval, &[]), at_most, "{interval:?}");
            assert_eq!(outcome(least, interval, &[]), at_least, "{interval:?}");
        }
    }

    #[test]
    fn a_doubt_undoes_only_what_it_could_have_caused() {
        let limit = Limit::AtMost(20.0);
        let table = [
            (Bias::Flattering, Outcome::Inconclusive, Outcome::Fail),
            (Bias::Unflattering, Outcome::Pass, Outcome::Inconclusive),
            (Bias::Unknown, Outcome::Inconclusive, Outcome::Inconclusive),
        ];
        for (bias, below, above) in table {
            assert_eq!(outcome(limit, (1.0, 2.0), &[bias]), below, "{bias:?}");
            assert_eq!(outcome(limit, (30.0, 31.0), &[bias]), above, "{bias:?}");
        }
        let reason = decide(limit, &estimate(1.0, 1.0, 1.0), &evidence(&[Bias::Unknown])).1;
        assert_eq!(reason, Reason::Doubtful);
    }

    #[test]
    fn time_enough_grows_with_the_square_of_the_reach() {
        let straddle = |low, value, high| match decide(
            Limit::AtMost(20.0),
            &estimate(low, value, high),
            &evidence(&[]),
        )
        .1
        {
            Reason::Straddles { enough_s } => enough_s,
            _ => panic!("does not straddle"),
        };
        assert_eq!(straddle(10.0, 18.0, 22.0).map(f64::round), Some(240.0));
        assert_eq!(straddle(18.0, 21.0, 22.0).map(f64::round), Some(540.0));
        assert_eq!(straddle(19.0, 20.0, 21.0), None);
        assert_eq!(straddle(0.0, 19.99, 40.0), None);
    }

    proptest! {
        #[test]
        fn at_most_and_at_least_never_fail_both(low in 0.0f64..100.0, width in 0.0f64..50.0, limit in 0.0f64..100.0) {
            let interval = (low, low + width);
            let both = (outcome(Limit::AtMost(limit), interval, &[]), outcome(Limit::AtLeast(limit), interval, &[]));
            prop_assert_ne!(both, (Outcome::Fail, Outcome::Fail));
            if both.0 == Outcome::Fail {
                prop_assert_eq!(both.1, Outcome::Pass);
            }
        }

        #[test]
        fn a_narrower_interval_never_turns_a_verdict_around(low in 0.0f64..100.0, width in 0.0f64..50.0, limit in 0.0f64..100.0) {
            let wide = outcome(Limit::AtMost(limit), (low, low + width), &[]);
            let narrow = outcome(Limit::AtMost(limit), (low + width * 0.25, low + width * 0.75), &[]);
            prop_assert!(wide == narrow || wide == Outcome::Inconclusive);
        }
    }
}
