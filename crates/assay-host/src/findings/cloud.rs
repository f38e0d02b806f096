//! Volumes of clouds, by what the hypervisor calls the device, with the limits that are documented
//! for their size and machine.
//!
//! Models as the udev rules of the providers match them: Amazon's `70-ec2-nvme-devices`,
//! Microsoft's `azure-vm-utils`, Google's `65-gce-disk-naming`.

use super::rule::FindingRule;
use assay_catalog::CatalogIndex;
use assay_model::catalog::{Offer, Volume};
use assay_model::environment::Severity::{Notice, Warning};
use assay_model::environment::{Environment, Finding, Storage};
use assay_model::number::real;
use assay_model::stack::BlockLayer;
use assay_model::units::{Bytes, show_bytes, show_count, show_throughput};

const NETWORK_VOLUME: FindingRule = FindingRule::new(
    "network_volume",
    Notice,
    "a network volume: both the volume and the instance limit IOPS and throughput, often with \
     burst credits",
    "compare results with both limits, and run long enough to use up the credits",
);
const LOCAL_DRIVE: FindingRule = FindingRule::new(
    "instance_drive",
    Warning,
    "the drive is local to the instance's host: its content is lost when the instance is stopped \
     or moved",
    "use it only for data that can be rebuilt, such as temporary files and caches",
);

pub(super) const RULES: &[&FindingRule] = &[&NETWORK_VOLUME, &LOCAL_DRIVE];

/// What a model says.
#[derive(Clone, Copy)]
struct KnownModel {
    /// A part of the model, or all of it.
    model: &'static str,
    is_whole: bool,
    /// What it is for people.
    name: &'static str,
    /// The provider in catalogs.
    provider: &'static str,
    is_local: bool,
}

const fn network(model: &'static str, name: &'static str, provider: &'static str) -> KnownModel {
    KnownModel { model, is_whole: false, name, provider, is_local: false }
}

const fn local(model: &'static str, name: &'static str) -> KnownModel {
    KnownModel { model, is_whole: false, name, provider: "", is_local: true }
}

const KNOWN: [KnownModel; 10] = [
    network("Amazon Elastic Block Store", "an EBS volume", "aws"),
    local("Amazon EC2 NVMe Instance Storage", "an instance store of Amazon EC2"),
    network("PersistentDisk", "a persistent disk of Google Cloud", "google"),
    local("EphemeralDisk", "a local SSD of Google Cloud"),
    network("nvme_card-pd", "a persistent disk or Hyperdisk of Google Cloud", "google"),
    KnownModel { is_whole: true, ..local("nvme_card", "a local SSD of Google Cloud") },
    network("MSFT NVMe Accelerator", "a managed disk of Azure", "azure"),
    local("Microsoft NVMe Direct Disk", "a local drive of Azure"),
    network("Virtual Disk", "a disk of Hyper-V", ""),
    network("Virtual_Disk", "a disk of Hyper-V", ""),
];

/// Finds volumes of clouds and drives of instances.
pub(super) fn find(environment: &Environment, storage: &Storage, findings: &mut Vec<Finding>) {
    let machine = environment.host.virtualisation.as_deref().unwrap_or("");
    findings.extend(storage.stack.layers.iter().filter_map(|layer| of_layer(layer, machine)));
}

fn of_layer(layer: &BlockLayer, machine: &str) -> Option<Finding> {
    let model = layer.model.as_deref()?;
    let known = *KNOWN.iter().find(|known| {
        if known.is_whole { model.trim() == known.model } else { model.contains(known.model) }
    })?;
    let known = on_azure(known, machine);
    let what = format!("{}: model", layer.name);
    if known.is_local {
        return Some(LOCAL_DRIVE.found(what, format!("{model}, {}", known.name)));
    }
    let serial = layer.serial.as_ref().filter(|_| known.provider == "aws");
    let serial = serial.map_or_else(String::new, |serial| format!(" ({serial})"));
    let limits = limits(known.provider, layer.size_bytes, machine);
    Some(NETWORK_VOLUME.found(what, format!("{model}, {}{serial}{limits}", known.name)))
}

/// A disk of Hyper-V is Azure's where the firmware says so.
fn on_azure(known: KnownModel, machine: &str) -> KnownModel {
    if known.provider.is_empty() && !known.is_local && machine.contains("Azure") {
        return KnownModel {
            name: "a managed or temporary disk of Azure",
            provider: "azure",
            ..known
        };
    }
    known
}

/// The documented limits of all volumes that it can be, and those of the machine where it is known.
fn limits(provider: &str, size_bytes: u64, machine: &str) -> String {
    // The program's own catalogs were checked when it was built.
    let Ok(index) = CatalogIndex::built_in() else {
        return String::new();
    };
    let volumes = index.listings().iter().filter_map(|listing| match listing.entry.offer() {
        Some(Offer::Volume(volume)) if volume.provider == provider => {
            of_volume(&listing.entry.name, volume, Bytes(size_bytes))
        }
        _ => None,
    });
    let volumes: Vec<String> = volumes.collect();
    if volumes.is_empty() {
        return String::new();
    }
    let machine = machine.split_whitespace().find_map(|word| of_machine(&index, word));
    let machine = machine.map_or_else(String::new, |machine| format!("; {machine}"));
    format!(
        "; the hypervisor does not name its type; {} of {}{machine}",
        volumes.join(", or "),
        show_bytes(real(size_bytes))
    )
}

/// `gp2: 300 IOPS, 3,000 in bursts, 134 MB/s`; nothing where there is no such size.
fn of_volume(name: &str, volume: &Volume, size: Bytes) -> Option<String> {
    if size < volume.size.min || size > volume.size.max {
        return None;
    }
    let order = volume.of_size(size);
    let most = volume.iops.most(size);
    let ordered = if volume.iops.provisioned && most > order.iops.0 {
        format!(" to {}", show_count(most))
    } else {
        String::new()
    };
    let burst = volume.burst.filter(|burst| burst.rate.0 > order.iops.0);
    let burst =
        burst.map_or_else(String::new, |burst| format!(", {} in bursts", show_count(burst.rate.0)));
    let bytes_per_s = show_throughput(volume.throughput.most(most));
    Some(format!("{name}: {}{ordered} IOPS{burst}, {bytes_per_s}", show_count(order.iops.0)))
}

fn of_machine(index: &CatalogIndex, name: &str) -> Option<String> {
    let Some(Offer::Instance(machine)) = index.get(name)?.entry.offer() else {
        return None;
    };
    let bytes_per_s = show_throughput(real(machine.throughput_per_s.0));
    Some(format!(
        "the machine type {name} allows {} IOPS and {bytes_per_s}",
        show_count(machine.iops.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::read_host;
    use crate::root::{Survey, SysRoot};
    use crate::stack::read_device_stack;
    use crate::testing::FakeSystem;

    /// Sectors of 100 GiB.
    const SECTORS: u64 = 100 << 21;

    fn system(name: &str, model: &str, vendor: &str, product: &str) -> FakeSystem {
        FakeSystem::new(name)
            .file("proc/cpuinfo", "processor : 0\nflags : hypervisor\n")
            .file("sys/class/dmi/id/sys_vendor", vendor)
            .file("sys/class/dmi/id/product_name", product)
            .disk("nvme1n1", "259:1", SECTORS)
            .attribute("nvme1n1", "device/model", model)
            .attribute("nvme1n1", "device/serial", "vol0123456789abcdef")
    }

    fn found(system: &FakeSystem) -> Vec<(String, String)> {
        let root = SysRoot::under(system.path());
        let survey = Survey::new(&root);
        let stack = read_device_stack(&survey, "259:1".parse().unwrap());
        let environment = Environment {
            format: Environment::FORMAT,
            captured_unix_ns: 0,
            host: read_host(&survey),
            storage: Vec::new(),
            findings: Vec::new(),
            unreadable: Vec::new(),
        };
        let mut findings = Vec::new();
        find(&environment, &Storage { stack, ..Storage::default() }, &mut findings);
        findings.into_iter().map(|finding| (finding.rule, finding.value)).collect()
    }

    #[test]
    fn an_ebs_volume_has_the_limits_of_its_size_and_machine() {
        let system = system("ebs", "Amazon Elastic Block Store", "Amazon EC2", "r6a.2xlarge");
        let found = found(&system);
        let [(rule, value)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(rule, "network_volume");
        for expected in [
            "an EBS volume (vol0123456789abcdef)",
            "the hypervisor does not name its type",
            "gp2: 300 IOPS, 3,000 in bursts, 134 MB/s",
            "gp3: 3,000 to 50,000 IOPS, 2.10 GB/s",
            "io2: 100 to 100,000 IOPS",
            "r6a.2xlarge allows 12,000 IOPS and 312 MB/s",
        ] {
            assert!(value.contains(expected), "{expected}: {value}");
        }
    }

    #[test]
    fn disks_of_azure_and_google_are_named() {
        let azure = system("azure", "Virtual Disk", "Microsoft Corporation", "Virtual Machine")
            .file("sys/class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77");
        let value = &found(&azure)[0].1;
        assert!(
            value.contains("disk of Azure") && value.contains("premium-ssd-v2: 3,000"),
            "{value}"
        );
        let here = system("hyper-v", "Virtual Disk", "Microsoft Corporation", "Virtual Machine");
        assert_eq!(found(&here)[0].1, "Virtual Disk, a disk of Hyper-V");
        let google = system("google", "nvme_card-pd", "Google", "Google Compute Engine");
        let value = &found(&google)[0].1;
        assert!(value.contains("hyperdisk-balanced: 3,000 to 50,000 IOPS"), "{value}");
    }

    #[test]
    fn drives_of_the_machine_lose_their_content() {
        for (name, model) in [
            ("store", "Amazon EC2 NVMe Instance Storage"),
            ("card", "nvme_card"),
            ("direct", "Microsoft NVMe Direct Disk v2"),
        ] {
            let found = found(&system(name, model, "x", "y"));
            assert_eq!(found[0].0, "instance_drive", "{model}");
        }
        assert!(found(&system("own", "Samsung SSD 990", "Dell Inc.", "R750")).is_empty());
    }
}
