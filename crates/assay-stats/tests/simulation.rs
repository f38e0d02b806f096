//! Intervals hold the truth and tests raise alarms as often as they promise, on simulated series.
#![allow(clippy::unwrap_used, reason = "a simulated series that gives no answer fails the test")]

use assay_model::number::{count_of, index, real_len};
use assay_stats::batches::{ShortSeries, mean_of_batches};
use assay_stats::bootstrap::{Resampling, block_length, bootstrap_interval};
use assay_stats::change::level_shift;
use assay_stats::distribution::normal_quantile;
use assay_stats::fit::{chi_square_fit, kolmogorov_smirnov_fit};
use assay_stats::mean::{positive_ratio_interval, ratio_interval};
use assay_stats::quantile::{quantile_interval, quantile_levels, share_interval};
use assay_stats::random::Random;
use assay_stats::trend::trend;
use assay_stats::{IntervalEstimate, mean_interval};

/// `n` values of a first-order autoregression with mean 0 and variance 1.
fn autoregression(random: &mut Random, n: usize, coefficient: f64) -> Vec<f64> {
    let shock = (1.0 - coefficient * coefficient).sqrt();
    let mut value = random.normal();
    let mut series = Vec::with_capacity(n);
    for _ in 0..n {
        series.push(value);
        value = coefficient * value + shock * random.normal();
    }
    series
}

/// In how many of `trials` an event happens, in percent.
fn percent(trials: u32, mut happens: impl FnMut() -> bool) -> f64 {
    let times = (0..trials).filter(|_| happens()).count();
    100.0 * real_len(times) / f64::from(trials)
}

#[track_caller]
fn assert_between(low: f64, seen: f64, high: f64, what: &str) {
    assert!((low..=high).contains(&seen), "{what}: {seen}%");
}

#[test]
fn the_mean_interval_covers_correlated_series() {
    let mut random = Random::new(1);
    for (n, coefficient) in [(300, 0.0), (300, 0.5), (300, 0.8), (60, 0.8), (1200, 0.9)] {
        let covered = percent(1000, || {
            let series = autoregression(&mut random, n, coefficient);
            mean_interval(&series, 0.95).unwrap().covers(0.0)
        });
        assert_between(93.0, covered, 97.5, &format!("{n} values at {coefficient}"));
    }
}

/// Seconds that vary around 1, skewed as rates are.
fn seconds(random: &mut Random, n: usize, coefficient: f64, deviation: f64) -> Vec<f64> {
    let rate = |value: f64| (deviation * value - 0.5 * deviation * deviation).exp();
    autoregression(random, n, coefficient).into_iter().map(rate).collect()
}

#[test]
fn intervals_of_few_seconds_cover_and_their_ends_stay_near() {
    let mut random = Random::new(47);
    for (n, coefficient) in [
        (8, 0.0),
        (8, 0.3),
        (8, 0.6),
        (12, 0.6),
        (20, 0.6),
        (30, 0.6),
        (39, 0.6),
        (40, 0.6),
        (60, 0.6),
    ] {
        let found: Vec<Result<bool, ShortSeries>> = (0..1500)
            .map(|_| {
                let rates = seconds(&mut random, n, coefficient, 0.08);
                let found = mean_of_batches(&rates, 1.0)?;
                assert!(found.high <= 1.5 * found.value, "{found:?}");
                Ok(found.covers(1.0))
            })
            .collect();
        let given: Vec<bool> = found.iter().filter_map(|one| one.ok()).collect();
        let mut each = given.iter();
        let covered =
            percent(1500.min(u32::try_from(given.len()).unwrap()), || *each.next().unwrap());
        println!("{n} s, {coefficient}: {} given, {covered:.1}% covered", given.len());
        assert_between(92.0, covered, 100.0, &format!("{n} seconds at {coefficient}"));
        assert!(given.len() > 1100, "{n} seconds at {coefficient}: {}", given.len());
    }
}

/// A limit at the level itself, the hardest there is: a verdict beyond the bounds would be wrong on
/// one of its sides.
#[test]
fn bounds_of_three_to_seven_seconds_hold_the_level() {
    let mut random = Random::new(61);
    for (coefficient, deviation) in [(0.0, 0.4), (0.6, 0.2), (0.9, 0.2), (0.99, 0.2), (0.99, 0.3)] {
        for n in [3, 5, 7] {
            let missed = percent(4000, || {
                let rates = seconds(&mut random, n, coefficient, deviation);
                let (low, high) = mean_of_batches(&rates, 1.0).unwrap_err().bounds().unwrap();
                !(low < 1.0 && 1.0 < high)
            });
            println!("{n} s, {deviation} at {coefficient}: {missed:.1}% missed");
            assert!(missed <= 2.5, "{n} s, {deviation} at {coefficient}: {missed}");
        }
    }
    assert_eq!(mean_of_batches(&[1.0; 2], 1.0).unwrap_err().bounds(), None);
    assert_eq!(mean_of_batches(&[1.0; 20], 0.1).unwrap_err().bounds(), None);
}

#[test]
fn the_mean_interval_is_not_much_wider_than_knowing_the_noise_would_make_it() {
    let mut random = Random::new(13);
    for (n, coefficient, median, wide) in
        [(60, 0.8, 1.7, 3.5), (120, 0.8, 1.4, 2.6), (300, 0.9, 1.4, 2.3)]
    {
        let mut widths: Vec<f64> = (0..500)
            .map(|_| autoregression(&mut random, n, coefficient))
            .map(|series| mean_interval(&series, 0.95).unwrap().half_width())
            .collect();
        widths.sort_by(f64::total_cmp);
        let known = 1.96 * ((1.0 + coefficient) / (1.0 - coefficient) / real_len(n)).sqrt();
        let what =
            format!("{n} values at {coefficient}: {} {}", widths[250] / known, widths[450] / known);
        assert!(widths[250] < median * known && widths[450] < wide * known, "{what}");
    }
}

#[test]
fn the_mean_interval_covers_noise_upon_a_slow_wander() {
    let mut random = Random::new(2);
    let covered = percent(1000, || {
        let wander = autoregression(&mut random, 300, 0.9);
        let series: Vec<f64> = wander.iter().map(|value| value + random.normal()).collect();
        mean_interval(&series, 0.95).unwrap().covers(0.0)
    });
    assert_between(93.0, covered, 97.0, "noise upon a wander");
}

#[test]
fn the_mean_interval_is_nearly_as_narrow_as_independence_allows() {
    let mut random = Random::new(3);
    let widths: f64 = (0..300)
        .map(|_| autoregression(&mut random, 400, 0.0))
        .map(|series| mean_interval(&series, 0.95).unwrap().half_width())
        .sum();
    // 1.96 / √400 would be the width if the variance and the independence were known.
    let excess = widths / 300.0 / 0.098;
    assert!((1.0..1.12).contains(&excess), "{excess}");
}

#[test]
fn a_ratio_of_correlated_sums_is_covered() {
    let mut random = Random::new(12);
    let covered = percent(1000, || {
        let sizes: Vec<f64> =
            autoregression(&mut random, 300, 0.8).iter().map(|size| 10.0 + size).collect();
        let noise = autoregression(&mut random, 300, 0.8);
        let parts: Vec<f64> =
            sizes.iter().zip(noise).map(|(size, noise)| 0.3 * size + noise).collect();
        ratio_interval(&parts, &sizes, 0.95).unwrap().covers(0.3)
    });
    assert_between(93.0, covered, 97.0, "ratio");
}

#[test]
fn the_trend_interval_covers_correlated_series() {
    let mut random = Random::new(4);
    for (n, coefficient) in [(120, 0.0), (300, 0.8)] {
        let covered = percent(1000, || {
            let series = autoregression(&mut random, n, coefficient);
            trend(&series, 0.95).unwrap().slope.covers(0.0)
        });
        assert_between(93.0, covered, 97.0, &format!("{n} values at {coefficient}"));
    }
}

#[test]
fn one_level_is_rarely_cut_in_two() {
    let mut random = Random::new(5);
    for (coefficient, most_at_5, most_at_1) in [(0.0, 8.0, 2.5), (0.8, 8.0, 2.5)] {
        let p_values: Vec<f64> = (0..200)
            .map(|_| autoregression(&mut random, 300, coefficient))
            .map(|series| level_shift(&series, 0.95).unwrap().p_value)
            .collect();
        let alarms = |level: f64| {
            let mut each = p_values.iter();
            percent(200, || each.next().is_some_and(|p_value| *p_value <= level))
        };
        assert_between(0.0, alarms(0.05), most_at_5, "false alarms at 5%");
        assert_between(0.0, alarms(0.01), most_at_1, "false alarms at 1%");
    }
}

#[test]
fn a_burst_at_the_start_is_found_in_correlated_noise() {
    let mut random = Random::new(6);
    let found = percent(60, || {
        let mut series = autoregression(&mut random, 120, 0.5);
        series[..24].iter_mut().for_each(|value| *value += 4.0);
        let shift = level_shift(&series, 0.95).unwrap();
        shift.p_value <= 0.01 && shift.at.abs_diff(24) <= 4 && shift.change().covers(-4.0)
    });
    assert_between(85.0, found, 100.0, "bursts found");
}

#[test]
fn a_quantile_of_independent_values_is_covered() {
    let mut random = Random::new(7);
    for quantile in [0.5, 0.95] {
        let truth = -(1.0_f64 - quantile).ln();
        let covered = percent(1000, || {
            let mut values: Vec<f64> = (0..200).map(|_| random.exponential()).collect();
            values.sort_by(f64::total_cmp);
            quantile_interval(&values, quantile, 0.95).unwrap().covers(truth)
        });
        // Whole ranks make the interval a little wider than asked.
        assert_between(94.0, covered, 98.5, &format!("quantile {quantile}"));
    }
}

/// Intervals of 20 values around a level that wanders, as drawn and joined in ascending order.
struct Wander {
    intervals: Vec<Vec<f64>>,
    ascending: Vec<f64>,
}

impl Wander {
    const SPREAD: f64 = 1.0;
    const SIZE: u32 = 20;

    fn draw(random: &mut Random, intervals: usize, coefficient: f64) -> Self {
        let levels = autoregression(random, intervals, coefficient);
        let mut around =
            |level: &f64| (0..Self::SIZE).map(|_| Self::SPREAD * level + random.normal()).collect();
        let intervals: Vec<Vec<f64>> = levels.iter().map(&mut around).collect();
        let mut ascending = intervals.concat();
        ascending.sort_by(f64::total_cmp);
        Self { intervals, ascending }
    }

    /// The true quantile: the sum of two independent normal variables is normal.
    fn truth(quantile: f64) -> f64 {
        normal_quantile(quantile) * (1.0 + Self::SPREAD * Self::SPREAD).sqrt()
    }

    fn at(&self, level: f64) -> f64 {
        let n = self.ascending.len();
        self.ascending[index((level * real_len(n)).ceil()).clamp(1, n) - 1]
    }

    fn counts(&self) -> Vec<u64> {
        vec![u64::from(Self::SIZE); self.intervals.len()]
    }

    fn above(&self, limit: f64) -> Vec<u64> {
        let above = |values: &Vec<f64>| values.iter().filter(|value| **value > limit).count();
        self.intervals.iter().map(above).map(count_of).collect()
    }

    /// Whether the interval of a quantile holds the truth.
    fn covers(&self, quantile: f64) -> bool {
        let above = self.above(self.at(quantile));
        let levels = quantile_levels(&self.counts(), &above, quantile, 0.95).unwrap();
        let low = levels.low.map_or(f64::NEG_INFINITY, |level| self.at(level));
        let high = levels.high.map_or(f64::INFINITY, |level| self.at(level));
        (low..=high).contains(&Self::truth(quantile))
    }
}

#[test]
fn quantile_levels_cover_correlated_intervals() {
    let mut random = Random::new(82);
    // Few and clustered values beyond a far quantile say less about it than they seem to.
    for (coefficient, quantile, least) in [(0.0, 0.9, 91.0), (0.8, 0.9, 91.0), (0.8, 0.99, 87.0)] {
        let covered = percent(200, || Wander::draw(&mut random, 300, coefficient).covers(quantile));
        let what = format!("quantile {quantile} at {coefficient}");
        // An upper end that nothing bounds covers for certain, so far quantiles may be covered
        // always.
        assert_between(least, covered, 100.0, &what);
    }
}

/// Sums of response times (ms) and numbers of 60 s of an exponential server of 1 ms at 95% load,
/// second by second, after 10 s.
fn busy_queue(random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let (mut times, mut numbers) = (vec![0.0; 60], vec![0.0; 60]);
    let (mut now_ms, mut free_ms) = (-10_000.0_f64, -10_000.0_f64);
    while now_ms < 60_000.0 {
        now_ms += random.exponential() / 0.95;
        free_ms = free_ms.max(now_ms) + random.exponential();
        let second = free_ms / 1000.0;
        if (0.0..60.0).contains(&second) {
            times[index(second)] += free_ms - now_ms;
            numbers[index(second)] += 1.0;
        }
    }
    (times, numbers)
}

#[test]
fn the_mean_time_of_a_busy_queue_is_rarely_above_its_interval() {
    let mut random = Random::new(83);
    let found: Vec<IntervalEstimate> = (0..200)
        .map(|_| {
            let (times, numbers) = busy_queue(&mut random);
            positive_ratio_interval(&times, &numbers, 0.95).unwrap()
        })
        .collect();
    // 1 / (μ - λ) = 20 ms; bursts of equal size leave it above in 7 or 8 of 100.
    let mut each = found.iter();
    let missed = percent(200, || each.next().is_some_and(|interval| interval.high < 20.0));
    assert_between(0.0, missed, 3.5, "above the interval");
    let mut each = found.iter();
    let covered = percent(200, || each.next().is_some_and(|interval| interval.covers(20.0)));
    assert_between(93.0, covered, 99.5, "the interval");
}

#[test]
fn a_share_beyond_a_limit_is_covered_in_correlated_intervals() {
    let mut random = Random::new(9);
    let covered = percent(200, || {
        let wander = Wander::draw(&mut random, 300, 0.8);
        let beyond = wander.above(Wander::truth(0.9));
        let share = share_interval(&wander.counts(), &beyond, 0.95).unwrap();
        share.covers(0.1)
    });
    assert_between(91.0, covered, 99.0, "share");
}

#[test]
fn the_bootstrap_covers_as_documented() {
    let mut random = Random::new(10);
    for (coefficient, least) in [(0.0, 92.0), (0.8, 83.0)] {
        let covered = percent(200, || {
            let series = autoregression(&mut random, 200, coefficient);
            let resampling =
                Resampling { block_length: 2.0 * block_length(&series), resamples: 200, seed: 1 };
            let joined = |drawn: &[usize]| drawn.iter().map(|index| series[*index]).sum();
            let interval = bootstrap_interval(200, &resampling, 0.95, joined);
            interval.unwrap().covers(0.0)
        });
        assert_between(least, covered, 98.0, &format!("bootstrap at {coefficient}"));
    }
}

#[test]
fn tests_of_fit_reject_what_fits_as_often_as_they_say() {
    let mut random = Random::new(11);
    let rejected = percent(1000, || {
        let mut cells = [0; 20];
        for _ in 0..2000 {
            cells[index(random.unit() * 20.0)] += 1;
        }
        chi_square_fit(&cells, &[1.0; 20], 0).p_value <= 0.05
    });
    assert_between(3.0, rejected, 7.0, "chi-square");
    let rejected = percent(1000, || {
        let mut values: Vec<f64> = (0..300).map(|_| random.unit()).collect();
        values.sort_by(f64::total_cmp);
        kolmogorov_smirnov_fit(&values, |value| value).p_value <= 0.05
    });
    assert_between(3.0, rejected, 7.0, "largest gap");
}
