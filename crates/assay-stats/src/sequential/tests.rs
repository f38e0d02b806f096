//! Looks against values of independent programs, and how often they err on simulated series.

use super::*;
use crate::random::Random;
use assay_model::number::real;

/// Rows that another program can make again: no random numbers.
fn known_rates() -> Vec<f64> {
    let row = |at: u32| {
        let wave = 0.05 * (1.3 * f64::from(at)).sin();
        1000.0 * (1.0 + wave + 0.1 * (f64::from(7 * at % 11) - 5.0) / 5.0)
    };
    (0..80).map(row).collect()
}

fn known_shares() -> Vec<BeyondCount> {
    let row = |at: u32| {
        let ripple = 0.8 * (0.9 * f64::from(at)).sin() + f64::from(5 * at % 7) / 6.0;
        let beyond = 1e9 * 0.004 * (1.0 + ripple);
        BeyondCount { least_ios: beyond, most_ios: beyond, ios: 1e9 }
    };
    (0..80).map(row).collect()
}

fn is_close(value: f64, known: f64) -> bool {
    (value / known - 1.0).abs() < 1e-6
}

/// Values of `NumPy` and `SciPy`: the mean of the rows from a quarter on, Student's reach at 2.5%/3 and
/// at 2.5%/6, and the mean of the last quarter.
#[test]
fn the_reach_of_a_rate_is_that_of_an_independent_program() {
    let rows = known_rates();
    let known = [
        [995.810_364_984_2, 0.124_138_212_52, 0.159_280_884_90, 992.194_220_341_8],
        [1_001.368_026_017_0, 0.066_722_423_53, 0.085_611_081_76, 1_001.355_808_287_8],
        [1_000.325_293_998_9, 0.031_565_658_34, 0.037_091_864_71, 995.190_950_038_2],
    ];
    for (look, [value, reach, reach_of_two, last]) in LOOKS.iter().zip(known) {
        let free = DecisionLook { rate_margin_share: 0.0, ..*look };
        for (criteria, reach) in [(1, reach), (2, reach_of_two)] {
            let found = free.decide_mean(&rows, 900.0, LimitSide::AtLeast, criteria).unwrap();
            assert!(is_close(found.value, value) && is_close(found.last_value, last), "{found:?}");
            assert!(is_close((found.high / found.value).ln(), reach), "{found:?} {reach}");
            assert!(is_close((found.value / found.low).ln(), reach), "{found:?} {reach}");
        }
        let found = look.decide_mean(&rows, 900.0, LimitSide::AtLeast, 1).unwrap();
        let widest = reach.max(look.rate_margin_share);
        assert!(is_close((found.high / found.value).ln(), widest), "{found:?}");
    }
}

/// Values of `SciPy`: share, low and high of all rows and of the rows from a quarter on.
#[test]
fn the_limits_of_a_share_are_those_of_an_independent_program() {
    let rows = known_shares();
    let known = [
        [0.006_149_668_142, 0.003_322_931_592, 0.014_393_970_58],
        [0.005_827_923_608, 0.002_376_706_082, 0.026_036_500_99],
        [0.006_133_073_648, 0.004_242_337_444, 0.009_539_518_695],
        [0.006_010_628_585, 0.003_512_909_032, 0.012_197_928_03],
        [0.006_068_040_565, 0.004_714_037_410, 0.008_067_585_730],
        [0.006_040_831_373, 0.004_524_544_743, 0.008_420_932_351],
    ];
    for (look, pair) in LOOKS.iter().zip(known.chunks(2)) {
        let late = &rows[look.time_s / 4..look.time_s];
        for (part, known) in [(&rows[..look.time_s], pair[0]), (late, pair[1])] {
            let found = BeyondShare::of(part, BeyondCount::most, level()).unwrap();
            for (value, known) in [found.value, found.low, found.high].iter().zip(known) {
                assert!(is_close(*value, known), "{}: {found:?} {known:?}", look.time_s);
            }
        }
    }
}

impl std::fmt::Debug for BeyondShare {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} in {}..{}", self.value, self.low, self.high)
    }
}

#[test]
fn a_rate_far_below_fails_first_and_one_far_above_passes_second() {
    use LookOutcome::{Fail, Pass, Undecided};
    let rows = known_rates();
    let outcomes = |limit: f64, good: LimitSide| {
        LOOKS.map(|look| look.decide_mean(&rows, limit, good, 1).unwrap().outcome)
    };
    assert_eq!(outcomes(2000.0, LimitSide::AtLeast), [Fail; 3]);
    assert_eq!(outcomes(500.0, LimitSide::AtLeast), [Undecided, Pass, Pass]);
    assert_eq!(outcomes(1000.0, LimitSide::AtLeast), [Undecided; 3]);
    // A time is good below its limit.
    assert_eq!(outcomes(2000.0, LimitSide::AtMost), [Undecided, Pass, Pass]);
    assert_eq!(outcomes(500.0, LimitSide::AtMost), [Fail; 3]);
}

#[test]
fn nothing_is_said_without_rows_or_without_a_number() {
    let look = LOOKS[0];
    assert_eq!(look.decide_mean(&[1.0; 19], 1.0, LimitSide::AtLeast, 1), None);
    assert_eq!(look.decide_mean(&[f64::NAN; 20], 1.0, LimitSide::AtLeast, 1), None);
    assert_eq!(look.decide_mean(&[0.0; 20], 1.0, LimitSide::AtLeast, 1), None);
    assert_eq!(look.decide_share(&[BeyondCount::default(); 20], 0.01, 1), None);
}

#[test]
fn an_interval_of_95_percent_is_widened_to_the_level_of_a_look() {
    // SciPy: t.isf(0.025 / 3, 3) and t.isf(0.025 / 9, 3) over t.isf(0.025, 3).
    assert!(is_close(widening(1), 1.526_076_736_85) && is_close(widening(3), 2.257_655_968_00));
}

#[test]
fn few_ios_pass_nothing_though_none_is_beyond_the_limit() {
    let of = |ios: f64| [BeyondCount { least_ios: 0.0, most_ios: 0.0, ios }; 40];
    let outcome = |ios: f64| LOOKS[1].decide_share(&of(ios), 0.01, 1).unwrap().outcome;
    // None of N beyond: the upper limit is -ln(0.025/3)/N, which 479 I/Os bring to 1%.
    assert_eq!(outcome(11.0), LookOutcome::Undecided);
    assert_eq!(outcome(13.0), LookOutcome::Pass);
}

#[test]
fn a_bucket_that_the_limit_divides_counts_against_every_decision() {
    let rows = |least_ios: f64, most_ios: f64| [BeyondCount { least_ios, most_ios, ios: 1e5 }; 40];
    let outcome = |look: DecisionLook, least: f64, most: f64| {
        look.decide_share(&rows(least, most), 0.01, 1).unwrap().outcome
    };
    assert_eq!(outcome(LOOKS[1], 100.0, 100.0), LookOutcome::Pass);
    assert_eq!(outcome(LOOKS[1], 100.0, 1100.0), LookOutcome::Undecided);
    assert_eq!(outcome(LOOKS[0], 4000.0, 4000.0), LookOutcome::Fail);
    assert_eq!(outcome(LOOKS[0], 900.0, 4000.0), LookOutcome::Undecided);
}

/// Rates around 1 with standard deviation 10% and memory `phi`.
fn rates(random: &mut Random, phi: f64) -> Vec<f64> {
    let mut level = random.normal();
    let mut row = || {
        let now = level;
        level = phi * level + (1.0 - phi * phi).sqrt() * random.normal();
        (0.1 * now - 0.005).exp()
    };
    (0..80).map(|_| row()).collect()
}

/// The first decision, and when it came.
fn decided(rows: &[f64], limit: f64) -> (LookOutcome, usize) {
    let looks = LOOKS.iter().filter_map(|look| {
        let outcome = look.decide_mean(rows, limit, LimitSide::AtLeast, 1)?.outcome;
        (outcome != LookOutcome::Undecided).then_some((outcome, look.time_s))
    });
    looks.into_iter().next().unwrap_or((LookOutcome::Undecided, 100))
}

/// How many of `runs` came to an outcome.
fn count(runs: &[Vec<f64>], limit: f64, outcome: LookOutcome) -> usize {
    runs.iter().filter(|rows| decided(rows, limit).0 == outcome).count()
}

/// The tables of the design simulate 2,000 runs a cell; these 400 a kind repeat their bounds.
#[test]
fn wrong_decisions_are_rare_on_devices_whose_seconds_show_their_noise() {
    let shapes: [fn(&mut [f64]); 3] = [
        |_| (),
        |rows| rows[..10].iter_mut().for_each(|row| *row *= 0.25),
        |rows| rows[..15].iter_mut().for_each(|row| *row *= 3.0),
    ];
    for (number, phi) in (0..).zip([0.0, 0.3, 0.6]) {
        for shape in shapes {
            let mut random = Random::part(41, number);
            let mut runs: Vec<Vec<f64>> = (0..400).map(|_| rates(&mut random, phi)).collect();
            for rows in &mut runs {
                shape(rows);
            }
            for truth in [0.5, 0.9, 0.995] {
                let wrong = count(&runs, 1.0 / truth, LookOutcome::Pass);
                assert!(wrong <= 10, "φ {phi}, {truth}: {wrong} of 400 pass");
            }
            for truth in [1.005, 1.1, 2.0, 10.0] {
                let wrong = count(&runs, 1.0 / truth, LookOutcome::Fail);
                assert!(wrong <= 10, "φ {phi}, {truth}: {wrong} of 400 fail");
            }
        }
    }
}

#[test]
fn half_the_limit_fails_after_20_s_and_twice_the_limit_passes_after_40_s() {
    let mut random = Random::new(41);
    for phi in [0.0, 0.3, 0.6, 0.9] {
        let times = |runs: &[Vec<f64>], truth: f64| {
            let mut times: Vec<usize> =
                runs.iter().map(|rows| decided(rows, 1.0 / truth).1).collect();
            times.sort_unstable();
            times[runs.len() / 2]
        };
        let runs: Vec<Vec<f64>> = (0..100).map(|_| rates(&mut random, phi)).collect();
        assert_eq!((times(&runs, 0.5), times(&runs, 2.0)), (20, 40), "φ {phi}");
    }
}

/// A burst is a second with most of what is beyond the limit; 20 s lie between two on average, so
/// that 40 s hold none in e^-2 of runs: no rule can be right there, and the text says so.
#[test]
fn bursts_that_were_not_seen_pass_as_often_as_chance_has_it() {
    let mut random = Random::new(7);
    let mut passed = 0;
    for _ in 0..300 {
        let row = |random: &mut Random| {
            let share = if random.chance(1.0 / 21.0) { 0.22 } else { 0.0006 };
            let beyond = (0..2000).filter(|_| random.chance(share)).count();
            let beyond = real(beyond as u64);
            BeyondCount { least_ios: beyond, most_ios: beyond, ios: 2000.0 }
        };
        let rows: Vec<BeyondCount> = (0..40).map(|_| row(&mut random)).collect();
        let decision = LOOKS[1].decide_share(&rows, 0.01, 1).unwrap();
        passed += usize::from(decision.outcome == LookOutcome::Pass);
    }
    let chance = (20.0f64 / 21.0).powi(40);
    let expected = 300.0 * chance;
    let error = (expected * (1.0 - chance)).sqrt();
    assert!(real(passed as u64) < expected + 3.0 * error, "{passed} of 300, {expected} expected");
    assert!(passed > 0);
}
