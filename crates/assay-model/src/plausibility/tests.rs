//! Contradictions that are found, and documents without any.

use super::*;
use crate::calibration::{Capacity, CapacityBound};
use crate::measurement::{Conduct, Finish, NamedResult, OperationResult, PerOperation};
use crate::profile::Bottleneck;

fn about(value: f64) -> Estimate {
    Estimate { value, low: 0.95 * value, high: 1.05 * value, confidence: 0.95, n: 30 }
}

/// 70% reads: that many a second at 32 outstanding, and called the most.
pub(crate) fn mix(at_depth: f64, most: f64) -> MixCalibration {
    let point = CurvePoint {
        queue_depth: 32,
        block_size_bytes: 8192,
        iops: about(at_depth),
        throughput_bytes_per_s: about(8192.0 * at_depth),
        service_time_ns: about(1e6),
        limited_quantile_ns: about(2e6),
        operations: PerOperation::default(),
        elapsed_s: 5.0,
        worker_busy_share: 0.1,
        host_busy_share: None,
    };
    let capacity = Capacity {
        rate: about(most),
        burst_rate: None,
        burst_s: None,
        queue_depth: 32,
        bound: CapacityBound::Saturated,
    };
    MixCalibration {
        name: "mix 70/30".to_owned(),
        read_share: 0.7,
        block_size_bytes: 8192,
        large_block_size_bytes: 1 << 20,
        base_service_time_ns: about(1e5),
        iops_within_limit: None,
        iops_max: capacity,
        throughput_max_bytes_per_s: None,
        single_stream_bytes_per_s: None,
        curve: vec![point],
        burst_curve: Vec::new(),
        large_curve: Vec::new(),
        knee: None,
        steps: Vec::new(),
        stalls: None,
        contradictions: Vec::new(),
    }
}

fn run(iops: u64, depth: f64) -> Measurement {
    let result =
        |ios: u64| Some(OperationResult { ios, bytes: ios * 8192, ..OperationResult::default() });
    let operations = PerOperation {
        read: result(iops * 7 / 10),
        write: result(iops * 3 / 10),
        ..PerOperation::default()
    };
    Measurement {
        format: 1,
        workload: "oltp".to_owned(),
        started_unix_ns: 0,
        elapsed_ns: 1_000_000_000,
        finish: Finish::Complete,
        streams: vec![NamedResult { name: "blocks".to_owned(), operations }],
        targets: Vec::new(),
        errors: Vec::new(),
        conduct: Conduct { queue_depth_mean: depth, ..Conduct::default() },
    }
}

#[test]
fn the_same_mix_with_another_rate_is_a_contradiction() {
    let found = run_against_mix(&run(38_700, 32.0), &mix(8_620.0, 8_620.0)).unwrap();
    assert!(found.what.contains("8,620/s at queue depth 32"), "{found:?}");
    assert!(found.what.contains("38,700/s in workload “oltp”"), "{found:?}");
    assert_eq!(run_against_mix(&run(38_700, 32.0), &mix(38_000.0, 38_000.0)), None);
}

#[test]
fn another_depth_contradicts_only_beyond_the_most() {
    assert_eq!(run_against_mix(&run(8_000, 1.0), &mix(38_000.0, 38_000.0)), None);
    let found = run_against_mix(&run(38_700, 256.0), &mix(8_620.0, 8_620.0)).unwrap();
    assert!(found.what.contains("at most"), "{found:?}");
}

#[test]
fn points_above_the_most_and_a_stream_above_the_throughput_are_contradictions() {
    assert!(of_mix(&mix(17_000.0, 16_927.0)).is_empty());
    let found = of_mix(&mix(19_540.0, 16_927.0));
    assert!(found[0].what.contains("19,540/s at queue depth 32 is more than the maximum"));
    let mut streams = mix(17_000.0, 17_000.0);
    streams.single_stream_bytes_per_s = Some(about(1.4e9));
    streams.throughput_max_bytes_per_s = Some(Capacity { rate: about(1.1e9), ..streams.iops_max });
    assert!(of_mix(&streams)[0].what.contains("one sequential stream"));
}

#[test]
fn little_and_ordered_quantiles_are_checked() {
    let mut off = run(1_000, 4.0);
    off.conduct.littles_law_ratio = 0.7;
    assert!(littles_law(&off).is_some());
    off.conduct.littles_law_ratio = 1.0;
    assert!(littles_law(&off).is_none());
    let named = |quantity: &str, value: f64| NamedEstimate {
        quantity: quantity.to_owned(),
        subject: None,
        estimate: about(value),
    };
    let of = |high: f64| {
        of_estimates(&[
            named("read.service_time.q0.99", high),
            named("read.service_time.q0.5", 5e5),
            named("write.service_time.q0.999", 1e5),
        ])
    };
    assert!(of(4e5).unwrap().what.starts_with("read.service_time.q0.99 is below"));
    assert_eq!(of(6e5), None);
}

fn profile(verdict: &str, checks: &str) -> Profile {
    let text = format!(
        "{{\"format\": 1, \"name\": \"SHOP\", \"source\": {{}}, \"redo\": {{}}, \"checks\": \
         [{checks}],
          \"time\": {{\"average_active_sessions\": {{\"value\": 4.0, \"source\": \"counters\"}}}},
          \"verdict\": {{\"bottleneck\": \"storage\", \"speedup_limit\": 2.0, {verdict}}}}}"
    );
    crate::profile::parse_profile(&text).unwrap()
}

#[test]
fn shares_of_time_may_exceed_the_whole_by_time_on_a_cpu_only() {
    let of = |user_io: f64, cpu: f64| {
        judged(profile(&format!("\"user_io_share\": {user_io}, \"cpu_share\": {cpu}"), ""))
    };
    let sound = of(0.95, 0.39);
    assert_eq!((sound.verdict.bottleneck, sound.doubts.len()), (Bottleneck::Storage, 0));
    for (impossible, words) in [(of(1.3, 0.4), "add up to 130%"), (of(0.1, 1.06), "DB CPU is 106%")]
    {
        assert_eq!(impossible.verdict.bottleneck, Bottleneck::Unknown);
        assert!(impossible.verdict.reason.contains(words), "{}", impossible.verdict.reason);
        assert_eq!(impossible.verdict.speedup_limit, None);
        assert_eq!(judged(impossible.clone()), impossible);
    }
}

#[test]
fn only_sections_of_the_time_undo_the_verdict_on_it() {
    let check = |left: f64| {
        format!(
            "{{\"what\": \"two sections\", \"outcome\": \"contradicts\",
              \"left\": {{\"value\": {left}, \"source\": \"counters\"}},
              \"right\": {{\"value\": 10.0, \"source\": \"samples\"}}}}"
        )
    };
    let shares = "\"user_io_share\": 0.9, \"cpu_share\": 0.1";
    let of_reads = judged(profile(shares, &check(1739.0)));
    assert_eq!(of_reads.verdict.bottleneck, Bottleneck::Storage);
    assert!(of_reads.doubts[0].contains("two sections: 1,739 and 10.00"), "{:?}", of_reads.doubts);
    let of_sessions = judged(profile(shares, &check(4.0)));
    assert_eq!(of_sessions.verdict.bottleneck, Bottleneck::Unknown);
    assert_eq!(of_sessions.doubts.len(), 1);
}
