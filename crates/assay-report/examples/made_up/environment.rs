//! A made-up host with a volume group on two NVMe devices.

use assay_model::environment::{Cpu, Environment, Finding, Host, Memory, Severity, Space, Storage};
use assay_model::stack::{BlockLayer, BlockStack, LayerKind, Mount, Queue};

fn layer(name: &str, kind: LayerKind, lower: &[&str], size_bytes: u64) -> BlockLayer {
    BlockLayer {
        name: name.to_owned(),
        kind,
        lower: lower.iter().map(|lower| (*lower).to_owned()).collect(),
        size_bytes,
        ..BlockLayer::default()
    }
}

fn nvme(name: &str) -> BlockLayer {
    BlockLayer {
        model: Some("EXAMPLE PM9A3 3.84TB".to_owned()),
        firmware: Some("GDC5602Q".to_owned()),
        queue: Some(Queue {
            scheduler: Some("none".to_owned()),
            requests: Some(1023),
            hardware_queues: Some(32),
            rotational: Some(false),
            write_cache: Some("write through".to_owned()),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            ..Queue::default()
        }),
        ..layer(name, LayerKind::Nvme, &[], 3_840_755_982_336)
    }
}

fn storage() -> Storage {
    let data = BlockLayer {
        mapped_name: Some("vg0-oradata".to_owned()),
        ..layer("dm-2", LayerKind::Lvm, &["nvme0n1p1", "nvme1n1p1"], 2 << 40)
    };
    Storage {
        stack: BlockStack {
            path: "/oradata".to_owned(),
            resolved_path: "/oradata".to_owned(),
            mount: Some(Mount {
                mount_point: "/oradata".to_owned(),
                file_system: "xfs".to_owned(),
                source: "/dev/mapper/vg0-oradata".to_owned(),
                options: ["rw", "relatime", "attr2", "inode64", "noquota"]
                    .map(str::to_owned)
                    .to_vec(),
                ..Mount::default()
            }),
            layers: vec![
                data,
                layer("nvme0n1p1", LayerKind::Partition, &["nvme0n1"], 3_840_753_000_448),
                nvme("nvme0n1"),
                layer("nvme1n1p1", LayerKind::Partition, &["nvme1n1"], 3_840_753_000_448),
                nvme("nvme1n1"),
            ],
        },
        space: Some(Space { capacity_bytes: 2 << 40, free_bytes: 812 << 30 }),
        owner: None,
        target: None,
    }
}

/// The host, its storage, and two findings.
pub(crate) fn environment() -> Environment {
    let finding = |severity, what: &str, value: &str, why: &str, remedy: &str| Finding {
        severity,
        rule: "made up".to_owned(),
        what: what.to_owned(),
        value: value.to_owned(),
        why: why.to_owned(),
        remedy: remedy.to_owned(),
    };
    Environment {
        format: 1,
        captured_unix_ns: 1_795_251_900_000_000_000,
        host: Host {
            name: "db07".to_owned(),
            kernel: "6.8.0-45-generic".to_owned(),
            architecture: "x86_64".to_owned(),
            distribution: Some("Ubuntu 24.04.1 LTS".to_owned()),
            cpu: Cpu {
                model: Some("AMD EPYC 9354 32-Core Processor".to_owned()),
                logical: 64,
                governors: vec!["schedutil".to_owned()],
                ..Cpu::default()
            },
            memory: Memory {
                total_bytes: 384 << 30,
                available_bytes: 191 << 30,
                ..Memory::default()
            },
            clock_source: Some("tsc".to_owned()),
            ..Host::default()
        },
        storage: vec![storage()],
        findings: vec![
            finding(
                Severity::Warning,
                "CPU frequency governor",
                "schedutil",
                "Between I/Os the clock falls, and the next completion is handled late: latencies \
                 at low load look longer than the device's.",
                "Set the governor to performance while measuring and on database servers: \
                 cpupower frequency-set -g performance",
            ),
            finding(
                Severity::Notice,
                "/oradata: access times",
                "relatime",
                "Reads can cause writes of access times.",
                "Mount with noatime.",
            ),
        ],
        unreadable: Vec::new(),
    }
}
