//! What the option `--hosts` means to the verbs that measure.

use crate::options::TargetOptions;
use assay_app::cluster::{HostNames, HostsPlan};
use assay_app::target_plan::TargetPlan;
use assay_cluster::division::Outstanding;
use clap::Args;

/// Hosts that carry out a workload together.
#[derive(Args)]
pub struct HostsOptions {
    /// Hosts that run it together, each on the targets as it sees them: local:N (processes here), ssh:A,B, or names in a Ray
    /// cluster: A,B
    #[arg(long, value_name = "HOSTS", conflicts_with = "verify")]
    hosts: Option<HostNames>,
    /// Divide the outstanding I/Os of the workload among the hosts instead of giving them to each
    #[arg(long, requires = "hosts")]
    total: bool,
}

impl HostsOptions {
    /// The plan of the hosts, where there are any.
    pub fn plan(&self, target: &TargetOptions) -> Option<HostsPlan> {
        let outstanding = if self.total { Outstanding::Total } else { Outstanding::PerHost };
        self.hosts.as_ref().map(|hosts| hosts_plan(hosts, target, outstanding))
    }

    /// The plan of the targets, which may be those of other machines.
    pub fn target(&self, target: &TargetOptions) -> TargetPlan {
        target_plan(target, self.hosts.as_ref())
    }
}

/// The plan of targets of this machine, or of these hosts.
pub fn target_plan(target: &TargetOptions, hosts: Option<&HostNames>) -> TargetPlan {
    let are_elsewhere = hosts.is_some_and(HostNames::are_elsewhere);
    TargetPlan { are_elsewhere, ..target.plan.clone() }
}

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
