//! The kernel's own counters around a measurement: snapshots, and what happened between two of
//! them.

use crate::number::{seconds, share};
use serde::{Deserialize, Serialize};

/// Subtracts field by field; a counter that ran backwards (a device that was replaced) counts as 0.
macro_rules! counters {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $($(#[$doc])* pub $field: u64),* }

        impl $name {
            /// What was counted after `earlier`.
            pub const fn since(&self, earlier: &Self) -> Self {
                Self { $($field: self.$field.saturating_sub(earlier.$field)),* }
            }

            /// Both together.
            pub const fn plus(&self, other: &Self) -> Self {
                Self { $($field: self.$field.saturating_add(other.$field)),* }
            }
        }
    };
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

counters! {
    /// One block device, as `/proc/diskstats` counts it.
    DeviceCounters {
        /// Reads completed.
        read_ios,
        /// Reads that were joined with another before they were sent.
        read_merged_ios,
        /// Bytes read.
        read_bytes,
        /// Sum of the times that reads took, ns.
        read_time_ns,
        /// Writes completed.
        write_ios,
        /// Writes that were joined with another before they were sent.
        write_merged_ios,
        /// Bytes written.
        write_bytes,
        /// Sum of the times that writes took, ns.
        write_time_ns,
        /// Time during which at least one I/O was outstanding, ns.
        busy_time_ns,
        /// Sum over all I/Os of the time each was outstanding, ns.
        outstanding_time_ns,
        /// Discards completed.
        discard_ios,
        /// Bytes discarded.
        discard_bytes,
        /// Sum of the times that discards took, ns.
        discard_time_ns,
        /// Flushes completed.
        flush_ios,
        /// Sum of the times that flushes took, ns.
        flush_time_ns,
        /// Reads and writes of a trace that counts them together: how many of them were reads is unknown.
        #[serde(skip_serializing_if = "is_zero")]
        joint_ios,
        /// Sum of the times that these took, ns.
        #[serde(skip_serializing_if = "is_zero")]
        joint_time_ns,
    }
}

counters! {
    /// CPU time of the whole machine, all processors together, as `/proc/stat` counts it.
    CpuCounters {
        /// In programs, ns.
        user_ns,
        /// In programs of low priority, ns.
        nice_ns,
        /// In the kernel, ns.
        system_ns,
        /// Idle, ns.
        idle_ns,
        /// Idle with I/O outstanding, ns.
        io_wait_ns,
        /// In interrupts, ns.
        interrupt_ns,
        /// In deferred interrupts, ns.
        soft_interrupt_ns,
        /// Ready to run, but the hypervisor ran somebody else, ns.
        steal_ns,
    }
}

counters! {
    /// This process.
    ProcessCounters {
        /// CPU time in the program, ns.
        user_ns,
        /// CPU time in the kernel for it, ns.
        system_ns,
        /// Page faults that needed I/O.
        major_faults,
        /// Page faults that needed none.
        minor_faults,
        /// Bytes that it caused to be read from storage.
        read_bytes,
        /// Bytes that it caused to be written to storage.
        write_bytes,
    }
}

counters! {
    /// Time lost to waiting for I/O, as pressure stall information counts it.
    PressureCounters {
        /// Time during which some task waited for I/O, ns.
        some_ns,
        /// Time during which all tasks waited for I/O, ns.
        full_ns,
    }
}

counters! {
    /// Swapping of the whole machine.
    SwapCounters {
        /// Pages read from swap.
        in_pages,
        /// Pages written to swap.
        out_pages,
    }
}

counters! {
    /// TCP of the whole host, all interfaces and loopback together.
    TcpCounters {
        /// Segments received.
        in_segments,
        /// Segments sent, without those that carry nothing but what was sent before (RFC 4022, `tcpOutSegs`).
        out_segments,
        /// Segments sent again (RFC 4022, `tcpRetransSegs`).
        retransmitted_segments,
        /// Segments that were lost although they had been sent again.
        lost_retransmits,
        /// Retransmission timers that ran out.
        timeouts,
    }
}

counters! {
    /// One network interface.
    InterfaceCounters {
        /// Bytes received.
        receive_bytes,
        /// Packets received.
        receive_packets,
        /// Packets that were received broken or had to be dropped.
        receive_failures,
        /// Bytes sent.
        send_bytes,
        /// Packets sent.
        send_packets,
        /// Packets that could not be sent.
        send_failures,
    }
}

counters! {
    /// One task as the scheduler saw it.
    TaskCounters {
        /// Time on a CPU, ns.
        on_cpu_ns,
        /// Time ready to run while something else ran, ns.
        queued_ns,
    }
}

impl TcpCounters {
    /// Segments sent again over segments sent; `None` where nothing was sent.
    pub fn retransmit_share(&self) -> Option<f64> {
        (self.out_segments > 0).then(|| share(self.retransmitted_segments, self.out_segments))
    }
}

/// Memory at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MemoryGauge {
    /// Available without swapping, bytes.
    pub available_bytes: u64,
    /// Written by programs and not yet by the device, bytes.
    pub dirty_bytes: u64,
    /// Being written to the device, bytes.
    pub writeback_bytes: u64,
    /// Page cache, bytes.
    pub cached_bytes: u64,
    /// Largest memory that this process ever had resident, bytes.
    pub resident_bytes_max: u64,
}

/// The counters of one device by its kernel name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedDevice {
    /// The kernel's name, for example `sda1`.
    pub name: String,
    /// I/Os outstanding at the moment of the snapshot; of a difference, at its end.
    pub outstanding_ios: u64,
    /// Its counters.
    pub counters: DeviceCounters,
}

/// All counters at one time, or what was counted between two moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Counters {
    /// Monotonic time of the snapshot, ns; of a difference, its length.
    pub time_ns: u64,
    /// Devices of the stack, from the top down.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<NamedDevice>,
    /// The machine's CPU time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuCounters>,
    /// This process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessCounters>,
    /// Waiting for I/O; none where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_pressure: Option<PressureCounters>,
    /// Swapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<SwapCounters>,
    /// Memory at the moment of the snapshot; of a difference, at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryGauge>,
}

/// The difference of two optional sets: known only where both are.
macro_rules! both {
    ($later:expr, $earlier:expr) => {
        match (&$later, &$earlier) {
            (Some(later), Some(earlier)) => Some(later.since(earlier)),
            _ => None,
        }
    };
}

impl Counters {
    /// What was counted after `earlier`; a device that is not in both snapshots is left out.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            time_ns: self.time_ns.saturating_sub(earlier.time_ns),
            devices: self.devices_since(earlier),
            cpu: both!(self.cpu, earlier.cpu),
            process: both!(self.process, earlier.process),
            io_pressure: both!(self.io_pressure, earlier.io_pressure),
            swap: both!(self.swap, earlier.swap),
            memory: self.memory,
        }
    }

    fn devices_since(&self, earlier: &Self) -> Vec<NamedDevice> {
        let before = |name: &str| earlier.device(name).map(|device| device.counters);
        let difference = |later: &NamedDevice| {
            let counters = later.counters.since(&before(&later.name)?);
            Some(NamedDevice { counters, ..later.clone() })
        };
        self.devices.iter().filter_map(difference).collect()
    }

    /// The device of this kernel name.
    pub fn device(&self, name: &str) -> Option<&NamedDevice> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// Length of a difference, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.time_ns)
    }
}

impl CpuCounters {
    /// All CPU time, ns: busy, idle and stolen.
    pub const fn total_ns(&self) -> u64 {
        self.busy_ns()
            .saturating_add(self.idle_ns)
            .saturating_add(self.io_wait_ns)
            .saturating_add(self.steal_ns)
    }

    /// CPU time in which something ran here, ns.
    pub const fn busy_ns(&self) -> u64 {
        self.user_ns
            .saturating_add(self.nice_ns)
            .saturating_add(self.system_ns)
            .saturating_add(self.interrupt_ns)
            .saturating_add(self.soft_interrupt_ns)
    }

    /// Share of the CPU time in which something ran here, in 0..=1.
    pub fn busy_share(&self) -> f64 {
        share(self.busy_ns(), self.total_ns())
    }

    /// Share of the CPU time in programs, in 0..=1.
    pub fn user_share(&self) -> f64 {
        share(self.user_ns.saturating_add(self.nice_ns), self.total_ns())
    }

    /// Share of the CPU time in the kernel and its interrupts, in 0..=1.
    pub fn system_share(&self) -> f64 {
        let interrupts_ns = self.interrupt_ns.saturating_add(self.soft_interrupt_ns);
        share(self.system_ns.saturating_add(interrupts_ns), self.total_ns())
    }

    /// Share of the CPU time that the hypervisor gave to somebody else, in 0..=1.
    pub fn steal_share(&self) -> f64 {
        share(self.steal_ns, self.total_ns())
    }

    /// Share of the CPU time that was idle with I/O outstanding, in 0..=1.
    pub fn io_wait_share(&self) -> f64 {
        share(self.io_wait_ns, self.total_ns())
    }
}

impl DeviceCounters {
    /// Mean time of a read in the kernel's block layer, ns; `None` of no read.
    pub fn read_time_mean_ns(&self) -> Option<f64> {
        (self.read_ios > 0).then(|| share(self.read_time_ns, self.read_ios))
    }

    /// Whether the kernel measured how long I/Os took; it does not for some virtual devices.
    pub fn has_times(&self) -> bool {
        let times_ns = [
            self.read_time_ns,
            self.write_time_ns,
            self.joint_time_ns,
            self.outstanding_time_ns,
            self.busy_time_ns,
        ];
        let ios = [self.read_ios, self.write_ios, self.joint_ios];
        ios.iter().all(|ios| *ios == 0) || times_ns.iter().any(|time_ns| *time_ns > 0)
    }

    /// Mean time of reads and writes that are counted together, ns; `None` of none.
    pub fn joint_time_mean_ns(&self) -> Option<f64> {
        (self.joint_ios > 0).then(|| share(self.joint_time_ns, self.joint_ios))
    }

    /// Mean time of a write in the kernel's block layer, ns; `None` of no write.
    pub fn write_time_mean_ns(&self) -> Option<f64> {
        (self.write_ios > 0).then(|| share(self.write_time_ns, self.write_ios))
    }

    /// Time-weighted mean of the outstanding I/Os over `elapsed_ns`.
    pub fn queue_depth_mean(&self, elapsed_ns: u64) -> f64 {
        share(self.outstanding_time_ns, elapsed_ns)
    }

    /// Share of `elapsed_ns` in which at least one I/O was outstanding.
    pub fn busy_share(&self, elapsed_ns: u64) -> f64 {
        share(self.busy_time_ns, elapsed_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn snapshot(time_ns: u64, count: u64) -> Counters {
        Counters {
            time_ns,
            devices: vec![NamedDevice {
                name: "sda".into(),
                outstanding_ios: 3,
                counters: DeviceCounters {
                    read_ios: count,
                    read_time_ns: 2 * count,
                    ..DeviceCounters::default()
                },
            }],
            cpu: Some(CpuCounters {
                user_ns: count,
                steal_ns: count,
                idle_ns: 2 * count,
                ..CpuCounters::default()
            }),
            ..Counters::default()
        }
    }

    #[test]
    fn a_difference_holds_what_both_snapshots_know() {
        let mut later = snapshot(30, 50);
        later.devices.push(NamedDevice { name: "sdb".into(), ..NamedDevice::default() });
        later.swap = Some(SwapCounters::default());
        let delta = later.since(&snapshot(10, 20));
        assert_eq!((delta.time_ns, delta.devices.len()), (20, 1));
        assert_eq!(delta.device("sda").unwrap().counters.read_ios, 30);
        assert_eq!(delta.swap, None);
        let cpu = delta.cpu.unwrap();
        assert!((cpu.steal_share() - 0.25).abs() < 1e-12);
        assert!((cpu.busy_share() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_counter_that_ran_backwards_counts_as_nothing() {
        let delta = snapshot(20, 5).since(&snapshot(10, 50));
        let counters = delta.devices[0].counters;
        assert_eq!(counters.read_ios, 0);
        assert_eq!(counters.read_time_mean_ns(), None);
    }

    #[test]
    fn the_document_reads_back_the_same_and_refuses_unknown_keys() {
        let text = serde_json::to_string(&snapshot(1, 2)).unwrap();
        let read: Counters = serde_json::from_str(&text).unwrap();
        assert_eq!(read, snapshot(1, 2));
        assert!(serde_json::from_str::<Counters>(r#"{"colour":1}"#).is_err());
        assert!(serde_json::from_str::<CpuCounters>(r#"{"colour":1}"#).is_err());
    }

    proptest! {
        #[test]
        fn differences_of_neighbouring_intervals_add_up(a in 0u64..1 << 40, b in 0u64..1 << 40, c in 0u64..1 << 40) {
            let at = |count| snapshot(0, count).devices[0].counters;
            let (first, second, third) = (at(a), at(a + b), at(a + b + c));
            let sum = second.since(&first).plus(&third.since(&second));
            prop_assert_eq!(sum, third.since(&first));
        }
    }
}
