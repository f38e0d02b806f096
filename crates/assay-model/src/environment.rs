//! The host's facts that a result depends on, and what was found wrong or noteworthy among them.

mod network;

pub use network::{IscsiSession, NetworkPort};

use crate::stack::BlockStack;
use crate::target::TargetFacts;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know when numbers are read.
    Notice,
    /// Costs speed or distorts a measurement.
    Warning,
    /// Data or the result is at risk.
    Critical,
}

/// Something about the host or the stack that a reader should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Stable name of the rule, for example `scheduler`.
    pub rule: String,
    /// What it is about, for example `nvme0n1: I/O scheduler`.
    pub what: String,
    /// What was read, with its unit.
    pub value: String,
    /// Why it matters.
    pub why: String,
    /// What to do about it.
    pub remedy: String,
}

/// A fact that could not be read; nothing is concluded from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unreadable {
    /// The fact that is missing, or the file that would have held it.
    pub what: String,
    /// What the system answered.
    pub reason: String,
}

/// Processors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Cpu {
    /// Model, as the processor says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Logical processors that are online.
    pub logical: u64,
    /// Processors that this process may run on, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<u64>,
    /// Frequency governors in force, each once; empty where the kernel does not scale the
    /// frequency.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub governors: Vec<String>,
    /// Longest time to leave an idle state (C-state) that is enabled, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_exit_ns_max: Option<u64>,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// Installed, bytes.
    pub total_bytes: u64,
    /// Available to a new program without swapping, bytes.
    pub available_bytes: u64,
    /// Written by programs and not yet by the device, bytes.
    pub dirty_bytes: u64,
    /// Swap space, bytes.
    pub swap_bytes: u64,
    /// Swap space in use, bytes.
    pub swap_used_bytes: u64,
    /// Huge pages that are set aside.
    pub huge_pages: u64,
    /// Huge pages of these that nobody uses.
    pub huge_pages_free: u64,
    /// Bytes a huge page.
    pub huge_page_bytes: u64,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// Size of `/dev/shm`, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_memory_bytes: Option<u64>,
}

/// One NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NumaNode {
    /// Its number.
    pub node: u64,
    /// Its processors, as the kernel lists them: `0-15,32-47`.
    pub cpus: String,
    /// Its memory, bytes.
    pub memory_bytes: u64,
    /// Distance to each node, 10 being local.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<u64>,
}

/// What the kernel lets this process do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// Effective user.
    pub user_id: u64,
    /// `kernel.io_uring_disabled`: 0 for everybody, 1 for a group and the privileged, 2 for
    /// nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_uring_disabled: Option<u64>,
    /// Whether a seccomp filter is in force, which may refuse `io_uring` and other calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seccomp_filter: Option<bool>,
    /// Memory that may be locked (`RLIMIT_MEMLOCK`), bytes; none when unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked_memory_bytes: Option<u64>,
    /// Files that may be open; none when unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Largest number of outstanding native asynchronous I/Os on this host (`fs.aio-max-nr`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asynchronous_ios_max: Option<u64>,
    /// How many of these are taken (`fs.aio-nr`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asynchronous_ios: Option<u64>,
}

/// A limit that a control group puts on this process's I/O to one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IoLimit {
    /// The control group that sets it.
    pub control_group: String,
    /// The device, by its number.
    pub device: crate::stack::DeviceNumber,
    /// Name of the device, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// What is limited: `read bytes/s`, `write bytes/s`, `read IOPS` or `write IOPS`.
    pub quantity: String,
    /// The limit, per second.
    pub per_s: u64,
}

/// The computer and its operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Machine architecture, for example `x86_64`.
    pub architecture: String,
    /// Name of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Hypervisor or cloud, where it is a virtual machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualisation: Option<String>,
    /// Processors.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// NUMA nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numa_nodes: Vec<NumaNode>,
    /// Clock source in force, for example `tsc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// What the kernel lets this process do.
    pub permissions: Permissions,
    /// Limits on this process's I/O.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub io_limits: Vec<IoLimit>,
    /// Network ports, bonds included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network_ports: Vec<NetworkPort>,
    /// Sessions with iSCSI targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iscsi_sessions: Vec<IscsiSession>,
    /// CPU that its control groups allow, in processors; none when unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<f64>,
}

/// Space on the file system of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Space {
    /// Size of the file system, bytes.
    pub capacity_bytes: u64,
    /// Free for this user, bytes.
    pub free_bytes: u64,
}

/// Account and permissions of a device node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceOwner {
    /// Number of the account.
    pub user_id: u32,
    /// Number of the group.
    pub group_id: u32,
    /// Permission bits.
    pub mode: u32,
}

/// The storage under one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Storage {
    /// From the path to the hardware.
    pub stack: BlockStack,
    /// Space on the file system; none for a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
    /// Owner of the device node; none for a file or directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<DeviceOwner>,
    /// The target as it was found; none for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetFacts>,
}

/// Everything outside the workload that a result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Version of the document format: 1.
    pub format: u32,
    /// When it was captured, ns since 1970-01-01 UTC.
    pub captured_unix_ns: u64,
    /// The computer and its operating system.
    pub host: Host,
    /// The storage under each target.
    pub storage: Vec<Storage>,
    /// What a reader should know, the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
}

impl Environment {
    /// Version of the document's form that is written.
    pub const FORMAT: u32 = 1;

    /// Limits of control groups on devices below a target: those on other devices say nothing about
    /// it.
    pub fn limits_below_targets(&self) -> impl Iterator<Item = &IoLimit> {
        let layers = || self.storage.iter().flat_map(|storage| &storage.stack.layers);
        let is_below = move |limit: &&IoLimit| layers().any(|layer| layer.device == limit.device);
        self.host.io_limits.iter().filter(is_below)
    }

    /// Findings at least as grave as `severity`.
    pub fn findings_from(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        let grave = move |finding: &&Finding| finding.severity >= severity;
        self.findings.iter().filter(grave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let finding = |severity, rule: &str| Finding {
            severity,
            rule: rule.into(),
            what: "sda: I/O scheduler".into(),
            value: "bfq".into(),
            why: "it orders".into(),
            remedy: "choose none".into(),
        };
        Environment {
            format: Environment::FORMAT,
            captured_unix_ns: 1_790_000_000_000_000_000,
            host: Host::default(),
            storage: vec![Storage::default()],
            findings: vec![
                finding(Severity::Critical, "raid"),
                finding(Severity::Notice, "scheduler"),
            ],
            unreadable: vec![Unreadable {
                what: "governor".into(),
                reason: "permission denied".into(),
            }],
        }
    }

    #[test]
    fn the_document_reads_back_the_same() {
        let text = serde_json::to_string(&environment()).unwrap();
        let read: Environment = serde_json::from_str(&text).unwrap();
        assert_eq!(read, environment());
    }

    #[test]
    fn unknown_keys_are_refused_at_every_depth() {
        let text = serde_json::to_string(&environment()).unwrap();
        let places = [
            "{\"format\"",
            "\"host\":{",
            "\"cpu\":{",
            "\"permissions\":{",
            "\"stack\":{",
            "{\"severity\"",
            "{\"what\":\"governor\"",
        ];
        for place in places {
            let forged = text.replacen(place, &place.replacen('{', "{\"colour\":1,", 1), 1);
            assert_ne!(forged, text, "{place} is not in the document");
            let message = serde_json::from_str::<Environment>(&forged).unwrap_err();
            assert!(message.to_string().contains("colour"), "{place}: {message}");
        }
    }

    #[test]
    fn grave_findings_can_be_picked() {
        let environment = environment();
        let rules: Vec<_> = environment
            .findings_from(Severity::Warning)
            .map(|finding| finding.rule.as_str())
            .collect();
        assert_eq!(rules, ["raid"]);
    }
}
