//! What `iostat` and `vmstat` printed from their start to their end, as means: a load's script
//! keeps them without times.

use super::collector::ArchiveCollector;
use super::parse::{self, FoundSample, Remainders};
use assay_model::counters::NamedDevice;
use assay_model::number::real_len;
use assay_model::watch::DeviceRates;

const SECOND_NS: u64 = 1_000_000_000;

/// Means over the time that the tools ran; their first reports, which are means since the start of
/// the host, do not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolMeans {
    /// Share of the CPU time in which something ran, 0..=1.
    pub cpu_busy_share: Option<f64>,
    /// The device with the most time under I/O, by its kernel name, and its rates.
    pub busiest: Option<(String, DeviceRates)>,
}

/// The means of what both tools printed; any other text gives nothing.
pub fn tool_means(iostat: &str, vmstat: &str) -> ToolMeans {
    ToolMeans { cpu_busy_share: cpu_busy_share(vmstat), busiest: busiest(iostat) }
}

/// Idle time and time in waits for I/O are not busy.
fn cpu_busy_share(text: &str) -> Option<f64> {
    let head = text.lines().find(|line| line.split_whitespace().take(2).eq(["r", "b"]))?;
    let is_row =
        |line: &&str| line.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    let shares = text.lines().filter(is_row).skip(1).filter_map(|line| {
        let found = found(ArchiveCollector::Vmstat, [head, line].join("\n").as_str())?;
        let [.., idle, wait, _, _, _] = found.cpu_share?;
        Some(1.0 - idle - wait)
    });
    let shares: Vec<f64> = shares.collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / real_len(shares.len()))
}

fn busiest(text: &str) -> Option<(String, DeviceRates)> {
    let found = found(ArchiveCollector::Iostat, text)?;
    let devices = found.devices.iter().map(|device| device.over(1, &mut Remainders::new()));
    let most = devices.max_by_key(|device: &NamedDevice| device.counters.busy_time_ns)?;
    let rates = most.rates(SECOND_NS);
    Some((most.name, rates))
}

fn found(collector: ArchiveCollector, text: &str) -> Option<FoundSample> {
    let lines: Vec<&str> = text.lines().collect();
    parse::sample(collector, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IOSTAT: &str = "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util
sda 999.0 9.0 9.0 9.0 9.0 9.0 9.0 99.0

Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util
sda 100.0 0.0 800.0 0.0 1.0 0.0 0.1 10.0
sdb 1000.0 0.0 8000.0 0.0 1.0 0.0 1.0 90.0

Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util
sda 100.0 0.0 800.0 0.0 1.0 0.0 0.1 10.0
sdb 3000.0 0.0 24000.0 0.0 1.0 0.0 3.0 92.0
";
    const VMSTAT: &str = "procs ---memory--- cpu
 r b swpd free buff cache si so bi bo in cs us sy id wa st
 9 9 0 1 1 1 9 9 9 9 9 9 50 49 0 1 0
 1 0 0 1 1 1 0 0 9 9 9 9 20 10 60 10 0
 1 0 0 1 1 1 0 0 9 9 9 9 30 20 40 10 0
";

    #[test]
    fn first_reports_do_not_count_and_the_busiest_device_is_named() {
        let means = tool_means(IOSTAT, VMSTAT);
        assert!((means.cpu_busy_share.unwrap() - 0.4).abs() < 1e-9, "{means:?}");
        let (name, rates) = means.busiest.unwrap();
        assert_eq!(name, "sdb");
        assert!((rates.read_iops - 2000.0).abs() < 1.0, "{rates:?}");
        assert!((rates.read_bytes_per_s - 16_384_000.0).abs() < 1.0, "{rates:?}");
    }

    #[test]
    fn other_texts_give_nothing() {
        for text in ["", "hello\n", "Device\n", " r b\n", "\u{0}\n9 9\n"] {
            assert_eq!(tool_means(text, text), ToolMeans::default(), "{text:?}");
        }
    }
}
