//! What the option `--hosts` means to the verbs that measure.

use crate::options::TargetOptions;
use assay_app::cluster::{HostNames, HostsPlan};
use assay_cluster::division::Outstanding;

/// The plan of hosts that measure on targets.
pub fn hosts_plan(
    hosts: &HostNames,
    target: &TargetOptions,
    outstanding: Outstanding,
) -> HostsPlan {
    // Of this machine it was asked already.
    let in_use = target.start.yes || matches!(hosts, HostNames::Local(_));
    HostsPlan { hosts: hosts.clone(), outstanding, in_use }
}
