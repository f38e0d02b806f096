//! Simulated hosts with clocks of their own on one storage system: what is said of them against
//! what is known.

use super::*;
use crate::clock::Ping;
use crate::protocol::{Began, MeasuredPart};
use assay_model::Precision;
use assay_model::measurement::{NamedResult, PerOperation, Window};
use assay_model::number::{count, real};
use assay_stats::random::Random;

const SECOND_NS: u64 = 1_000_000_000;
const START_NS: u64 = 100 * SECOND_NS;

/// A host with a clock, its part of the storage, and a way of its own to the driver.
struct TestHost {
    offset_ns: u64,
    speed: f64,
    late_ns: u64,
}

const fn start_of(warm_up_ns: u64) -> StartFindings {
    StartFindings { at_ns: START_NS, attempts: 1, interval_ns: SECOND_NS, warm_up_ns }
}

struct TestWorld {
    hosts: Vec<TestHost>,
    random: Random,
}

impl TestWorld {
    /// Hosts that are alike, but for the first one, which has this part of the others' speed.
    fn new(count: u64, speed: f64, seed: u64) -> Self {
        let host = |number: u64| TestHost {
            offset_ns: number * 7_777 * SECOND_NS,
            speed: if number == 0 { speed } else { 1.0 },
            late_ns: 40_000 * number,
        };
        Self { hosts: (0..count).map(host).collect(), random: Random::new(seed) }
    }

    fn ping(&mut self, host: usize, sent_ns: u64) -> Ping {
        let mut way = || 30_000 + count(40_000.0 * self.random.exponential());
        let (there, back) = (way(), way());
        let read_ns = sent_ns + there + self.hosts[host].offset_ns;
        Ping { sent_ns, read_ns, received_ns: sent_ns + there + back }
    }

    fn records(&mut self) -> Vec<HostRecord> {
        (0..self.hosts.len()).map(|host| self.record(host)).collect()
    }

    fn record(&mut self, host: usize) -> HostRecord {
        let mut clock = Clock::default();
        (0..40)
            .for_each(|round| clock.add(self.ping(host, START_NS - SECOND_NS + 1_000_000 * round)));
        let local_ns = clock.to_node_ns(START_NS).unwrap() + self.hosts[host].late_ns;
        let began = Began { first_ns: local_ns, last_ns: local_ns + 10_000 };
        HostRecord {
            name: format!("h{host}"),
            begin: HostStart::of(began, &clock),
            conduct: Some(Conduct::default()),
            clock,
            ..HostRecord::default()
        }
    }

    /// A second of every host: about 300 reads each, of which storage that all share makes more or
    /// fewer.
    fn second(&mut self, merger: &mut Merger, index: u64) {
        let shared = 1.0 + 0.05 * self.random.normal();
        for host in 0..self.hosts.len() {
            let own = 1.0 + 0.05 * self.random.normal();
            let ios = count(300.0 * self.hosts[host].speed * shared * own);
            let mut read = OperationResult::empty(Precision::Fine, false);
            for _ in 0..ios {
                read.ios += 1;
                read.bytes += 8192;
                read.service.record(count(400_000.0 * self.random.exponential()));
            }
            let operations = PerOperation { read: Some(read), ..PerOperation::default() };
            let streams = vec![NamedResult { name: "reads".to_owned(), operations }];
            merger.add(
                host,
                MeasuredPart {
                    start_ns: index * SECOND_NS,
                    end_ns: (index + 1) * SECOND_NS,
                    queue_depth_mean: 4.0,
                    joint: Window { streams, ..Window::default() },
                    moment: None,
                },
            );
        }
    }

    fn measured(mut self, seconds: u64) -> Cluster {
        let mut merger = Merger::new(self.hosts.len());
        (0..seconds).for_each(|index| self.second(&mut merger, index));
        let start = start_of(0);
        cluster(Transport::Local, &self.records(), Some(start), &merger)
    }
}

#[test]
fn the_printed_skew_holds_the_true_one() {
    for seed in 0..20 {
        let found = TestWorld::new(8, 1.0, seed).measured(5);
        let start = found.start.as_ref().unwrap();
        // The last of eight began 7 × 40 µs after the first; each of its workers within 10 µs.
        let off_ns = start.skew_ns.abs_diff(290_000);
        assert!(off_ns <= 2 * start.uncertainty_ns, "{start:?}");
        assert!(start.is_together() && found.doubt().is_none());
        assert_eq!((start.first.as_str(), start.last.as_str()), ("h0", "h7"));
        assert!(found.hosts[7].clock.offset_ns.unsigned_abs() > 50_000 * SECOND_NS);
    }
}

#[test]
fn a_slow_host_is_named_with_the_likely_place_and_equal_ones_are_not() {
    let slow = TestWorld::new(8, 0.8, 1).measured(30);
    let names: Vec<&str> = slow.stragglers.iter().map(|found| found.host.as_str()).collect();
    assert_eq!(names, ["h0"]);
    assert_eq!(slow.stragglers[0].kind, StragglerKind::Rate);
    assert_eq!(slow.stragglers[0].place, "the storage or the path to it");
    assert!(slow.fairness_coefficient.unwrap() < 0.999);
    assert_eq!(TestWorld::new(8, 1.0, 2).measured(30).stragglers, []);
}

#[test]
fn the_total_is_the_sum_and_its_interval_holds_the_truth() {
    let found = TestWorld::new(4, 1.0, 5).measured(60);
    let iops = found.iops.unwrap();
    assert!(iops.covers(1200.0), "{iops:?}");
    let bytes = found.throughput_bytes_per_s.unwrap();
    assert!((bytes.value / (8192.0 * iops.value) - 1.0).abs() < 1e-9);
    let ios: u64 = found.hosts.iter().map(|host| host.ios).sum();
    assert!((real(ios) / 60.0 / iops.value - 1.0).abs() < 1e-9);
    assert!((found.hosts.iter().map(|host| host.share).sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!((found.window.intervals, found.window.left_out), (60, 0));
    assert!(found.hosts.iter().all(|host| host.latencies[0].p99_ns > host.latencies[0].p50_ns));
}

#[test]
fn a_lost_host_leaves_the_start_unsaid_and_the_sum_in_doubt() {
    let mut world = TestWorld::new(2, 1.0, 9);
    let mut merger = Merger::new(2);
    (0..6).for_each(|index| world.second(&mut merger, index));
    let mut records = world.records();
    let reason = "it sent nothing for 3 s".to_owned();
    records[1] = HostRecord {
        begin: None,
        conduct: None,
        lost: Some(HostLoss { after_ns: 9 * 1_000_000_000, reason }),
        ..records[1].clone()
    };
    let start = start_of(0);
    let found = cluster(Transport::Local, &records, Some(start), &merger);
    assert_eq!(found.start, None);
    assert!(found.doubt().unwrap().starts_with("the host h1 was lost"));
}

#[test]
fn the_place_is_read_from_the_conduct() {
    let busy = |host: f64, worker: f64| Conduct {
        host_busy_share: Some(host),
        worker_busy_share_max: worker,
        ..Conduct::default()
    };
    assert!(place(Some(&busy(0.95, 0.1))).contains("CPUs"));
    assert!(place(Some(&busy(0.5, 0.95))).contains("load generator"));
    assert!(place(Some(&busy(0.5, 0.5))).contains("storage"));
    assert!(place(None).contains("unknown"));
}

#[test]
fn long_runs_keep_at_most_120_parts() {
    let series: Vec<f64> = (0..1001_u32).map(f64::from).collect();
    let parts = parts(&series);
    assert!(parts.len() <= 120 && (parts[0] - 4.0).abs() < 1e-12, "{}", parts.len());
    assert_eq!(super::parts(&[1.0, 2.0]), [1.0, 2.0]);
}

#[test]
fn a_host_that_is_late_within_the_warm_up_measures_the_same_time() {
    let late_ns = 30_000_000;
    let begin = |first_ns| HostStart { first_ns, last_ns: first_ns, uncertainty_ns: 0 };
    let host = |at_ns| HostRecord { begin: Some(begin(at_ns)), ..HostRecord::default() };
    let hosts = [host(START_NS + 1_000_000), host(START_NS + 1_000_000 + late_ns)];
    let began = |warm_up_ns| common_start(&hosts, start_of(warm_up_ns)).unwrap();
    assert!([0, 5_000_000, 30_000_000].iter().all(|warm_up_ns| began(*warm_up_ns).is_apart()));
    // The first of them was late, too: the measured time began a millisecond earlier for it.
    assert!(began(31_000_000).is_together());
    assert_eq!((began(0).limit_ns, began(31_000_000).skew_ns), (10_000_000, late_ns));
}
