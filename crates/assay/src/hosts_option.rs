//! What the option `--hosts` means to the verbs that measure.

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
    pub fn plan(&self) -> Option<HostsPlan> {
        let outstanding = if self.total { Outstanding::Total } else { Outstanding::PerHost };
        self.hosts.clone().map(|hosts| HostsPlan { hosts, outstanding })
    }

    /// The plan of the targets, which may be those of other machines.
    pub fn target(&self, target: &TargetPlan) -> TargetPlan {
        target.seen_by(self.hosts.as_ref())
    }
}
