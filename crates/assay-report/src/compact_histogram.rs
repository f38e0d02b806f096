//! The times of a column in as little memory as they need: values with their counts, ascending.

use assay_model::Histogram;
use assay_model::number::real;

/// Times with the precision of a coarse histogram (0.8%).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompactHistogram {
    /// Middle of a bucket, ns, and how many times lay in it.
    counts: Vec<(u64, u64)>,
    /// Exact, unlike the buckets.
    max_ns: u64,
}

impl CompactHistogram {
    /// The times of a coarse histogram.
    pub(crate) fn of(histogram: &Histogram) -> Self {
        let middle = |(lowest, width, ios): (u64, u64, u64)| (lowest + (width - 1) / 2, ios);
        Self { counts: histogram.buckets().map(middle).collect(), max_ns: histogram.max_ns() }
    }

    /// Number of times.
    pub(crate) fn ios(&self) -> u64 {
        self.counts.iter().map(|(_, ios)| ios).sum()
    }

    /// The longest time, ns; exact.
    pub(crate) const fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Values and counts, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().copied()
    }

    /// The time within which a share `quantile` (0..=1) of the I/Os completed, by nearest rank, ns;
    /// `None` of none.
    pub(crate) fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let rank = (quantile * real(self.ios())).ceil().max(1.0);
        let mut below = 0;
        let reached = self.counts.iter().find(|(_, ios)| {
            below += ios;
            real(below) >= rank
        });
        reached.map(|(value, _)| (*value).min(self.max_ns))
    }

    /// Adds other times.
    pub(crate) fn merge(&mut self, other: &Self) {
        let (mine, theirs) = (std::mem::take(&mut self.counts), &other.counts);
        let mut merged = Vec::with_capacity(mine.len().max(theirs.len()));
        let (mut left, mut right) =
            (mine.into_iter().peekable(), theirs.iter().copied().peekable());
        while let (Some(one), Some(two)) = (left.peek().copied(), right.peek().copied()) {
            let from_left = one.0 <= two.0;
            let from_right = two.0 <= one.0;
            merged.push((
                one.0.min(two.0),
                one.1 * u64::from(from_left) + two.1 * u64::from(from_right),
            ));
            left.next_if(|_| from_left);
            right.next_if(|_| from_right);
        }
        merged.extend(left);
        merged.extend(right);
        self.counts = merged;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Precision;
    use proptest::prelude::*;

    fn histogram(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::new(Precision::Coarse);
        for time in times {
            histogram.record(*time);
        }
        histogram
    }

    proptest! {
        #[test]
        fn merged_times_are_those_of_the_merged_histogram(
            left in prop::collection::vec(0u64..10_000_000, 0..50),
            right in prop::collection::vec(0u64..10_000_000, 0..50),
            quantile in 0.0f64..=1.0,
        ) {
            let mut times = CompactHistogram::of(&histogram(&left));
            times.merge(&CompactHistogram::of(&histogram(&right)));
            let all = histogram(&[left, right].concat());
            prop_assert_eq!(&times, &CompactHistogram::of(&all));
            let expected = (!all.is_empty()).then(|| all.quantile_ns(quantile));
            // The histogram also keeps the smallest value and never answers below it.
            prop_assert_eq!(times.quantile_ns(quantile).map(|time| time.max(all.min_ns())), expected);
        }
    }
}
