//! The load of order entry, in the manner of TPC-C: its plan, and what it says of itself.

use super::bounds::{PARTITIONS, within};
use super::call_mode::CallMode;
use super::kind::{DataShape, LoadParts, PlannedLoad};
use super::load_member::LoadMember;
use super::settings_table::shown;
use super::transactions::{OWN, TransactionLoad, TransactionPlan, TransactionTables};
use crate::context::Context;
use crate::finish::FinishedRun;
use crate::plan_document::PlanDocument;
use assay_dbload::load::{Calls, Product};
use assay_dbload::oltp::{self, Orders, count, routines, verify};
use assay_dbload::with_link;
use assay_loads::oltp::{Homes, OltpRules};
use assay_model::Result;
use assay_model::load::{LoadKind, Setting};
use assay_model::spelling::defaults;
use assay_model::units::{Nanos, Share};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The plan of the load; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OltpPlan {
    /// Warehouses: the scale of the data, about 100 MB each
    #[arg(long, alias = "scale", value_name = "N", default_value_t = 1)]
    pub warehouses: u32,
    /// What all loads of transactions have
    #[command(flatten)]
    pub shared: TransactionPlan,
    /// How transactions reach the server; by default `proc`
    #[arg(long, help_heading = OWN, value_enum)]
    pub calls: Option<CallMode>,
    /// Which warehouse a session works for
    #[arg(long, help_heading = OWN, value_enum, default_value_t = Homes::All)]
    pub homes: Homes,
    /// Keying and think times, as a share of those specified
    #[arg(long, help_heading = OWN, value_name = "SHARE", default_value = "0%")]
    pub think: Share,
    /// Partitions of the order-line table, by a hash of the warehouse; 0 for one table
    #[arg(
        long,
        help_heading = OWN,
        value_name = "N",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(PARTITIONS)
    )]
    pub partitions: u32,
}

impl Default for OltpPlan {
    fn default() -> Self {
        defaults()
    }
}

impl PlannedLoad for OltpPlan {
    fn kind(&self) -> LoadKind {
        LoadKind::Oltp
    }

    fn check(&self) -> Result<()> {
        within("--partitions", [self.partitions], &PARTITIONS)?;
        self.rules().check()?;
        self.shared.check_think(self.think.0 > 0.0)?;
        self.shared.check()?;
        self.shared.calls(routines, self.calls).map(drop)
    }

    fn run(&self, document: &PlanDocument, context: &Context) -> Result<FinishedRun> {
        let (calls, access) = self.shared.calls(routines, self.calls)?;
        with_link!(self.shared.dialect()?, L => {
            self.run_on::<L>(calls, access, document, context)
        })
    }

    fn take_part(&self, member: &mut LoadMember<'_>) -> Result<()> {
        let (calls, _) = self.shared.calls(routines, self.calls)?;
        let (rules, isolation) = (self.rules(), self.shared.isolation);
        with_link!(self.shared.dialect()?, L => {
            member.serve(&Orders::<L>::new(&rules, calls, isolation))
        })
    }

    fn shape(&self) -> DataShape {
        // A field that is added must say here whether it shapes the data.
        let Self { warehouses, partitions, shared, calls: _, homes: _, think: _ } = self;
        vec![
            ("warehouses", warehouses.to_string()),
            ("partitions", partitions.to_string()),
            ("schema", shared.schema_of(self.kind())),
            ("seed", shared.seed.to_string()),
        ]
    }

    fn data_bytes(&self) -> Result<u64> {
        Ok(self.rules().data_bytes())
    }

    fn summary(&self) -> [String; 2] {
        self.shared.summary()
    }

    fn parts(&mut self) -> LoadParts<'_> {
        self.shared.parts()
    }

    fn set_time(&mut self, time: Nanos) {
        self.shared.time = time;
    }
}

impl OltpPlan {
    fn run_on<L: Product>(
        &self,
        calls: Calls,
        access: &'static str,
        document: &PlanDocument,
        context: &Context,
    ) -> Result<FinishedRun> {
        let rules = self.rules();
        let wanted = TransactionTables {
            kind: self.kind(),
            tables: &oltp::SchemaShape { rules: &rules, partitions: self.partitions, calls },
            data_bytes: rules.data_bytes(),
            settings: self.settings(),
            access,
        };
        let load = || self.transactions::<L>(&rules, calls);
        self.shared.run(wanted, load, document, context)
    }

    /// The load as one of transactions.
    fn transactions<'a, L: Product>(
        &self,
        rules: &'a OltpRules,
        calls: Calls,
    ) -> TransactionLoad<Orders<'a, L>> {
        let method = Orders::new(rules, calls, self.shared.isolation);
        TransactionLoad {
            commits: Arc::clone(&method.commits),
            method,
            found: |_, database| {
                let found = count(database)?;
                Ok(vec![(0, found.orders), (1, found.payments)])
            },
            verify,
        }
    }

    fn rules(&self) -> OltpRules {
        OltpRules {
            warehouses: self.warehouses,
            homes: self.homes,
            think_share: self.think.0,
            seed: self.shared.seed,
        }
    }

    /// The load's own settings as they are shown.
    fn settings(&self) -> Vec<Setting> {
        let homes = match self.homes {
            Homes::Home => "one a session",
            Homes::All => "all",
        };
        let partitions = match self.partitions {
            0 => "one table".to_owned(),
            parts => format!("{parts} parts by warehouse"),
        };
        shown([
            ("warehouses", self.warehouses.to_string()),
            ("homes of sessions", homes.to_owned()),
            ("keying and think time", format!("{} of the specified", self.think)),
            ("order lines", partitions),
        ])
    }
}
