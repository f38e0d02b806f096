//! Every rule fires on the environment that it is about, and stays silent on a good one.

use super::*;
use assay_model::environment::{
    DeviceOwner, Host, IoLimit, IscsiSession, NetworkPort, NumaNode, Space, Storage,
};
use assay_model::stack::{
    BlockLayer, BlockStack, DeviceNumber, LayerKind, Mount, Paths, Queue, RaidLayer,
};
use assay_model::target::{ContentFacts, DirectIo, TargetFacts, TargetKind};
use std::collections::BTreeSet;

fn number(text: &str) -> DeviceNumber {
    text.parse().unwrap()
}

/// A well-tuned server: no rule has anything to say but what its write cache means.
fn good() -> Environment {
    Environment {
        format: 1,
        captured_unix_ns: 0,
        host: good_host(),
        storage: vec![Storage {
            stack: good_stack(),
            space: Some(Space { capacity_bytes: 1000, free_bytes: 500 }),
            owner: None,
            target: None,
        }],
        findings: Vec::new(),
        unreadable: Vec::new(),
    }
}

fn good_host() -> Host {
    let mut host = Host::default();
    host.cpu.logical = 16;
    host.cpu.allowed = Some(16);
    host.cpu.governors = vec!["performance".into()];
    host.memory.total_bytes = 64 << 30;
    host.memory.available_bytes = 60 << 30;
    host.memory.huge_pages = 1000;
    host.memory.transparent_huge_pages = Some("madvise".into());
    host.clock_source = Some("tsc".into());
    host.permissions.user_id = 1000;
    host.permissions.io_uring_disabled = Some(0);
    host.permissions.asynchronous_ios_max = Some(1 << 20);
    host
}

fn good_stack() -> BlockStack {
    let mount = Mount {
        mount_point: "/data".into(),
        file_system: "xfs".into(),
        device: number("259:1"),
        options: vec!["rw".into(), "noatime".into()],
        ..Mount::default()
    };
    let part = BlockLayer {
        name: "nvme0n1p1".into(),
        kind: LayerKind::Partition,
        lower: vec!["nvme0n1".into()],
        start_bytes: Some(1 << 20),
        ..BlockLayer::default()
    };
    let disk = BlockLayer {
        name: "nvme0n1".into(),
        kind: LayerKind::Nvme,
        alignment_offset_bytes: Some(0),
        queue: Some(good_queue()),
        ..BlockLayer::default()
    };
    BlockStack {
        path: "/data".into(),
        resolved_path: "/data".into(),
        mount: Some(mount),
        layers: vec![part, disk],
    }
}

fn good_queue() -> Queue {
    Queue {
        scheduler: Some("none".into()),
        requests: Some(1023),
        request_bytes_max: Some(1 << 20),
        rotational: Some(false),
        write_cache: Some("write through".into()),
        physical_block_bytes: Some(4096),
        read_ahead_bytes: Some(128 << 10),
        writeback_target_ns: Some(0),
        zoned: Some("none".into()),
        ..Queue::default()
    }
}

fn fired(environment: &Environment) -> BTreeSet<String> {
    derive_findings(environment).into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_good_server_is_left_in_peace() {
    assert_eq!(fired(&good()), BTreeSet::from(["write_through".to_owned()]));
}

#[test]
fn commands_past_the_block_layer_meet_none_of_its_settings() {
    let mut environment = good();
    let cases = |environment: &mut Environment| {
        let queue = queue(environment);
        queue.scheduler = Some("mq-deadline".into());
        (queue.requests, queue.request_bytes_max) = (Some(32), Some(128 << 10));
        (queue.read_ahead_bytes, queue.writeback_target_ns) = (Some(8 << 20), Some(1));
        queue.rotational = Some(true);
    };
    cases(&mut environment);
    assert_eq!(fired(&environment).len(), 7);
    content(&mut environment);
    environment.storage[0].target.as_mut().unwrap().kind = TargetKind::NvmeNamespace;
    assert_eq!(fired(&environment), BTreeSet::from(["queue_requests".to_owned()]));
}

/// `inspect` opens no target: only the path and the device below it tell.
#[test]
fn an_inspected_character_device_meets_no_setting_of_the_block_layer() {
    let mut environment = good();
    queue(&mut environment).scheduler = Some("mq-deadline".into());
    let scheduler = "scheduler".to_owned();
    let storage = &mut environment.storage[0];
    storage.target = None;
    storage.stack.layers.remove(0);
    storage.stack.layers[0].kind = LayerKind::Nvme;
    storage.stack.resolved_path = "/dev/nvme0n1".into();
    assert!(fired(&environment).contains(&scheduler));
    environment.storage[0].stack.resolved_path = "/dev/ng0n1".into();
    assert!(!fired(&environment).contains(&scheduler));
}

fn disk(environment: &mut Environment) -> &mut BlockLayer {
    &mut environment.storage[0].stack.layers[1]
}

fn queue(environment: &mut Environment) -> &mut Queue {
    disk(environment).queue.as_mut().unwrap()
}

fn mount(environment: &mut Environment) -> &mut Mount {
    environment.storage[0].stack.mount.as_mut().unwrap()
}

fn content(environment: &mut Environment) -> &mut ContentFacts {
    let facts = TargetFacts {
        path: "/data/x".into(),
        kind: TargetKind::File,
        size_bytes: 1 << 30,
        usable_start_bytes: 0,
        usable_end_bytes: 1 << 30,
        logical_block_bytes: 512,
        physical_block_bytes: None,
        transfer_bytes_max: None,
        direct_io: DirectIo::Unknown,
        created_by_assay: false,
        content: ContentFacts::default(),
    };
    &mut environment.storage[0].target.get_or_insert(facts).content
}

/// A change to a good environment, and the rule that must then speak.
type FindingCase = (&'static str, fn(&mut Environment));

const DEVICE_CASES: &[FindingCase] = &[
    ("scheduler", |e| {
        queue(e).scheduler = Some("mq-deadline".into());
    }),
    ("scheduler", |e| {
        queue(e).scheduler = Some("bfq".into());
        disk(e).kind = LayerKind::Scsi;
    }),
    ("read_ahead", |e| queue(e).read_ahead_bytes = Some(8 << 20)),
    ("queue_requests", |e| queue(e).requests = Some(32)),
    ("request_size", |e| {
        queue(e).request_bytes_max = Some(128 << 10);
    }),
    ("rotational", |e| {
        queue(e).rotational = Some(true);
        disk(e).kind = LayerKind::Virtio;
    }),
    ("write_cache", |e| {
        queue(e).write_cache = Some("write back".into());
    }),
    ("alignment", |e| {
        e.storage[0].stack.layers[0].start_bytes = Some(63 * 512);
    }),
    ("alignment", |e| disk(e).alignment_offset_bytes = Some(512)),
    ("multipath_paths", |e| {
        disk(e).kind = LayerKind::Multipath;
        disk(e).paths = Some(Paths { configured: 1, running: 1 });
    }),
    ("multipath_paths", |e| {
        disk(e).paths = Some(Paths { configured: 2, running: 1 });
    }),
    ("raid_degraded", |e| {
        disk(e).raid = Some(RaidLayer { missing: Some(1), ..RaidLayer::default() });
    }),
    ("raid_busy", |e| {
        disk(e).raid = Some(RaidLayer { action: Some("resync".into()), ..RaidLayer::default() });
    }),
    ("raid_parity", |e| {
        disk(e).raid = Some(RaidLayer { level: "raid6".into(), ..RaidLayer::default() });
    }),
    ("encryption", |e| disk(e).kind = LayerKind::Crypt),
    ("read_only_device", |e| disk(e).read_only = true),
    ("loop", |e| disk(e).kind = LayerKind::Loop),
    ("memory_device", |e| disk(e).kind = LayerKind::Zram),
    ("network_volume", |e| {
        disk(e).model = Some("Amazon Elastic Block Store".into());
    }),
    ("ignored_flush", |e| {
        disk(e).model = Some("SPDK bdev Controller".into());
    }),
    ("ignored_flush", |e| {
        e.host.virtualisation = Some("Firecracker".into());
    }),
    ("failed_flush", |e| {
        mount(e).file_system = "zfs".into();
    }),
    ("instance_drive", |e| {
        disk(e).model = Some("Amazon EC2 NVMe Instance Storage".into());
    }),
    ("writeback_throttling", |e| {
        queue(e).writeback_target_ns = Some(2_000_000);
    }),
    ("zoned", |e| queue(e).zoned = Some("host-managed".into())),
    ("device_node", |e| {
        disk(e).numa_node = Some(1);
        e.host.numa_nodes = vec![NumaNode::default(), NumaNode::default()];
    }),
];

const FILE_SYSTEM_CASES: &[FindingCase] = &[
    ("access_time", |e| mount(e).options = vec!["rw".into()]),
    ("access_time", |e| {
        mount(e).options.push("strictatime".into());
    }),
    ("no_barrier", |e| mount(e).options.push("barrier=0".into())),
    ("no_barrier", |e| mount(e).options.push("nobarrier".into())),
    ("journaled_data", |e| {
        mount(e).options.push("data=journal".into());
    }),
    ("online_discard", |e| {
        mount(e).options.push("discard".into());
    }),
    ("synchronous_mount", |e| {
        mount(e).options.push("sync".into());
    }),
    ("compression", |e| {
        mount(e).options.push("compress=zstd:3".into());
    }),
    ("read_only_mount", |e| mount(e).options.push("ro".into())),
    ("copy_on_write", |e| mount(e).file_system = "btrfs".into()),
    ("network_file_system", |e| {
        mount(e).file_system = "nfs4".into();
    }),
    ("memory_file_system", |e| {
        mount(e).file_system = "tmpfs".into();
    }),
    ("overlay", |e| mount(e).file_system = "overlay".into()),
    ("user_space_file_system", |e| {
        mount(e).file_system = "fuse.sshfs".into();
    }),
    ("no_device_found", |e| {
        mount(e).file_system = "zfs".into();
        e.storage[0].stack.layers.clear();
    }),
    ("nearly_full", |e| {
        e.storage[0].space = Some(Space { capacity_bytes: 1000, free_bytes: 99 });
    }),
];

const HOST_CASES: &[FindingCase] = &[
    ("cpu_governor", |e| {
        e.host.cpu.governors.push("powersave".into());
    }),
    ("transparent_huge_pages", |e| {
        e.host.memory.transparent_huge_pages = Some("always".into());
    }),
    ("huge_pages", |e| e.host.memory.huge_pages = 0),
    ("locked_memory", |e| {
        e.host.permissions.locked_memory_bytes = Some(8 << 20);
    }),
    ("io_uring_disabled", |e| {
        e.host.permissions.io_uring_disabled = Some(2);
    }),
    ("io_uring_disabled", |e| {
        e.host.permissions.io_uring_disabled = Some(1);
    }),
    ("seccomp", |e| {
        e.host.permissions.seccomp_filter = Some(true);
    }),
    ("clock_source", |e| {
        e.host.clock_source = Some("hpet".into());
    }),
    ("swap_in_use", |e| e.host.memory.swap_used_bytes = 1 << 20),
    ("memory_short", |e| e.host.memory.available_bytes = 1 << 30),
    ("dirty_pages", |e| e.host.memory.dirty_bytes = 2 << 30),
    ("virtual_machine", |e| {
        e.host.virtualisation = Some("KVM".into());
    }),
    ("io_limit", |e| {
        let device = e.storage[0].stack.layers[1].device;
        e.host.io_limits.push(IoLimit {
            control_group: "/db".into(),
            device,
            device_name: None,
            quantity: "read IOPS".into(),
            per_s: 3000,
        });
    }),
    ("cpu_limit", |e| e.host.cpu_limit = Some(1.5)),
    ("allowed_cpus", |e| e.host.cpu.allowed = Some(2)),
    ("asynchronous_ios", |e| {
        e.host.permissions.asynchronous_ios_max = Some(65_536);
    }),
    ("idle_states", |e| e.host.cpu.idle_exit_ns_max = Some(133_000)),
    ("shared_memory", |e| e.host.memory.shared_memory_bytes = Some(20 << 30)),
    ("unused_huge_pages", |e| e.host.memory.huge_pages_free = 900),
    ("many_huge_pages", |e| {
        e.host.memory.huge_page_bytes = 60 << 20;
    }),
    ("numa_nodes", |e| {
        e.host.numa_nodes = vec![NumaNode::default(), NumaNode::default()];
    }),
];

/// Two sessions with one target over a port of 10 Gbit/s with jumbo frames.
fn iscsi(environment: &mut Environment) -> &mut Host {
    let host = &mut environment.host;
    let session = |name: &str| IscsiSession {
        name: name.into(),
        target: "iqn.x:vol1".into(),
        state: Some("LOGGED_IN".into()),
        recovery_timeout_ns: Some(5_000_000_000),
    };
    host.iscsi_sessions = vec![session("session1"), session("session2")];
    host.network_ports = vec![NetworkPort {
        name: "eth2".into(),
        is_up: true,
        mtu_bytes: Some(9000),
        bits_per_s: Some(10_000_000_000),
        ..NetworkPort::default()
    }];
    host
}

/// Another volume, of `size_bytes`.
fn second_volume(environment: &mut Environment, size_bytes: u64) {
    disk(environment).size_bytes = 1 << 40;
    let mut other = disk(environment).clone();
    (other.name, other.size_bytes) = ("nvme1n1".into(), size_bytes);
    environment.storage[0].stack.layers.push(other);
}

const VOLUME_CASES: &[FindingCase] = &[
    ("volume_sizes", |e| second_volume(e, 2 << 40)),
    ("volume_count", |e| {
        iscsi(e);
    }),
    ("device_queue_depth", |e| queue(e).device_depth = Some(16)),
    ("device_owner", |e| {
        e.storage[0].owner = Some(DeviceOwner { user_id: 0, group_id: 6, mode: 0o660 });
    }),
    ("jumbo_frames", |e| iscsi(e).network_ports[0].mtu_bytes = Some(1500)),
    ("jumbo_frames", |e| {
        iscsi(e).network_ports[0].mtu_bytes = Some(1500);
        e.host.iscsi_sessions.clear();
        mount(e).file_system = "nfs4".into();
    }),
    ("bonded_ports", |e| {
        iscsi(e).network_ports[0].bond_mode = Some("802.3ad".into());
    }),
    ("iscsi_sessions", |e| {
        iscsi(e).iscsi_sessions.pop();
    }),
    ("iscsi_session_state", |e| {
        iscsi(e).iscsi_sessions[0].state = Some("FAILED".into());
    }),
    ("iscsi_timeout", |e| {
        iscsi(e).iscsi_sessions[0].recovery_timeout_ns = Some(120_000_000_000);
        disk(e).kind = LayerKind::Multipath;
    }),
];

#[test]
fn good_networks_equal_volumes_and_local_storage_are_left_in_peace() {
    let mut environment = good();
    iscsi(&mut environment);
    let few = ["volume_count".to_owned(), "write_through".to_owned()];
    assert_eq!(fired(&environment), BTreeSet::from(few));
    environment.host.iscsi_sessions.clear();
    environment.host.network_ports[0].mtu_bytes = Some(1500);
    second_volume(&mut environment, 1 << 40);
    environment.host.memory.shared_memory_bytes = Some(32 << 30);
    environment.host.cpu.idle_exit_ns_max = Some(2000);
    assert_eq!(fired(&environment), BTreeSet::from(["write_through".to_owned()]));
}

#[test]
fn paths_of_one_volume_are_not_counted_as_volumes() {
    let mut environment = good();
    second_volume(&mut environment, 2 << 40);
    let lower = vec!["nvme0n1".into(), "nvme1n1".into()];
    let multipath = BlockLayer {
        name: "dm-0".into(),
        kind: LayerKind::Multipath,
        lower,
        ..BlockLayer::default()
    };
    environment.storage[0].stack.layers.push(multipath);
    assert!(!fired(&environment).contains("volume_sizes"));
}

const CONTENT_CASES: &[FindingCase] = &[
    ("holes", |e| content(e).written_share = Some(0.5)),
    ("zeros", |e| content(e).zero_share = Some(0.5)),
    ("compressible", |e| content(e).compressed_ratio = Some(0.5)),
    ("cached", |e| content(e).cached_share = Some(0.5)),
    ("no_direct_io", |e| {
        content(e);
        let target = e.storage[0].target.as_mut().unwrap();
        target.direct_io = DirectIo::Refused { reason: "EINVAL".into() };
    }),
];

fn all_cases() -> impl Iterator<Item = &'static FindingCase> {
    [DEVICE_CASES, FILE_SYSTEM_CASES, HOST_CASES, VOLUME_CASES, CONTENT_CASES].into_iter().flatten()
}

#[test]
fn every_rule_speaks_of_its_own_case() {
    for (rule, change) in all_cases() {
        let mut environment = good();
        change(&mut environment);
        assert!(fired(&environment).contains(*rule), "{rule} is silent");
    }
}

#[test]
fn every_rule_has_a_case_and_words() {
    let tried: BTreeSet<&str> =
        all_cases().map(|(rule, _)| *rule).chain(["write_through"]).collect();
    let known: BTreeSet<&str> = rules().map(|rule| rule.name).collect();
    assert_eq!(tried, known);
    assert_eq!(rules().count(), known.len());
    for rule in rules() {
        assert!(rule.why.len() > 20 && rule.remedy.len() > 10, "{}", rule.name);
        assert!(!rule.why.ends_with('.') && !rule.remedy.ends_with('.'), "{}", rule.name);
    }
}

#[test]
fn a_privileged_user_is_not_told_of_limits_that_do_not_bind() {
    let mut environment = good();
    environment.host.permissions.user_id = 0;
    environment.host.permissions.io_uring_disabled = Some(1);
    environment.host.permissions.locked_memory_bytes = Some(8 << 20);
    assert_eq!(fired(&environment).len(), 1);
}

#[test]
fn a_scheduler_on_a_spinning_disk_is_fine() {
    let mut environment = good();
    disk(&mut environment).kind = LayerKind::Scsi;
    queue(&mut environment).rotational = Some(true);
    queue(&mut environment).scheduler = Some("mq-deadline".into());
    assert_eq!(fired(&environment).len(), 1);
}

#[test]
fn the_gravest_come_first_and_nothing_is_said_twice() {
    let mut environment = good();
    mount(&mut environment).options.push("barrier=0".into());
    queue(&mut environment).scheduler = Some("bfq".into());
    let twin = environment.storage[0].clone();
    environment.storage.push(twin);
    let findings = derive_findings(&environment);
    let rules: Vec<_> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["no_barrier", "scheduler", "write_through"]);
    assert_eq!(findings[1].what, "nvme0n1: I/O scheduler");
    assert_eq!(findings[1].value, "bfq");
    assert!(findings[1].remedy.contains("/sys/block/nvme0n1/queue/scheduler"));
}

#[test]
fn facts_that_are_missing_lead_to_nothing() {
    let mut environment = good();
    *queue(&mut environment) = Queue::default();
    environment.host = Host::default();
    environment.storage[0].stack.mount = None;
    assert!(derive_findings(&environment).is_empty());
}
