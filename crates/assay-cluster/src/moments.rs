//! What several hosts did in the same stretch of time as one moment: their devices next to each
//! other, their processors added.

use crate::environments::of_host;
use assay_model::counters::{Counters, CpuCounters, MemoryGauge, NamedDevice, PressureCounters};
use assay_model::counters::{SwapCounters, TcpCounters};
use assay_model::number::count_of;
use assay_model::watch::{Moment, NamedInterface, RunQueue};

/// All hosts in a stretch of this length, ns. What only some of them count is not known of all;
/// pressure is that of the mean host.
pub fn beside(names: &[String], moments: &[Moment], time_ns: u64) -> Moment {
    let each = || names.iter().map(String::as_str).zip(moments);
    let devices = each().flat_map(|(host, moment)| {
        let named = |device: &NamedDevice| NamedDevice {
            name: of_host(host, &device.name),
            ..device.clone()
        };
        moment.counters.devices.iter().map(named)
    });
    let interfaces = each().flat_map(|(host, moment)| {
        let named = |one: &NamedInterface| NamedInterface {
            name: of_host(host, &one.name),
            counters: one.counters,
        };
        moment.interfaces.iter().map(named)
    });
    Moment {
        at_unix_ns: moments.iter().map(|moment| moment.at_unix_ns).max().unwrap_or(0),
        cell: None,
        late_ns: moments.iter().map(|moment| moment.late_ns).max().unwrap_or(0),
        processors: moments.iter().map(|moment| moment.processors).sum(),
        counters: Counters { time_ns, devices: devices.collect(), ..added(moments) },
        run_queue: sum(
            moments,
            |moment| moment.run_queue,
            |one, other| RunQueue {
                running: one.running + other.running,
                blocked: one.blocked + other.blocked,
            },
        ),
        cpu_pressure: mean(moments, |moment| moment.cpu_pressure),
        memory_pressure: mean(moments, |moment| moment.memory_pressure),
        tcp: sum(moments, |moment| moment.tcp, |one, other| TcpCounters::plus(&one, &other)),
        interfaces: interfaces.collect(),
        watcher_cpu_ns: moments.iter().map(|moment| moment.watcher_cpu_ns).sum(),
    }
}

fn added(moments: &[Moment]) -> Counters {
    Counters {
        cpu: sum(
            moments,
            |moment| moment.counters.cpu,
            |one, other| CpuCounters::plus(&one, &other),
        ),
        io_pressure: mean(moments, |moment| moment.counters.io_pressure),
        swap: sum(
            moments,
            |moment| moment.counters.swap,
            |one, other| SwapCounters::plus(&one, &other),
        ),
        memory: sum(moments, |moment| moment.counters.memory, memory_of_both),
        ..Counters::default()
    }
}

const fn memory_of_both(one: MemoryGauge, other: MemoryGauge) -> MemoryGauge {
    MemoryGauge {
        available_bytes: one.available_bytes + other.available_bytes,
        dirty_bytes: one.dirty_bytes + other.dirty_bytes,
        writeback_bytes: one.writeback_bytes + other.writeback_bytes,
        cached_bytes: one.cached_bytes + other.cached_bytes,
        resident_bytes_max: one.resident_bytes_max + other.resident_bytes_max,
    }
}

/// The sum over all hosts, where all of them count it.
fn sum<T>(moments: &[Moment], of: fn(&Moment) -> Option<T>, add: fn(T, T) -> T) -> Option<T> {
    let all: Option<Vec<T>> = moments.iter().map(of).collect();
    all?.into_iter().reduce(add)
}

fn mean(
    moments: &[Moment],
    of: fn(&Moment) -> Option<PressureCounters>,
) -> Option<PressureCounters> {
    let all = sum(moments, of, |one, other| PressureCounters::plus(&one, &other))?;
    let hosts = count_of(moments.len());
    Some(PressureCounters { some_ns: all.some_ns / hosts, full_ns: all.full_ns / hosts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::counters::DeviceCounters;

    fn moment(reads: u64, busy_ns: u64) -> Moment {
        let counters = DeviceCounters { read_ios: reads, ..DeviceCounters::default() };
        let device = NamedDevice { name: "sda".to_owned(), outstanding_ios: 1, counters };
        let cpu = CpuCounters { user_ns: busy_ns, ..CpuCounters::default() };
        Moment {
            at_unix_ns: reads,
            processors: 2,
            counters: Counters {
                time_ns: 999,
                devices: vec![device],
                cpu: Some(cpu),
                io_pressure: Some(PressureCounters { some_ns: busy_ns, full_ns: 0 }),
                ..Counters::default()
            },
            ..Moment::default()
        }
    }

    #[test]
    fn devices_stand_beside_each_other_and_processors_are_added() {
        let names = ["hA".to_owned(), "hB".to_owned()];
        let all = beside(&names, &[moment(3, 10), moment(5, 30)], 1000);
        let devices: Vec<(&str, u64)> = all
            .counters
            .devices
            .iter()
            .map(|device| (device.name.as_str(), device.counters.read_ios))
            .collect();
        assert_eq!(devices, [("hA:sda", 3), ("hB:sda", 5)]);
        assert_eq!((all.processors, all.counters.time_ns, all.at_unix_ns), (4, 1000, 5));
        assert_eq!(all.counters.cpu.unwrap().user_ns, 40);
        assert_eq!(all.counters.io_pressure.unwrap().some_ns, 20);
    }

    #[test]
    fn what_one_host_does_not_count_is_not_known_of_all() {
        let names = ["hA".to_owned(), "hB".to_owned()];
        let mut other = moment(1, 1);
        other.counters.cpu = None;
        assert_eq!(beside(&names, &[moment(1, 1), other], 1000).counters.cpu, None);
    }
}
