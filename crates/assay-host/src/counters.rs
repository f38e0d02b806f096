//! Reads the kernel's counters: devices, CPU, this process, pressure, swapping, memory.

use crate::root::SysRoot;
use assay_model::counters::{
    Counters, CpuCounters, DeviceCounters, MemoryGauge, NamedDevice, PressureCounters,
    ProcessCounters, SwapCounters,
};
use assay_model::number::{narrow, seconds};
use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The kernel counts transferred sectors of 512 bytes, whatever the device's own block is.
const SECTOR_BYTES: u64 = 512;
const MILLISECOND_NS: u64 = 1_000_000;
const MICROSECOND_NS: u64 = 1000;
const KIBIBYTE: u64 = 1024;

/// All counters at this moment; devices by kernel name, in this order. What the kernel does not
/// count is `None`, and a device that is gone is left out.
pub fn read_counters(root: &SysRoot, devices: &[String]) -> Counters {
    let stat = root.text("/proc/stat").unwrap_or_default();
    counters_with(root, devices, &stat)
}

/// All counters, with a text of `/proc/stat` that was read already: on a large host it takes the
/// kernel long to write.
pub(crate) fn counters_with(root: &SysRoot, devices: &[String], stat: &str) -> Counters {
    let text = |path: &str| root.text(path).ok();
    Counters {
        time_ns: monotonic_ns(),
        devices: text("/proc/diskstats")
            .map(|text| parse_devices(&text, devices))
            .unwrap_or_default(),
        cpu: parse_cpu(stat),
        process: read_process(root),
        io_pressure: read_pressure(root, "io"),
        swap: text("/proc/vmstat").and_then(|text| parse_swap(&text)),
        memory: read_memory(root),
    }
}

/// Nanoseconds on the clock that never jumps.
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let rest = u64::try_from(time.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

fn parse_devices(text: &str, wanted: &[String]) -> Vec<NamedDevice> {
    let find = |name: &String| text.lines().find_map(|line| parse_device(line, name));
    wanted.iter().filter_map(find).collect()
}

/// One line of `/proc/diskstats`; kernels before 4.18 have no discards, before 5.5 no flushes:
/// these count as 0.
fn parse_device(line: &str, name: &str) -> Option<NamedDevice> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if *words.get(2)? != name.replace('!', "/") {
        return None;
    }
    let field = |index: usize| words.get(index + 2).and_then(|word| word.parse::<u64>().ok());
    let ios = |index| field(index).unwrap_or_default();
    let bytes = |index| ios(index).saturating_mul(SECTOR_BYTES);
    let time_ns = |index| ios(index).saturating_mul(MILLISECOND_NS);
    let counters = DeviceCounters {
        read_ios: field(1)?,
        read_merged_ios: field(2)?,
        read_bytes: bytes(3),
        read_time_ns: time_ns(4),
        write_ios: field(5)?,
        write_merged_ios: field(6)?,
        write_bytes: bytes(7),
        write_time_ns: time_ns(8),
        busy_time_ns: time_ns(10),
        outstanding_time_ns: time_ns(11),
        discard_ios: ios(12),
        discard_bytes: bytes(14),
        discard_time_ns: time_ns(15),
        flush_ios: ios(16),
        flush_time_ns: time_ns(17),
        ..DeviceCounters::default()
    };
    Some(NamedDevice { name: name.to_owned(), outstanding_ios: ios(9), counters })
}

fn tick_ns() -> u64 {
    1_000_000_000 / clock_ticks_per_second().max(1)
}

/// The first line of `/proc/stat`; time in guests is contained in user time.
fn parse_cpu(text: &str) -> Option<CpuCounters> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let time_ns = |index: usize| ticks.get(index).map(|ticks| ticks.saturating_mul(tick_ns()));
    Some(CpuCounters {
        user_ns: time_ns(0)?,
        nice_ns: time_ns(1)?,
        system_ns: time_ns(2)?,
        idle_ns: time_ns(3)?,
        io_wait_ns: time_ns(4)?,
        interrupt_ns: time_ns(5)?,
        soft_interrupt_ns: time_ns(6)?,
        steal_ns: time_ns(7).unwrap_or_default(),
    })
}

/// The kernel counts user and system time of a process in ticks; their sum is known to the
/// nanosecond and is divided in their ratio.
fn read_process(root: &SysRoot) -> Option<ProcessCounters> {
    let stat = root.text("/proc/self/stat").ok()?;
    let input_output = root.text("/proc/self/io").unwrap_or_default();
    let (minor_faults, major_faults, user, system) = parse_process(&stat)?;
    let total_ns = nanoseconds(clock_gettime(ClockId::ProcessCPUTime));
    let ticks = u128::from((user + system).max(1));
    let user_ns = narrow(u128::from(total_ns) * u128::from(user) / ticks);
    Some(ProcessCounters {
        user_ns,
        system_ns: total_ns.saturating_sub(user_ns),
        major_faults,
        minor_faults,
        read_bytes: tagged(&input_output, "read_bytes:").unwrap_or_default(),
        write_bytes: tagged(&input_output, "write_bytes:").unwrap_or_default(),
    })
}

/// Faults and ticks of `/proc/self/stat`; the name in parentheses may hold anything, so fields
/// count from its end.
fn parse_process(stat: &str) -> Option<(u64, u64, u64, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The first word behind the name is the third field.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some((field(10)?, field(12)?, field(14)?, field(15)?))
}

/// The number behind a word at the start of a line.
pub(crate) fn tagged(text: &str, tag: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(tag))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The pressure of one resource; `None` where the kernel does not count it.
pub(crate) fn read_pressure(root: &SysRoot, resource: &str) -> Option<PressureCounters> {
    let text = root.text(format!("/proc/pressure/{resource}")).ok()?;
    parse_pressure(&text)
}

/// CPU time of the calling thread so far, ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

fn parse_pressure(text: &str) -> Option<PressureCounters> {
    let total_ns = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        let total_us: u64 = line.split_once("total=")?.1.trim().parse().ok()?;
        Some(total_us.saturating_mul(MICROSECOND_NS))
    };
    Some(PressureCounters {
        some_ns: total_ns("some")?,
        full_ns: total_ns("full").unwrap_or_default(),
    })
}

fn parse_swap(text: &str) -> Option<SwapCounters> {
    Some(SwapCounters { in_pages: tagged(text, "pswpin ")?, out_pages: tagged(text, "pswpout ")? })
}

fn read_memory(root: &SysRoot) -> Option<MemoryGauge> {
    let text = root.text("/proc/meminfo").ok()?;
    let status = root.text("/proc/self/status").unwrap_or_default();
    let bytes = |tag: &str| tagged(&text, tag).map(|kib| kib.saturating_mul(KIBIBYTE));
    Some(MemoryGauge {
        available_bytes: bytes("MemAvailable:").or_else(|| bytes("MemFree:"))?,
        dirty_bytes: bytes("Dirty:").unwrap_or_default(),
        writeback_bytes: bytes("Writeback:").unwrap_or_default(),
        cached_bytes: bytes("Cached:").unwrap_or_default(),
        resident_bytes_max: tagged(&status, "VmHWM:").unwrap_or_default().saturating_mul(KIBIBYTE),
    })
}

/// CPU seconds of this process so far, user and system together.
pub fn process_cpu_s() -> f64 {
    seconds(nanoseconds(clock_gettime(ClockId::ProcessCPUTime)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISKS: &str = "   8       0 sda 10 1 80 5 20 2 160 7 3 11 12 4 0 32 6 9 8
   8       1 sda1 1 0 8 1 2 0 16 1 0 1 2
 104       0 cciss/c0d0 4 0 0 0 0 0 0 0 0 0 0";

    #[test]
    fn a_line_of_disk_statistics_is_told_in_base_units() {
        let wanted =
            ["sda".to_owned(), "sda1".to_owned(), "gone".to_owned(), "cciss!c0d0".to_owned()];
        let devices = parse_devices(DISKS, &wanted);
        assert_eq!(devices.len(), 3);
        assert_eq!(devices[0].outstanding_ios, 3);
        let expected = DeviceCounters {
            read_ios: 10,
            read_merged_ios: 1,
            read_bytes: 80 * 512,
            read_time_ns: 5_000_000,
            write_ios: 20,
            write_merged_ios: 2,
            write_bytes: 160 * 512,
            write_time_ns: 7_000_000,
            busy_time_ns: 11_000_000,
            outstanding_time_ns: 12_000_000,
            discard_ios: 4,
            discard_bytes: 32 * 512,
            discard_time_ns: 6_000_000,
            flush_ios: 9,
            flush_time_ns: 8_000_000,
            ..DeviceCounters::default()
        };
        assert_eq!(devices[0].counters, expected);
        assert_eq!((devices[1].counters.read_ios, devices[1].counters.flush_ios), (1, 0));
        assert_eq!(devices[2].counters.read_ios, 4);
    }

    #[test]
    fn cpu_time_is_told_with_what_was_stolen() {
        let cpu = parse_cpu("cpu  100 1 50 800 20 3 4 22 5 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(cpu.steal_ns, 22 * tick_ns());
        assert!((cpu.steal_share() - 0.022).abs() < 1e-12);
        assert_eq!(parse_cpu("intr 1\n"), None);
    }

    #[test]
    fn a_process_may_have_any_name() {
        let stat = "7 (a) b (c) S 1 1 1 0 -1 0 55 0 66 0 70 30 0 0 20";
        assert_eq!(parse_process(stat), Some((55, 66, 70, 30)));
    }

    #[test]
    fn pressure_and_swapping_are_told() {
        let text = "some avg10=0.25 avg60=0.86 avg300=0.48 total=8023301\nfull avg10=0.00 \
                    avg60=0.15 avg300=0.21 total=6615879";
        let pressure = parse_pressure(text).unwrap();
        assert_eq!((pressure.some_ns, pressure.full_ns), (8_023_301_000, 6_615_879_000));
        let swap = parse_swap("pgpgin 1\npswpin 5\npswpout 6\n").unwrap();
        assert_eq!((swap.in_pages, swap.out_pages), (5, 6));
    }

    #[test]
    fn the_running_system_counts_forward() {
        let root = SysRoot::live();
        let first = read_counters(&root, &[]);
        let second = read_counters(&root, &[]);
        let delta = second.since(&first);
        assert!(second.time_ns > first.time_ns);
        assert!(delta.cpu.is_some() && delta.process.is_some());
        assert!(second.memory.unwrap().resident_bytes_max > 1 << 20);
        assert!(process_cpu_s() > 0.0);
    }

    #[test]
    fn a_system_without_counters_gives_none() {
        let root = SysRoot::under("/nothing/here");
        let counters = read_counters(&root, &["sda".to_owned()]);
        assert!(counters.devices.is_empty() && counters.cpu.is_none() && counters.memory.is_none());
    }
}
