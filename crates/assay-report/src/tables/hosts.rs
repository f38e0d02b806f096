//! Hosts that measured together as tables: a row for each of them, and one for each of them and
//! part of the time.

use super::{known, number, table, three};
use crate::input::GivenReport;
use assay_model::cluster::ClusterHost;
use assay_model::measurement::Operation;
use assay_model::number::{real, real_len, seconds};

/// The header line.
const HEADER: &str = "host,host_name,ios,bytes,errors,iops,iops_low,iops_high,io_share,\
                      read_service_time_q0_5_ns,read_service_time_q0_99_ns,\
                      write_service_time_q0_5_ns,write_service_time_q0_99_ns,host_busy_share,\
                      worker_busy_share,start_error_ns,clock_offset_ns,clock_uncertainty_ns,\
                      clock_drift_ppb,round_trip_min_ns,alone_iops,alone_iops_low,alone_iops_high,\
                      alone_service_time_mean_ns,lost";

/// All hosts; nothing where there are none.
pub fn hosts_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let cluster = report.cluster.as_ref()?;
    table(HEADER, run_id, cluster.hosts.iter().map(row))
}

fn row(host: &ClusterHost) -> Vec<String> {
    let mut row = vec![host.name.clone(), host.host_name.clone()];
    row.extend([host.ios, host.bytes, host.errors].map(|count| count.to_string()));
    row.extend(three(host.iops.as_ref()));
    row.push(number(host.share));
    for operation in [Operation::Read, Operation::Write] {
        let times = host.latencies.iter().find(|times| times.operation == operation);
        row.extend([
            known(times.map(|times| real(times.p50_ns))),
            known(times.map(|times| real(times.p99_ns))),
        ]);
    }
    row.extend([known(host.host_busy_share), known(host.worker_busy_share_max)]);
    row.push(host.start_error_ns.map_or_else(String::new, |error_ns| error_ns.to_string()));
    row.push(host.clock.offset_ns.to_string());
    row.push(host.clock.uncertainty_ns.to_string());
    row.push(host.clock.drift_ppb.map_or_else(String::new, |drift_ppb| drift_ppb.to_string()));
    row.push(host.clock.round_trip_min_ns.to_string());
    row.extend(three(host.alone.as_ref().and_then(|alone| alone.iops.as_ref())));
    row.push(known(host.alone.map(|alone| alone.base_service_time_ns)));
    row.push(host.lost.as_ref().map_or_else(String::new, |loss| loss.reason.clone()));
    row
}

/// The rates of all hosts in equal parts of the common time.
pub fn host_rates_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let cluster = report.cluster.as_ref()?;
    let elapsed_s = seconds(cluster.window.elapsed_ns);
    let rows = cluster.hosts.iter().flat_map(|host| {
        let part_s = elapsed_s / real_len(host.rates_iops.len().max(1));
        let parts = host.rates_iops.iter().enumerate();
        parts.map(move |(part, rate)| {
            let (start_s, end_s) = (part_s * real_len(part), part_s * real_len(part + 1));
            vec![host.name.clone(), part.to_string(), number(start_s), number(end_s), number(*rate)]
        })
    });
    table("host,part,start_s,end_s,iops", run_id, rows)
}
