//! The ratio of two sides with few repeats: Welch's test on logarithms, in which no side varies
//! less than its runs show from within (Welch 1947), or with the variance that earlier runs of the
//! same storage add.

use crate::statistics;
use assay_model::Estimate;
use assay_model::number::{count, count_of, real_len};
use assay_stats::distribution::{normal_quantile, student, student_quantile};
use assay_stats::series;

/// Fewer degrees of freedom do not stand for how a storage varies.
pub(super) const HISTORY_FREEDOM_MIN: f64 = 6.0;
/// Degrees of freedom of what is known exactly.
const KNOWN: f64 = 1e9;

/// One measure of the runs of one side, as logarithms.
struct Logs {
    values: Vec<f64>,
    /// Mean square of the standard errors that the runs show from within.
    within: f64,
    /// Whether some run is known by its lower end only.
    is_at_least: bool,
    /// Whether some run does not tell how certain it is.
    lacks_interval: bool,
}

impl Logs {
    /// `None` where a value or the lower end of its interval is 0.
    fn new(runs: &[Estimate]) -> Option<Self> {
        let is_known = |run: &&Estimate| run.value > 0.0 && (run.low > 0.0 || !run.has_interval());
        if runs.is_empty() || !runs.iter().all(|run| is_known(&run)) {
            return None;
        }
        let errors = runs.iter().map(|run| log_error(run).powi(2));
        Some(Self {
            values: runs.iter().map(|run| run.value.ln()).collect(),
            within: errors.sum::<f64>() / real_len(runs.len()),
            is_at_least: runs.iter().any(|run| run.has_interval() && run.is_at_least()),
            lacks_interval: !runs.iter().all(Estimate::has_interval),
        })
    }

    fn n(&self) -> f64 {
        real_len(self.values.len())
    }

    /// Sum of the squares by which the repeats differ.
    fn squares(&self) -> f64 {
        if self.values.len() < 2 { 0.0 } else { series::variance(&self.values) * (self.n() - 1.0) }
    }
}

/// Standard error of the logarithm, by the interval; nothing of a run without one.
fn log_error(run: &Estimate) -> f64 {
    if !run.has_interval() {
        return 0.0;
    }
    let reach = if run.is_at_least() {
        (run.value / run.low).ln()
    } else {
        0.5 * (run.high / run.low).ln()
    };
    reach / normal_quantile(0.975)
}

/// What is known of how a storage varies from run to run besides the runs that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Variation {
    /// Sum of squares of logarithms about their means.
    pub(super) squares: f64,
    /// Degrees of freedom behind it.
    pub(super) freedom: f64,
}

impl Variation {
    /// A standard deviation that is known.
    pub(super) fn known(share: f64) -> Self {
        let deviation = share.ln_1p();
        Self { squares: KNOWN * deviation * deviation, freedom: KNOWN }
    }

    /// By the values of groups of earlier runs, each of one storage.
    pub(super) fn of_groups(groups: &[Vec<f64>]) -> Self {
        let logs = |values: &Vec<f64>| -> Vec<f64> {
            values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect()
        };
        let groups = groups.iter().map(logs).filter(|logs| logs.len() > 1);
        groups.fold(Self::default(), |sum, logs| {
            let freedom = real_len(logs.len()) - 1.0;
            Self {
                squares: sum.squares + series::variance(&logs) * freedom,
                freedom: sum.freedom + freedom,
            }
        })
    }

    fn is_stated(&self) -> bool {
        self.freedom >= KNOWN
    }

    /// Whether there is enough of it.
    pub(super) fn is_enough(&self) -> bool {
        self.freedom >= HISTORY_FREEDOM_MIN
    }
}

/// A ratio with its interval, and how likely a difference as large is by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogRatio {
    pub(super) ratio: Estimate,
    /// `None` where nothing says how the storage varies from run to run.
    pub(super) p_value: Option<f64>,
    /// What further runs would show; `None` where there is no test.
    pub(super) power: Option<RunPower>,
}

impl LogRatio {
    /// A ratio that no repeat would change.
    pub(super) const fn certain(ratio: Estimate, p_value: Option<f64>) -> Self {
        Self { ratio, p_value, power: None }
    }
}

/// A difference with its standard error and the degrees of freedom of that.
struct Test {
    difference: f64,
    error: f64,
    freedom: f64,
    /// Variance of one run of each side, added up.
    run_variance: f64,
}

/// Beyond this number of runs of a side, no number is stated.
const RUNS_NEEDED_MAX: u32 = 1000;

/// What decides how many runs find a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunPower {
    /// Of logarithms.
    difference: f64,
    /// Variance of one run of each side, added up.
    run_variance: f64,
    /// Degrees of freedom known from earlier runs.
    known_freedom: f64,
}

impl RunPower {
    /// The fewest runs of each side with which Student's test at 5% finds the difference in 80% of
    /// comparisons: k with difference ≥ (t(0.975) + t(0.8)) √(variance / k) at 2k − 2 degrees of
    /// freedom, and those known from earlier runs (Guenther, *The American Statistician* 35, 1981).
    pub(super) fn runs_needed(self) -> Option<u32> {
        let (mut too_few, mut enough) = (1, RUNS_NEEDED_MAX);
        if !self.is_found_by(enough) {
            return None;
        }
        while enough - too_few > 1 {
            let middle = u32::midpoint(too_few, enough);
            if self.is_found_by(middle) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        Some(enough)
    }

    fn is_found_by(self, runs: u32) -> bool {
        const POWER: f64 = 0.8;
        let runs = f64::from(runs);
        let freedom = self.known_freedom + 2.0 * runs - 2.0;
        let reach = student_quantile(0.975, freedom) + student_quantile(POWER, freedom);
        self.difference.abs() >= reach * (self.run_variance / runs).sqrt()
    }
}

/// Other over base; `None` where an interval reaches 0.
pub(super) fn log_ratio(
    base: &[Estimate],
    other: &[Estimate],
    variation: Option<Variation>,
) -> Option<LogRatio> {
    let (base, other) = (Logs::new(base)?, Logs::new(other)?);
    let difference = series::mean(&other.values) - series::mean(&base.values);
    let is_shown = base.values.len() > 1 && other.values.len() > 1;
    let lacks_interval = base.lacks_interval || other.lacks_interval;
    // A stated variation is one from run to run: how a run varies within itself is not in it.
    let variation =
        variation.filter(|known| known.is_enough() && !(lacks_interval && known.is_stated()));
    let test = match variation {
        Some(known) => with_history(&base, &other, known, difference),
        None if is_shown => welch(&base, &other, difference),
        None => within_runs(&base, &other, difference),
    };
    let is_tested = is_shown || variation.is_some();
    if !is_tested && lacks_interval {
        let ratio = Estimate::without_interval(difference.exp(), 1);
        return Some(LogRatio::certain(ratio, None));
    }
    let reach = test.error * student_quantile(0.975, test.freedom);
    let is_at_least = other.is_at_least || base.is_at_least;
    let ratio = Estimate {
        value: difference.exp(),
        low: if base.is_at_least { 0.0 } else { (difference - reach).exp() },
        high: if other.is_at_least { f64::INFINITY } else { (difference + reach).exp() },
        confidence: if test.error > 0.0 { 0.95 } else { 1.0 },
        n: count(test.freedom.min(1e6) + 1.0).max(count_of(base.values.len())),
    };
    let p_value = (is_tested && !is_at_least).then(|| p_value(&test));
    let known_freedom = variation.map_or(0.0, |known| known.freedom);
    let Test { run_variance, .. } = test;
    let power = p_value.map(|_| RunPower { difference, run_variance, known_freedom });
    Some(LogRatio { ratio, p_value, power })
}

/// Welch with each side's variance not below what its runs show from within.
fn welch(base: &Logs, other: &Logs, difference: f64) -> Test {
    let of_side = |side: &Logs| series::variance(&side.values).max(side.within) / side.n();
    let (one, two) = (of_side(base), of_side(other));
    let parts = one * one / (base.n() - 1.0) + two * two / (other.n() - 1.0);
    let freedom = if parts > 0.0 { (one + two).powi(2) / parts } else { KNOWN };
    let run_variance = one * base.n() + two * other.n();
    Test { difference, error: (one + two).sqrt(), freedom, run_variance }
}

/// One variance from run to run for both sides, pooled with earlier runs.
fn with_history(base: &Logs, other: &Logs, known: Variation, difference: f64) -> Test {
    let freedom = known.freedom + base.n() + other.n() - 2.0;
    let pooled = (known.squares + base.squares() + other.squares()) / freedom;
    let [one, two] = [base, other].map(|side| pooled.max(side.within));
    let error = (one / base.n() + two / other.n()).sqrt();
    Test { difference, error, freedom, run_variance: one + two }
}

/// What the runs show from within, and no more.
fn within_runs(base: &Logs, other: &Logs, difference: f64) -> Test {
    let error = (base.within / base.n() + other.within / other.n()).sqrt();
    Test { difference, error, freedom: KNOWN, run_variance: base.within + other.within }
}

/// Two-sided.
fn p_value(test: &Test) -> f64 {
    if test.error <= 0.0 {
        return if test.difference.abs() > 0.0 { 0.0 } else { 1.0 };
    }
    2.0 * student((test.difference / test.error).abs(), test.freedom).upper
}

/// Holm's procedure: which of several differences hold when one in `1 / share` of all comparisons
/// may call any of them one by chance (Holm 1979).
pub(super) fn holm(p_values: &[Option<f64>], share: f64) -> Vec<bool> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(place, p)| Some((place, (*p)?))).collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut holds = vec![false; p_values.len()];
    let all = order.len();
    for (rank, (place, p)) in order.into_iter().enumerate() {
        if p > share / real_len(all - rank) {
            break;
        }
        holds[place] = true;
    }
    holds
}

/// A ratio of numbers that were counted: none of their doubt is known.
pub(super) fn counted(base: &Estimate, other: &Estimate) -> Option<Estimate> {
    statistics::quotient(other, base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    fn exact(values: &[f64]) -> Vec<Estimate> {
        values.iter().map(|value| Estimate::exact(*value, 1)).collect()
    }

    /// t = 4.3718 with 4.8302 degrees of freedom by hand; the density of Student's law integrated
    /// by another program.
    #[test]
    fn welch_is_that_of_the_textbook() {
        let (base, other) = (exact(&[100.0, 104.0, 98.0]), exact(&[112.0, 109.0, 118.0, 110.0]));
        let found = log_ratio(&base, &other, None).unwrap();
        assert!((found.p_value.unwrap() - 0.007_806_7).abs() < 1e-6, "{found:?}");
        assert!((found.ratio.value - 1.114_876).abs() < 1e-6, "{found:?}");
    }

    /// The table of a simulation-checked design: deviations from run to run of 1, 3 and 8% with
    /// 1.3% within each run, and sides that differ by 5, 10 and 15%.
    #[test]
    fn the_runs_that_are_needed_are_those_of_the_table() {
        for (deviation, expected) in [(0.01_f64, [4, 2, 2]), (0.03, [9, 4, 3]), (0.08, [45, 13, 7])]
        {
            let variance = deviation.powi(2) + 0.013_f64.powi(2);
            let power = |ratio: f64| RunPower {
                difference: ratio.ln(),
                run_variance: 2.0 * variance,
                known_freedom: 0.0,
            };
            let found = [1.05, 1.10, 1.15].map(|ratio| power(ratio).runs_needed());
            assert_eq!(found, expected.map(Some), "{deviation}");
        }
        let equal = RunPower { difference: 1e-9, run_variance: 0.01, known_freedom: 0.0 };
        assert_eq!(equal.runs_needed(), None);
    }

    #[test]
    fn single_runs_have_a_ratio_and_no_test() {
        let run = |value: f64| Estimate {
            value,
            low: 0.95 * value,
            high: 1.05 * value,
            confidence: 0.95,
            n: 30,
        };
        let found = log_ratio(&[run(100.0)], &[run(200.0)], None).unwrap();
        assert!(found.p_value.is_none() && (found.ratio.value - 2.0).abs() < 1e-9);
        let known = log_ratio(&[run(100.0)], &[run(200.0)], Some(Variation::known(0.0))).unwrap();
        assert!(known.p_value.unwrap() < 1e-9 && known.ratio.low > 1.8, "{known:?}");
        assert!(log_ratio(&[Estimate { low: 0.0, ..run(1.0) }], &[run(1.0)], None).is_none());
        let short = Estimate::without_interval(100.0, 1);
        let found = log_ratio(&[short], &[run(200.0)], Some(Variation::known(0.0))).unwrap();
        assert!(found.p_value.is_none() && !found.ratio.has_interval(), "{found:?}");
    }

    #[test]
    fn a_side_that_is_known_by_its_lower_end_bounds_one_end_only() {
        let least =
            Estimate { value: 100.0, low: 90.0, high: f64::INFINITY, confidence: 0.95, n: 9 };
        let found = log_ratio(&exact(&[50.0, 51.0]), &[least, least], None).unwrap();
        assert!(found.ratio.is_at_least() && found.p_value.is_none(), "{found:?}");
        let below = log_ratio(&[least, least], &exact(&[50.0, 51.0]), None).unwrap();
        assert!(below.ratio.low <= 0.0 && below.ratio.high.is_finite(), "{below:?}");
    }

    #[test]
    fn holm_stops_at_the_first_that_may_be_chance() {
        let p = [Some(0.001), None, Some(0.03), Some(0.2), Some(0.012)];
        assert_eq!(holm(&p, 0.05), [true, false, false, false, true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }

    /// `k` repeats a side with a deviation from run to run, an error within of 1.3% and a true
    /// ratio; `history` earlier runs of each side are known.
    fn compared(k: u64, deviation: f64, ratio: f64, history: u64, trial: u64) -> LogRatio {
        let within = 0.013;
        let draw = |random: &mut Random, level: f64| {
            let value = level * (deviation * random.normal() + within * random.normal()).exp();
            let reach = (1.96 * within).exp();
            Estimate { value, low: value / reach, high: value * reach, confidence: 0.95, n: 60 }
        };
        let mut random = Random::part(7, trial);
        let mut side = |level: f64, runs: u64| -> Vec<Estimate> {
            (0..runs).map(|_| draw(&mut random, level)).collect()
        };
        let (base, other) = (side(1e4, k), side(1e4 * ratio, k));
        let values = |runs: Vec<Estimate>| runs.iter().map(|run| run.value).collect();
        let earlier = [values(side(1e4, history)), values(side(1e4 * ratio, history))];
        let known = (history > 0).then(|| Variation::of_groups(&earlier));
        log_ratio(&base, &other, known).unwrap()
    }

    /// The share of trials in which something holds.
    fn share(trials: u64, holds: impl Fn(u64) -> bool) -> f64 {
        let times = (0..trials).filter(|trial| holds(*trial)).count();
        real_len(times) / real_len(usize::try_from(trials).unwrap())
    }

    /// How often the sides are called different.
    fn called(k: u64, deviation: f64, ratio: f64, history: u64, trials: u64) -> f64 {
        share(trials, |trial| {
            compared(k, deviation, ratio, history, trial).p_value.is_some_and(|p| p <= 0.05)
        })
    }

    #[test]
    fn intervals_of_ratios_hold_the_true_ratio() {
        for (k, deviation, history) in
            [(3, 0.01, 0), (3, 0.03, 0), (5, 0.08, 0), (3, 0.03, 4), (1, 0.03, 4)]
        {
            let held =
                share(1000, |trial| compared(k, deviation, 1.1, history, trial).ratio.covers(1.1));
            println!("{k} repeats, {deviation}, history {history}: {held} held");
            assert!(held >= 0.93, "{k} {deviation} {history}: {held}");
        }
    }

    /// Targets: equal sides differ in at most 5% of comparisons; three repeats find 10% at 3% from
    /// run to run in 16 of 25, with history in 21 of 25.
    #[test]
    fn errors_and_power_are_those_that_were_simulated() {
        for (deviation, history) in [(0.01, 0), (0.03, 0), (0.08, 0), (0.03, 4), (0.08, 4)] {
            let seen = called(3, deviation, 1.0, history, 2000);
            println!("A/A, 3 repeats, {deviation}, history {history}: {seen}");
            assert!(seen <= 0.05, "{deviation} {history}: {seen}");
        }
        // By Student's law exactly 5%: 0.3 points are three standard errors of 40,000 trials.
        for deviation in [0.01, 0.03, 0.08] {
            let single = called(1, deviation, 1.0, 4, 40_000);
            println!("A/A, single runs, {deviation}, history 4: {single}");
            assert!(single <= 0.053, "{deviation}: {single}");
        }
        let (few, known) = (called(3, 0.03, 1.1, 0, 2000), called(3, 0.03, 1.1, 4, 2000));
        println!("+10% at 3%: {few} of three repeats, {known} with history");
        assert!(few >= 0.64 && known >= 0.84, "{few} {known}");
    }
}
