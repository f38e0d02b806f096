//! Whether a short run separates a number from its limit: noise that lasts as long as the run does
//! not show in it.

use assay_model::Estimate;
use assay_model::verdict::{Bias, Doubt};

/// Runs of this length decide by their interval, s.
pub const LONG_ENOUGH_S: f64 = 60.0;
/// How many times wider than the interval a short run must be clear of the limit: this at least …
const TIMES_MIN: f64 = 1.65;
/// … and one more for this time over its length, s.
const SLOWEST_S: f64 = 18.0;

/// Whether a run is too short to say on which side of a limit the number lies that its interval
/// leaves on one.
///
/// How often a limit half a percent on the wrong side of the truth is passed, in percent of 4,000
/// series of seconds that vary by 4%, by the interval alone and by this rule:
///
/// | noise | 8 s | 15 s | 30 s |
/// | --- | --- | --- | --- |
/// | memory of 2 s | 1.4, 0.0 | 0.8, 0.0 | 0.4, 0.0 |
/// | memory of 10 s | 8.0, 0.9 | 5.7, 1.5 | 3.0, 1.2 |
/// | memory of 14 s | 10.3, 1.6 | 6.6, 2.3 | 4.0, 1.9 |
/// | memory of 14 s under as much white noise | 3.5, 0.0 | 4.7, 0.1 | 6.0, 1.5 |
pub fn is_near_limit(limit: f64, estimate: &Estimate, elapsed_s: f64) -> bool {
    if elapsed_s >= LONG_ENOUGH_S || elapsed_s <= 0.0 || !estimate.has_interval() {
        return false;
    }
    let times = widening(elapsed_s);
    let Estimate { value, low, high, .. } = *estimate;
    // The ends of a rate lie at e^±h times the value (intervals-and-quantiles.md), so the interval
    // is widened on the scale of logarithms: its lower end stays above 0.
    let farther = |end: f64| if value > 0.0 { value * (end / value).powf(times) } else { end };
    // A limit within the interval itself is undecided for runs of any length.
    (farther(low)..=farther(high)).contains(&limit) && !(low..=high).contains(&limit)
}

/// How many times wider than its interval a run of this length must be clear of a limit; 1 from
/// [`LONG_ENOUGH_S`] on.
pub(crate) fn widening(elapsed_s: f64) -> f64 {
    if elapsed_s < LONG_ENOUGH_S { (1.0 + SLOWEST_S / elapsed_s).max(TIMES_MIN) } else { 1.0 }
}

/// What undoes a verdict of such a run.
pub(crate) fn doubt(elapsed_s: f64) -> Doubt {
    Doubt {
        what: format!(
            "{elapsed_s:.0} s are too short for a verdict so close to the limit: slow changes are \
             not visible"
        ),
        bias: Bias::Unknown,
        remedy: format!("measure for {LONG_ENOUGH_S:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::mean;
    use assay_model::number::real_len;
    use assay_stats::random::Random;

    /// Seconds that vary by 4% around 1: a part `white` of the variance without memory, the rest
    /// with one of `memory_s`.
    fn seconds(random: &mut Random, n: usize, memory_s: f64, white: f64) -> Vec<f64> {
        let kept = (-1.0 / memory_s).exp();
        let mut slow = random.normal();
        let mut second = || {
            let noise = (1.0 - white).sqrt() * slow + white.sqrt() * random.normal();
            slow = kept * slow + (1.0 - kept * kept).sqrt() * random.normal();
            (0.04 * noise - 0.0008).exp()
        };
        (0..n).map(|_| second()).collect()
    }

    #[test]
    fn limits_that_are_missed_by_little_pass_rarely_however_short_the_run() {
        let trials = 4000;
        let limit = 1.005;
        for n in [8, 10, 15, 20, 30, 40, 59, 60] {
            for (memory_s, white) in
                [(2.0, 0.0), (10.0, 0.0), (14.0, 0.0), (10.0, 0.5), (14.0, 0.5)]
            {
                let mut random = Random::part(71, n);
                let passed = (0..trials).filter(|_| {
                    let rows = usize::try_from(n).unwrap();
                    let Ok(found) = mean(&seconds(&mut random, rows, memory_s, white), 1.0) else {
                        return false;
                    };
                    found.low >= limit && !is_near_limit(limit, &found, real_len(rows))
                });
                let share = 100.0 * real_len(passed.count()) / f64::from(trials);
                println!("{n} s, memory {memory_s} s, {white} white: {share:.1}% passed");
                // Three standard errors of 4,000 trials are 0.7.
                assert!(share <= 3.2, "{n} s, memory {memory_s} s, {white} white: {share}%");
            }
        }
    }

    #[test]
    fn a_limit_far_from_a_short_run_and_any_of_a_long_one_are_left_alone() {
        let run = Estimate { value: 100.0, low: 95.0, high: 105.0, confidence: 0.95, n: 8 };
        let near = |limit, elapsed_s| is_near_limit(limit, &run, elapsed_s);
        assert!(near(90.0, 10.0) && near(108.0, 10.0) && near(106.0, 59.0));
        assert!(!near(85.0, 10.0) && !near(116.0, 10.0) && !near(106.0, 60.0));
        // That the limit lies inside the interval is another reason.
        assert!(!near(101.0, 10.0));
        let least = Estimate { high: f64::INFINITY, ..run };
        assert!(!is_near_limit(200.0, &least, 10.0) && is_near_limit(94.0, &least, 10.0));
    }
}
