//! Tests of watching: made-up texts of the kernel, and the running system.

use super::*;
use assay_model::watch::Summary;
use std::fs;
use std::path::Path;

const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens InSegs OutSegs RetransSegs InErrs
Tcp: 1 200 120000 -1 9 500 138682 37 0\n";
const NETSTAT: &str = "TcpExt: SyncookiesSent TCPLostRetransmit TCPTimeouts\nTcpExt: 0 3 \
                       4\nIpExt: InOctets\nIpExt: 7\n";
const DEV: &str = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo \
                   colls carrier compressed
    lo: 999 9 0 0 0 0 0 0 999 9 0 0 0 0 0 0
  eth0:1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n";

/// A made-up system in a directory of its own.
fn made_up(name: &str, stat: &str) -> SysRoot {
    let place = std::env::temp_dir().join(format!("assay-watch-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&place));
    let file = |path: &str, text: &str| {
        let path = place.join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, text).unwrap();
    };
    file("proc/stat", stat);
    file("proc/net/snmp", SNMP);
    file("proc/net/netstat", NETSTAT);
    file("proc/net/dev", DEV);
    file("proc/77/schedstat", "1234567 890123 42\n");
    file("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=250000");
    file(
        "proc/diskstats",
        "8 0 sda 1 0 8 0 0 0 0 0 0 0 0\n8 1 sda1 1 0 8 0 0 0 0 0 0 0 0\n7 0 loop0 1 0 0 0 0 0 0 0 \
         0 0 0\n8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n",
    );
    fs::create_dir_all(place.join("sys/block/sda")).unwrap();
    fs::create_dir_all(place.join("sys/block/loop0")).unwrap();
    fs::create_dir_all(place.join("sys/block/sdb")).unwrap();
    SysRoot::under(place)
}

#[test]
fn tcp_is_read_by_the_names_of_its_counters() {
    let tcp = parse_tcp(SNMP, NETSTAT).unwrap();
    let expected = TcpCounters {
        in_segments: 500,
        out_segments: 138_682,
        retransmitted_segments: 37,
        lost_retransmits: 3,
        timeouts: 4,
    };
    assert_eq!(tcp, expected);
    assert!((tcp.retransmit_share().unwrap() - 0.000_266_8).abs() < 1e-6);
    assert_eq!(parse_tcp("Udp: InDatagrams\nUdp: 1\n", ""), None);
}

#[test]
fn interfaces_are_told_without_loopback() {
    let interfaces = parse_interfaces(DEV);
    assert_eq!(interfaces.len(), 1);
    let counters = interfaces[0].counters;
    assert_eq!((counters.receive_bytes, counters.receive_failures), (1000, 3));
    assert_eq!((counters.send_packets, counters.send_failures), (20, 7));
}

#[test]
fn a_made_up_system_is_read_in_all_its_parts() {
    let stat = "cpu  100 0 50 800 50 0 0 0\ncpu0 50 0 25 400 25 0 0 0\ncpu1 50 0 25 400 25 0 0 \
                0\nprocs_running 5\nprocs_blocked 2\n";
    let root = made_up("parts", stat);
    let moment = read_moment(&root, &["sda".to_owned()]);
    assert_eq!(moment.processors, 2);
    assert_eq!(moment.run_queue, Some(RunQueue { running: 5, blocked: 2 }));
    assert_eq!(moment.cpu_pressure.unwrap().some_ns, 250_000_000);
    assert_eq!(moment.memory_pressure, None);
    assert_eq!(moment.counters.devices.len(), 1);
    let task = task_counters(&root, 77).unwrap();
    assert_eq!((task.on_cpu_ns, task.queued_ns), (1_234_567, 890_123));
    assert_eq!(task_counters(&root, 78), None);
    assert_eq!(busy_disks(&root), ["sda"]);
    fs::remove_dir_all(root.path("/")).unwrap();
}

#[test]
fn a_system_that_shows_nothing_gives_no_figures() {
    let moment = read_moment(&SysRoot::under("/nothing/here"), &[]);
    assert_eq!((moment.processors, moment.run_queue, moment.tcp), (0, None, None));
    assert!(moment.interfaces.is_empty() && moment.cpu_pressure.is_none());
}

#[test]
fn the_running_system_is_watched_and_the_watcher_counts_itself() {
    let mut sampler = HostWatch::new(SysRoot::live(), Vec::new());
    let moments = [sampler.sample(0), sampler.sample(7)];
    let summary = Summary::of(&moments).unwrap();
    assert_eq!((summary.moments, moments[1].late_ns), (2, 7));
    assert!(summary.total.counters.time_ns > 0 && summary.total.watcher_cpu_ns > 0);
    assert!(summary.total.processors > 0);
}
