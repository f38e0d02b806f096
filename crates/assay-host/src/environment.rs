//! Captures what a result depends on outside the workload: the computer, the storage under each
//! target, what is wrong.

mod computer;
mod control_groups;
mod memory;
mod network;
mod permissions;

use crate::clock::unix_ns;
use crate::findings::derive_findings;
use crate::gate::capacity_and_free;
use crate::root::{Survey, SysRoot};
use crate::stack::read_stack;
use assay_model::Result;
use assay_model::environment::{DeviceOwner, Environment, Host, Space, Storage};
use assay_model::target::TargetFacts;
use rustix::fs::{stat, statvfs};
use std::path::Path;

/// Read, write and execute of owner, group and others.
const PERMISSION_BITS: u32 = 0o777;

/// Everything about the computer; what cannot be read is noted in the survey.
pub fn read_host(survey: &Survey) -> Host {
    Host {
        name: computer::fact(survey, "/proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: computer::fact(survey, "/proc/sys/kernel/osrelease").unwrap_or_default(),
        architecture: std::env::consts::ARCH.to_owned(),
        distribution: computer::distribution(survey),
        virtualisation: computer::virtualisation(survey),
        cpu: computer::cpu(survey),
        memory: memory::memory(survey),
        numa_nodes: memory::numa_nodes(survey),
        clock_source: computer::clock_source(survey),
        permissions: permissions::permissions(survey),
        network_ports: network::network_ports(survey),
        iscsi_sessions: network::iscsi_sessions(survey),
        io_limits: control_groups::io_limits(survey),
        cpu_limit: control_groups::cpu_limit(survey),
    }
}

/// The storage under a path of the running system: a file, a directory or a device.
///
/// # Errors
/// An environment error when the path does not exist or may not be looked at.
pub fn read_storage(survey: &Survey, path: &Path) -> Result<Storage> {
    let stack = read_stack(survey, path)?;
    let space = stack.mount.as_ref().and_then(|_| read_space(path));
    let owner = stack.mount.is_none().then(|| device_owner(path)).flatten();
    Ok(Storage { stack, space, owner, target: None })
}

fn device_owner(path: &Path) -> Option<DeviceOwner> {
    let status = stat(path).ok()?;
    let mode = status.st_mode & PERMISSION_BITS;
    Some(DeviceOwner { user_id: status.st_uid, group_id: status.st_gid, mode })
}

/// Size and free space of the file system that a path lies on; `None` where it cannot be asked.
pub fn read_space(path: &Path) -> Option<Space> {
    let (capacity_bytes, free_bytes) = capacity_and_free(&statvfs(path).ok()?);
    Some(Space { capacity_bytes, free_bytes })
}

/// Captures the environment document of some paths. `targets` holds what is known of those that
/// were opened, by path; see [`crate::content::read_target_facts`].
///
/// # Errors
/// An environment error when a path does not exist or may not be looked at.
pub fn capture_environment(
    root: &SysRoot,
    paths: &[&Path],
    targets: &[TargetFacts],
) -> Result<Environment> {
    let survey = Survey::new(root);
    let host = read_host(&survey);
    let mut storage = Vec::with_capacity(paths.len());
    for path in paths {
        let mut found = read_storage(&survey, path)?;
        let shown = path.display().to_string();
        found.target = targets.iter().find(|target| target.path == shown).cloned();
        storage.push(found);
    }
    let mut environment = Environment {
        format: Environment::FORMAT,
        captured_unix_ns: unix_ns(),
        host,
        storage,
        findings: Vec::new(),
        unreadable: survey.unreadable(),
    };
    environment.findings = derive_findings(&environment);
    Ok(environment)
}

#[cfg(test)]
mod tests;
