//! Tests of the arithmetic on samples.

use super::*;
use crate::counters::DeviceCounters;
use proptest::prelude::*;

/// A snapshot in which everything has counted to `count`.
fn snapshot(time_ns: u64, count: u64) -> Moment {
    Moment {
        at_unix_ns: time_ns,
        processors: 2,
        counters: Counters {
            time_ns,
            devices: vec![NamedDevice {
                name: "sda".into(),
                outstanding_ios: 1,
                counters: DeviceCounters {
                    read_ios: count,
                    read_time_ns: 3 * count,
                    outstanding_time_ns: 3 * count,
                    ..DeviceCounters::default()
                },
            }],
            cpu: Some(CpuCounters { user_ns: count, idle_ns: count, ..CpuCounters::default() }),
            ..Counters::default()
        },
        run_queue: Some(RunQueue { running: count % 7, blocked: count % 3 }),
        tcp: Some(TcpCounters {
            out_segments: 2 * count,
            retransmitted_segments: count,
            ..TcpCounters::default()
        }),
        interfaces: vec![NamedInterface {
            name: "eth0".into(),
            counters: InterfaceCounters { send_bytes: count, ..InterfaceCounters::default() },
        }],
        watcher_cpu_ns: count,
        ..Moment::default()
    }
}

#[test]
fn the_document_reads_back_the_same_and_refuses_unknown_keys() {
    let text = serde_json::to_string(&snapshot(5, 6)).unwrap();
    assert_eq!(serde_json::from_str::<Moment>(&text).unwrap(), snapshot(5, 6));
    assert!(serde_json::from_str::<Moment>(r#"{"colour":1}"#).is_err());
}

/// 37 segments sent again of 7,400 are 0.5%; without any sent nothing is known, which is not 0%.
#[test]
fn the_share_of_segments_sent_again_needs_segments() {
    let counted = |out_segments, retransmitted_segments| TcpCounters {
        out_segments,
        retransmitted_segments,
        ..TcpCounters::default()
    };
    assert_eq!(counted(7400, 37).retransmit_share(), Some(0.005));
    assert_eq!(counted(0, 0).retransmit_share(), None);
}

/// In one second 100 reads of 4 ms and 50 writes of 2 ms: 0.5 outstanding on average, and Little's
/// law closes.
#[test]
fn rates_of_a_device_are_those_of_iostat() {
    let device = NamedDevice {
        name: "sda".into(),
        outstanding_ios: 0,
        counters: DeviceCounters {
            read_ios: 100,
            read_bytes: 819_200,
            read_time_ns: 400_000_000,
            write_ios: 50,
            write_bytes: 409_600,
            write_time_ns: 100_000_000,
            busy_time_ns: 250_000_000,
            outstanding_time_ns: 500_000_000,
            ..DeviceCounters::default()
        },
    };
    let rates = device.rates(1_000_000_000);
    let expected = DeviceRates {
        read_iops: 100.0,
        write_iops: 50.0,
        joint_iops: 0.0,
        read_bytes_per_s: 819_200.0,
        write_bytes_per_s: 409_600.0,
        read_time_mean_ns: Some(4e6),
        write_time_mean_ns: Some(2e6),
        joint_time_mean_ns: None,
        queue_depth_mean: 0.5,
        busy_share: 0.25,
        littles_law_ratio: Some(1.0),
    };
    assert_eq!(rates, expected);
    let mut untimed = NamedDevice::default();
    untimed.counters.joint_ios = 5;
    let rates_of_untimed = untimed.rates(1_000_000_000);
    assert_eq!((rates_of_untimed.joint_iops, rates_of_untimed.joint_time_mean_ns), (5.0, None));
    assert!(!untimed.counters.has_times() && device.counters.has_times());
    let idle = NamedDevice::default().rates(1_000_000_000);
    assert_eq!((idle.read_time_mean_ns, idle.littles_law_ratio), (None, None));
}

#[test]
fn what_one_side_does_not_know_is_not_known_of_both() {
    let mut first = snapshot(1, 1);
    first.tcp = None;
    first.interfaces.clear();
    let sum = first.plus(&snapshot(1, 1));
    assert_eq!((sum.tcp, sum.interfaces.len()), (None, 0));
    assert_eq!(snapshot(2, 2).since(&first).tcp, None);
}

#[test]
fn a_moment_is_late_by_a_fifth_of_its_period() {
    let late = |late_ns| Moment {
        late_ns,
        counters: Counters { time_ns: 1_000_000_000 + late_ns, ..Counters::default() },
        ..Moment::default()
    };
    assert!(!late(200_000_000).is_late());
    assert!(late(200_000_001).is_late());
}

#[test]
fn a_summary_keeps_extremes_and_means() {
    let moments: Vec<Moment> = [3, 5, 1]
        .map(|running| Moment {
            run_queue: Some(RunQueue { running, blocked: 0 }),
            ..snapshot(10, 1)
        })
        .to_vec();
    let summary = Summary::of(&moments).unwrap();
    assert_eq!((summary.moments, summary.running_max), (3, 5));
    assert!((summary.running_mean - 3.0).abs() < 1e-12);
    assert_eq!(summary.total.counters.time_ns, 30);
    assert_eq!(Summary::of(&[]), None);
}

proptest! {
    #[test]
    fn neighbouring_stretches_add_up_to_the_whole(a in 0u64..1 << 40, b in 0u64..1 << 40, c in 0u64..1 << 40) {
        let [first, second, third] = [snapshot(10, a), snapshot(20, a + b), snapshot(30, a + b + c)];
        let whole = third.since(&first);
        let parts = second.since(&first).plus(&third.since(&second));
        prop_assert_eq!(&parts, &whole);
        prop_assert_eq!(Summary::of(&[second.since(&first), third.since(&second)]).unwrap().total, whole);
    }
}
