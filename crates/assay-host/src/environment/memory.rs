//! Memory, huge pages and NUMA nodes.

use super::computer::fact;
use crate::counters::tagged;
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
    }
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
