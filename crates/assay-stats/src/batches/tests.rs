//! Tests of intervals of equal stretches: short series, ends that contradict nothing, units.
#![allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]

use super::*;
use crate::random::Random;
use proptest::prelude::*;

/// Eight seconds of a disk that drifts from 21,600 to 25,700 reads per second.
const DRIFTING: [f64; 8] =
    [24_052.0, 22_184.0, 21_606.0, 24_779.0, 25_384.0, 23_947.0, 25_693.0, 25_563.0];
/// Eight seconds whose mean is not known within a factor of 1.49.
const WANDERING: [f64; 8] =
    [23_668.0, 24_170.0, 26_162.0, 30_866.0, 28_407.0, 27_096.0, 32_096.0, 30_607.0];

#[test]
fn eight_drifting_seconds_have_an_interval_of_moderate_width() {
    // By an independent computation of the rule (NumPy and SciPy).
    let found = mean_of_batches(&DRIFTING, 1.0).unwrap();
    assert_eq!((found.low.round(), found.high.round()), (16_996.0, 34_318.0), "{found:?}");
    assert!(found.n < 4, "{found:?}");
}

#[test]
fn a_rate_that_is_hardly_known_has_no_interval_but_the_time_needed() {
    // Half the width is 0.62: 8 s · (0.62 / 0.2)² are 77 s.
    let why = mean_of_batches(&WANDERING, 1.0).unwrap_err();
    assert_eq!((why.lowest_value, why.highest_value), (23_668.0, 32_096.0));
    assert_eq!((why.elapsed_s, why.row_s, why.needed_s), (8.0, 1.0, 80.0));
}

#[test]
fn few_seconds_have_no_interval_however_many_batches_they_are_cut_into() {
    let batches: Vec<f64> = (0..70).map(|at| 1000.0 + f64::from(at * 7 % 11)).collect();
    let why = mean_of_batches(&batches, 0.1).unwrap_err();
    assert_eq!((why.elapsed_s.round(), why.needed_s), (7.0, 20.0));
    assert!(ratio_of_batches(&batches, &[1.0; 70], 0.1).is_err());
    assert!(mean_of_batches(&batches, 0.2).is_ok());
    for none in [&[][..], &[5.0]] {
        assert!((mean_of_batches(none, 1.0).unwrap_err().needed_s - 20.0).abs() < 1e-9);
    }
}

#[test]
fn time_is_advised_only_where_more_than_there_was_is_needed() {
    for (rows, row_s) in [(1, 40.0), (4, 10.0), (7, 60.0), (0, 1.0), (3, 1.0), (7, 1.2), (8, 1.0)] {
        let values: Vec<f64> = (0..rows).map(|at| 100.0 * f64::from(1 + at * at)).collect();
        let why = mean_of_batches(&values, row_s).unwrap_err();
        assert_eq!(why.is_coarse(), row_s > 1.1, "{why:?}");
        assert!(why.is_coarse() || why.needed_s > why.elapsed_s, "{why:?}");
    }
}

#[test]
fn values_that_do_not_vary_leave_no_doubt() {
    let exact = mean_of_batches(&[3.0; 9], 1.0).unwrap();
    assert_eq!((exact.low, exact.high, exact.n), (3.0, 3.0, 9));
    let none = mean_of_batches(&[0.0; 9], 1.0).unwrap();
    assert_eq!((none.low, none.high), (0.0, 0.0));
}

#[test]
fn a_mean_time_beyond_twice_the_value_is_bounded_from_below_only() {
    let times: Vec<f64> = (0..12).map(|at| if at == 7 { 400.0 } else { 1.0 }).collect();
    let found = ratio_of_batches(&times, &[1.0; 12], 1.0).unwrap();
    assert!(found.is_at_least() && found.low > 0.0 && found.low < found.value, "{found:?}");
}

/// Rates of seconds as a simulated device has them.
fn rates() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..2e5_f64, 0..90)
}

proptest! {
    #[test]
    fn ends_surround_the_value_and_none_is_beyond_twice_of_it(rates in rates(), batch_s in 0.05..3.0_f64) {
        if let Ok(found) = mean_of_batches(&rates, batch_s) {
            prop_assert!(found.low <= found.value && found.value <= found.high);
            prop_assert!(found.high <= 1.5 * found.value || found.value <= 0.0);
            prop_assert!(found.n >= 1 && found.n <= count_of(rates.len()));
        }
        let ones = vec![1.0; rates.len()];
        if let Ok(found) = ratio_of_batches(&rates, &ones, batch_s) {
            prop_assert!(found.low <= found.value && found.value <= found.high);
            prop_assert!(found.is_at_least() || found.high <= 2.0 * found.value);
        }
    }

    #[test]
    fn a_change_of_unit_changes_no_width(rates in prop::collection::vec(1.0..1e4_f64, 8..60), factor in 1e-3..1e3_f64) {
        let scaled: Vec<f64> = rates.iter().map(|rate| rate * factor).collect();
        match (mean_of_batches(&rates, 1.0), mean_of_batches(&scaled, 1.0)) {
            (Ok(one), Ok(other)) => prop_assert!((other.high / one.high / factor - 1.0).abs() < 1e-9),
            (Err(one), Err(other)) => prop_assert_eq!(one.needed_s, other.needed_s),
            (one, other) => prop_assert!(false, "{:?} {:?}", one, other),
        }
    }
}

/// How often a bound by the mean or the mean square would let a quantile pass whose limit is half a
/// percent below the truth, in the law for which the bound is the closest: I/Os take the limit or
/// nothing, in bursts of a second. In percent.
fn passed_wrongly(rows: usize, burst_share: f64, times: f64) -> f64 {
    let trials = 2000;
    let mut random = Random::part(83, count_of(rows));
    let passed = (0..trials).filter(|_| {
        let slow: Vec<f64> = (0..rows)
            .map(|_| if random.chance(burst_share) { random.exponential() } else { 0.0 })
            .collect();
        // The share of slow I/Os over the whole, and that which is allowed.
        let most = ratio_of_batches_at_most(&slow, &vec![1.0; rows], 1.0).unwrap();
        let value = mean(&slow);
        let most = if value > 0.0 { value * (most / value).powf(times) } else { 0.0 };
        most <= 0.995 * burst_share && value > 0.0
    });
    100.0 * real_len(passed.count()) / f64::from(trials)
}

#[test]
fn the_bound_of_a_mean_of_bursts_is_rarely_too_low() {
    for (rows, times) in [(20, 1.9), (30, 1.65), (60, 1.0), (100, 1.0)] {
        for burst_share in [0.05, 0.1, 0.2, 0.5] {
            let share = passed_wrongly(rows, burst_share, times);
            println!("{rows} rows, bursts in {burst_share}: {share:.1}%");
            assert!(share <= 3.0, "{rows} rows, bursts in {burst_share}: {share}%");
        }
    }
}

#[test]
fn the_bound_is_the_upper_end_where_that_is_known() {
    let times: Vec<f64> = (0..60).map(|row| 1.0 + 0.1 * f64::from(row % 7)).collect();
    let found = ratio_of_batches(&times, &[1.0; 60], 1.0).unwrap();
    let most = ratio_of_batches_at_most(&times, &[1.0; 60], 1.0).unwrap();
    assert!((most - found.high).abs() < 1e-12);
    let mut burst = [1.0; 60];
    burst[20] = 100.0;
    assert!(ratio_of_batches(&burst, &[1.0; 60], 1.0).unwrap().is_at_least());
    assert!(ratio_of_batches_at_most(&burst, &[1.0; 60], 1.0).unwrap() > 100.0);
    assert_eq!(ratio_of_batches_at_most(&[1.0; 7], &[1.0; 7], 1.0), None);
}
