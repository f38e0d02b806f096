//! I/O of a live server itself, second by second, and of the device that it shares with other
//! programs.

use crate::number::real_len;
use serde::{Deserialize, Serialize};

/// Bytes of the server's own processes by the kernel's account. Reads from the page cache are none
/// of them. `/proc/PID/io` counts a write when it dirties a page of the page cache or is issued
/// directly, `io.stat` when it is issued to the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProcessIo {
    /// Bytes read from storage per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second: to storage by `io.stat`, else directly or to the page cache.
    pub write_bytes_per_s: f64,
    /// The account that was read, for example `/proc/PID/io of the server's processes`.
    pub source: String,
}

impl ProcessIo {
    /// Bytes written to storage per second; `None` if the account counts writes to the page cache,
    /// which reach storage later, together, or never.
    ///
    /// Sources: `proc_pid_io(5)`, `write_bytes`; kernel documentation, "Control Group v2",
    /// `io.stat`.
    pub fn storage_write_bytes_per_s(&self) -> Option<f64> {
        self.source.starts_with("io.stat").then_some(self.write_bytes_per_s)
    }
}

/// What all programs together did to a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProfileDeviceIo {
    /// The device, as the kernel names it.
    pub name: String,
    /// Reads per second.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Mean time of an I/O, seconds; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<f64>,
    /// Share of its bytes that the server's own processes did not move, 0..=1; absent where it
    /// moved none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_share: Option<f64>,
}

/// A device moves more than one and a half times what the server does where others move more than
/// this share.
const OTHERS_SHARE: f64 = 1.0 / 3.0;
/// Less than this many bytes per second of others is a journal, and not another program.
const OTHERS_BYTES_PER_S: f64 = 1_048_576.0;

impl ProfileDeviceIo {
    /// Bytes per second in both directions.
    pub fn bytes_per_s(&self) -> f64 {
        self.read_bytes_per_s + self.write_bytes_per_s
    }

    /// Whether it moves more than half as much again as the server itself.
    pub fn is_mostly_others(&self) -> bool {
        let others = self.others_share.unwrap_or(0.0);
        others > OTHERS_SHARE && others * self.bytes_per_s() > OTHERS_BYTES_PER_S
    }

    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        self.read_iops + self.write_iops
    }
}

/// The server's own I/O in one second, as its counters had it by the end of that second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct IoSample {
    /// End of the second since the interval began, seconds.
    pub at_s: f64,
    /// Reads of data per second.
    pub read_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Writes of data per second.
    pub write_iops: f64,
    /// Bytes of data written per second.
    pub write_bytes_per_s: f64,
    /// Writes of the log per second.
    pub log_iops: f64,
    /// Bytes of the log per second.
    pub log_bytes_per_s: f64,
    /// Transactions per second.
    pub transactions_per_s: f64,
}

impl IoSample {
    /// All I/Os per second.
    pub fn iops(&self) -> f64 {
        self.read_iops + self.write_iops + self.log_iops
    }

    /// The stretch of that many seconds with the most I/O; all of a shorter series.
    pub fn busiest(seconds: &[Self], length: usize) -> &[Self] {
        let windows = seconds.windows(length.clamp(1, seconds.len().max(1)));
        let sum = |window: &[Self]| window.iter().map(Self::iops).sum::<f64>();
        windows.max_by(|left, right| sum(left).total_cmp(&sum(right))).unwrap_or(seconds)
    }

    /// The mean of one of its numbers over several seconds.
    pub fn mean(seconds: &[Self], number: fn(&Self) -> f64) -> f64 {
        seconds.iter().map(number).sum::<f64>() / real_len(seconds.len()).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_to_the_page_cache_are_not_writes_to_storage() {
        let account = |source: &str| ProcessIo {
            write_bytes_per_s: 53.5e6,
            source: source.to_owned(),
            ..ProcessIo::default()
        };
        let of_group = account("io.stat of the server's control group");
        assert_eq!(of_group.storage_write_bytes_per_s(), Some(53.5e6));
        let of_processes = account("/proc/PID/io of the server's processes");
        assert_eq!(of_processes.storage_write_bytes_per_s(), None);
    }

    #[test]
    fn the_busiest_stretch_has_the_most_io() {
        let second = |read_iops: f64| IoSample { read_iops, ..IoSample::default() };
        let seconds: Vec<IoSample> = [1.0, 9.0, 2.0, 8.0, 7.0, 0.0].map(second).to_vec();
        assert_eq!(IoSample::busiest(&seconds, 2), &seconds[3..5]);
        assert_eq!(IoSample::busiest(&seconds, 3), &seconds[1..4]);
        assert_eq!(IoSample::busiest(&seconds, 60), &seconds[..]);
        assert!(IoSample::busiest(&[], 60).is_empty());
        assert!((IoSample::mean(&seconds[3..5], IoSample::iops) - 7.5).abs() < 1e-12);
    }
}
