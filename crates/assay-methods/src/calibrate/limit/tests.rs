//! Limits between steps whose shares beyond the limit were counted by hand.

use super::*;
use crate::calibrate::rung::tests::with_slow;

const LIMIT: LatencyLimit =
    LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 };

/// Steps of load, reads and slow reads an interval.
fn rungs(of: &[(u32, u64, u64)]) -> Rungs {
    of.iter().map(|(load, ios, slow)| (*load, with_slow(*load, *ios, *slow))).collect()
}

fn answered(of: &[(u32, u64, u64)]) -> Option<Capacity> {
    answer(&rungs(of), None, &LIMIT, CapacityBound::Saturated)
}

#[test]
fn shares_never_fall_and_keep_what_is_in_order() {
    let shares = ascending_shares(&[(1, 100), (5, 100), (3, 100), (9, 100)]);
    assert_eq!(shares, [0.01, 0.04, 0.04, 0.09]);
    assert_eq!(ascending_shares(&[(4, 10), (2, 10), (0, 20)]), [0.15, 0.15, 0.15]);
    assert!(ascending_shares(&[]).is_empty());
}

#[test]
fn the_interval_holds_every_load_that_may_be_the_last_within() {
    // Surely within, perhaps, perhaps not, certainly beyond.
    let rungs = rungs(&[(3, 600, 1), (4, 800, 6), (5, 1000, 10), (6, 1200, 40)]);
    let found = answer(&rungs, None, &LIMIT, CapacityBound::Saturated).unwrap();
    let of = |load: u32| rungs[&load].estimates.iops;
    assert_eq!((found.queue_depth, found.bound), (4, CapacityBound::LatencyLimit));
    assert!((found.rate.value - of(4).value).abs() < 1e-9);
    assert!((found.rate.low - of(3).low).abs() < 1e-9);
    assert!((found.rate.high - of(5).high).abs() < 1e-9);
}

#[test]
fn between_sure_neighbours_only_the_rate_is_in_doubt() {
    let found = answered(&[(4, 800, 1), (5, 1000, 40), (6, 1010, 60)]).unwrap();
    assert_eq!((found.queue_depth, found.bound), (4, CapacityBound::LatencyLimit));
    assert!(found.rate.relative_half_width() < 0.01);
}

#[test]
fn a_gap_between_both_sides_is_an_open_question() {
    let found = answered(&[(4, 800, 1), (8, 1600, 40)]).unwrap();
    assert_eq!(found.bound, CapacityBound::TimeBudget);
    assert!(found.rate.high >= 1600.0 / 0.025);
}

#[test]
fn a_limit_beyond_saturation_costs_nothing() {
    let found = answered(&[(8, 1600, 1), (16, 1600, 1), (32, 1600, 60)]).unwrap();
    assert_eq!(found.bound, CapacityBound::Saturated);
    assert!(found.rate.covers(1601.0 / 0.025));
}

#[test]
fn where_more_load_gives_less_the_load_that_gives_most_answers() {
    let found = answered(&[(8, 1600, 1), (16, 2000, 1), (32, 1500, 1), (64, 1200, 80)]).unwrap();
    assert_eq!((found.queue_depth, found.bound), (16, CapacityBound::Saturated));
    assert!(found.rate.covers(2001.0 / 0.025) && found.rate.relative_half_width() < 0.01);
}

#[test]
fn nothing_is_within_a_limit_that_the_smallest_load_breaks() {
    assert_eq!(answered(&[(1, 200, 30), (2, 400, 60)]), None);
}

#[test]
fn a_small_load_that_seems_to_break_what_larger_ones_keep_is_taken_with_them() {
    let found = answered(&[(1, 200, 3), (2, 400, 1), (4, 800, 1), (8, 1600, 80)]).unwrap();
    assert_eq!(found.queue_depth, 4);
}

#[test]
fn a_load_between_is_chosen_by_the_line_between_both_sides() {
    let rungs = rungs(&[(8, 800, 1), (16, 1600, 40)]);
    let Some(Lacking::Rung(load)) = lacking(&rungs, None, &LIMIT) else {
        panic!("a load between is missing")
    };
    assert!((9..=15).contains(&load));
}
