//! The machine as a table: a row for each moment and device; columns of the host are the same in
//! all rows of a moment.

use super::{known, number};
use crate::render::csv::csv;
use assay_model::counters::{CpuCounters, InterfaceCounters, NamedDevice};
use assay_model::number::{rate, seconds};
use assay_model::watch::Moment;

/// The header line of the table of the machine; it stands once, before all rows.
pub const WATCH_HEADER: &str = "at_unix_s,elapsed_s,cell,cpu_user_share,cpu_system_share,\
    cpu_io_wait_share,cpu_steal_share,\
     running,blocked,cpu_pressure_share,io_pressure_share,memory_pressure_share,available_bytes,\
     tcp_out_segments_per_s,tcp_retransmit_share,receive_bytes_per_s,send_bytes_per_s,device,\
     read_iops,write_iops,read_bytes_per_s,write_bytes_per_s,read_time_mean_ns,write_time_mean_ns,\
     in_flight,queue_depth_mean,busy_share,flush_iops,joint_iops,joint_time_mean_ns\n";

/// Cells of a device, for moments without any.
const DEVICE_CELLS: usize = 13;

/// The rows of a moment, without the header, so that they can be written as they come.
pub fn watch_csv(moment: &Moment) -> String {
    let devices = &moment.counters.devices;
    let none = devices.is_empty().then(|| vec![String::new(); DEVICE_CELLS]);
    let devices = devices.iter().map(|device| device_cells(device, moment)).chain(none);
    let host = host(moment);
    csv(devices.map(|device| [&host[..], &device[..]].concat()))
}

fn host(moment: &Moment) -> Vec<String> {
    let cpu = |of: fn(&CpuCounters) -> f64| known(moment.counters.cpu.as_ref().map(of));
    let queue = moment.run_queue;
    let memory = moment.counters.memory;
    let tcp = moment.tcp;
    let elapsed_s = moment.elapsed_s();
    let bytes = |of: fn(&InterfaceCounters) -> u64| {
        let counted = moment.interfaces.iter().map(|one| of(&one.counters)).sum();
        (!moment.interfaces.is_empty()).then(|| rate(counted, elapsed_s))
    };
    vec![
        number(seconds(moment.at_unix_ns)),
        number(elapsed_s),
        moment.cell.clone().unwrap_or_default(),
        cpu(CpuCounters::user_share),
        cpu(CpuCounters::system_share),
        cpu(CpuCounters::io_wait_share),
        cpu(CpuCounters::steal_share),
        queue.map(|queue| queue.running.to_string()).unwrap_or_default(),
        queue.map(|queue| queue.blocked.to_string()).unwrap_or_default(),
        known(moment.pressure_share(moment.cpu_pressure)),
        known(moment.pressure_share(moment.counters.io_pressure)),
        known(moment.pressure_share(moment.memory_pressure)),
        memory.map(|memory| memory.available_bytes.to_string()).unwrap_or_default(),
        known(tcp.map(|tcp| rate(tcp.out_segments, elapsed_s))),
        known(tcp.and_then(|tcp| tcp.retransmit_share())),
        known(bytes(|counters| counters.receive_bytes)),
        known(bytes(|counters| counters.send_bytes)),
    ]
}

fn device_cells(device: &NamedDevice, moment: &Moment) -> Vec<String> {
    let rates = device.rates(moment.counters.time_ns);
    let is_joint = device.counters.joint_ios > 0;
    let apart = |rate: f64| known((!is_joint).then_some(rate));
    vec![
        device.name.clone(),
        apart(rates.read_iops),
        apart(rates.write_iops),
        number(rates.read_bytes_per_s),
        number(rates.write_bytes_per_s),
        known(rates.read_time_mean_ns),
        known(rates.write_time_mean_ns),
        device.outstanding_ios.to_string(),
        number(rates.queue_depth_mean),
        number(rates.busy_share),
        number(rate(device.counters.flush_ios, moment.elapsed_s())),
        known(is_joint.then_some(rates.joint_iops)),
        known(rates.joint_time_mean_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::counters::Counters;

    #[test]
    fn every_row_has_a_cell_for_every_column() {
        let columns = WATCH_HEADER.split(',').count();
        let device = |name: &str| NamedDevice { name: name.to_owned(), ..NamedDevice::default() };
        let moment = Moment {
            counters: Counters {
                time_ns: 1_000_000_000,
                devices: vec![device("sda"), device("sdb")],
                cpu: Some(CpuCounters { user_ns: 1, idle_ns: 3, ..CpuCounters::default() }),
                ..Counters::default()
            },
            ..Moment::default()
        };
        let rows = watch_csv(&moment);
        assert_eq!(rows.lines().count(), 2);
        assert!(rows.lines().all(|row| row.split(',').count() == columns));
        assert!(rows.starts_with("0,1,,0.25,0,0,0,,,"));
        let bare = watch_csv(&Moment::default());
        assert_eq!(bare.trim_end().split(',').count(), columns);
    }
}
