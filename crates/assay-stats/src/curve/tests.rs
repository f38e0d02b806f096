//! Curves of queues whose saturation and knee are known.

use super::*;
use crate::queueing::ClosedQueue;
use crate::random::Random;
use proptest::prelude::*;

fn estimate(value: f64, relative: f64) -> IntervalEstimate {
    IntervalEstimate {
        value,
        low: value * (1.0 - relative),
        high: value * (1.0 + relative),
        confidence: 0.95,
        n: 20,
        effective_n: 20.0,
    }
}

/// The curve of `servers` exponential servers with closed customers, with intervals of a relative
/// half width.
fn closed(servers: u32, loads: &[u32], relative: f64) -> Vec<LoadPoint> {
    let point = |customers: &u32| {
        let queue = ClosedQueue { servers, services_per_s: 100.0, customers: *customers };
        LoadPoint {
            load: f64::from(*customers),
            throughput: estimate(queue.throughput(), relative),
            latency: estimate(queue.mean_response_s(), relative),
        }
    };
    loads.iter().map(point).collect()
}

fn curve(throughputs: &[f64], relative: f64) -> Vec<LoadPoint> {
    let doubling = std::iter::successors(Some(1.0), |load| Some(2.0 * load));
    let point = |(load, throughput): (f64, &f64)| LoadPoint {
        load,
        throughput: estimate(*throughput, relative),
        latency: estimate(load / throughput, relative),
    };
    doubling.zip(throughputs).map(point).collect()
}

const LADDER: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

#[test]
fn servers_saturate_at_their_number() {
    for (servers, from) in [(1, 0), (4, 2), (32, 5), (64, 6)] {
        let Saturation::Saturated(plateau) = saturation(&closed(servers, &LADDER, 0.01), 0.05)
        else {
            panic!("{servers} servers");
        };
        assert_eq!(plateau.from, from);
        assert!(plateau.capacity.covers(100.0 * f64::from(servers)) && !plateau.declines);
    }
}

#[test]
fn the_last_rung_is_never_saturation() {
    for servers in [128, 1000] {
        let Saturation::StillRising { gain } = saturation(&closed(servers, &LADDER, 0.01), 0.05)
        else {
            panic!("{servers} servers");
        };
        assert!(gain.covers(1.0), "{gain:?}");
    }
}

#[test]
fn a_bend_just_before_the_end_asks_for_more_load() {
    let loads: Vec<u32> = (1..=32).collect();
    let outcome = saturation(&closed(20, &loads, 0.002), 0.05);
    assert_eq!(outcome, Saturation::Undecided(CurveDoubt::LoadSpanTooShort));
    let outcome = saturation(&closed(20, &[20], 0.002), 0.05);
    assert_eq!(outcome, Saturation::Undecided(CurveDoubt::LoadSpanTooShort));
    assert_eq!(saturation(&[], 0.05), Saturation::Undecided(CurveDoubt::LoadSpanTooShort));
}

#[test]
fn wide_intervals_prove_nothing() {
    let outcome = saturation(&closed(4, &LADDER, 0.2), 0.05);
    assert_eq!(outcome, Saturation::Undecided(CurveDoubt::IntervalsTooWide));
    let mut reaching_zero = closed(4, &LADDER, 0.01);
    reaching_zero[7].throughput.low = -1.0;
    let outcome = saturation(&reaching_zero, 0.05);
    assert_eq!(outcome, Saturation::Undecided(CurveDoubt::IntervalsTooWide));
}

#[test]
fn a_decline_beyond_the_peak_is_seen_and_left_out_of_the_capacity() {
    let Saturation::Saturated(plateau) =
        saturation(&curve(&[100.0, 200.0, 400.0, 401.0, 360.0, 300.0], 0.01), 0.05)
    else {
        panic!("not saturated");
    };
    assert_eq!((plateau.from, plateau.peak, plateau.declines), (2, 3, true));
    assert!((plateau.capacity.value - 400.5).abs() < 0.1);
    assert_eq!(plateau.capacity.n, 40);
}

#[test]
fn the_joined_capacity_holds_the_truth_as_often_as_it_says() {
    let mut random = Random::new(1);
    let mut covered = 0;
    for _ in 0..1000 {
        let noisy = closed(8, &LADDER, 0.0).into_iter().map(|mut point| {
            let truth = point.throughput.value;
            let value = truth * (1.0 + 0.01 * random.normal());
            point.throughput = IntervalEstimate {
                low: value - 0.0196 * truth,
                high: value + 0.0196 * truth,
                ..estimate(value, 0.0)
            };
            point
        });
        match saturation(&noisy.collect::<Vec<_>>(), 0.1) {
            Saturation::Saturated(plateau) if plateau.capacity.covers(800.0) => covered += 1,
            _ => {}
        }
    }
    assert!((930..=970).contains(&covered), "{covered}");
}

#[test]
fn the_knee_lies_where_the_servers_run_out() {
    for (servers, at) in [(1, 0), (4, 2), (32, 5)] {
        let found = CurveKnee::Found { at, earliest: at, latest: at };
        assert_eq!(knee(&closed(servers, &LADDER, 0.01)), found);
    }
    // Within 40% either way the neighbours at half the power cannot be told apart.
    let found = CurveKnee::Found { at: 2, earliest: 1, latest: 3 };
    assert_eq!(knee(&closed(4, &LADDER, 0.2)), found);
}

#[test]
fn a_curve_that_rises_to_its_end_has_no_knee() {
    assert_eq!(knee(&closed(128, &LADDER, 0.01)), CurveKnee::StillRising);
    assert_eq!(knee(&closed(64, &LADDER, 0.3)), CurveKnee::Undecided);
    assert_eq!(knee(&[]), CurveKnee::Undecided);
}

#[test]
#[should_panic(expected = "ascend in load")]
fn points_out_of_order_are_a_bug() {
    saturation(&closed(4, &[2, 1], 0.01), 0.05);
}

proptest! {
    #[test]
    fn saturation_always_rests_on_a_doubling_of_load(
        throughputs in prop::collection::vec(1.0..1000.0, 1..12), relative in 0.0..0.3,
    ) {
        let points = curve(&throughputs, relative);
        let last = points.len() - 1;
        if let Saturation::Saturated(plateau) = saturation(&points, 0.05) {
            prop_assert!(plateau.from < last && plateau.from <= plateau.peak);
            prop_assert!(points[last].load >= 2.0 * points[plateau.from].load);
            let most = throughputs[plateau.from..].iter().copied().fold(0.0, f64::max);
            prop_assert!(throughputs[plateau.from] * 1.05 >= most * (1.0 - 1e-9));
        }
        if let CurveKnee::Found { at, earliest, latest } = knee(&points) {
            prop_assert!(earliest <= at && at <= latest && latest < last);
        }
    }
}
