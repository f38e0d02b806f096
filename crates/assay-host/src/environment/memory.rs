//! Memory, huge pages and NUMA nodes.

use super::computer::fact;
use crate::counters::tagged;
use crate::mounts::read_mounts;
use crate::root::Survey;
use assay_model::environment::{Memory, NumaNode};

const KIBIBYTE: u64 = 1024;

pub(super) fn memory(survey: &Survey) -> Memory {
    let Some(text) = fact(survey, "/proc/meminfo") else {
        return Memory::default();
    };
    let count = |tag: &str| tagged(&text, tag).unwrap_or_default();
    let bytes = |tag: &str| count(tag).saturating_mul(KIBIBYTE);
    Memory {
        total_bytes: bytes("MemTotal:"),
        available_bytes: bytes("MemAvailable:"),
        dirty_bytes: bytes("Dirty:"),
        swap_bytes: bytes("SwapTotal:"),
        swap_used_bytes: bytes("SwapTotal:").saturating_sub(bytes("SwapFree:")),
        huge_pages: count("HugePages_Total:"),
        huge_pages_free: count("HugePages_Free:"),
        huge_page_bytes: bytes("Hugepagesize:"),
        transparent_huge_pages: transparent_huge_pages(survey),
        shared_memory_bytes: shared_memory_bytes(survey, bytes("MemTotal:")),
    }
}

/// The size of `/dev/shm` by its mount option; without one it is half the memory (tmpfs(5)).
fn shared_memory_bytes(survey: &Survey, total_bytes: u64) -> Option<u64> {
    let mounts = read_mounts(survey.root()).ok()?;
    let last = mounts.iter().rfind(|entry| entry.mount.mount_point == "/dev/shm")?;
    let size = last.mount.options.iter().find_map(|option| option.strip_prefix("size="));
    size.map_or(Some(total_bytes / 2), |size| size_bytes(size, total_bytes))
}

/// `65536k`, as the kernel prints it, or `50%` of the memory.
fn size_bytes(text: &str, total_bytes: u64) -> Option<u64> {
    let number = |digits: &str| digits.parse::<u64>().ok();
    if let Some(percent) = text.strip_suffix('%') {
        return Some(total_bytes / 100 * number(percent)?);
    }
    let units = [('k', 10), ('m', 20), ('g', 30)];
    let unit = units.iter().find(|(letter, _)| text.ends_with(*letter));
    let digits = text.trim_end_matches(['k', 'm', 'g']);
    number(digits)?.checked_shl(unit.map_or(0, |(_, bits)| *bits))
}

/// The word in brackets of `always [madvise] never`.
fn transparent_huge_pages(survey: &Survey) -> Option<String> {
    let text = fact(survey, "/sys/kernel/mm/transparent_hugepage/enabled")?;
    let chosen = text.split_whitespace().find(|word| word.starts_with('['))?;
    Some(chosen.trim_matches(['[', ']']).to_owned())
}

pub(super) fn numa_nodes(survey: &Survey) -> Vec<NumaNode> {
    let place = survey.root().path("/sys/devices/system/node");
    let number = |name: &String| name.strip_prefix("node")?.parse().ok();
    let mut nodes: Vec<u64> = survey.names(&place).iter().filter_map(number).collect();
    nodes.sort_unstable();
    nodes.into_iter().map(|node| numa_node(survey, node)).collect()
}

fn numa_node(survey: &Survey, node: u64) -> NumaNode {
    let text = |name: &str| {
        fact(survey, &format!("/sys/devices/system/node/node{node}/{name}")).unwrap_or_default()
    };
    let memory = text("meminfo");
    let total = memory
        .lines()
        .find_map(|line| tagged(line.trim_start(), &format!("Node {node} MemTotal:")));
    NumaNode {
        node,
        cpus: text("cpulist"),
        memory_bytes: total.unwrap_or_default().saturating_mul(KIBIBYTE),
        distances: text("distance")
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect(),
    }
}
