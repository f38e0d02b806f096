//! Who is there: what the hosts of a cluster say of themselves before anything is measured on them;
//! nothing is touched.

use super::driver::Driver;
use super::hosts::HostNames;
use crate::context::Context;
use assay_cluster::findings::clock_at;
use assay_engine::monotonic_ns;
use assay_model::Result;
use assay_model::cluster::{ClusterSurvey, HostSurvey, SharedDevice};
use assay_model::environment::Environment;
use assay_model::stack::BlockLayer;
use std::collections::BTreeMap;

/// Asks every host who it is and what is below the targets on it.
///
/// # Errors
/// That a host is not there, is of another version, or that a target is not on it.
pub fn cluster_survey(
    names: &HostNames,
    targets: &[String],
    context: &Context,
) -> Result<ClusterSurvey> {
    names.check_paths(targets)?;
    let mut driver = Driver::open(names, context)?;
    let environments = driver.survey(targets)?;
    driver.ask_clocks()?;
    let now_ns = monotonic_ns();
    let each = driver.hosts.iter().zip(environments);
    let hosts: Vec<HostSurvey> = each
        .map(|(host, environment)| HostSurvey {
            name: host.name.clone(),
            clock: clock_at(&host.clock, now_ns),
            environment,
        })
        .collect();
    let (shared, differences) = (shared_devices(&hosts), differences(&hosts));
    Ok(ClusterSurvey { format: 1, hosts, shared, differences })
}

/// Devices that several hosts have, by serial number or world-wide name, each with the hosts that
/// have it.
fn shared_devices(nodes: &[HostSurvey]) -> Vec<SharedDevice> {
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        for identity in
            node.environment.storage.iter().flat_map(|one| &one.stack.layers).filter_map(identity)
        {
            let hosts = owners.entry(identity).or_default();
            if !hosts.contains(&node.name.as_str()) {
                hosts.push(&node.name);
            }
        }
    }
    let shared = owners.into_iter().filter(|(_, hosts)| hosts.len() > 1);
    let owned = |hosts: Vec<&str>| hosts.into_iter().map(str::to_owned).collect();
    let device = |(device, hosts): (&str, Vec<&str>)| SharedDevice {
        device: device.to_owned(),
        hosts: owned(hosts),
    };
    shared.map(device).collect()
}

/// What names a device so that no other is meant, on whatever host.
fn identity(layer: &BlockLayer) -> Option<&str> {
    layer.world_wide_name.as_deref().or(layer.serial.as_deref())
}

/// What is not the same on all hosts, each with who has what.
fn differences(nodes: &[HostSurvey]) -> Vec<String> {
    type Fact = fn(&Environment) -> String;
    let facts: [(&str, Fact); 5] = [
        ("kernel", |one| one.host.kernel.clone()),
        ("CPU model", |one| one.host.cpu.model.clone().unwrap_or_default()),
        ("CPUs", |one| one.host.cpu.logical.to_string()),
        ("clock source", |one| one.host.clock_source.clone().unwrap_or_default()),
        ("I/O scheduler", schedulers),
    ];
    let differing = |(name, of): &(&str, Fact)| {
        let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for node in nodes {
            found.entry(of(&node.environment)).or_default().push(&node.name);
        }
        let words = || found.iter().map(|(value, hosts)| format!("{value} ({})", hosts.join(", ")));
        (found.len() > 1).then(|| format!("{name}: {}", words().collect::<Vec<_>>().join("; ")))
    };
    facts.iter().filter_map(differing).collect()
}

fn schedulers(environment: &Environment) -> String {
    let layers = environment.storage.iter().flat_map(|one| &one.stack.layers);
    let each = layers.filter_map(|layer| layer.queue.as_ref()?.scheduler.clone());
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::cluster::HostClock;
    use assay_model::environment::{Host, Storage};
    use assay_model::stack::BlockStack;

    fn node(name: &str, kernel: &str, serial: Option<&str>) -> HostSurvey {
        let layer = BlockLayer { serial: serial.map(str::to_owned), ..BlockLayer::default() };
        let stack = BlockStack { layers: vec![layer], ..BlockStack::default() };
        let host = Host { kernel: kernel.to_owned(), ..Host::default() };
        let environment = Environment {
            format: 1,
            captured_unix_ns: 0,
            host,
            storage: vec![Storage { stack, ..Storage::default() }],
            findings: Vec::new(),
            unreadable: Vec::new(),
        };
        HostSurvey { name: name.to_owned(), clock: HostClock::default(), environment }
    }

    #[test]
    fn a_device_of_several_hosts_and_what_differs_are_named() {
        let nodes =
            [node("hA", "6.1", Some("K7")), node("hB", "6.1", Some("K7")), node("hC", "6.8", None)];
        let shared = shared_devices(&nodes);
        let hosts = vec!["hA".to_owned(), "hB".to_owned()];
        assert_eq!(shared, [SharedDevice { device: "K7".to_owned(), hosts }]);
        assert_eq!(differences(&nodes), ["kernel: 6.1 (hA, hB); 6.8 (hC)"]);
        assert!(shared_devices(&nodes[1..]).is_empty() && differences(&nodes[..2]).is_empty());
    }
}
