//! `assay load brokerage`: a brokerage load on a server of our own, or on any.

use super::calls::CallsOption;
use super::transactions::{TransactionOptions, Wanted};
use crate::exit::ExitStatus;
use crate::options::quantity;
use assay_app::load::call_mode::{Routines, chosen};
use assay_app::load::prepared_server::LoadProduct;
use assay_app::load::server_plan::ProductName;
use assay_app::load::settings_table::shown;
use assay_app::load::transactions::{Restorable, TransactionLoad};
use assay_dbload::brokerage::{BrokerStore, Brokerage, Floor, TRADE_RESULT, found, verify};
use assay_dbload::load::{Calls, Database, MariaLink};
use assay_loads::brokerage::{MIXES, Rules, mix_of};
use assay_methods::files::read_document;
use assay_model::Result;
use assay_model::load::{Checks, Setting};
use assay_model::mix::Mix;
use assay_model::units::{Nanos, show_count};
use assay_postgres::connection::Connection;
use clap::Args;
use std::path::Path;

/// Trades of a brokerage in the manner of TPC-E: trade results a second by users, response times of each transaction
///
/// What is measured is derived from published descriptions of TPC-E, is no TPC benchmark result and cannot be compared
/// with one.
#[derive(Args)]
pub struct Options {
    /// Customers: the scale of the data, whole hundreds; about 150 MB a thousand, and 40 MB for each of their days of trades
    #[arg(long, value_name = "N", default_value_t = 1000)]
    customers: u32,
    /// Days of trades before loading, 57,600 a day of a thousand customers
    #[arg(long, value_name = "DAYS", default_value_t = 5)]
    trade_days: u32,
    /// How transactions reach the server; `proc` on PostgreSQL unless said otherwise, `stmt` on MariaDB
    #[arg(long, value_enum)]
    calls: Option<CallsOption>,
    /// What customers ask for: default, write-heavy, or a file *.mix.toml
    #[arg(long, value_name = "default|write-heavy|FILE", default_value = "default")]
    mix: String,
    /// Skew of the customers that ask: the weight of the k-th is k to the minus this; 0 for none
    #[arg(long, value_name = "THETA", default_value_t = 0.4)]
    customer_skew: f64,
    /// Skew of the securities that are dealt in
    #[arg(long, value_name = "THETA", default_value_t = 0.6)]
    security_skew: f64,
    /// Mean time that a user thinks before each transaction, exponential
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "0s")]
    think: Nanos,
    #[command(flatten)]
    shared: TransactionOptions,
}

/// The load as one of transactions.
struct BrokerageDriver<'a, L>(Brokerage<'a, L>);

impl<'a, L: LoadProduct + BrokerStore> TransactionLoad for BrokerageDriver<'a, L> {
    type Link = L;
    type Method = Brokerage<'a, L>;

    fn method(&self) -> &Brokerage<'a, L> {
        &self.0
    }

    fn counted(&self) -> &'static str {
        TRADE_RESULT
    }

    fn rate_words(&self, per_s: f64) -> String {
        format!("{} trade results/s", show_count(per_s))
    }

    fn found(&self, database: &mut Database<L>) -> Result<Vec<(usize, u64)>> {
        found(database, self.0.rules())
    }

    fn verify(&self, database: &mut Database<L>, when: &str) -> Result<Checks> {
        verify(database, when)
    }
}

/// Carries the load out.
///
/// # Errors
/// What the options, the mix, the store, the safety gate or the server say.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let product = options.shared.product()?;
    let (calls, access) =
        chosen(product, Routines::OfPostgres, options.calls.map(CallsOption::into))?;
    match product {
        ProductName::Postgres => run_on::<Connection>(options, calls, access),
        ProductName::Mariadb => run_on::<MariaLink>(options, calls, access),
    }
}

fn run_on<L: Restorable + BrokerStore>(
    options: &Options,
    calls: Calls,
    access: &'static str,
) -> Result<ExitStatus> {
    let rules = options.rules();
    rules.check()?;
    options.shared.check_think(rules.think_mean.0 > 0)?;
    let mix = read_mix(&options.mix)?;
    let wanted = Wanted {
        kind: "brokerage",
        tables: &Floor { rules: &rules },
        data_bytes: rules.data_bytes(),
        plan: options.plan(&mix),
        access,
    };
    let isolation = options.shared.isolation();
    let load = Brokerage::<L>::new(&rules, &mix, calls, isolation);
    options.shared.carry_out(wanted, BrokerageDriver(load))
}

/// A mix by its name, or of a file.
fn read_mix(named: &str) -> Result<Mix> {
    if MIXES.iter().any(|(name, _)| *name == named) || !named.contains(['.', '/']) {
        return mix_of(named);
    }
    Mix::parse(&read_document(Path::new(named), "mix")?)
}

impl Options {
    fn rules(&self) -> Rules {
        Rules {
            customers: self.customers,
            trade_days: self.trade_days,
            customer_skew: self.customer_skew,
            security_skew: self.security_skew,
            think_mean: self.think,
            seed: self.shared.seed,
        }
    }

    /// The load's own knobs as they are shown.
    fn plan(&self, mix: &Mix) -> Vec<Setting> {
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
