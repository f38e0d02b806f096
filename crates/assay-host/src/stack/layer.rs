//! Reads one block device: what it is, its size, identity, queue and state.

use super::{identity, kind};
use crate::device::BlockDevice;
use crate::root::Survey;
use assay_model::stack::{BlockLayer, LayerKind, Paths, Queue, RaidLayer};
use std::path::{Path, PathBuf};

/// Everything that sysfs says about a device; what it does not say stays `None`.
pub(super) fn read_layer(survey: &Survey, device: &BlockDevice) -> BlockLayer {
    let text = |name: &str| survey.text(&device.attribute(name));
    let uuid = text("dm/uuid");
    let kind = layer_kind(device, uuid.as_deref());
    let unsaid = |what: &str, error: std::io::Error| {
        survey.note(format!("{}: {what}", device.node()), error.to_string());
    };
    BlockLayer {
        name: device.name().to_owned(),
        device: device.number(),
        kind,
        lower: Vec::new(),
        size_bytes: device.size_bytes().map_err(|error| unsaid("size", error)).unwrap_or_default(),
        read_only: device
            .is_read_only()
            .map_err(|error| unsaid("read-only flag", error))
            .unwrap_or_default(),
        start_bytes: device.is_partition().then(|| device.start_bytes().ok()).flatten(),
        alignment_offset_bytes: survey.value(&device.attribute("alignment_offset")),
        mapped_name: text("dm/name"),
        backing_file: text("loop/backing_file"),
        vendor: text("device/vendor").filter(|vendor| !vendor.starts_with("0x")),
        model: text("device/model"),
        firmware: text("device/firmware_rev").or_else(|| text("device/rev")),
        serial: identity::serial_of(device),
        world_wide_name: identity::world_wide_name_of(device),
        numa_node: numa_node(survey, device),
        queue: device.attribute("queue").exists().then(|| read_queue(survey, device)),
        raid: device.attribute("md").exists().then(|| read_raid(survey, device)),
        paths: read_paths(survey, device, kind),
    }
}

pub(crate) fn layer_kind(device: &BlockDevice, mapped_uuid: Option<&str>) -> LayerKind {
    if device.is_partition() {
        return LayerKind::Partition;
    }
    kind::kind_of(device.name(), mapped_uuid)
}

/// The node of the controller; the kernel says -1 where it is attached to none.
fn numa_node(survey: &Survey, device: &BlockDevice) -> Option<u64> {
    let places = ["device/numa_node", "device/device/numa_node"];
    let node: i64 = places.iter().find_map(|name| survey.value(&device.attribute(name)))?;
    u64::try_from(node).ok()
}

fn read_queue(survey: &Survey, device: &BlockDevice) -> Queue {
    let place = |name: &str| device.attribute("queue").join(name);
    let number = |name: &str| survey.value::<u64>(&place(name));
    let schedulers = survey.text(&place("scheduler")).unwrap_or_default();
    Queue {
        scheduler: chosen(&schedulers),
        schedulers: schedulers
            .split_whitespace()
            .map(|word| word.trim_matches(['[', ']']).to_owned())
            .collect(),
        requests: number("nr_requests"),
        device_depth: survey.value(&device.attribute("device/queue_depth")),
        hardware_queues: hardware_queues(survey, &device.attribute("mq")),
        request_bytes_max: number("max_sectors_kb").map(kibibytes),
        rotational: survey.flag(&place("rotational")),
        write_cache: survey.text(&place("write_cache")),
        forced_unit_access: survey.flag(&place("fua")),
        atomic_write_bytes_max: number("atomic_write_unit_max_bytes"),
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        minimum_io_bytes: number("minimum_io_size"),
        optimal_io_bytes: number("optimal_io_size"),
        discard_bytes_max: number("discard_max_bytes"),
        read_ahead_bytes: number("read_ahead_kb").map(kibibytes),
        dax: survey.flag(&place("dax")),
        polling: survey.flag(&place("io_poll")),
        timeout_ns: number("io_timeout").map(|time_ms| time_ms.saturating_mul(1_000_000)),
        writeback_target_ns: number("wbt_lat_usec").map(|time_us| time_us.saturating_mul(1000)),
        completion_affinity: number("rq_affinity"),
        zoned: survey.text(&place("zoned")),
    }
}

const fn kibibytes(kib: u64) -> u64 {
    kib.saturating_mul(1024)
}

/// The word in brackets; a device without schedulers shows the single word `none` without any.
fn chosen(schedulers: &str) -> Option<String> {
    let mut words = schedulers.split_whitespace();
    let marked = words.clone().find(|word| word.starts_with('['));
    let word = marked.or_else(|| words.next())?;
    Some(word.trim_matches(['[', ']']).to_owned())
}

fn hardware_queues(survey: &Survey, place: &Path) -> Option<u64> {
    let queues = survey.names(place).len();
    (queues > 0).then(|| assay_model::number::count_of(queues))
}

fn read_raid(survey: &Survey, device: &BlockDevice) -> RaidLayer {
    let place = |name: &str| device.attribute("md").join(name);
    RaidLayer {
        level: survey.text(&place("level")).unwrap_or_default(),
        members: survey.value(&place("raid_disks")),
        missing: survey.value(&place("degraded")),
        chunk_bytes: survey.value(&place("chunk_size")),
        action: survey.text(&place("sync_action")),
    }
}

/// Paths of a multipath table are the devices under it; of `NVMe`'s own multipath, the controllers
/// of its subsystem.
fn read_paths(survey: &Survey, device: &BlockDevice, kind: LayerKind) -> Option<Paths> {
    let states: Vec<PathBuf> = match kind {
        LayerKind::Multipath => {
            let below = survey.names(&device.attribute("slaves"));
            let state = |name: &String| device.attribute("slaves").join(name).join("device/state");
            below.iter().map(state).collect()
        }
        LayerKind::Nvme => controllers(survey, device),
        _ => Vec::new(),
    };
    let runs = |place: &&PathBuf| matches!(survey.text(place).as_deref(), Some("running" | "live"));
    let running = states.iter().filter(runs).count();
    (!states.is_empty()).then(|| Paths {
        configured: assay_model::number::count_of(states.len()),
        running: assay_model::number::count_of(running),
    })
}

fn controllers(survey: &Survey, device: &BlockDevice) -> Vec<PathBuf> {
    let place = device.attribute("device");
    let is_controller = |name: &&String| {
        let digits = name.strip_prefix("nvme").unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let names = survey.names(&place);
    let controllers = names.iter().filter(is_controller);
    controllers.map(|name| place.join(name).join("state")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_in_force() {
        assert_eq!(chosen("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen(""), None);
    }
}
