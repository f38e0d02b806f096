//! Who is there: what the hosts of a cluster say of themselves before anything is measured on them; nothing is touched.

use super::driver::Driver;
use super::hosts::HostNames;
use super::open_hosts::token;
use crate::context::Context;
use assay_cluster::clock::Offset;
use assay_engine::monotonic_ns;
use assay_model::Result;
use assay_model::environment::Environment;
use assay_model::stack::BlockLayer;
use std::collections::BTreeMap;

/// What is known of a host that is there.
#[derive(Clone, Debug)]
pub struct ClusterNode {
    /// As it was named.
    pub name: String,
    /// The host as it describes itself, and what is below the targets on it.
    pub environment: Environment,
    /// How far its monotonic clock is ahead, ns, and what that may be off by.
    pub offset: Offset,
    /// The shortest way there and back, ns.
    pub round_trip_ns: u64,
}

/// Asks every host who it is and what is below the targets on it.
///
/// # Errors
/// That a host is not there, is of another version, or that a target is not on it.
pub fn cluster_nodes(
    names: &HostNames,
    targets: &[String],
    context: &Context,
) -> Result<Vec<ClusterNode>> {
    let token = token()?;
    let program = (context.guards.node.as_slice(), token.as_str());
    let mut driver = Driver::open(names, program, &context.stop, &context.progress)?;
    let environments = driver.survey(targets)?;
    driver.ask_clocks()?;
    let now_ns = monotonic_ns();
    let hosts = driver.hosts.iter().zip(environments);
    let node =
        |(host, environment): (&assay_cluster::findings::HostRecord, Environment)| ClusterNode {
            name: host.name.clone(),
            environment,
            offset: host.clock.offset_at(now_ns).unwrap_or_default(),
            round_trip_ns: host.clock.round_trip_min_ns().unwrap_or(0),
        };
    Ok(hosts.map(node).collect())
}

/// Devices that several hosts have, by serial number or world-wide name, each with the hosts that have it.
pub fn shared_devices(nodes: &[ClusterNode]) -> Vec<(String, Vec<String>)> {
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
    shared.map(|(device, hosts)| (device.to_owned(), owned(hosts))).collect()
}

/// What names a device so that no other is meant, on whatever host.
fn identity(layer: &BlockLayer) -> Option<&str> {
    layer.world_wide_name.as_deref().or(layer.serial.as_deref())
}

/// What is not the same on all hosts, each with who has what.
pub fn differences(nodes: &[ClusterNode]) -> Vec<String> {
    type Fact = fn(&Environment) -> String;
    let facts: [(&str, Fact); 5] = [
        ("kernel", |one| one.host.kernel.clone()),
        ("processor", |one| one.host.cpu.model.clone().unwrap_or_default()),
        ("processors", |one| one.host.cpu.logical.to_string()),
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
    use assay_model::environment::{Host, Storage};
    use assay_model::stack::BlockStack;

    fn node(name: &str, kernel: &str, serial: Option<&str>) -> ClusterNode {
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
        let offset = Offset::default();
        ClusterNode { name: name.to_owned(), environment, offset, round_trip_ns: 0 }
    }

    #[test]
    fn a_device_of_several_hosts_and_what_differs_are_named() {
        let nodes =
            [node("hA", "6.1", Some("K7")), node("hB", "6.1", Some("K7")), node("hC", "6.8", None)];
        let shared = shared_devices(&nodes);
        assert_eq!(shared, [("K7".to_owned(), vec!["hA".to_owned(), "hB".to_owned()])]);
        assert_eq!(differences(&nodes), ["kernel: 6.1 (hA, hB); 6.8 (hC)"]);
        assert!(shared_devices(&nodes[1..]).is_empty() && differences(&nodes[..2]).is_empty());
    }
}
