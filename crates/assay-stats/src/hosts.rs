//! Hosts that were observed at the same times: their sum, how evenly they share it, and which of
//! them lags behind.
//!
//! Hosts that share a storage system share its stalls, so that hosts times seconds are not as many
//! independent observations. What is said of their sum rests on the series of the sum, in which the
//! covariance is; what is said of one of them rests on its ratio to the others at the same times,
//! from which shared stalls cancel.

use crate::estimate::IntervalEstimate;
use crate::mean::ratio_interval;
use assay_model::number::real_len;

/// On which side of the others a host is remarkable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostsLimit {
    /// Its ratio to the others lies below this, as a rate that is too low does.
    Below(f64),
    /// Its ratio to the others lies above this, as a time that is too long does.
    Above(f64),
}

/// A host that differs from the others by more than a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StragglerHost {
    /// Its place among the series.
    pub host: usize,
    /// Its value over the median of the other hosts at the same times; at the confidence at which
    /// it was found.
    pub ratio: IntervalEstimate,
}

/// The sum over all hosts at each time; as long as the shortest series.
pub fn sums(series: &[Vec<f64>]) -> Vec<f64> {
    times(series).map(|at| series.iter().map(|host| host[at]).sum()).collect()
}

/// Jain's index of fairness, (Σx)² / (n Σx²): 1 where all hosts have the same, 1/n where one has
/// everything.
///
/// (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984.) It is nearly blind to one slow host among many:
/// 0.970 where one of eight has half. `None` of no hosts, or where none has anything.
pub fn fairness(rates: &[f64]) -> Option<f64> {
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let sum: f64 = rates.iter().sum();
    (squares > 0.0).then(|| sum * sum / (real_len(rates.len()) * squares))
}

/// The hosts whose ratio to the median of the others is beyond a limit and certainly not 1, in the
/// order of the series.
///
/// That a host differs from the others must be sure; by how much is then what was seen: an interval
/// that lies wholly beyond the limit would need four times as long a run for a host of 0.85 and a
/// limit of 0.9. In at most `error_share` of runs of hosts that are alike is any of them named:
/// each is tested on one side, and Holm's procedure (Scandinavian Journal of Statistics 6, 1979)
/// holds the share over all of them. The interval of a ratio is that of [`ratio_interval`], which
/// allows for correlation over time. Nothing of fewer than two hosts, or where a series
/// is too short for an interval.
pub fn stragglers(series: &[Vec<f64>], limit: HostsLimit, error_share: f64) -> Vec<StragglerHost> {
    if series.len() < 2 {
        return Vec::new();
    }
    let others = medians_of_others(series);
    let mut found: Vec<StragglerHost> = Vec::new();
    loop {
        let left = real_len(series.len() - found.len());
        let confidence = 1.0 - 2.0 * error_share / left;
        let is_left = |host: &usize| found.iter().all(|straggler| straggler.host != *host);
        let beyond = |host: usize| {
            let own = &series[host][..others[host].len()];
            let ratio = ratio_interval(own, &others[host], confidence)?;
            limit.is_passed_by(&ratio).then_some(StragglerHost { host, ratio })
        };
        let next: Vec<StragglerHost> =
            (0..series.len()).filter(is_left).filter_map(beyond).collect();
        if next.is_empty() || found.len() + next.len() == series.len() {
            found.sort_by_key(|straggler| straggler.host);
            return found;
        }
        found.extend(next);
    }
}

impl HostsLimit {
    /// Whether a ratio lies beyond the limit, and all of its interval beyond 1.
    fn is_passed_by(self, ratio: &IntervalEstimate) -> bool {
        match self {
            Self::Below(limit) => ratio.value < limit && ratio.high < 1.0,
            Self::Above(limit) => ratio.value > limit && ratio.low > 1.0,
        }
    }
}

fn times(series: &[Vec<f64>]) -> std::ops::Range<usize> {
    0..series.iter().map(Vec::len).min().unwrap_or(0)
}

/// For each host, the median of all other hosts at each time.
fn medians_of_others(series: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut others = vec![Vec::with_capacity(times(series).len()); series.len()];
    for at in times(series) {
        let mut order: Vec<usize> = (0..series.len()).collect();
        order.sort_by(|one, other| series[*one][at].total_cmp(&series[*other][at]));
        let ascending: Vec<f64> = order.iter().map(|host| series[*host][at]).collect();
        for (rank, host) in order.iter().enumerate() {
            others[*host].push(median_without(&ascending, rank));
        }
    }
    others
}

/// The median of ascending values without the one at `rank`; of at least two values.
fn median_without(ascending: &[f64], rank: usize) -> f64 {
    let left = ascending.len() - 1;
    let kept = |place: usize| ascending[if place < rank { place } else { place + 1 }];
    0.5 * (kept((left - 1) / 2) + kept(left / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mean_interval;
    use crate::random::Random;
    use assay_model::number::index_of;
    use proptest::prelude::*;

    /// Hosts of mean 100 with noise of their own and noise that all of them share, each of 5% and
    /// with a memory; the first one times `factor`.
    fn hosts(count: usize, length: usize, factor: f64, seed: u64) -> Vec<Vec<f64>> {
        let memory = 0.5_f64;
        let noise = |random: &mut Random| -> Vec<f64> {
            let mut last = random.normal();
            let mut step = || {
                last = memory * last + (1.0 - memory * memory).sqrt() * random.normal();
                last
            };
            (0..length).map(|_| step()).collect()
        };
        let mut random = Random::new(seed);
        let shared = noise(&mut random);
        let host = |place: usize| {
            let own = noise(&mut random);
            let level = if place == 0 { 100.0 * factor } else { 100.0 };
            let both = own.iter().zip(&shared);
            both.map(|(own, shared)| level * (1.0 + 0.05 * own + 0.05 * shared)).collect()
        };
        (0..count).map(host).collect()
    }

    fn slow(series: &[Vec<f64>]) -> Vec<usize> {
        stragglers(series, HostsLimit::Below(0.9), 0.05).iter().map(|found| found.host).collect()
    }

    #[test]
    fn a_host_that_is_15_percent_slower_is_named_and_equal_hosts_are_not() {
        let runs = |factor| (0..100).map(move |seed| slow(&hosts(8, 60, factor, 1 + seed)));
        assert!(runs(0.85).filter(|named| named == &[0]).count() >= 95);
        assert!(runs(1.0).filter(|named| !named.is_empty()).count() <= 5);
    }

    #[test]
    fn the_interval_of_the_sum_keeps_its_promise_where_hosts_share_noise() {
        for count in [8, 64] {
            let truth = 100.0 * real_len(count);
            let (mut of_sum, mut naive) = (0, 0);
            for seed in 0..200 {
                let series = hosts(count, 60, 1.0, 1000 + seed);
                of_sum += usize::from(mean_interval(&sums(&series), 0.95).unwrap().covers(truth));
                let pooled: Vec<f64> =
                    (0..60).flat_map(|at| series.iter().map(move |host| host[at])).collect();
                let spread = (pooled.iter().map(|rate| (rate - 100.0).powi(2)).sum::<f64>()
                    / real_len(pooled.len()))
                .sqrt();
                let mean = pooled.iter().sum::<f64>() / real_len(pooled.len());
                naive += usize::from(
                    (mean - 100.0).abs() < 1.96 * spread / real_len(pooled.len()).sqrt(),
                );
            }
            // Of 200 runs at 95%, fewer than 180 are met by one in a thousand.
            assert!(of_sum >= 180, "{count} hosts: {of_sum} of 200");
            assert!(naive < 140, "{count} hosts: {naive} of 200 naive intervals");
        }
    }

    #[test]
    fn several_slow_hosts_are_all_named() {
        let mut series = hosts(8, 60, 0.5, 3);
        series[5].iter_mut().for_each(|rate| *rate *= 0.7);
        assert_eq!(slow(&series), [0, 5]);
    }

    #[test]
    fn times_that_are_too_long_lie_above() {
        let named = stragglers(&hosts(4, 60, 1.6, 5), HostsLimit::Above(1.25), 0.05);
        assert_eq!(named.iter().map(|found| found.host).collect::<Vec<_>>(), [0]);
        assert!(named[0].ratio.covers(1.6), "{named:?}");
    }

    #[test]
    fn of_two_hosts_the_slower_one_is_named_and_one_host_has_no_others() {
        assert_eq!(slow(&hosts(2, 60, 0.5, 7)), [0]);
        assert_eq!(slow(&hosts(1, 60, 0.5, 7)), [0; 0]);
        assert_eq!(slow(&[vec![1.0], vec![0.1]]), [0; 0]);
    }

    #[test]
    fn fairness_has_the_values_of_its_definition() {
        // Seven hosts of 1 and one of a half: 7.5² / (8 × 7.25).
        let rates = [1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0];
        assert!((fairness(&rates).unwrap() - 56.25 / 58.0).abs() < 1e-15);
        assert!((fairness(&[0.0, 5.0, 0.0, 0.0]).unwrap() - 0.25).abs() < 1e-15);
        assert_eq!((fairness(&[]), fairness(&[0.0])), (None, None));
    }

    proptest! {
        #[test]
        fn a_median_without_one_is_that_of_the_rest(values in prop::collection::vec(-1e3..1e3f64, 2..20), pick in any::<u64>()) {
            let mut ascending = values.clone();
            ascending.sort_by(f64::total_cmp);
            let rank = index_of(pick) % ascending.len();
            let mut rest = ascending.clone();
            rest.remove(rank);
            let middle = rest.len() / 2;
            let expected = if rest.len() % 2 == 1 { rest[middle] } else { 0.5 * (rest[middle - 1] + rest[middle]) };
            prop_assert!((median_without(&ascending, rank) - expected).abs() < 1e-12);
        }
    }
}
