//! The options of `assay load oltp`.

use super::calls::CallsOption;
use super::transactions::TransactionOptions;
use crate::options::quantity;
use assay_app::load::bounds::PARTITIONS;
use assay_app::load::oltp::{HomeChoice, OltpPlan};
use assay_model::units::Share;
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
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(PARTITIONS))]
    partitions: u32,
    #[command(flatten)]
    pub shared: TransactionOptions,
}

/// Which warehouse a session works for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HomesOption {
    /// One, always the same
    Home,
    /// Any, drawn for each transaction, so that all data is touched
    All,
}

impl Options {
    /// The plan that these options mean.
    pub fn plan(&self) -> OltpPlan {
        OltpPlan {
            warehouses: self.warehouses,
            calls: self.calls.map(CallsOption::into),
            homes: match self.homes {
                HomesOption::Home => HomeChoice::Home,
                HomesOption::All => HomeChoice::All,
            },
            think: self.think,
            partitions: self.partitions,
            shared: self.shared.plan(),
        }
    }
}
