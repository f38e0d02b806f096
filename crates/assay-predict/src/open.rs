//! The same work a second on other stations: arrivals at random, whatever the response is.

use crate::curve::ReadCurve;
use assay_model::number::real_len;
use assay_stats::queueing::OpenQueue;

/// Mean wait for one of these processors of one unit's CPU time, seconds; `None` from saturation
/// on.
///
/// M/M/c, with the CPU time of a unit in one piece: in several pieces each waits for its part,
/// which is as long together.
pub(crate) fn cpu_wait_s(cpu_s: f64, processors: f64, arrivals_per_s: f64) -> Option<f64> {
    if cpu_s <= 0.0 {
        return Some(0.0);
    }
    let whole = processors.ceil().max(1.0);
    let servers = u32::try_from(assay_model::number::count(whole)).unwrap_or(u32::MAX);
    let services_per_s = processors / (whole * cpu_s);
    let queue = OpenQueue { servers, services_per_s, arrivals_per_s };
    (queue.utilization() < 1.0).then(|| queue.mean_wait_s())
}

/// Work of the storage that is outstanding on average where reads arrive at random; `None` from
/// saturation on.
///
/// A chain of births and deaths whose death rate with j outstanding is the curve's (the
/// flow-equivalent station of Chandy, Herzog and Woo, IBM J. Res. Dev. 19, 1975, in an open
/// network). `arrivals_iops` are counted in small reads.
pub(crate) fn queue_depth(curve: &ReadCurve, arrivals_iops: f64) -> Option<f64> {
    if arrivals_iops >= 0.995 * curve.most_iops() {
        return None;
    }
    let (mut weight, mut all, mut sum) = (1.0_f64, 1.0_f64, 0.0_f64);
    for present in 1..200_000_usize {
        let served_iops = curve.iops(real_len(present));
        weight *= arrivals_iops / served_iops;
        all += weight;
        sum += weight * real_len(present);
        if weight < 1e-12 * all && served_iops > arrivals_iops {
            break;
        }
        if all > 1e250 {
            (weight, all, sum) = (weight / all, 1.0, sum / all);
        }
    }
    Some(sum / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_of_servers_is_the_textbook_queue() {
        let points: Vec<(f64, f64)> =
            (1..=8).map(|at| (f64::from(at), f64::from(at) * 100.0)).collect();
        let curve = ReadCurve::new(&points).unwrap();
        for arrivals in [50.0, 400.0, 700.0] {
            let queue = OpenQueue { servers: 8, services_per_s: 100.0, arrivals_per_s: arrivals };
            let exact = arrivals * queue.mean_response_s();
            let found = queue_depth(&curve, arrivals).unwrap();
            assert!((found / exact - 1.0).abs() < 1e-6, "{arrivals} {found} {exact}");
        }
        assert_eq!(queue_depth(&curve, 800.0), None);
    }

    #[test]
    fn processors_make_nobody_wait_until_they_are_busy() {
        assert!(cpu_wait_s(0.004, 16.0, 1000.0).unwrap() < 1e-6);
        assert_eq!(cpu_wait_s(0.004, 16.0, 4000.0), None);
        assert!((cpu_wait_s(0.5, 1.0, 1.0).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(cpu_wait_s(0.0, 4.0, 1000.0), Some(0.0));
    }
}
