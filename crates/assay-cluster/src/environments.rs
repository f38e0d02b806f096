//! What several hosts say of themselves as one document: what all of them say once, everything else
//! with who says it.

use assay_model::environment::{Environment, Finding, Storage, Unreadable};
use assay_model::stack::BlockLayer;

/// A host's name and what it says of itself.
pub type HostEnvironment = (String, Environment);

/// The hosts as one: the first one's facts, the storage of all where it differs, and the findings
/// of all.
pub fn together(hosts: &[HostEnvironment]) -> Option<Environment> {
    let (_, first) = hosts.first()?;
    let is_one = hosts.iter().all(|(_, host)| is_same_storage(&host.storage, &first.storage));
    let storage = if is_one { first.storage.clone() } else { storage_of_each(hosts) };
    Some(Environment { storage, ..with_findings(first, hosts) })
}

/// The same with the storage of each host apart, its devices named after the host.
pub fn apart(hosts: &[HostEnvironment]) -> Option<Environment> {
    let (_, first) = hosts.first()?;
    Some(Environment { storage: storage_of_each(hosts), ..with_findings(first, hosts) })
}

/// A device, an interface or a path of a host, as it is called where there are several.
pub fn of_host(host: &str, name: &str) -> String {
    format!("{host}:{name}")
}

/// Free space changes while hosts are asked one after the other.
fn is_same_storage(one: &[Storage], other: &[Storage]) -> bool {
    let mut both = one.iter().zip(other);
    one.len() == other.len() && both.all(|(one, other)| one.stack == other.stack)
}

fn storage_of_each(hosts: &[HostEnvironment]) -> Vec<Storage> {
    let of = |(name, host): &HostEnvironment| -> Vec<Storage> {
        host.storage.iter().map(|storage| storage_of(name, storage)).collect()
    };
    hosts.iter().flat_map(of).collect()
}

fn storage_of(host: &str, storage: &Storage) -> Storage {
    let mut storage = storage.clone();
    let stack = &mut storage.stack;
    stack.path = of_host(host, &stack.path);
    for layer in &mut stack.layers {
        let lower = layer.lower.iter().map(|name| of_host(host, name)).collect();
        *layer = BlockLayer { name: of_host(host, &layer.name), lower, ..layer.clone() };
    }
    storage
}

fn with_findings(first: &Environment, hosts: &[HostEnvironment]) -> Environment {
    let findings = said_by(hosts, |host| &host.findings, |finding| &mut finding.what);
    let unreadable = said_by(hosts, |host| &host.unreadable, |missing| &mut missing.what);
    let mut all = Environment { findings, unreadable, ..first.clone() };
    all.findings.sort_by_key(|finding: &Finding| std::cmp::Reverse(finding.severity));
    all.unreadable.sort_by(Unreadable::cmp);
    all
}

/// What all hosts say once, and the rest with the names of who says it in front.
fn said_by<T: Clone + PartialEq>(
    hosts: &[HostEnvironment],
    of: fn(&Environment) -> &Vec<T>,
    what: fn(&mut T) -> &mut String,
) -> Vec<T> {
    let mut said: Vec<(T, Vec<&str>)> = Vec::new();
    for (name, host) in hosts {
        for one in of(host) {
            match said.iter_mut().find(|(known, _)| known == one) {
                Some((_, names)) if names.contains(&name.as_str()) => {}
                Some((_, names)) => names.push(name),
                None => said.push((one.clone(), vec![name])),
            }
        }
    }
    let named = |(mut one, names): (T, Vec<&str>)| {
        if names.len() < hosts.len() {
            let words = what(&mut one);
            *words = format!("{}: {words}", names.join(", "));
        }
        one
    };
    said.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::environment::{Host, Severity};
    use assay_model::stack::BlockStack;

    fn finding(what: &str, severity: Severity) -> Finding {
        Finding {
            severity,
            rule: "rule".to_owned(),
            what: what.to_owned(),
            value: String::new(),
            why: String::new(),
            remedy: String::new(),
        }
    }

    fn host(device: &str, findings: Vec<Finding>) -> Environment {
        let layer = |name: &str, lower: &[&str]| BlockLayer {
            name: name.to_owned(),
            lower: lower.iter().map(|name| (*name).to_owned()).collect(),
            ..BlockLayer::default()
        };
        let stack = BlockStack {
            path: "/data".to_owned(),
            layers: vec![layer("dm-0", &[device]), layer(device, &[])],
            ..BlockStack::default()
        };
        Environment {
            format: 1,
            captured_unix_ns: 0,
            host: Host::default(),
            storage: vec![Storage { stack, ..Storage::default() }],
            findings,
            unreadable: Vec::new(),
        }
    }

    #[test]
    fn what_all_say_is_said_once_and_the_rest_with_its_hosts() {
        let common = finding("swap", Severity::Notice);
        let own = finding("sdb: scheduler", Severity::Critical);
        let hosts = [
            ("hA".to_owned(), host("sda", vec![common.clone()])),
            ("hB".to_owned(), host("sdb", vec![own, common])),
        ];
        let all = together(&hosts).unwrap();
        let said: Vec<&str> = all.findings.iter().map(|one| one.what.as_str()).collect();
        assert_eq!(said, ["hB: sdb: scheduler", "swap"]);
        let paths: Vec<&str> =
            all.storage.iter().map(|storage| storage.stack.path.as_str()).collect();
        assert_eq!(paths, ["hA:/data", "hB:/data"]);
        let layers = &all.storage[1].stack.layers;
        assert_eq!((layers[0].name.as_str(), layers[0].lower[0].as_str()), ("hB:dm-0", "hB:sdb"));
    }

    #[test]
    fn storage_that_is_the_same_everywhere_is_there_once_unless_it_is_asked_for_apart() {
        let hosts = ["hA", "hB"].map(|name| (name.to_owned(), host("sda", Vec::new())));
        assert_eq!(together(&hosts).unwrap().storage, hosts[0].1.storage);
        assert_eq!(apart(&hosts).unwrap().storage.len(), 2);
        assert_eq!(together(&[]), None);
    }
}
