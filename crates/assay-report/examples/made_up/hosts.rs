//! Hosts that measured together, made up: all share two stalls, one is slow, and one was lost in
//! some reports.

use super::{Dice, about};
use assay_model::Estimate;
use assay_model::cluster::{
    Cluster, ClusterHost, CommonStart, CommonWindow, HostAlone, HostClock, HostLatency, HostLoss,
    SharedLimit, Sharing, Straggler, StragglerKind, Transport,
};
use assay_model::measurement::Operation;
use assay_model::number::{count, real};
use assay_report::GivenReport;

/// Parts of the common time.
const PARTS: usize = 60;

/// A report of some hosts, the fourth of which is slow; the last one is lost where that is asked
/// for.
pub(crate) fn hosts(count: u64, with_loss: bool) -> GivenReport {
    let mut dice = Dice::new(17);
    let mut hosts: Vec<ClusterHost> = (1..=count).map(|number| host(number, &mut dice)).collect();
    if let Some(last) = hosts.last_mut().filter(|_| with_loss) {
        let reason = "it sent nothing for 3.0 s".to_owned();
        last.lost = Some(HostLoss { after_ns: 61_200_000_000, reason });
    }
    let all: u64 = hosts.iter().map(|host| host.ios).sum();
    for host in &mut hosts {
        host.share = real(host.ios) / real(all);
    }
    let ratio = about(0.78, 0.03);
    let cluster = Cluster {
        format: 1,
        transport: Transport::Ray,
        start: Some(CommonStart {
            skew_ns: 900_000,
            uncertainty_ns: 700_000,
            limit_ns: 10_000_000,
            first: "db-node-01".to_owned(),
            last: "db-node-03".to_owned(),
            attempts: 1,
        }),
        window: CommonWindow { intervals: 60, elapsed_ns: 60_000_000_000, left_out: 2 },
        load: Some("read 8 KiB, queue depth 32".to_owned()),
        sharing: Some(Sharing {
            ratio,
            hosts: u32::try_from(count).unwrap_or(1),
            limit: SharedLimit::Shared,
        }),
        iops: Some(about(real(all) / 60.0, 0.02)),
        throughput_bytes_per_s: Some(about(real(all) / 60.0 * 8192.0, 0.02)),
        fairness_coefficient: Some(0.991),
        stragglers: vec![Straggler {
            host: "db-node-04".to_owned(),
            kind: StragglerKind::Rate,
            ratio: Estimate { value: 0.71, low: 0.69, high: 0.73, confidence: 0.95, n: 30 },
            place: "the storage or the path to it".to_owned(),
        }],
        hosts,
    };
    GivenReport { title: "calibrate".to_owned(), cluster: Some(cluster), ..GivenReport::default() }
}

fn host(number: u64, dice: &mut Dice) -> ClusterHost {
    let level = if number == 4 { 14_000.0 } else { 20_000.0 };
    let rates: Vec<f64> = (0..PARTS)
        .map(|part| {
            let stall = if matches!(part, 22 | 23 | 47) { 0.4 } else { 1.0 };
            let own = if number == 2 && part > 40 { 0.85 } else { 1.0 };
            level * stall * own * (1.0 + 0.02 * dice.normal())
        })
        .collect();
    let ios = count(rates.iter().sum::<f64>());
    let start_ns = count(450_000.0 * (1.0 + dice.normal() / 4.0));
    ClusterHost {
        name: format!("db-node-{number:02}"),
        host_name: format!("db-node-{number:02}"),
        clock: HostClock {
            offset_ns: 50_000_000_000,
            uncertainty_ns: 350_000,
            round_trip_min_ns: 700_000,
            pings: 70,
            ..HostClock::default()
        },
        start_error_ns: Some(start_ns.cast_signed() - 450_000),
        ios,
        bytes: ios * 8192,
        iops: Some(about(real(ios) / 60.0, 0.02)),
        latencies: vec![HostLatency {
            operation: Operation::Read,
            ios,
            p50_ns: 1_400_000,
            p99_ns: 5_100_000,
            max_ns: 31_000_000,
        }],
        host_busy_share: Some(0.31),
        worker_busy_share_max: Some(0.2),
        rates_iops: rates,
        alone: Some(HostAlone {
            base_service_time_ns: 410_000.0,
            iops: Some(about(25_500.0, 0.03)),
        }),
        ..ClusterHost::default()
    }
}
