//! Watches a series for a change of its level while it is made, in memory that does not grow.

use crate::root;
use assay_model::number::{count_of, real};
use std::collections::VecDeque;

/// Values before the level and the noise are known.
const LEARNED_MIN: u64 = 48;

/// The level and the noise are those of about so many values before; older ones fade.
const MEMORY: f64 = 720.0;

/// So many of the newest values are not yet part of the level, so that a change does not hide itself.
const DELAY: usize = 24;

/// No single value brings a sum further than this share of its bound: a stall is no change.
const MOST_AT_ONCE: f64 = 0.34;

/// The median of so many values in a row is watched: neither a stall that ends within two of them nor a heavy tail moves it.
const MEDIAN_OF: usize = 5;

/// A change holds for at least so many values, and twice as long as anything that looked like one and passed, up to the
/// second number: stalls that happen to follow one another do not.
const SHORTEST: std::ops::RangeInclusive<u64> = 6..=14;

/// By so many of its standard errors the level may be wrong without an alarm: it is learnt from few values at first.
const LEVEL_ERRORS: f64 = 2.0;

/// What the discrete sum overshoots its bound by, in standard deviations (Siegmund, "Sequential Analysis", 1985).
const OVERSHOOT: f64 = 1.166;

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
pub struct Change {
    /// Number of the first value of the new level, from 0.
    pub at: u64,
    /// Number of the value at which it was noticed.
    pub noticed_at: u64,
    /// The level before.
    pub before: f64,
    /// The mean since.
    pub after: f64,
}

/// Two cumulative sums, one for rising and one for falling (E. Page, Biometrika 41, 1954).
///
/// The reference lies half the wanted change from the level, which is the best one for it. The bound follows from the
/// wanted time between false alarms by the approximation of Siegmund, with the noise as large as its correlation of
/// neighbours makes it. After an alarm the watch learns the new level from its beginning on.
#[derive(Clone, Debug)]
pub struct Watch {
    rule: WatchRule,
    seen: u64,
    level: Level,
    recent: VecDeque<f64>,
    newest: VecDeque<f64>,
    rising: Sum,
    falling: Sum,
    /// The longest excursion beyond the bound that ended by itself, in values.
    passed: u64,
}

/// Mean, variance and the product of neighbours, faded.
#[derive(Clone, Debug, Default)]
struct Level {
    values: u64,
    mean: f64,
    variance: f64,
    products: [f64; 2],
    last: [f64; 2],
}

/// One cumulative sum, and what it rests on.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    height: f64,
    values: u64,
    total: f64,
    is_over: bool,
}

impl Watch {
    /// Nothing seen yet.
    pub fn new(rule: WatchRule) -> Self {
        Self {
            rule,
            seen: 0,
            level: Level::default(),
            recent: VecDeque::with_capacity(DELAY + 1),
            newest: VecDeque::with_capacity(MEDIAN_OF + 1),
            rising: Sum::default(),
            falling: Sum::default(),
            passed: 0,
        }
    }

    /// Takes the next value; says when it shows a change.
    pub fn add(&mut self, value: f64) -> Option<Change> {
        let number = self.seen;
        self.seen += 1;
        let value = self.median(value);
        self.recent.push_back(value);
        if self.level.values < LEARNED_MIN {
            self.learn();
            return None;
        }
        if self.recent.len() > DELAY {
            self.learn();
        }
        let noise = self.level.noise().max(1e-9 * self.level.mean.abs());
        let least = 0.5 * self.rule.change_share * self.level.mean.abs();
        let half = least + LEVEL_ERRORS * noise / real(self.level.values).min(MEMORY).sqrt();
        let bound = noise * bound(least / noise, self.rule.between_alarms);
        let gap = value - self.level.mean;
        let passed = self.rising.add(gap - half, bound, value).max(self.falling.add(
            -gap - half,
            bound,
            value,
        ));
        self.passed = self.passed.max(passed);
        let shortest = (2 * self.passed).clamp(*SHORTEST.start(), *SHORTEST.end());
        let over = [self.rising, self.falling];
        let found = over.into_iter().find(|sum| sum.height >= bound && sum.values >= shortest)?;
        let change = Change {
            // The median lags by the half of what it is taken of.
            at: (number + 1 - found.values).saturating_sub(count_of(MEDIAN_OF / 2)),
            noticed_at: number,
            before: self.level.mean,
            after: found.total / real(found.values),
        };
        self.forget();
        Some(change)
    }

    /// The median of the newest values.
    fn median(&mut self, value: f64) -> f64 {
        self.newest.push_back(value);
        if self.newest.len() > MEDIAN_OF {
            self.newest.pop_front();
        }
        let mut sorted: Vec<f64> = self.newest.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted[(sorted.len() - 1) / 2]
    }

    /// The oldest value that is still held back becomes part of the level.
    fn learn(&mut self) {
        if let Some(value) = self.recent.pop_front() {
            self.level.add(value);
        }
    }

    /// Starts over with what was seen since the change.
    fn forget(&mut self) {
        self.level = Level::default();
        let since = self.rising.values.max(self.falling.values);
        let old = count_of(self.recent.len()).saturating_sub(since);
        for _ in 0..old {
            self.recent.pop_front();
        }
        (self.rising, self.falling) = (Sum::default(), Sum::default());
    }
}

impl Sum {
    /// Adds a value's excess; starts again where it falls to 0, and then says how long it had been going if it was over its
    /// bound meanwhile.
    fn add(&mut self, excess: f64, bound: f64, value: f64) -> u64 {
        self.height += excess.min(MOST_AT_ONCE * bound);
        self.values += 1;
        self.total += value;
        if self.height > 0.0 {
            self.is_over = self.is_over || self.height >= bound;
            return 0;
        }
        let passed = if self.is_over { self.values } else { 0 };
        *self = Self::default();
        passed
    }
}

impl Level {
    fn add(&mut self, value: f64) {
        self.values += 1;
        let weight = 1.0 / real(self.values).min(MEMORY);
        let gap = value - self.mean;
        self.mean += weight * gap;
        self.variance = (1.0 - weight) * (self.variance + weight * gap * gap);
        for (product, earlier) in self.products.iter_mut().zip(self.last) {
            let together = (value - self.mean) * (earlier - self.mean);
            if self.values > 3 {
                *product += weight * (together - *product);
            }
        }
        self.last = [value, self.last[0]];
    }

    /// Standard deviation, as much larger as the correlation of neighbours makes long sums vary: means of batches of a
    /// first-order autoregression are correlated by r, rρ, rρ² …, which adds up to 1 + 2r/(1 - ρ).
    fn noise(&self) -> f64 {
        let [near, far] = self.products;
        if self.variance <= 0.0 || near <= 0.0 {
            return self.variance.max(0.0).sqrt();
        }
        let decay = (far / near).clamp(0.0, 0.9);
        let correlation = (near / self.variance).clamp(0.0, 0.95);
        (self.variance * (1.0 + 2.0 * correlation / (1.0 - decay))).sqrt()
    }
}

/// The bound of a sum in standard deviations, for a reference `half` standard deviations from the level.
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
    use assay_model::random::Random;

    fn rule() -> WatchRule {
        WatchRule { change_share: 0.05, between_alarms: 1e6 }
    }

    #[test]
    fn a_step_is_noticed_soon_and_dated_right() {
        let (mut watch, mut random) = (Watch::new(rule()), Random::new(8));
        let mut found = Vec::new();
        for at in 0..1200 {
            let level = if at < 700 { 1000.0 } else { 950.0 };
            found.extend(watch.add(level + 15.0 * random.normal()));
        }
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((695..=705).contains(&found[0].at) && found[0].noticed_at < 712);
        assert!((found[0].before - 1000.0).abs() < 5.0 && (found[0].after - 950.0).abs() < 15.0);
    }

    #[test]
    fn one_stall_is_no_change() {
        let mut watch = Watch::new(rule());
        let stalls = (0..600).filter_map(|at| {
            let level = if at == 300 { 100.0 } else { 1000.0 };
            watch.add(level + f64::from(at % 7))
        });
        assert_eq!(stalls.count(), 0);
    }

    #[test]
    fn the_bound_is_that_of_published_tables() {
        // Montgomery, "Introduction to Statistical Quality Control", table 9.3: k = 1/2, h = 5 gives 465 for two sides.
        assert!((bound(0.5, 465.0) - 5.0).abs() < 0.05);
        assert!((bound(0.5, 168.0) - 4.0).abs() < 0.05);
    }
}
