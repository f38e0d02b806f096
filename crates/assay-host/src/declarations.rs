//! What the layers under a target declare of their caches: an entry for each that says something.

use assay_model::durability::Declaration;
use assay_model::number::real;
use assay_model::stack::{BlockLayer, BlockStack, Mount};
use assay_model::units::show_bytes;

/// What the layers declare, from the top to the bottom.
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
        "it flushes the device as far as is known"
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
        "write back" => "a volatile cache that flushes empty",
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
        Some(0) => "; no atomic writes beyond a sector".to_owned(),
        Some(bytes) => format!("; atomic writes of up to {}", show_bytes(real(bytes))),
    };
    let model =
        layer.model.as_deref().map_or_else(String::new, |model| format!(" ({})", model.trim()));
    let layer = format!("{}{model}", layer.name);
    Some(Declaration { layer, what: format!("{cache}: {meaning}{forced}{atomic}") })
}

/// The largest write that every device under a target promises to keep whole over a power cut, bytes; `None` where one of them
/// says nothing of it.
pub fn declared_atomic_unit(stack: &BlockStack) -> Option<u64> {
    let said = stack.layers.iter().map(|layer| layer.queue.as_ref()?.atomic_write_bytes_max);
    said.collect::<Option<Vec<u64>>>()?.into_iter().min()
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
        let of = |layers| declared_atomic_unit(&BlockStack { layers, ..BlockStack::default() });
        assert_eq!(of(vec![layer(Some(65_536)), layer(Some(16_384))]), Some(16_384));
        assert_eq!(of(vec![layer(Some(65_536)), layer(None)]), None);
        assert_eq!(of(Vec::new()), None);
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
        assert_eq!(disk.what, "write back: a volatile cache that flushes empty, no FUA");
    }
}
