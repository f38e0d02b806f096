//! Tests of archives: made-up outputs of several versions of the tools, and what is written read
//! back.

use super::*;
use assay_model::counters::{DeviceCounters, MemoryGauge, NamedDevice};
use assay_model::watch::{RunQueue, Summary};
use std::fs;
use std::path::PathBuf;

/// A directory of its own for a test.
fn place(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("assay-osw-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&place));
    fs::create_dir_all(&place).unwrap();
    place
}

fn file(archive: &Path, collector: &str, bytes: &[u8], ending: &str) {
    let directory = archive.join(format!("osw{collector}"));
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("db1_{collector}_26.01.10.1200.dat{ending}")), bytes).unwrap();
}

/// Three reports a sample: the first is the mean since the start of the host and must not count.
const IOSTAT: &str = "Linux OSWbb v8 db1\nSNAP_INTERVAL 30\nCPU_COUNT 4
zzz ***Sat Jan 10 12:00:00 CST 2026
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           9.00    0.00    9.00    9.00    9.00   64.00

Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s r_await w_await aqu-sz  %util
sda            999.00  999.00   9999.00   9999.00     0.00     0.00   99.00   99.00  99.00  99.00

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00    1.00    1.00   96.00

Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s r_await w_await aqu-sz  %util
sda            100.00   50.00    800.00    400.00     0.00     0.00    4.00    2.00   0.50  25.00

Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s r_await w_await aqu-sz  %util
sda            300.00   50.00   2400.00    400.00     0.00     0.00    8.00    2.00   2.50  75.00
";
const VMSTAT: &str = "zzz ***Sat Jan 10 12:00:01 CST 2026
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 9  9      0      1      1      1    9    9     9     9    9    9  9  9 64  9  9
 3  1      0  10000   1000  50000    4    8   100   200  300  400 20 10 60  8  2
";
const MPSTAT: &str = "zzz ***Sat Jan 10 12:00:00 CST 2026
12:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle
12:00:02 PM  all   20.00    1.00   10.00    8.00    0.50    0.50    2.00    0.00   58.00
12:00:02 PM    0   20.00    1.00   10.00    8.00    0.50    0.50    2.00    0.00   58.00
12:00:02 PM    7   20.00    1.00   10.00    8.00    0.50    0.50    2.00    0.00   58.00
";
const NETSTAT: &str = "zzz ***Sat Jan 10 12:00:00 CST 2026
Tcp:
    500 segments received
    1000 segments send out
    7 segments retransmited
zzz ***Sat Jan 10 12:00:30 CST 2026
Tcp:
    900 segments received
    3000 segments send out
    17 segments retransmited
";

#[test]
fn the_first_report_of_a_sample_does_not_count_and_times_are_weighted() {
    let archive = place("iostat");
    file(&archive, "iostat", IOSTAT.as_bytes(), "");
    let imported = read(&archive).unwrap();
    let [moment] = imported.moments.as_slice() else {
        panic!("{} moments", imported.moments.len());
    };
    assert_eq!(
        (moment.at_unix_ns, moment.counters.time_ns),
        (1_768_046_400_000_000_000, 2_000_000_000)
    );
    assert_eq!(moment.processors, 4);
    let rates = moment.counters.devices[0].rates(moment.counters.time_ns);
    assert!((rates.read_iops - 200.0).abs() < 1e-9 && (rates.write_iops - 50.0).abs() < 1e-9);
    // 100 reads of 4 ms and 300 of 8 ms are 7 ms on average, not 6.
    assert!((rates.read_time_mean_ns.unwrap() - 7e6).abs() < 1.0);
    assert!((rates.queue_depth_mean - 1.5).abs() < 1e-9 && (rates.busy_share - 0.5).abs() < 1e-9);
    // Little's law: (200 x 7 + 50 x 2) ms in a second are 1.5 outstanding.
    assert!((rates.littles_law_ratio.unwrap() - 1.0).abs() < 1e-6);
    assert!(imported.notes.iter().any(|note| note.contains("time zone")));
    fs::remove_dir_all(archive).unwrap();
}

#[test]
fn collectors_are_joined_by_time_and_the_finest_tells_the_processors() {
    let archive = place("joined");
    for (collector, text) in [("iostat", IOSTAT), ("vmstat", VMSTAT), ("mpstat", MPSTAT)] {
        file(&archive, collector, text.as_bytes(), "");
    }
    let moments = read(&archive).unwrap().moments;
    assert_eq!(moments.len(), 1);
    let moment = &moments[0];
    assert_eq!(moment.run_queue, Some(RunQueue { running: 3, blocked: 1 }));
    assert_eq!(moment.processors, 8);
    let cpu = moment.counters.cpu.unwrap();
    assert!((cpu.busy_share() - 0.32).abs() < 1e-9 && (cpu.steal_share() - 0.02).abs() < 1e-9);
    assert_eq!(moment.counters.swap, Some(SwapCounters { in_pages: 2, out_pages: 4 }));
    fs::remove_dir_all(archive).unwrap();
}

#[test]
fn segments_are_counted_between_samples_in_either_spelling_and_packed_files_are_read() {
    let archive = place("netstat");
    let deflated = miniz_oxide::deflate::compress_to_vec(NETSTAT.as_bytes(), 6);
    let mut packed = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
    packed.extend_from_slice(b"name\0");
    packed.extend(deflated);
    packed.extend(crc32fast::hash(NETSTAT.as_bytes()).to_le_bytes());
    packed.extend(u32::try_from(NETSTAT.len()).unwrap().to_le_bytes());
    file(&archive, "netstat", &packed, ".gz");
    let moments = read(&archive).unwrap().moments;
    assert_eq!((moments.len(), moments[0].tcp), (2, None));
    assert_eq!(moments[1].tcp.unwrap().retransmit_share(), Some(0.005));
    fs::remove_dir_all(archive).unwrap();
}

#[test]
fn an_old_iostat_with_one_await_is_read_and_said() {
    let archive = place("old");
    let text = "zzz ***Sat Jan 10 12:00:00 UTC 2026
Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00   10,00   10,00   160,00   160,00    16,00     0,10    5,00   1,00  10,00\n";
    file(&archive, "iostat", text.as_bytes(), "");
    let imported = read(&archive).unwrap();
    let counters = imported.moments[0].counters.devices[0].counters;
    assert_eq!(
        (counters.read_ios, counters.read_bytes, counters.read_time_ns),
        (10, 81_920, 50_000_000)
    );
    assert!(imported.notes.iter().any(|note| note.contains("one await")));
    fs::remove_dir_all(archive).unwrap();
}

#[test]
fn what_is_no_archive_is_refused_and_damage_is_said() {
    let archive = place("none");
    assert!(read(&archive).unwrap_err().hint().contains("oswiostat"));
    file(&archive, "iostat", b"\x1f\x8bnot gzip", ".gz");
    assert!(read(&archive).is_err());
    file(&archive, "vmstat", VMSTAT.as_bytes(), "");
    let imported = read(&archive).unwrap();
    assert_eq!(imported.moments.len(), 1);
    assert!(imported.notes.iter().any(|note| note.contains("gzip")));
    assert!(read(&archive.join("gone")).is_err());
    fs::remove_dir_all(archive).unwrap();
}

#[test]
fn what_is_written_reads_back_within_its_decimals() {
    let second = |second: u64| Moment {
        at_unix_ns: (1_768_046_400 + second) * SECOND_NS,
        processors: 2,
        counters: Counters {
            time_ns: SECOND_NS,
            devices: vec![NamedDevice {
                name: "vda".into(),
                outstanding_ios: 0,
                counters: DeviceCounters {
                    read_ios: 1000 + second,
                    read_bytes: 8_192_000,
                    read_time_ns: 400_000_000,
                    write_ios: 10,
                    write_bytes: 81_920,
                    write_time_ns: 20_000_000,
                    busy_time_ns: 250_000_000,
                    outstanding_time_ns: 420_000_000,
                    flush_ios: 3,
                    flush_time_ns: 6_000_000,
                    ..DeviceCounters::default()
                },
            }],
            cpu: Some(CpuCounters {
                user_ns: 500_000_000,
                idle_ns: 1_400_000_000,
                steal_ns: 100_000_000,
                ..CpuCounters::default()
            }),
            memory: Some(MemoryGauge { available_bytes: 4096, ..MemoryGauge::default() }),
            ..Counters::default()
        },
        run_queue: Some(RunQueue { running: 2, blocked: second }),
        tcp: Some(TcpCounters {
            in_segments: 5,
            out_segments: 100,
            retransmitted_segments: 1,
            ..TcpCounters::default()
        }),
        ..Moment::default()
    };
    let archive = place("written");
    let mut writer = ArchiveWriter::new(archive.clone(), "db1/..");
    let written: Vec<Moment> = (0..5).map(second).collect();
    written.iter().try_for_each(|moment| writer.append(moment)).unwrap();
    assert!(archive.join("oswiostat/db1.._iostat_26.01.10.1200.dat").is_file());
    let read = read(&archive).unwrap().moments;
    assert_eq!(read.len(), 5);
    let (before, after) = (Summary::of(&written).unwrap(), Summary::of(&read).unwrap());
    let (one, two) = (&before.total.counters, &after.total.counters);
    let (one_rates, two_rates) =
        (one.devices[0].rates(one.time_ns), two.devices[0].rates(two.time_ns));
    assert_eq!(one.devices[0].counters.read_ios, two.devices[0].counters.read_ios);
    assert_eq!(one.devices[0].counters.flush_ios, two.devices[0].counters.flush_ios);
    let difference_ns = one_rates.read_time_mean_ns.unwrap() - two_rates.read_time_mean_ns.unwrap();
    assert!(difference_ns.abs() < 1000.0, "{difference_ns}");
    assert!((one.cpu.unwrap().steal_share() - two.cpu.unwrap().steal_share()).abs() < 1e-4);
    assert_eq!((before.blocked_max, after.blocked_max), (4, 4));
    assert_eq!(read[4].tcp.unwrap(), written[4].tcp.unwrap());
    fs::remove_dir_all(archive).unwrap();
}
