//! A histogram from what other programs print of one: bins, or a few quantiles with count, mean and
//! ends.

use assay_model::histogram::{Histogram, Precision};
use assay_model::number::{count, real};

/// What is known of a distribution of times, ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantileSummary {
    /// How many there are.
    pub ios: u64,
    /// The smallest.
    pub min_ns: f64,
    /// The largest.
    pub max_ns: f64,
    /// Their mean.
    pub mean_ns: f64,
    /// Shares, 0..=1, ascending, with the time that they lie below.
    pub quantiles: Vec<(f64, f64)>,
}

impl QuantileSummary {
    /// A histogram whose count, ends and known quantiles are those given, and whose mean is as near
    /// as they allow.
    ///
    /// Between two known quantiles all times but the last lie at one place, the same share of the
    /// way for all; the mean decides which.
    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new(Precision::Fine);
        if self.ios == 0 {
            return histogram;
        }
        let ends = self.ends();
        let place = self.place(&ends);
        let (mut below, mut from_ns) = (0, self.min_ns);
        for (rank, to_ns) in ends {
            let ios = rank.saturating_sub(below);
            if ios > 0 {
                histogram.record(count(to_ns.round()));
                let between = from_ns + place * (to_ns - from_ns);
                histogram_many(&mut histogram, between, ios - 1);
                (below, from_ns) = (rank, to_ns);
            }
        }
        histogram
    }

    /// Ranks with their times, ascending in both; the last is the largest.
    fn ends(&self) -> Vec<(u64, f64)> {
        let rank = |share: f64| count((share * real(self.ios)).ceil()).clamp(1, self.ios);
        let known = self.quantiles.iter().map(|(share, time_ns)| (rank(*share), *time_ns));
        let mut ends: Vec<(u64, f64)> = Vec::new();
        let mut floor_ns = self.min_ns;
        for (rank, time_ns) in
            std::iter::once((1, self.min_ns)).chain(known).chain([(self.ios, self.max_ns)])
        {
            floor_ns = floor_ns.max(time_ns.min(self.max_ns));
            match ends.last_mut().filter(|last| last.0 >= rank) {
                Some(last) => last.1 = last.1.max(floor_ns),
                None => ends.push((rank, floor_ns)),
            }
        }
        ends
    }

    /// How far between two ends the times lie so that their mean is the known one, 0..=1.
    fn place(&self, ends: &[(u64, f64)]) -> f64 {
        let (mut below, mut from_ns) = (0, self.min_ns);
        let (mut fixed, mut free) = (0.0, 0.0);
        for (rank, to_ns) in ends {
            let ios = real(rank.saturating_sub(below));
            if ios > 0.0 {
                fixed += to_ns + (ios - 1.0) * from_ns;
                free += (ios - 1.0) * (to_ns - from_ns);
                (below, from_ns) = (*rank, *to_ns);
            }
        }
        if free > 0.0 {
            ((self.mean_ns * real(self.ios) - fixed) / free).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

fn histogram_many(histogram: &mut Histogram, time_ns: f64, ios: u64) {
    if ios > 0 {
        histogram.record_many(count(time_ns.round()), ios);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_come_out_as_they_went_in() {
        let known = QuantileSummary {
            ios: 10_000,
            min_ns: 50_000.0,
            max_ns: 9_000_000.0,
            mean_ns: 210_000.0,
            quantiles: vec![(0.5, 160_000.0), (0.9, 270_000.0), (0.99, 900_000.0)],
        };
        let histogram = known.histogram();
        assert_eq!(
            (histogram.ios(), histogram.min_ns(), histogram.max_ns()),
            (10_000, 50_000, 9_000_000)
        );
        assert!((histogram.mean_ns() / 210_000.0 - 1.0).abs() < 0.001, "{}", histogram.mean_ns());
        for (share, time_ns) in known.quantiles {
            let found = real(histogram.quantile_ns(share));
            assert!((found / time_ns - 1.0).abs() < 0.002, "{share}: {found}");
        }
    }

    #[test]
    fn few_or_odd_numbers_do_no_harm() {
        assert!(QuantileSummary::default().histogram().is_empty());
        let one = QuantileSummary {
            ios: 1,
            min_ns: 5.0,
            max_ns: 5.0,
            mean_ns: 5.0,
            quantiles: vec![(0.99, 7.0)],
        };
        assert_eq!(one.histogram().ios(), 1);
        let odd = QuantileSummary {
            ios: 3,
            quantiles: vec![(0.9, 1.0), (0.5, 8.0)],
            max_ns: 4.0,
            ..QuantileSummary::default()
        };
        assert_eq!(odd.histogram().ios(), 3);
    }
}
