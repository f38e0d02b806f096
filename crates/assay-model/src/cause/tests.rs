//! Every cause from documents that prove it, and none from documents that do not.

use super::*;
use crate::calibration::{LatencyLimit, MixCalibration};
use crate::counters::{CpuCounters, NamedDevice, ProcessCounters};
use crate::measurement::{Conduct, Finish, NamedResult, OperationResult};
use crate::plausibility::tests::mix;
use crate::spelling::LimitStatistic;
use crate::stack::{BlockLayer, BlockStack, DeviceNumber, Mount};

fn result(ios: u64, mean_ns: u64) -> OperationResult {
    let mut service = crate::Histogram::new(crate::histogram::Precision::default());
    service.record_many(mean_ns, ios);
    OperationResult { ios, bytes: ios * 8192, service, ..OperationResult::default() }
}

/// In 10 s, by a closed load at queue depth 4.
fn measurement(read_ios: u64) -> Measurement {
    let read = Some(result(read_ios, 40_000_000_000 / read_ios));
    let operations = PerOperation { read, ..PerOperation::default() };
    Measurement {
        format: 1,
        workload: "randread".to_owned(),
        started_unix_ns: 0,
        elapsed_ns: 10_000_000_000,
        finish: Finish::Complete,
        streams: vec![NamedResult { name: "reads".to_owned(), operations }],
        targets: Vec::new(),
        errors: Vec::new(),
        conduct: Conduct { clock: ClockKind::Monotonic, ..Conduct::default() },
    }
}

/// A directory of a file system on a disk.
fn environment(file_system: &str, device: DeviceNumber) -> Environment {
    let layer = BlockLayer {
        name: "sdx".to_owned(),
        device,
        kind: LayerKind::Scsi,
        ..BlockLayer::default()
    };
    let mount = Mount { file_system: file_system.to_owned(), ..Mount::default() };
    let stack = BlockStack {
        path: "/data".to_owned(),
        mount: Some(mount),
        layers: if file_system == "tmpfs" { Vec::new() } else { vec![layer] },
        ..BlockStack::default()
    };
    Environment {
        format: Environment::FORMAT,
        captured_unix_ns: 0,
        host: crate::environment::Host::default(),
        storage: vec![Storage { stack, ..Storage::default() }],
        findings: Vec::new(),
        unreadable: Vec::new(),
    }
}

fn kinds(environment: Option<&Environment>, measurement: &Measurement) -> Vec<CauseKind> {
    let documents =
        RunDocuments { environment, measurements: vec![measurement], ..RunDocuments::default() };
    known_causes(&documents).iter().map(|cause| cause.kind).collect()
}

const DISK: DeviceNumber = DeviceNumber { major: 8, minor: 16 };

#[test]
fn a_quiet_disk_has_no_cause() {
    assert!(kinds(Some(&environment("ext4", DISK)), &measurement(100_000)).is_empty());
    assert!(kinds(None, &measurement(100_000)).is_empty());
}

#[test]
fn a_directory_in_memory_comes_first_and_decides_nothing() {
    let found = known_causes(&RunDocuments {
        environment: Some(&environment("tmpfs", DISK)),
        ..RunDocuments::default()
    });
    assert_eq!((found[0].kind, found[0].bias), (CauseKind::Memory, Some(Bias::Unknown)));
    assert!(found[0].what.starts_with("/data is in memory (tmpfs)"), "{found:?}");
}

#[test]
fn a_limit_is_a_cause_where_it_was_reached_on_the_device_of_the_target() {
    let limit = |device, per_s| IoLimit {
        control_group: "/slice".to_owned(),
        device,
        device_name: Some("sdx".to_owned()),
        quantity: "read IOPS".to_owned(),
        per_s,
    };
    let of = |device, per_s, read_ios| {
        let mut environment = environment("ext4", DISK);
        environment.host.io_limits = vec![limit(device, per_s)];
        kinds(Some(&environment), &measurement(read_ios))
    };
    let other = DeviceNumber { major: 7, minor: 0 };
    assert_eq!(of(DISK, 300, 3_010), [CauseKind::ControlGroup]);
    assert!(of(DISK, 300, 1_500).is_empty(), "half of the limit");
    assert!(of(other, 300, 3_010).is_empty(), "another device");
    let of_curve = |points: &[(u64, f64)]| {
        let point = |(read_ios, elapsed_s): &(u64, f64)| CurvePoint {
            operations: measurement(*read_ios).operations(),
            elapsed_s: *elapsed_s,
            ..mix(1e3, 1e3).curve[0].clone()
        };
        let curve = points.iter().map(point).collect();
        let calibration = Calibration {
            format: 1,
            target: String::new(),
            limit: LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 },
            mixes: vec![MixCalibration { curve, ..mix(1e3, 1e3) }],
            direct_io: None,
            log: None,
            early_end: None,
            elapsed_s: 15.0,
            remarks: Vec::new(),
        };
        let mut environment = environment("ext4", DISK);
        environment.host.io_limits = vec![limit(DISK, 2_000)];
        let documents = RunDocuments {
            environment: Some(&environment),
            calibration: Some(&calibration),
            ..RunDocuments::default()
        };
        known_causes(&documents).iter().map(|cause| cause.kind).collect::<Vec<_>>()
    };
    // Visits shorter than the kernel's slices lie on either side of the limit, all together at it.
    let short = [(4_318, 1.7), (1_802, 0.8), (4_826, 2.6), (616, 0.3)];
    assert_eq!(of_curve(&short), [CauseKind::ControlGroup]);
    assert!(of_curve(&[(6_000, 1.0), (2_000, 3.0)]).is_empty(), "one visit beyond twice the limit");
    assert!(of_curve(&[(1_000, 1.0), (1_100, 1.0)]).is_empty(), "half of the limit");
}

#[test]
fn a_watch_that_is_late_by_seconds_shows_a_pause() {
    let of = |late_ns: u64| {
        let mut watch = Summary::default();
        watch.total.late_ns = late_ns;
        let measurement = measurement(100_000);
        let documents = RunDocuments {
            watch: Some(&watch),
            measurements: vec![&measurement],
            ..RunDocuments::default()
        };
        known_causes(&documents)
    };
    let found = of(4_100_000_000);
    assert_eq!((found[0].kind, found[0].bias), (CauseKind::Paused, Some(Bias::Unknown)));
    assert!(found[0].what.starts_with("Assay did not run for 4.10 s"), "{found:?}");
    assert!(of(1_000_000_000).is_empty());
}

#[test]
fn reads_that_reach_no_device_came_from_the_page_cache() {
    let with = |device_bytes: u64| {
        let mut measurement = measurement(100_000);
        let counters = DeviceCounters { read_bytes: device_bytes, ..DeviceCounters::default() };
        let device = NamedDevice { name: "sdx".to_owned(), outstanding_ios: 0, counters };
        measurement.conduct.kernel =
            Some(Counters { devices: vec![device], ..Counters::default() });
        kinds(None, &measurement)
    };
    assert_eq!(with(8192 * 20_000), [CauseKind::PageCache]);
    assert!(with(8192 * 100_000).is_empty());
}

#[test]
fn a_neighbour_is_what_the_device_moved_besides_this_process() {
    let with = |device_bytes: u64| {
        let mut measurement = measurement(100_000);
        let counters = DeviceCounters { read_bytes: device_bytes, ..DeviceCounters::default() };
        let device = NamedDevice { name: "sdx".to_owned(), outstanding_ios: 0, counters };
        let process = ProcessCounters { read_bytes: 8192 * 110_000, ..ProcessCounters::default() };
        measurement.conduct.kernel =
            Some(Counters { devices: vec![device], process: Some(process), ..Counters::default() });
        let documents =
            RunDocuments { measurements: vec![&measurement], ..RunDocuments::default() };
        known_causes(&documents)
    };
    // Warm-up included, this process read 110,000 blocks; the device gave 183,000.
    let found = with(8192 * 183_000);
    assert_eq!(found[0].kind, CauseKind::Neighbour);
    assert!(found[0].what.contains("at least 40% of the data that sdx transferred"), "{found:?}");
    assert!(with(8192 * 112_000).is_empty());
}

/// Recorded on a real disk: 8 s of writes next to fio, which wrote 57% of the bytes.
#[test]
fn a_neighbour_that_writes_is_seen_next_to_own_writes() {
    let of = |file_system: &str, syncs: u64, device_bytes: u64| {
        let mut measurement = measurement(1);
        let writes = result(128_000, 240_000);
        measurement.streams[0].operations =
            PerOperation { write: Some(writes), sync: Some(result(syncs, 1)), read: None };
        let counters = DeviceCounters { write_bytes: device_bytes, ..DeviceCounters::default() };
        let device = NamedDevice { name: "sdx".to_owned(), outstanding_ios: 0, counters };
        let process = ProcessCounters { write_bytes: 8192 * 128_000, ..ProcessCounters::default() };
        measurement.conduct.kernel =
            Some(Counters { devices: vec![device], process: Some(process), ..Counters::default() });
        kinds(Some(&environment(file_system, DISK)), &measurement)
    };
    assert_eq!(of("ext4", 0, 2_476_000_000), [CauseKind::Neighbour]);
    assert!(of("btrfs", 0, 2_476_000_000).is_empty(), "copies on write");
    assert!(of("ext4", 0, 1_060_000_000).is_empty(), "its own writes");
    assert!(of("ext4", 128_000, 2_476_000_000).is_empty(), "flushes may write a journal");
    assert_eq!(of("ext4", 128_000, 4_000_000_000), [CauseKind::Neighbour]);
}

#[test]
fn a_loop_device_over_the_page_cache_is_named() {
    let of = |devices: &[(&str, u64)]| {
        let mut measurement = measurement(100_000);
        let device = |(name, ios): &(&str, u64)| NamedDevice {
            name: (*name).to_owned(),
            outstanding_ios: 0,
            counters: DeviceCounters { read_bytes: 8192 * ios, ..DeviceCounters::default() },
        };
        let devices = devices.iter().map(device).collect();
        measurement.conduct.kernel = Some(Counters { devices, ..Counters::default() });
        kinds(None, &measurement)
    };
    assert_eq!(of(&[("loop1", 100_000), ("vda", 60)]), [CauseKind::PageCache]);
    assert!(of(&[("loop1", 100_000), ("vda", 100_000)]).is_empty(), "direct I/O of the loop");
    assert!(of(&[("loop1", 100_000)]).is_empty(), "nothing is known below it");
    assert!(of(&[("dm-0", 100_000), ("sda", 0)]).is_empty(), "layers of one target");
}

/// An open load of 900/s under a limit of 1,000/s, and commits of 2.5 writes each under 200/s.
#[test]
fn a_limit_is_reached_where_ios_waited_for_it() {
    let limit = |quantity: &str, per_s| IoLimit {
        control_group: "/slice".to_owned(),
        device: DISK,
        device_name: Some("sdx".to_owned()),
        quantity: quantity.to_owned(),
        per_s,
    };
    let mut environment = environment("ext4", DISK);
    environment.host.io_limits = vec![limit("read IOPS", 1_000)];
    let mut open = measurement(9_040);
    open.streams[0].operations.read = Some(result(9_040, 495_000));
    assert!(kinds(Some(&environment), &open).is_empty(), "half an I/O is outstanding");
    environment.host.io_limits = vec![limit("write IOPS", 200)];
    let commits = |mean_ns| {
        let mut redo = measurement(1);
        redo.streams[0].operations =
            PerOperation { write: Some(result(790, mean_ns)), ..PerOperation::default() };
        let counters = DeviceCounters {
            write_ios: 2_327,
            write_time_ns: 2_327 * 537_600,
            write_bytes: 790 * 8192,
            ..DeviceCounters::default()
        };
        let device = NamedDevice { name: "sdx".to_owned(), outstanding_ios: 0, counters };
        // Of 10.1 s, of which 2.1 s were warm-up.
        redo.elapsed_ns = 8_000_000_000;
        redo.conduct.kernel = Some(Counters {
            time_ns: 10_100_000_000,
            devices: vec![device],
            ..Counters::default()
        });
        kinds(Some(&environment), &redo)
    };
    assert_eq!(commits(38_900_000), [CauseKind::ControlGroup]);
    assert!(commits(600_000).is_empty(), "they took as long as the device needed");
}

#[test]
fn denied_rings_are_named_and_spoil_nothing() {
    let mut blocking = measurement(100_000);
    blocking.conduct.backend_reason = Some("io_uring is denied".to_owned());
    let documents = RunDocuments { measurements: vec![&blocking], ..RunDocuments::default() };
    let found = known_causes(&documents);
    assert_eq!((found[0].kind, found[0].doubt()), (CauseKind::BlockingCalls, None));
    assert!(found[0].what.starts_with("io_uring is denied: I/O was issued by blocking calls"));
}

#[test]
fn a_quota_is_a_cause_where_this_process_used_it_up() {
    let mut held_back = measurement(100_000);
    (held_back.conduct.cpu_user_s, held_back.conduct.cpu_system_s) = (0.5, 1.4);
    let mut limited = environment("ext4", DISK);
    limited.host.cpu_limit = Some(0.2);
    assert_eq!(kinds(Some(&limited), &held_back), [CauseKind::ControlGroup]);
    limited.host.cpu_limit = Some(1.5);
    assert!(kinds(Some(&limited), &held_back).is_empty());
}

#[test]
fn a_busy_host_names_its_users() {
    let mut busy = measurement(100_000);
    busy.conduct.host_busy_share = Some(0.99);
    (busy.conduct.cpu_user_s, busy.conduct.cpu_system_s) = (1.0, 2.0);
    let cpu = CpuCounters { user_ns: 20_000_000_000, ..CpuCounters::default() };
    busy.conduct.kernel =
        Some(Counters { time_ns: 10_000_000_000, cpu: Some(cpu), ..Counters::default() });
    let documents = RunDocuments { measurements: vec![&busy], ..RunDocuments::default() };
    let found = known_causes(&documents);
    assert!(found[0].what.contains("Assay 0.3, others 1.7 of 2 CPUs"), "{found:?}");
    busy.conduct.clock = ClockKind::Virtual;
    assert!(kinds(None, &busy).is_empty(), "virtual time has no busy host");
}

#[test]
fn cpu_time_of_the_database_server_is_not_that_of_assay() {
    let load = HostLoad {
        busy_share: 1.0,
        cores: Some(2.0),
        own_cores: Some(0.034),
        server_cores: Some(0.4),
        ..HostLoad::default()
    };
    let users = "Assay 0.0, database server 0.4, others 1.6 of 2 CPUs";
    assert_eq!(load.users().as_deref(), Some(users));
    // Clocks of a process and of the host differ: the parts are never more than the whole.
    let most = HostLoad { busy_share: 0.1, ..load };
    let users = "Assay 0.0, database server 0.2, others 0.0 of 2 CPUs";
    assert_eq!(most.users().as_deref(), Some(users));
}
