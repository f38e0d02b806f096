//! A histogram of times with a fixed relative error and exact merging, in the layout of
//! `HdrHistogram`.
//!
//! Values below 2^(bits+1) have a bucket each; above, every power of two is cut into 2^bits
//! buckets, so a bucket is never wider than 2^-bits of its value. Two histograms of equal precision
//! merge by adding counts, and a fine one becomes a coarse one exactly, because coarse buckets are
//! unions of fine ones.

use crate::number::{count_of, index_of, real, wide_count, wide_real};
pub use packed::PackedHistogram;
pub use reported::ReportedQuantile;
use reported::ReportedQuantiles;

mod codec;
mod packed;
mod reported;

/// A mean that was written as text and read again may lie this far beyond the values.
const ROUNDED_DOWN: f64 = 1.0 - 1e-9;
const ROUNDED_UP: f64 = 1.0 + 1e-9;

/// How finely a histogram tells values apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Buckets of at most 0.1% of their value (three significant digits): totals and joints.
    #[default]
    Fine,
    /// Buckets of at most 0.8% of their value (two significant digits): the one-second intervals of
    /// long runs.
    Coarse,
}

impl Precision {
    /// Buckets an octave, as a power of two.
    #[inline]
    const fn bits(self) -> u32 {
        match self {
            Self::Fine => 10,
            Self::Coarse => 7,
        }
    }

    /// Significant decimal digits, as `HdrHistogram` names precision.
    pub const fn digits(self) -> u32 {
        match self {
            Self::Fine => 3,
            Self::Coarse => 2,
        }
    }
}

/// Counts of values in nanoseconds (any `u64`), with exact count, minimum, maximum and sum.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    precision: Precision,
    counts: Vec<u64>,
    ios: u64,
    sum: u128,
    min: u64,
    max: u64,
    reported: Option<ReportedQuantiles>,
    /// Shares whose quantiles are known; all of them where there is no list.
    known_shares: Option<Box<[f64]>>,
}

impl PartialEq for Histogram {
    /// Equal when every bucket holds the same count; room kept for later values does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.precision == other.precision
            && self.ios == other.ios
            && self.buckets().eq(other.buckets())
            && self.reported() == other.reported()
            && self.known_shares == other.known_shares
    }
}

/// The octave's shift and the bucket of a value: branch-free, so that recording costs a few
/// nanoseconds.
#[inline]
const fn bucket(value: u64, bits: u32) -> u64 {
    let lowest = (1 << (bits + 1)) - 1;
    let shift = (value | lowest).ilog2() - bits;
    ((shift as u64) << bits) + (value >> shift)
}

/// The smallest value of a bucket and the bucket's width.
const fn bounds(bucket: u64, bits: u32) -> (u64, u64) {
    if bucket < 1 << (bits + 1) {
        return (bucket, 1);
    }
    let shift = (bucket >> bits) - 1;
    ((bucket - (shift << bits)) << shift, 1 << shift)
}

impl Histogram {
    /// An empty histogram; memory grows with the largest value, to 430 KiB at the very most when
    /// fine.
    pub const fn new(precision: Precision) -> Self {
        Self {
            precision,
            counts: Vec::new(),
            ios: 0,
            sum: 0,
            min: 0,
            max: 0,
            reported: None,
            known_shares: None,
        }
    }

    /// How finely values are told apart.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Counts one value, in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_many(value_ns, 1);
    }

    /// Counts a value `ios` times.
    #[inline]
    pub fn record_many(&mut self, value_ns: u64, ios: u64) {
        let index = index_of(bucket(value_ns, self.precision.bits()));
        if index >= self.counts.len() {
            self.grow(index);
        }
        self.counts[index] += ios;
        self.min = if self.ios == 0 { value_ns } else { self.min.min(value_ns) };
        self.max = self.max.max(value_ns);
        self.ios += ios;
        self.sum += u128::from(value_ns) * u128::from(ios);
    }

    /// Makes room up to the end of the octave of `index`, so that growing stays rare.
    #[cold]
    fn grow(&mut self, index: usize) {
        let octave = 1 << self.precision.bits();
        self.counts.resize((index / octave + 1) * octave, 0);
    }

    /// Values counted.
    pub const fn ios(&self) -> u64 {
        self.ios
    }

    /// Whether nothing was counted.
    pub const fn is_empty(&self) -> bool {
        self.ios == 0
    }

    /// The smallest value counted, 0 when empty.
    pub const fn min_ns(&self) -> u64 {
        self.min
    }

    /// The largest value counted, 0 when empty.
    pub const fn max_ns(&self) -> u64 {
        self.max
    }

    /// The exact mean, 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.ios == 0 { 0.0 } else { wide_real(self.sum) / real(self.ios) }
    }

    /// The value below which a share `quantile` (0..=1) of the values lies, by nearest rank: the
    /// middle of its bucket, so at most half the precision away, and never outside the smallest
    /// and largest value; 0 when empty. A reported quantile is exact.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        reported::between(self.reported(), quantile, self.counted_quantile_ns(quantile))
    }

    fn counted_quantile_ns(&self, quantile: f64) -> u64 {
        let rank = (quantile.clamp(0.0, 1.0) * real(self.ios)).ceil().max(1.0);
        let mut below = 0u64;
        for (lowest, width, ios) in self.buckets() {
            below += ios;
            if real(below) >= rank {
                return (lowest + (width - 1) / 2).clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// How many values lie above `limit_ns`; exact to the precision of the bucket that holds the
    /// limit.
    pub fn ios_above(&self, limit_ns: u64) -> u64 {
        let holder = index_of(bucket(limit_ns, self.precision.bits()));
        self.counts.iter().skip(holder + 1).sum()
    }

    /// The buckets that hold values, ascending: smallest value, width (both ns), count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let bits = self.precision.bits();
        self.counts.iter().enumerate().filter(|(_, ios)| **ios > 0).map(move |(index, ios)| {
            let (lowest, width) = bounds(count_of(index), bits);
            (lowest, width, *ios)
        })
    }

    /// Adds all values of `other`: exact when `other` is at least as fine; a finer receiver becomes
    /// as coarse as `other` first, because counts cannot be split again.
    pub fn merge(&mut self, other: &Self) {
        if other.ios == 0 {
            return;
        }
        if self.precision == Precision::Fine && other.precision == Precision::Coarse {
            *self = self.coarsened();
        }
        self.reported = if self.ios == 0 { other.reported.clone() } else { None };
        self.known_shares = if self.ios == 0 {
            other.known_shares.clone()
        } else {
            reported::common_shares(self.known_shares.as_deref(), other.known_shares.as_deref())
        };
        self.min = if self.ios == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.ios += other.ios;
        self.sum += other.sum;
        self.merge_counts(other);
    }

    fn merge_counts(&mut self, other: &Self) {
        if self.precision == other.precision {
            if self.counts.len() < other.counts.len() {
                self.counts.resize(other.counts.len(), 0);
            }
            self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
            return;
        }
        for (lowest, _, ios) in other.buckets() {
            let index = index_of(bucket(lowest, self.precision.bits()));
            if index >= self.counts.len() {
                self.grow(index);
            }
            self.counts[index] += ios;
        }
    }

    /// The same values in coarse buckets; count, sum, minimum and maximum stay exact.
    pub fn coarsened(&self) -> Self {
        let mut coarse = Self::new(Precision::Coarse);
        coarse.merge(self);
        coarse
    }

    /// Every value counted `times` times: what a sample stands for.
    pub fn times(&self, times: u64) -> Self {
        let mut more = self.clone();
        more.counts.iter_mut().for_each(|ios| *ios = ios.saturating_mul(times));
        more.ios = more.ios.saturating_mul(times);
        more.sum = more.sum.saturating_mul(u128::from(times));
        more
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.ios, self.sum, self.min, self.max) = (0, 0, 0, 0);
        (self.reported, self.known_shares) = (None, None);
    }

    /// Sets what counts alone cannot give back after decoding. False if that contradicts the
    /// counts: the smallest and the largest value lie in the first and the last bucket that is
    /// used, and the mean between them.
    fn restore(&mut self, mean_ns: f64, min_ns: u64, max_ns: u64) -> bool {
        let bits = self.precision.bits();
        let fits = self.ios == 0
            || bucket(min_ns, bits) == bucket(self.min, bits)
                && bucket(max_ns, bits) == bucket(self.max, bits)
                && min_ns <= max_ns
                && (real(min_ns) * ROUNDED_DOWN..=real(max_ns) * ROUNDED_UP).contains(&mean_ns);
        self.sum = wide_count(mean_ns * real(self.ios));
        self.min = min_ns;
        self.max = max_ns;
        fits
    }
}

impl Histogram {
    /// The histogram whose buckets are interpolated between the quantiles of these shares, 0..1.
    #[must_use]
    pub fn known_at(self, shares: impl IntoIterator<Item = f64>) -> Self {
        Self { known_shares: Some(shares.into_iter().collect()), ..self }
    }

    /// Whether a quantile was counted or reported, and not interpolated between others.
    pub fn knows_quantile(&self, share: f64) -> bool {
        self.known_shares.as_ref().is_none_or(|shares| reported::holds(shares, share))
    }

    /// The quantiles that the program printed, ascending; none if Assay counted the values itself.
    pub fn reported(&self) -> &[ReportedQuantile] {
        let reported = self.reported.as_ref().filter(|reported| reported.ios == self.ios);
        reported.map_or(&[], |reported| &reported.quantiles)
    }

    /// The histogram with the mean, ns, and the quantiles that its program printed. They count
    /// until values are added. A mean or quantiles outside of its values are left out.
    #[must_use]
    pub fn with_reported(mut self, mean_ns: Option<f64>, quantiles: &[ReportedQuantile]) -> Self {
        if let Some(mean_ns) = mean_ns.filter(|mean_ns| self.spans(*mean_ns)) {
            self.sum = wide_count(mean_ns * real(self.ios));
        }
        let _is_kept = self.report(quantiles);
        self
    }

    fn spans(&self, value_ns: f64) -> bool {
        self.ios > 0 && (real(self.min)..=real(self.max)).contains(&value_ns)
    }

    /// Keeps quantiles. False if they contradict each other or the ends of the values; those of
    /// fio and sysbench are the middles of buckets, which may lie a little beyond the ends.
    pub(super) fn report(&mut self, quantiles: &[ReportedQuantile]) -> bool {
        let is_possible = |one: &ReportedQuantile| {
            one.share > 0.0
                && one.share < 1.0
                && (self.min / 2..=self.max.saturating_mul(2)).contains(&one.time_ns)
        };
        let rises = quantiles
            .windows(2)
            .all(|two| two[0].share < two[1].share && two[0].time_ns <= two[1].time_ns);
        let is_kept = rises && quantiles.iter().all(is_possible);
        if is_kept && !quantiles.is_empty() {
            let quantiles = quantiles.to_vec();
            self.reported = Some(ReportedQuantiles { ios: self.ios, quantiles });
        }
        is_kept
    }
}

#[cfg(test)]
mod tests;
