//! Judges what was read of host and storage: what costs speed, distorts a measurement or endangers
//! data, why, and what to do. A fact that could not be read leads to no finding; the environment
//! lists it as unreadable.

mod cloud;
mod content;
mod device;
mod file_system;
mod flushes;
mod host;
mod network;
mod rule;
mod volumes;

pub use rule::FindingRule;

use assay_model::environment::{Environment, Finding};

/// All rules, for manuals and tests.
pub fn rules() -> impl Iterator<Item = &'static FindingRule> {
    let of_storage =
        [device::RULES, cloud::RULES, file_system::RULES, flushes::RULES, volumes::RULES];
    let others = [network::RULES, host::RULES, content::RULES];
    of_storage.into_iter().chain(others).flatten().copied()
}

/// Everything that the rules find in a captured environment, the gravest first. The document alone
/// decides, so that it can be judged on another computer.
pub fn derive_findings(environment: &Environment) -> Vec<Finding> {
    let mut findings = Vec::new();
    for storage in &environment.storage {
        device::find(environment, storage, &mut findings);
        cloud::find(environment, storage, &mut findings);
        file_system::find(storage, &mut findings);
        flushes::find(environment, storage, &mut findings);
        content::find(storage, &mut findings);
    }
    volumes::find(environment, &mut findings);
    network::find(environment, &mut findings);
    host::find(environment, &mut findings);
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !kept.contains(&finding) {
            kept.push(finding);
        }
    }
    kept.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    kept
}

#[cfg(test)]
mod tests;
