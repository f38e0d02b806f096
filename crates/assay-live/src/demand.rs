//! The server's own demand on storage, apart from other programs on its device.

use crate::host_context::HostContext;
use assay_model::number::{rate, real};
use assay_model::profile::{Figure, IoClass, IoPurpose, ProcessIo, ProfileDeviceIo};

/// Reads that the kernel counts beyond this many times what the server counts are those of
/// statements that have not ended.
const UNCOUNTED_RATIO: f64 = 1.25;
/// Fewer bytes per second than this are not such a statement.
const UNCOUNTED_BYTES_PER_S: f64 = 262_144.0;
/// The kernel reads ahead in pieces of this size where a statement reads from one end to the other.
const READ_AHEAD_BYTES: f64 = 131_072.0;

/// I/O of the server by its own counters, in an interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnIo {
    /// Reads of data.
    pub reads: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// Writes of data, temporary files and the log.
    pub writes: u64,
    /// Bytes of them.
    pub write_bytes: u64,
}

/// All I/O of the server itself; what other programs do to its device is not in it.
pub fn whole(own: OwnIo, source: &str, host: &HostContext, elapsed_s: f64) -> IoClass {
    let mut class = IoClass::new(IoPurpose::All);
    let per_s = |amount: u64| rate(amount, elapsed_s);
    let (mut reads, writes) = (per_s(own.reads), per_s(own.writes));
    let mut bytes = per_s(own.read_bytes + own.write_bytes);
    let mut source = source.to_owned();
    let process_io = host.process_io.as_ref();
    if let Some(late) = process_io.and_then(|io| uncounted(per_s(own.read_bytes), io)) {
        reads += late / READ_AHEAD_BYTES;
        bytes += late;
        source += ", and reads of unfinished statements from /proc/PID/io, in blocks of 128 KiB";
    }
    class.rate_iops = Some(Figure::new(reads + writes, source.clone()));
    class.throughput_bytes_per_s = Some(Figure::new(bytes, source.clone()));
    class.read_share =
        (reads + writes > 0.0).then(|| Figure::new(reads / (reads + writes), source));
    class
}

/// Bytes a second that were read from storage and are in no counter yet: a server counts the reads
/// of a statement when that has ended.
fn uncounted(counted_per_s: f64, io: &ProcessIo) -> Option<f64> {
    let late = io.read_bytes_per_s - counted_per_s;
    let is_much = io.read_bytes_per_s > UNCOUNTED_RATIO * counted_per_s;
    (is_much && late > UNCOUNTED_BYTES_PER_S).then_some(late)
}

/// The device under the data, of all programs; nothing where its counters stand still while the
/// server moves bytes.
pub fn device(own: OwnIo, host: &HostContext, elapsed_s: f64) -> Option<ProfileDeviceIo> {
    let named = host.device.as_ref()?;
    let counters = &named.counters;
    let per_s = |amount: u64| rate(amount, elapsed_s);
    let ios = counters.read_ios + counters.write_ios;
    let seen = host.process_io.as_ref();
    let seen = seen
        .map_or(0.0, |io| io.read_bytes_per_s + io.storage_write_bytes_per_s().unwrap_or_default());
    if ios == 0 && seen > UNCOUNTED_BYTES_PER_S {
        return None;
    }
    let time_s = real(counters.read_time_ns + counters.write_time_ns) / 1e9;
    let mut device = ProfileDeviceIo {
        name: named.name.clone(),
        read_iops: per_s(counters.read_ios),
        write_iops: per_s(counters.write_ios),
        read_bytes_per_s: per_s(counters.read_bytes),
        write_bytes_per_s: per_s(counters.write_bytes),
        latency_s: crate::mean_s(time_s, ios),
        others_share: None,
    };
    let whole = device.bytes_per_s();
    let others = 1.0 - storage_bytes_per_s(own, host.process_io.as_ref(), elapsed_s) / whole;
    device.others_share = (whole > 0.0).then(|| others.clamp(0.0, 1.0));
    Some(device)
}

/// Bytes a second that the server itself moved from and to storage, by the kernel's account as far
/// as that counts storage, else by the server's own counters: its log and its blocks.
fn storage_bytes_per_s(own: OwnIo, kernel: Option<&ProcessIo>, elapsed_s: f64) -> f64 {
    let read = kernel.map(|io| io.read_bytes_per_s);
    let written = kernel.and_then(ProcessIo::storage_write_bytes_per_s);
    read.unwrap_or_else(|| rate(own.read_bytes, elapsed_s))
        + written.unwrap_or_else(|| rate(own.write_bytes, elapsed_s))
}

/// Share of the database's reads that storage did not serve: by the account of its processes, else
/// at least by that of the device.
pub fn page_cache_share(read_bytes: u64, host: &HostContext, elapsed_s: f64) -> Option<f64> {
    let counted = rate(read_bytes, elapsed_s);
    let of_device = || Some(rate(host.device.as_ref()?.counters.read_bytes, elapsed_s));
    let of_processes = host.process_io.as_ref().map(|io| io.read_bytes_per_s);
    let served = of_processes.or_else(of_device).filter(|_| counted > 0.0)?;
    Some((1.0 - served / counted).max(0.0))
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::*;
    use assay_model::counters::{DeviceCounters, NamedDevice};

    fn host(device_bytes: u64, process_bytes_per_s: Option<f64>) -> HostContext {
        let counters = DeviceCounters {
            read_ios: device_bytes / 8192,
            read_bytes: device_bytes,
            ..DeviceCounters::default()
        };
        HostContext {
            device: Some(NamedDevice { name: "vda".into(), counters, ..NamedDevice::default() }),
            process_io: process_bytes_per_s
                .map(|read_bytes_per_s| ProcessIo { read_bytes_per_s, ..ProcessIo::default() }),
            ..HostContext::default()
        }
    }

    const OWN: OwnIo =
        OwnIo { reads: 1000, read_bytes: 8_192_000, writes: 600, write_bytes: 600_000 };

    /// A neighbour that reads thirty times as much changes the row of the device and nothing else.
    #[test]
    fn a_neighbour_is_no_demand() {
        let (alone, beside) =
            (host(8_192_000, Some(819_200.0)), host(250_000_000, Some(819_200.0)));
        let of = |host: &HostContext| whole(OWN, "counters", host, 10.0);
        assert_eq!(of(&alone), of(&beside));
        assert_eq!(of(&beside).rate_iops.unwrap().value, 160.0);
        assert_eq!(of(&beside).read_share.unwrap().value, 0.625);
        let (alone, beside) = (device(OWN, &alone, 10.0), device(OWN, &beside, 10.0));
        assert!(!alone.unwrap().is_mostly_others());
        let shared = beside.unwrap();
        assert!(shared.is_mostly_others() && shared.others_share.unwrap() > 0.95, "{shared:?}");
    }

    #[test]
    fn reads_of_statements_that_run_are_those_of_the_processes() {
        let long = host(0, Some(50_000_000.0));
        let class = whole(OwnIo::default(), "counters", &long, 10.0);
        assert_eq!(class.rate_iops.unwrap().value, 50_000_000.0 / READ_AHEAD_BYTES);
        assert_eq!(class.throughput_bytes_per_s.unwrap().value, 50_000_000.0);
        // Counters of a device that stand still are none.
        assert_eq!(device(OwnIo::default(), &long, 10.0), None);
    }

    /// PostgreSQL 15 dirtied 53.5 MB/s while its device wrote 32.5 MB/s: it hid a neighbour.
    #[test]
    fn dirtied_pages_hide_no_neighbour() {
        let io = |source: &str| ProcessIo {
            read_bytes_per_s: 1e6,
            write_bytes_per_s: 53.5e6,
            source: source.to_owned(),
        };
        let own = OwnIo { write_bytes: 40_000_000, ..OwnIo::default() };
        let host =
            |process_io| HostContext { process_io: Some(process_io), ..host(100_000_000, None) };
        let dirtied = device(own, &host(io("/proc/PID/io of the server's processes")), 10.0);
        assert_eq!(dirtied.unwrap().others_share, Some(0.5));
        let written = device(own, &host(io("io.stat of the server's control group")), 10.0);
        assert_eq!(written.unwrap().others_share, Some(0.0));
    }

    #[test]
    fn what_the_page_cache_served_is_seen_beside_a_neighbour() {
        let share = |host: &HostContext| page_cache_share(8_192_000, host, 10.0);
        assert_eq!(share(&host(250_000_000, Some(81_920.0))), Some(0.9));
        assert_eq!(share(&host(4_096_000, None)), Some(0.5));
        assert_eq!(share(&HostContext::default()), None);
    }
}
