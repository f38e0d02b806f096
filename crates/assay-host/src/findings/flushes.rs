//! Devices and hosts that are known to acknowledge flushes without carrying them out, by what can
//! be seen of them from inside.
//!
//! Sources: Firecracker, docs/api_requests/block-caching.md (`cache_type` is `Unsafe` by default);
//! spdk/spdk#3598 (an NVMe device behind SPDK's block layer: a flush is complete at once);
//! cloud-hypervisor#399, mended by #1214; oxidecomputer/propolis#492 (virtio-block without flushes
//! over a cached file); openzfs/zfs#17065 (failed flushes of devices were ignored).

use super::rule::FindingRule;
use assay_model::environment::Severity::{Notice, Warning};
use assay_model::environment::{Environment, Finding, Storage};

const IGNORED: FindingRule = FindingRule::new(
    "ignored_flush",
    Warning,
    "some versions or default configurations acknowledge flushes without performing them: \
     acknowledged writes are then lost with the power",
    "configure it to flush, and verify with `assay verify --witness` and power cuts of the host",
);
const FAILED: FindingRule = FindingRule::new(
    "failed_flush",
    Notice,
    "older versions ignored flushes that a device rejected: acknowledged writes may not be on the \
     device",
    "use a version with the fix (openzfs/zfs#17065), and check the devices for errors",
);

pub(super) const RULES: &[&FindingRule] = &[&IGNORED, &FAILED];

/// What a host is called, and what it does.
const HOSTS: [(&str, &str); 3] = [
    ("Firecracker", "its drives have cache_type Unsafe unless configured otherwise"),
    ("Cloud Hypervisor", "versions before 0.8 do not flush"),
    ("Oxide", "virtio disks over cached files do not accept flushes"),
];
/// The model of every NVMe device that SPDK serves, unless it is configured otherwise.
const SPDK: &str = "SPDK bdev Controller";

/// Finds those under a target.
pub(super) fn find(environment: &Environment, storage: &Storage, findings: &mut Vec<Finding>) {
    let machine = environment.host.virtualisation.as_deref().unwrap_or("");
    let hosts = HOSTS.iter().filter(|(name, _)| machine.contains(name));
    findings.extend(
        hosts.map(|(_, does)| IGNORED.found("virtual machine", format!("{machine}: {does}"))),
    );
    let layers = storage.stack.layers.iter();
    findings.extend(layers.filter_map(|layer| {
        let model = layer.model.as_deref().filter(|model| model.contains(SPDK))?;
        let value =
            format!("{}: flushes may be acknowledged without being performed", model.trim());
        Some(IGNORED.found(format!("{}: model", layer.name), value))
    }));
    let mount = storage.stack.mount.as_ref().filter(|mount| mount.file_system == "zfs");
    findings.extend(mount.map(|mount| FAILED.found(mount.mount_point.clone(), "zfs")));
}
