//! `assay load oltp`: an order-entry load on a server of our own, or on any.

use super::calls::CallsOption;
use super::transactions::{TransactionOptions, Wanted};
use crate::exit::ExitStatus;
use crate::options::quantity;
use assay_app::load::call_mode::{Routines, chosen};
use assay_app::load::prepared_server::LoadProduct;
use assay_app::load::server_plan::ProductName;
use assay_app::load::settings_table::shown;
use assay_app::load::transactions::{Restorable, TransactionLoad};
use assay_dbload::load::{Calls, Database, MariaLink};
use assay_dbload::oltp::{OrderStore, Orders, Shape, count, verify};
use assay_loads::oltp::{Homes, Rules};
use assay_model::Result;
use assay_model::load::{Checks, Setting};
use assay_model::units::{Share, show_count};
use assay_postgres::connection::Connection;
use clap::{Args, ValueEnum};

/// Orders, payments and deliveries in the manner of TPC-C: new orders a minute by users, response times of each transaction
///
/// What is measured is derived from the TPC-C standard, is no TPC benchmark result and cannot be compared with one.
#[derive(Args)]
pub struct Options {
    /// Warehouses: the scale of the data, about 100 MB each
    #[arg(long, value_name = "N", default_value_t = 1)]
    warehouses: u32,
    /// How transactions reach the server; `proc` unless said otherwise
    #[arg(long, value_enum)]
    calls: Option<CallsOption>,
    /// Which warehouse a session works for
    #[arg(long, value_enum, default_value_t = HomesOption::All)]
    homes: HomesOption,
    /// Keying and think times, as a share of the specified ones
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "0%")]
    think: Share,
    /// Parts of the order lines, by a hash of their warehouse; 0 for one table
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1024))]
    partitions: u32,
    #[command(flatten)]
    shared: TransactionOptions,
}

/// Which warehouse a session works for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HomesOption {
    /// One, always the same
    Home,
    /// Any, drawn for each transaction, so that all data is touched
    All,
}

/// The load as one of transactions.
struct OltpDriver<'a, L>(Orders<'a, L>);

impl<'a, L: LoadProduct + OrderStore> TransactionLoad for OltpDriver<'a, L> {
    type Link = L;
    type Method = Orders<'a, L>;

    fn method(&self) -> &Orders<'a, L> {
        &self.0
    }

    fn counted(&self) -> &'static str {
        "new order"
    }

    fn rate_words(&self, per_s: f64) -> String {
        format!("{} new orders/min", show_count(60.0 * per_s))
    }

    fn found(&self, database: &mut Database<L>) -> Result<Vec<(usize, u64)>> {
        let found = count(database)?;
        Ok(vec![(0, found.orders), (1, found.payments)])
    }

    fn verify(&self, database: &mut Database<L>, when: &str) -> Result<Checks> {
        verify(database, when)
    }
}

/// Carries the load out.
///
/// # Errors
/// What the options, the store, the safety gate or the server say.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let product = options.shared.product()?;
    let (calls, access) = chosen(product, Routines::OfBoth, options.calls.map(CallsOption::into))?;
    match product {
        ProductName::Postgres => run_on::<Connection>(options, calls, access),
        ProductName::Mariadb => run_on::<MariaLink>(options, calls, access),
    }
}

fn run_on<L: Restorable + OrderStore>(
    options: &Options,
    calls: Calls,
    access: &'static str,
) -> Result<ExitStatus> {
    let rules = options.rules();
    rules.check()?;
    options.shared.check_think(options.think.0 > 0.0)?;
    let wanted = Wanted {
        kind: "oltp",
        tables: &Shape { rules: &rules, partitions: options.partitions, calls },
        data_bytes: rules.data_bytes(),
        plan: options.plan(),
        access,
    };
    let isolation = options.shared.isolation();
    options.shared.carry_out(wanted, OltpDriver(Orders::<L>::new(&rules, calls, isolation)))
}

impl Options {
    fn rules(&self) -> Rules {
        Rules {
            warehouses: self.warehouses,
            homes: match self.homes {
                HomesOption::Home => Homes::Home,
                HomesOption::All => Homes::All,
            },
            think_share: self.think.0,
            seed: self.shared.seed,
        }
    }

    /// The load's own knobs as they are shown.
    fn plan(&self) -> Vec<Setting> {
        let homes = match self.homes {
            HomesOption::Home => "one a session",
            HomesOption::All => "all",
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
