//! What the layers under a target declare of their caches: an entry for each that says something.

use assay_model::durability::{Declaration, DeclaredUnits};
use assay_model::number::real;
use assay_model::stack::{BlockLayer, BlockStack, Mount};
use assay_model::units::show_bytes;
use rustix::fs::{AtFlags, StatxFlags, statx};
use std::os::fd::AsFd;

/// `STATX_WRITE_ATOMIC`, from Linux 6.11 on.
const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x0001_0000);

/// Declarations by layer, from the top to the bottom.
pub fn declarations(stack: &BlockStack) -> Vec<Declaration> {
    let mount = stack.mount.as_ref().map(of_mount);
    mount.into_iter().chain(stack.layers.iter().filter_map(of_layer)).collect()
}

/// Options of a mount that decide what a sync does.
fn of_mount(mount: &Mount) -> Declaration {
    let decides = |option: &&String| {
        let name = option.split('=').next().unwrap_or_default();
        matches!(name, "barrier" | "nobarrier" | "sync" | "async" | "data" | "nointegrity" | "dax")
    };
    let options: Vec<&str> = mount.options.iter().filter(decides).map(String::as_str).collect();
    let flushes = if options.iter().any(|option| matches!(*option, "nobarrier" | "barrier=0")) {
        "it does not flush the device"
    } else {
        "it is believed to flush the device"
    };
    let said = if options.is_empty() { "no option".to_owned() } else { options.join(",") };
    Declaration {
        layer: format!("{} on {}", mount.file_system, mount.mount_point),
        what: format!("{said}: {flushes}"),
    }
}

fn of_layer(layer: &BlockLayer) -> Option<Declaration> {
    let queue = layer.queue.as_ref()?;
    let cache = queue.write_cache.as_deref()?;
    let meaning = match cache {
        "write back" => "a volatile cache, written out by flushes",
        "write through" => "no volatile cache, so the kernel sends no flushes",
        _ => "unknown",
    };
    let forced = match queue.forced_unit_access {
        Some(true) => ", single writes can be forced to the medium (FUA)",
        Some(false) => ", no FUA",
        None => "",
    };
    let atomic = match queue.atomic_write_bytes_max {
        None => String::new(),
        Some(0) => "; no atomic writes larger than a sector".to_owned(),
        Some(bytes) => format!("; atomic writes of up to {}", show_bytes(real(bytes))),
    };
    let model =
        layer.model.as_deref().map_or_else(String::new, |model| format!(" ({})", model.trim()));
    let layer = format!("{}{model}", layer.name);
    Some(Declaration { layer, what: format!("{cache}: {meaning}{forced}{atomic}") })
}

/// Declarations by layer of writes that a power cut leaves whole; `file` is one of the target,
/// where there is one.
pub fn declared_units(stack: &BlockStack, file: Option<impl AsFd>) -> DeclaredUnits {
    let queues = || stack.layers.iter().filter_map(|layer| layer.queue.as_ref());
    DeclaredUnits {
        file_bytes: file.and_then(|file| file_unit(&file)),
        device_bytes: device_unit(stack),
        logical_block_bytes: queues().filter_map(|queue| queue.logical_block_bytes).max(),
        physical_block_bytes: queues().filter_map(|queue| queue.physical_block_bytes).min(),
        is_file: stack.mount.is_some(),
    }
}

/// The largest write that every device under a target promises to keep whole over a power cut,
/// bytes; `None` where one of them says nothing of it.
fn device_unit(stack: &BlockStack) -> Option<u64> {
    let said = stack.layers.iter().map(|layer| layer.queue.as_ref()?.atomic_write_bytes_max);
    said.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

/// The same of a file, as its file system says.
fn file_unit(file: &impl AsFd) -> Option<u64> {
    let found = statx(file, "", AtFlags::EMPTY_PATH, WRITE_ATOMIC).ok()?;
    let is_said = StatxFlags::from_bits_retain(found.stx_mask).contains(WRITE_ATOMIC);
    is_said.then(|| u64::from(found.stx_atomic_write_unit_max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::stack::Queue;

    #[test]
    fn the_weakest_layer_decides_what_is_written_as_a_whole() {
        let layer = |bytes| BlockLayer {
            queue: Some(Queue { atomic_write_bytes_max: bytes, ..Queue::default() }),
            ..BlockLayer::default()
        };
        let of = |layers| device_unit(&BlockStack { layers, ..BlockStack::default() });
        assert_eq!(of(vec![layer(Some(65_536)), layer(Some(16_384))]), Some(16_384));
        assert_eq!(of(vec![layer(Some(65_536)), layer(None)]), None);
        assert_eq!(of(Vec::new()), None);
    }

    #[test]
    fn blocks_of_several_devices_are_the_largest_that_can_be_addressed_and_the_smallest_that_is_written()
     {
        let layer = |logical, physical| BlockLayer {
            queue: Some(Queue {
                logical_block_bytes: Some(logical),
                physical_block_bytes: Some(physical),
                ..Queue::default()
            }),
            ..BlockLayer::default()
        };
        let layers = vec![layer(512, 4096), layer(4096, 512)];
        let stack = BlockStack { layers, ..BlockStack::default() };
        let units = declared_units(&stack, None::<std::fs::File>);
        assert_eq!(
            (units.logical_block_bytes, units.physical_block_bytes, units.device_bytes),
            (Some(4096), Some(512), None)
        );
        assert!(!units.is_file && units.promised_bytes().is_none());
    }

    #[test]
    fn a_file_system_is_asked_for_its_own_unit() {
        // Whatever it says, it must agree with what the kernel would let a file open for atomic
        // writes do: none in memory.
        let file = std::fs::File::open("/proc/self/status").unwrap();
        assert_eq!(file_unit(&file).unwrap_or(0), 0);
    }

    #[test]
    fn each_layer_that_says_something_is_heard() {
        let queue = Queue {
            write_cache: Some("write back".into()),
            forced_unit_access: Some(false),
            ..Queue::default()
        };
        let disk = BlockLayer { name: "vda".into(), queue: Some(queue), ..BlockLayer::default() };
        let silent = BlockLayer { name: "vda1".into(), ..BlockLayer::default() };
        let mount = Mount {
            file_system: "ext4".into(),
            mount_point: "/data".into(),
            options: vec!["rw".into(), "nobarrier".into()],
            ..Mount::default()
        };
        let stack =
            BlockStack { mount: Some(mount), layers: vec![silent, disk], ..BlockStack::default() };
        let [mount, disk] = &declarations(&stack)[..] else { panic!("two layers speak") };
        assert_eq!(mount.layer, "ext4 on /data");
        assert!(mount.what.contains("does not flush"), "{}", mount.what);
        assert_eq!(disk.what, "write back: a volatile cache, written out by flushes, no FUA");
    }
}
