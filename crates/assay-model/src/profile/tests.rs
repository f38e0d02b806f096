//! Tests of the profile document and its arithmetic.

use super::*;

fn profile() -> Profile {
    Profile {
        format: FORMAT,
        name: "SALES/sales1".into(),
        source: ProfileSource::default(),
        sessions: None,
        elapsed_s: Some(Figure::new(3600.0, "header, line 9")),
        block_bytes: None,
        rates: Vec::new(),
        work: Work::default(),
        classes: vec![IoClass::new(IoPurpose::All)],
        time: TimeModel::default(),
        verdict: TimeVerdict::default(),
        redo: RedoPath::default(),
        outliers: Vec::new(),
        tiering: Vec::new(),
        report: None,
        server: None,
        checks: Vec::new(),
        doubts: Vec::new(),
        missing: Vec::new(),
    }
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

#[test]
fn the_document_reads_back_the_same() {
    let text = serde_json::to_string(&profile()).unwrap();
    assert_eq!(parse_profile(&text).unwrap(), profile());
}

#[test]
fn unknown_keys_and_other_formats_are_refused() {
    let text = serde_json::to_string(&profile()).unwrap();
    let unknown = text.replacen('{', "{\"clases\":[],", 1);
    assert!(parse_profile(&unknown).unwrap_err().hint().contains("classes"));
    let other = text.replacen("\"format\":1", "\"format\":2", 1);
    assert!(parse_profile(&other).unwrap_err().message().contains("format 2"));
}

/// Statspack 9.2 of the TMS paper: 10,082 I/Os per second of 5.480 ms are 55.2 outstanding.
#[test]
fn outstanding_ios_follow_littles_law() {
    for (iops, latency_s, queue_depth) in
        [(10_082.0, 5.480e-3, 55.25), (40_755.0, 97.5e-6, 3.97), (790.0, 5.06e-3, 4.00)]
    {
        let mut class = IoClass::new(IoPurpose::All);
        class.rate_iops = Some(Figure::new(iops, "given"));
        class.latency_s = Some(Figure::new(latency_s, "given"));
        let found = class.complete().queue_depth.unwrap().value;
        assert!((found - queue_depth).abs() < 0.005, "{found}");
    }
}

#[test]
fn size_and_throughput_follow_from_each_other_and_nothing_from_nothing() {
    let mut class = IoClass::new(IoPurpose::LogWrite);
    assert!(!class.is_known());
    class.rate_iops = Some(Figure::new(100.0, "a"));
    class.throughput_bytes_per_s = Some(Figure::new(819_200.0, "b"));
    let class = class.complete();
    let block_size = class.block_size_bytes.clone().unwrap();
    assert!(near(block_size.value, 8192.0) && block_size.source == "(b) / (a)");
    assert_eq!(class.queue_depth, None);
    let mut idle = IoClass::new(IoPurpose::LogWrite);
    idle.rate_iops = Some(Figure::new(0.0, "a"));
    idle.throughput_bytes_per_s = Some(Figure::new(0.0, "b"));
    assert_eq!(idle.complete().block_size_bytes, None);
}

/// Figures 23 and 24 of the EMC paper: counts of reads by time on two arrays over a day.
#[test]
fn shares_and_slow_reads_a_second_come_out_as_printed() {
    let curve = |counts: &[u32]| LatencyCurve {
        buckets: counts
            .iter()
            .zip(0_u32..)
            .map(|(ios, power)| LatencyBucket {
                low_ns: if power == 0 { 0 } else { 1_000_000 << (power - 1) },
                high_ns: Some(1_000_000 << power),
                ios: f64::from(*ios),
            })
            .collect(),
        events: Vec::new(),
        source: "given".into(),
    };
    let slow = curve(&[
        201_956_935,
        486_707_158,
        1_052_712_503,
        408_278_563,
        112_545_345,
        26_998_287,
        2_514_932,
        120_537,
        12,
    ]);
    let fast = curve(&[
        2_532_793_306,
        936_941_653,
        223_308_601,
        14_528_299,
        5_954_255,
        1_551_008,
        111,
        55,
    ]);
    assert!(near(slow.ios(), 2_291_834_272.0) && near(fast.ios(), 3_715_077_288.0));
    assert!((slow.share_below(2_000_000).unwrap() - 0.300).abs() < 0.0005);
    assert!((fast.share_below(2_000_000).unwrap() - 0.934).abs() < 0.0005);
    assert!((slow.buckets[5].ios / 86_400.0 - 312.5).abs() < 0.05);
    assert!((1.0 - fast.buckets[5].ios / slow.buckets[5].ios - 0.943).abs() < 0.0005);
    assert_eq!(slow.share_below(3_000_000), None);
    assert_eq!(fast.quantile_range_ns(0.5), Some((0, Some(1_000_000))));
    assert_eq!(slow.quantile_range_ns(0.99), Some((16_000_000, Some(32_000_000))));
    assert_eq!(LatencyCurve::default().quantile_range_ns(0.5), None);
}

/// Figure 2 of the EMC paper: 40.97% of DB time on user I/O can be made 1.69 times faster at best.
/// Where shares overlap, the CPU and the other waits are left.
#[test]
fn faster_storage_is_bounded_by_amdahl_and_by_what_is_left() {
    let limit = |user_io, cpu, other| {
        let shares = TimeVerdict {
            user_io_share: Some(user_io),
            cpu_share: Some(cpu),
            other_share: Some(other),
            ..TimeVerdict::default()
        };
        shares.concluded().speedup_limit.unwrap_or(f64::INFINITY)
    };
    assert!((limit(0.4097, 0.1706, 0.0) - 1.69).abs() < 0.005);
    assert!(near(limit(0.872, 0.397, 0.076), 1.0 / 0.473));
    assert!(near(limit(0.0, 1.2, 0.0), 1.0));
    assert!(limit(1.0, 0.0, 0.0).is_infinite());
}

#[test]
fn sizes_sort_candidates_by_what_a_byte_saves() {
    let candidate = |tablespace: &str, read_wait_ratio| TieringCandidate {
        tablespace: tablespace.into(),
        read_wait_ratio,
        cumulative_share: 0.0,
        capacity_bytes: None,
    };
    let mut profile = profile();
    profile.tiering =
        vec![candidate("LARGE", 30.0), candidate("SMALL", 10.0), candidate("OTHER", 60.0)];
    let sized = profile.with_capacities(|name| match name {
        "LARGE" => Some(1000),
        "SMALL" => Some(10),
        _ => None,
    });
    let order: Vec<&str> = sized.tiering.iter().map(|one| one.tablespace.as_str()).collect();
    assert_eq!(order, ["SMALL", "LARGE", "OTHER"]);
    assert!(near(sized.tiering[1].cumulative_share, 0.4));
}

#[test]
fn waiting_for_commits_is_a_cause_of_its_own() {
    let verdict = |commit_share| {
        let shares = TimeVerdict {
            user_io_share: Some(0.01),
            commit_share,
            cpu_share: Some(0.21),
            ..TimeVerdict::default()
        };
        shares.concluded()
    };
    assert_eq!(verdict(Some(0.87)).bottleneck, Bottleneck::Commit);
    assert!(verdict(Some(0.87)).reason.contains("87.0% waits for commits"));
    assert_eq!(verdict(Some(0.18)).bottleneck, Bottleneck::Mixed);
    assert_eq!(verdict(None).bottleneck, Bottleneck::Cpu);
}
