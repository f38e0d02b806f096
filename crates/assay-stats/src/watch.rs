//! Watches a series for a change of its level while it is made, in memory that does not grow.

use crate::root;
use assay_model::number::{count_of, real, real_len};
use std::collections::VecDeque;

/// Values before the level and the noise are known: ten minutes of 5 s each (steady-state.md).
const LEARNED_MIN: u64 = 120;

/// Values from which a new level is known, where the noise is known from before: two minutes.
const LEVEL_MIN: usize = 24;

/// The level and the noise are those of about this many previous values; older ones fade.
const MEMORY: f64 = 720.0;

/// This many of the newest values are not yet part of the level, so that a change does not hide
/// itself.
const DELAY: usize = 36;

/// Changes that are looked for, as shares of the one that must be found: smaller ones take longer.
const DESIGNS: [f64; 2] = [1.0, 0.4];

/// A gap from the level counts up to the change that must be found, or up to this many standard
/// deviations of a value where that is more: neither a stall nor a heavy tail says more than a
/// change would.
const CLIPPED: f64 = 3.0;

/// How many of the newest gaps show how large gaps are.
const SIZES: usize = 120;

/// Of so few no size is known.
const FIRST: u64 = 12;

/// The median size of a normal value of standard deviation 1.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;

/// No single value brings a sum further than this share of its bound.
const MOST_AT_ONCE: f64 = 0.34;

/// A change holds for at least this many values.
const SHORTEST: u64 = 6;

/// At least this many values that show the change in full must come together, however little noise
/// there is.
const STEPS: f64 = 5.0;

/// The level may be wrong by this many of its standard errors without an alarm: it is learnt from
/// few values at first.
const LEVEL_ERRORS: f64 = 2.0;

/// What the discrete sum overshoots its bound by, in standard deviations (Siegmund, "Sequential
/// Analysis", 1985).
const OVERSHOOT: f64 = 1.166;

/// The highest excursions of the sums show how their heights fall off: this many of them …
const HIGHEST: usize = 16;

/// … within this many previous values.
const REMEMBERED: u64 = 5760;

/// What the normal law says of the heights counts as much as this many excursions.
const PRIOR: f64 = 8.0;

/// How much higher than the law of the heights an alarm lies: the law is fitted to few of them.
const DOUBT: f64 = 1.8;

/// What is looked for, and how rarely it may be seen where there is nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchRule {
    /// The change that must be found, as a share of the level.
    pub change_share: f64,
    /// Values between two false alarms in the mean.
    pub between_alarms: f64,
}

/// A change of level that was just noticed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchChange {
    /// Number of the first value of the new level, from 0.
    pub at: u64,
    /// Number of the value at which it was noticed.
    pub noticed_at: u64,
    /// The level before.
    pub before: f64,
    /// The mean since.
    pub after: f64,
}

/// Cumulative sums of the gaps from the level, for rising and for falling (E. Page, Biometrika 41,
/// 1954).
///
/// The reference lies half the wanted change from the level, which is the best one for it; a second
/// pair of sums looks for smaller changes. The bound follows from the wanted time between false
/// alarms in two ways, of which the larger counts: by the approximation of Siegmund, with the noise
/// as large as its correlation of neighbours makes it, and from the heights that the sums reached
/// before they came back to 0, whose tail is exponential (peaks over a threshold: Pickands, Annals
/// of Statistics 3, 1975). After an alarm the watch learns the new level from its beginning on, and
/// keeps what it knows of the noise.
#[derive(Clone, Debug)]
pub struct LevelWatch {
    rule: WatchRule,
    seen: u64,
    level: WatchedLevel,
    noise: GapNoise,
    recent: VecDeque<f64>,
    pairs: [GapPair; DESIGNS.len()],
}

/// The level, faded: at first the median, which a stall does not move.
#[derive(Clone, Debug, Default)]
struct WatchedLevel {
    values: u64,
    mean: f64,
    /// Values before there is a mean.
    first: Vec<f64>,
}

/// Variance of the clipped gaps and the products of neighbours, faded, as shares of the level.
#[derive(Clone, Debug, Default)]
struct GapNoise {
    values: u64,
    variance: f64,
    products: [f64; 2],
    last: [f64; 2],
    /// The newest gaps as they were, by their size.
    sizes: VecDeque<f64>,
    /// Standard deviation of a value by the median of these sizes, which neither stalls nor heavy
    /// tails move.
    spread: f64,
}

/// The two sums of one design, and how high they came without a change.
#[derive(Clone, Debug, Default)]
struct GapPair {
    rising: CumulativeSum,
    falling: CumulativeSum,
    excursions: Excursions,
}

/// One cumulative sum, and what it rests on.
#[derive(Clone, Copy, Debug, Default)]
struct CumulativeSum {
    height: f64,
    highest: f64,
    values: u64,
    total: f64,
}

/// The highest of the newest excursions, with the number of the value that ended each.
#[derive(Clone, Debug, Default)]
struct Excursions {
    highest: Vec<(u64, f64)>,
}

impl LevelWatch {
    /// Nothing seen yet.
    pub fn new(rule: WatchRule) -> Self {
        Self {
            rule,
            seen: 0,
            level: WatchedLevel::default(),
            noise: GapNoise::default(),
            recent: VecDeque::with_capacity(DELAY + 1),
            pairs: <[GapPair; DESIGNS.len()]>::default(),
        }
    }

    /// Takes the next value; says when it shows a change.
    pub fn add(&mut self, value: f64) -> Option<WatchChange> {
        let number = self.seen;
        self.seen += 1;
        self.recent.push_back(value);
        if self.noise.values < LEARNED_MIN || self.level.values == 0 {
            self.learn();
            return None;
        }
        if self.recent.len() > DELAY {
            self.learn();
        }
        let (gap, spread) = (self.gap(value), self.noise.spread);
        let noise = (self.noise.long_run() * (1.0 + 24.0 / real(self.noise.values))).max(1e-9);
        let doubt = LEVEL_ERRORS * noise / real(self.level.values).min(MEMORY).sqrt();
        let mut found = None;
        for (pair, share) in self.pairs.iter_mut().zip(DESIGNS) {
            let change = share * self.rule.change_share;
            let (least, most) = (0.5 * change, change.max(CLIPPED * spread));
            // All pairs together may give one alarm in this time, so each pair must give fewer.
            let between = self.rule.between_alarms * real_len(DESIGNS.len());
            let siegmund = noise * bound(least / noise, between);
            let seen = pair.excursions.bound(number, 0.5 * noise * noise / least, 2.0 * between);
            let bound = siegmund.max(seen + least).max(STEPS * least);
            let sum = pair.add(gap.clamp(-most, most), least + doubt, bound, value, number);
            found = found.or(sum);
        }
        let sum = found?;
        let change = WatchChange {
            at: number + 1 - sum.values,
            noticed_at: number,
            before: self.level.mean,
            after: sum.total / real(sum.values),
        };
        self.forget(sum.values);
        Some(change)
    }

    /// The gap of a value from the level as a share of it.
    fn gap(&self, value: f64) -> f64 {
        (value - self.level.mean) / self.level.mean.abs().max(f64::MIN_POSITIVE)
    }

    /// The oldest value that is still held back becomes part of the level.
    fn learn(&mut self) {
        let Some(value) = self.recent.pop_front() else { return };
        if self.level.values > 0 {
            let gap = self.gap(value);
            let most = CLIPPED * self.noise.spread;
            self.level.add(gap.clamp(-most, most));
            self.noise.add(gap);
            return;
        }
        self.level.first.push(value);
        if self.level.first.len() == LEVEL_MIN {
            let first = std::mem::take(&mut self.level.first);
            self.level = WatchedLevel {
                values: count_of(first.len()),
                mean: median(first.clone()),
                first: Vec::new(),
            };
            for value in first {
                self.noise.add(self.gap(value));
            }
        }
    }

    /// Starts again with the level that holds since the change.
    fn forget(&mut self, since: u64) {
        self.level = WatchedLevel::default();
        // Values before the change belong to the old level and must not be learnt into the new one.
        let old = count_of(self.recent.len()).saturating_sub(since);
        for _ in 0..old {
            self.recent.pop_front();
        }
        for pair in &mut self.pairs {
            (pair.rising, pair.falling) = (CumulativeSum::default(), CumulativeSum::default());
        }
    }
}

impl GapPair {
    /// Adds a gap to both sums; gives the sum that shows a change.
    fn add(
        &mut self,
        gap: f64,
        half: f64,
        bound: f64,
        value: f64,
        number: u64,
    ) -> Option<CumulativeSum> {
        for (sum, excess) in [(&mut self.rising, gap - half), (&mut self.falling, -gap - half)] {
            if let Some(height) = sum.add(excess, bound, value) {
                self.excursions.add(number, height);
            }
        }
        let both = [self.rising, self.falling];
        both.into_iter().find(|sum| sum.height >= bound && sum.values >= SHORTEST)
    }
}

impl CumulativeSum {
    /// Adds a value's excess; starts again where it falls to 0, and then says how high it was.
    fn add(&mut self, excess: f64, bound: f64, value: f64) -> Option<f64> {
        self.height += excess.min(MOST_AT_ONCE * bound);
        self.values += 1;
        self.total += value;
        self.highest = self.highest.max(self.height);
        if self.height > 0.0 {
            return None;
        }
        let highest = self.highest;
        *self = Self::default();
        (highest > 0.0).then_some(highest)
    }
}

impl Excursions {
    fn add(&mut self, number: u64, height: f64) {
        self.highest.retain(|(at, _)| number - at < REMEMBERED);
        let place = self.highest.partition_point(|(_, other)| *other > height);
        self.highest.insert(place, (number, height));
        self.highest.truncate(2 * HIGHEST);
    }

    /// The height that is reached once in `between` values, by those that were reached; `normal` is
    /// what the mean excess over a high threshold would be in normal noise.
    fn bound(&self, number: u64, normal: f64, between: f64) -> f64 {
        let highest = &self.highest[..self.highest.len().min(HIGHEST)];
        if highest.is_empty() {
            return 0.0;
        }
        let threshold = self.highest.get(HIGHEST).map_or(0.0, |(_, height)| *height);
        let excess: f64 = highest.iter().map(|(_, height)| height - threshold).sum();
        let few = real_len(highest.len());
        let mean = ((excess + PRIOR * normal) / (few + PRIOR)).max(excess / few);
        let often = few / real(number.clamp(1, REMEMBERED));
        threshold + DOUBT * mean * (often * between).ln().max(0.0)
    }
}

impl WatchedLevel {
    fn add(&mut self, gap: f64) {
        self.values += 1;
        self.mean *= 1.0 + gap / real(self.values).min(MEMORY);
    }
}

impl GapNoise {
    fn add(&mut self, gap: f64) {
        self.sizes.push_back(gap.abs());
        if self.sizes.len() > SIZES {
            self.sizes.pop_front();
        }
        self.spread = median(self.sizes.iter().copied().collect()) / NORMAL_MEDIAN;
        self.values += 1;
        let most = if self.values < FIRST { f64::MAX } else { CLIPPED * self.spread };
        let gap = gap.clamp(-most, most);
        let weight = 1.0 / real(self.values).min(MEMORY);
        self.variance += weight * (gap * gap - self.variance);
        for (product, earlier) in self.products.iter_mut().zip(self.last) {
            // The first values have no predecessors; zeros in their place would hide correlation.
            if self.values > 3 {
                *product += weight * (gap * earlier - *product);
            }
        }
        self.last = [gap, self.last[0]];
    }

    /// Standard deviation, as much larger as the correlation of neighbours makes long sums vary:
    /// means of batches of a first-order autoregression are correlated by r, rρ, rρ² …, which
    /// adds up to 1 + 2r/(1 - ρ).
    fn long_run(&self) -> f64 {
        let [near, far] = self.products;
        if self.variance <= 0.0 || near <= 0.0 {
            return self.variance.max(0.0).sqrt();
        }
        // At 1 the sum over all lags would be infinite.
        let decay = (far / near).clamp(0.0, 0.9);
        let correlation = (near / self.variance).clamp(0.0, 0.95);
        (self.variance * (1.0 + 2.0 * correlation / (1.0 - decay))).sqrt()
    }
}

/// The middle value; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The bound of a sum in standard deviations, for a reference `half` standard deviations from the
/// level.
///
/// Two sums give an alarm twice as often as one.
fn bound(half: f64, between_alarms: f64) -> f64 {
    let target = (2.0 * between_alarms).ln();
    let half = half.max(1e-3);
    // The logarithm of (e^2kb - 2kb - 1) / 2k², which would overflow for large k.
    let length = |height: f64| {
        let power = 2.0 * half * (height + OVERSHOOT);
        let rest = (-(1.0 + power) * (-power).exp()).ln_1p();
        power + rest - (2.0 * half * half).ln() - target
    };
    if length(0.5) >= 0.0 {
        return 0.5;
    }
    let mut high = 1.0;
    while length(high) < 0.0 {
        high *= 2.0;
    }
    root::increasing(0.5, high, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn rule() -> WatchRule {
        WatchRule { change_share: 0.05, between_alarms: 1e6 }
    }

    fn noticed(values: impl IntoIterator<Item = f64>) -> Vec<WatchChange> {
        let mut watch = LevelWatch::new(rule());
        values.into_iter().filter_map(|value| watch.add(value)).collect()
    }

    #[test]
    fn steps_are_noticed_soon_and_dated_right() {
        for (share, late) in [(0.03, 12), (0.05, 9), (0.5, 9)] {
            let mut random = Random::new(8);
            let level = |at: u64| if at < 700 { 1000.0 } else { 1000.0 * (1.0 - share) };
            let found = noticed((0..1200).map(|at| level(at) + 8.0 * random.normal()));
            assert_eq!(found.len(), 1, "{share}: {found:?}");
            let WatchChange { at, noticed_at, before, after } = found[0];
            assert!((698..=702).contains(&at) && noticed_at < 700 + late, "{share}: {found:?}");
            assert!((before - 1000.0).abs() < 3.0 && (after / level(700) - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn one_stall_is_no_change() {
        let level = |at: u32| if at == 300 { 100.0 } else { 1000.0 };
        assert_eq!(noticed((0..600).map(|at| level(at) + f64::from(at % 7))), []);
    }

    #[test]
    fn stalls_now_and_then_and_heavy_tails_are_no_change() {
        let mut random = Random::new(21);
        // A hundred hours of batches of 5 s, of which one in 16 has a stall.
        let stalled = (0..72_000).map(|_| {
            let left = if random.chance(0.06) { 0.4 + 0.5 * random.unit() } else { 1.0 };
            1000.0 * left + 7.0 * random.normal()
        });
        assert!(noticed(stalled).len() <= 1);
        let mut random = Random::new(22);
        // Student's law with 3 degrees of freedom.
        let heavy = (0..72_000).map(|_| {
            let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
            1000.0 + 10.0 * random.normal() / (squares / 3.0).sqrt()
        });
        assert!(noticed(heavy).len() <= 1);
    }

    #[test]
    fn the_bound_is_that_of_published_tables() {
        // Montgomery, "Introduction to Statistical Quality Control", table 9.3: k = 1/2, h = 5
        // gives 465 for two sides.
        assert!((bound(0.5, 465.0) - 5.0).abs() < 0.05);
        assert!((bound(0.5, 168.0) - 4.0).abs() < 0.05);
    }
}
