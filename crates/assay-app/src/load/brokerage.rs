//! The load of a brokerage, in the manner of TPC-E: its plan, and what it says of itself.

use super::call_mode::CallMode;
use super::kind::{DataShape, LoadParts, PlannedLoad};
use super::load_member::LoadMember;
use super::settings_table::shown;
use super::transactions::{OWN, TransactionLoad, TransactionPlan, TransactionTables};
use crate::context::Context;
use crate::finish::FinishedRun;
use crate::plan_document::PlanDocument;
use assay_dbload::brokerage::{Brokerage, BrokerageSchema, found, routines, verify};
use assay_dbload::load::{Calls, Product};
use assay_dbload::with_link;
use assay_loads::brokerage::{BrokerageRules, MIXES, mix_of};
use assay_methods::files::read_document;
use assay_model::Result;
use assay_model::load::{LoadKind, Setting};
use assay_model::mix::Mix;
use assay_model::spelling::defaults;
use assay_model::units::Nanos;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The plan of the load; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrokeragePlan {
    /// Customers: the scale of the data, in hundreds; about 150 MB per thousand, plus 40 MB for
    /// each day of trades
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub customers: u32,
    /// What all loads of transactions have
    #[command(flatten)]
    pub shared: TransactionPlan,
    /// Days of past trades to load, 57,600 trades per day and thousand customers
    #[arg(long, help_heading = OWN, value_name = "DAYS", default_value_t = 5)]
    pub trade_days: u32,
    /// How transactions reach the server; by default `proc` on PostgreSQL, `stmt` elsewhere
    #[arg(long, help_heading = OWN, value_enum)]
    pub calls: Option<CallMode>,
    /// Mix of transactions: default, write-heavy, or a file *.mix.toml
    #[arg(
        long,
        help_heading = OWN,
        value_name = "default|write-heavy|FILE",
        default_value = "default"
    )]
    pub mix: String,
    /// Zipf skew of the customers: the k-th has weight k^-SKEW; 0 for none
    #[arg(long, help_heading = OWN, value_name = "THETA", default_value_t = 0.4)]
    pub customer_skew: f64,
    /// Zipf skew of the traded securities
    #[arg(long, help_heading = OWN, value_name = "THETA", default_value_t = 0.6)]
    pub security_skew: f64,
    /// Mean think time before each transaction, exponentially distributed
    #[arg(long, help_heading = OWN, value_name = "TIME", default_value = "0s")]
    pub think: Nanos,
}

impl Default for BrokeragePlan {
    fn default() -> Self {
        defaults()
    }
}

impl PlannedLoad for BrokeragePlan {
    fn kind(&self) -> LoadKind {
        LoadKind::Brokerage
    }

    fn check(&self) -> Result<()> {
        self.shared.calls(routines, self.calls)?;
        self.rules().check()?;
        self.shared.check_think(self.think.0 > 0)?;
        read_mix(&self.mix)?;
        self.shared.check()
    }

    fn run(&self, document: &PlanDocument, context: &Context) -> Result<FinishedRun> {
        let (calls, access) = self.shared.calls(routines, self.calls)?;
        with_link!(self.shared.dialect()?, L => {
            self.run_on::<L>(calls, access, document, context)
        })
    }

    fn take_part(&self, member: &mut LoadMember<'_>) -> Result<()> {
        let (calls, _) = self.shared.calls(routines, self.calls)?;
        let (rules, mix, isolation) = (self.rules(), read_mix(&self.mix)?, self.shared.isolation);
        with_link!(self.shared.dialect()?, L => {
            member.serve(&Brokerage::<L>::new(&rules, &mix, calls, isolation))
        })
    }

    fn shape(&self) -> DataShape {
        // A field that is added must say here whether it shapes the data.
        let Self {
            customers,
            trade_days,
            security_skew,
            shared,
            calls: _,
            mix: _,
            customer_skew: _,
            think: _,
        } = self;
        vec![
            ("customers", customers.to_string()),
            ("trade_days", trade_days.to_string()),
            ("security_skew", security_skew.to_string()),
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

/// A mix by its name, or of a file.
fn read_mix(named: &str) -> Result<Mix> {
    if MIXES.iter().any(|(name, _)| *name == named) || !named.contains(['.', '/']) {
        return mix_of(named);
    }
    Mix::parse(&read_document(Path::new(named), "mix")?)
}

impl BrokeragePlan {
    fn run_on<L: Product>(
        &self,
        calls: Calls,
        access: &'static str,
        document: &PlanDocument,
        context: &Context,
    ) -> Result<FinishedRun> {
        let (rules, mix) = (self.rules(), read_mix(&self.mix)?);
        let wanted = TransactionTables {
            kind: self.kind(),
            tables: &BrokerageSchema { rules: &rules },
            data_bytes: rules.data_bytes(),
            settings: self.settings(&mix),
            access,
        };
        let load = || self.transactions::<L>(&rules, &mix, calls);
        self.shared.run(wanted, load, document, context)
    }

    /// The load as one of transactions.
    fn transactions<'a, L: Product>(
        &self,
        rules: &'a BrokerageRules,
        mix: &'a Mix,
        calls: Calls,
    ) -> TransactionLoad<Brokerage<'a, L>> {
        let method = Brokerage::new(rules, mix, calls, self.shared.isolation);
        TransactionLoad {
            commits: Arc::clone(&method.commits),
            method,
            found: |method, database| found(database, method.rules()),
            verify,
        }
    }

    fn rules(&self) -> BrokerageRules {
        BrokerageRules {
            customers: self.customers,
            trade_days: self.trade_days,
            customer_skew: self.customer_skew,
            security_skew: self.security_skew,
            think_mean: self.think,
            seed: self.shared.seed,
        }
    }

    /// The load's own settings as they are shown.
    fn settings(&self, mix: &Mix) -> Vec<Setting> {
        shown([
            ("customers", self.customers.to_string()),
            ("days of trades before loading", self.trade_days.to_string()),
            ("mix", format!("{}, version {}", mix.name, mix.version)),
            ("skew of customers", self.customer_skew.to_string()),
            ("skew of securities", self.security_skew.to_string()),
            ("think time", self.think.to_string()),
            ("market's side", "by the same sessions".to_owned()),
        ])
    }
}
