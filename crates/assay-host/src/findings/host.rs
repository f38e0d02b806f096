//! Rules on the computer and its operating system.

use super::rule::FindingRule;
use assay_model::environment::Severity::{Notice, Warning};
use assay_model::environment::{Environment, Finding, Host, IoLimit};
use assay_model::number::{real, share};
use assay_model::units::{show_bytes, show_count, show_time_ns};

const GOVERNOR: FindingRule = FindingRule::new(
    "cpu_governor",
    Warning,
    "the CPU slows down between I/Os: latency at low load rises, and runs vary",
    "cpupower frequency-set -g performance, and limit deep idle states",
);
const TRANSPARENT_HUGE_PAGES: FindingRule = FindingRule::new(
    "transparent_huge_pages",
    Notice,
    "the kernel collects memory into huge pages in the background, which databases see as latency \
     peaks",
    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
);
const NO_HUGE_PAGES: FindingRule = FindingRule::new(
    "huge_pages",
    Notice,
    "no huge pages are reserved; a large database buffer on small pages wastes CPU and memory on \
     page tables",
    "set vm.nr_hugepages to the size of the database's shared memory",
);
const LOCKED_MEMORY: FindingRule = FindingRule::new(
    "locked_memory",
    Notice,
    "io_uring cannot pin more memory than this for its buffers; plain buffers are used instead \
     and cost some CPU",
    "raise the limit (ulimit -l, LimitMEMLOCK=)",
);
const RING_DISABLED: FindingRule = FindingRule::new(
    "io_uring_disabled",
    Warning,
    "io_uring is switched off for this user; I/O goes through threads and blocking calls, which \
     cost more CPU",
    "sysctl kernel.io_uring_disabled=0, where policy allows it",
);
const SECCOMP: FindingRule = FindingRule::new(
    "seccomp",
    Notice,
    "a seccomp filter is in force, as in containers; it may refuse io_uring and other calls",
    "run outside the container, or with a profile that allows io_uring",
);
const CLOCK: FindingRule = FindingRule::new(
    "clock_source",
    Warning,
    "reading the clock needs a system call or a slow device, so timestamps cost CPU time and \
     precision",
    "find out why the kernel does not trust the TSC (dmesg), and set clocksource=tsc if it is \
     sound",
);
const SWAPPING: FindingRule = FindingRule::new(
    "swap_in_use",
    Warning,
    "memory was short: swapping adds latency and I/O",
    "free memory before measuring; check vmstat for swapping",
);
const SHORT_MEMORY: FindingRule = FindingRule::new(
    "memory_short",
    Warning,
    "little memory is available: the kernel reclaims pages during the run",
    "stop other programs before measuring",
);
const DIRTY: FindingRule = FindingRule::new(
    "dirty_pages",
    Notice,
    "other programs wrote data that is not on the device yet; writeback disturbs the run",
    "sync before measuring",
);
const VIRTUAL: FindingRule = FindingRule::new(
    "virtual_machine",
    Notice,
    "the hypervisor schedules the CPUs and may cache, throttle and share the disks, so other \
     guests affect results",
    "measure at different times of day, and check the share of stolen CPU in the result",
);
const IO_LIMIT: FindingRule = FindingRule::new(
    "io_limit",
    Warning,
    "a control group throttles this process's I/O to the device: the limit is measured, not the \
     device",
    "raise the limit or run outside the group",
);
const CPU_LIMIT: FindingRule = FindingRule::new(
    "cpu_limit",
    Notice,
    "a control group limits the CPU: it may limit IOPS instead of the storage",
    "raise the limit, or check whether the result reports the host as the limit",
);
const FEW_CPUS: FindingRule = FindingRule::new(
    "allowed_cpus",
    Notice,
    "this process is restricted to some of the CPUs",
    "start it without taskset or cpuset, unless this is intended",
);
const ASYNCHRONOUS: FindingRule = FindingRule::new(
    "asynchronous_ios",
    Notice,
    "all databases on the host share this number of native asynchronous I/Os, and use blocking I/O \
     beyond it",
    "sysctl fs.aio-max-nr=1048576",
);
const IDLE_STATES: FindingRule = FindingRule::new(
    "idle_states",
    Notice,
    "idle CPUs sleep so deeply that waking takes this long, which adds to the latency of I/Os at \
     low load",
    "cpupower idle-set -D 10, or the kernel options intel_idle.max_cstate=1 processor.max_cstate=1",
);
const SHARED_MEMORY: FindingRule = FindingRule::new(
    "shared_memory",
    Notice,
    "/dev/shm is smaller than 40% of the memory, which Oracle takes for MEMORY_TARGET by default: \
     an instance that needs more does not start, and parallel queries of PostgreSQL can fail",
    "mount -o remount,size=SIZE /dev/shm, larger than the database's memory",
);
const UNUSED_HUGE_PAGES: FindingRule = FindingRule::new(
    "unused_huge_pages",
    Notice,
    "more than half of the huge pages are free and of no use to other programs: the database is \
     stopped, or its buffer did not fit and is on small pages",
    "compare vm.nr_hugepages with the shared memory of all databases (Oracle's SGA)",
);
const MANY_HUGE_PAGES: FindingRule = FindingRule::new(
    "many_huge_pages",
    Warning,
    "the rest of the memory must hold the operating system, and the sorts and connections of the \
     database",
    "leave a fifth of the memory to small pages, or measure the need under load",
);
const NUMA: FindingRule = FindingRule::new(
    "numa_nodes",
    Notice,
    "memory and devices are closer to some CPUs than to others, so runs differ by placement",
    "bind the load to a node for repeatable results",
);

pub(super) const RULES: &[&FindingRule] = &[
    &GOVERNOR,
    &TRANSPARENT_HUGE_PAGES,
    &NO_HUGE_PAGES,
    &LOCKED_MEMORY,
    &RING_DISABLED,
    &SECCOMP,
    &CLOCK,
    &SWAPPING,
    &SHORT_MEMORY,
    &DIRTY,
    &VIRTUAL,
    &IO_LIMIT,
    &CPU_LIMIT,
    &FEW_CPUS,
    &ASYNCHRONOUS,
    &IDLE_STATES,
    &SHARED_MEMORY,
    &UNUSED_HUGE_PAGES,
    &MANY_HUGE_PAGES,
    &NUMA,
];

/// Clock sources that a program reads without entering the kernel.
const FAST_CLOCKS: [&str; 6] =
    ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod"];
const LOCKED_BYTES_MIN: u64 = 64 << 20;
const LARGE_MEMORY_BYTES: u64 = 16 << 30;
const ASYNCHRONOUS_MIN: u64 = 1 << 20;
const DIRTY_BYTES_MAX: u64 = 1 << 30;
const AVAILABLE_SHARE_MIN: f64 = 0.1;
const ROOT: u64 = 0;
/// A fifth of the time of a read from flash.
const IDLE_EXIT_NS_MAX: u64 = 20_000;
/// Oracle's default share of the memory for `MEMORY_TARGET`: Dell, Sizing and Best Practices (2017),
/// section 7.4.2.
const SHARED_MEMORY_SHARE_MIN: f64 = 0.4;
const HUGE_PAGE_SHARE_MAX: f64 = 0.9;

pub(super) fn find(environment: &Environment, findings: &mut Vec<Finding>) {
    let host = &environment.host;
    findings.extend(processors(host));
    findings.extend(memory(host));
    findings.extend(permissions(host));
    findings.extend(database_memory(host));
    findings.extend(environment.limits_below_targets().map(io_limit));
    let clock = host.clock_source.as_ref().filter(|name| !FAST_CLOCKS.contains(&name.as_str()));
    findings.extend(clock.map(|name| CLOCK.found("clock source", name.clone())));
    findings.extend(
        host.virtualisation.as_ref().map(|name| VIRTUAL.found("virtual machine", name.clone())),
    );
}

fn processors(host: &Host) -> Vec<Finding> {
    let cpu = &host.cpu;
    let slow = cpu.governors.iter().any(|governor| governor != "performance");
    let allowed = cpu.allowed.filter(|allowed| *allowed < cpu.logical);
    let nodes = host.numa_nodes.len();
    let farthest = host.numa_nodes.iter().flat_map(|node| node.distances.iter()).max().copied();
    let idle = cpu.idle_exit_ns_max.filter(|time_ns| *time_ns > IDLE_EXIT_NS_MAX);
    let found = [
        idle.map(|time_ns| IDLE_STATES.found("deepest idle state", show_time_ns(real(time_ns)))),
        slow.then(|| GOVERNOR.found("CPU frequency governor", cpu.governors.join(", "))),
        allowed
            .map(|allowed| FEW_CPUS.found("CPUs allowed", format!("{allowed} of {}", cpu.logical))),
        host.cpu_limit.map(|limit| CPU_LIMIT.found("CPU limit", format!("{limit:.2} CPUs"))),
        (nodes > 1).then(|| {
            let distance = farthest.map_or(String::new(), |distance| {
                format!(", largest distance {distance} (10 is local)")
            });
            NUMA.found("NUMA", format!("{nodes} nodes{distance}"))
        }),
    ];
    found.into_iter().flatten().collect()
}

fn memory(host: &Host) -> Vec<Finding> {
    let memory = &host.memory;
    let bytes = |value: u64| show_bytes(real(value));
    let always = memory.transparent_huge_pages.as_deref() == Some("always");
    let none = memory.huge_pages == 0 && memory.total_bytes >= LARGE_MEMORY_BYTES;
    let available = share(memory.available_bytes, memory.total_bytes);
    let short = memory.total_bytes > 0 && available < AVAILABLE_SHARE_MIN;
    let found = [
        always.then(|| TRANSPARENT_HUGE_PAGES.found("transparent huge pages", "always")),
        none.then(|| NO_HUGE_PAGES.found("huge pages", "0 pages")),
        (memory.swap_used_bytes > 0)
            .then(|| SWAPPING.found("swap in use", bytes(memory.swap_used_bytes))),
        short.then(|| SHORT_MEMORY.found("available memory", bytes(memory.available_bytes))),
        (memory.dirty_bytes > DIRTY_BYTES_MAX)
            .then(|| DIRTY.found("dirty pages", bytes(memory.dirty_bytes))),
    ];
    found.into_iter().flatten().collect()
}

/// Memory that databases share: huge pages and `/dev/shm`.
fn database_memory(host: &Host) -> Vec<Finding> {
    let memory = &host.memory;
    let is_large = memory.total_bytes >= LARGE_MEMORY_BYTES;
    let of_total = |bytes: u64| share(bytes, memory.total_bytes);
    let small = memory
        .shared_memory_bytes
        .filter(|bytes| is_large && of_total(*bytes) < SHARED_MEMORY_SHARE_MIN);
    let huge_bytes = memory.huge_pages.saturating_mul(memory.huge_page_bytes);
    let unused = memory.huge_pages_free > memory.huge_pages / 2;
    let pages = format!("{} of {} free", memory.huge_pages_free, memory.huge_pages);
    let bytes = |value: u64| show_bytes(real(value));
    let many = is_large && of_total(huge_bytes) > HUGE_PAGE_SHARE_MAX;
    let found = [
        small.map(|size| SHARED_MEMORY.found("/dev/shm", bytes(size))),
        unused.then(|| UNUSED_HUGE_PAGES.found("huge pages", pages)),
        many.then(|| {
            let value = format!("{} of {}", bytes(huge_bytes), bytes(memory.total_bytes));
            MANY_HUGE_PAGES.found("memory in huge pages", value)
        }),
    ];
    found.into_iter().flatten().collect()
}

fn permissions(host: &Host) -> Vec<Finding> {
    let permissions = &host.permissions;
    let unprivileged = permissions.user_id != ROOT;
    let denied =
        permissions.io_uring_disabled.filter(|level| *level >= 2 || (*level == 1 && unprivileged));
    let locked =
        permissions.locked_memory_bytes.filter(|bytes| *bytes < LOCKED_BYTES_MIN && unprivileged);
    let few = permissions.asynchronous_ios_max.filter(|most| *most < ASYNCHRONOUS_MIN);
    let taken = permissions.asynchronous_ios.unwrap_or_default();
    let found = [
        denied.map(|level| RING_DISABLED.found("kernel.io_uring_disabled", level.to_string())),
        locked
            .map(|bytes| LOCKED_MEMORY.found("memory that may be locked", show_bytes(real(bytes)))),
        (permissions.seccomp_filter == Some(true)).then(|| SECCOMP.found("seccomp", "filter")),
        few.map(|most| {
            ASYNCHRONOUS.found(
                "fs.aio-max-nr",
                format!("{} I/Os, {} taken", show_count(real(most)), show_count(real(taken))),
            )
        }),
    ];
    found.into_iter().flatten().collect()
}

fn io_limit(limit: &IoLimit) -> Finding {
    let device = limit.device_name.clone().unwrap_or_else(|| limit.device.to_string());
    IO_LIMIT.found(
        format!("{device}: limit of control group {}", limit.control_group),
        format!("{} {}", show_count(real(limit.per_s)), limit.quantity),
    )
}
