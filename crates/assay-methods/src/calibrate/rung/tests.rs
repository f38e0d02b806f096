//! Steps made of intervals that were counted by hand.

use super::*;
use assay_model::Precision;
use assay_model::measurement::{OperationResult, PackedOperations};

const P50: LimitStatistic = LimitStatistic::Quantile(0.5);
const P99: LimitStatistic = LimitStatistic::Quantile(0.99);

/// Length of an interval, ns.
const INTERVAL_NS: u64 = 25_000_000;

/// Reads of given service times, each so often.
fn reads(times: &[(u64, u64)], precision: Precision) -> PerOperation {
    let mut read = OperationResult::empty(precision, false);
    for (time_ns, ios) in times {
        read.ios += ios;
        read.bytes += ios * 8192;
        read.service.record_many(*time_ns, *ios);
    }
    PerOperation { read: Some(read), ..PerOperation::default() }
}

/// A slice of intervals, each with its reads.
pub(in crate::calibrate) fn slice(queue_depth: f64, intervals: &[Vec<(u64, u64)>]) -> Slice {
    let numbered = (0u64..).zip(intervals);
    let intervals: Vec<Interval> = numbered
        .map(|(index, times)| Interval {
            index,
            start_ns: index * INTERVAL_NS,
            end_ns: (index + 1) * INTERVAL_NS,
            operations: reads(times, Precision::Coarse),
            queue_depth_mean: queue_depth,
        })
        .collect();
    let all: Vec<(u64, u64)> = numbered_times(&intervals);
    Slice {
        begin_ns: 0,
        warm_up_ns: 0,
        end_ns: intervals.last().map_or(0, |last| last.end_ns),
        operations: PackedOperations::new(&reads(&all, Precision::Fine)),
        intervals,
        worker_busy_share: 0.1,
        delayed_share: None,
        host_busy_share: None,
    }
}

/// The middle of every bucket and its count: coarse, but the same for all.
fn numbered_times(intervals: &[Interval]) -> Vec<(u64, u64)> {
    let reads = intervals.iter().filter_map(|interval| interval.operations.read.as_ref());
    reads
        .flat_map(|read| {
            read.service.buckets().map(|(lowest, width, ios)| (lowest + width / 2, ios))
        })
        .collect()
}

/// A slice of 20 intervals of 1,000 reads: of each some take 2 ms, one more or less in turn, the
/// others 100 us.
pub(in crate::calibrate) fn with_slow(queue_depth: u32, ios: u64, slow: u64) -> CalibrationRung {
    let interval = |index: u64| {
        let slow = slow + index % 2 * 2;
        vec![(100_000, ios + index % 3 - slow), (2_000_000, slow)]
    };
    let intervals: Vec<Vec<(u64, u64)>> = (0..20).map(interval).collect();
    CalibrationRung::of(queue_depth, vec![slice(f64::from(queue_depth), &intervals)], P99).unwrap()
}

#[test]
fn rate_and_mean_are_those_of_the_sums() {
    let intervals =
        [vec![(100_000, 900), (300_000, 100)], vec![(100_000, 1100)], vec![(100_000, 1000)]];
    let rung = CalibrationRung::of(4, vec![slice(4.0, &intervals)], P50).unwrap();
    assert!((rung.estimates.iops.value - 3100.0 / 0.075).abs() < 1e-6);
    let mean_ns = (100_000.0 * 3000.0 + 300_000.0 * 100.0) / 3100.0;
    assert!((rung.estimates.service_time_ns.value / mean_ns - 1.0).abs() < 0.008);
    assert!((rung.estimates.elapsed_s - 0.075).abs() < 1e-12);
}

#[test]
fn the_interval_of_independent_counts_is_about_students() {
    // Ratio of sums over equal intervals is the mean. Its interval rests on the six lowest
    // frequencies of the ten counts instead of on all nine, so it is Student's of the counts
    // but for chance.
    let counts = [98.0, 103.0, 101.0, 95.0, 104.0, 99.0, 102.0, 97.0, 100.0, 101.0];
    let found = ratio(&counts, &[1.0; 10]).unwrap();
    let mean = 100.0;
    let squares: f64 = counts.iter().map(|count| (count - mean) * (count - mean)).sum();
    // The 0.975 quantile of Student's t with 9 degrees of freedom, from tables.
    let half = 2.262_157 * (squares / 9.0 / 10.0).sqrt();
    assert!((found.value - mean).abs() < 1e-9);
    assert!(((found.high - found.value) / half - 1.0).abs() < 0.25, "{found:?} {half}");
}

#[test]
fn completions_in_step_widen_the_interval_of_the_rate() {
    // 8 at a time: of a count of 200 an interval may have 8 more or less only because of where it
    // begins.
    let even =
        |ios: u64| CalibrationRung::of(16, vec![slice(16.0, &vec![vec![(100_000, ios)]; 20])], P50);
    let (alone, together) = (even(199).unwrap(), even(200).unwrap());
    let half = |rung: &CalibrationRung| rung.estimates.iops.high - rung.estimates.iops.value;
    assert!((half(&together) - 16.0 / 0.5).abs() < 1e-6);
    assert!((half(&alone) - 16.0 / 0.5).abs() < 1e-6);
    let mixed: Vec<Vec<(u64, u64)>> =
        (0..20).map(|index| vec![(100_000, 199 + index % 2)]).collect();
    let uneven = CalibrationRung::of(16, vec![slice(16.0, &mixed)], P50).unwrap();
    assert!(half(&uneven) < 16.0 / 0.5);
}

#[test]
fn a_quantile_is_judged_by_its_interval() {
    let judged = |slow| with_slow(4, 1000, slow).estimates.limited_ns.judged(1e6);
    assert_eq!(judged(3), Within::Surely);
    assert_eq!(judged(8), Within::Unclear);
    assert_eq!(judged(20), Within::Not);
}

#[test]
fn of_reads_and_writes_each_end_is_the_larger() {
    let span = |value: f64| RungSpan {
        value,
        low: value - 1.0,
        high: value + 1.0,
        sure_low: value - 2.0,
        sure_high: value + 2.0,
        effective_n: value,
    };
    let wide = RungSpan { high: 100.0, ..span(5.0) };
    let worse = span(10.0).worse(wide);
    assert_eq!((worse.value, worse.low, worse.high, worse.effective_n), (10.0, 9.0, 100.0, 5.0));
}

#[test]
fn what_was_before_an_interval_can_be_cut_off() {
    let intervals: Vec<Vec<(u64, u64)>> = (0..20).map(|_| vec![(100_000, 1000)]).collect();
    let slices = vec![slice(4.0, &intervals), slice(4.0, &intervals)];
    let rung = CalibrationRung::of(4, slices, P99).unwrap();
    let cut = rung.before(25, P99).unwrap();
    assert_eq!((cut.series().len(), cut.slices.len()), (25, 2));
    assert_eq!(cut.estimates.operations.ios(), 25_000);
    assert!(rung.before(1, P99).is_none());
}

#[test]
fn what_follows_a_cut_is_no_stall() {
    let mut intervals: Vec<Vec<(u64, u64)>> = (0..40).map(|_| vec![(100_000, 1000)]).collect();
    for slow in &mut intervals[10..] {
        *slow = vec![(200_000, 400)];
    }
    let rung = CalibrationRung::of(4, vec![slice(4.0, &intervals)], P99).unwrap();
    // The last interval belongs to the lower level already.
    let before = rung.before(11, P99).unwrap();
    assert!(
        (before.estimates.iops.value - 10_400.0 / 0.275).abs() < 1.0,
        "{:?}",
        before.estimates.iops
    );
}

#[test]
fn an_end_that_no_data_support_is_left_out() {
    let few = CalibrationRung::of(1, vec![slice(1.0, &vec![vec![(100_000, 5)]; 20])], P99).unwrap();
    assert!(few.estimates.limited_ns.high.is_infinite());
    let point = few.curve_point(8192);
    assert!(point.limited_quantile_ns.is_at_least() && point.limited_quantile_ns.low > 0.0);
    assert!(point.iops.high.is_finite());
    let mut estimates = few.estimates;
    estimates.with_half_width(40.0);
    let doubted = document(&estimates.iops);
    assert!(doubted.is_at_least() && doubted.low > 0.0 && doubted.value > doubted.low);
}
