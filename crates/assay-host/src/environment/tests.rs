//! The computer as it is read from made-up systems, and the whole document of the running one.

use super::*;
use crate::testing::FakeSystem;
use assay_model::environment::IoLimit;

const CPU: &str =
    "processor\t: 0\nmodel name\t: Great CPU 3000\nflags\t\t: fpu hypervisor sse\nprocessor\t: 1\n";
const MEMORY: &str = "MemTotal: 1000 kB\nMemAvailable: 400 kB\nDirty: 5 kB\nSwapTotal: 100 \
                      kB\nSwapFree: 60 kB\nHugePages_Total: 8\nHugePages_Free: 2\nHugepagesize: \
                      2048 kB\n";

fn system() -> FakeSystem {
    FakeSystem::new("host")
        .file("proc/cpuinfo", CPU)
        .file("proc/meminfo", MEMORY)
        .file("proc/self/status", "Name:\tx\nSeccomp:\t2\nCpus_allowed_list:\t0-3,8\n")
        .file("proc/sys/kernel/hostname", "db1\n")
        .file("proc/sys/kernel/osrelease", "6.1.0\n")
        .file("proc/sys/kernel/io_uring_disabled", "2\n")
        .file("etc/os-release", "ID=x\nPRETTY_NAME=\"Some Linux 9\"\n")
        .file("sys/class/dmi/id/sys_vendor", "Amazon EC2\n")
        .file("sys/class/dmi/id/product_name", "m5.large\n")
        .file("sys/devices/system/cpu/online", "0-1,4\n")
        .file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
        .file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n")
        .file("sys/devices/system/node/node0/cpulist", "0-1\n")
        .file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  512 kB\n")
        .file("sys/devices/system/node/node0/distance", "10 21\n")
        .file("sys/devices/system/node/node1/cpulist", "4\n")
        .file("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n")
        .file("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n")
        .file("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n")
        .file("sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "600\n")
        .file("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
}

fn host_of(system: &FakeSystem) -> Host {
    let root = SysRoot::under(system.path());
    read_host(&Survey::new(&root))
}

#[test]
fn the_computer_is_told_in_base_units() {
    let host = host_of(&system());
    assert_eq!((host.name.as_str(), host.kernel.as_str()), ("db1", "6.1.0"));
    assert_eq!(host.distribution.as_deref(), Some("Some Linux 9"));
    assert_eq!(host.virtualisation.as_deref(), Some("Amazon EC2 m5.large"));
    assert_eq!(host.cpu.model.as_deref(), Some("Great CPU 3000"));
    assert_eq!((host.cpu.logical, host.cpu.allowed), (3, Some(5)));
    assert_eq!(host.cpu.governors, ["powersave"]);
    assert_eq!(host.memory.available_bytes, 400 << 10);
    assert_eq!((host.memory.swap_bytes, host.memory.swap_used_bytes), (100 << 10, 40 << 10));
    assert_eq!((host.memory.huge_pages, host.memory.huge_page_bytes), (8, 2 << 20));
    assert_eq!(host.memory.transparent_huge_pages.as_deref(), Some("madvise"));
    assert_eq!(host.numa_nodes.len(), 2);
    assert_eq!(host.numa_nodes[0].distances, [10, 21]);
    assert_eq!(host.numa_nodes[0].memory_bytes, 512 << 10);
    assert_eq!(host.permissions.io_uring_disabled, Some(2));
    assert_eq!(host.permissions.seccomp_filter, Some(true));
    assert_eq!(host.clock_source, None);
}

#[test]
fn idle_states_that_are_disabled_do_not_count() {
    assert_eq!(host_of(&system()).cpu.idle_exit_ns_max, Some(133_000));
    assert_eq!(host_of(&FakeSystem::new("no-idle")).cpu.idle_exit_ns_max, None);
}

#[test]
fn the_size_of_shared_memory_is_its_option_or_half_the_memory() {
    for (options, expected) in
        [("rw", Some(500 << 10)), ("rw,size=65536k", Some(64 << 20)), ("rw,size=x", None)]
    {
        let system = system().mount("0:20", "/dev/shm", "tmpfs", "shm", options);
        assert_eq!(host_of(&system).memory.shared_memory_bytes, expected, "{options}");
    }
    assert_eq!(host_of(&system()).memory.shared_memory_bytes, None);
}

#[test]
fn a_real_machine_is_not_called_virtual() {
    let system = system()
        .file("proc/cpuinfo", "model name : X\nflags : fpu\n")
        .file("sys/class/dmi/id/sys_vendor", "Dell Inc.\n")
        .file("sys/class/dmi/id/product_name", "PowerEdge\n");
    assert_eq!(host_of(&system).virtualisation, None);
    let unnamed = FakeSystem::new("unnamed").file("proc/cpuinfo", CPU);
    assert_eq!(host_of(&unnamed).virtualisation.as_deref(), Some("an unnamed hypervisor"));
}

fn limit(group: &str, quantity: &str, per_s: u64) -> IoLimit {
    IoLimit {
        control_group: group.into(),
        device: "8:0".parse().unwrap(),
        device_name: Some("sda".into()),
        quantity: quantity.into(),
        per_s,
    }
}

#[test]
fn limits_of_version_2_are_found_on_every_level() {
    let system = system()
        .disk("sda", "8:0", 100)
        .mount("0:30", "/sys/fs/cgroup", "cgroup2", "cgroup2", "rw")
        .file("proc/self/cgroup", "0::/db/one\n")
        .file("sys/fs/cgroup/db/io.max", "8:0 rbps=max wbps=1048576 riops=max wiops=500\n")
        .file("sys/fs/cgroup/db/one/cpu.max", "150000 100000\n")
        .file("sys/fs/cgroup/db/cpu.max", "max 100000\n");
    let host = host_of(&system);
    assert_eq!(
        host.io_limits,
        [limit("/db", "write bytes/s", 1 << 20), limit("/db", "write IOPS", 500)]
    );
    assert!((host.cpu_limit.unwrap() - 1.5).abs() < 1e-12);
}

#[test]
fn limits_of_version_1_are_found() {
    let system = system()
        .disk("sda", "8:0", 100)
        .mount("0:36", "/sys/fs/cgroup/blkio", "cgroup", "cgroup", "rw,blkio")
        .mount("0:37", "/sys/fs/cgroup/cpu", "cgroup", "cgroup", "rw,cpu,cpuacct")
        .file("proc/self/cgroup", "7:blkio:/db\n4:cpu,cpuacct:/\n")
        .file("sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device", "8:0 300\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    let host = host_of(&system);
    assert_eq!(host.io_limits, [limit("/db", "read IOPS", 300)]);
    assert_eq!(host.cpu_limit, None);
}

#[test]
fn an_empty_system_gives_an_empty_host_and_guesses_nothing() {
    let host = host_of(&FakeSystem::new("void"));
    assert_eq!(host.cpu.logical, 0);
    assert_eq!(host.memory.total_bytes, 0);
    assert_eq!((host.virtualisation, host.distribution, host.cpu_limit), (None, None, None));
}

#[test]
fn lists_of_processors_are_counted() {
    for (list, length) in
        [("0", Some(1)), ("0-3", Some(4)), ("0-3,8,10-11", Some(7)), ("", None), ("3-1", None)]
    {
        assert_eq!(computer::list_length(list), length, "{list}");
    }
}

#[test]
fn the_document_of_the_running_system_is_whole() {
    let root = SysRoot::live();
    let place = std::env::temp_dir();
    let environment = capture_environment(&root, &[&place], &[]).unwrap();
    assert_eq!(environment.format, Environment::FORMAT);
    assert!(environment.host.cpu.logical > 0);
    assert!(environment.host.memory.total_bytes > 1 << 20);
    assert!(environment.storage[0].space.unwrap().capacity_bytes > 0);
    let text = serde_json::to_string(&environment).unwrap();
    assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    assert!(capture_environment(&root, &[Path::new("/nothing")], &[]).is_err());
}
