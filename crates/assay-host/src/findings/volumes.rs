//! Rules on the set of volumes under all targets together. Source: Dell, Sizing and Best Practices
//! for OLTP (2017), sections 7.1 and 7.4; `SanDisk`, Fusion `ioMemory` with Oracle 12c (2015),
//! appendix A.

use super::rule::FindingRule;
use assay_model::environment::Severity::Notice;
use assay_model::environment::{Environment, Finding, Storage};
use assay_model::number::{count_of, real};
use assay_model::stack::{BlockLayer, LayerKind};
use assay_model::units::show_bytes;
use std::collections::BTreeMap;

const UNEQUAL: FindingRule = FindingRule::new(
    "volume_sizes",
    Notice,
    "volumes of different size get different shares of the I/Os if data is spread over them \
     evenly by space, as ASM and LVM do",
    "use volumes of equal size within a disk group or a striped volume",
);
const FEW: FindingRule = FindingRule::new(
    "volume_count",
    Notice,
    "each volume has its own queue in the host and in the array; few volumes can limit the rate",
    "use eight or more volumes of an array, and measure with all of them",
);
const SHALLOW: FindingRule = FindingRule::new(
    "device_queue_depth",
    Notice,
    "the driver sends at most this many commands to the device at a time; more of them wait in the \
     host, and this wait looks like device latency",
    "raise /sys/block/DEVICE/device/queue_depth, or the queue depth of the driver",
);
const OWNER: FindingRule = FindingRule::new(
    "device_owner",
    Notice,
    "the device node belongs to root; a database under its own account cannot open it, and chown \
     is lost at the next start",
    "set OWNER, GROUP and MODE in a udev rule",
);

pub(super) const RULES: &[&FindingRule] = &[&UNEQUAL, &FEW, &SHALLOW, &OWNER];

const VOLUMES_MIN: usize = 8;
/// What every SATA disk has: NCQ holds 32 commands, of which older kernels use 31, and none takes
/// more.
const DEPTH_MIN: u64 = 31;
const ROOT: u32 = 0;

pub(super) fn find(environment: &Environment, findings: &mut Vec<Finding>) {
    let volumes = volumes(environment);
    findings.extend(unequal(&volumes));
    if !environment.host.iscsi_sessions.is_empty() && (1..VOLUMES_MIN).contains(&volumes.len()) {
        findings.push(FEW.found("volumes in use", format!("{} volumes", volumes.len())));
    }
    findings.extend(volumes.values().filter_map(|layer| shallow(layer)));
    findings.extend(environment.storage.iter().filter_map(owner));
}

/// Every volume under the targets once: what the array presents, not its paths.
fn volumes(environment: &Environment) -> BTreeMap<&str, &BlockLayer> {
    let layers = || environment.storage.iter().flat_map(|storage| &storage.stack.layers);
    let is_path = |layer: &BlockLayer| {
        let mut multipaths = layers().filter(|other| other.kind == LayerKind::Multipath);
        multipaths.any(|multipath| multipath.lower.contains(&layer.name))
    };
    let is_volume = |layer: &&BlockLayer| {
        layer.kind == LayerKind::Multipath || (layer.lower.is_empty() && !is_path(layer))
    };
    layers().filter(is_volume).map(|layer| (layer.name.as_str(), layer)).collect()
}

fn unequal(volumes: &BTreeMap<&str, &BlockLayer>) -> Option<Finding> {
    let sizes = || volumes.values().map(|layer| layer.size_bytes).filter(|bytes| *bytes > 0);
    let (least, most) = (sizes().min()?, sizes().max()?);
    let value = format!(
        "{} to {} over {} volumes",
        show_bytes(real(least)),
        show_bytes(real(most)),
        count_of(volumes.len())
    );
    (least < most).then(|| UNEQUAL.found("sizes of volumes", value))
}

fn shallow(layer: &BlockLayer) -> Option<Finding> {
    let depth = layer.queue.as_ref()?.device_depth.filter(|depth| *depth < DEPTH_MIN)?;
    let what = format!("{}: queue depth of the device", layer.name);
    let found = SHALLOW.found(what, format!("{depth} commands"));
    Some(Finding { remedy: found.remedy.replace("DEVICE", &layer.name), ..found })
}

fn owner(storage: &Storage) -> Option<Finding> {
    let owner = storage.owner.filter(|owner| owner.user_id == ROOT)?;
    let value = format!("user {}, group {}, mode {:o}", owner.user_id, owner.group_id, owner.mode);
    Some(OWNER.found(format!("{}: owner", storage.stack.path), value))
}
