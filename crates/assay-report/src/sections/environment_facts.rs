//! The host and the storage in words, for the page and for the terminal.

use assay_model::environment::{Environment, Host, Storage};
use assay_model::number::real;
use assay_model::stack::{BlockLayer, LayerKind, Queue};
use assay_model::units::{show_bytes, show_counted};

/// A layer of the storage, the mount first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layer {
    /// Mount point or kernel name.
    pub(super) name: String,
    /// File system or kind of device, with maker and model.
    pub(super) kind: String,
    /// Size, and what is free.
    pub(super) size: String,
    /// Mount options or settings of the queue.
    pub(super) settings: String,
    /// What it lies on; empty of hardware.
    pub(super) lower: String,
}

/// The host in names and values.
pub(super) fn host(host: &Host) -> Vec<(&'static str, String)> {
    let cpu = &host.cpu;
    let system = host.distribution.as_ref();
    let system =
        system.map_or_else(|| host.kernel.clone(), |name| format!("{name}, {}", host.kernel));
    let model = cpu.model.as_deref().unwrap_or("unknown model");
    let governors = (!cpu.governors.is_empty()).then(|| cpu.governors.join(", "));
    let limit = |limit: f64| format!("{limit} CPUs, by control group");
    let optional = [
        ("Virtual machine", host.virtualisation.clone()),
        ("Governor", governors),
        ("Clock source", host.clock_source.clone()),
        ("CPU limit", host.cpu_limit.map(limit)),
    ];
    let mut facts = vec![
        ("Host", format!("{} ({})", host.name, host.architecture)),
        ("System", system),
        ("CPUs", format!("{} × {model}", cpu.logical)),
        ("Memory", memory(host)),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    facts.extend(io_limits(host));
    facts
}

/// Installed and available memory.
fn memory(host: &Host) -> String {
    let total = show_bytes(real(host.memory.total_bytes));
    let available = show_bytes(real(host.memory.available_bytes));
    format!("{total}, {available} available")
}

/// Limits that control groups put on I/O.
fn io_limits(host: &Host) -> impl Iterator<Item = (&'static str, String)> {
    host.io_limits.iter().map(|limit| {
        let device = limit.device_name.clone();
        let device = device.unwrap_or_else(|| limit.device.to_string());
        let most = format!("{device}: {} at most {}", limit.quantity, limit.per_s);
        ("I/O limit", format!("{most} (control group {})", limit.control_group))
    })
}

/// The layers under a target from the top down.
pub(super) fn layers(storage: &Storage) -> Vec<Layer> {
    let layers = storage.stack.layers.iter().map(layer);
    mount(storage).into_iter().chain(layers).collect()
}

/// The file system as the uppermost layer; none for a device.
fn mount(storage: &Storage) -> Option<Layer> {
    let mount = storage.stack.mount.as_ref()?;
    let space = storage.space.map(|space| {
        let capacity = show_bytes(real(space.capacity_bytes));
        format!("{capacity}, {} free", show_bytes(real(space.free_bytes)))
    });
    let below = storage.stack.layers.first();
    Some(Layer {
        name: mount.mount_point.clone(),
        kind: mount.file_system.clone(),
        size: space.unwrap_or_default(),
        settings: mount.options.join(", "),
        lower: below.map_or_else(|| mount.source.clone(), |layer| layer.name.clone()),
    })
}

/// A block device.
fn layer(layer: &BlockLayer) -> Layer {
    let mapped = layer.mapped_name.as_ref();
    let device = [&layer.vendor, &layer.model, &layer.firmware].into_iter().flatten();
    let words = [kind(layer.kind)].into_iter().chain(device.map(|word| word.trim()));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    Layer {
        name: mapped
            .map_or_else(|| layer.name.clone(), |mapped| format!("{} ({mapped})", layer.name)),
        kind: words.join(" "),
        size: show_bytes(real(layer.size_bytes)),
        settings: settings(layer).join(", "),
        lower: layer.lower.join(", "),
    }
}

/// What of a device's settings matters for speed.
fn settings(layer: &BlockLayer) -> Vec<String> {
    let mut settings: Vec<String> = layer.queue.iter().flat_map(queue).collect();
    if let Some(raid) = &layer.raid {
        settings.push(raid.level.clone());
        let chunk = raid.chunk_bytes.map(|chunk| format!("chunk {}", show_bytes(real(chunk))));
        let missing = raid.missing.filter(|missing| *missing > 0);
        settings.extend(chunk);
        settings.extend(missing.map(|missing| format!("{missing} members missing")));
    }
    let paths =
        layer.paths.map(|paths| format!("{} of {} paths running", paths.running, paths.configured));
    settings.extend(paths);
    settings.extend(layer.read_only.then(|| "read-only".to_owned()));
    settings
}

/// Settings of a request queue that are known.
fn queue(queue: &Queue) -> Vec<String> {
    let blocks = queue.logical_block_bytes.zip(queue.physical_block_bytes);
    let spindle = |rotational| {
        if rotational { "rotational" } else { "not rotational" }
    };
    let parts = [
        queue.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")),
        queue.requests.map(|requests| format!("{requests} requests")),
        queue.hardware_queues.map(|queues| show_counted(queues, "hardware queue")),
        queue.rotational.map(|rotational| spindle(rotational).to_owned()),
        queue.write_cache.clone(),
        blocks.map(|(logical, physical)| format!("blocks {logical}/{physical} B")),
        queue.request_bytes_max.map(|bytes| format!("requests up to {}", show_bytes(real(bytes)))),
    ];
    parts.into_iter().flatten().collect()
}

/// What could not be read, a line each.
pub(super) fn unreadable(environment: &Environment) -> impl Iterator<Item = String> {
    let facts = environment.unreadable.iter();
    facts.map(|fact| format!("{}: {}", fact.what, fact.reason))
}

/// The word for a kind of layer.
const fn kind(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Nvme => "NVMe",
        LayerKind::Scsi => "SCSI disk",
        LayerKind::Virtio => "virtual disk (virtio)",
        LayerKind::Xen => "virtual disk (Xen)",
        LayerKind::Mmc => "SD or eMMC",
        LayerKind::Dasd => "DASD",
        LayerKind::Pmem => "persistent memory",
        LayerKind::Zram => "compressed memory",
        LayerKind::Ram => "memory",
        LayerKind::Nbd => "network block device",
        LayerKind::Rbd => "Ceph image",
        LayerKind::Drbd => "replicated (DRBD)",
        LayerKind::Zvol => "ZFS volume",
        LayerKind::Ublk => "user-space device",
        LayerKind::Null => "null device",
        LayerKind::Partition => "partition",
        LayerKind::Loop => "file as a device",
        LayerKind::Lvm => "LVM volume",
        LayerKind::Crypt => "encrypted",
        LayerKind::Multipath => "multipath",
        LayerKind::DeviceMapper => "device mapper",
        LayerKind::Md => "software RAID",
        LayerKind::Bcache => "SSD cache (bcache)",
        LayerKind::Unknown => "unknown",
    }
}
