//! Loads on real databases, from a plan to a run of the store: all of them, whichever it is.

pub mod bounds;
pub mod brokerage;
pub mod call_mode;
mod databases_check;
pub mod dss;
pub mod kind;
mod ladder_database;
pub mod ladder_run;
pub mod load_driver;
pub mod load_member;
pub mod load_options;
pub mod oltp;
pub mod parameters;
pub mod partial_data;
pub mod prepared_server;
pub mod search;
pub mod server_plan;
pub mod settings_table;
pub mod slob;
pub mod transactions;

use crate::dry_run::{PlanSummary, TargetSummary};
use assay_model::number::real;
use assay_model::units::show_bytes;
use assay_model::{Error, Result};
use clap::Subcommand;
use kind::PlannedLoad;
use serde::{Deserialize, Serialize};
use std::path::Path;
use transactions::{CommitPlan, CommitStep};

/// A load as it is planned: by its command, by a cell of a study, or by another program.
#[derive(Clone, Debug, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadPlan {
    /// Trades of a brokerage.
    Brokerage(brokerage::BrokeragePlan),
    /// Queries of decision support.
    Dss(dss::DssPlan),
    /// Order entry.
    Oltp(oltp::OltpPlan),
    /// Random blocks.
    Slob(slob::SlobPlan),
}

/// The plan inside, whichever it is.
macro_rules! inner {
    ($plan:expr) => {
        match $plan {
            Self::Brokerage(plan) => plan,
            Self::Dss(plan) => plan,
            Self::Oltp(plan) => plan,
            Self::Slob(plan) => plan,
        }
    };
}

impl LoadPlan {
    /// Every kind of load as it is planned where nobody says anything.
    pub fn all() -> [Self; 4] {
        [
            Self::Brokerage(brokerage::BrokeragePlan::default()),
            Self::Dss(dss::DssPlan::default()),
            Self::Oltp(oltp::OltpPlan::default()),
            Self::Slob(slob::SlobPlan::default()),
        ]
    }

    /// What it says of itself.
    pub fn load(&self) -> &dyn PlannedLoad {
        inner!(self)
    }

    /// The same, to be changed.
    pub fn load_mut(&mut self) -> &mut dyn PlannedLoad {
        inner!(self)
    }

    /// All directories and addresses that it is on.
    pub fn targets(&self) -> Vec<String> {
        let mut plan = self.clone();
        let parts = plan.load_mut().parts();
        let others = parts.other_targets.map(|others| others.as_slice()).unwrap_or_default();
        std::iter::once(&*parts.target).chain(others).cloned().collect()
    }

    /// Keeps acknowledged transactions in a ledger, or judges by it, where the load has any. A
    /// control is for what writes, and not for the recovery that is judged.
    pub fn set_ledger(&mut self, ledger: Option<CommitPlan>) {
        let parts = self.load_mut().parts();
        let Some(kept) = parts.ledger else { return };
        let writes = ledger.as_ref().filter(|ledger| ledger.step != CommitStep::Judge);
        parts.server.without = writes.and_then(|ledger| ledger.control);
        *kept = ledger;
    }
}

impl LoadPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        let load = self.load();
        load.check()?;
        let [what, time] = load.summary();
        let data = show_bytes(real(load.data_bytes()?));
        let mut targets = Vec::new();
        let mut server = None;
        for target in self.targets() {
            let is_directory = Path::new(&target).is_dir();
            if !is_directory && !target.contains("://") {
                return Err(Error::usage(
                    format!("there is no directory {target}"),
                    "specify a directory on the storage, or the address of a server",
                ));
            }
            let (what, on) = if is_directory {
                (
                    format!("about {data} of data and the log"),
                    "a new one in that directory, removed at the end unless --keep is given",
                )
            } else {
                (format!("about {data} of data in a separate schema"), "that of the address")
            };
            server.get_or_insert(on);
            targets.push(TargetSummary { target: assay_dbserver::redacted(&target), what });
        }
        Ok(PlanSummary {
            format: 1,
            title: format!("bench {}", load.kind().name()),
            load: what,
            time,
            targets,
            server: server.map(str::to_owned),
        })
    }
}
