//! The host during a measurement: how it stood at a sample, what it counted between two of them,
//! and the sum.

use crate::counters::{
    Counters, CpuCounters, InterfaceCounters, NamedDevice, PressureCounters, SwapCounters,
    TcpCounters,
};
use crate::number::{rate, real, seconds};
use serde::{Deserialize, Serialize};

mod summary;

pub use summary::Summary;

/// A sample that comes later than this share of its period was held up by a busy machine.
const LATE_SHARE: f64 = 0.2;

/// Tasks at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunQueue {
    /// Tasks that ran or were ready to run.
    pub running: u64,
    /// Tasks that waited for I/O and could not be interrupted.
    pub blocked: u64,
}

/// A network interface by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedInterface {
    /// The kernel's name, for example `eth0`.
    pub name: String,
    /// Its counters.
    pub counters: InterfaceCounters,
}

/// The machine at one time, or what was counted between two samples: one line of `watch.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Moment {
    /// When it ended, ns since 1970-01-01 UTC; lengths are given by `counters.time_ns`, which
    /// no clock step bends.
    pub at_unix_ns: u64,
    /// The cell that was measured all the time; none before, between and after cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// By how much it was taken later than it was due, ns.
    pub late_ns: u64,
    /// Processors that run; 0 where a trace does not say it.
    pub processors: u64,
    /// CPU, devices, pressure of I/O, swapping and memory.
    pub counters: Counters,
    /// Tasks at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_queue: Option<RunQueue>,
    /// Waiting for a CPU; none where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_pressure: Option<PressureCounters>,
    /// Waiting for memory; none where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressure: Option<PressureCounters>,
    /// TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpCounters>,
    /// Network interfaces, without loopback.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<NamedInterface>,
    /// CPU time that watching itself took, ns.
    pub watcher_cpu_ns: u64,
}

/// What one device did between two samples, in the words of `iostat`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceRates {
    /// Reads per second.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// Reads and writes per second of a trace that counts them together.
    pub joint_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Mean time of a read from the queue to its end, ns; none where nothing was read.
    pub read_time_mean_ns: Option<f64>,
    /// Mean time of a write from the queue to its end, ns; none where nothing was written.
    pub write_time_mean_ns: Option<f64>,
    /// Mean time of reads and writes that are counted together, ns.
    pub joint_time_mean_ns: Option<f64>,
    /// I/Os in the queue or on the device, mean over the time.
    pub queue_depth_mean: f64,
    /// Share of the time with at least one I/O; of what works in parallel it says nothing about
    /// how much more would go.
    pub busy_share: f64,
    /// Little's law: I/Os per second times their mean time, over the mean number in the queue; 1
    /// closes. None where nothing was done.
    pub littles_law_ratio: Option<f64>,
}

impl DeviceRates {
    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        self.read_iops + self.write_iops + self.joint_iops
    }
}

/// The difference of two optional sets: known only where both are.
fn both<T: Copy>(later: Option<T>, earlier: Option<T>, since: impl Fn(&T, &T) -> T) -> Option<T> {
    Some(since(&later?, &earlier?))
}

impl Moment {
    /// What was counted after `earlier`; labels and gauges are those of the end.
    pub fn since(&self, earlier: &Self) -> Self {
        let pressure = PressureCounters::since;
        Self {
            counters: self.counters.since(&earlier.counters),
            cpu_pressure: both(self.cpu_pressure, earlier.cpu_pressure, pressure),
            memory_pressure: both(self.memory_pressure, earlier.memory_pressure, pressure),
            tcp: both(self.tcp, earlier.tcp, TcpCounters::since),
            interfaces: self.interfaces_since(earlier),
            watcher_cpu_ns: self.watcher_cpu_ns.saturating_sub(earlier.watcher_cpu_ns),
            ..self.clone()
        }
    }

    fn interfaces_since(&self, earlier: &Self) -> Vec<NamedInterface> {
        let difference = |later: &NamedInterface| {
            let mut known = earlier.interfaces.iter();
            let before = known.find(|before| before.name == later.name)?;
            Some(NamedInterface {
                name: later.name.clone(),
                counters: later.counters.since(&before.counters),
            })
        };
        self.interfaces.iter().filter_map(difference).collect()
    }

    /// Two neighbouring stretches as one; what only one of them knows is not known of both.
    pub fn plus(&self, next: &Self) -> Self {
        let pressure = PressureCounters::plus;
        Self {
            late_ns: self.late_ns.max(next.late_ns),
            counters: joined(&self.counters, &next.counters),
            cpu_pressure: both(self.cpu_pressure, next.cpu_pressure, pressure),
            memory_pressure: both(self.memory_pressure, next.memory_pressure, pressure),
            tcp: both(self.tcp, next.tcp, TcpCounters::plus),
            interfaces: self.interfaces_plus(next),
            watcher_cpu_ns: self.watcher_cpu_ns.saturating_add(next.watcher_cpu_ns),
            cell: next.cell.clone().filter(|_| next.cell == self.cell),
            ..next.clone()
        }
    }

    fn interfaces_plus(&self, next: &Self) -> Vec<NamedInterface> {
        let sum = |one: &NamedInterface| {
            let mut others = next.interfaces.iter();
            let other = others.find(|other| other.name == one.name)?;
            Some(NamedInterface {
                name: one.name.clone(),
                counters: one.counters.plus(&other.counters),
            })
        };
        self.interfaces.iter().filter_map(sum).collect()
    }

    /// Length, s.
    pub fn elapsed_s(&self) -> f64 {
        self.counters.elapsed_s()
    }

    /// Whether it was taken so late that the machine must have had no CPU for it.
    pub fn is_late(&self) -> bool {
        let due_ns = self.counters.time_ns.saturating_sub(self.late_ns);
        real(self.late_ns) > LATE_SHARE * real(due_ns)
    }

    /// Share of the time in which a pressure held up some task; `None` where it is not counted.
    pub fn pressure_share(&self, pressure: Option<PressureCounters>) -> Option<f64> {
        let lost_ns = pressure?.some_ns;
        (self.counters.time_ns > 0).then(|| real(lost_ns) / real(self.counters.time_ns))
    }
}

/// Counters of neighbouring stretches added; gauges are those of the end.
fn joined(first: &Counters, second: &Counters) -> Counters {
    let sum = |one: &NamedDevice| {
        let other = second.device(&one.name)?;
        Some(NamedDevice { counters: one.counters.plus(&other.counters), ..other.clone() })
    };
    Counters {
        time_ns: first.time_ns.saturating_add(second.time_ns),
        devices: first.devices.iter().filter_map(sum).collect(),
        cpu: both(first.cpu, second.cpu, CpuCounters::plus),
        process: both(first.process, second.process, crate::counters::ProcessCounters::plus),
        io_pressure: both(first.io_pressure, second.io_pressure, PressureCounters::plus),
        swap: both(first.swap, second.swap, SwapCounters::plus),
        memory: second.memory,
    }
}

impl NamedDevice {
    /// Its counters over a time as rates.
    pub fn rates(&self, elapsed_ns: u64) -> DeviceRates {
        let (counters, elapsed_s) = (&self.counters, seconds(elapsed_ns));
        let queue_depth = counters.queue_depth_mean(elapsed_ns);
        let timed_ns = real(
            counters
                .read_time_ns
                .saturating_add(counters.write_time_ns)
                .saturating_add(counters.discard_time_ns)
                .saturating_add(counters.flush_time_ns)
                .saturating_add(counters.joint_time_ns),
        );
        let timed = |mean_ns: Option<f64>| mean_ns.filter(|_| counters.has_times());
        DeviceRates {
            read_iops: rate(counters.read_ios, elapsed_s),
            write_iops: rate(counters.write_ios, elapsed_s),
            joint_iops: rate(counters.joint_ios, elapsed_s),
            read_bytes_per_s: rate(counters.read_bytes, elapsed_s),
            write_bytes_per_s: rate(counters.write_bytes, elapsed_s),
            read_time_mean_ns: timed(counters.read_time_mean_ns()),
            write_time_mean_ns: timed(counters.write_time_mean_ns()),
            joint_time_mean_ns: timed(counters.joint_time_mean_ns()),
            queue_depth_mean: queue_depth,
            busy_share: counters.busy_share(elapsed_ns).min(1.0),
            littles_law_ratio: (counters.outstanding_time_ns > 0)
                .then(|| timed_ns / real(counters.outstanding_time_ns)),
        }
    }
}

#[cfg(test)]
mod tests;
