//! Rules on block devices and the layers above them.

use super::rule::FindingRule;
use assay_model::environment::Severity::{Critical, Notice, Warning};
use assay_model::environment::{Environment, Finding, Storage};
use assay_model::number::real;
use assay_model::stack::{BlockLayer, BlockStack, LayerKind, Queue};
use assay_model::target::TargetKind;
use assay_model::units::{show_bytes, show_time_ns};

const SCHEDULER: FindingRule = FindingRule::new(
    "scheduler",
    Warning,
    "the device or the host below already schedules requests; a second scheduler costs CPU and \
     latency, and can delay small reads behind large writes",
    "echo none > /sys/block/DEVICE/queue/scheduler, and make it permanent with a udev rule",
);
const READ_AHEAD: FindingRule = FindingRule::new(
    "read_ahead",
    Notice,
    "buffered sequential reads fetch this much more; for databases that read through the page \
     cache, it wastes bandwidth and cache (direct I/O is not affected)",
    "for small random reads set 16 to 128 KiB: echo 128 > /sys/block/DEVICE/queue/read_ahead_kb",
);
const SMALL_QUEUE: FindingRule = FindingRule::new(
    "queue_requests",
    Notice,
    "each hardware queue accepts only this many requests; further requests wait in the kernel, and \
     this wait looks like device latency",
    "raise /sys/block/DEVICE/queue/nr_requests, or treat results beyond this depth with care",
);
const SMALL_REQUEST: FindingRule = FindingRule::new(
    "request_size",
    Notice,
    "larger I/Os are split into requests of this size, which costs IOPS in scans",
    "raise /sys/block/DEVICE/queue/max_sectors_kb up to max_hw_sectors_kb",
);
const ROTATIONAL: FindingRule = FindingRule::new(
    "rotational",
    Warning,
    "the kernel treats the device as a hard disk in merging, waiting and scheduling, and so do \
     databases",
    "echo 0 > /sys/block/DEVICE/queue/rotational if the device is flash",
);
const WRITE_BACK: FindingRule = FindingRule::new(
    "write_cache",
    Notice,
    "the device has a volatile write cache: writes return early, and every fsync must flush it, \
     so commit latency is flush latency",
    "measure syncs, not only writes; use drives with power-loss protection for logs",
);
const WRITE_THROUGH: FindingRule = FindingRule::new(
    "write_through",
    Notice,
    "the device claims that completed writes are durable, so the kernel sends no flush; this is \
     true with a protected cache or without a cache, but false for some virtual disks",
    "make sure that the cache below survives a power cut",
);
const ALIGNMENT: FindingRule = FindingRule::new(
    "alignment",
    Warning,
    "blocks straddle the device's physical blocks or stripes, so that one write becomes two, or a \
     read and a write",
    "start the partition or volume at a multiple of 1 MiB",
);
const PATHS: FindingRule = FindingRule::new(
    "multipath_paths",
    Warning,
    "a missing path halves the bandwidth and removes the redundancy",
    "check cables, zoning and multipath -ll (or nvme list-subsys)",
);
const DEGRADED: FindingRule = FindingRule::new(
    "raid_degraded",
    Critical,
    "redundancy is lost, and reads of the missing member are computed from the others",
    "replace the member (mdadm --detail) and measure after the rebuild",
);
const RAID_BUSY: FindingRule = FindingRule::new(
    "raid_busy",
    Warning,
    "the RAID reads and writes all members in the background; results are those of a busy device",
    "wait until /proc/mdstat shows no action",
);
const PARITY: FindingRule = FindingRule::new(
    "raid_parity",
    Notice,
    "a small random write costs two reads and two writes (RAID 5) or three and three (RAID 6) on \
     the members",
    "use RAID 10 for redo logs and busy data files",
);
const ENCRYPTION: FindingRule = FindingRule::new(
    "encryption",
    Notice,
    "every byte passes through the CPU; throughput and latency are partly the CPU's",
    "check the cipher with cryptsetup benchmark, and consider no_read_workqueue and \
     no_write_workqueue",
);
const READ_ONLY: FindingRule = FindingRule::new(
    "read_only_device",
    Notice,
    "the kernel refuses writes to it",
    "see blockdev --getro",
);
const LOOPED: FindingRule = FindingRule::new(
    "loop",
    Warning,
    "every I/O passes through a second file system and a kernel worker",
    "measure the device or file system below",
);
const MEMORY: FindingRule = FindingRule::new(
    "memory_device",
    Warning,
    "the data is in memory: this does not measure storage, and nothing there survives a power cut",
    "choose a target on the storage in question",
);
const THROTTLED_WRITEBACK: FindingRule = FindingRule::new(
    "writeback_throttling",
    Notice,
    "the kernel throttles buffered writes when reads take longer than this; direct I/O is not \
     affected",
    "echo 0 > /sys/block/DEVICE/queue/wbt_lat_usec turns it off",
);
const ZONED: FindingRule = FindingRule::new(
    "zoned",
    Warning,
    "writes must be sequential within zones, or the drive rewrites them later; sustained random \
     writes are very slow",
    "do not put databases on it",
);
const REMOTE_NODE: FindingRule = FindingRule::new(
    "device_node",
    Notice,
    "the device is attached to one NUMA node; I/O from CPUs of another node crosses the \
     interconnect",
    "bind the load to the device's node, for example with numactl --cpunodebind, or measure both",
);

pub(super) const RULES: &[&FindingRule] = &[
    &SCHEDULER,
    &READ_AHEAD,
    &SMALL_QUEUE,
    &SMALL_REQUEST,
    &ROTATIONAL,
    &WRITE_BACK,
    &WRITE_THROUGH,
    &ALIGNMENT,
    &PATHS,
    &DEGRADED,
    &RAID_BUSY,
    &PARITY,
    &ENCRYPTION,
    &READ_ONLY,
    &LOOPED,
    &MEMORY,
    &THROTTLED_WRITEBACK,
    &ZONED,
    &REMOTE_NODE,
];

/// Kinds that have no spindle that the kernel could know of.
const NEVER_SPINNING: [LayerKind; 7] = [
    LayerKind::Nvme,
    LayerKind::Virtio,
    LayerKind::Xen,
    LayerKind::Pmem,
    LayerKind::Zram,
    LayerKind::Ram,
    LayerKind::Mmc,
];
const READ_AHEAD_BYTES_MAX: u64 = 512 << 10;
const REQUESTS_MIN: u64 = 64;
const REQUEST_BYTES_MIN: u64 = 512 << 10;
const PARTITION_STEP_BYTES: u64 = 1 << 20;

/// What the block layer does to I/Os; commands past it meet none of this.
const OF_BLOCK_LAYER: [&FindingRule; 6] =
    [&SCHEDULER, &READ_AHEAD, &SMALL_REQUEST, &ROTATIONAL, &WRITE_THROUGH, &THROTTLED_WRITEBACK];

pub(super) fn find(environment: &Environment, storage: &Storage, findings: &mut Vec<Finding>) {
    let all = of_stack(environment, storage);
    let bypasses = bypasses_block_layer(storage);
    let is_met =
        |found: &Finding| !bypasses || OF_BLOCK_LAYER.iter().all(|rule| rule.name != found.rule);
    findings.extend(all.into_iter().filter(is_met));
}

/// Whether the storage is an NVMe namespace by its character device. `inspect` opens no target, so
/// that the name alone shows; the class `nvme-generic` of Linux calls all of its devices so.
fn bypasses_block_layer(storage: &Storage) -> bool {
    match &storage.target {
        Some(target) => target.kind == TargetKind::NvmeNamespace,
        None => {
            storage.stack.layers.first().is_some_and(|layer| layer.kind == LayerKind::Nvme)
                && storage.stack.resolved_path.starts_with("/dev/ng")
        }
    }
}

fn of_stack(environment: &Environment, storage: &Storage) -> Vec<Finding> {
    let mut findings = Vec::new();
    for layer in &storage.stack.layers {
        findings.extend(layer_findings(layer, &storage.stack));
        let is_leaf = layer.lower.is_empty();
        if let Some(queue) = layer.queue.as_ref().filter(|_| is_leaf) {
            findings.extend(queue_findings(layer, queue));
        }
        let nodes = environment.host.numa_nodes.len();
        let node = layer.numa_node.filter(|_| nodes > 1 && is_leaf);
        findings.extend(node.map(|node| {
            finding(&REMOTE_NODE, layer, "NUMA node", format!("{node} of {nodes} nodes"))
        }));
    }
    findings.extend(top_queue(&storage.stack).and_then(|(layer, queue)| read_ahead(layer, queue)));
    findings
}

fn about(layer: &BlockLayer, what: &str) -> String {
    let name = layer.mapped_name.as_deref().unwrap_or(&layer.name);
    format!("{name}: {what}")
}

/// The finding on a layer, with its name in the remedy.
fn finding(
    rule: &FindingRule,
    layer: &BlockLayer,
    what: &str,
    value: impl Into<String>,
) -> Finding {
    let found = rule.found(about(layer, what), value);
    let remedy = found.remedy.replace("DEVICE", &layer.name);
    Finding { remedy, ..found }
}

/// The uppermost queue is the one whose read-ahead is in force.
fn top_queue(stack: &BlockStack) -> Option<(&BlockLayer, &Queue)> {
    stack.layers.iter().find_map(|layer| Some((layer, layer.queue.as_ref()?)))
}

fn read_ahead(layer: &BlockLayer, queue: &Queue) -> Option<Finding> {
    let bytes = queue.read_ahead_bytes.filter(|bytes| *bytes > READ_AHEAD_BYTES_MAX)?;
    Some(finding(&READ_AHEAD, layer, "read-ahead", show_bytes(real(bytes))))
}

fn queue_findings(layer: &BlockLayer, queue: &Queue) -> Vec<Finding> {
    let small = |value: Option<u64>, least: u64| value.filter(|value| (1..least).contains(value));
    let requests = small(queue.requests, REQUESTS_MIN);
    let request = small(queue.request_bytes_max, REQUEST_BYTES_MIN);
    let wrong_flag = queue.rotational == Some(true) && NEVER_SPINNING.contains(&layer.kind);
    let target = queue.writeback_target_ns.filter(|target| *target > 0);
    let zoned = queue.zoned.as_ref().filter(|zoned| *zoned != "none");
    let found = [
        scheduler(layer, queue),
        requests.map(|count| {
            finding(&SMALL_QUEUE, layer, "requests queued", format!("{count} requests"))
        }),
        request.map(|bytes| {
            finding(&SMALL_REQUEST, layer, "largest request", show_bytes(real(bytes)))
        }),
        wrong_flag.then(|| finding(&ROTATIONAL, layer, "rotational flag", "1")),
        write_cache(layer, queue),
        target.map(|time| {
            finding(&THROTTLED_WRITEBACK, layer, "write-back throttling", show_time_ns(real(time)))
        }),
        zoned.map(|zoned| finding(&ZONED, layer, "zones", zoned.clone())),
    ];
    found.into_iter().flatten().collect()
}

fn scheduler(layer: &BlockLayer, queue: &Queue) -> Option<Finding> {
    let name = queue.scheduler.as_ref().filter(|name| *name != "none" && *name != "noop")?;
    let orders_itself = NEVER_SPINNING.contains(&layer.kind) || queue.rotational == Some(false);
    orders_itself.then(|| finding(&SCHEDULER, layer, "I/O scheduler", name.clone()))
}

fn write_cache(layer: &BlockLayer, queue: &Queue) -> Option<Finding> {
    match queue.write_cache.as_deref()? {
        "write back" => Some(finding(&WRITE_BACK, layer, "write cache", "write back")),
        "write through" => Some(finding(&WRITE_THROUGH, layer, "write cache", "write through")),
        _ => None,
    }
}

fn layer_findings(layer: &BlockLayer, stack: &BlockStack) -> Vec<Finding> {
    let of_kind = |kind, rule: &FindingRule, what, value: &str| {
        (layer.kind == kind).then(|| finding(rule, layer, what, value))
    };
    let in_memory = matches!(layer.kind, LayerKind::Zram | LayerKind::Ram | LayerKind::Null);
    let backing = layer.backing_file.as_deref().unwrap_or("a file");
    let found = [
        alignment(layer, stack),
        paths(layer),
        of_kind(LayerKind::Crypt, &ENCRYPTION, "encryption", "dm-crypt"),
        of_kind(LayerKind::Loop, &LOOPED, "loop device over", backing),
        layer.read_only.then(|| finding(&READ_ONLY, layer, "read-only", "1")),
        in_memory.then(|| finding(&MEMORY, layer, "kind of device", "memory")),
    ];
    found.into_iter().flatten().chain(raid(layer)).collect()
}

/// The kernel's own answer, else the start of a partition against its disk's blocks.
fn alignment(layer: &BlockLayer, stack: &BlockStack) -> Option<Finding> {
    let what = about(layer, "alignment");
    if let Some(offset) = layer.alignment_offset_bytes.filter(|offset| *offset != 0) {
        return Some(ALIGNMENT.found(what, format!("{offset} bytes off")));
    }
    let start = layer.start_bytes.filter(|start| !start.is_multiple_of(PARTITION_STEP_BYTES))?;
    let disk = layer.lower.first().and_then(|name| stack.layer(name));
    let queue = disk.and_then(|disk| disk.queue.as_ref())?;
    let block = queue.optimal_io_bytes.filter(|bytes| *bytes > 0).or(queue.physical_block_bytes)?;
    let off = !start.is_multiple_of(block);
    off.then(|| {
        ALIGNMENT.found(
            what,
            format!(
                "starts at byte {start}, but the device uses blocks of {}",
                show_bytes(real(block))
            ),
        )
    })
}

fn paths(layer: &BlockLayer) -> Option<Finding> {
    let paths = layer.paths?;
    let is_multipath = layer.kind == LayerKind::Multipath;
    let alone = is_multipath && paths.configured == 1;
    let broken = paths.running < paths.configured;
    let value = format!("{} of {} running", paths.running, paths.configured);
    (alone || broken).then(|| finding(&PATHS, layer, "paths", value))
}

fn raid(layer: &BlockLayer) -> Vec<Finding> {
    let Some(raid) = &layer.raid else {
        return Vec::new();
    };
    let missing = raid.missing.filter(|missing| *missing > 0);
    let busy = raid.action.as_ref().filter(|action| *action != "idle" && *action != "frozen");
    let parity = ["raid4", "raid5", "raid6"].contains(&raid.level.as_str());
    let found = [
        missing.map(|missing| {
            finding(&DEGRADED, layer, "members missing", format!("{missing} members"))
        }),
        busy.map(|action| finding(&RAID_BUSY, layer, "background action", action.clone())),
        parity.then(|| finding(&PARITY, layer, "RAID level", raid.level.clone())),
    ];
    found.into_iter().flatten().collect()
}
